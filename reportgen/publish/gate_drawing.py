"""Draws savings as bars with intervals against the line of a gate."""

from __future__ import annotations

from reportgen.publish import marks, scales, svg, wording
from reportgen.publish.charts import FOOT, SIDE, WIDTH, upright
from reportgen.publish.gate_charts import SavingsChart, SavingsGroup

TOP = 26
HEAD = 24
LANE = 18
GAP = 8
NAMES = 142  # pixels for the names of fixtures
CHARACTERS = 24  # that fit there

Lanes = list[tuple[float, float]]


def draw(chart: SavingsChart) -> str:
    """Draw the chart as inline SVG."""
    ends = [value for group in chart.groups for row in group.rows for value in (row.low, row.high, row.estimate)]
    across = scales.around([0.0, *ends, chart.line], NAMES, WIDTH - SIDE)
    tops, foot = _places(chart.groups)
    lanes: Lanes = [
        (top + HEAD + LANE * place, top + HEAD + LANE * (place + 1))
        for group, top in zip(chart.groups, tops, strict=True)
        for place in range(len(group.rows))
    ]
    shapes = _axis(chart, across, foot, lanes)
    shapes += "".join(_group(group, top, across) for group, top in zip(chart.groups, tops, strict=True))
    asked = across(chart.line)
    shapes += marks.lines(((asked, top, asked, bottom) for top, bottom in lanes), "ink", 1.5, dash="3 2")
    return svg.dress(shapes, (WIDTH, foot + FOOT), chart)


def _places(groups: list[SavingsGroup]) -> tuple[list[int], int]:
    """Top of every group, and where the last ends."""
    tops, at = [], TOP
    for group in groups:
        tops.append(at)
        at += HEAD + LANE * len(group.rows) + GAP
    return tops, at


def _axis(chart: SavingsChart, across: scales.Linear, foot: int, lanes: Lanes) -> str:
    ticks, end = across.ticks(), WIDTH - SIDE
    shown = [(across(tick), foot + 8, wording.number(tick, decimals=scales.decimals(ticks))) for tick in ticks]
    return (
        upright([across(tick) for tick in ticks], lanes, "grid")
        + upright([across(0)], lanes, "zero", 1.5)
        + marks.texts(shown, align="middle")
        + marks.texts([(end, foot + 26, f"saved, {chart.unit}"), (end, 10, chart.line_label)], align="end")
    )


def _group(group: SavingsGroup, top: int, across: scales.Linear) -> str:
    tops = [top + HEAD + LANE * place for place in range(len(group.rows))]
    placed = list(zip(tops, group.rows, strict=True))
    names = [(SIDE, y + LANE / 2, _short(row.name) + (" *" if row.decides else "")) for y, row in placed]
    return (
        marks.texts([(SIDE, top + HEAD / 2, group.arm)], "ink", size=marks.NORMAL)
        + marks.texts([(WIDTH - SIDE, top + HEAD / 2, group.label)], group.tone, align="end", size=marks.NORMAL)
        + marks.texts(names)
        + marks.boxes(((across(0), y + 5, across(row.estimate), y + LANE - 5) for y, row in placed), group.tone)
        + marks.lines(((across(row.low), y + LANE / 2, across(row.high), y + LANE / 2) for y, row in placed), "ink", 2)
    )


def _short(name: str) -> str:
    """Drop the axis where a fixture has one only, and what does not fit."""
    said = wording.short_fixture(name)
    return said if len(said) <= CHARACTERS else said[: CHARACTERS - 1] + "\N{HORIZONTAL ELLIPSIS}"
