"""The numbers of a chart as CSV: what was drawn, at full precision, in the order of the chart."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from reportgen.publish.chart_data import IntervalChart, ProcessChart, StripChart
from reportgen.publish.drawing import AnyChart
from reportgen.publish.gate_charts import SavingsChart
from reportgen.publish.panels import PanelsChart
from reportgen.publish.roofline import RooflineChart
from reportgen.publish.timeline import TimelineChart

Rows = Iterable[tuple[Any, ...]]
CHANGES = ("change_pct", "low_pct", "high_pct")


def _intervals(chart: IntervalChart) -> Rows:
    yield ("arm", "estimate_pct", "low_pct", "high_pct", "headline_pct")
    yield from ((row.arm, row.estimate, row.low, row.high, row.headline) for row in chart.rows)


def _strips(chart: StripChart) -> Rows:
    yield ("arm", "fixture", "change_pct")
    for row in chart.rows:
        yield from ((row.arm, name, value) for name, value in zip(row.fixtures, row.changes, strict=True))


def _processes(chart: ProcessChart) -> Rows:
    yield ("arm", "process", "change_pct")
    for row in chart.rows:
        yield from ((row.arm, place, value) for place, value in enumerate(row.changes, start=1))


def _savings(chart: SavingsChart) -> Rows:
    yield ("arm", "fixture", "saved", "low", "high", "asked", "unit")
    for group in chart.groups:
        for row in group.rows:
            yield (group.arm, row.name, row.estimate, row.low, row.high, chart.line, chart.unit)


def _panels(chart: PanelsChart) -> Rows:
    yield ("panel", "series", chart.axis, *CHANGES, "band_pct")
    for panel in chart.panels:
        for series in panel.series:
            yield from (
                (panel.name, series.name, point.at, point.change, point.low, point.high, panel.band)
                for point in series.points
            )


def _timeline(chart: TimelineChart) -> Rows:
    yield ("at_s", "repetition", *CHANGES, "clock_mhz", "temperature_c", "counts")
    for one in chart.moments:
        changes = (None if value is None else 100 * value for value in (one.off, one.low, one.high))
        yield (one.at_s, one.repetition, *changes, one.clock_mhz, one.temperature_c, str(one.counts).lower())


def _roofline(chart: RooflineChart) -> Rows:
    yield ("arm", "bytes", "time_ns", "floor_ns", "empty_launch_ns")
    for arm in chart.arms:
        for length, time_ns in arm.places:
            floor_ns = None if chart.bytes_per_ns is None else length / chart.bytes_per_ns
            yield (arm.name, length, time_ns, floor_ns, chart.empty_ns)


ROWS: Mapping[type, Callable[[Any], Rows]] = {
    IntervalChart: _intervals,
    StripChart: _strips,
    ProcessChart: _processes,
    SavingsChart: _savings,
    PanelsChart: _panels,
    TimelineChart: _timeline,
    RooflineChart: _roofline,
}


def to_csv(chart: AnyChart) -> bytes | None:
    """Write the numbers of a chart; None for those of A/A studies, whose numbers are files of the record."""
    rows_of = ROWS.get(type(chart))
    if rows_of is None:
        return None
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows_of(chart))
    return text.getvalue().encode()
