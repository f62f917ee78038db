"""Charts drawn at build time: described in Vega-Lite, rendered by vl-convert, dressed by ``svg``.

Descriptions are plain data: Altair's objects would copy every mark's rows several times, which takes longer than drawing.
Its schema still judges them, in the tests.

All positions are computed here in pixels, so that no text is ever measured: the same bytes come out wherever
the program runs, whatever fonts are there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import vl_convert

from reportgen.publish import svg, wording
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

CHECK_SCHEMA = False  # checking takes longer than drawing; the tests ask for it
VEGA_LITE = "6.4"
WIDTH = 380
SIDE = 10
TOP = 36
ROW = 40
PROCESS_ROW = 64
FOOT = 40
SMALL = 12
NORMAL = 13

Layers = list[Any]


def draw(chart: Chart) -> str:
    """Draw a chart as inline SVG."""
    if isinstance(chart, IntervalChart):
        spans = [value for row in chart.rows for value in (row.low, row.high, row.headline, row.estimate)]
        return _finish(chart, ROW, [value for value in spans if value is not None], _interval_marks)
    if isinstance(chart, StripChart):
        return _finish(chart, ROW, [value for row in chart.rows for value in row.changes], _strip_marks)
    return _draw_processes(chart)


class Scale:
    """Changes in percent to pixels across the chart."""

    def __init__(self, values: Sequence[float], bands: Sequence[Band]) -> None:
        reach = [band.half_width for band in bands]
        low = min([0.0, *values, *(-half for half in reach)])
        high = max([0.0, *values, *reach])
        slack = (high - low or 1.0) * 0.06
        self.low, self.high = low - slack, high + slack

    def __call__(self, value: float) -> float:
        """Place a change."""
        share = (value - self.low) / (self.high - self.low)
        return round(SIDE + share * (WIDTH - 2 * SIDE), 2)

    def ticks(self) -> list[float]:
        """Round values over the range, three to seven of them, zero among them."""
        rough = (self.high - self.low) / 5
        power = 10 ** math.floor(math.log10(rough))
        step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        return [round(place * step, 10) for place in range(first, last + 1)]


def layer(mark: str, rows: list[dict[str, Any]], **style: Any) -> Any:
    """Draw marks from rows that hold pixels under ``x``, ``x2``, ``y``, ``y2`` and, for text, ``text``."""
    channels: dict[str, Any] = {
        channel: {"field": channel, "type": "quantitative", "axis": None, "scale": None} for channel in ("x", "y")
    }
    channels |= {channel: {"field": channel} for channel in ("x2", "y2") if channel in rows[0]}
    if mark == "text":
        channels["text"] = {"field": "text", "type": "nominal"}
    if "colour" in rows[0]:
        channels["color"] = {"field": "colour", "type": "nominal", "scale": None, "legend": None}
    return {"data": {"values": rows}, "mark": {"type": mark, **style}, "encoding": channels}


def render(layers: Layers, height: int) -> str:
    """Turn layers into the SVG of the drawing library, ``height`` pixels high."""
    described = {
        "layer": layers,
        "width": WIDTH,
        "height": height,
        "padding": 0,
        "autosize": "none",
        "config": {"aria": False, "background": "transparent", "view": {"stroke": None}},
    }
    if CHECK_SCHEMA:
        _check_schema(described)
    return str(vl_convert.vegalite_to_svg(described, vl_version=VEGA_LITE))


def _check_schema(described: dict[str, Any]) -> None:
    # Loading it takes most of a second, and only tests ask for it.
    import altair as alt  # noqa: PLC0415

    alt.LayerChart.from_dict(described, validate=True)


def _finish(
    chart: IntervalChart | StripChart, row_px: int, values: list[float], marks: Callable[[Any, Scale], Layers]
) -> str:
    scale = Scale(values, chart.bands)
    foot = TOP + row_px * len(chart.rows)
    layers = [*_bands(chart.bands, scale, len(chart.rows)), *_axis(scale, foot, len(chart.rows))]
    layers += [*_names(chart.rows), *marks(chart, scale)]
    return svg.dress(render(layers, foot + FOOT), (WIDTH, foot + FOOT), chart)


def _lanes(rows: int) -> list[tuple[int, int]]:
    """Top and bottom of each row's lane: marks have a ground of their own, names stand on plain paper above it."""
    return [(TOP + ROW * place + 17, TOP + ROW * place + 37) for place in range(rows)]


def _bands(bands: Sequence[Band], scale: Scale, rows: int) -> Layers:
    layers: Layers = []
    for place, band in enumerate(bands):
        narrow = place == len(bands) - 1
        x, x2 = scale(-band.half_width), scale(band.half_width)
        boxes = [{"x": x, "x2": x2, "y": top, "y2": bottom} for top, bottom in _lanes(rows)]
        layers.append(layer("rect", boxes, fill=svg.colour("noise" if narrow else "margin")))
        layers.append(_label_band(band, scale(0), 10 + 15 * place))
    return layers


def _label_band(band: Band, zero: float, y: float) -> Any:
    """Name a band above it; near a side the name leans inwards."""
    align, x = "center", zero
    if zero > WIDTH - 80:
        align, x = "right", WIDTH - SIDE
    elif zero < 80:  # noqa: PLR2004 - half of the longest name, in pixels
        align, x = "left", SIDE
    row = {"x": x, "y": y, "text": band.label}
    return layer("text", [row], align=align, fontSize=SMALL, color=svg.colour("quiet"), baseline="middle")


def _axis(scale: Scale, foot: int, rows: int) -> Layers:
    ticks = scale.ticks()
    decimals = max(0, -math.floor(math.log10(ticks[1] - ticks[0]) + 1e-9)) if len(ticks) > 1 else 1
    lines = [{"x": scale(tick), "y": top, "y2": bottom} for tick in ticks for top, bottom in _lanes(rows)]
    texts = [
        {"x": scale(tick), "y": foot + 13, "text": wording.signed(tick, decimals=decimals) + "%"} for tick in ticks
    ]
    ends = [{"x": SIDE, "y": foot + 31, "text": "less time"}]
    more = [{"x": WIDTH - SIDE, "y": foot + 31, "text": "more time"}]
    quiet = {"fontSize": SMALL, "color": svg.colour("quiet"), "baseline": "middle"}
    zero = [{"x": scale(0), "y": top, "y2": bottom} for top, bottom in _lanes(rows)]
    return [
        layer("rule", lines, color=svg.colour("grid"), strokeWidth=1),
        layer("rule", zero, color=svg.colour("zero"), strokeWidth=1.5),
        layer("text", texts, align="center", **quiet),
        layer("text", ends, align="left", **quiet),
        layer("text", more, align="right", **quiet),
    ]


def _names(rows: Sequence[IntervalRow | StripRow]) -> Layers:
    names = [{"x": SIDE, "y": TOP + ROW * place + 7, "text": row.arm} for place, row in enumerate(rows)]
    labels = [
        {"x": WIDTH - SIDE, "y": TOP + ROW * place + 7, "text": row.label, "colour": svg.colour(row.tone)}
        for place, row in enumerate(rows)
    ]
    text = {"fontSize": NORMAL, "baseline": "middle"}
    return [
        layer("text", names, align="left", color=svg.colour("ink"), **text),
        layer("text", labels, align="right", **text),
    ]


def _interval_marks(chart: IntervalChart, scale: Scale) -> Layers:
    bars, dots, heads = [], [], []
    for place, row in enumerate(chart.rows):
        y, colour = TOP + ROW * place + 27, svg.colour(row.tone)
        if row.low is not None and row.high is not None:
            bars.append({"x": scale(row.low), "x2": scale(row.high), "y": y, "colour": colour})
        if row.estimate is not None:
            dots.append({"x": scale(row.estimate), "y": y, "colour": colour})
        if row.headline is not None:
            heads.append({"x": scale(row.headline), "y": y - 8, "y2": y + 8, "colour": colour})
    layers: Layers = []
    if bars:
        layers.append(layer("rule", bars, strokeWidth=3))
    if heads:
        layers.append(layer("rule", heads, strokeWidth=1.5))
    if dots:
        layers.append(layer("circle", dots, size=70, opacity=1))
    return layers


def _strip_marks(chart: StripChart, scale: Scale) -> Layers:
    dots, heads = [], []
    for place, row in enumerate(chart.rows):
        y, colour = TOP + ROW * place + 27, svg.colour(row.tone)
        # Dots that would hide each other step aside, always the same way.
        dots += [
            {"x": scale(value), "y": y + 3 * (at % 3 - 1), "colour": colour} for at, value in enumerate(row.changes)
        ]
        if row.headline is not None:
            heads.append({"x": scale(row.headline), "y": y - 9, "y2": y + 9, "colour": colour})
    layers: Layers = []
    if dots:
        layers.append(layer("point", dots, size=36, filled=False, strokeWidth=1.5))
    if heads:
        layers.append(layer("rule", heads, strokeWidth=1.5))
    return layers


def _draw_processes(chart: ProcessChart) -> str:
    """Draw each candidate's process values from left to right, around its own estimate."""
    off = [abs(value - row.estimate) for row in chart.rows for value in row.changes if value is not None]
    reach = max([*off, 1e-9]) * 1.1
    layers: Layers = []
    for place, row in enumerate(chart.rows):
        layers += _process_row(row, place, reach, chart.bands)
    said = [f"each row: {wording.number(reach)} points of percent either side of the estimate"]
    said += [f"shaded around the estimate: {band.label}" for band in chart.bands]
    height = PROCESS_ROW * len(chart.rows) + 11 + 15 * len(said)
    foot = [{"x": SIDE, "y": height - 12 - 15 * place, "text": text} for place, text in enumerate(reversed(said))]
    layers.append(layer("text", foot, align="left", fontSize=SMALL, color=svg.colour("quiet"), baseline="middle"))
    return svg.dress(render(layers, height), (WIDTH, height), chart)


def _process_row(row: ProcessRow, place: int, reach: float, bands: Sequence[Band]) -> Layers:
    colour, top = svg.colour(row.tone), PROCESS_ROW * place
    middle, half = top + 40, 20
    step = (WIDTH - 2 * SIDE) / max(1, len(row.changes))
    dots = [
        {"x": round(SIDE + step * (at + 0.5), 2), "y": round(middle - half * (value - row.estimate) / reach, 2)}
        for at, value in enumerate(row.changes)
        if value is not None
    ]
    box = {"x": SIDE, "x2": WIDTH - SIDE, "y": middle - half, "y2": middle + half}
    shaded = [half * min(1.0, band.half_width / reach) for band in bands]
    floors = [{"x": SIDE, "x2": WIDTH - SIDE, "y": round(middle - y, 2), "y2": round(middle + y, 2)} for y in shaded]
    line = {"x": SIDE, "x2": WIDTH - SIDE, "y": middle}
    text = {"fontSize": NORMAL, "baseline": "middle"}
    name = [{"x": SIDE, "y": top + 9, "text": row.arm}]
    label = [{"x": WIDTH - SIDE, "y": top + 9, "text": row.label}]
    layers = [
        layer("rect", [box], fill=svg.colour("margin")),
        *([layer("rect", floors, fill=svg.colour("noise"))] if floors else []),
        layer("rule", [line], color=svg.colour("zero"), strokeWidth=1),
        layer("text", name, align="left", color=svg.colour("ink"), **text),
        layer("text", label, align="right", color=svg.colour("quiet"), **text),
    ]
    if dots:
        layers.append(layer("line", dots, color=colour, strokeWidth=1))
        layers.append(layer("circle", dots, color=colour, size=40, opacity=1))
    return layers
