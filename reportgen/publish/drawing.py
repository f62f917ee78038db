"""Every form of chart, and what draws it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from reportgen.publish import charts, gate_drawing, panels, roofline, study_drawing, timeline
from reportgen.publish.chart_data import Chart, IntervalChart, ProcessChart, StripChart
from reportgen.publish.gate_charts import SavingsChart
from reportgen.publish.panels import PanelsChart
from reportgen.publish.roofline import RooflineChart
from reportgen.publish.study_charts import ErrorChart, IntervalsChart, PowerChart, SeriesChart, StudyChart
from reportgen.publish.timeline import TimelineChart

AnyChart = Chart | StudyChart | SavingsChart | PanelsChart | TimelineChart | RooflineChart

DRAWN_BY: Mapping[type, Callable[[Any], str]] = {
    IntervalChart: charts.draw,
    StripChart: charts.draw,
    ProcessChart: charts.draw,
    SavingsChart: gate_drawing.draw,
    ErrorChart: study_drawing.draw,
    IntervalsChart: study_drawing.draw,
    SeriesChart: study_drawing.draw,
    PowerChart: study_drawing.draw,
    PanelsChart: panels.draw,
    TimelineChart: timeline.draw,
    RooflineChart: roofline.draw,
}


def draw(chart: AnyChart) -> str:
    """Draw any chart as inline SVG."""
    return DRAWN_BY[type(chart)](chart)
