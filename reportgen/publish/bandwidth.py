"""How far from the floor: the bytes that a launch must move, beside the fastest that a kernel of a record moved its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from reportgen.errors import InputError
from reportgen.model.experiment import Role
from reportgen.model.plan import Slice
from reportgen.model.result import ArmTime
from reportgen.publish import lookup, wording
from reportgen.publish.context import Cell, Column, Row, Table
from reportgen.publish.linked import linked
from reportgen.publish.tables import NOTHING, code, figure
from reportgen.publish.view import RecordView
from reportgen.units import NS_PER_S

DERIVED = " Times the floor: the time over the floor of its row. Bytes, times and rates stand on the record's page, times also in its results.json."


@dataclass(frozen=True)
class Ceiling:
    """The rate that floors are computed from, in bytes a second, and where it was reached; ``place`` is that on the site."""

    bytes_per_s: float
    record: str
    fixture: str
    place: str = ""

    def words(self, root: str) -> Markup:
        """Say it in one sentence; ``root`` leads to the site's first page."""
        rate = linked(wording.rate(self.bytes_per_s), self.bytes_per_s, root + self.place)
        return Markup(
            "Floor: the bytes at {}, which is what fixture {} of {} reached on a device of this model."
        ).format(rate, self.fixture, self.record)


def ceiling_of(record: RecordView, at: Mapping[str, Any], models: list[str]) -> Ceiling:
    """Take the rate at which the fastest incumbent moved the bytes of the one fixture that ``at`` selects.

    Raises
    ------
    InputError
        ``at`` selects no fixture or several, its bytes are not known, or the record measured no device of these models.
    """
    found = [
        fixture.name
        for fixture in record.plan.fixtures
        if all(fixture.values.get(axis) == value for axis, value in at.items())
    ]
    if len(found) != 1:
        raise InputError(f"{record.name} has {len(found)} such fixtures", remedy="name one by its axes: at={...}")
    if not set(models) & set(record.devices):
        raise InputError(f"{record.name} measured no {' or '.join(models)}", remedy="take a record of the same model")
    rates = [(rate_of(moved(record).get(found[0]), time), time.device) for time in _incumbents(record, found[0])]
    known = [(rate, device) for rate, device in rates if rate is not None]
    if not known:
        raise InputError(f"no rate is known of {found[0]} in {record.name}")
    fastest, device = max(known)
    return Ceiling(fastest, record.name, found[0], f"{record.address}#{lookup.time_anchor(found[0], device)}")


def table(record: RecordView, piece: Slice, ceiling: Ceiling, root: str, mark: str) -> Table:
    """Build the table of one slice: bytes, floor and empty launch, then of each incumbent time, rate and distance.

    What the record holds leads to its page, which ``root`` leads to from this one; what is computed with the ceiling is derived in its own row,
    whose anchor begins with ``mark``.
    """
    page = root + record.address
    bytes_by_fixture = moved(record)
    incumbents = [arm.name for arm in record.plan.experiment.arms if arm.role is Role.INCUMBENT]
    floors = [arm.name for arm in record.plan.experiment.arms if arm.role is Role.FLOOR][:1]
    devices = lookup.devices_in(record, piece)
    times = {(time.fixture, time.arm): time for time in record.result.times if time.device == devices[0]}
    rows = tuple(
        Row(
            code(wording.within(fixture, piece.name)),
            (
                *_bytes_cells(
                    bytes_by_fixture.get(fixture), ceiling, _place(fixture, devices[0], page), f"#{mark}-{place}"
                ),
                *(_time_cell(times.get((fixture, floor)), page) for floor in floors),
                *(
                    cell
                    for arm in incumbents
                    for cell in _arm_cells(
                        bytes_by_fixture.get(fixture), times.get((fixture, arm)), ceiling, (page, f"#{mark}-{place}")
                    )
                ),
            ),
            anchor=f"{mark}-{place}",
        )
        for place, fixture in enumerate(piece.fixtures, start=1)
    )
    heads = ["bytes", "floor", *("empty launch" for _ in floors)]
    heads += [text for arm in incumbents for text in (arm, f"{arm}: rate", f"{arm}: times the floor")]
    return Table(
        caption=f"Distance from the floor: {wording.slice_name(piece.name)}",
        stub="Fixture",
        columns=tuple(Column(head, figure=True) for head in heads),
        rows=rows,
        note=ceiling.words(root) + DERIVED + (f" Times are those of device {devices[0]}." if len(devices) > 1 else ""),
    )


def moved(record: RecordView) -> dict[str, int]:
    """Bytes that one launch must move at least, by fixture."""
    return record.attempts[0].moved_bytes if record.attempts else {}


def _incumbents(record: RecordView, fixture: str) -> list[ArmTime]:
    names = {arm.name for arm in record.plan.experiment.arms if arm.role is Role.INCUMBENT}
    return [time for time in record.result.times if time.fixture == fixture and time.arm in names]


def rate_of(length_bytes: int | None, time: ArmTime | None) -> float | None:
    """Give the rate at which an arm moved the bytes of a fixture, in bytes a second; None where bytes or time are not known."""
    if length_bytes is None or time is None or not time.median_ns:
        return None
    return length_bytes / time.median_ns * NS_PER_S


def _bytes_cells(length_bytes: int | None, ceiling: Ceiling, place: str, here: str) -> tuple[Cell, Cell]:
    if length_bytes is None:
        return NOTHING, NOTHING
    floor_ns = length_bytes / ceiling.bytes_per_s * NS_PER_S
    moved_bytes = figure(wording.count(length_bytes), length_bytes, href=place)
    return moved_bytes, figure(wording.time(floor_ns), floor_ns, href=here)


def _time_cell(time: ArmTime | None, page: str) -> Cell:
    return (
        NOTHING
        if time is None
        else figure(wording.time(time.median_ns), time.median_ns, href=_place(time.fixture, time.device, page))
    )


def _place(fixture: str, device: str, page: str) -> str:
    return f"{page}#{lookup.time_anchor(fixture, device)}"


def _arm_cells(
    length_bytes: int | None, time: ArmTime | None, ceiling: Ceiling, places: tuple[str, str]
) -> tuple[Cell, Cell, Cell]:
    (page, here), rate = places, rate_of(length_bytes, time)
    if rate is None or time is None:
        return _time_cell(time, page), NOTHING, NOTHING
    share = ceiling.bytes_per_s / rate
    reached = figure(wording.rate(rate), rate, href=_place(time.fixture, time.device, page))
    return _time_cell(time, page), reached, figure(wording.number(share, decimals=1), share, href=here)
