"""What programs read after ``--json``: the stable shapes, each made of one noun."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import msgspec

from reportgen.analysis.imported import centre_of, median_of
from reportgen.archive.importers.assembling import labels
from reportgen.archive.select import records, standing
from reportgen.measure.harness_turns import cells_of
from reportgen.model.imported import Benchmark, Measure, RowStatus, Source
from reportgen.model.plan import Plan
from reportgen.model.result import ComparisonResult, Result

if TYPE_CHECKING:
    from reportgen.archive.load import Attempt
    from reportgen.measure.devices import Ended
    from reportgen.measure.doctor import Finding
    from reportgen.measure.recovery import Left
    from reportgen.measure.watching import RunOutcome
    from reportgen.publish.build import BuildReport
    from reportgen.publish.merging import Merged
    from reportgen.publish.verification import VerificationReport

_COMPARISON = ("arm", "baseline", "slice", "headline", "estimate", "low", "high", "verdict", "reason")
_GATE = (
    "name", "kind", "slice", "arm", "threshold", "estimate", "end", "outcome", "fixture", "frozen_at",
    "began_at", "younger", "exploratory",
)  # fmt: skip
_NOISE = ("slice", "null", "of", "low", "high", "floor", "cell_floor")


def plan(made: Plan) -> dict[str, Any]:
    """Count what a plan would measure, and name its digest."""
    protocol = made.experiment.protocol
    timed = [fixture for fixture in made.fixtures if not fixture.checks_only]
    cells = sum(len(made.arms_by_fixture[fixture.name]) for fixture in timed)
    peers = sum(len(arms) for arms in made.peers_by_fixture.values())
    told = sum(
        one.repetitions * sum(len(arms) for arms in cells_of(made, one).values()) for one in made.experiment.harnesses
    )
    return {
        "name": made.name,
        "digest": made.digest,
        "arms": len(made.experiment.arms),
        "fixtures": len(timed),
        "check_fixtures": len(made.fixtures) - len(timed),
        "slices": [piece.name for piece in made.slices],
        "repetitions": protocol.repetitions,
        "spares": protocol.spares,
        "modes": [mode.value for mode in protocol.modes],
        "harnesses": {one.name: one.repetitions for one in made.experiment.harnesses},
        "comparisons": len(made.comparisons),
        "gates": len(made.experiment.gates),
        "batches": 2 * protocol.repetitions * (len(protocol.modes) * cells + peers) + told,
    }


def attempts(found: Sequence[Attempt]) -> list[dict[str, Any]]:
    """One row an attempt, oldest first; ``standing`` is what it is to the records."""
    formed = records(found)
    return [
        {
            "id": attempt.manifest.id,
            "experiment": attempt.manifest.experiment,
            "kind": attempt.manifest.kind,
            "status": attempt.status,
            "reason": attempt.reason,
            "backend": attempt.manifest.backend,
            "device": attempt.manifest.device.id,
            "plan": attempt.manifest.plan,
            "started_at": attempt.manifest.started_at,
            "repetitions": attempt.manifest.counts.repetitions,
            "series": attempt.manifest.counts.series,
            "batches": attempt.manifest.counts.batches,
            "checks": attempt.manifest.counts.checks,
            "path": str(attempt.path),
            "standing": standing(formed, attempt.id),
            "sanitizer": msgspec.to_builtins(attempt.manifest.sanitizer),
        }
        for attempt in found
    ]


def result(scored: Result) -> dict[str, Any]:
    """Comparisons, gates and noise of a record; null arms stand under ``noise``."""
    promotions = {(one.arm, one.slice): one.outcome for one in scored.promotions}
    return {
        "experiment": scored.experiment,
        "plan": scored.plan,
        "comparisons": [
            {**_pick(one, _COMPARISON), "promotion": _promotion(one, promotions)}
            for one in scored.comparisons
            if one.role != "null"
        ],
        "gates": [_pick(gate, _GATE) for gate in scored.gates],
        "noise": [_pick(noise, _NOISE) for noise in scored.noise],
        **_study(scored),
    }


def _study(scored: Result) -> dict[str, Any]:
    """Sum up an A/A study by way of measuring, where the record has one."""
    study = scored.null_study
    if study is None:
        return {}
    parts = {"modes": study.modes, "harnesses": study.harnesses, "bar": study.bar}
    return {"null_study": msgspec.to_builtins(parts)}


def outcome(finished: RunOutcome) -> dict[str, Any]:
    """Say how a run ended."""
    return {
        "attempt": finished.path and finished.path.name.removesuffix(".partial"),
        "path": finished.path and str(finished.path),
        "status": finished.status,
        "reason": finished.sentence or finished.reason,
        "failed_arms": list(finished.failed_arms),
    }


def several(ended: Sequence[Ended]) -> list[dict[str, Any]]:
    """One row a device, in the order in which they were named: how its attempt ended."""
    return [{"device": one.selector, "exit_status": one.exit_status, **one.outcome} for one in ended]


def build(report: BuildReport) -> dict[str, Any]:
    """Say what a build wrote and what it found."""
    return asdict(report)


def verification(report: VerificationReport) -> dict[str, Any]:
    """Say what was checked and what was found."""
    return {"passed": not report.findings, "checked": list(report.checked), "findings": list(report.findings)}


def merged(found: Sequence[Merged]) -> list[dict[str, Any]]:
    """One row an attempt: what became of it, and the field that differs where one does."""
    return [asdict(one) for one in found]


def doctor(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """One row an examined thing."""
    return [asdict(finding) for finding in findings]


def _promotion(one: ComparisonResult, promotions: dict[tuple[str, str], Any]) -> Any:
    return promotions.get((one.arm, one.slice))


def _pick(noun: msgspec.Struct, names: Sequence[str]) -> dict[str, Any]:
    return {name: getattr(noun, name) for name in names}


def recovery(found: Sequence[Left]) -> list[dict[str, Any]]:
    """List what dead runs left, and whether it is mended."""
    return [asdict(one) for one in found]


def imported(sources: Sequence[Source]) -> list[dict[str, Any]]:
    """One object a source: counts, statuses and medians, then each benchmark in full."""
    return [imported_source(source) for source in sources]


def imported_source(source: Source) -> dict[str, Any]:
    """Sum up what a file of another harness holds; names are kept letter for letter, and told apart where they repeat."""
    benchmarks = source.benchmarks
    named = list(zip(labels(benchmarks), benchmarks, strict=True))
    statuses = Counter(one.status.value for one in benchmarks)
    times = [one for one in benchmarks if one.measure is Measure.TIME]
    rates = [one for one in benchmarks if one.measure is Measure.RATE]
    return {
        "source": source.name,
        "format": source.format,
        "version": source.version,
        "names": len({one.name for one in benchmarks}),
        "benchmarks": len(benchmarks),
        "raw_samples": sum(len(one.good) for one in times),
        "raw_samples_with_failed": sum(bool(one.told) for each in times for one in each.samples),
        "rate_samples": sum(len(one.good) for one in rates),
        "status": {status.value: statuses[status.value] for status in RowStatus},
        "medians_ns": {label: median_of(one).value for label, one in named if one.measure is Measure.TIME},
        "rates": {label: centre_of(one).value for label, one in named if one.measure is Measure.RATE},
        "context": source.context,
        "not_time": list(source.not_time),
        "notes": list(source.notes),
        "unrecorded": list(source.unrecorded),
        "rows": [_benchmark(label, one) for label, one in named],
    }


def _benchmark(label: str, one: Benchmark) -> dict[str, Any]:
    found = median_of(one)
    time = one.measure is Measure.TIME
    return {
        "label": label,
        "name": one.name,
        "arm": one.arm,
        "params": one.params,
        "status": one.status,
        "reason": one.reason,
        "measure": one.measure,
        "unit": one.unit,
        "better": one.better,
        "samples": len(one.good) if time else 0,
        "rate_samples": 0 if time else len(one.good),
        "bad_samples": [at for at, each in enumerate(one.samples) if each.status is not RowStatus.OK],
        "median_ns": found.value if time else None,
        "median_rate": None if time else found.value,
        "median_from": found.basis,
        "iterations": _iterations(one),
        "repetitions": one.repetitions,
        "reported": one.reported,
        "notes": list(one.notes),
    }


def _iterations(one: Benchmark) -> float | dict[str, float | None] | None:
    """Give iterations of a sample: one number where all are equal, else those of the first and last."""
    found = [each.iterations for each in one.samples]
    if not found:
        return one.iterations
    return found[0] if len(set(found)) == 1 else {"first": found[0], "last": found[-1]}
