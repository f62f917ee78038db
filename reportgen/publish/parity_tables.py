"""Which arm gave whose outputs, slice by slice: elements compared, how many differ, how far they are from the reference."""

from __future__ import annotations

from collections.abc import Sequence

from reportgen.errors import InputError
from reportgen.model.plan import Slice
from reportgen.publish import lookup, sweep_charts, wording
from reportgen.publish.context import Cell, Column, Row, Table
from reportgen.publish.tables import NOTHING, figure, small
from reportgen.publish.view import ParityLine, RecordView

BITWISE = "bitwise"


def parity(
    record: RecordView, slices: Sequence[Slice], page: str, arms: Sequence[str] | None = None, *, mark: str = "parity"
) -> Table:
    """Build the table, a row a slice and a column an arm (or one of ``arms``), over all devices of the record.

    What is added up stands nowhere else: it is derived in its own row, whose anchor begins with ``mark``.

    Raises
    ------
    InputError
        An arm does not exist, or nothing was checked there.
    """
    del page
    for arm in arms or ():
        lookup.arm_named(record.plan, arm)
    stub, names = sweep_charts.slice_heads(slices)
    lines = [line for attempt in record.attempts for line in attempt.parity]
    found: dict[tuple[str, str], list[ParityLine]] = {}
    for line in lines:
        found.setdefault((line.slice, line.arm), []).append(line)
    shown = [arm.name for arm in record.plan.experiment.arms if any(key[1] == arm.name for key in found)]
    shown = [arm for arm in shown if arms is None or arm in arms]
    if not shown:
        raise InputError(f"{record.name} checked nothing there")
    rows = tuple(
        Row(
            Cell(name),
            tuple(_cell(found.get((_plain(piece), arm), []), f"#{mark}-{place}") for arm in shown),
            anchor=f"{mark}-{place}",
        )
        for place, (piece, name) in enumerate(names.items(), start=1)
    )
    return Table(
        caption=f"Outputs that differ{sweep_charts.alike(slices)}",
        stub=stub,
        columns=tuple(Column(arm, figure=True, sense=_held(lines, arm)) for arm in shown),
        rows=rows,
        note="Elements that differ (bitwise: in any bit from the arm named; value: beyond the stated tolerance from the reference), of all that were compared before and after timing in "
        "every process. L2: relative, against the reference, the largest of all. Of checks.csv: mismatches and elements added up, the largest rel_l2.",
    )  # fmt: skip


def _plain(piece: str) -> str:
    return piece.partition(lookup.MODEL_MARK)[0]


def _own(lines: Sequence[ParityLine]) -> list[ParityLine]:
    """Take what decides of an arm: bits where it must equal another, else values."""
    return [line for line in lines if line.kind == BITWISE] or list(lines)


def _held(lines: Sequence[ParityLine], arm: str) -> str:
    own = _own([line for line in lines if line.arm == arm])
    return wording.names(list(dict.fromkeys(f"{line.kind}, {line.against}" for line in own)))


def _cell(lines: Sequence[ParityLine], here: str) -> Cell:
    """Say what an arm's own outputs came to; those of several devices are added up."""
    own = _own(lines)
    if not own:
        return NOTHING
    differ, elements = sum(line.mismatches for line in own), sum(line.elements for line in own)
    distances = [line.rel_l2 for line in lines if line.kind != BITWISE and line.rel_l2 is not None]
    note, below = (f"L2 {small(max(distances))}", repr(max(distances))) if distances else ("", "")
    return figure(wording.of_total(differ, elements), differ, href=here, note=note, below=below)
