"""Descriptive bootstrap of a headline: whole repetitions are drawn, jointly for all cells of a device.

The draws come from SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators",
OOPSLA 2014), seeded by the plan's digest: the same record gives the same digits everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from reportgen.analysis.median import BOOTSTRAP_LEVELS, FloatArray, IntArray, Samples
from reportgen.model.result import Interval

RESAMPLES = 2_000
_SEED_DIGITS = 16  # the first 8 bytes of a digest in hexadecimal
_ELEMENTS_AT_ONCE = 4_000_000
_ELEMENTS_IN_CACHE = 128_000
_MOST_SMALL = 127

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_HALF = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)

CountArray = npt.NDArray[np.int8] | npt.NDArray[np.int32]


def splitmix64(state: int, count: int) -> npt.NDArray[np.uint64]:
    """First ``count`` outputs of SplitMix64 started at ``state``."""
    steps = np.arange(1, count + 1, dtype=np.uint64)
    z = np.uint64(state) + steps * _GAMMA
    z = (z ^ (z >> np.uint64(30))) * _MIX_1
    z = (z ^ (z >> np.uint64(27))) * _MIX_2
    return np.asarray(z ^ (z >> np.uint64(31)), dtype=np.uint64)


def below(u: npt.NDArray[np.uint64], n: int) -> IntArray:
    """floor(u n / 2^64) for n < 2^32, by halves, so that the product never leaves 64 bits."""
    factor = np.uint64(n)
    carry = ((u & _LOW_HALF) * factor) >> _HALF
    return (((u >> _HALF) * factor + carry) >> _HALF).astype(np.int64)


@lru_cache(maxsize=64)
def draws(digest: str, repetitions: tuple[int, ...], resamples: int = RESAMPLES) -> tuple[IntArray, ...]:
    """Drawn repetition indices, one array (resamples x repetitions) a device, in the order resample, device, draw.

    Parameters
    ----------
    digest:
        The plan's digest in hexadecimal; its first 8 bytes, big-endian, are the generator's state.
    repetitions:
        How many repetitions each device has.
    """
    total = sum(repetitions)
    stream = splitmix64(int(digest[:_SEED_DIGITS], 16), resamples * total).reshape(resamples, total)
    starts = np.cumsum((0, *repetitions))
    return tuple(below(stream[:, start : start + n], n) for start, n in zip(starts[:-1], repetitions, strict=True))


@lru_cache(maxsize=64)
def _multiplicities(digest: str, repetitions: tuple[int, ...], resamples: int) -> tuple[CountArray, ...]:
    """How often each repetition was drawn: repetitions x resamples, one array a device."""
    return tuple(
        _counted(drawn, n) for drawn, n in zip(draws(digest, repetitions, resamples), repetitions, strict=True)
    )


def _counted(drawn: IntArray, n: int) -> CountArray:
    """Count the draws in the narrowest type that holds them: the sums over repetitions run at memory speed."""
    wide = np.stack([np.count_nonzero(drawn == k, axis=1) for k in range(n)])
    return wide.astype(np.int8) if n <= _MOST_SMALL else wide.astype(np.int32)


def headline_bootstrap(
    pairs: Sequence[FloatArray],
    digest: str,
    *,
    levels: tuple[Fraction, Fraction] = BOOTSTRAP_LEVELS,
    resamples: int = RESAMPLES,
) -> Interval | None:
    """Percentile interval of the median over cells of the cells' medians.

    Parameters
    ----------
    pairs:
        Pair ratios, one array (cells x repetitions) a device; NaN where a pair is missing. A drawn repetition without
        a pair is skipped; a cell none of whose pairs was drawn is skipped in that resample.

    Returns
    -------
    Interval
        Ends are the smallest values whose cumulative share reaches each level; None where nothing could be drawn.
    """
    repetitions = tuple(values.shape[1] for values in pairs)
    if not sum(repetitions):
        return None
    drawn = _multiplicities(digest, repetitions, resamples)
    cells = sum(len(values) for values in pairs)
    step = max(1, _ELEMENTS_AT_ONCE // max(1, cells))
    headlines = np.concatenate(
        [
            _headlines(pairs, [counts[:, start : start + step] for counts in drawn])
            for start in range(0, resamples, step)
        ]
    )
    return _percentiles(headlines, levels)


def _headlines(pairs: Sequence[FloatArray], drawn: Sequence[CountArray]) -> FloatArray:
    """Median over all cells of their resampled medians, one a resample; cells are taken in blocks that fit a cache."""
    resamples = drawn[0].shape[1]
    by_resample = np.empty((resamples, sum(len(values) for values in pairs)))
    block, filled = max(1, _ELEMENTS_IN_CACHE // resamples), 0
    for values, counts in zip(pairs, drawn, strict=True):
        for start in range(0, len(values), block):
            some = values[start : start + block]
            by_resample[:, filled : filled + len(some)] = _cell_medians(some, counts).T
            filled += len(some)
    if np.isnan(by_resample).any():
        return Samples.of(by_resample).median()
    return _row_medians(by_resample)


def _row_medians(values: FloatArray) -> FloatArray:
    """Median of every row by selection, not by sorting: rows may be thousands of cells long."""
    middle = values.shape[1] // 2
    selected = np.partition(values, middle, axis=1)
    upper = selected[:, middle]
    lower = upper if values.shape[1] % 2 else selected[:, :middle].max(axis=1)
    return np.asarray((lower + upper) / 2, dtype=np.float64)


def _cell_medians(values: FloatArray, drawn: CountArray) -> FloatArray:
    """Resampled median of every cell: cells x resamples, NaN where no pair was drawn.

    The values of a cell are walked in ascending order while the draws are counted; the two middle draws are the values at
    which that count first reaches their ranks. So nothing is sorted a second time.
    """
    order = np.argsort(values, axis=1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=1)
    present = ~np.isnan(ordered)
    complete = bool(present.all())
    total = drawn[:, 0].sum(dtype=drawn.dtype) if complete else _total(order, present, drawn)
    lower_rank, upper_rank = (total + 1) // 2, total // 2 + 1
    seen = np.zeros((len(order), drawn.shape[1]), dtype=drawn.dtype)
    lower, upper = np.zeros_like(seen), np.zeros_like(seen)
    for at in range(order.shape[1]):
        seen += drawn[order[:, at]] if complete else drawn[order[:, at]] * present[:, at, None]
        lower += (seen < lower_rank).view(np.int8)
        upper += (seen < upper_rank).view(np.int8)
    medians = _means_of_two(ordered, lower, upper)
    return medians if complete else np.where(total > 0, medians, np.nan)


def _means_of_two(ordered: FloatArray, lower: CountArray, upper: CountArray) -> FloatArray:
    """Mean of each row's values at two indices (one row of them a row), looked up in a table of all pairs."""
    cells, width = ordered.shape
    table = (ordered[:, :, None] + ordered[:, None, :]) / 2
    at = lower.astype(np.int32)
    at *= width
    at += np.minimum(upper, width - 1)
    at += (np.arange(cells, dtype=np.int32) * width**2)[:, None]
    return np.asarray(table.reshape(-1).take(at), dtype=np.float64)


def _total(order: IntArray, present: npt.NDArray[np.bool_], drawn: CountArray) -> CountArray:
    """Draws of each cell and resample that have a pair."""
    total = np.zeros((len(order), drawn.shape[1]), dtype=drawn.dtype)
    for at in range(order.shape[1]):
        total += drawn[order[:, at]] * present[:, at, None]
    return total


def _percentiles(values: FloatArray, levels: tuple[Fraction, Fraction]) -> Interval | None:
    ordered = np.sort(values[~np.isnan(values)])
    if not len(ordered):
        return None
    at = [max(0, -(-level.numerator * len(ordered) // level.denominator) - 1) for level in levels]
    return Interval(low=float(ordered[at[0]]), high=float(ordered[at[1]]))
