"""From plan, build and drawn layout to the job of one process. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from reportgen.measure.backends.interface import Built
from reportgen.measure.draws import repetition_seed
from reportgen.measure.job import CALIBRATE, REFERENCE, REPETITION, SANITIZE, Job, JobArm, JobFixture
from reportgen.measure.order import Layout, Schedule, draw_layout
from reportgen.measure.planning import arms_on
from reportgen.model.experiment import Arm, Role
from reportgen.model.plan import Plan, PlanFixture
from reportgen.units import BYTES_PER_MIB, NS_PER_MS

UNCHECKED = frozenset({Role.CEILING, Role.FLOOR})


@dataclass(frozen=True)
class Described:
    """What the experiment said of its fixtures: bytes of a set's buffers, number of sets, hashes, bytes and flops."""

    buffers: dict[str, int]
    sets: int
    hashes: dict[str, str]
    bytes: int
    flops: int


@dataclass(frozen=True)
class Frame:
    """What the timed jobs of one attempt share: its id, its schedule, and when it began on the session's clock."""

    attempt_id: str
    schedule: Schedule
    origin_ns: int


@dataclass(frozen=True)
class Bench:
    """Everything that the jobs of one attempt have in common; ``selector`` says which device, if one was named.

    ``variables`` are the environment variables of every process beyond the fixed ones. With ``one_set`` no fixture has copies of its buffers.
    """

    plan: Plan
    built: Built
    experiment_file: Path
    work: Path
    backend: str
    selector: str | None = None
    described: dict[str, Described] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    one_set: bool = False

    def reference_job(self) -> Job:
        """Job that runs no kernel."""
        return self._job(REFERENCE, 0, 0)

    def calibration_job(self, frame: Frame) -> tuple[Job, Layout]:
        """Job of repetition 0, and what was drawn for it."""
        return self._timed_job(CALIBRATE, 0, frame, {})

    def repetition_job(self, repetition: int, frame: Frame, replays: dict[str, int]) -> tuple[Job, Layout]:
        """Job of a timed repetition, and what was drawn for it."""
        return self._timed_job(REPETITION, repetition, frame, replays)

    def sanitizer_job(self, frame: Frame) -> tuple[Job, Layout]:
        """Job that checks every arm's graph and times none, and what was drawn for it."""
        return self._timed_job(SANITIZE, 1, frame, {})

    def timed_fixtures(self) -> list[str]:
        """Fixtures with batches; the others are only checked."""
        return [fixture.name for fixture in self.plan.fixtures if not fixture.checks_only]

    def _timed_job(self, kind: str, repetition: int, frame: Frame, replays: dict[str, int]) -> tuple[Job, Layout]:
        layout = self._layout(repetition, frame.attempt_id)
        timed = set(self.timed_fixtures())
        fixtures = {fixture.name: fixture.arms for fixture in self._fixtures()}
        blocks = [name for name in layout.fixtures if name in timed]
        job = self._job(
            kind,
            repetition,
            frame.origin_ns,
            module_order=layout.modules,
            graph_order=[
                [name, arm] for name in layout.fixtures for arm in layout.graphs[name] if arm in fixtures[name]
            ],
            check_order=[
                [name, arm] for name in layout.fixtures for arm in layout.checks[name] if arm in fixtures[name]
            ],
            buffer_order=[entry for name in layout.fixtures for entry in _buffers(name, layout)],
            block_order=blocks,
            orders={name: frame.schedule.order(repetition, name) for name in blocks},
            replays=replays,
            hash_inputs=True,
        )
        return job, layout

    def _layout(self, repetition: int, attempt_id: str) -> Layout:
        names = [fixture.name for fixture in self.plan.fixtures]
        buffers = {
            name: [
                f"{index}:{buffer}"
                for index in range(self.described[name].sets)
                for buffer in self.described[name].buffers
            ]
            for name in names
        }
        return draw_layout(
            repetition_seed(self.plan.digest, attempt_id, repetition),
            [arm.name for arm in self.plan.experiment.arms],
            names,
            buffers,
            most_padding_bytes=int(self.plan.experiment.protocol.most_padding_mib * BYTES_PER_MIB),
        )

    def _job(self, kind: str, repetition: int, origin_ns: int, **drawn: Any) -> Job:
        protocol = self.plan.experiment.protocol
        return Job(
            kind=kind,
            repetition=repetition,
            backend=self.backend,
            options=self.built.options | {"device": self.selector},
            experiment_file=str(self.experiment_file),
            work=str(self.work),
            origin_ns=origin_ns,
            arms=[_arm(arm, self.plan.experiment.arms, self.built) for arm in self.plan.experiment.arms],
            fixtures=self._fixtures(),
            launches_per_graph=protocol.launches_per_graph,
            lead_in_replays=protocol.lead_in_replays,
            warm_up_s=protocol.clock_warm_up_s,
            least_batch_ns=round(protocol.least_batch_ms * NS_PER_MS),
            variables=self.variables,
            one_set=self.one_set,
            **drawn,
        )

    def _fixtures(self) -> list[JobFixture]:
        return [_fixture(fixture, self.plan) for fixture in self.plan.fixtures]


def layout_facts(layout: Layout) -> dict[str, Any]:
    """Say what was drawn, as the record keeps it."""
    return asdict(layout)


def _buffers(fixture: str, layout: Layout) -> list[list[Any]]:
    found: list[list[Any]] = []
    for label, padding_bytes in zip(layout.buffers[fixture], layout.padding_bytes[fixture], strict=True):
        index, _, name = label.partition(":")
        found.append([fixture, int(index), name, padding_bytes])
    return found


def _arm(arm: Arm, arms: Sequence[Arm], built: Built) -> JobArm:
    original = next((other for other in arms if other.name == arm.of), arm)
    equals = arm.of or ((arm.control or _incumbent(arm, arms)) if arm.bitwise else None)
    return JobArm(
        name=arm.name,
        role=arm.role.value,
        symbol=arm.symbol or "",
        of=arm.of,
        file=built.arms[arm.name].file,
        equals=equals,
        checked=original.role not in UNCHECKED,
        calibrated=original.role is not Role.FLOOR,
    )


def _incumbent(arm: Arm, arms: Sequence[Arm]) -> str | None:
    first = next((other.name for other in arms if other.role is Role.INCUMBENT), None)
    named = arm.incumbent or first
    return named if named != arm.name else None


def _fixture(fixture: PlanFixture, plan: Plan) -> JobFixture:
    arms = plan.arms_by_fixture.get(fixture.name)
    if arms is None:
        arms = arms_on(plan.experiment.arms, fixture)
    return JobFixture(fixture.name, dict(fixture.values), fixture.seed, arms, fixture.checks_only)
