"""When a clock counts as steady: the one rule of every backend that waits for it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

WINDOW = 8
SHARE = 0.003


def is_steady(rates: Sequence[float]) -> bool:
    """Whether the median of the last eight rates is within 0.3 % of that of the eight before them."""
    if len(rates) < 2 * WINDOW:
        return False
    late, early = statistics.median(rates[-WINDOW:]), statistics.median(rates[-2 * WINDOW : -WINDOW])
    return early > 0 and math.isclose(late, early, rel_tol=SHARE)
