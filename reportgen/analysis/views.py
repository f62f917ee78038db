"""What a slice sees: its devices of one model, its fixtures, and the pairs that both arms of a question have there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reportgen.analysis.decision import DevicePairs
from reportgen.analysis.median import FloatArray
from reportgen.analysis.pairing import GROUPS, DeviceRows, TimeCube, time_cubes
from reportgen.errors import RecordError
from reportgen.model.experiment import Arm, AxisValue, Comparison, Role
from reportgen.model.plan import Plan

Where = dict[str, list[AxisValue]]


@dataclass(frozen=True, eq=False)
class PairedTimes:
    """Times of two arms on one device: fixtures x repetitions in ns, NaN in both where either is missing."""

    device: str
    fixtures: tuple[str, ...]
    repetitions: tuple[int, ...]
    arm_ns: FloatArray
    baseline_ns: FloatArray

    def ratios(self) -> DevicePairs:
        """Time ratios arm / baseline."""
        return DevicePairs(self.device, self.fixtures, self.repetitions, self.arm_ns / self.baseline_ns)

    def saved(self, repeats: int) -> DevicePairs:
        """Nanoseconds saved, baseline less arm, over ``repeats`` launches."""
        saved_ns = (self.baseline_ns - self.arm_ns) * repeats
        return DevicePairs(self.device, self.fixtures, self.repetitions, saved_ns)


@dataclass(frozen=True, eq=False)
class SliceView:
    """A slice on all recorded devices of one model; ``cubes`` holds them by group, in the order of device ids."""

    name: str
    plan: Plan
    fixtures: tuple[str, ...]
    cubes: dict[str, tuple[TimeCube, ...]]

    @property
    def failed(self) -> frozenset[str]:
        """Arms that failed a check on any device of the slice."""
        return frozenset().union(*(cube.failed for cube in self.cubes["main"]))

    def shared_fixtures(self, arm: str, baseline: str, where: Where) -> tuple[str, ...]:
        """Fixtures of the slice that both arms have by plan and ``where`` selects."""
        timed = _timed_by_fixture(self.plan, group_of(self.plan, arm, baseline))
        values = {fixture.name: fixture.values for fixture in self.plan.fixtures}
        return tuple(
            name
            for name in self.fixtures
            if {arm, baseline} <= set(timed.get(name, ())) and selects(where, values[name])
        )

    def paired(self, arm: str, baseline: str, fixtures: Sequence[str]) -> list[PairedTimes]:
        """Pair the times of both arms on every device of the slice."""
        return [
            _paired(cube, arm, baseline, tuple(fixtures)) for cube in self.cubes[group_of(self.plan, arm, baseline)]
        ]


def slice_views(
    plan: Plan, rows: Sequence[DeviceRows], *, tagged: bool = False, mode: str = "process"
) -> list[SliceView]:
    """Every slice of the plan on every device model of the record, as one mode timed it.

    Raises
    ------
    RecordError
        No device, the same device twice, or rows that ``pairing.time_cubes`` refuses.
    """
    devices = [device.device for device in rows]
    if not devices or len(set(devices)) < len(devices):
        raise RecordError("a record needs at least one device, and each of them once", where=plan.name)
    timed = {fixture.name: fixture.values for fixture in plan.fixtures if not fixture.checks_only}
    arms = [arm.name for arm in plan.experiment.arms]
    ordered = sorted(rows, key=lambda device: device.device)
    cubes = [time_cubes(device, list(timed), arms, tagged=tagged, mode=mode) for device in ordered]
    models = sorted({device.model for device in rows})
    return [
        SliceView(
            name=part.name if len(models) == 1 else f"{part.name} @ {model}",
            plan=plan,
            fixtures=tuple(name for name in part.fixtures if name in timed),
            cubes={group: tuple(of[group] for of in cubes if of[group].model == model) for group in GROUPS},
        )
        for part in plan.slices
        for model in models
    ]


def group_of(plan: Plan, arm: str, baseline: str) -> str:
    """Group of processes that time both arms: ``peer`` where only peer processes hold the two together."""

    def together(timed: dict[str, list[str]]) -> bool:
        return any({arm, baseline} <= set(names) for names in timed.values())

    return "peer" if together(plan.peers_by_fixture) and not together(plan.arms_by_fixture) else "main"


def all_comparisons(plan: Plan) -> list[Comparison]:
    """List the plan's comparisons, and each null against the arm it repeats where the plan does not list it."""
    listed = {(comparison.candidate, comparison.baseline) for comparison in plan.comparisons}
    nulls = [
        Comparison(candidate=arm.name, baseline=arm.of)
        for arm in plan.experiment.arms
        if arm.of is not None and (arm.name, arm.of) not in listed
    ]
    return [*plan.comparisons, *nulls]


def arms_by_name(plan: Plan) -> dict[str, Arm]:
    """Arms of the plan's experiment by name."""
    return {arm.name: arm for arm in plan.experiment.arms}


def is_null_comparison(plan: Plan, comparison: Comparison) -> bool:
    """Whether a null is compared with the very arm it repeats."""
    arm = arms_by_name(plan)[comparison.candidate]
    return arm.role is Role.NULL and arm.of == comparison.baseline


def selects(where: Where, values: dict[str, AxisValue]) -> bool:
    """Whether a fixture's axis values satisfy a filter."""
    return all(values.get(axis) in allowed for axis, allowed in where.items())


def _timed_by_fixture(plan: Plan, group: str) -> dict[str, list[str]]:
    return plan.arms_by_fixture if group == "main" else plan.peers_by_fixture


def _paired(cube: TimeCube, arm: str, baseline: str, fixtures: tuple[str, ...]) -> PairedTimes:
    arm_ns, baseline_ns = cube.times(fixtures, arm), cube.times(fixtures, baseline)
    missing = np.isnan(arm_ns) | np.isnan(baseline_ns)
    return PairedTimes(
        device=cube.device,
        fixtures=fixtures,
        repetitions=cube.repetitions,
        arm_ns=np.where(missing, np.nan, arm_ns),
        baseline_ns=np.where(missing, np.nan, baseline_ns),
    )
