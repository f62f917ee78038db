"""Small multiples: what a chart of many panels on one scale shows, and how it is drawn. Sweeps and slots of an order share it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from textwrap import wrap

import msgspec

from reportgen.publish import marks, scales, svg, wording
from reportgen.publish.charts import SIDE, WIDTH

GUTTER = 38  # pixels for the figures of the vertical axis
BETWEEN = 14
HEAD = 18
LINE = 15
PLOT = 84
AXIS = 24
FOOT = 22
APART = 5  # pixels between the series at one place, so that no interval hides another
SMALL_HEAD = 9
ACROSS = 56  # characters for which a line of the key has room
TICK = 34  # the least room for a figure of the horizontal axis


class Point(msgspec.Struct, frozen=True, array_like=True):
    """A change in percent at a place of the axis, with the ends of its interval where it has one."""

    at: float
    change: float
    low: float | None = None
    high: float | None = None


class Series(msgspec.Struct, frozen=True):
    """One line of points: ``label`` names it and says what it came to, within the panel; ``shape`` is one of ``marks.SHAPES``."""

    name: str
    label: str
    shape: str
    tone: str
    points: list[Point]


class Panel(msgspec.Struct, frozen=True):
    """One of the panels: ``band`` is the null band around no change in percent, if one is known."""

    name: str
    series: list[Series]
    band: float | None


class PanelsChart(msgspec.Struct, frozen=True, tag=True):
    """Panels on one scale. ``axis`` names what runs along each, ``said`` what the bands are; ``logarithmic`` sets places by their ratios.

    ``key`` names each shape once, above all panels, where the names are too long for the heads of panels.
    """

    anchor: str
    title: str
    description: str
    panels: list[Panel]
    axis: str
    said: str
    logarithmic: bool = False
    key: dict[str, str] = {}


def draw(chart: PanelsChart) -> str:
    """Draw the panels two by two, the first at the top left."""
    heads = [HEAD + LINE * len(panel.series) for panel in chart.panels]
    columns = min(2, len(chart.panels))
    row_heads = [max(heads[at : at + columns]) for at in range(0, len(heads), columns)]
    width = (WIDTH - 2 * SIDE - GUTTER - BETWEEN * (columns - 1)) / columns
    shapes, top = _key(chart.key)
    for place, panel in enumerate(chart.panels):
        column, row = place % columns, place // columns
        if place and not column:
            top += row_heads[row - 1] + PLOT + AXIS
        left = SIDE + GUTTER + column * (width + BETWEEN)
        frame = _Frame(left, left + width, top + row_heads[row], top)
        shapes += _panel(panel, frame, _upwards(chart, frame), _along(chart, frame), first=not column)
    height = round(top + row_heads[-1] + PLOT + AXIS + FOOT)
    feet = marks.texts([(SIDE, height - 10, chart.said)]) + marks.texts(
        [(WIDTH - SIDE, height - 10, chart.axis)], align="end"
    )
    return svg.dress(shapes + feet, (WIDTH, height), chart)


def _key(names: Mapping[str, str]) -> tuple[str, float]:
    """Write the name of each shape, over as many lines as it takes; returns where the panels begin."""
    shapes, y = "", float(SMALL_HEAD)
    for shape, name in names.items():
        shapes += marks.SHAPES[shape]([(SIDE + 4, y)], "quiet", 3)
        for line in wrap(name, ACROSS, subsequent_indent="  "):
            shapes += marks.texts([(SIDE + 14, y, line)], "ink")
            y += LINE
    return shapes, y if names else 0.0


class _Frame(msgspec.Struct, frozen=True):
    """Where a panel lies: sides of its plot, top of the plot, top of its head."""

    left: float
    right: float
    top: float
    head: float


def _upwards(chart: PanelsChart, frame: _Frame) -> scales.Linear:
    points = [point for panel in chart.panels for series in panel.series for point in series.points]
    ends = [end for one in points for end in (one.change, one.low, one.high) if end is not None]
    bands = [half for panel in chart.panels if panel.band is not None for half in (panel.band, -panel.band)]
    return scales.around([0.0, *ends, *bands], frame.top + PLOT, frame.top)


def _along(chart: PanelsChart, frame: _Frame) -> scales.Linear | scales.Logarithmic:
    places = [point.at for panel in chart.panels for series in panel.series for point in series.points]
    low, high = min(places), max(places)
    inset = 10
    if chart.logarithmic:
        return scales.Logarithmic(low, high, frame.left + inset, frame.right - inset)
    return scales.Linear(low, high if high > low else low + 1, frame.left + inset, frame.right - inset)


def _panel(
    panel: Panel, frame: _Frame, up: scales.Linear, along: scales.Linear | scales.Logarithmic, *, first: bool
) -> str:
    bottom = frame.top + PLOT
    ground = marks.boxes([(frame.left, frame.top, frame.right, bottom)], "margin")
    if panel.band is not None:
        ground += marks.boxes([(frame.left, up(panel.band), frame.right, up(-panel.band))], "noise")
    ticks = up.ticks(6)
    ground += marks.lines(((frame.left, up(tick), frame.right, up(tick)) for tick in ticks), "grid")
    ground += marks.lines([(frame.left, up(0), frame.right, up(0))], "zero", 1.5)
    if first:
        shown = [
            (frame.left - 5, up(tick), f"{wording.signed(tick, decimals=scales.decimals(ticks))}%") for tick in ticks
        ]
        ground += marks.texts(shown, align="end")
    ground += marks.texts([(frame.left, frame.head + 9, panel.name)], "ink", size=marks.NORMAL)
    drawn = "".join(
        _series(series, frame, at, APART * (at - (len(panel.series) - 1) / 2), up, along)
        for at, series in enumerate(panel.series)
    )
    return ground + _figures_along(panel, bottom, along) + drawn


def _series(  # noqa: PLR0913, PLR0917 - one call, and each says where
    series: Series,
    frame: _Frame,
    at: int,
    aside: float,
    up: scales.Linear,
    along: scales.Linear | scales.Logarithmic,
) -> str:
    places = [(along(point.at) + aside, up(point.change)) for point in series.points]
    spans = [
        (x, up(point.low), x, up(point.high))
        for (x, _), point in zip(places, series.points, strict=True)
        if point.low is not None and point.high is not None
    ]
    y = frame.head + HEAD + LINE * at + 6
    return (
        marks.SHAPES[series.shape]([(frame.left + 4, y)], series.tone, 3)
        + marks.texts([(frame.left + 12, y, series.label)], series.tone)
        + marks.curve(places, series.tone, 0.8)
        + marks.lines(spans, series.tone, 1.6)
        + marks.SHAPES[series.shape](places, series.tone, 2.4)
    )


def _figures_along(panel: Panel, foot: float, along: scales.Linear | scales.Logarithmic) -> str:
    """Write the figures of the axis for which there is room, the first and the last among them."""
    values = sorted({point.at for series in panel.series for point in series.points})
    shown: list[tuple[float, float, str]] = []
    for value in [values[0], values[-1], *values[1:-1]] if values else []:
        x = along(value)
        if all(math.fabs(x - other) >= TICK for other, _, _ in shown):
            shown.append((x, foot + 11, wording.plain_number(value)))
    return marks.texts(sorted(shown), align="middle")
