"""Draws the charts of an A/A study ; what differs in meaning differs in shape."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from reportgen.publish import marks, svg, wording
from reportgen.publish.charts import FOOT, SIDE, WIDTH, upright
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
SHAPES = ((marks.dots, "equivalent"), (marks.squares, "inconclusive"), (marks.triangles, "slower"))


def draw(chart: StudyChart) -> str:
    """Draw a chart as inline SVG."""
    if isinstance(chart, ErrorChart):
        return _draw_errors(chart)
    if isinstance(chart, IntervalsChart):
        return _draw_intervals(chart)
    return _draw_series(chart) if isinstance(chart, SeriesChart) else _draw_power(chart)


class _SymmetricLog:
    """Errors in percent to pixels: sign(e) log(1 + abs(e) / LINEAR), the same to either side of none."""

    def __init__(self, reach: float) -> None:
        self.reach = reach
        self._most = math.log1p(1.12 * reach / LINEAR)

    def __call__(self, error: float) -> float:
        share = math.copysign(math.log1p(abs(error) / LINEAR), error) / self._most
        return WIDTH / 2 + share * (WIDTH / 2 - SIDE)

    def ticks(self) -> list[float]:
        known = [tick for tick in _TICKS if tick <= self.reach]
        return [*(-tick for tick in reversed(known)), 0.0, *known]


def _draw_errors(chart: ErrorChart) -> str:
    every = [abs(value) for row in chart.rows for value in (*row.errors, *row.alarms)]
    scale = _SymmetricLog(max([chart.bar, *every]))
    top, foot = 26, 26 + LANE * len(chart.rows)
    lanes = [(top + LANE * place + 18, top + LANE * place + LANE - 4) for place in range(len(chart.rows))]
    shapes = (
        marks.boxes(((scale(-chart.bar), top, scale(chart.bar), bottom) for top, bottom in lanes), "noise")
        + marks.texts([(scale(0), 10, chart.bar_label)], align="middle")
        + _error_axis(scale, foot, lanes)
        + _heads([(row.way, row.label) for row in chart.rows], top, LANE)
    )
    dots, strokes = [], []
    for row, lane in zip(chart.rows, lanes, strict=True):
        own_dots, own_strokes = _swarm(row, scale, lane)
        dots += own_dots
        strokes += own_strokes
    shapes += marks.dots(dots, "equivalent", 1.7)
    shapes += marks.lines(((x, y - 2.5, x, y + 2.5) for x, y in strokes), "slower", 1.6)
    return svg.dress(shapes, (WIDTH, foot + FOOT), chart)


def _error_axis(scale: _SymmetricLog, foot: int, lanes: Sequence[tuple[float, float]]) -> str:
    ticks = scale.ticks()
    shown = [
        (scale(tick), foot + 12, wording.signed(tick, decimals=1 if 0 < abs(tick) < 1 else 0) + "%") for tick in ticks
    ]
    return (
        upright([scale(tick) for tick in ticks], lanes, "grid")
        + upright([scale(0)], lanes, "zero", 1.5)
        + marks.texts(shown, align="middle")
        + marks.texts([(SIDE, foot + 30, "reads less time")])
        + marks.texts([(WIDTH - SIDE, foot + 30, "reads more time")], align="end")
    )


def _heads(said: Sequence[tuple[str, str]], top: int, row_px: int) -> str:
    """Name every row at the left, and say at the right what it came to."""
    names = [(SIDE, top + row_px * at + 8, name) for at, (name, _) in enumerate(said)]
    labels = [(WIDTH - SIDE, top + row_px * at + 8, label) for at, (_, label) in enumerate(said)]
    return marks.texts(names, "ink", size=marks.NORMAL) + marks.texts(labels, align="end")


def _swarm(
    row: ErrorRow, scale: _SymmetricLog, lane: tuple[float, float]
) -> tuple[list[marks.Place], list[marks.Place]]:
    """Stack marks of nearly one place about the middle of the lane, closer where there are many; alarms by themselves."""
    placed = [(round(scale(value) / BIN_PX) * BIN_PX, False) for value in row.errors]
    placed += [(round(scale(value) / BIN_PX) * BIN_PX, True) for value in row.alarms]
    ordered = sorted(placed)  # of one place the alarms come last, and so lie outermost
    bins = [x for x, _ in ordered]
    room, most = lane[1] - lane[0] - 5, max(Counter(bins).values(), default=1)
    step, middle = min(MOST_STEP_PX, room / most), (lane[0] + lane[1]) / 2
    dots: list[marks.Place] = []
    strokes: list[marks.Place] = []
    seen = Counter[float]()
    for x, alarm in ordered:
        side = -1 if seen[x] % 2 else 1
        (strokes if alarm else dots).append((x, middle + side * step * ((seen[x] + 1) // 2)))
        seen[x] += 1
    return dots, strokes


def _draw_series(chart: SeriesChart) -> str:
    # A single repetition far off would flatten all the others: the intervals set the scale.
    reach = max([SERIES_REACH * abs(end) for row in chart.rows for end in (row.low, row.high)] + [1e-9])
    shapes = "".join(_series_row(row, SERIES_ROW * place, reach) for place, row in enumerate(chart.rows))
    height = SERIES_ROW * len(chart.rows) + 26
    said = f"each row: {wording.number(reach)}% either side of no change, the line; crosses lie beyond"
    return svg.dress(shapes + marks.texts([(SIDE, height - 12, said)]), (WIDTH, height), chart)


def _series_row(row: SeriesRow, top: int, reach: float) -> str:
    """Draw the repetitions from left to right; the interval lies behind them, no change is the line."""
    middle, half, end, tone = top + 49, 31, WIDTH - SIDE, "slower" if row.alarm else "equivalent"
    step = (WIDTH - 2 * SIDE) / max(1, len(row.changes))

    def height(value: float) -> float:
        return middle - half * max(-1.0, min(1.0, value / reach))

    places = [
        (abs(value) > reach, (SIDE + step * (at + 0.5), height(value)))
        for at, value in enumerate(row.changes)
        if value is not None
    ]
    inside, beyond = ([place for outside, place in places if outside == wanted] for wanted in (False, True))
    return (
        marks.boxes([(SIDE, middle - half, end, middle + half)], "margin")
        + marks.boxes([(SIDE, height(row.high), end, height(row.low))], "noise")
        + marks.lines([(SIDE, middle, end, middle)], "zero", 1.5)
        + marks.lines([(SIDE, height(row.estimate), end, height(row.estimate))], tone, 1.5)
        + _heads([(row.way, row.label)], top, SERIES_ROW)
        + marks.dots(inside, tone, 3.6)
        + marks.crosses(beyond, tone, 3)
    )


def _draw_intervals(chart: IntervalsChart) -> str:
    ends = sorted(abs(end) for row in chart.rows for _, *both in row.intervals for end in both)
    # A few very wide intervals would flatten all the others.
    reach = max(ends[int(SHOWN_SHARE * (len(ends) - 1))] if ends else 0.0, 1e-9)
    shapes = "".join(_intervals_row(row, INTERVALS_ROW * place, reach) for place, row in enumerate(chart.rows))
    height = INTERVALS_ROW * len(chart.rows) + 26
    said = f"each row: {wording.number(reach)}% either side of no change, the line; a few reach beyond"
    return svg.dress(shapes + marks.texts([(SIDE, height - 12, said)]), (WIDTH, height), chart)


def _intervals_row(row: IntervalsRow, top: int, reach: float) -> str:
    """Draw one stroke an interval from left to right, by its estimate; alarms on top and bolder."""
    middle, half, end = top + 20 + (INTERVALS_ROW - 30) / 2, (INTERVALS_ROW - 30) / 2, WIDTH - SIDE
    step = (WIDTH - 2 * SIDE) / max(1, len(row.intervals))
    strokes: dict[bool, list[marks.Line]] = {False: [], True: []}
    for at, (_, low, high) in enumerate(row.intervals):
        x = SIDE + step * (at + 0.5)
        top_y, bottom_y = (middle - half * max(-1.0, min(1.0, value / reach)) for value in (high, low))
        strokes[low > 0 or high < 0].append((x, top_y, x, bottom_y))
    return (
        marks.boxes([(SIDE, middle - half, end, middle + half)], "margin")
        + _heads([(row.way, row.label)], top, INTERVALS_ROW)
        + marks.lines(strokes[False], "equivalent", 0.6)
        + marks.lines(strokes[True], "slower", 0.9)
        + marks.lines([(SIDE, middle, end, middle)], "zero")
    )


def _draw_power(chart: PowerChart) -> str:
    top, foot = 30, 30 + POWER_ROW * len(chart.rows)
    lanes = [(top + POWER_ROW * at + 18, top + POWER_ROW * at + POWER_ROW - 4) for at in range(len(chart.rows))]
    shapes = (
        marks.boxes(((SIDE, top, WIDTH - SIDE, bottom) for top, bottom in lanes), "margin")
        + _power_axis(foot, lanes)
        + _heads([(row.name, row.label) for row in chart.rows], top, POWER_ROW)
    )
    for at, mode in enumerate(chart.modes):
        shape, tone = SHAPES[at % len(SHAPES)]
        key, offset = 14 + at * (WIDTH - 2 * SIDE) / len(chart.modes), 7 * (at - (len(chart.modes) - 1) / 2)
        found = [
            (row.found[at], (upper + lower) / 2 + offset) for row, (upper, lower) in zip(chart.rows, lanes, strict=True)
        ]
        places = [(key, 12.0), *((_percent_px(share), y) for share, y in found if share is not None)]
        shapes += marks.texts([(key + 10, 12, mode)]) + shape(places, tone, 3.6)
    return svg.dress(shapes, (WIDTH, foot + 26), chart)


def _percent_px(share: float) -> float:
    inside = SIDE + 8
    return inside + share / 100 * (WIDTH - 2 * inside)


def _power_axis(foot: int, lanes: Sequence[tuple[float, float]]) -> str:
    ticks = (0, 25, 50, 75, 100)
    shown = [(_percent_px(tick), foot + 12, f"{tick}%") for tick in ticks]
    return upright([_percent_px(tick) for tick in ticks], lanes, "grid") + marks.texts(shown, align="middle")
