"""What programs read after ``--json``: the stable shapes, each made of one noun."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import msgspec

from reportgen.archive.select import records, standings
from reportgen.measure.harness_turns import cells_of
from reportgen.measure.series import peer_repetitions
from reportgen.model.experiment import Role
from reportgen.model.plan import Plan
from reportgen.model.result import Result
from reportgen.opened import verdict_rows

if TYPE_CHECKING:
    from reportgen.archive.load import Attempt
    from reportgen.measure.devices import Ended
    from reportgen.measure.doctor import Finding
    from reportgen.measure.recovery import Left
    from reportgen.measure.watching import RunOutcome
    from reportgen.publish.build import BuildReport
    from reportgen.publish.merging import Merged
    from reportgen.publish.places import Place
    from reportgen.publish.publishing import Changes
    from reportgen.publish.verification import VerificationReport

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
    of_peers = peer_repetitions(protocol, protocol.repetitions)
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
        "peers": dict.fromkeys((arm.name for arm in made.experiment.arms if arm.role is Role.PEER), of_peers),
        "harnesses": {one.name: one.repetitions for one in made.experiment.harnesses},
        "comparisons": len(made.comparisons),
        "gates": len(made.experiment.gates),
        "batches": 2 * protocol.repetitions * len(protocol.modes) * cells + 2 * of_peers * peers + told,
    }


def attempts(found: Sequence[Attempt]) -> list[dict[str, Any]]:
    """One row an attempt, oldest first; ``standing`` is what it is to the records."""
    known = standings(records(found))
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
            "standing": known.get(attempt.id, ""),
            "imported": attempt.manifest.imported and [one.format for one in attempt.manifest.imported.sources],
            "sanitizer": msgspec.to_builtins(attempt.manifest.sanitizer),
            "profile": msgspec.to_builtins(attempt.manifest.profile),
        }
        for attempt in found
    ]


def result(scored: Result) -> dict[str, Any]:
    """Comparisons, gates and noise of a record; null arms stand under ``noise``."""
    return {
        "experiment": scored.experiment,
        "plan": scored.plan,
        "comparisons": verdict_rows(scored),
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


def looked_at(beside: Sequence[Attempt]) -> dict[str, Any]:
    """List the attempts beside a record that time nothing, by what looked."""
    return {
        "sanitizers": attempts([one for one in beside if one.manifest.sanitizer is not None]),
        "profiles": attempts([one for one in beside if one.manifest.profile is not None]),
    }


def several(ended: Sequence[Ended]) -> list[dict[str, Any]]:
    """One row a device, and a tool where several look, in the order in which they were named: how its attempt ended."""
    return [
        {
            "device": one.selector,
            **({"tool": one.tool} if one.tool else {}),
            "exit_status": one.exit_status,
            **one.outcome,
        }
        for one in ended
    ]


def build(report: BuildReport) -> dict[str, Any]:
    """Say what a build wrote and what it found."""
    return asdict(report)


def checked(report: BuildReport, places: Sequence[Place]) -> dict[str, Any]:
    """Say what a check found, each with its place."""
    return {"pages": report.pages, "passed": not report.failed, "findings": [asdict(place) for place in places]}


def publishing(found: Changes, *, dry_run: bool) -> dict[str, Any]:
    """Say file by file what publishing would change, or changed."""
    kinds = {"new": found.new, "changed": found.changed, "removed": found.removed}
    files = {kind: [msgspec.to_builtins(file) for file in listed] for kind, listed in kinds.items()}
    return {"target": found.target, "dry_run": dry_run, **files, "same": found.same, "bytes_sent": found.bytes_sent}


def verification(report: VerificationReport) -> dict[str, Any]:
    """Say what was checked and what was found."""
    return {"passed": not report.findings, "checked": list(report.checked), "findings": list(report.findings)}


def merged(found: Sequence[Merged]) -> list[dict[str, Any]]:
    """One row an attempt: what became of it, and the field that differs where one does."""
    return [asdict(one) for one in found]


def doctor(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """One row an examined thing."""
    return [asdict(finding) for finding in findings]


def _pick(noun: msgspec.Struct, names: Sequence[str]) -> dict[str, Any]:
    return {name: getattr(noun, name) for name in names}


def recovery(found: Sequence[Left]) -> list[dict[str, Any]]:
    """List what dead runs left, and whether it is mended."""
    return [asdict(one) for one in found]
