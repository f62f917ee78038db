"""The timeline of an attempt: its blocks with the spread of their batches, above clock and temperature; what it shows and how it is drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from reportgen.errors import InputError
from reportgen.publish import lookup, marks, scales, svg, wording
from reportgen.publish.charts import SIDE, WIDTH
from reportgen.publish.view import AttemptView, Moment, RecordView
from reportgen.units import SECONDS_PER_MINUTE

GUTTER = 44
HEAD = 20
TALL, LOW = 96, 50
GAP = 8
FOOT = 40
LANES: Sequence[tuple[str, Callable[[Moment], float | None]]] = (
    ("clock, MHz", lambda one: one.clock_mhz),
    ("temperature, \N{DEGREE SIGN}C", lambda one: one.temperature_c),
)


class TimelineChart(msgspec.Struct, frozen=True, tag=True):
    """One attempt in time: ``moments`` by time, ``band`` the widest noise floor of the record's slices in percent, if known.

    ``labels`` say what each lane came to, from the top: batches, clock, temperature.
    """

    anchor: str
    title: str
    description: str
    moments: list[Moment]
    band: float | None
    labels: list[str]
    said: str


def timeline(record: RecordView, attempt: AttemptView) -> TimelineChart:
    """Take the blocks of one attempt.

    Raises
    ------
    InputError
        Nothing was timed in it.
    """
    shown = [one for one in attempt.moments if one.off is not None]
    if not shown:
        raise InputError(f"attempt {attempt.manifest.id} timed nothing in mode process")
    floors = [line.floor for line in record.result.noise if line.floor is not None]
    offs = [one.off for one in shown if one.off is not None]
    labels = [
        wording.interval(1 + min(offs), 1 + max(offs)),
        _range([one.clock_mhz for one in shown], "MHz"),
        _range([one.temperature_c for one in shown], "\N{DEGREE SIGN}C"),
    ]
    each = "block" if len(shown) > len({one.repetition for one in shown}) else "repetition"
    lost = len({one.repetition for one in shown if not one.counts})
    minutes = wording.number(shown[-1].at_s / SECONDS_PER_MINUTE, decimals=1)
    said = f"Medians of a {each}, from {labels[0]} of what an arm's batches usually take, over {minutes} minutes"
    left_out = f"; {wording.plural(lost, 'repetition')} left out" if lost else ""
    return TimelineChart(
        anchor=lookup.chart_anchor("timeline", record.name, attempt.manifest.id),
        title=f"Attempt {attempt.manifest.id} in the order of time, on {attempt.manifest.device.model}",
        description=f"{said}{left_out}. Clock: {labels[1]}. Temperature: {labels[2]}.",
        moments=shown,
        band=100 * max(floors) if floors else None,
        labels=labels,
        said=f"one mark a {each}",
    )


def _range(read: Sequence[float | None], unit: str) -> str:
    known = [value for value in read if value is not None]
    if not known:
        return "not read"
    low, high = (wording.number(value, decimals=0) for value in (min(known), max(known)))
    return f"{wording.range_of(low, high)} {unit}"


def draw(chart: TimelineChart) -> str:
    """Draw the lanes above each other on one axis of minutes; what was not read has none."""
    minutes = [one.at_s / SECONDS_PER_MINUTE for one in chart.moments]
    along = scales.Linear(min(0.0, *minutes), max(minutes) or 1.0, SIDE + GUTTER + 4, WIDTH - SIDE - 4)
    shapes, bottom = _batches(chart, along, HEAD), HEAD + TALL
    for (name, read), label in zip(LANES, chart.labels[1:], strict=True):
        known = [
            (along(one.at_s / SECONDS_PER_MINUTE), value) for one in chart.moments if (value := read(one)) is not None
        ]
        if known:
            top = bottom + GAP + HEAD
            shapes, bottom = shapes + _heads(name, label, top) + _readings(known, top), top + LOW
    ticks = [tick for tick in along.ticks() if tick <= along.high]
    shown = [(along(tick), bottom + 11, wording.number(tick, decimals=scales.decimals(ticks))) for tick in ticks]
    feet = marks.texts([(SIDE, bottom + 28, chart.said)]) + marks.texts(
        [(WIDTH - SIDE, bottom + 28, "minutes since the attempt began")], align="end"
    )
    return svg.dress(shapes + marks.texts(shown, align="middle") + feet, (WIDTH, bottom + FOOT), chart)


def _heads(name: str, label: str, top: float) -> str:
    return marks.texts([(SIDE, top - 9, name)], "ink") + marks.texts([(WIDTH - SIDE, top - 9, label)], align="end")


def _ground(top: float, height: float) -> str:
    return marks.boxes([(SIDE + GUTTER, top, WIDTH - SIDE, top + height)], "margin")


def _figures(ticks: Sequence[float], up: scales.Linear, say: Callable[[float], str]) -> str:
    lines = marks.lines(((SIDE + GUTTER, up(tick), WIDTH - SIDE, up(tick)) for tick in ticks), "grid")
    return lines + marks.texts([(SIDE + GUTTER - 5, up(tick), say(tick)) for tick in ticks], align="end")


def _batches(chart: TimelineChart, along: scales.Linear, top: float) -> str:
    ends = [100 * end for one in chart.moments for end in (one.low, one.off, one.high) if end is not None]
    reach = [] if chart.band is None else [chart.band, -chart.band]
    up = scales.around([0.0, *ends, *reach], top + TALL, top)
    ticks = up.ticks(6)
    band = "" if chart.band is None else _band(chart.band, up)
    spans: list[marks.Line] = []
    shown: list[marks.Place] = []
    lost: list[marks.Place] = []
    for one in chart.moments:
        x = along(one.at_s / SECONDS_PER_MINUTE)
        if one.low is not None and one.high is not None and one.off is not None:
            spans.append((x, up(100 * one.low), x, up(100 * one.high)))
            (shown if one.counts else lost).append((x, up(100 * one.off)))
    return (
        _heads("batches, beside what their arm usually takes", chart.labels[0], top)
        + _ground(top, TALL)
        + band
        + _figures(ticks, up, lambda tick: f"{wording.signed(tick, decimals=scales.decimals(ticks))}%")
        + marks.lines([(SIDE + GUTTER, up(0), WIDTH - SIDE, up(0))], "zero", 1.5)
        + marks.lines(spans, "equivalent", 0.8)
        + marks.dots(shown, "equivalent", 2)
        + marks.crosses(lost, "slower", 2.6, 1.6)
    )


def _band(half: float, up: scales.Linear) -> str:
    return marks.boxes([(SIDE + GUTTER, up(half), WIDTH - SIDE, up(-half))], "noise")


def _readings(known: Sequence[tuple[float, float]], top: float) -> str:
    """Draw readings, each at its pixel along the lane."""
    up = scales.around([value for _, value in known], top + LOW, top)
    ticks = up.ticks(3)
    say = scales.decimals(ticks)
    places = [(x, up(value)) for x, value in known]
    return (
        _ground(top, LOW)
        + _figures(ticks, up, lambda tick: wording.number(tick, decimals=say))
        + marks.curve(places, "quiet", 0.8)
        + marks.dots(places, "quiet", 1.4)
    )
