"""Draws the charts of a record's comparisons with the marks of ``marks``: intervals, fixtures, processes in time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from reportgen.publish import marks, scales, svg, wording
from reportgen.publish.chart_data import (
    Band,
    Chart,
    IntervalChart,
    IntervalRow,
    ProcessChart,
    ProcessRow,
    StripChart,
    StripRow,
)

WIDTH = 380
SIDE = 10
TOP = 36
ROW = 40
PROCESS_ROW = 64
FOOT = 40
STRETCHED = 2  # times as long as without the rows that stand apart: then an axis ends before they do
LABEL = 80  # half of the longest name of a band, in pixels


def draw(chart: Chart) -> str:
    """Draw a chart as inline SVG."""
    if isinstance(chart, ProcessChart):
        return _draw_processes(chart)
    return _finish(chart, _interval_marks if isinstance(chart, IntervalChart) else _strip_marks)


def is_cut(chart: Chart) -> bool:
    """Tell whether the axis of a chart ends before one of its rows does, which an arrow then says."""
    return not isinstance(chart, ProcessChart) and any(_beyond(values, _scale(chart)) for values in _values(chart))


def changes_scale(values: Sequence[float], bands: Sequence[Band], start: float, end: float) -> scales.Linear:
    """Scale over changes in percent that holds no change and the bands around it."""
    reach = [band.half_width for band in bands]
    return scales.around([0.0, *values, *reach, *(-half for half in reach)], start, end)


def _values(chart: IntervalChart | StripChart) -> list[list[float]]:
    """Give all changes of each row."""
    if isinstance(chart, StripChart):
        return [row.changes for row in chart.rows]
    spans = ((row.low, row.high, row.headline, row.estimate) for row in chart.rows)
    return [[value for value in span if value is not None] for span in spans]


def _scale(chart: IntervalChart | StripChart) -> scales.Linear:
    """Scale over all rows; without those that stand apart where they would stretch it so that the others could not be told apart."""

    def over(rows: Sequence[Sequence[float]]) -> scales.Linear:
        return changes_scale([value for row in rows for value in row], chart.bands, SIDE, WIDTH - SIDE)

    rows = _values(chart)
    apart = [row.apart for row in chart.rows]
    kept = [values for values, aside in zip(rows, apart, strict=True) if values and not aside]
    whole, near = over(rows), over(kept)
    stretched = whole.high - whole.low > STRETCHED * (near.high - near.low)
    return near if kept and stretched else whole


def _beyond(values: Sequence[float], scale: scales.Linear) -> list[float]:
    return [value for value in values if not scale.low <= value <= scale.high]


def _arrows(
    values: Sequence[float], scale: scales.Linear, y: float, say: Callable[[list[float]], str], tone: str
) -> str:
    """Point to what lies beyond the axis at either end, with what is said of it."""
    shapes = ""
    for edge, way, align, out in (
        (scale.start, -1, "start", [value for value in values if value < scale.low]),
        (scale.end, 1, "end", [value for value in values if value > scale.high]),
    ):
        if out:
            shapes += marks.arrow(edge, y, way, tone) + marks.texts([(edge - 14 * way, y, say(out))], tone, align=align)
    return shapes


def _finish(chart: IntervalChart | StripChart, draw_marks: Callable[[Any, scales.Linear], str]) -> str:
    scale = _scale(chart)
    foot = TOP + ROW * len(chart.rows)
    shapes = _bands(chart.bands, scale, len(chart.rows)) + _axis(scale, foot, len(chart.rows))
    shapes += _names(chart.rows) + draw_marks(chart, scale)
    return svg.dress(shapes, (WIDTH, foot + FOOT), chart)


def _lanes(rows: int) -> list[tuple[int, int]]:
    """Top and bottom of each row's lane: marks have a ground of their own, names stand on plain paper above it."""
    return [(TOP + ROW * place + 17, TOP + ROW * place + 37) for place in range(rows)]


def _bands(bands: Sequence[Band], scale: scales.Linear, rows: int) -> str:
    shapes = ""
    for place, band in enumerate(bands):
        x, x2 = scale(-band.half_width), scale(band.half_width)
        narrow = place == len(bands) - 1
        shapes += marks.boxes(((x, top, x2, bottom) for top, bottom in _lanes(rows)), "noise" if narrow else "margin")
        shapes += _label_band(band, scale(0), 10 + 15 * place)
    return shapes


def _label_band(band: Band, zero: float, y: float) -> str:
    """Name a band above it; near a side the name leans inwards."""
    align, x = "middle", zero
    if zero > WIDTH - LABEL:
        align, x = "end", WIDTH - SIDE
    elif zero < LABEL:
        align, x = "start", SIDE
    return marks.texts([(x, y, band.label)], align=align)


def upright(places: Sequence[float], lanes: Sequence[tuple[float, float]], colour: str, width: float = 1) -> str:
    """Draw a line at each place across every lane."""
    return marks.lines(((x, top, x, bottom) for x in places for top, bottom in lanes), colour, width)


def _axis(scale: scales.Linear, foot: int, rows: int) -> str:
    ticks, lanes = scale.ticks(), _lanes(rows)
    shown = [(scale(tick), foot + 13, f"{wording.signed(tick, decimals=scales.decimals(ticks))}%") for tick in ticks]
    return (
        upright([scale(tick) for tick in ticks], lanes, "grid")
        + upright([scale(0)], lanes, "zero", 1.5)
        + marks.texts(shown, align="middle")
        + marks.texts([(SIDE, foot + 31, "less time")])
        + marks.texts([(WIDTH - SIDE, foot + 31, "more time")], align="end")
    )


def _names(rows: Sequence[IntervalRow | StripRow]) -> str:
    y = [TOP + ROW * place + 7 for place in range(len(rows))]
    names = [(SIDE, at, row.arm) for at, row in zip(y, rows, strict=True)]
    labels = [
        marks.texts([(WIDTH - SIDE, at, row.label)], row.tone, align="end", size=marks.NORMAL)
        for at, row in zip(y, rows, strict=True)
    ]
    return marks.texts(names, "ink", size=marks.NORMAL) + "".join(labels)


def _interval_marks(chart: IntervalChart, scale: scales.Linear) -> str:
    shapes = ""
    for place, (row, values) in enumerate(zip(chart.rows, _values(chart), strict=True)):
        y = TOP + ROW * place + 27
        out = _beyond(values, scale)
        if row.low is not None and row.high is not None and row.low <= scale.high and row.high >= scale.low:
            shapes += marks.lines(
                [(scale(max(row.low, scale.low)), y, scale(min(row.high, scale.high)), y)], row.tone, 3
            )
        if row.headline is not None and row.headline not in out:
            shapes += marks.lines([(scale(row.headline), y - 8, scale(row.headline), y + 8)], row.tone, 1.5)
        if row.estimate is not None and row.estimate not in out:
            shapes += marks.dots([(scale(row.estimate), y)], row.tone, 4.7)
        shapes += _arrows(values, scale, y, partial(_ends, values), row.tone)
    return shapes


def _share(values: Sequence[float], far: Sequence[float]) -> str:
    return f"{len(far)} of {wording.plural(len(values), 'fixture')}"


def _ends(values: Sequence[float], _far: Sequence[float]) -> str:
    return wording.interval(1 + min(values) / 100, 1 + max(values) / 100)


def _strip_marks(chart: StripChart, scale: scales.Linear) -> str:
    shapes = ""
    for place, row in enumerate(chart.rows):
        y = TOP + ROW * place + 27
        # Rings that would hide each other step aside, always the same way.
        out = _beyond(row.changes, scale)
        placed = [(scale(value), y + 3 * (at % 3 - 1)) for at, value in enumerate(row.changes) if value not in out]
        shapes += marks.rings(placed, row.tone, 3.4)
        if row.headline is not None and not _beyond([row.headline], scale):
            shapes += marks.lines([(scale(row.headline), y - 9, scale(row.headline), y + 9)], row.tone, 1.5)
        shapes += _arrows(row.changes, scale, y, partial(_share, row.changes), row.tone)
    return shapes


def _draw_processes(chart: ProcessChart) -> str:
    """Draw each candidate's process values from left to right, around its own estimate."""
    off = [abs(value - row.estimate) for row in chart.rows for value in row.changes if value is not None]
    reach = max([*off, 1e-9]) * 1.1
    shapes = "".join(_process_row(row, PROCESS_ROW * place, reach, chart.bands) for place, row in enumerate(chart.rows))
    said = [f"each row: {wording.number(reach)} points of percent either side of the estimate"]
    said += [f"shaded around the estimate: {band.label}" for band in chart.bands]
    height = PROCESS_ROW * len(chart.rows) + 11 + 15 * len(said)
    foot = [(SIDE, height - 12 - 15 * place, text) for place, text in enumerate(reversed(said))]
    return svg.dress(shapes + marks.texts(foot), (WIDTH, height), chart)


def _process_row(row: ProcessRow, top: int, reach: float, bands: Sequence[Band]) -> str:
    middle, half, end = top + 40, 20, WIDTH - SIDE
    step = (WIDTH - 2 * SIDE) / max(1, len(row.changes))
    places = [
        (SIDE + step * (at + 0.5), middle - half * (value - row.estimate) / reach)
        for at, value in enumerate(row.changes)
        if value is not None
    ]
    floors = [half * min(1.0, band.half_width / reach) for band in bands]
    return (
        marks.boxes([(SIDE, middle - half, end, middle + half)], "margin")
        + marks.boxes(((SIDE, middle - floor, end, middle + floor) for floor in floors), "noise")
        + marks.lines([(SIDE, middle, end, middle)], "zero")
        + marks.texts([(SIDE, top + 9, row.arm)], "ink", size=marks.NORMAL)
        + marks.texts([(end, top + 9, row.label)], align="end", size=marks.NORMAL)
        + marks.curve(places, row.tone)
        + marks.dots(places, row.tone, 3.6)
    )
