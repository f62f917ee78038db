"""What two charts of small multiples show: changes along an axis, slice by slice; effects of the slots of an order."""

from __future__ import annotations

from collections.abc import Sequence

from reportgen.errors import InputError
from reportgen.model.plan import Slice
from reportgen.model.result import CellResult, ComparisonResult
from reportgen.publish import chart_data, lookup, wording
from reportgen.publish.panels import Panel, PanelsChart, Point, Series
from reportgen.publish.view import RecordView

SHAPES = ("dot", "square", "triangle", "diamond")
SIDEWAYS = 8.0  # values further apart than this stand on a logarithmic scale
LABEL = 27  # characters for which a panel has room
PASSES = {1: ("dot", "first pass", "equivalent"), 2: ("square", "its mirror", "slower")}


def axis_values(record: RecordView, axis: str) -> dict[str, float]:
    """Give the value of an axis of numbers, by fixture.

    Raises
    ------
    InputError
        There is no such axis, or its values are no numbers.
    """
    axes = record.plan.experiment.axes
    if axis not in axes or not all(isinstance(value, int | float) for value in axes[axis]):
        known = ", ".join(name for name, values in axes.items() if all(isinstance(one, int | float) for one in values))
        raise InputError(f"{record.name} has no axis of numbers {axis!r}", remedy=f"those are: {known or 'none'}")
    return {one.name: float(one.values[axis]) for one in record.plan.fixtures if axis in one.values}


def baselines(record: RecordView, slices: Sequence[Slice]) -> list[str]:
    """Name the baselines that candidates are compared with in any of the slices, in the order of the plan."""
    return list(dict.fromkeys(name for piece in slices for name in chart_data.by_baseline(record, piece)))


def sweep(record: RecordView, slices: Sequence[Slice], axis: str, baseline: str, arms: Sequence[str]) -> PanelsChart:
    """Take changes against one baseline along an axis, a panel a slice and a series an arm (and device).

    Raises
    ------
    InputError
        A slice holds several fixtures of one value of the axis, or nothing of these arms is compared there.
    """
    values, names, panels, said = axis_values(record, axis), slice_names(slices), [], []
    compared = [
        (
            piece,
            [one for one in chart_data.by_baseline(record, piece).get(baseline, []) if one.arm in arms and one.cells],
        )
        for piece in slices
    ]
    key = _key([one for _, found in compared for one in found])
    for piece, found in compared:
        if not found:
            continue
        line = lookup.noise_of(record, piece.name)
        half = None if line is None else line.cell_floor
        series = [
            one
            for place, arm in enumerate(found)
            for one in _series(record, arm, values, key.get(arm.arm, SHAPES[place % len(SHAPES)]), keyed=bool(key))
        ]
        panels.append(Panel(names[piece.name], series, None if half is None else 100 * half))
        said += [_said(one, values, axis) for one in found]
    if not panels:
        raise InputError(f"{record.name} compares none of {wording.names(list(arms))} with {baseline!r} there")
    swept = [point.at for panel in panels for series in panel.series for point in series.points]
    return PanelsChart(
        anchor=lookup.chart_anchor("sweep", record.name, axis, baseline, *arms, *(one.name for one in slices)),
        title=f"Change in time against {baseline} along {axis}",
        description=f"{wording.DIRECTION.capitalize()}. {'; '.join(said)}.",
        panels=panels,
        axis=axis,
        said="shaded: cell floor",
        logarithmic=min(swept) > 0 and max(swept) / min(swept) > SIDEWAYS,
        key={shape: name for name, shape in key.items()},
    )


def _key(found: Sequence[ComparisonResult]) -> dict[str, str]:
    """Give each arm a shape of its own by which panels name it, where the name of any does not fit into their heads.

    Beyond as many arms as there are shapes, each is named where it stands.
    """
    names = list(dict.fromkeys(one.arm for one in found))
    if len(names) > len(SHAPES) or all(len(_label(one)) <= LABEL for one in found):
        return {}
    return dict(zip(names, SHAPES, strict=False))


def _label(one: ComparisonResult) -> str:
    return f"{one.arm} {wording.verdict(one.verdict)}"


def slice_names(slices: Sequence[Slice]) -> dict[str, str]:
    """Name slices by the axes in which they differ; one alone by all that it has."""
    pairs = {
        piece.name: [one.strip() for one in piece.name.replace(lookup.MODEL_MARK, ",").split(",")] for piece in slices
    }
    common = set.intersection(*map(set, pairs.values())) if len(slices) > 1 else set()
    return {
        name: wording.slice_name(",".join(pair for pair in own if pair not in common)) or "all fixtures"
        for name, own in pairs.items()
    }


def slice_heads(slices: Sequence[Slice]) -> tuple[str, dict[str, str]]:
    """Name the rows: where slices differ in one axis by its values alone, beneath its name; else as charts do."""
    names = slice_names(slices)
    pairs = {name: text.split(" = ") for name, text in names.items()}
    axes = {pair[0] for pair in pairs.values()}
    if len(names) > 1 and len(axes) == 1 and all(len(pair) == 2 for pair in pairs.values()):  # noqa: PLR2004 - name and value
        return axes.pop(), {name: pair[1] for name, pair in pairs.items()}
    return "Slice", names


def alike(slices: Sequence[Slice]) -> str:
    """Say what several slices have alike, for a caption."""
    first, *rest = [dict(piece.values) for piece in slices]
    shared = [
        f"{axis}={value}" for axis, value in first.items() if rest and all(one.get(axis) == value for one in rest)
    ]
    return f": {wording.slice_name(','.join(shared))}" if shared else ""


def _series(
    record: RecordView, one: ComparisonResult, values: dict[str, float], shape: str, *, keyed: bool
) -> list[Series]:
    label = wording.verdict(one.verdict) if keyed else _label(one)
    if len(label) > LABEL:
        label = f"{one.arm[: LABEL - 3]}… {wording.MARKS[one.verdict]}"
    found = []
    for device in dict.fromkeys(cell.device for cell in one.cells):
        own = sorted((values[cell.fixture], cell) for cell in one.cells if cell.device == device)
        if len({at for at, _ in own}) != len(own):
            raise InputError(
                f"{one.slice} of {record.name} has several fixtures of one value of that axis",
                remedy="sweep along an axis that alone varies there",
            )
        found.append(Series(one.arm, label, shape, one.verdict.value, [_point(at, cell) for at, cell in own]))
    return found


def _point(at: float, cell: CellResult) -> Point:
    low, high = cell.interval.low, cell.interval.high
    return Point(at, 100 * (cell.ratio - 1), 100 * (low - 1), 100 * (high - 1))


def _said(one: ComparisonResult, values: dict[str, float], axis: str) -> str:
    least, most = (pick(one.cells, key=lambda cell: cell.ratio) for pick in (min, max))
    ends = " to ".join(
        f"{wording.change(cell.ratio)} at {axis} {wording.plain_number(values[cell.fixture])}" for cell in (least, most)
    )
    return f"{one.arm}, {wording.slice_name(one.slice)}: {wording.verdict(one.verdict)}, from {ends}"


def positions(record: RecordView, slices: Sequence[Slice]) -> PanelsChart:
    """Take the effect of every slot of the order, a panel a slice, the first pass and its mirror apart.

    Raises
    ------
    InputError
        The record has none.
    """
    names, panels, said = slice_names(slices), [], []
    for piece in slices:
        own = [one for one in record.result.positions if one.slice == piece.name]
        series = []
        for number, (shape, name, tone) in PASSES.items():
            points = [Point(one.position, 100 * one.effect) for one in own if one.order_pass == number]
            if points:
                least, most = (pick(point.change for point in points) for pick in (min, max))
                label = f"{name}: {wording.interval(1 + least / 100, 1 + most / 100)}"
                series.append(Series(name, label, shape, tone, points))
                said.append(f"{wording.slice_name(piece.name)}, {label}")
        if series:
            line = lookup.noise_of(record, piece.name)
            floor = None if line is None or line.floor is None else 100 * line.floor
            panels.append(Panel(names[piece.name], series, floor))
    if not panels:
        raise InputError(f"{record.name} has no effects of slots there")
    return PanelsChart(
        anchor=lookup.chart_anchor("positions", record.name, *(one.name for one in slices)),
        title="Time of a batch by its slot in the order",
        description=f"Median of a batch's time over the mean of its arm's two batches. {'; '.join(said)}.",
        panels=panels,
        axis="slot",
        said="shaded: noise floor",
    )
