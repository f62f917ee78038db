"""The exact bootstrap law of the median beside ``scipy.stats.bootstrap``: ``python benchmarks/median_law.py``.

1,284 cells of 12 pair ratios, both in one run. Asserts that each of scipy's ends lies where 4 Monte Carlo standard errors
of its 2,000 resamples allow; exits 1 where the law is less than 50 times faster.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
import scipy.stats

from reportgen.analysis.median import FloatArray, Samples, median_law

CELLS, REPETITIONS, RESAMPLES = 1_284, 12, 2_000
LEAST_RATIO = 50
STANDARD_ERRORS = 4
ROUNDS = 5


def exact_ends(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Percentile ends of every cell by the exact law, its table made anew."""
    median_law.cache_clear()
    return Samples.of(values).bootstrap_ends()


def scipy_ends(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Percentile ends of every cell by scipy, vectorised over cells as its documentation advises."""
    drawn: Any = scipy.stats.bootstrap(
        (values,),
        np.median,
        axis=1,
        n_resamples=RESAMPLES,
        batch=100,
        method="percentile",
        vectorized=True,
        rng=np.random.default_rng(1),
    ).confidence_interval
    return drawn.low, drawn.high


def seconds(work: Callable[[FloatArray], Any], values: FloatArray, rounds: int) -> float:
    """Shortest of some rounds."""
    taken = []
    for _ in range(rounds):
        began = time.perf_counter()
        work(values)
        taken.append(time.perf_counter() - began)
    return min(taken)


def disagreements(values: FloatArray) -> int:
    """Count scipy's ends that lie outside what its Monte Carlo error allows, of two a cell."""
    low, high = scipy_ends(values)
    error = Fraction(STANDARD_ERRORS * sqrt(0.025 * 0.975 / RESAMPLES))
    outer = Samples.of(values).bootstrap_ends((Fraction(1, 40) - error, Fraction(39, 40) + error))
    inner = Samples.of(values).bootstrap_ends((Fraction(1, 40) + error, Fraction(39, 40) - error))
    return int(
        np.count_nonzero((low < outer[0]) | (low > inner[0])) + np.count_nonzero((high > outer[1]) | (high < inner[1]))
    )


def main() -> int:
    """Print both times and their ratio; 1 if the budget or the agreement is missed."""
    values = np.random.default_rng(7).normal(1, 0.002, (CELLS, REPETITIONS))
    exact_s, scipy_s = seconds(exact_ends, values, ROUNDS), seconds(scipy_ends, values, 1)
    apart, ratio = disagreements(values), scipy_s / exact_s
    print(f"exact law, {CELLS} cells x {REPETITIONS}: {exact_s * 1e3:.1f} ms")
    print(f"scipy.stats.bootstrap, {RESAMPLES} resamples: {scipy_s * 1e3:.0f} ms")
    print(f"ratio {ratio:.0f} (budget: at least {LEAST_RATIO})")
    print(f"ends beyond {STANDARD_ERRORS} Monte Carlo standard errors: {apart} of {2 * CELLS}")
    return 0 if ratio >= LEAST_RATIO and not apart else 1


if __name__ == "__main__":
    sys.exit(main())
