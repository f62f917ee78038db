"""Arms of imported data against each other: ratios of what is there, pairs only where the source proves them, and why no verdict stands."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import msgspec
import numpy as np

from reportgen.analysis.decision import FEWEST_REPETITIONS, Decision, DevicePairs, decision
from reportgen.analysis.imported import Basis, Middle, centre_of
from reportgen.analysis.median import order_interval
from reportgen.analysis.verdict import judge
from reportgen.model.imported import Benchmark, ImportedCell, ImportedComparison, Measure, RowStatus, Sample, Told
from reportgen.model.result import Interval

SMALLEST_EFFECT = 0.005
NO_BASELINE = "no arm was named as the baseline, and there are more than two"
NOTHING_SHARED = "no benchmark of an arm is also one of the arm that it is compared with, by name and parameters"
AGGREGATES = "aggregates only: there are no single values to pair"
ONE_SAMPLE = "one value an arm: no spread can be known"
NO_PAIRS = "no pairs: the source does not say which values were measured together"
NOT_INTERLEAVED = (
    "the arms were not measured in turn, as the order of the file shows: whatever drifts looks like an effect"
)
FEW_PAIRS = f"fewer than {FEWEST_REPETITIONS} pairs on some fixture"
NO_NULL = "no null arm: how far identical code differs here is not known"
NOT_FRESH = "it is not said that each repetition was a fresh process (--fresh-processes)"
RATES = "rates: the rules of a verdict speak of times"
FAILED = "a failed or skipped row on some fixture"
NO_VALUE = "no value on one side"


@dataclass(frozen=True)
class _Cell:
    """A fixture that both arms have, with its pairs by repetition (empty where there are none)."""

    shown: ImportedCell
    pairs: Mapping[int, float]


def compare(benchmarks: Sequence[tuple[int, Benchmark]], told: Told) -> list[ImportedComparison]:
    """Compare every arm with the baseline: the one that was named, or the first of two. Empty where there are no two arms."""
    arms = list(dict.fromkeys(one.arm for _, one in benchmarks if one.arm is not None))
    baseline = told.baseline or (arms[0] if len(arms) == 2 else None)  # noqa: PLR2004 - one against the other
    pairs = [(arm, told.nulls.get(arm, baseline)) for arm in arms if arm != baseline]
    if baseline is None:
        pairs = [(arm, of) for arm, of in pairs if of is not None]
    measured = {(arm, of): _cells(benchmarks, arm, of, told) for arm, of in pairs if of is not None}
    floors = [_floor(_decided(measured[pair])) for pair in measured if told.nulls.get(pair[0]) == pair[1]]
    floor = max((one for one in floors if one is not None), default=None)
    return [_comparison(arm, of, cells, told, floor) for (arm, of), cells in measured.items() if cells]


def without_baseline(benchmarks: Sequence[tuple[int, Benchmark]], told: Told) -> str:
    """Say why nothing is compared though there are arms; empty where something is."""
    arms = {one.arm for _, one in benchmarks if one.arm is not None}
    if len(arms) > 2 and told.baseline is None:  # noqa: PLR2004 - of two the first is the baseline
        return NO_BASELINE
    return NOTHING_SHARED if len(arms) > 1 and not compare(benchmarks, told) else ""


def _cells(benchmarks: Sequence[tuple[int, Benchmark]], arm: str, baseline: str, told: Told) -> list[_Cell]:
    """Fixtures that both arms have in one measure and, for rates, one unit."""
    of = {_fixture(one, told): (number, one) for number, one in benchmarks if one.arm == baseline}
    found = []
    for number, one in benchmarks:
        other = of.get(_fixture(one, told)) if one.arm == arm else None
        if other is not None:
            found.append(_cell(one, other[1], told, one_source=number == other[0]))
    return found


def _fixture(one: Benchmark, told: Told) -> bytes:
    unit = one.unit if one.measure is Measure.RATE else ""
    return msgspec.json.encode((shared_name(one, told), one.params, one.measure, unit), order="deterministic")


def shared_name(one: Benchmark, told: Told) -> str:
    """Name a benchmark as its counterparts are named: a name that spells out the parameter that tells arms apart, as a command line does, has its place instead."""
    if told.arm_from in (None, "name") or not one.arm:
        return one.name
    return re.sub(rf"(?<!\w){re.escape(one.arm)}(?!\w)", lambda _: f"{{{told.arm_from}}}", one.name)


def _cell(one: Benchmark, base: Benchmark, told: Told, *, one_source: bool) -> _Cell:
    top, bottom = centre_of(one), centre_of(base)
    pairs, lack = _pairs(one, base, told, one_source=one_source)
    ratios = np.array(list(pairs.values()))
    interval = order_interval(ratios) if len(ratios) >= FEWEST_REPETITIONS else None
    ok = one.status is RowStatus.OK and base.status is RowStatus.OK
    value = _ratio(top, bottom)
    cell = ImportedCell(
        fixture=shared_name(one, told),
        params=one.params,
        measure=one.measure,
        better=one.better,
        unit="ns" if one.measure is Measure.TIME else one.unit,
        arm_value=top.value,
        baseline_value=bottom.value,
        ratio=float(np.median(ratios)) if len(ratios) else value,
        basis=_basis(top, bottom, len(ratios)),
        pairs=len(ratios),
        interval=interval,
        lacking=lack if value is not None else NO_VALUE,
        failed=not ok,
    )
    return _Cell(cell, pairs)


def _ratio(top: Middle, bottom: Middle) -> float | None:
    """Candidate over baseline; none of a time that is zero or missing, and none of a mean over a median."""
    if top.value is None or bottom.value is None or not top.value > 0 or not bottom.value > 0:
        return None
    return top.value / bottom.value if (top.basis == Basis.MEAN) == (bottom.basis == Basis.MEAN) else None


def _basis(top: Middle, bottom: Middle, pairs: int) -> str:
    if pairs:
        return f"median of {pairs} pair ratios"
    return top.basis if top.basis == bottom.basis else f"{top.basis or 'nothing'} over {bottom.basis or 'nothing'}"


def _pairs(one: Benchmark, base: Benchmark, told: Told, *, one_source: bool) -> tuple[dict[int, float], str]:
    """Pair ratios by repetition, and what is lacking where there are none."""
    ours, theirs = _good(one), _good(base)
    if not ours or not theirs:
        return {}, AGGREGATES
    if len(ours) == 1 and len(theirs) == 1:
        return {}, ONE_SAMPLE
    numbered = all(sample.repetition is not None for sample in (*ours, *theirs))
    left = {_number(sample, at, numbered=numbered): sample for at, sample in enumerate(ours, start=1)}
    right = {_number(sample, at, numbered=numbered): sample for at, sample in enumerate(theirs, start=1)}
    if not told.paired and (not numbered or not one_source):
        return {}, NO_PAIRS
    if not told.paired and not _in_turn(left, right):
        return {}, NOT_INTERLEAVED
    shared = sorted(set(left) & set(right))
    return {number: (left[number].value or 0.0) / (right[number].value or math.nan) for number in shared}, ""


def _good(one: Benchmark) -> list[Sample]:
    return [each for each in one.samples if each.status is RowStatus.OK and each.value]


def _number(sample: Sample, at: int, *, numbered: bool) -> int:
    return sample.repetition if numbered and sample.repetition is not None else at


def _in_turn(left: Mapping[int, Sample], right: Mapping[int, Sample]) -> bool:
    """Whether the file has all values of a repetition before those of the next: then the arms took turns."""
    spans = [sorted((left[number].order, right[number].order)) for number in sorted(set(left) & set(right))]
    return len(spans) > 1 and all(first[1] < second[0] for first, second in pairwise(sorted(spans)))


def _decided(cells: Sequence[_Cell]) -> Decision | None:
    """Decide over the repetitions that the cells have; None where a cell has no pair."""
    if not cells or not all(cell.pairs for cell in cells):
        return None
    numbers = sorted({number for cell in cells for number in cell.pairs})
    values = np.array([[cell.pairs.get(number, math.nan) for number in numbers] for cell in cells])
    names = tuple(f"{at} {cell.shown.fixture}" for at, cell in enumerate(cells, start=1))
    return decision([DevicePairs("imported", names, tuple(numbers), values)])


def _floor(found: Decision | None) -> float | None:
    if found is None or not found.enough:
        return None
    return max(abs(found.low - 1), abs(found.high - 1))


def _comparison(arm: str, baseline: str, cells: Sequence[_Cell], told: Told, floor: float | None) -> ImportedComparison:
    found = _decided(cells)
    null = told.nulls.get(arm) == baseline
    lacking = _lacking(cells, found, told, floor)
    verdict, reason = (None, None)
    if not lacking and found is not None and floor is not None and not null:
        intervals = [
            Interval(cell.shown.interval.low, cell.shown.interval.high) for cell in cells if cell.shown.interval
        ]
        verdict, reason = judge(found, intervals, smallest_effect=SMALLEST_EFFECT, noise_floor=floor)
    ratios = [cell.shown.ratio for cell in cells if cell.shown.ratio is not None]
    return ImportedComparison(
        arm=arm,
        baseline=baseline,
        null=null,
        cells=[cell.shown for cell in cells],
        headline=float(np.median(ratios)) if ratios else None,
        low=None if found is None or not found.enough else found.low,
        high=None if found is None or not found.enough else found.high,
        repetitions=0 if found is None else found.pooled.n,
        noise_floor=floor,
        verdict=verdict,
        reason=reason,
        lacking=lacking,
    )


def _lacking(cells: Sequence[_Cell], found: Decision | None, told: Told, floor: float | None) -> list[str]:
    """List everything for want of which no verdict stands."""
    said = dict.fromkeys(cell.shown.lacking for cell in cells if cell.shown.lacking)
    if any(cell.shown.measure is Measure.RATE for cell in cells):
        said[RATES] = None
    if any(cell.shown.failed for cell in cells):
        said[FAILED] = None
    if any(cell.pairs and len(cell.pairs) < FEWEST_REPETITIONS for cell in cells) or (
        found is not None and not found.enough
    ):
        said[FEW_PAIRS] = None
    if floor is None:
        said[NO_NULL] = None
    if not told.fresh_processes:
        said[NOT_FRESH] = None
    return list(said)
