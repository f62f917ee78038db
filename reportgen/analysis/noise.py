"""How far arms without a difference stray: the noise floor of a slice and of its cells (rule 7)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reportgen.analysis.comparing import Measured
from reportgen.model.result import NoiseResult

_CELL_SHARE = (19, 20)


def is_valid(null: Measured) -> bool:
    """Whether a null has a decision interval: checks passed, every cell has data, at least one process value."""
    return null.decision is not None and null.decision.pooled.n > 0


def noise_floor(nulls: Sequence[Measured]) -> float | None:
    """f: farthest end from 1 of the decision intervals of all valid nulls; None where none is valid."""
    valid = [null.decision for null in nulls if null.decision is not None and null.decision.pooled.n]
    return max((max(abs(found.low - 1), abs(found.high - 1)) for found in valid), default=None)


def cell_floor(nulls: Sequence[Measured]) -> float | None:
    """Smallest value that at least 95 % of abs(m[c] - 1) over the cells of all valid nulls do not exceed."""
    valid = [null.cell_ratios() for null in nulls if is_valid(null)]
    if not valid:
        return None
    distances = np.sort(np.abs(np.concatenate(valid) - 1))
    share, whole = _CELL_SHARE
    return float(distances[-(-share * len(distances) // whole) - 1])


def noise_results(slice_name: str, nulls: Sequence[Measured]) -> list[NoiseResult]:
    """One line a null of the slice."""
    floor, of_cells = noise_floor(nulls), cell_floor(nulls)
    results = []
    for null in nulls:
        found = null.decision if is_valid(null) else None
        results.append(
            NoiseResult(
                slice=slice_name,
                null=null.comparison.candidate,
                of=null.comparison.baseline,
                valid=found is not None,
                low=None if found is None else found.low,
                high=None if found is None else found.high,
                floor=floor,
                cell_floor=of_cells,
            )
        )
    return results
