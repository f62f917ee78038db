"""Work of no arm that wakes a GPU's clock, and the clock measured by it: cycles over nanoseconds, both counted by one multiprocessor."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from reportgen.measure.backends.steadiness import WINDOW, is_steady
from reportgen.units import NS_PER_MS, NS_PER_S, NS_PER_US

PIECE_NS = 4 * NS_PER_MS
FIRST_ROUNDS = 10_000
LEAST_ROUNDS = 1000


def wake(spin: Callable[[int], tuple[int, int]], most_s: float) -> dict[str, Any]:
    """Run pieces of about 4 ms until the clock is steady, at most ``most_s`` seconds.

    Parameters
    ----------
    spin:
        Runs so many rounds; returns cycles and nanoseconds that one multiprocessor counted meanwhile.

    Returns
    -------
    dict
        ``stable``, the number of ``pieces``, and the clock in the last of them, ``measured_mhz``.
    """
    rounds, clocks = FIRST_ROUNDS, list[float]()
    deadline_ns = time.monotonic_ns() + int(most_s * NS_PER_S)
    stable = False
    while not stable and time.monotonic_ns() < deadline_ns:
        cycles, took_ns = spin(rounds)
        clocks.append(cycles / max(took_ns, 1) * NS_PER_US)
        rounds = max(LEAST_ROUNDS, int(rounds * PIECE_NS / max(took_ns, 1)))
        stable = is_steady(clocks)
    return {"stable": stable, "pieces": len(clocks), "measured_mhz": [round(clock, 1) for clock in clocks[-WINDOW:]]}
