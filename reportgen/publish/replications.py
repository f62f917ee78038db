"""Replications beside the record: later scored attempts of the same plan, code and device, verdict by verdict."""

from __future__ import annotations

from collections.abc import Sequence

from reportgen.model.plan import Slice
from reportgen.model.result import ComparisonResult
from reportgen.publish import families, lookup, tables, wording
from reportgen.publish.context import Cell, Column, Row, Table
from reportgen.publish.library import Library, root_of
from reportgen.publish.view import RecordView


def replications(record: RecordView, library: Library) -> tuple[Table, ...]:
    """Show, slice by slice, what the record and each of its replications found; none without replications."""
    known = [alone for one in record.replications if (alone := library.alone(one.address)) is not None]
    if not known:
        return ()
    return tuple(_table(record, known, piece) for piece in record.plan.slices)


def _table(record: RecordView, known: Sequence[RecordView], piece: Slice) -> Table:
    rows = tuple(
        Row(
            Cell(one.arm, code=True, note=f"against {families.against(one)}"),
            (
                tables.headline_cell(one, "", tables.reason_of(record, one)),
                *(_beside(replication, one, root_of(record.address)) for replication in known),
            ),
        )
        for one in record.result.comparisons
        if one.slice.partition(lookup.MODEL_MARK)[0] == piece.name and one.role in tables.JUDGED
    )
    columns = ("this record", *(replication.attempts[0].manifest.id for replication in known))
    return Table(
        caption=f"Replications: {wording.slice_name(piece.name)}",
        stub="Arm",
        columns=tuple(Column(name, figure=True) for name in columns),
        rows=rows,
        note="Shown, never chosen among nor pooled: each column but the first is one later attempt by itself.",
    )


def _beside(replication: RecordView, one: ComparisonResult, root: str) -> Cell:
    """Find the same comparison in a replication."""
    wanted = (one.arm, one.baseline, one.slice.partition(lookup.MODEL_MARK)[0], one.where)
    for found in replication.result.comparisons:
        if (found.arm, found.baseline, found.slice.partition(lookup.MODEL_MARK)[0], found.where) == wanted:
            return tables.headline_cell(found, root + replication.address, tables.reason_of(replication, found))
    return tables.NOTHING
