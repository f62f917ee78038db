"""A chart with its numbers beside it, ready for a page."""

from __future__ import annotations

from collections.abc import Sequence

from reportgen.model.plan import Slice
from reportgen.model.result import ComparisonResult
from reportgen.publish import chart_data, charts, gate_charts, gate_tables, lookup, wording
from reportgen.publish.context import Column, Figure, Link, Row, Table
from reportgen.publish.drawing import AnyChart
from reportgen.publish.library import Library, svg_markup
from reportgen.publish.tables import code, figure, verdict_cell
from reportgen.publish.view import RecordView

SAVINGS = "savings"
CAPTIONS = {
    "ratios": "Bar: decision interval. Dot: estimate. Upright stroke: headline.",
    "fixtures": "One ring a fixture and device. Upright stroke: headline. The range stands at the right.",
    "processes": "One dot a process, the first measured at the left; shaded: the noise floor. At the right the lag-1 correlation.",
}

CUT = {
    "ratios": "Arrow: beyond the axis, which is made for the ideas; from and to are beside it.",
    "fixtures": "Arrow: so many fixtures lie beyond the axis, which is made for the ideas.",
}


def figures(
    kind: str, record: RecordView, slices: Sequence[Slice], baseline: str | None, place: tuple[Library, str]
) -> list[Figure]:
    """Build the figures of one kind, one a slice and baseline.

    Parameters
    ----------
    kind:
        ``ratios``, ``fixtures`` or ``processes``.
    record, slices, baseline:
        What to show; every baseline where ``baseline`` is None.
    place:
        The library that draws, and the way from the page to the site's first page.
    """
    return [
        _figure(kind, record, piece, drawn, place)
        for piece in slices
        for drawn in chart_data.charts(kind, record, piece, baseline)
    ]


def savings_figure(
    record: RecordView, piece: Slice, place: tuple[Library, str], *, gate: str = "", unit: str = ""
) -> Figure:
    """Build the chart of what every arm of a gate saves on every fixture, its numbers beside it.

    Raises
    ------
    InputError
        No such gate, or an unknown unit.
    """
    caption = (
        f"Bar: estimate. Line across its end: interval. Broken line: what the gate {gate} asks of every fixture. "
        "Star: the fixture that decides. Of several devices the one that is surest of least is drawn."
    )
    chart = gate_charts.savings(record, piece, gate, unit)
    return figure_of(chart, caption, place, gate_tables.savings(record, piece, unit, gate))


def figure_of(chart: AnyChart, caption: str, place: tuple[Library, str], table: Table | None = None) -> Figure:
    """Put a chart on a page, with its numbers beside it and as a file."""
    library, root = place
    return Figure(
        anchor=chart.anchor,
        caption=f"{chart.title}. {caption}",
        svg=svg_markup(library.draw(chart)),
        href=f"{root}figures/{chart.anchor}.svg",
        table=table,
        data=(Link("its numbers as CSV", f"{root}figures/{chart.anchor}.csv"),),
    )


def _figure(
    kind: str, record: RecordView, piece: Slice, drawn: tuple[str, chart_data.Chart], place: tuple[Library, str]
) -> Figure:
    baseline, chart = drawn
    table = _numbers(chart_data.by_baseline(record, piece)[baseline], place[1] + record.address)
    caption = f"{CAPTIONS[kind]} {CUT[kind]}" if charts.is_cut(chart) else CAPTIONS[kind]
    return figure_of(chart, caption, place, table if kind == "ratios" else None)


def _numbers(found: Sequence[ComparisonResult], page: str) -> Table:
    rows = tuple(
        Row(
            code(one.arm),
            (
                figure(wording.change(one.estimate), one.estimate, href=f"{page}#{lookup.comparison_anchor(one)}"),
                figure(wording.change(one.headline), one.headline, href=f"{page}#{lookup.comparison_anchor(one)}"),
                figure(wording.interval(one.low, one.high), None if one.low is None else f"{one.low!r} {one.high!r}"),
                verdict_cell(one),
            ),
        )
        for one in found
    )
    columns = (
        Column("estimate", figure=True, sense=wording.LESS_TIME),
        Column("headline", figure=True, sense=wording.LESS_TIME),
        Column("interval", figure=True, sense=wording.LESS_TIME),
        Column("verdict"),
    )
    caption = f"The same numbers, against {found[0].baseline}, {wording.slice_name(found[0].slice)}"
    return Table(caption=caption, stub="Arm", columns=columns, rows=rows)
