"""Implementations of others beside the kernel in use: how long each takes, and how far the kernel is from what bounds it."""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup

from reportgen.model.experiment import Role
from reportgen.model.plan import Slice
from reportgen.model.result import CellResult, ComparisonResult
from reportgen.publish import bandwidth, lookup, wording
from reportgen.publish.bandwidth import DERIVED, Ceiling
from reportgen.publish.context import Cell, Column, Row, Table
from reportgen.publish.tables import NOTHING, both, code, figure
from reportgen.publish.view import RecordView
from reportgen.units import NS_PER_S

SENSES = {"times as long": "above 1: the peer takes more time"}
_DEVICE_LETTERS = 12  # of an id as long as a UUID, enough to tell a few boards apart


def table(record: RecordView, piece: Slice, root: str, mark: str, ceiling: Ceiling | None = None) -> Table:
    """Build the table of a slice, a row a fixture, peer and device; without rows where no peer was timed.

    With a ``ceiling`` it has the floor too, and how many times as long the kernel in use takes; these are derived in their own row, whose anchor
    begins with ``mark``. ``root`` leads to the site's first page.
    """
    found = sorted(
        (
            (piece.fixtures.index(cell.fixture), one.arm, cell.device, one, cell)
            for one in record.result.comparisons
            if one.role == Role.PEER and one.slice == piece.name
            for cell in one.cells
        ),
        key=lambda line: line[:3],
    )
    several = len({device for _, _, device, _, _ in found}) > 1
    moved = bandwidth.moved(record)
    rows = tuple(
        Row(
            code(wording.within(cell.fixture, piece.name)),
            (
                code(one.arm),
                *((code(cell.device[:_DEVICE_LETTERS]),) if several else ()),
                *_cells(one, cell, root + record.address),
                *(() if ceiling is None else _floor_cells(cell, moved, ceiling, f"#{mark}-{place}")),
            ),
            anchor="" if ceiling is None else f"{mark}-{place}",
        )
        for place, (_, _, _, one, cell) in enumerate(found, start=1)
    )
    heads = ["peer's time", "kernel in use", "times as long"]
    heads += [] if ceiling is None else ["floor", "kernel in use over floor"]
    floors = Markup("") if ceiling is None else Markup(" ") + ceiling.words(root) + DERIVED
    return Table(
        caption=f"Peers: {wording.slice_name(piece.name)}",
        stub="Fixture",
        columns=(Column("peer"), *((Column("device"),) if several else ()), *(Column(head, figure=True, sense=SENSES.get(head, "")) for head in heads)),
        rows=rows,
        note="Peers and the kernel in use take turns in processes of their own, in which nothing else runs. A peer may move other bytes or round "
        "otherwise; it is context, and never adoptable." + floors,
    )  # fmt: skip


def _cells(one: ComparisonResult, cell: CellResult, page: str) -> tuple[Cell, ...]:
    href = page + lookup.cell_place(one, cell)
    said = f"{wording.number(cell.interval.low)} to {wording.number(cell.interval.high)}"
    ends = both(cell.interval.low, cell.interval.high)
    return (
        figure(wording.time(cell.candidate_ns), cell.candidate_ns, href=href),
        figure(wording.time(cell.baseline_ns), cell.baseline_ns, href=href),
        figure(wording.number(cell.ratio), cell.ratio, href=href, note=said, below=ends),
    )


def _floor_cells(cell: CellResult, moved: Mapping[str, int], ceiling: Ceiling, here: str) -> tuple[Cell, Cell]:
    length_bytes = moved.get(cell.fixture)
    if not length_bytes:
        return NOTHING, NOTHING
    floor_ns = length_bytes / ceiling.bytes_per_s * NS_PER_S
    share = cell.baseline_ns / floor_ns
    return figure(wording.time(floor_ns), floor_ns, href=here), figure(
        wording.number(share, decimals=1), share, href=here
    )
