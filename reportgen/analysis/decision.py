"""From pair values to a decision interval: cell medians, process values, agreement of devices (rules 2 to 5).

Works on any pair value: time ratios for verdicts, saved time for gates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import comb, fsum, nan

import numpy as np

from reportgen.analysis.median import FloatArray, Samples, median, order_interval
from reportgen.model.result import OrderInterval

FEWEST_REPETITIONS = 6
DISAGREEMENT_P = 0.05
_FEWEST_FOR_LAG = 3


@dataclass(frozen=True, eq=False)
class DevicePairs:
    """Pair values of one comparison on one device: cells x repetitions, NaN where a pair is missing."""

    device: str
    fixtures: tuple[str, ...]
    repetitions: tuple[int, ...]
    values: FloatArray

    @cached_property
    def samples(self) -> Samples:
        """Pair values of each cell in ascending order."""
        return Samples.of(self.values)

    def process_values(self) -> FloatArray:
        """h: median over cells, one a repetition; NaN where fewer than half of the cells have a pair."""
        samples = Samples.of(np.ascontiguousarray(self.values.T))
        enough = 2 * samples.count >= max(1, len(self.values))
        return np.where(enough, samples.median(), np.nan)


@dataclass(frozen=True, eq=False)
class Decision:
    """The decision interval [``low``, ``high``] with what it was made from; ``h`` holds one array a device, NaN kept.

    ``pooled`` is the order interval of all h; ``unstretched`` the interval before it was made to hold the headline;
    ``device_p`` and ``agree`` are None for one device; ``enough`` tells whether repetitions suffice for a verdict.
    """

    h: tuple[FloatArray, ...]
    device_intervals: tuple[OrderInterval | None, ...]
    headline: float
    estimate: float
    pooled: OrderInterval
    unstretched: tuple[float, float]
    low: float
    high: float
    device_p: float | None
    agree: bool | None
    enough: bool

    @property
    def stretched(self) -> bool:
        """Whether the headline lay outside the interval of the process values."""
        return (self.low, self.high) != self.unstretched

    @property
    def disagree(self) -> bool:
        """Whether a median test says that the devices differ."""
        return self.agree is False


def decision(pairs: Sequence[DevicePairs]) -> Decision:
    """Decision interval of one comparison over the devices of a slice.

    Where no repetition has a process value, n is 0 and the ends are NaN.
    """
    h = tuple(device.process_values() for device in pairs)
    present = [values[~np.isnan(values)] for values in h]
    pooled = np.concatenate(present)
    headline = median(np.concatenate([device.samples.median() for device in pairs]))
    intervals = tuple(order_interval(values) for values in present)
    interval = order_interval(pooled) or OrderInterval(low=nan, high=nan, rank=None, n=0, coverage=0.0)
    device_p = _device_p(present, median(pooled)) if len(present) > 1 else None
    agree = None if device_p is None else device_p > DISAGREEMENT_P
    unstretched = _hull(intervals) if agree is False else (interval.low, interval.high)
    enough = len(pooled) >= FEWEST_REPETITIONS and (agree is not False or min(map(len, present)) >= FEWEST_REPETITIONS)
    return Decision(
        h=h,
        device_intervals=intervals,
        headline=headline,
        estimate=median(pooled),
        pooled=interval,
        unstretched=unstretched,
        low=min(unstretched[0], headline),
        high=max(unstretched[1], headline),
        device_p=device_p,
        agree=agree,
        enough=enough,
    )


def _hull(intervals: Sequence[OrderInterval | None]) -> tuple[float, float]:
    known = [interval for interval in intervals if interval is not None]
    return min(interval.low for interval in known), max(interval.high for interval in known)


def _device_p(h: Sequence[FloatArray], pooled_median: float) -> float:
    """Median test of the devices, two-sided, Bonferroni over more than two of them.

    Given the margins, the number of a device's values below the pooled median is hypergeometric
    (A. M. Mood, *Introduction to the Theory of Statistics*, McGraw-Hill 1950; exact as by R. A. Fisher).
    """
    below = [int(np.count_nonzero(values < pooled_median)) for values in h]
    smallest = min(
        _hypergeometric_p(sum(map(len, h)), sum(below), len(values), mine)
        for values, mine in zip(h, below, strict=True)
    )
    return min(1.0, smallest * (len(h) if len(h) > 2 else 1))  # noqa: PLR2004 - two devices make one test


def _hypergeometric_p(total: int, below: int, drawn: int, seen: int) -> float:
    """min(1, 2 min(P(H <= seen), P(H >= seen))), the sums in exact integers."""
    ways = [comb(below, k) * comb(total - below, drawn - k) for k in range(drawn + 1)]
    return min(1.0, 2 * min(sum(ways[: seen + 1]), sum(ways[seen:])) / comb(total, drawn))


def lag_one_correlation(h: FloatArray) -> float | None:
    """Lag-1 autocorrelation of h in the order of time over neighbours that both exist; None for constant or few values.

    r1 = sum (h[k] - mean)(h[k+1] - mean) / sum (h[k] - mean)^2
    (G. E. P. Box, G. M. Jenkins, *Time Series Analysis*, Holden-Day 1970, section 2.1.5).
    """
    values = [float(value) for value in h]
    present = [value for value in values if value == value]  # noqa: PLR0124 - NaN alone differs from itself
    if len(present) < _FEWEST_FOR_LAG:
        return None
    mean = fsum(present) / len(present)
    spread = fsum((value - mean) ** 2 for value in present)
    if not spread:
        return None
    steps = ((a - mean) * (b - mean) for a, b in pairwise(values))
    return fsum(step for step in steps if step == step) / spread  # noqa: PLR0124 - NaN alone differs from itself
