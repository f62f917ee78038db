"""The median of a small sample: order-statistic intervals and the exact law of its bootstrap.

Ranks, coverages and laws are worked out in exact integers and turned into floats once, at the end.

Sources: order-statistic intervals, H. A. David and H. N. Nagaraja, *Order Statistics* (3rd ed., Wiley 2003), section 7.1;
exact bootstrap law of a median, B. Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7
(1979), section 3 (odd n); the joint law of the two middle order statistics (even n) follows from the multinomial counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import comb

import numpy as np
import numpy.typing as npt

from reportgen.model.result import OrderInterval

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

CONFIDENCE = Fraction(19, 20)
BOOTSTRAP_LEVELS = (Fraction(1, 40), Fraction(39, 40))
_ELEMENTS_AT_ONCE = 2_000_000


def outside_each_side(n: int, rank: int) -> int:
    """Of the 2^n equally likely sides of n values about their median, how many leave it beyond x(rank) on one side."""
    return sum(comb(n, below) for below in range(rank))


@cache
def order_rank(n: int, confidence: Fraction = CONFIDENCE) -> int | None:
    """Largest rank l >= 1 for which [x(l), x(n+1-l)] covers the median with at least ``confidence``; None if none does."""
    best, outside, allowed = None, 0, (1 - confidence) * 2**n
    for rank in range(1, n + 1):
        outside += comb(n, rank - 1)
        if 2 * outside > allowed:
            break
        best = rank
    return best


@cache
def order_coverage(n: int, confidence: Fraction = CONFIDENCE) -> float:
    """Exact coverage of the interval at ``order_rank``, or of the range where that is None (0 for one value)."""
    rank = order_rank(n, confidence) or 1
    return max(0.0, float(1 - Fraction(2 * outside_each_side(n, rank), 2**n)))


@dataclass(frozen=True, eq=False)
class MedianLaw:
    """Bootstrap law of the median of n values: it is (x(i) + x(j)) / 2 with probability numerator / n^n.

    ``lower`` and ``upper`` hold i <= j counted from 0, ``numerators`` exact integers, ``shares`` the same as floats.
    """

    n: int
    lower: IntArray
    upper: IntArray
    numerators: tuple[int, ...]
    shares: FloatArray


@cache
def median_law(n: int) -> MedianLaw:
    """Exact law of the median of n draws with replacement from n values (pairs of zero probability left out)."""
    middle = (n + 1) // 2
    at_middle = [_order_statistic_at(n, middle, i) for i in range(1, n + 1)]
    entries = list(_even_entries(n, at_middle)) if n % 2 == 0 else [(i, i, at_middle[i - 1]) for i in range(1, n + 1)]
    entries = [entry for entry in entries if entry[2]]
    lower, upper, numerators = zip(*entries, strict=True)
    shares = np.array([numerator / n**n for numerator in numerators])
    return MedianLaw(n, np.array(lower) - 1, np.array(upper) - 1, numerators, shares)


def _order_statistic_at(n: int, order: int, i: int) -> int:
    """Of n^n resamples, how many have their ``order``-th smallest draw at x(i): P(Bin(n, i/n) >= order), differenced."""
    return sum(
        comb(n, u) * (i**u * (n - i) ** (n - u) - (i - 1) ** u * (n - i + 1) ** (n - u)) for u in range(order, n + 1)
    )


def _even_entries(n: int, at_middle: list[int]) -> list[tuple[int, int, int]]:
    """Numerators of the two middle draws of n = 2m; what the unequal pairs leave of x(i) is the pair (i, i)."""
    m = n // 2
    entries = []
    for i in range(1, n + 1):
        below = comb(n, m) * (i**m - (i - 1) ** m)
        unequal = [(i, j, below * ((n - j + 1) ** m - (n - j) ** m)) for j in range(i + 1, n + 1)]
        entries += [(i, i, at_middle[i - 1] - sum(entry[2] for entry in unequal)), *unequal]
    return entries


@dataclass(frozen=True, eq=False)
class Samples:
    """Many small samples, one a row: values ascending, then NaN for what is missing; ``count`` values a row."""

    ordered: FloatArray
    count: IntArray

    @classmethod
    def of(cls, values: FloatArray) -> Samples:
        """Take the rows of ``values`` (rows x most values), NaN where a value is missing."""
        return cls(np.sort(values, axis=1), np.count_nonzero(~np.isnan(values), axis=1))

    def median(self) -> FloatArray:
        """Median of each row, the mean of the two middle values where their number is even; NaN for an empty row."""
        return (self._at((self.count - 1) // 2) + self._at(self.count // 2)) / 2

    def order_ends(self, confidence: Fraction = CONFIDENCE) -> tuple[FloatArray, FloatArray]:
        """Find the ends of each row's order-statistic interval; its range where no rank reaches ``confidence``."""
        most = int(self.count.max(initial=0))
        ranks = np.array([order_rank(n, confidence) or 1 for n in range(most + 1)])[self.count]
        return self._at(ranks - 1), self._at(self.count - ranks)

    def bootstrap_ends(self, levels: tuple[Fraction, Fraction] = BOOTSTRAP_LEVELS) -> tuple[FloatArray, FloatArray]:
        """Percentile ends of each row's exact bootstrap law: the smallest value whose cumulative share >= level."""
        ends = np.full((2, len(self.count)), np.nan)
        for n in np.unique(self.count[self.count > 0]):
            rows = np.flatnonzero(self.count == n)
            step = max(1, _ELEMENTS_AT_ONCE // len(median_law(int(n)).shares))
            for start in range(0, len(rows), step):
                some = rows[start : start + step]
                ends[:, some] = _law_ends(self.ordered[some], median_law(int(n)), levels)
        return ends[0], ends[1]

    def _at(self, index: IntArray) -> FloatArray:
        """Value of each row at its index; an empty row has index -1 or 0, where NaN stands."""
        if not self.ordered.shape[1]:
            return np.full(len(self.count), np.nan)
        return self.ordered[np.arange(len(index)), np.maximum(index, 0)]


def _law_ends(ordered: FloatArray, law: MedianLaw, levels: tuple[Fraction, Fraction]) -> FloatArray:
    medians = (ordered[:, law.lower] + ordered[:, law.upper]) / 2
    order = np.argsort(medians, axis=1, kind="stable")
    cumulative = np.cumsum(law.shares[order], axis=1)
    rows, last = np.arange(len(ordered)), len(law.shares) - 1
    first = [np.minimum(np.count_nonzero(cumulative < float(level), axis=1), last) for level in levels]
    return np.stack([medians[rows, order[rows, at]] for at in first])


def median(values: FloatArray) -> float:
    """Median of ``values`` (none missing); NaN where there is none."""
    n = len(values)
    if not n:
        return float("nan")
    ordered = np.sort(values)
    return float((ordered[(n - 1) // 2] + ordered[n // 2]) / 2)


def order_interval(values: FloatArray) -> OrderInterval | None:
    """Distribution-free interval for the median of ``values`` (none missing); None where there is no value."""
    n = len(values)
    if not n:
        return None
    ordered = np.sort(values)
    rank = order_rank(n)
    at = rank or 1
    return OrderInterval(
        low=float(ordered[at - 1]), high=float(ordered[n - at]), rank=rank, n=n, coverage=order_coverage(n)
    )
