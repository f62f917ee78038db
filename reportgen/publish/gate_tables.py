"""Tables of gates: what was asked and how it came out, the sum of each ceiling line by line, the points of each band."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from reportgen.errors import InputError
from reportgen.model.experiment import Gate
from reportgen.model.plan import Slice
from reportgen.model.result import BandPoint, GateCell, GateResult
from reportgen.publish import lookup, wording
from reportgen.publish.context import Cell, Column, Row, Table
from reportgen.publish.tables import NOTHING, code, figure, word
from reportgen.publish.view import RecordView

SAVED_NS = "saved_ns"
CHANGES = ("change", "low", "high")


def gate_anchor(gate: GateResult) -> str:
    """Name the place on the record page where a gate's outcome stands."""
    return f"g-{lookup.slug(gate.slice)}-{lookup.slug(gate.name)}-{lookup.slug(gate.arm)}"


def gates(record: RecordView, piece: Slice, unit: str = "") -> Table:
    """Build the table of gates: rules frozen before the first batch, and how they came out."""
    found = _asked(record, piece)
    rows = tuple(
        Row(word(gate.name, note=_standing(gate)), _gate_cells(gate, unit), anchor=gate_anchor(gate)) for gate in found
    )
    columns = ("arm", "against", "threshold", "estimate", "deciding end", "outcome", "deciding fixture")
    return Table(
        caption=f"Gates: {wording.slice_name(piece.name)}",
        stub="Gate",
        columns=tuple(Column(text, figure=text in ("threshold", "estimate", "deciding end")) for text in columns),
        rows=rows,
        note=f"A gate is a rule of the plan. {wording.freezing(found, record.plan.digest)} Percentages are shares of the "
        "baseline's time saved (for no_regression: lost); the deciding end is the worse end of the interval.",
    )


def _asked(record: RecordView, piece: Slice) -> list[GateResult]:
    return [gate for gate in record.result.gates if gate.slice in (piece.name, "all")]


def _standing(gate: GateResult) -> str:
    said = ["exploratory: its points were chosen after looking"] if gate.exploratory else []
    return "; ".join([*said, "younger than its data"] if gate.younger else said)


def said(gate: GateResult, value: float, unit: str = "") -> str:
    """Say a figure of a gate in its quantity: a share of the baseline's time, or a time (in ``unit`` where one is named)."""
    return wording.saving(value, in_time=gate.quantity == SAVED_NS, unit=unit)


def figure_of(gate: GateResult, name: str) -> float:
    """Take a figure of a gate by name.

    Raises
    ------
    InputError
        It has none of that name, or could not be computed.
    """
    known = {"estimate": gate.estimate, "end": gate.end, "threshold": gate.threshold}
    if gate.ceiling is not None:
        known |= {key: getattr(gate.ceiling, key) for key in ("saved", "low", "cost", "cost_high")}
    value = known.get(name)
    if value is None:
        raise InputError(f"gate {gate.name!r} of {gate.arm} has no {name!r}", remedy=f"figures are: {', '.join(known)}")
    return value


def _amount(gate: GateResult, value: float | None, unit: str) -> Cell:
    return NOTHING if value is None else figure(said(gate, value, unit), value)


def _gate_cells(gate: GateResult, unit: str) -> tuple[Cell, ...]:
    return (
        code(gate.arm),
        code(gate.baseline),
        _amount(gate, gate.threshold, unit),
        _amount(gate, gate.estimate, unit),
        _amount(gate, gate.end, unit),
        word(wording.GATES[gate.outcome], tone="outcome"),
        code(wording.within(gate.fixture, gate.slice) if gate.fixture else "all"),
    )


def savings(record: RecordView, piece: Slice, unit: str = "", only: str = "") -> Table:
    """Show what every arm of the gates ``every_fixture`` (or of ``only`` one) saves on every fixture; the deciding one is marked."""
    found = [gate for gate in _asked(record, piece) if gate.cells and only in ("", gate.name)]
    several = len({cell.device for gate in found for cell in gate.cells}) > 1
    rows = [_saving(gate, cell, unit, several=several, named=not only) for gate in found for cell in gate.cells]
    of_unit = f", {wording.unit_name(unit)}" if unit else ""
    columns = (Column("fixture"), Column(f"saved{of_unit}", figure=True, sense=wording.SAVED))
    return Table(
        caption=f"Savings by fixture: {wording.slice_name(piece.name)}{f', gate {only}' if only else ''}",
        stub="Arm",
        columns=(*columns, *([Column("device")] if several else [])),
        rows=tuple(rows),
        note="Median over processes, its order-statistic interval beneath. A gate holds every low end against what it asks; "
        "the fixture that decides says so.",
    )


def _saving(gate: GateResult, cell: GateCell, unit: str, *, several: bool, named: bool) -> Row:
    amounts = [
        said(gate, value, unit).removesuffix(f" {wording.unit_name(unit)}")
        for value in (cell.estimate, cell.low, cell.high)
    ]
    decides = (cell.fixture, cell.device) == (gate.fixture, gate.device)
    fixture = wording.within(cell.fixture, gate.slice)
    cells = (
        word(wording.short_fixture(fixture), note=f"decides: {wording.GATES[gate.outcome]}" if decides else ""),
        replace(figure(amounts[0], cell.estimate), note=f"{amounts[1]} to {amounts[2]}"),
    )
    return Row(
        word(gate.arm, note=gate.name if named else ""),
        (*cells, *([code(cell.device)] if several else [])),
        first=cell == gate.cells[0],
        anchor=f"s-{gate_anchor(gate)}" if cell == gate.cells[0] else "",
    )


def ceilings(record: RecordView, piece: Slice, unit: str = "") -> Table:
    """Derive the sum of every ceiling gate: what the other stage could save, less what the arm costs here."""
    rows: list[Row] = []
    for gate in _asked(record, piece):
        if gate.ceiling is not None:
            rows += _sum(gate, _declared(record, gate), unit)
    return Table(
        caption=f"Ceilings less costs: {wording.slice_name(piece.name)}",
        stub="Gate and arm",
        columns=(Column("line"), Column("estimate", figure=True), Column("worse end", figure=True), Column("where")),
        rows=tuple(rows),
        note="Worse end: the lower end of what the ceiling saves, less the upper end of what the arm costs; the fixtures are "
        "those that leave least.",
    )


def _declared(record: RecordView, gate: GateResult) -> Gate:
    return next(one for one in record.plan.experiment.gates if one.name == gate.name)


def _sum(gate: GateResult, declared: Gate, unit: str) -> Sequence[Row]:
    found, stage = gate.ceiling, declared.stage
    if found is None or stage is None:
        return ()
    head, nothing = word(gate.name, note=gate.arm), word("")
    saved = f"saved by {stage.arm} against {stage.vs} in {stage.experiment}, times {wording.count(stage.repeats)}"
    cost = f"less the cost of {gate.arm} against {gate.baseline}, times {wording.count(declared.repeats)}"
    cells = (
        (
            word(saved, note=f"plan {found.plan}"),
            _amount(gate, found.saved, unit),
            _amount(gate, found.low, unit),
            code(found.fixture),
        ),
        (word(cost), _amount(gate, found.cost, unit), _amount(gate, found.cost_high, unit), code(gate.fixture or "")),
        (word("what remains"), _amount(gate, gate.estimate, unit), _amount(gate, gate.end, unit), nothing),
        (
            word("what was asked"),
            _amount(gate, gate.threshold, unit),
            nothing,
            word(wording.GATES[gate.outcome], tone="outcome"),
        ),
    )
    anchor = f"sum-of-{gate_anchor(gate)}"
    return [Row(head, line, first=not place, anchor="" if place else anchor) for place, line in enumerate(cells)]


def bands(record: RecordView, piece: Slice, unit: str = "") -> Table:
    """Show every point of every band gate, and the bands they form; they are about shares, which have no unit."""
    del unit
    found = [gate for gate in _asked(record, piece) if gate.points]
    rows = [_point(gate, point, first=place == 0) for gate in found for place, point in enumerate(gate.points)]
    columns = ("point", "change", "low", "high", "ranks", "says", "device")
    return Table(
        caption=f"Bands: {wording.slice_name(piece.name)}",
        stub="Gate and arm",
        columns=tuple(
            Column(text, figure=text == "point" or text in CHANGES, sense=wording.LESS_TIME if text in CHANGES else "")
            for text in columns
        ),
        rows=tuple(rows),
        lead=" ".join(_bands_said(gate, _declared(record, gate)) for gate in found),
        note="All points of a gate hold together with at least 95%: each interval has the rank that Bonferroni's correction "
        "over the points asks for. A band is two adjacent points or more that say the same.",
    )


def _bands_said(gate: GateResult, declared: Gate) -> str:
    said = [
        f"{band.verdict.value} from {declared.axis} = {band.first} to {band.last} ({band.points} points)"
        for band in gate.bands
    ]
    looked = " Exploratory: the points were chosen after looking." if gate.exploratory else ""
    return f"{gate.name}, {gate.arm}: {'; '.join(said) or 'no band'}.{looked}"


def _point(gate: GateResult, point: BandPoint, *, first: bool) -> Row:
    ends = point.interval
    ratios = [figure(wording.change(value), value) for value in (point.ratio, ends.low, ends.high)]
    ranks = word(f"{ends.rank} and {ends.n + 1 - (ends.rank or 1)} of {ends.n}")
    value = figure(str(point.value), point.value)
    return Row(
        word(gate.name, note=gate.arm),
        (value, *ratios, ranks, word(point.verdict.value, tone="outcome"), code(point.device)),
        first=first,
        anchor=f"points-of-{gate_anchor(gate)}" if first else "",
    )


class Build(Protocol):
    """Builds one table of a record in a slice; times are in ``unit``, or each in its own where that is empty."""

    def __call__(self, record: RecordView, piece: Slice, unit: str = "") -> Table:
        """Build the table."""


KINDS: Mapping[str, Build] = {"gates": gates, "savings": savings, "ceilings": ceilings, "bands": bands}


def build(kind: str, record: RecordView, slices: Sequence[Slice], unit: str = "", *, page: str = "") -> list[Table]:
    """Build the tables of one kind, one a slice that has any, or those of all slices where none has.

    On another page than the record's own, which ``page`` leads to, figures lead to the row that is there.
    """
    found = [KINDS[kind](record, piece, unit) for piece in slices]
    shown = [table for table in found if table.rows] or found
    return [_leading(table, page) for table in shown] if page else shown


def _leading(table: Table, page: str) -> Table:
    """Lead every figure to its row on the record's page, or to the first of its group."""
    rows, anchor = [], ""
    for row in table.rows:
        anchor = row.anchor or anchor
        href = f"{page}#{anchor}"
        cells = tuple(replace(cell, href=href) if cell.value and not cell.href else cell for cell in row.cells)
        rows.append(replace(row, cells=cells, anchor=""))
    return replace(table, rows=tuple(rows))
