"""What profile attempts say: single counters for sentences and claims, and which fixtures may not be called rotating."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reportgen.analysis.counters import DRAM, of_launch
from reportgen.errors import InputError
from reportgen.model.columns import COUNTERS
from reportgen.model.counters import LEAST_ROTATING_SHARE, ROTATING, CounterLine, Rotation
from reportgen.model.record import Status
from reportgen.publish import lookup, wording
from reportgen.publish.view import AttemptView, RecordView

DRAM_BYTES, FOOTPRINT_SHARE = "dram_bytes", "footprint_share"
UNITS = {column.name: column.unit for column in COUNTERS if column.nullable}
METRICS = (DRAM_BYTES, FOOTPRINT_SHARE, *UNITS)


def profiles(record: RecordView) -> list[AttemptView]:
    """List the profile attempts of a record that came to their end, in the order in which they began."""
    found = [one for one in record.others if one.counters and one.status is Status.COMPLETE]
    return sorted(found, key=lambda one: (one.manifest.started_at, one.manifest.id))


def refused(record: RecordView) -> dict[str, Rotation]:
    """Give, by fixture, what the record's profiles say against calling it rotating."""
    said = [rotation for one in profiles(record) for rotation in one.rotations if not rotation.holds]
    return {rotation.fixture: rotation for rotation in reversed(said)}


def refuse_false_rotation(record: RecordView, fixtures: Iterable[str]) -> None:
    """Refuse to call fixtures rotating of which one is not.

    Raises
    ------
    InputError
        The line names the fixture, and how much of its footprint was moved.
    """
    against = refused(record)
    for name in fixtures:
        if name in against:
            raise InputError(f"{name} of {record.name} may not be called rotating: {said_of(against[name])}")


def said_of(rotation: Rotation) -> str:
    """Say how much was moved of what must be moved."""
    moved, due = round(rotation.dram_bytes), rotation.footprint_bytes
    return (
        f"arm {rotation.arm} moved {wording.count(moved)} of {wording.count(due)} bytes between device memory and caches,"
        f" {wording.percent(rotation.share)} where {wording.percent(LEAST_ROTATING_SHARE, decimals=0)} are asked"
    )


def text(name: str, value: float) -> str:
    """Say a counter in its unit."""
    if name == FOOTPRINT_SHARE:
        return wording.percent(value)
    unit = UNITS.get(name, "B")
    if unit == "%":
        return wording.percent(value / 100)
    if unit == "B":
        return f"{wording.count(round(value))} bytes"
    if unit == "ns":
        return wording.time(value)
    return wording.number(value) if name.startswith("stall_") else wording.count(round(value))


def anchor(line: CounterLine) -> str:
    """Name the row of a counted kernel on its attempt's page."""
    return anchor_of(line.fixture, line.arm, line.call)


def anchor_of(fixture: str, arm: str, call: int = 1) -> str:
    """Name the row of a kernel of an arm on a fixture on the page of a profile attempt."""
    return f"c-{lookup.slug(fixture)}-{lookup.slug(arm)}-{call}"


def footprint_share(attempt: AttemptView, own: Sequence[CounterLine]) -> float | None:
    """Bytes between device memory and caches in an execution, over what it must move at least."""
    moved, due = _dram(own), attempt.moved_bytes.get(own[0].fixture) if own else None
    return moved / due if moved is not None and due else None


def _dram(own: Sequence[CounterLine]) -> float | None:
    parts = [of_launch(own, name) for name in DRAM]
    return None if parts[0] is None or parts[1] is None else parts[0] + parts[1]


@dataclass(frozen=True)
class Counted:
    """One figure of a profile: its value, and where it stands."""

    metric: str
    value: float
    address: str
    anchor: str


def counted(record: RecordView, arm: str, metric: str, where: Mapping[str, Any], call: int | None = None) -> Counted:
    """Find one counter of an arm on the fixture that ``where`` selects, in the earliest profile that has it.

    Shares of the footprint are as such, percentages in percent, everything else in the column's unit.

    Raises
    ------
    InputError
        There is no such metric, or ``where`` selects no counted fixture or several, or the execution has several kernels of which each has a
        value of its own and ``call`` names none.
    """
    if metric not in METRICS:
        raise InputError(f"no counter {metric!r}", remedy=f"counters are: {', '.join(METRICS)}")
    wanted = fixtures_where(record, where)
    for attempt in profiles(record):
        found = [one for one in attempt.counters if one.arm == arm and one.fixture in wanted]
        names = list(dict.fromkeys(one.fixture for one in found))
        if len(names) > 1:
            raise InputError(
                f"{len(names)} fixtures of {record.name} were counted there", remedy="name one by its axes"
            )
        own = [one for one in found if call in (None, one.call)]
        if own:
            value = _value(attempt, own, metric)
            if value is None:
                raise InputError(
                    f"{metric} of {arm!r} is not known there", remedy="name one of several kernels by call="
                )
            return Counted(metric, value, attempt.address, anchor(own[0]))
    raise InputError(f"no profile of {record.name} counted {arm!r} there", remedy="see `reportgen run NAME --profile`")


def fixtures_where(record: RecordView, where: Mapping[str, Any]) -> list[str]:
    """List the fixtures whose axes have the values of ``where``; one that is asked for as rotating must be so.

    Raises
    ------
    InputError
        An axis does not exist, or a fixture asked for as rotating is not.
    """
    axes = record.plan.experiment.axes
    for axis in where:
        if axis not in axes:
            raise InputError(f"{record.name} has no axis {axis!r}", remedy=f"its axes are: {', '.join(axes)}")
    found = [
        fixture.name
        for fixture in record.plan.fixtures
        if all(
            fixture.values.get(axis) in (wanted if isinstance(wanted, list) else [wanted])
            for axis, wanted in where.items()
        )
    ]
    if asks_rotating(where):
        refuse_false_rotation(record, found)
    return found


def asks_rotating(where: Mapping[str, Any]) -> bool:
    """Whether ``where`` asks for fixtures that are called rotating."""
    return any(value == ROTATING or (isinstance(value, list | tuple) and ROTATING in value) for value in where.values())


def _value(attempt: AttemptView, own: Sequence[CounterLine], metric: str) -> float | None:
    if metric == FOOTPRINT_SHARE:
        return footprint_share(attempt, own)
    return _dram(own) if metric == DRAM_BYTES else of_launch(own, metric)
