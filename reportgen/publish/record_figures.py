"""Charts of a whole record, ready for a page: sweeps along an axis, slots of the order, attempts in time, bytes against time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reportgen.errors import InputError
from reportgen.model.plan import Slice
from reportgen.publish import bandwidth, lookup, roofline, sweep_charts, timeline, wording
from reportgen.publish.chart_data import by_baseline
from reportgen.publish.context import Column, Figure, Row, Table
from reportgen.publish.figures import figure_of
from reportgen.publish.library import Library
from reportgen.publish.tables import code, figure, word
from reportgen.publish.view import RecordView

Place = tuple[Library, str]
MOST_ARMS = len(sweep_charts.SHAPES)


def sweep(  # noqa: PLR0913 - each a keyword that a page may say
    record: RecordView,
    slices: Sequence[Slice],
    place: Place,
    *,
    axis: str,
    vs: str | None = None,
    arms: Sequence[str] = (),
) -> list[Figure]:
    """Build the charts of changes along an axis, one a baseline (or the one that ``vs`` names) and four arms.

    Raises
    ------
    InputError
        An unknown arm or axis, or nothing is compared there.
    """
    for name in arms:
        lookup.arm_named(record.plan, name)
    baselines = sweep_charts.baselines(record, slices)
    if vs is not None and vs not in baselines:
        raise InputError(
            f"{record.name} compares nothing with {vs!r} there", remedy=f"baselines are: {', '.join(baselines)}"
        )
    drawn = []
    for baseline in baselines if vs is None else [vs]:
        compared = dict.fromkeys(
            one.arm
            for piece in slices
            for one in by_baseline(record, piece).get(baseline, [])
            if not arms or one.arm in arms
        )
        chosen = list(compared)
        for at in range(0, len(chosen), MOST_ARMS):
            some = chosen[at : at + MOST_ARMS]
            drawn.append(_sweep(record, slices, place, (axis, baseline, some)))
    if not drawn:
        raise InputError(f"{record.name} compares none of {wording.names(list(arms))} there")
    return drawn


def _sweep(record: RecordView, slices: Sequence[Slice], place: Place, asked: tuple[str, str, list[str]]) -> Figure:
    axis, baseline, arms = asked
    chart = sweep_charts.sweep(record, slices, axis, baseline, arms)
    caption = "A panel a slice, all on one scale. Mark: ratio on a fixture. Upright line: its interval. Shaded: the cell floor, which identical code stays within."
    return figure_of(
        chart, caption, place, _sweep_table(record, slices, (axis, baseline, arms), place[1] + record.address)
    )


def _sweep_table(record: RecordView, slices: Sequence[Slice], asked: tuple[str, str, list[str]], page: str) -> Table:
    axis, baseline, arms = asked
    values, (stub, names) = sweep_charts.axis_values(record, axis), sweep_charts.slice_heads(slices)
    rows = []
    for piece in slices:
        for one in by_baseline(record, piece).get(baseline, []):
            cells = sorted(one.cells, key=lambda cell: (cell.device, values[cell.fixture])) if one.arm in arms else []
            for first, cell in enumerate(cells):
                low, high = cell.interval.low, cell.interval.high
                rows.append(
                    Row(
                        code(one.arm),
                        (
                            word(names[piece.name]),
                            figure(wording.plain_number(values[cell.fixture]), values[cell.fixture]),
                            figure(wording.change(cell.ratio), cell.ratio, href=page + lookup.cell_place(one, cell)),
                            figure(wording.interval(low, high), f"{low!r} {high!r}"),
                        ),
                        first=not first,
                    )
                )
    columns = (Column(stub.lower()), *(Column(name, figure=True) for name in (axis, "change", "interval")))
    return Table(caption=f"The same numbers, against {baseline}", stub="Arm", columns=columns, rows=tuple(rows))


def positions(record: RecordView, slices: Sequence[Slice], place: Place) -> list[Figure]:
    """Build the chart of what each slot of the order does to a batch, a panel a slice; its numbers stand on the record's page."""
    caption = "Dot: first pass. Square: its mirror. Shaded: the noise floor. A slot's effect comes to both arms of a pair as often."
    return [figure_of(sweep_charts.positions(record, slices), caption, place)]


def timelines(record: RecordView, _slices: Sequence[Slice], place: Place) -> list[Figure]:
    """Build the timeline of every attempt that the record speaks through."""
    caption = (
        "Dot: median of the batches, line: its quartiles. Cross: left out. Shaded: the widest noise floor of a ratio, since "
        "pairs take out what drifts."
    )
    return [
        figure_of(timeline.timeline(record, attempt), caption, place) for attempt in record.attempts if attempt.moments
    ]


def rooflines(
    record: RecordView,
    slices: Sequence[Slice],
    place: Place,
    *,
    ceiling: bandwidth.Ceiling | None = None,
    arms: Sequence[str] | None = None,
) -> list[Figure]:
    """Build bytes against time, a chart a slice, with the floor that ``ceiling`` sets."""
    caption = "Both scales are logarithmic: along the floor time goes with the bytes."
    found = []
    for piece in slices:
        table = None if ceiling is None else bandwidth.table(record, piece, ceiling, place[1] + record.address)
        found.append(figure_of(roofline.roofline(record, piece, ceiling, arms), caption, place, table))
    return found


SWEEP = "sweep"
KINDS: Mapping[str, Callable[..., list[Figure]]] = {
    SWEEP: sweep,
    "positions": positions,
    "timeline": timelines,
    "roofline": rooflines,
}


def build(kind: str, record: RecordView, slices: Sequence[Slice], place: Place, **named: Any) -> list[Figure]:
    """Build the charts of one of these kinds."""
    return KINDS[kind](record, slices, place, **named)
