"""Whether planted work is found: arms with a known share of additional work against the arms that lack it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from itertools import product

import numpy as np

from reportgen.analysis.blocks import ModeView, blocks_of, placed
from reportgen.analysis.median import FloatArray, median
from reportgen.analysis.views import SliceView
from reportgen.model.experiment import Role
from reportgen.model.null_study import PlantedComparison, PowerSummary

ALL_OF_IT = 1.0  # an arm that does all its work twice: how much of its time the work is


def planted_comparisons(seen: ModeView) -> list[PlantedComparison]:
    """Every planted arm against every incumbent that shares a fixture with it, block by block.

    Comparisons of one planted arm share its batches, so they are no independent trials.
    """
    planted = {arm.name: arm.planted for arm in seen.plan.experiment.arms if arm.planted is not None}
    partly = [name for name, share in planted.items() if share < ALL_OF_IT]
    twice = [name for name in planted if name not in partly]
    incumbents = [arm.name for arm in seen.plan.experiment.arms if arm.role is Role.INCUMBENT]
    asked = [(arm, incumbent) for arm in partly for incumbent in incumbents]
    found = blocks_of(seen, [(view, asked) for view in seen.views])
    again = list(product(twice, incumbents))
    doubled = {(view.name, of): r for view in seen.views for of, r in _doubled(seen, view, again).items()}
    columns = (found.count, found.estimate, found.low, found.high)
    return [
        PlantedComparison(
            mode=seen.mode,
            device=one.device,
            slice=one.slice,
            arm=one.arm,
            baseline=one.baseline,
            planted=planted[one.arm],
            block=one.block,
            n=n,
            expected=_expected(planted[one.arm], doubled.get((one.slice, one.baseline))),
            estimate=estimate,
            low=low,
            high=high,
            found=low > 1,
        )
        for one, n, estimate, low, high in zip(found.asked, *(column.tolist() for column in columns), strict=True)
    ]


def _doubled(seen: ModeView, view: SliceView, pairs: Sequence[tuple[str, str]]) -> dict[str, float]:
    """Time ratio of all the work again, by baseline: median over the process values of all devices and the whole mode."""
    h: dict[str, list[FloatArray]] = defaultdict(list)
    for part in placed(seen, view, pairs):
        for (_, baseline), values in zip(part.pairs, part.process_values(), strict=True):
            h[baseline].append(values[~np.isnan(values)])
    pooled = {baseline: np.concatenate(values) for baseline, values in h.items()}
    return {baseline: median(values) for baseline, values in pooled.items() if len(values)}


def _expected(planted: float, doubled: float | None) -> float | None:
    return None if doubled is None else 1 + planted * (doubled - 1)


def power_summaries(planted: Sequence[PlantedComparison]) -> list[PowerSummary]:
    """Sum up by mode and planted share: over all kernels (``slice`` None), then kernel by kernel."""
    groups: dict[tuple[str, float, str | None], list[PlantedComparison]] = defaultdict(list)
    for one in planted:
        groups[one.mode, one.planted, None].append(one)
    for one in planted:
        groups[one.mode, one.planted, one.slice].append(one)
    return [_summary(*key, found) for key, found in groups.items()]


def _summary(mode: str, planted: float, name: str | None, found: Sequence[PlantedComparison]) -> PowerSummary:
    expected = [one.expected for one in found if one.expected is not None]
    estimate = math.fsum(one.estimate for one in found) / len(found)
    mean = math.fsum(expected) / len(expected) if len(expected) == len(found) else None
    return PowerSummary(
        mode=mode,
        planted=planted,
        slice=name,
        comparisons=len(found),
        found=sum(one.found for one in found),
        found_share=sum(one.found for one in found) / len(found),
        expected=mean,
        estimate=estimate,
        error=None if mean is None else estimate - mean,
    )
