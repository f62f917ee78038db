"""A share of what was counted, with its exact interval; and where most of a sample lies."""

from __future__ import annotations

import math

import numpy as np

from reportgen.analysis.median import FloatArray

_EACH_SIDE = 0.025
_MOST = (19, 20)


def clopper_pearson(count: int, total: int) -> tuple[float, float]:
    """Exact 95 % interval of a binomial share: the shares under which neither tail of ``count`` is below 2.5 %.

    The ends are quantiles of beta laws. Source: C. J. Clopper, E. S. Pearson, "The use of confidence or fiducial limits
    illustrated in the case of the binomial", Biometrika 26 (1934) 404-413.
    """
    # Loading it takes a tenth of what a build does when one attempt was touched.
    from scipy.special import betaincinv  # noqa: PLC0415

    low = float(betaincinv(count, total - count + 1, _EACH_SIDE)) if count else 0.0
    high = float(betaincinv(count + 1, total - count, 1 - _EACH_SIDE)) if count < total else 1.0
    return low, high


def reach_of_most(distances: FloatArray) -> float:
    """Smallest of the ``distances`` (at least one) that at least 95 % of them do not exceed, as for the cell floor."""
    share, whole = _MOST
    return float(np.sort(distances)[-(-share * len(distances) // whole) - 1])


def variance_components(values: FloatArray) -> tuple[float, float]:
    """Split the spread of values whose law is centred on 0 (rows x values, NaN where missing) into between and within rows.

    Both are standard deviations. Within: the rows' squared deviations from their own means over their degrees of freedom. Between: mean square of the
    row means, less what the spread within puts into them; 0 where that is negative. Every row has two values or more.
    Source: the analysis-of-variance estimator of S. R. Searle, G. Casella, C. E. McCulloch, *Variance Components* (Wiley
    1992), chapter 3, with the known mean in place of the grand mean.
    """
    count = np.count_nonzero(~np.isnan(values), axis=1)
    means = np.nansum(values, axis=1) / count
    within = float(np.nansum((values - means[:, None]) ** 2) / np.sum(count - 1))
    between = float(np.mean(means**2) - within * np.mean(1 / count))
    return math.sqrt(max(0.0, between)), math.sqrt(within)
