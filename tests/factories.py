"""Experiments, plans, repetitions and sealed attempts with sensible defaults; every number follows from a seed.

The default attempt is scored: incumbent, control, one candidate, a null of either baseline and a floor on two slices
of three fixtures, twelve repetitions. It goes through the real journal and the real seal.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any

import msgspec

from reportgen.archive import layout
from reportgen.archive.counting import count
from reportgen.archive.digest import plan_digest
from reportgen.archive.encoding import encode_toml
from reportgen.archive.journal import Journal, OpenHeader
from reportgen.archive.load import Attempt, load_attempt
from reportgen.archive.seal import seal
from reportgen.model import plan as plan_model
from reportgen.model import record as record_model
from reportgen.model.experiment import Arm, Comparison, Experiment, Role
from reportgen.model.plan import ORDER_METHOD, Plan, PlanFile, PlanFixture, Slice
from reportgen.model.record import Counts, Device, Kind, Manifest, Provenance, Repetition, Status

NAME = "sample"
STARTED = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
DEVICE = Device(id="cpu-0123456789ab", model="Sample CPU", kind="cpu", facts={"cores": 2})
RATIOS = {"incumbent": 1.0, "control": 1.0, "candidate": 0.95, "floor": 0.01}
SOURCES = {
    f"{NAME}/experiment.toml": b'title = "Sample"\n',
    f"{NAME}/experiment.py": b'"""Inputs and reference of the sample."""\n',
    f"{NAME}/sample.c": b"void incumbent(void) {}\nvoid control(void) {}\nvoid candidate(void) {}\n",
}


def make_arms() -> list[Arm]:
    """Give the six default arms."""
    return [
        Arm(name="incumbent", role=Role.INCUMBENT, idea="in use", file="sample.c", symbol="incumbent"),
        Arm(name="control", role=Role.CONTROL, idea="bookkeeping only", file="sample.c", symbol="control"),
        Arm(
            name="candidate",
            role=Role.CANDIDATE,
            idea="fewer loads",
            file="sample.c",
            symbol="candidate",
            control="control",
            incumbent="incumbent",
        ),
        Arm(name="null_incumbent", role=Role.NULL, idea="the incumbent again", of="incumbent"),
        Arm(name="null_control", role=Role.NULL, idea="the control again", of="control"),
        Arm(name="floor", role=Role.FLOOR, idea="an empty kernel", file="sample.c", symbol="floor"),
    ]


def make_experiment(**changes: Any) -> Experiment:
    """Give the default experiment (cache states slice it, three sizes each); ``changes`` replace its fields."""
    fields: dict[str, Any] = {
        "schema_version": 1,
        "title": "Sample",
        "question": "Do fewer loads pay?",
        "backend": "fake",
        "arms": make_arms(),
        "axes": {"rows": [256, 512, 1024], "cache": ["same-set", "rotating"]},
        "slicing": ["cache"],
        "smallest_effect": 0.005,
    }
    return Experiment(**(fields | changes))


def make_plan(
    experiment: Experiment | None = None, *, name: str = NAME, sources: Mapping[str, bytes] = SOURCES
) -> Plan:
    """Give a frozen plan of ``experiment``, its digest over ``sources`` (path relative to the kernels folder)."""
    experiment = experiment or make_experiment()
    sources = _declared(experiment, sources)
    files = [PlanFile(path=path, sha256=hashlib.sha256(sources[path]).hexdigest()) for path in sorted(sources)]
    options = ["backend=fake", *experiment.compile.options]
    fixtures = [
        PlanFixture(name=_named(values), values=values, seed=index)
        for index, values in enumerate(_combinations(experiment), start=1)
    ]
    return Plan(
        schema_version=plan_model.SCHEMA_VERSION,
        name=name,
        digest=plan_digest(files, options, ORDER_METHOD),
        order_method=ORDER_METHOD,
        backend_options=options,
        files=files,
        experiment=experiment,
        fixtures=fixtures,
        slices=_slices(experiment, fixtures),
        arms_by_fixture={
            fixture.name: [arm.name for arm in experiment.arms if _runs(arm, fixture.values)] for fixture in fixtures
        },
        peers_by_fixture={},
        comparisons=experiment.comparisons or _comparisons(experiment),
    )


def make_rows(  # noqa: PLR0913 - a factory's named defaults
    plan: Plan,
    *,
    repetitions: int | Sequence[int] = 12,
    ratios: Mapping[str, float] = RATIOS,
    noise: float = 0.001,
    base_ns: int = 2_000_000,
    seed: int = 1,
    failed_arms: Sequence[str] = (),
    left_out: Mapping[int, str] | None = None,
) -> list[Repetition]:
    """Give what the processes answered: one calibration (repetition 0), then ``repetitions`` (from 1, or as listed).

    An arm takes ``base_ns`` times its entry in ``ratios`` (a null that of the arm it repeats) a batch, with relative
    Gaussian noise ``noise`` a process and again a batch. ``left_out`` tags every batch of a repetition.
    """
    bench = _Bench(plan, ratios, noise, base_ns, random.Random(seed))  # noqa: S311 - repeatable test data
    numbers = range(1, repetitions + 1) if isinstance(repetitions, int) else repetitions
    tags = left_out or {}
    calibration = Repetition(
        repetition=0,
        batches=list(bench.calibration()),
        checks=[],
        facts={"launches": {fixture.name: 10 for fixture in plan.fixtures}},
    )
    batches = {number: list(bench.process(number, tags.get(number, ""))) for number in numbers}
    return [calibration] + [
        Repetition(
            repetition=number,
            batches=batches[number],
            checks=list(_checks(plan, number, failed_arms)),
            facts=bench.layout() | {"orders": _orders(batches[number])},
            left_out=tags.get(number, ""),
        )
        for number in numbers
    ]


def make_header(plan: Plan, **changes: Any) -> OpenHeader:
    """Give what is known of an attempt before its first batch; ``changes`` replace its fields."""
    backend = changes.get("backend", "fake")
    binaries = {arm.name: hashlib.sha256((arm.of or arm.name).encode()).hexdigest() for arm in _arms(plan)}
    started = changes.pop("started", STARTED)
    fields: dict[str, Any] = {
        "schema_version": record_model.SCHEMA_VERSION,
        "id": f"{started:%Y%m%dT%H%M%SZ}-{backend}-{plan.digest[:6]}",
        "experiment": plan.name,
        "kind": Kind.TIMING,
        "backend": backend,
        "plan": plan.digest,
        "provenance": Provenance(known="declared", commit="0" * 40, dirty=False, frozen_at="2026-02-28T09:00:00Z"),
        "device": DEVICE,
        "started_at": f"{started:%Y-%m-%dT%H:%M:%SZ}",
        "repetitions_planned": plan.experiment.protocol.repetitions,
        "binaries": binaries,
        "binaries_digest": hashlib.sha256(repr(sorted(binaries.items())).encode()).hexdigest(),
        "hashes": {file.path: file.sha256 for file in plan.files},
        "versions": {"python": "3.11"},
        "environment": {"cpu_governor": "performance"},
        "reportgen": "0.1.0",
    }
    return OpenHeader(**(fields | changes))


def make_manifest(header: OpenHeader, counts: Counts, **changes: Any) -> Manifest:
    """Give the manifest that closes an attempt, ``scored`` by default; ``changes`` replace its fields."""
    ended = datetime.fromisoformat(header.started_at) + timedelta(minutes=2)
    fields = {field: getattr(header, field) for field in msgspec.structs.asdict(header)} | {
        "status": Status.SCORED,
        "reason": "",
        "ended_at": f"{ended:%Y-%m-%dT%H:%M:%SZ}",
        "counts": counts,
        "failed_arms": [],
        "left_out": [],
    }
    return Manifest(**(fields | changes))


def open_attempt(
    runs: Path,
    plan: Plan,
    repetitions: Sequence[Repetition],
    header: OpenHeader,
    sources: Mapping[str, bytes] = SOURCES,
) -> Journal:
    """Measure into an open attempt under ``runs`` and leave it open."""
    journal = Journal.create(layout.open_dir(runs, header.experiment, header.id), header, plan)
    for path, data in _declared(plan.experiment, sources).items():
        journal.artifact(f"{layout.SOURCES}/{path}", data)
    for arm in _arms(plan):
        journal.artifact(f"{layout.BINARIES}/{arm.name}.bin", (arm.of or arm.name).encode())
    said = {fixture.name: {"bytes": 4096} for fixture in plan.fixtures}
    journal.artifact(layout.FIXTURES, msgspec.json.encode(said))
    for repetition in repetitions:
        journal.append(repetition)
        journal.event("repetition", repetition=repetition.repetition)
    return journal


def sealed_attempt(  # noqa: PLR0913 - a factory's named defaults
    runs: Path,
    *,
    plan: Plan | None = None,
    repetitions: int | Sequence[Repetition] = 12,
    header: Mapping[str, Any] | None = None,
    manifest: Mapping[str, Any] | None = None,
    sources: Mapping[str, bytes] = SOURCES,
    **rows: Any,
) -> Attempt:
    """Measure and seal an attempt under ``runs``: by default the scored one that the module describes.

    ``header`` and ``manifest`` replace fields of either (``header={"started": datetime}`` sets the time and the id);
    ``rows`` go to :func:`make_rows` where ``repetitions`` is a number.
    """
    plan = plan or make_plan(sources=sources)
    answered = make_rows(plan, repetitions=repetitions, **rows) if isinstance(repetitions, int) else repetitions
    head = make_header(plan, **(header or {}))
    closing: dict[str, Any] = {
        "failed_arms": sorted({row["arm"] for one in answered for row in one.checks if not row["passed"]}),
        "left_out": [{"repetition": one.repetition, "reason": one.left_out} for one in answered if one.left_out],
    }
    journal = open_attempt(runs, plan, answered, head, sources)
    return load_attempt(seal(journal, make_manifest(head, count(answered), **(closing | dict(manifest or {})))))


@dataclass
class _Bench:
    """A device that takes the time it is told to, and a monotonic clock."""

    plan: Plan
    ratios: Mapping[str, float]
    noise: float
    base_ns: int
    draw: random.Random
    now_ns: int = 0

    def calibration(self) -> Iterator[dict[str, Any]]:
        """Give the warm-up rows of the calibrating process."""
        for block, (fixture, arms) in enumerate(self.plan.arms_by_fixture.items(), start=1):
            for position, arm in enumerate(arms, start=1):
                timed = self._timed(arm, 1.0)
                yield _batch(fixture, arm, 0, warmup=True, block=block, position=position) | timed | {"pass": 1}

    def process(self, repetition: int, tag: str) -> Iterator[dict[str, Any]]:
        """Give the rows of one process: on each fixture an opening batch of every arm, an order and its mirror."""
        of_process = {arm.name: self.draw.gauss(1.0, self.noise) for arm in _arms(self.plan)}
        for block, (fixture, arms) in enumerate(self.plan.arms_by_fixture.items(), start=1):
            order = self.draw.sample(arms, len(arms))
            for number, warmup, in_order in ((1, True, order), (1, False, order), (2, False, order[::-1])):
                for position, arm in enumerate(in_order, start=1):
                    timed = self._timed(arm, of_process[arm] * self.draw.gauss(1.0, self.noise))
                    row = _batch(fixture, arm, repetition, warmup=warmup, block=block, position=position, tag=tag)
                    yield row | timed | {"pass": number}

    def layout(self) -> dict[str, Any]:
        """Give what a process drew before it measured."""
        return {"padding_bytes": self.draw.randrange(1 << 26), "modules": [arm.name for arm in _arms(self.plan)]}

    def _timed(self, arm: str, noise: float) -> dict[str, int]:
        repeats = next((each.of for each in _arms(self.plan) if each.name == arm and each.of), arm)
        share = self.ratios.get(arm, self.ratios.get(repeats, 1.0))
        elapsed = max(1, round(self.base_ns * share * noise))
        started, self.now_ns = self.now_ns, self.now_ns + elapsed + 10_000
        return {"elapsed_ns": elapsed, "started_ns": started}


def _declared(experiment: Experiment, sources: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """Give the default sources the declaration that the plan is made of."""
    return {**sources, f"{NAME}/experiment.toml": encode_toml(experiment)} if sources is SOURCES else sources


def _orders(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Give the first pass of every fixture as it was drawn."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row["pass"] == 1 and not row["warmup"]:
            found.setdefault(row["fixture"], []).append(row["arm"])
    return found


def _arms(plan: Plan) -> list[Arm]:
    return plan.experiment.arms


def _combinations(experiment: Experiment) -> Iterator[dict[str, Any]]:
    for values in product(*experiment.axes.values()):
        yield dict(zip(experiment.axes, values, strict=True))


def _named(values: Mapping[str, Any]) -> str:
    return ",".join(f"{axis}={value}" for axis, value in values.items()) or "all"


def _slices(experiment: Experiment, fixtures: Sequence[PlanFixture]) -> list[Slice]:
    found: dict[str, Slice] = {}
    for fixture in fixtures:
        values = {axis: fixture.values[axis] for axis in experiment.slicing}
        found.setdefault(_named(values), Slice(name=_named(values), values=values, fixtures=[])).fixtures.append(
            fixture.name
        )
    return list(found.values())


def _runs(arm: Arm, values: Mapping[str, Any]) -> bool:
    return all(values[axis] in allowed for axis, allowed in arm.only.items())


def _comparisons(experiment: Experiment) -> list[Comparison]:
    by_role: dict[Role, str] = {}
    for arm in experiment.arms:
        by_role.setdefault(arm.role, arm.name)
    incumbent, control = by_role[Role.INCUMBENT], by_role.get(Role.CONTROL)
    pairs = [(arm.name, incumbent) for arm in experiment.arms if arm.role in (Role.CONTROL, Role.CANDIDATE)]
    pairs += [(arm.name, control) for arm in experiment.arms if control and arm.role is Role.CANDIDATE]
    pairs += [(arm.name, arm.of) for arm in experiment.arms if arm.of]
    return [Comparison(candidate=candidate, baseline=baseline) for candidate, baseline in pairs]


def _batch(fixture: str, arm: str, repetition: int, **values: Any) -> dict[str, Any]:
    return {
        "mode": "process",
        "group": "main",
        "fixture": fixture,
        "arm": arm,
        "repetition": repetition,
        "launches": 10,
        "warmup": False,
        "lead_in": 1,
        "block": 1,
        "clock_mhz_before": 2400.0,
        "clock_mhz_after": 2400.0,
        "load_1min": 0.25,
        "tag": "",
    } | values


def _checks(plan: Plan, repetition: int, failed_arms: Sequence[str]) -> Iterator[dict[str, Any]]:
    for when, (fixture, arms) in product(("before", "after"), plan.arms_by_fixture.items()):
        for arm in arms:
            if arm == "floor":
                continue
            failed = arm in failed_arms
            yield {
                "fixture": fixture,
                "arm": arm,
                "repetition": repetition,
                "when": when,
                "output": "out",
                "against": "reference",
                "kind": "value",
                "elements": 256,
                "mismatches": 3 if failed else 0,
                "max_abs": 0.5 if failed else 1e-6,
                "rel_l2": 0.1 if failed else 1e-7,
                "passed": not failed,
            }
