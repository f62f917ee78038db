"""Draws the charts of an A/A study with the marks and colours of ``charts``; what differs in meaning differs in shape."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from reportgen.publish import svg, wording
from reportgen.publish.charts import FOOT, NORMAL, SIDE, SMALL, WIDTH, Layers, layer, render
from reportgen.publish.study_charts import (
    ErrorChart,
    ErrorRow,
    IntervalsChart,
    IntervalsRow,
    PowerChart,
    SeriesChart,
    SeriesRow,
    StudyChart,
)

LINEAR = 0.05  # percent: errors far below it lie on a straight scale, errors far above on a logarithmic one
LANE = 66
POWER_ROW = 46
SERIES_ROW = 84
SERIES_REACH = 1.5
INTERVALS_ROW = 150
SHOWN_SHARE = 0.985
BIN_PX = 3
MOST_STEP_PX = 3.4
_TICKS = (0.1, 1.0, 10.0, 100.0)
# Shape and colour by place among the modes: process, layout, placement.
SHAPES = (("circle", "equivalent"), ("square", "inconclusive"), ("triangle-up", "slower"))


def draw(chart: StudyChart) -> str:
    """Draw a chart as inline SVG."""
    if isinstance(chart, ErrorChart):
        return _draw_errors(chart)
    if isinstance(chart, IntervalsChart):
        return _draw_intervals(chart)
    return _draw_series(chart) if isinstance(chart, SeriesChart) else _draw_power(chart)


def _text(rows: list[dict[str, Any]], align: str, colour: str = "quiet", size: int = SMALL) -> Any:
    return layer("text", rows, align=align, fontSize=size, color=svg.colour(colour), baseline="middle")


class _SymmetricLog:
    """Errors in percent to pixels: sign(e) log(1 + abs(e) / LINEAR), the same to either side of none."""

    def __init__(self, reach: float) -> None:
        self.reach = reach
        self._most = math.log1p(1.12 * reach / LINEAR)

    def __call__(self, error: float) -> float:
        share = math.copysign(math.log1p(abs(error) / LINEAR), error) / self._most
        return round(WIDTH / 2 + share * (WIDTH / 2 - SIDE), 2)

    def ticks(self) -> list[float]:
        known = [tick for tick in _TICKS if tick <= self.reach]
        return [*(-tick for tick in reversed(known)), 0.0, *known]


def _draw_errors(chart: ErrorChart) -> str:
    every = [abs(value) for row in chart.rows for value in (*row.errors, *row.alarms)]
    scale = _SymmetricLog(max([chart.bar, *every]))
    top, foot = 26, 26 + LANE * len(chart.rows)
    lanes = [(top + LANE * place + 18, top + LANE * place + LANE - 4) for place in range(len(chart.rows))]
    layers = [
        layer("rect", [_box(scale(-chart.bar), scale(chart.bar), lane) for lane in lanes], fill=svg.colour("noise")),
        _text([{"x": scale(0), "y": 10, "text": chart.bar_label}], "center"),
        *_error_axis(scale, foot, lanes),
        *_heads([(row.way, row.label) for row in chart.rows], top, LANE),
    ]
    dots, strokes = [], []
    for row, lane in zip(chart.rows, lanes, strict=True):
        own_dots, own_strokes = _swarm(row, scale, lane)
        dots += own_dots
        strokes += own_strokes
    if dots:
        layers.append(layer("circle", dots, size=9, opacity=1, color=svg.colour("equivalent")))
    if strokes:
        layers.append(layer("rule", strokes, strokeWidth=1.6, color=svg.colour("slower")))
    return _finish(layers, foot + FOOT, chart)


def _box(x: float, x2: float, lane: tuple[float, float]) -> dict[str, float]:
    return {"x": x, "x2": x2, "y": lane[0], "y2": lane[1]}


def _error_axis(scale: _SymmetricLog, foot: int, lanes: Sequence[tuple[float, float]]) -> Layers:
    ticks = scale.ticks()
    lines = [{"x": scale(tick), "y": top, "y2": bottom} for tick in ticks for top, bottom in lanes]
    texts = [
        {"x": scale(tick), "y": foot + 12, "text": wording.signed(tick, decimals=1 if 0 < abs(tick) < 1 else 0) + "%"}
        for tick in ticks
    ]
    zero = [{"x": scale(0), "y": top, "y2": bottom} for top, bottom in lanes]
    return [
        layer("rule", lines, color=svg.colour("grid"), strokeWidth=1),
        layer("rule", zero, color=svg.colour("zero"), strokeWidth=1.5),
        _text(texts, "center"),
        _text([{"x": SIDE, "y": foot + 30, "text": "reads less time"}], "left"),
        _text([{"x": WIDTH - SIDE, "y": foot + 30, "text": "reads more time"}], "right"),
    ]


def _heads(said: Sequence[tuple[str, str]], top: int, row_px: int) -> Layers:
    """Name every row at the left, and say at the right what it came to."""
    names = [{"x": SIDE, "y": top + row_px * at + 8, "text": name} for at, (name, _) in enumerate(said)]
    labels = [{"x": WIDTH - SIDE, "y": top + row_px * at + 8, "text": label} for at, (_, label) in enumerate(said)]
    return [_text(names, "left", "ink", NORMAL), _text(labels, "right", "quiet", SMALL)]


def _swarm(
    row: ErrorRow, scale: _SymmetricLog, lane: tuple[float, float]
) -> tuple[list[dict[str, float]], list[dict[str, float]]]:
    """Stack marks of nearly one place about the middle of the lane, closer where there are many."""
    placed = [(round(scale(value) / BIN_PX) * BIN_PX, False) for value in row.errors]
    placed += [(round(scale(value) / BIN_PX) * BIN_PX, True) for value in row.alarms]
    marks = sorted(placed)  # of one place the alarms come last, and so lie outermost
    bins = [x for x, _ in marks]
    room, most = lane[1] - lane[0] - 5, max(Counter(bins).values(), default=1)
    step, middle = min(MOST_STEP_PX, room / most), (lane[0] + lane[1]) / 2
    dots, strokes, seen = [], [], Counter[float]()
    for x, alarm in marks:
        side = -1 if seen[x] % 2 else 1
        y = round(middle + side * step * ((seen[x] + 1) // 2), 1)
        seen[x] += 1
        if alarm:
            strokes.append({"x": x, "y": y - 2.5, "y2": y + 2.5})
        else:
            dots.append({"x": x, "y": y})
    return dots, strokes


def _draw_series(chart: SeriesChart) -> str:
    # A single repetition far off would flatten all the others: the intervals set the scale.
    reach = max([SERIES_REACH * abs(end) for row in chart.rows for end in (row.low, row.high)] + [1e-9])
    layers: Layers = []
    for place, row in enumerate(chart.rows):
        layers += _series_row(row, SERIES_ROW * place, reach)
    height = SERIES_ROW * len(chart.rows) + 26
    said = f"each row: {wording.number(reach)}% either side of no change, the line; crosses lie beyond"
    layers.append(_text([{"x": SIDE, "y": height - 12, "text": said}], "left"))
    return _finish(layers, height, chart)


def _series_row(row: SeriesRow, top: int, reach: float) -> Layers:
    """Draw the repetitions from left to right; the interval lies behind them, no change is the line."""
    middle, half, tone = top + 49, 31, svg.colour("slower" if row.alarm else "equivalent")
    step = (WIDTH - 2 * SIDE) / max(1, len(row.changes))

    def height(value: float) -> float:
        return round(middle - half * max(-1.0, min(1.0, value / reach)), 2)

    places = [
        (abs(value) > reach, {"x": round(SIDE + step * (at + 0.5), 2), "y": height(value)})
        for at, value in enumerate(row.changes)
        if value is not None
    ]
    dots, beyond = ([place for outside, place in places if outside == wanted] for wanted in (False, True))
    wide = {"x": SIDE, "x2": WIDTH - SIDE}
    layers = [
        layer("rect", [wide | {"y": middle - half, "y2": middle + half}], fill=svg.colour("margin")),
        layer("rect", [wide | {"y": height(row.high), "y2": height(row.low)}], fill=svg.colour("noise")),
        layer("rule", [wide | {"y": middle}], color=svg.colour("zero"), strokeWidth=1.5),
        layer("rule", [wide | {"y": height(row.estimate)}], color=tone, strokeWidth=1.5),
        *_heads([(row.way, row.label)], top, SERIES_ROW),
    ]
    if dots:
        layers.append(layer("circle", dots, color=tone, size=40, opacity=1))
    if beyond:
        layers.append(layer("point", beyond, shape="cross", filled=True, color=tone, size=46, opacity=1))
    return layers


def _draw_intervals(chart: IntervalsChart) -> str:
    ends = sorted(abs(end) for row in chart.rows for _, *both in row.intervals for end in both)
    # A few very wide intervals would flatten all the others.
    reach = max(ends[int(SHOWN_SHARE * (len(ends) - 1))] if ends else 0.0, 1e-9)
    layers: Layers = []
    for place, row in enumerate(chart.rows):
        layers += _intervals_row(row, INTERVALS_ROW * place, reach)
    height = INTERVALS_ROW * len(chart.rows) + 26
    said = f"each row: {wording.number(reach)}% either side of no change, the line; a few reach beyond"
    layers.append(_text([{"x": SIDE, "y": height - 12, "text": said}], "left"))
    return _finish(layers, height, chart)


def _intervals_row(row: IntervalsRow, top: int, reach: float) -> Layers:
    """Draw one stroke an interval from left to right, by its estimate; alarms on top and bolder."""
    middle, half = top + 20 + (INTERVALS_ROW - 30) / 2, (INTERVALS_ROW - 30) / 2
    step = (WIDTH - 2 * SIDE) / max(1, len(row.intervals))
    strokes: dict[bool, list[dict[str, float]]] = {False: [], True: []}
    for at, (_, low, high) in enumerate(row.intervals):
        x = round(SIDE + step * (at + 0.5), 2)
        ends = [round(middle - half * max(-1.0, min(1.0, end / reach)), 1) for end in (high, low)]
        strokes[low > 0 or high < 0].append({"x": x, "y": ends[0], "y2": ends[1]})
    wide = {"x": SIDE, "x2": WIDTH - SIDE}
    layers = [
        layer("rect", [wide | {"y": middle - half, "y2": middle + half}], fill=svg.colour("margin")),
        *_heads([(row.way, row.label)], top, INTERVALS_ROW),
    ]
    for alarm, tone in ((False, "equivalent"), (True, "slower")):
        if strokes[alarm]:
            layers.append(layer("rule", strokes[alarm], color=svg.colour(tone), strokeWidth=0.9 if alarm else 0.6))
    return [*layers, layer("rule", [wide | {"y": middle}], color=svg.colour("zero"), strokeWidth=1)]


def _draw_power(chart: PowerChart) -> str:
    top, foot = 30, 30 + POWER_ROW * len(chart.rows)
    lanes = [(top + POWER_ROW * at + 18, top + POWER_ROW * at + POWER_ROW - 4) for at in range(len(chart.rows))]
    layers = [
        layer("rect", [_box(SIDE, WIDTH - SIDE, lane) for lane in lanes], fill=svg.colour("margin")),
        *_power_axis(foot, lanes),
        *_heads([(row.name, row.label) for row in chart.rows], top, POWER_ROW),
    ]
    for at, mode in enumerate(chart.modes):
        shape, tone = SHAPES[at % len(SHAPES)]
        key = 14 + at * (WIDTH - 2 * SIDE) / len(chart.modes)
        marks = [{"x": key, "y": 12}]
        layers.append(_text([{"x": key + 10, "y": 12, "text": mode}], "left"))
        for row, lane in zip(chart.rows, lanes, strict=True):
            found = row.found[at]
            if found is not None:
                offset = 7 * (at - (len(chart.modes) - 1) / 2)
                marks.append({"x": _percent_px(found), "y": (lane[0] + lane[1]) / 2 + offset})
        layers.append(layer("point", marks, shape=shape, filled=True, size=46, opacity=1, color=svg.colour(tone)))
    return _finish(layers, foot + 26, chart)


def _percent_px(share: float) -> float:
    inside = SIDE + 8
    return round(inside + share / 100 * (WIDTH - 2 * inside), 2)


def _power_axis(foot: int, lanes: Sequence[tuple[float, float]]) -> Layers:
    ticks = (0, 25, 50, 75, 100)
    lines = [{"x": _percent_px(tick), "y": top, "y2": bottom} for tick in ticks for top, bottom in lanes]
    texts = [{"x": _percent_px(tick), "y": foot + 12, "text": f"{tick}%"} for tick in ticks]
    return [layer("rule", lines, color=svg.colour("grid"), strokeWidth=1), _text(texts, "center")]


def _finish(layers: Layers, height: int, chart: StudyChart) -> str:
    return svg.dress(render(layers, height), (WIDTH, height), chart)
