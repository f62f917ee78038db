"""How surprising, and how surprising among many: sign tests against a margin, Holm's step-down rule (rule 6)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from math import comb

import numpy as np

from reportgen.analysis.decision import Decision

ERROR_RATE = 0.05


@cache
def _at_most(n: int, count: int) -> float:
    """P(B <= count) for B ~ Binomial(n, 1/2), from exact integers."""
    return float(Fraction(sum(comb(n, k) for k in range(count + 1)), 2**n))


def sign_p(decision: Decision, margin: float) -> float:
    """Two-sided sign-test p that the median of h lies beyond 1 -+ ``margin``; values on the margin count as within.

    Where devices disagree, each side is the largest over devices: all of them must say so. 1 without any value.
    Source: W. J. Conover, *Practical Nonparametric Statistics* (3rd ed., Wiley 1999), section 3.4.
    """
    present = [values[~np.isnan(values)] for values in decision.h]
    samples = [values for values in present if len(values)] if decision.disagree else [np.concatenate(present)]
    slower = max(_at_most(len(h), int(np.count_nonzero(h <= 1 + margin))) for h in samples)
    faster = max(_at_most(len(h), int(np.count_nonzero(h >= 1 - margin))) for h in samples)
    return min(1.0, 2 * min(slower, faster))


def holm(p_values: Sequence[float]) -> list[tuple[float, int]]:
    """Adjust p and rank (1 = smallest p, ties in the order given) by the step-down rule of S. Holm (1979).

    "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6, 65-70.
    """
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    adjusted, least = [(0.0, 0)] * len(p_values), 0.0
    for step, at in enumerate(order):
        least = max(least, min(1.0, p_values[at] * (len(p_values) - step)))
        adjusted[at] = (least, step + 1)
    return adjusted


def resolvable(n: int, family_size: int) -> bool:
    """Whether n repetitions could show anything after Holm: their smallest p, 2^(1-n), is at most 0.05 / M."""
    return 2.0 ** (1 - n) <= ERROR_RATE / family_size
