"""The gate ``band``: along which stretch of an axis an arm pays, costs, or does neither."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import groupby, pairwise

from reportgen.analysis.decision import DevicePairs
from reportgen.analysis.median import order_coverage, order_rank
from reportgen.analysis.questions import INVALID, Finding, Question, outcome_of
from reportgen.model.experiment import AxisValue
from reportgen.model.plan import Plan
from reportgen.model.result import Band, BandPoint, GateOutcome, OrderInterval, PointVerdict

FEWEST_ADJACENT = 2
_ERROR = Fraction(1, 20)


def places_along(plan: Plan, axis: str, fixtures: Iterable[str]) -> dict[str, AxisValue]:
    """Order fixtures along an axis: numbers by size, anything else as the plan declares it."""
    values = {fixture.name: fixture.values[axis] for fixture in plan.fixtures}
    chosen = [name for name in values if name in set(fixtures)]
    declared = list(plan.experiment.axes[axis])
    numbers = all(isinstance(values[name], int | float) and not isinstance(values[name], bool) for name in chosen)

    def place(name: str) -> float:
        value = values[name]
        if numbers and isinstance(value, int | float):
            return float(value)
        return float(declared.index(value) if value in declared else len(declared))

    return {name: values[name] for name in sorted(chosen, key=place)}


def band(question: Question) -> Finding:
    """Pass where the arm pays on two adjacent points or more, each at its corrected rank.

    With M points on the axis every interval covers with at least 1 - 0.05 / M, so that all of them hold at once with 95 %
    (C. E. Bonferroni 1936). A point says what all its devices say.
    """
    floor, threshold, places = question.cell_floor, question.gate.threshold, question.places
    if floor is None or not _distinct(places):
        return INVALID
    confidence = 1 - _ERROR / len(places)
    cells = [cell for device in question.pairs() for cell in _cells(device, places, confidence, (threshold, floor))]
    if None in cells:
        return INVALID
    columns = [[cell for cell in cells if cell and cell.fixture == fixture] for fixture in places]
    verdicts = [_agreed(column) for column in columns]
    return _found(columns, _bands(list(places.values()), verdicts), max(threshold, floor))


def _distinct(places: Mapping[str, AxisValue]) -> bool:
    return len(places) >= FEWEST_ADJACENT and len(set(places.values())) == len(places)


def _cells(
    device: DevicePairs, places: Mapping[str, AxisValue], confidence: Fraction, margins: tuple[float, float]
) -> list[BandPoint | None]:
    """Judge every point on one device; None where repetitions are too few for the corrected rank."""
    ratios, (lows, highs) = device.samples.median(), device.samples.order_ends(confidence)
    found: list[BandPoint | None] = []
    for at, fixture in enumerate(device.fixtures):
        n, low, high = int(device.samples.count[at]), float(lows[at]), float(highs[at])
        rank = order_rank(n, confidence)
        interval = OrderInterval(low=low, high=high, rank=rank, n=n, coverage=order_coverage(n, confidence))
        point = BandPoint(
            value=places[fixture],
            fixture=fixture,
            device=device.device,
            ratio=float(ratios[at]),
            interval=interval,
            verdict=_verdict(low, high, *margins),
        )
        found.append(None if rank is None else point)
    return found


def _verdict(low: float, high: float, threshold: float, floor: float) -> PointVerdict:
    margin = max(threshold, floor)
    if high < 1 - margin:
        return PointVerdict.PAYS
    if low > 1 + margin:
        return PointVerdict.COSTS
    inside = low >= 1 - threshold and high <= 1 + threshold
    return PointVerdict.NEITHER if inside and floor <= threshold else PointVerdict.UNDECIDED


def _agreed(column: Sequence[BandPoint]) -> PointVerdict:
    said = {cell.verdict for cell in column}
    return said.pop() if len(said) == 1 else PointVerdict.UNDECIDED


def _bands(values: Sequence[AxisValue], verdicts: Sequence[PointVerdict]) -> tuple[Band, ...]:
    found = []
    for verdict, run in groupby(range(len(values)), key=lambda at: verdicts[at]):
        at = list(run)
        if verdict is not PointVerdict.UNDECIDED and len(at) >= FEWEST_ADJACENT:
            found.append(Band(verdict=verdict, first=values[at[0]], last=values[at[-1]], points=len(at)))
    return tuple(found)


def _found(columns: Sequence[Sequence[BandPoint]], bands: tuple[Band, ...], margin: float) -> Finding:
    """Let the weaker cell of the best two adjacent points decide."""
    neighbours = [[*one, *other] for one, other in pairwise(columns)]
    by_end = min(
        (max(cells, key=lambda cell: cell.interval.high) for cells in neighbours), key=lambda c: c.interval.high
    )
    by_ratio = min((max(cells, key=lambda cell: cell.ratio) for cells in neighbours), key=lambda cell: cell.ratio)
    outcome = outcome_of(by_end.interval.high < 1 - margin, by_ratio.ratio < 1 - margin)
    decides = by_ratio if outcome is GateOutcome.FAILS else by_end
    return Finding(
        outcome,
        estimate=1 - decides.ratio,
        end=1 - decides.interval.high,
        fixture=decides.fixture,
        device=decides.device,
        tolerance=margin,
        points=tuple(cell for column in columns for cell in column),
        bands=bands,
    )
