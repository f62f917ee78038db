"""Medians, their order-statistic intervals and their exact bootstrap law, against independent programs."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.stats

from reportgen.analysis.median import (
    Samples,
    median,
    median_law,
    order_coverage,
    order_interval,
    order_rank,
    outside_each_side,
)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_the_law_equals_a_count_over_all_resamples(n: int) -> None:
    """Every one of the n^n resamples, sorted and looked at."""
    counted = Counter((sorted(picks)[(n - 1) // 2], sorted(picks)[n // 2]) for picks in product(range(n), repeat=n))
    law = median_law(n)

    assert counted == Counter(dict(zip(zip(law.lower, law.upper, strict=True), law.numerators, strict=True)))


@pytest.mark.parametrize("n", [6, 9, 12, 15, 24, 25])
def test_rank_and_interval_equal_the_quantile_test_of_scipy(n: int) -> None:
    """The same two order statistics, two-sided at 95 %."""
    values = np.random.default_rng(n).normal(1, 0.001, n)
    theirs: Any = scipy.stats.quantile_test(values, q=1.0, p=0.5).confidence_interval(0.95)
    interval = order_interval(values)

    assert interval is not None
    assert (theirs.low, theirs.high) == (interval.low, interval.high)


@pytest.mark.parametrize("n", [6, 12, 23])
def test_coverage_is_the_share_of_records_that_hold_the_median(n: int) -> None:
    """Of 40,000 uniform samples, as many intervals hold 1/2 as the exact coverage says, within 4 standard errors."""
    samples = Samples.of(np.random.default_rng(n).random((40_000, n)))
    low, high = samples.order_ends()
    share = float(np.mean((low <= 0.5) & (high >= 0.5)))

    assert abs(share - order_coverage(n)) <= 4 * np.sqrt(order_coverage(n) * (1 - order_coverage(n)) / 40_000)


@pytest.mark.parametrize("n", [6, 9, 12])
def test_percentile_ends_agree_with_scipy_bootstrap(n: int) -> None:
    """Scipy's 20,000 resamples end between our ends at levels 4 Monte Carlo standard errors away."""
    values = np.random.default_rng(n).normal(1, 0.01, n)
    drawn = scipy.stats.bootstrap(
        (values,), np.median, n_resamples=20_000, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    error = Fraction(4 * np.sqrt(0.025 * 0.975 / 20_000)).limit_denominator(10**6)
    samples = Samples.of(values[None, :])
    lowest, highest = samples.bootstrap_ends((Fraction(1, 40) - error, Fraction(39, 40) + error))
    inner_low, inner_high = samples.bootstrap_ends((Fraction(1, 40) + error, Fraction(39, 40) - error))

    assert lowest[0] <= drawn.low <= inner_low[0]
    assert inner_high[0] <= drawn.high <= highest[0]


def test_rows_of_unlike_length_are_each_judged_by_their_own_count() -> None:
    """Missing values are NaN anywhere in a row; an empty row stays empty."""
    nan = np.nan
    samples = Samples.of(np.array([[3.0, nan, 1.0, 2.0], [4.0, 3.0, 2.0, 1.0], [nan] * 4, [nan, 7.0, nan, nan]]))

    np.testing.assert_array_equal([2.0, 2.5, nan, 7.0], samples.median())
    np.testing.assert_array_equal([[1.0, 1.0, nan, 7.0], [3.0, 4.0, nan, 7.0]], samples.order_ends())
    np.testing.assert_array_equal([[1.0, 1.0, nan, 7.0], [3.0, 4.0, nan, 7.0]], samples.bootstrap_ends())


def test_rows_give_the_same_digits_as_one_sample_at_a_time() -> None:
    """Vectorised and single medians and intervals are the same IEEE operations."""
    values = np.random.default_rng(3).normal(1, 0.01, (50, 12))
    samples = Samples.of(values)
    low, high = samples.order_ends()

    for at, row in enumerate(values):
        interval = order_interval(row)
        assert interval is not None
        assert (median(row), interval.low, interval.high) == (samples.median()[at], low[at], high[at])


def test_no_value_has_no_interval() -> None:
    """Nothing measured is not a number."""
    assert order_interval(np.array([])) is None
    assert np.isnan(median(np.array([])))


def test_repetitions_worth_planning_are_those_where_the_rank_rises() -> None:
    """6, 9, 12, 15, 17, 20, 23, 25: one fewer, and the interval takes more extreme values."""
    rising = [n for n in range(6, 26) if (order_rank(n) or 0) > (order_rank(n - 1) or 0)]

    assert rising == [6, 9, 12, 15, 17, 20, 23, 25]


def test_the_tail_counts_sides_of_the_median() -> None:
    """C(12,0) + C(12,1) + C(12,2) of 4,096."""
    assert outside_each_side(12, 3) == 79
