"""How two records differ, as tables: the same rows for the terminal and for the page of a record that follows another."""

from __future__ import annotations

from typing import Protocol

from reportgen.model.difference import (
    ArmMove,
    CellMove,
    CellReading,
    ComparisonMove,
    Difference,
    FieldMove,
    GateMove,
    GateReading,
    Reading,
)
from reportgen.publish import wording
from reportgen.publish.context import Cell, Column, Row, Table
from reportgen.publish.gate_tables import SAVED_NS
from reportgen.publish.tables import NOTHING, both, code, figure, word

MOST = 48


class Places(Protocol):
    """Leads to where a reading of one side is derived; empty where that has no page."""

    def comparison(self, move: ComparisonMove, reading: Reading) -> str:
        """Lead to a comparison."""

    def cell(self, move: CellMove, reading: CellReading) -> str:
        """Lead to a fixture of a comparison."""

    def gate(self, move: GateMove) -> str:
        """Lead to a gate."""


Sides = tuple[Places, Places] | None


def tables(found: Difference, *, plain: bool = False, places: Sides = None) -> tuple[Table, ...]:
    """Lay out what moved and what was not the same; tables without a row are left out. ``plain`` is for terminals, ``places`` for pages: before and after."""
    made = (
        _comparisons(found, places, plain=plain),
        _cells(found, places, plain=plain),
        _gates(found, places),
        _arms(found, plain=plain),
        _fields(f"Environment that differs: {found.before} and {found.after}", found.environment),
        _fields(f"Plan fields that differ: {found.before} and {found.after}", found.plan),
    )
    return tuple(table for table in made if table.rows)


def summary(found: Difference) -> str:
    """Say in a sentence how much moved."""
    moved = sum(one.moved for one in found.comparisons)
    verdicts = sum(
        1 for one in found.comparisons if one.before and one.after and one.before.verdict is not one.after.verdict
    )
    gates = sum(one.moved for one in found.gates)
    return (
        f"From {found.before} to {found.after}: {wording.of_total(moved, len(found.comparisons))} comparisons moved, "
        f"{wording.count(verdicts)} of them with another verdict; on {wording.of_total(len(found.cells), found.cells_compared)} "
        f"fixtures the intervals do not overlap; {wording.of_total(gates, len(found.gates))} gates moved; "
        f"{wording.plural(len(found.environment), 'field')} of the environment and {wording.plural(len(found.plan), 'field')} "
        "of the plan differ."
    )


def _columns(*names: str) -> tuple[Column, ...]:
    return tuple(Column(name) for name in names)


def _comparisons(found: Difference, places: Sides, *, plain: bool) -> Table:
    return Table(
        caption="Comparisons that moved",
        stub="Arm",
        columns=_columns("against", "slice", found.before, found.after, "intervals"),
        rows=tuple(_comparison(one, places, plain=plain) for one in found.comparisons if one.moved),
        note="Moved: another verdict, intervals without a point in common, or compared on one side only. Headline, interval, verdict. "
        "Overlap is no test: intervals that overlap may still differ.",
    )


def _comparison(one: ComparisonMove, places: Sides, *, plain: bool) -> Row:
    readings = []
    for side, reading in enumerate((one.before, one.after)):
        place = places[side].comparison(one, reading) if places and reading else ""
        readings.append(_reading(reading, place, plain=plain))
    return Row(code(one.arm), (code(one.baseline), word(wording.slice_name(one.slice)), *readings, word(_overlap(one))))


def _overlap(one: ComparisonMove) -> str:
    return {True: "overlap", False: "apart", None: wording.NOT_COMPUTED}[one.overlap]


def _reading(reading: Reading | None, place: str, *, plain: bool) -> Cell:
    if reading is None:
        return word("not compared")
    ends = wording.interval(reading.low, reading.high, plain=plain)
    verdict = wording.verdict(reading.verdict, plain=plain)
    said = f"{wording.change(reading.headline, plain=plain)} ({ends})"
    if reading.headline is None:
        return Cell(verdict)
    return figure(said, f"{reading.headline!r} {both(reading.low, reading.high)}", href=place, note=verdict)


def _cells(found: Difference, places: Sides, *, plain: bool) -> Table:
    shown = found.cells[:MOST]
    more = len(found.cells) - len(shown)
    return Table(
        caption="Fixtures whose intervals do not overlap",
        stub="Arm",
        columns=_columns("against", "fixture", found.before, found.after),
        rows=tuple(_cell(one, places, plain=plain) for one in shown),
        note=f"{wording.count(more)} more are not listed." if more else "",
    )


def _cell(one: CellMove, places: Sides, *, plain: bool) -> Row:
    readings = []
    for side, reading in enumerate((one.before, one.after)):
        readings.append(_at(reading, places[side].cell(one, reading) if places else "", plain=plain))
    return Row(code(one.arm), (code(one.baseline), code(one.fixture), *readings))


def _at(cell: CellReading, place: str, *, plain: bool) -> Cell:
    ends = wording.interval(cell.low, cell.high, plain=plain)
    said = f"{wording.change(cell.ratio, plain=plain)} ({ends})"
    return figure(said, f"{cell.ratio!r} {both(cell.low, cell.high)}", href=place)


def _gates(found: Difference, places: Sides) -> Table:
    return Table(
        caption="Gates that moved",
        stub="Gate",
        columns=_columns("arm", "slice", found.before, found.after),
        rows=tuple(
            Row(
                code(one.name),
                (
                    code(one.arm),
                    word(wording.slice_name(one.slice)),
                    *(
                        _gate(one, reading, places[side].gate(one) if places and reading else "")
                        for side, reading in enumerate((one.before, one.after))
                    ),
                ),
            )
            for one in found.gates
            if one.moved
        ),
    )


def _gate(move: GateMove, reading: GateReading | None, place: str) -> Cell:
    if reading is None:
        return word("not asked")
    in_time = move.quantity == SAVED_NS
    asked, end = (
        wording.NOT_COMPUTED if value is None
        else wording.signed_time(value) if in_time
        else wording.percent(value, decimals=2)
        for value in (reading.threshold, reading.end)
    )  # fmt: skip
    values = " ".join(repr(value) for value in (reading.end, reading.threshold) if value is not None)
    return Cell(wording.GATES[reading.outcome], href=place, note=f"{end}, asked {asked}", below=values)


def _arms(found: Difference, *, plain: bool) -> Table:
    return Table(
        anchor="arms-that-differ",
        caption="Arms",
        stub="Arm",
        columns=_columns("stands in", "code", "time after / before", "range over fixtures"),
        rows=tuple(
            Row(code(one.arm), _arm(one, found, plain=plain))
            for one in found.arms
            if one.sides != "both" or one.same_code is not True or one.time_ratio is not None
        ),
        note="Median over shared fixtures of the ratios of median times per launch. The two were measured apart, so this change has no interval "
        "and decides nothing. Of the times in results.json of either.",
    )


def _arm(one: ArmMove, found: Difference, *, plain: bool) -> tuple[Cell, ...]:
    sides = {"both": "both", "before": f"{found.before} only", "after": f"{found.after} only"}[one.sides]
    same = {True: "the same", False: "another", None: wording.NOT_COMPUTED}[one.same_code]
    if one.time_ratio is None:
        return word(sides), word(same), NOTHING, NOTHING
    time = figure(wording.change(one.time_ratio, plain=plain), one.time_ratio)
    return (
        word(sides),
        word(same),
        time,
        figure(wording.interval(one.least, one.most, plain=plain), both(one.least, one.most)),
    )


def _fields(caption: str, fields: list[FieldMove]) -> Table:
    rows = tuple(Row(code(one.field), (_value(one.before), _value(one.after))) for one in fields[:MOST])
    more = len(fields) - len(rows)
    return Table(
        caption=caption,
        stub="Field",
        columns=_columns("before", "after"),
        rows=rows,
        note=f"{wording.count(more)} more are not listed." if more else "",
    )


def _value(value: str | None) -> Cell:
    return word("absent", tone="quiet") if value is None else word(value, tone="told")
