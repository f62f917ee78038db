"""From plan, build and drawn layout to the job of one process. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from reportgen.measure.backends.interface import Built
from reportgen.measure.draws import repetition_seed
from reportgen.measure.job import (
    AFTER,
    BEFORE,
    CALIBRATE,
    PEER,
    PROCESS,
    PROFILE,
    REFERENCE,
    REPETITION,
    SANITIZE,
    Job,
    JobArm,
    JobFixture,
    JobHarness,
)
from reportgen.measure.libraries import library_folders, library_settings
from reportgen.measure.order import Layout, Schedule, draw_layout
from reportgen.measure.planning import arms_on
from reportgen.model.experiment import Arm, Harness, Role
from reportgen.model.plan import Plan, PlanFixture
from reportgen.units import BYTES_PER_MIB, NS_PER_MS

MOST_LISTED = 64
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
    """What the timed jobs of one series share: the attempt's id, the schedule, and when the attempt began on the session's clock.

    ``cells`` are the arms by fixture, where they are not those of the main group.
    """

    attempt_id: str
    schedule: Schedule
    origin_ns: int
    cells: Mapping[str, Sequence[str]] | None = None


@dataclass(frozen=True)
class Standing:
    """Where a repetition stands in its attempt; see the fields of :class:`reportgen.measure.job.Job`."""

    mode: str = PROCESS
    turn: int = 0
    process_since: int = 0
    placement: int = 0
    checks: tuple[str, ...] = (BEFORE, AFTER)
    own_pids: tuple[int, ...] = ()


@dataclass(frozen=True)
class Bench:
    """Everything that the jobs of one attempt have in common; ``selector`` says which device, if one was named.

    ``variables`` are the environment variables of every process beyond the fixed ones. ``once`` is that of the jobs.
    """

    plan: Plan
    built: Built
    experiment_file: Path
    work: Path
    backend: str
    selector: str | None = None
    described: dict[str, Described] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    once: bool = False

    def reference_job(self) -> Job:
        """Job that runs no kernel."""
        return self._job(REFERENCE, 0, 0, self._fixtures(), self._arms([arm.name for arm in self.plan.experiment.arms]))

    def calibration_job(self, frame: Frame, mode: str = PROCESS) -> tuple[Job, Layout]:
        """Job of repetition 0 of the main group or of peers, and what was drawn for it."""
        return self._timed_job(CALIBRATE, 0, frame, {}, Standing(mode=mode))

    def repetition_job(
        self, repetition: int, frame: Frame, replays: dict[str, int], standing: Standing | None = None
    ) -> tuple[Job, Layout]:
        """Job of a timed repetition (of mode process where nothing else is said), and the draws that are in force in it."""
        standing = standing or Standing(turn=repetition, process_since=repetition, placement=repetition)
        return self._timed_job(REPETITION, repetition, frame, replays, standing)

    def sanitizer_job(self, frame: Frame) -> tuple[Job, Layout]:
        """Job that checks every arm's graph and times none, and what was drawn for it."""
        return self._timed_job(SANITIZE, 1, frame, {}, Standing(turn=1, process_since=1, placement=1))

    def profile_job(self, frame: Frame) -> tuple[Job, Layout]:
        """Job that counts every arm and times none, in the layout that :meth:`sanitizer_job` draws."""
        return self._timed_job(PROFILE, 1, frame, {}, Standing(turn=1, process_since=1, placement=1))

    def timed_fixtures(self) -> list[str]:
        """Fixtures with batches; the others are only checked."""
        return [fixture.name for fixture in self.plan.fixtures if not fixture.checks_only]

    def _timed_job(
        self, kind: str, repetition: int, frame: Frame, replays: dict[str, int], standing: Standing
    ) -> tuple[Job, Layout]:
        harness = next((one for one in self.plan.experiment.harnesses if one.name == standing.mode), None)
        fixtures = self._fixtures() if frame.cells is None else self._limited(frame.cells)
        own = {arm.name for arm in self.plan.own_arms}
        arms = self._present(harness, frame.cells)
        layout = self._layout(frame.attempt_id, standing, arms, [fixture.name for fixture in fixtures])
        timed = set(self.timed_fixtures())
        present = {fixture.name: fixture.arms for fixture in fixtures}
        blocks = [name for name in layout.fixtures if name in timed]
        job = self._job(
            kind,
            repetition,
            frame.origin_ns,
            fixtures=fixtures,
            arms=self._arms(arms),
            module_order=[arm for arm in layout.modules if arm in own],
            graph_order=[
                [name, arm] for name in layout.fixtures for arm in layout.graphs[name] if arm in present[name]
            ],
            check_order=[
                [name, arm] for name in layout.fixtures for arm in layout.checks[name] if arm in present[name]
            ],
            buffer_order=[entry for name in layout.fixtures for entry in _buffers(name, layout)],
            block_order=blocks,
            orders={name: frame.schedule.order(repetition, name) for name in blocks},
            replays=replays,
            hash_inputs=bool(standing.checks),
            harness=None if harness is None else JobHarness(harness.name, dict(harness.settings)),
            mode=standing.mode,
            own_pids=list(standing.own_pids),
            checks=list(standing.checks),
            turn=standing.turn,
            process_since=standing.process_since,
            placement=standing.placement,
        )
        return job, layout

    def _layout(self, attempt_id: str, standing: Standing, arms: list[str], fixtures: list[str]) -> Layout:
        buffers = {
            name: [
                f"{index}:{buffer}"
                for index in range(self.described[name].sets)
                for buffer in self.described[name].buffers
            ]
            for name in fixtures
        }
        return draw_layout(
            repetition_seed(self.plan.digest, attempt_id, standing.placement, standing.mode),
            arms,
            fixtures,
            buffers,
            most_padding_bytes=int(self.plan.experiment.protocol.most_padding_mib * BYTES_PER_MIB),
        )

    def _job(
        self, kind: str, repetition: int, origin_ns: int, fixtures: list[JobFixture], arms: list[JobArm], **drawn: Any
    ) -> Job:
        protocol = self.plan.experiment.protocol
        return Job(
            kind=kind,
            repetition=repetition,
            backend=self.backend,
            options=self.built.options | {"device": self.selector},
            experiment_file=str(self.experiment_file),
            work=str(self.work),
            origin_ns=origin_ns,
            arms=arms,
            fixtures=fixtures,
            launches_per_graph=protocol.launches_per_graph,
            lead_in_replays=protocol.lead_in_replays,
            warm_up_s=protocol.clock_warm_up_s,
            least_batch_ns=round(protocol.least_batch_ms * NS_PER_MS),
            variables=self.variables | self._library_variables(drawn.get("mode", PROCESS)),
            once=self.once,
            launching=protocol.launching.value,
            **drawn,
        )

    def _library_variables(self, mode: str) -> dict[str, str]:
        """Variables of a process that loads libraries of others: one that times peers, or any where an arm is in Python."""
        loads = mode == PEER or bool(self.plan.python_arms)
        return library_settings() | library_folders(self.work) if loads else {}

    def _arms(self, names: Sequence[str]) -> list[JobArm]:
        arms = self.plan.experiment.arms
        return [_arm(arm, arms, self.built) for arm in arms if arm.name in names]

    def _present(self, harness: Harness | None, cells: Mapping[str, Sequence[str]] | None) -> list[str]:
        """Arms of a process in the order of the plan."""
        if harness is not None:
            return [arm.name for arm in self.plan.own_arms if arm.name in harness.arms]
        if cells is None:
            return [arm.name for arm in self.plan.own_arms]
        present = {name for names in cells.values() for name in names}
        return [arm.name for arm in self.plan.experiment.arms if arm.name in present]

    def _limited(self, cells: Mapping[str, Sequence[str]]) -> list[JobFixture]:
        return [replace(one, arms=list(cells[one.name])) for one in self._fixtures() if one.name in cells]

    def _fixtures(self) -> list[JobFixture]:
        return [_fixture(fixture, self.plan) for fixture in self.plan.fixtures]


def layout_facts(layout: Layout) -> dict[str, Any]:
    """Say what was drawn, as the record keeps it: lists of buffers beyond ``MOST_LISTED``, which the seed gives again, by their hash."""
    facts = asdict(layout)
    for drawn in (facts["buffers"], facts["padding_bytes"]):
        drawn.update({fixture: _hashed(items) for fixture, items in drawn.items() if len(items) > MOST_LISTED})
    return facts


def _hashed(items: Sequence[Any]) -> dict[str, Any]:
    text = json.dumps(items, separators=(",", ":"))
    return {"count": len(items), "sha256": hashlib.sha256(text.encode()).hexdigest()}


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
        file=built.arms[arm.name].file if arm.name in built.arms else "",
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
