"""Counters of a profile attempt: means over its counted launches, and what they say of fixtures that are called rotating. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import fsum, isfinite
from typing import Any

from reportgen.model.columns import COUNTERS
from reportgen.model.counters import ROTATING, CounterLine, Rotation
from reportgen.model.experiment import Role
from reportgen.model.plan import Plan

PLACE = ("fixture", "arm", "call", "kernel")
DRAM = ("dram_read_bytes", "dram_write_bytes")
# What a launch of several kernels has in sum; of everything else each kernel has its own.
SUMMED = (*DRAM, "l2_bytes", "instructions", "kernel_ns")
_PARTIAL = {Role.CEILING, Role.FLOOR}  # their work is deleted, and so are their bytes
_COUNTED = [column.name for column in COUNTERS if column.type != "string" and column.name not in ("launch", "call")]


def lines(rows: Iterable[Mapping[str, Any]]) -> list[CounterLine]:
    """Take means over the launches of each kernel, in the order of the rows, whose keys are those of ``model.columns.COUNTERS``.

    Launch 0 enters none: it follows the profiler's own start, and finds its instructions in no cache.
    """
    places: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in (row for row in rows if row["launch"] > 0):
        places.setdefault(tuple(row[name] for name in PLACE), []).append(row)
    return [
        CounterLine(fixture, arm, call, kernel, len(found), _means(found))
        for (fixture, arm, call, kernel), found in places.items()
    ]


def _means(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    means = {}
    for name in _COUNTED:
        known = [float(row[name]) for row in rows if _is_known(row.get(name))]
        if len(known) == len(rows):
            means[name] = fsum(known) / len(known)
    return means


def _is_known(value: Any) -> bool:
    return isinstance(value, int | float) and isfinite(value)


def of_launch(found: Sequence[CounterLine], name: str) -> float | None:
    """Sum a counter of ``SUMMED`` over the kernels of one arm's execution; any other is that of its only kernel, ``None`` where it has several."""
    values = [line.values.get(name) for line in found]
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values) or (name not in SUMMED and len(known) > 1):
        return None
    return fsum(known)


def is_rotating(values: Mapping[str, Any]) -> bool:
    """Whether a fixture's axes call it rotating."""
    return ROTATING in values.values()


def rotations(found: Sequence[CounterLine], plan: Plan, footprints: Mapping[str, int]) -> list[Rotation]:
    """Say of each fixture that is called rotating how much of its footprint came from the device's memory.

    Of the arms that do all of the work, the one that moved least speaks: one that finds a part in the caches is enough to make the
    fixture another one than its name says. A fixture without counted arms, or whose bytes are not known, has no entry.
    """
    whole = {arm.name for arm in plan.experiment.arms if _role(plan, arm.name) not in _PARTIAL}
    return [
        rotation
        for fixture in plan.fixtures
        if is_rotating(fixture.values) and footprints.get(fixture.name)
        for rotation in _least(found, fixture.name, whole, footprints[fixture.name])
    ]


def _role(plan: Plan, name: str) -> Role:
    arms = {arm.name: arm for arm in plan.experiment.arms}
    return arms[arms[name].of or name].role


def _least(found: Sequence[CounterLine], fixture: str, arms: set[str], footprint: int) -> list[Rotation]:
    own = [line for line in found if line.fixture == fixture and line.arm in arms]
    moved = []
    for arm in dict.fromkeys(line.arm for line in own):
        parts = [of_launch([line for line in own if line.arm == arm], name) for name in DRAM]
        if parts[0] is not None and parts[1] is not None:
            moved.append(Rotation(fixture, arm, parts[0] + parts[1], footprint))
    return sorted(moved, key=lambda one: one.dram_bytes)[:1]
