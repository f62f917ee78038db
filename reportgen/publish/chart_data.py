"""What a chart shows, as plain numbers and finished words: taken from a record here, drawn in ``charts``."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from reportgen.errors import InputError
from reportgen.model.experiment import Role
from reportgen.model.plan import Slice
from reportgen.model.result import ComparisonResult
from reportgen.publish import lookup, wording
from reportgen.publish.tables import JUDGED
from reportgen.publish.view import RecordView


class IntervalRow(msgspec.Struct, frozen=True):
    """One candidate: changes in percent, null where nothing was computed; ``label`` stands at the right.

    A row that is ``apart`` may be cut off where it alone would stretch the axis: work deleted or a handicap planted, which nobody could adopt.
    """

    arm: str
    label: str
    tone: str
    low: float | None
    high: float | None
    estimate: float | None
    headline: float | None
    apart: bool = False


class StripRow(msgspec.Struct, frozen=True):
    """One candidate: a change in percent for each of its fixtures and devices, which ``fixtures`` names."""

    arm: str
    label: str
    tone: str
    changes: list[float]
    headline: float | None
    fixtures: list[str] = []
    apart: bool = False


class Band(msgspec.Struct, frozen=True):
    """A range around no change, in percent either way, with its name."""

    half_width: float
    label: str


class IntervalChart(msgspec.Struct, frozen=True, tag=True):
    """Intervals of one slice against one baseline; ``bands`` from wide to narrow."""

    anchor: str
    title: str
    description: str
    rows: list[IntervalRow]
    bands: list[Band]


class StripChart(msgspec.Struct, frozen=True, tag=True):
    """Fixtures of one slice against one baseline."""

    anchor: str
    title: str
    description: str
    rows: list[StripRow]
    bands: list[Band]


class ProcessRow(msgspec.Struct, frozen=True):
    """Process values of one candidate on one device in the order of time, in percent, around their estimate."""

    arm: str
    label: str
    tone: str
    estimate: float
    changes: list[float | None]


class ProcessChart(msgspec.Struct, frozen=True, tag=True):
    """Process values of one slice against one baseline, in the order in which they were measured; the band is the noise floor."""

    anchor: str
    title: str
    description: str
    rows: list[ProcessRow]
    bands: list[Band] = []


Chart = IntervalChart | StripChart | ProcessChart
APART = (Role.CEILING, Role.PROBE)


def percent(ratio: float | None) -> float | None:
    """Turn a time ratio into a change in percent."""
    return None if ratio is None else 100 * (ratio - 1)


def by_baseline(record: RecordView, piece: Slice) -> dict[str, list[ComparisonResult]]:
    """Group the judged comparisons of a slice by baseline, each group in the order of the plan."""
    groups: dict[str, list[ComparisonResult]] = {}
    for comparison in lookup.judged(record, piece.name, JUDGED):
        groups.setdefault(comparison.baseline, []).append(comparison)
    return groups


def _label(comparison: ComparisonResult) -> str:
    verdict = wording.verdict(comparison.verdict)
    return verdict if comparison.headline is None else f"{wording.change(comparison.headline)}  {verdict}"


def _bands(record: RecordView, piece: Slice, *, cells: bool) -> list[Band]:
    line = lookup.noise_of(record, piece.name)
    if line is None or line.floor is None:
        return []
    if cells:
        half = line.cell_floor
        return [] if half is None else [Band(100 * half, f"cell floor {wording.share(half)}")]
    margin = max(record.result.smallest_effect, line.floor)
    found = [Band(100 * margin, f"margin {wording.share(margin)}")]
    return [*found, Band(100 * line.floor, f"noise floor {wording.share(line.floor)}")]


def _apart(record: RecordView, one: ComparisonResult) -> bool:
    return lookup.arm_named(record.plan, one.arm).role in APART


def intervals(record: RecordView, piece: Slice, found: list[ComparisonResult]) -> IntervalChart:
    """Take the intervals of one slice and baseline."""
    rows = [
        IntervalRow(
            one.arm,
            _label(one),
            one.verdict.value,
            percent(one.low),
            percent(one.high),
            percent(one.estimate),
            percent(one.headline),
            _apart(record, one),
        )
        for one in found
    ]
    bands = _bands(record, piece, cells=False)
    said = [wording.answer(one) for one in found] + [band.label for band in bands]
    return IntervalChart(
        anchor=f"c-ratios-{lookup.slug(record.name)}-{lookup.slug(piece.name)}-{lookup.slug(found[0].baseline)}",
        title=f"Change in time against {found[0].baseline}, {wording.slice_name(piece.name)}",
        description=f"{wording.DIRECTION.capitalize()}. {'; '.join(said)}.",
        rows=rows,
        bands=bands,
    )


def strips(record: RecordView, piece: Slice, found: list[ComparisonResult]) -> StripChart:
    """Take the ratios by fixture of one slice and baseline."""
    rows = []
    for one in found:
        ratios = [cell.ratio for cell in one.cells]
        label = wording.interval(min(ratios), max(ratios)) if ratios else wording.verdict(one.verdict)
        changes = [100 * (ratio - 1) for ratio in ratios]
        several = len({cell.device for cell in one.cells}) > 1
        names = [f"{cell.fixture} on {cell.device}" if several else cell.fixture for cell in one.cells]
        rows.append(
            StripRow(one.arm, label, one.verdict.value, changes, percent(one.headline), names, _apart(record, one))
        )
    bands = _bands(record, piece, cells=True)
    said = [f"{row.arm}: {wording.plural(len(row.changes), 'fixture')} from {row.label}" for row in rows]
    return StripChart(
        anchor=f"c-fixtures-{lookup.slug(record.name)}-{lookup.slug(piece.name)}-{lookup.slug(found[0].baseline)}",
        title=f"Change by fixture against {found[0].baseline}, {wording.slice_name(piece.name)}",
        description=f"One dot a fixture and device. {'; '.join(said + [band.label for band in bands])}.",
        rows=rows,
        bands=bands,
    )


def processes(record: RecordView, piece: Slice, found: list[ComparisonResult]) -> ProcessChart:
    """Take the process values of one slice and baseline."""
    rows = []
    for one in found:
        if one.estimate is None:
            continue
        for device in one.devices:
            lag = f"lag-1 {wording.signed(device.lag1)}" if device.lag1 is not None else "lag-1 not computed"
            label = f"around {wording.change(one.estimate)}, {lag}"
            changes = [percent(value) for value in device.h]
            rows.append(ProcessRow(one.arm, label, one.verdict.value, 100 * (one.estimate - 1), changes))
    bands = _bands(record, piece, cells=False)[-1:]
    said = [f"{row.arm}: {row.label} over {len(row.changes)} processes" for row in rows] + [
        band.label for band in bands
    ]
    return ProcessChart(
        anchor=f"c-processes-{lookup.slug(record.name)}-{lookup.slug(piece.name)}-{lookup.slug(found[0].baseline)}",
        title=f"Process values in the order of time against {found[0].baseline}, {wording.slice_name(piece.name)}",
        description=f"One dot a process, from the first measured at the left to the last. {'; '.join(said)}.",
        rows=rows,
        bands=bands,
    )


KINDS: Mapping[str, Callable[[RecordView, Slice, list[ComparisonResult]], Chart]] = {
    "ratios": intervals,
    "fixtures": strips,
    "processes": processes,
}


def charts(kind: str, record: RecordView, piece: Slice, baseline: str | None = None) -> list[tuple[str, Chart]]:
    """Take the charts of one kind in a slice, one a baseline (or the one named), each with its baseline.

    Raises
    ------
    InputError
        Unknown kind, or nothing was compared with that baseline.
    """
    if kind not in KINDS:
        raise InputError(f"no chart of kind {kind!r}", remedy=f"kinds are: {', '.join(sorted(KINDS))}")
    groups = by_baseline(record, piece)
    if baseline is not None and baseline not in groups:
        raise InputError(f"nothing is compared with {baseline!r} in {piece.name}")
    return [(name, KINDS[kind](record, piece, groups[name])) for name in groups if baseline in (None, name)]
