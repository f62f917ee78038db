"""Bytes that a launch must move against the time that it takes, with the floor that bandwidth sets; what it shows and how it is drawn."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from reportgen.errors import InputError
from reportgen.model.experiment import Role
from reportgen.model.plan import Slice
from reportgen.publish import lookup, marks, scales, svg, wording
from reportgen.publish.bandwidth import Ceiling, moved
from reportgen.publish.charts import SIDE, WIDTH
from reportgen.publish.view import RecordView
from reportgen.units import NS_PER_MS, NS_PER_S, NS_PER_US

GUTTER = 52
HEAD = 12
LINE = 15
PLOT = 230
FOOT = 40
APART = 6  # pixels between arms at one place, so that none hides another
NAME = 96  # of the floor's name, in pixels
SHAPES = (("dot", "equivalent"), ("square", "slower"), ("triangle", "faster"), ("diamond", "invalid"))
BYTES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))
TIMES = ((NS_PER_S, "s"), (NS_PER_MS, "ms"), (NS_PER_US, "\N{MICRO SIGN}s"), (1, "ns"))
ROOM = 1.25  # of the range, as a factor at either end


class RoofArm(msgspec.Struct, frozen=True):
    """One arm: ``places`` are bytes and nanoseconds of a launch on each fixture; ``label`` says how near it comes to the floor."""

    name: str
    label: str
    shape: str
    tone: str
    places: list[tuple[float, float]]


class RooflineChart(msgspec.Struct, frozen=True, tag=True):
    """Arms of a slice; ``bytes_per_ns`` is the rate of the floor, ``empty_ns`` the median time of an empty launch, where they are known."""

    anchor: str
    title: str
    description: str
    arms: list[RoofArm]
    bytes_per_ns: float | None
    empty_ns: float | None
    labels: list[str]


def roofline(record: RecordView, piece: Slice, ceiling: Ceiling | None, arms: Sequence[str] | None) -> RooflineChart:
    """Take the times of arms (the incumbents, where none are named) on the fixtures of a slice, on its first device.

    Raises
    ------
    InputError
        The plan does not know the bytes of these fixtures, an arm is unknown, or there are more than can be told apart.
    """
    chosen = _chosen(record, arms)
    known, device = moved(record), lookup.devices_in(record, piece)[0]
    drawn, said = [], []
    for name, (shape, tone) in zip(chosen, SHAPES, strict=False):
        places = [
            (float(known[time.fixture]), time.median_ns)
            for time in record.result.times
            if (time.arm, time.device) == (name, device) and time.fixture in piece.fixtures and known.get(time.fixture)
        ]
        if places:
            label = f"{name}: {_distance(places, ceiling)}"
            drawn.append(RoofArm(name, label, shape, tone, sorted(places)))
            said.append(label)
    if not drawn:
        raise InputError(f"the bytes that a launch of {record.name} must move are not known in {piece.name}")
    empty = _empty(record, piece, device)
    labels = [] if ceiling is None else [f"floor: {wording.rate(ceiling.bytes_per_s)}"]
    labels += [] if empty is None else [f"empty launch: {wording.time(empty)}"]
    return RooflineChart(
        anchor=lookup.chart_anchor(
            "roofline", record.name, piece.name, *(arms or ()), ceiling.record if ceiling else ""
        ),
        title=f"Bytes and time of a launch, {wording.slice_name(piece.name)}",
        description=f"Time a launch over the bytes that it must move at least. {'; '.join([*said, *labels])}.",
        arms=drawn,
        bytes_per_ns=None if ceiling is None else ceiling.bytes_per_s / NS_PER_S,
        empty_ns=empty,
        labels=labels,
    )


def _chosen(record: RecordView, arms: Sequence[str] | None) -> list[str]:
    named = [lookup.arm_named(record.plan, name).name for name in arms or ()]
    found = named or [arm.name for arm in record.plan.experiment.arms if arm.role is Role.INCUMBENT]
    if len(found) > len(SHAPES):
        raise InputError(
            f"{len(found)} arms cannot be told apart in one chart", remedy=f"name {len(SHAPES)} at most: arms=[...]"
        )
    return found


def _distance(places: Sequence[tuple[float, float]], ceiling: Ceiling | None) -> str:
    if ceiling is None:
        rates = sorted(length / ns * NS_PER_S for length, ns in places)
        return wording.range_of(wording.rate(rates[0]), wording.rate(rates[-1]))
    times = sorted(ns * ceiling.bytes_per_s / NS_PER_S / length for length, ns in places)
    return wording.range_of(*(wording.number(end, decimals=1) for end in (times[0], times[-1]))) + " times the floor"


def _empty(record: RecordView, piece: Slice, device: str) -> float | None:
    floors = {arm.name for arm in record.plan.experiment.arms if arm.role is Role.FLOOR}
    found = sorted(
        time.median_ns
        for time in record.result.times
        if time.arm in floors and time.device == device and time.fixture in piece.fixtures
    )
    return found[len(found) // 2] if found else None


def draw(chart: RooflineChart) -> str:
    """Draw bytes to the right and time upwards, both so that equal ratios are equal lengths."""
    top = HEAD + LINE * len(chart.arms)
    lengths = [length for arm in chart.arms for length, _ in arm.places]
    along = scales.Logarithmic(min(lengths) / ROOM, max(lengths) * ROOM, SIDE + GUTTER, WIDTH - SIDE)
    floors = [length / chart.bytes_per_ns for length in (along.low, along.high)] if chart.bytes_per_ns else []
    times = [ns for arm in chart.arms for _, ns in arm.places] + floors
    times += [] if chart.empty_ns is None else [chart.empty_ns]
    up = scales.Logarithmic(min(times) / ROOM, max(times) * ROOM, top + PLOT, top)
    shapes = _axes(along, up) + _limits(chart, along, up, floors)
    for place, arm in enumerate(chart.arms):
        draw_marks = marks.SHAPES[arm.shape]
        y = HEAD + LINE * place
        shapes += draw_marks([(SIDE + 4, y)], arm.tone, 3) + marks.texts([(SIDE + 14, y, arm.label)], arm.tone)
        aside = APART * (place - (len(chart.arms) - 1) / 2)
        shapes += draw_marks([(along(length) + aside, up(ns)) for length, ns in arm.places], arm.tone, 3)
    return svg.dress(shapes, (WIDTH, top + PLOT + FOOT), chart)


def _axes(along: scales.Logarithmic, up: scales.Logarithmic) -> str:
    wide, high = along.ticks(), up.ticks()
    foot = round(up.start)
    lines = [(along(tick), up.end, along(tick), up.start) for tick in wide]
    lines += [(along.start, up(tick), along.end, up(tick)) for tick in high]
    return (
        marks.boxes([(along.start, up.end, along.end, up.start)], "margin")
        + marks.lines(lines, "grid")
        + marks.texts([(along(tick), foot + 11, wording.brief(tick, BYTES)) for tick in wide], align="middle")
        + marks.texts([(along.start - 5, up(tick), wording.brief(tick, TIMES)) for tick in high], align="end")
        + marks.texts([(WIDTH - SIDE, foot + 28, "bytes that a launch must move at least")], align="end")
    )


def _limits(chart: RooflineChart, along: scales.Logarithmic, up: scales.Logarithmic, floors: Sequence[float]) -> str:
    """Draw the floor and the empty launch with their names along them."""
    shapes, labels = "", list(chart.labels)
    if floors:
        shapes += marks.lines([(along.start, up(floors[0]), along.end, up(floors[1]))], "ink", 1.5)
        # Below the line all along: that falls to the left, where the name begins.
        falls = NAME * (up(floors[0]) - up(floors[1])) / (along.end - along.start)
        y = min(up(floors[1]) + falls + 8, up.start - 8)
        shapes += marks.texts([(along.end - 6, y, labels.pop(0))], "ink", align="end")
    if chart.empty_ns is not None:
        y = up(chart.empty_ns)
        shapes += marks.lines([(along.start, y, along.end, y)], "ink", 1, dash="3 2")
        shapes += marks.texts([(along.start + 6, y - 9, labels.pop(0))], "ink")
    return shapes
