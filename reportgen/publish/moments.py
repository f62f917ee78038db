"""An attempt in the order of time: how far each block's batches were from what they usually take, beside clock and temperature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from reportgen.model.protocol import Mode
from reportgen.publish.view import Moment
from reportgen.units import NS_PER_S

MOST = 240  # blocks drawn one by one; of longer attempts a mark stands for a repetition
MAIN = "main"
QUARTERS = (0.25, 0.5, 0.75)
DIGITS = 7  # of a relative time: a tenth of a millionth

T = TypeVar("T")
Floats = npt.NDArray[np.float64]


def moments(batches: pd.DataFrame) -> list[Moment]:
    """Take the blocks of mode process, or the repetitions where there are too many blocks, in the order of time.

    ``batches`` are scored rows. What a batch usually takes is the median time per launch of its arm on its fixture, over the repetitions that
    count.
    """
    own = batches[(batches["mode"] == Mode.PROCESS.value) & (batches["group"] == MAIN)]
    if not len(own):
        return []
    per_launch = (own["elapsed_ns"] / own["launches"]).to_numpy(dtype=float)
    counted = (own["tag"] == "").to_numpy(dtype=bool)
    cells = own.groupby(["fixture", "arm"], sort=False, observed=True).ngroup().to_numpy()
    relative = per_launch / _usual(cells, np.where(counted, per_launch, np.nan))[cells] - 1
    blocks = own.groupby(["repetition", "block"], sort=False).ngroup().to_numpy()
    groups = blocks if blocks.max() < MOST else own.groupby(["repetition"], sort=False).ngroup().to_numpy()
    started = own["started_ns"].to_numpy(dtype=float) / NS_PER_S
    readings = [
        own[[f"{name}_before", f"{name}_after"]].to_numpy(dtype=float) for name in ("clock_mhz", "temperature_c")
    ]
    found = []
    for places in _split(groups):
        low, middle, high = (_rounded(value) for value in _quantiles(relative[places], QUARTERS, None))
        (clock,), (temperature,) = (_quantiles(read[places].ravel(), (0.5,), None) for read in readings)
        found.append(
            Moment(
                at_s=round(float(started[places].mean()), 1),
                repetition=int(own["repetition"].iloc[places[0]]),
                off=middle,
                low=low,
                high=high,
                clock_mhz=clock,
                temperature_c=temperature,
                counts=bool(counted[places].all()),
            )
        )
    return sorted(found, key=lambda one: (one.at_s, one.repetition))


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)


def _split(groups: npt.NDArray[np.integer[Any]]) -> list[npt.NDArray[np.intp]]:
    """Places of the rows of each group, the groups in order."""
    order = np.argsort(groups, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)


def _usual(cells: npt.NDArray[np.integer[Any]], per_launch: Floats) -> Floats:
    """Median of each cell; NaN where nothing counts."""
    found = np.full(int(cells.max()) + 1, np.nan)
    for places in _split(cells):
        (found[cells[places[0]]],) = _quantiles(per_launch[places], (0.5,), np.nan)
    return found


def _quantiles(values: Floats, shares: Sequence[float], otherwise: T) -> list[float | T]:
    """Give quantiles of the values that are there, between two of them by their distance; NumPy asks more time of so few."""
    known = sorted(value for value in values.tolist() if value == value)  # noqa: PLR0124 - NaN differs from itself
    if not known:
        return [otherwise] * len(shares)
    found: list[float | T] = []
    for share in shares:
        place = share * (len(known) - 1)
        below = int(place)
        above = min(below + 1, len(known) - 1)
        found.append(known[below] + (place - below) * (known[above] - known[below]))
    return found
