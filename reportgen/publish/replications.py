"""Replications beside the record: later scored attempts of the same plan, code and device, verdict by verdict."""

from __future__ import annotations

from collections.abc import Sequence

from reportgen.model.plan import Slice
from reportgen.model.result import ComparisonResult
from reportgen.publish import families, lookup, tables, wording
from reportgen.publish.context import Cell, Column, Row, Table
from reportgen.publish.library import Library, root_of
from reportgen.publish.view import RecordView

MOST_COLUMNS = 4  # of replications side by side; a hundred nights are a list


def replications(record: RecordView, library: Library) -> tuple[Table, ...]:
    """Show, slice by slice, what the record and each of its replications found; none without replications."""
    known = [alone for one in record.replications if (alone := library.alone(one.address)) is not None]
    if not known:
        return ()
    return tuple(_table(record, known, piece) for piece in record.plan.slices)


def _table(record: RecordView, known: Sequence[RecordView], piece: Slice) -> Table:
    """Set attempts side by side, a column each, or below one another where there are many of them."""
    judged = [
        one
        for one in record.result.comparisons
        if one.slice.partition(lookup.MODEL_MARK)[0] == piece.name and one.role in tables.JUDGED
    ]
    grid = [
        [
            tables.headline_cell(one, "", tables.reason_of(record, one)),
            *(_beside(replication, one, root_of(record.address)) for replication in known),
        ]
        for one in judged
    ]
    heads = [
        Cell("this record"),
        *(Cell(replication.attempts[0].manifest.id, code=True) for replication in known),
    ]
    few = len(known) <= MOST_COLUMNS
    return Table(
        caption=f"Replications: {wording.slice_name(piece.name)}",
        stub="Arm" if few else "Attempt",
        columns=tuple(
            [Column(head.text, figure=True) for head in heads]
            if few
            else [Column(one.arm, figure=True, sense=f"against {families.against(one)}") for one in judged]
        ),
        rows=tuple(_by_arm(judged, grid) if few else map(Row, heads, zip(*grid, strict=True))),
        note=f"Shown, never chosen among nor pooled: each {'column' if few else 'row'} but the first is one later attempt by itself.",
    )


def _by_arm(judged: Sequence[ComparisonResult], grid: Sequence[Sequence[Cell]]) -> list[Row]:
    return [
        Row(Cell(one.arm, code=True, note=f"against {families.against(one)}"), tuple(cells))
        for one, cells in zip(judged, grid, strict=True)
    ]


def _beside(replication: RecordView, one: ComparisonResult, root: str) -> Cell:
    """Find the same comparison in a replication."""
    wanted = (one.arm, one.baseline, one.slice.partition(lookup.MODEL_MARK)[0], one.where)
    for found in replication.result.comparisons:
        if (found.arm, found.baseline, found.slice.partition(lookup.MODEL_MARK)[0], found.where) == wanted:
            return tables.headline_cell(found, root + replication.address, tables.reason_of(replication, found))
    return tables.NOTHING
