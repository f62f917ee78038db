"""Draws savings as bars with intervals against the line of a gate, in the marks and colours of ``charts``."""

from __future__ import annotations

import math
from typing import Any

from reportgen.publish import svg, wording
from reportgen.publish.charts import FOOT, NORMAL, SIDE, SMALL, WIDTH, Layers, Scale, layer, render
from reportgen.publish.gate_charts import SavingsChart, SavingsGroup

TOP = 26
HEAD = 24
LANE = 18
GAP = 8
NAMES = 142  # pixels for the names of fixtures
CHARACTERS = 24  # that fit there


class _Across:
    """Savings to pixels, right of the names."""

    def __init__(self, scale: Scale) -> None:
        self._scale = scale

    def __call__(self, value: float) -> float:
        share = (value - self._scale.low) / (self._scale.high - self._scale.low)
        return round(NAMES + share * (WIDTH - SIDE - NAMES), 2)


def draw(chart: SavingsChart) -> str:
    """Draw the chart as inline SVG."""
    ends = [value for group in chart.groups for row in group.rows for value in (row.low, row.high, row.estimate)]
    scale = Scale([*ends, chart.line], [])
    across, tops, foot = _Across(scale), *_places(chart.groups)
    lanes = [
        (top + HEAD + LANE * place, top + HEAD + LANE * (place + 1))
        for group, top in zip(chart.groups, tops, strict=True)
        for place in range(len(group.rows))
    ]
    layers = _axis(chart, scale, across, (foot, lanes))
    for group, top in zip(chart.groups, tops, strict=True):
        layers += _group(group, top, across)
    line = [{"x": across(chart.line), "y": top, "y2": bottom} for top, bottom in lanes]
    layers.append(layer("rule", line, color=svg.colour("ink"), strokeWidth=1.5, strokeDash=[3, 2]))
    return svg.dress(render(layers, foot + FOOT), (WIDTH, foot + FOOT), chart)


def _places(groups: list[SavingsGroup]) -> tuple[list[int], int]:
    """Top of every group, and where the last ends."""
    tops, at = [], TOP
    for group in groups:
        tops.append(at)
        at += HEAD + LANE * len(group.rows) + GAP
    return tops, at


def _axis(chart: SavingsChart, scale: Scale, across: _Across, place: tuple[int, list[tuple[int, int]]]) -> Layers:
    foot, lanes = place
    ticks = scale.ticks()
    step = ticks[1] - ticks[0] if len(ticks) > 1 else 1.0
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    quiet = {"fontSize": SMALL, "color": svg.colour("quiet"), "baseline": "middle"}
    texts = [{"x": across(tick), "y": foot + 8, "text": wording.number(tick, decimals=decimals)} for tick in ticks]
    grid = [{"x": across(tick), "y": top, "y2": bottom} for tick in ticks for top, bottom in lanes]
    zero = [{"x": across(0), "y": top, "y2": bottom} for top, bottom in lanes]
    return [
        layer("rule", grid, color=svg.colour("grid"), strokeWidth=1),
        layer("rule", zero, color=svg.colour("zero"), strokeWidth=1.5),
        layer("text", texts, align="center", **quiet),
        layer("text", [{"x": WIDTH - SIDE, "y": foot + 26, "text": f"saved, {chart.unit}"}], align="right", **quiet),
        layer("text", [{"x": WIDTH - SIDE, "y": 10, "text": chart.line_label}], align="right", **quiet),
    ]


def _group(group: SavingsGroup, top: int, across: _Across) -> Layers:
    colour = svg.colour(group.tone)
    bars, whiskers, names = [], [], []
    for place, row in enumerate(group.rows):
        y = top + HEAD + LANE * place
        bars.append({"x": across(0), "x2": across(row.estimate), "y": y + 5, "y2": y + LANE - 5})
        whiskers.append({"x": across(row.low), "x2": across(row.high), "y": y + LANE / 2})
        names.append({"x": SIDE, "y": y + LANE / 2, "text": _short(row.name) + (" *" if row.decides else "")})
    text: dict[str, Any] = {"baseline": "middle"}
    head = [{"x": SIDE, "y": top + HEAD / 2, "text": group.arm}]
    label = [{"x": WIDTH - SIDE, "y": top + HEAD / 2, "text": group.label}]
    return [
        layer("text", head, align="left", fontSize=NORMAL, color=svg.colour("ink"), **text),
        layer("text", label, align="right", fontSize=NORMAL, color=colour, **text),
        layer("text", names, align="left", fontSize=SMALL, color=svg.colour("quiet"), **text),
        layer("rect", bars, fill=colour),
        layer("rule", whiskers, color=svg.colour("ink"), strokeWidth=2),
    ]


def _short(name: str) -> str:
    """Drop the axis where a fixture has one only, and what does not fit."""
    said = wording.short_fixture(name)
    return said if len(said) <= CHARACTERS else said[: CHARACTERS - 1] + "\N{HORIZONTAL ELLIPSIS}"
