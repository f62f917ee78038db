"""How wrong one mode is about identical code: summary over all null comparisons, mean error by kernel, and the bar."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from reportgen.analysis.blocks import Blocks, ModeView
from reportgen.analysis.median import FloatArray, median, order_coverage
from reportgen.analysis.shares import clopper_pearson, reach_of_most, variance_components
from reportgen.model.experiment import Role
from reportgen.model.null_study import BarPart, KernelBias, ModeSummary
from reportgen.model.plan import Plan

# The bar of docs/statistics.md, section "An A/A study", fixed before the first study was measured.
FEWEST_COMPARISONS = 400
MOST_ALARMS = Fraction(25, 400)
MOST_ERROR = 0.001
MOST_STANDARD_ERRORS = 3
MOST_NULLS = 2
_FEWEST_UNITS = 2


def mode_summary(mode: str, found: Blocks, kernels: Sequence[KernelBias]) -> ModeSummary:
    """Sum up the null comparisons of a mode; ``kernels`` are those of all modes."""
    own = [one for one in kernels if one.mode == mode]
    alarms, bootstrap_alarms = (int(np.count_nonzero(alarm)) for alarm in _alarms(found))
    return ModeSummary(
        mode=mode,
        comparisons=len(found.asked),
        alarms=alarms,
        bootstrap_alarms=bootstrap_alarms,
        kernels=len(own),
        kernels_beyond=sum(one.beyond is True for one in own),
        **(_figures(found, alarms, bootstrap_alarms) if found.asked else dict.fromkeys(_FIGURES)),
    )


_FIGURES = (
    "alarm_share", "share_low", "share_high", "nominal_share", "bootstrap_share", "error_median", "error_p95",
    "error_widest", "offset_rms", "width_median", "between_sd", "within_sd",
)  # fmt: skip


def _alarms(found: Blocks) -> tuple[np.ndarray, np.ndarray]:
    """Where the decision interval excludes 1, and where the bootstrap's does."""
    decided = (found.low > 1) | (found.high < 1)
    return decided, (found.bootstrap_low > 1) | (found.bootstrap_high < 1)


def _figures(found: Blocks, alarms: int, bootstrap_alarms: int) -> dict[str, float | None]:
    total, error = len(found.asked), np.abs(found.estimate - 1)
    low, high = clopper_pearson(alarms, total)
    between, within = variance_components(np.log(found.h))
    nominal = math.fsum(1 - order_coverage(n) for n in found.count.tolist()) / total
    figures = (
        alarms / total, low, high, nominal, bootstrap_alarms / total, median(error), reach_of_most(error),
        float(error.max()), float(np.sqrt(np.mean(error**2))), median(found.high - found.low), between, within,
    )  # fmt: skip
    return dict(zip(_FIGURES, figures, strict=True))


def kernel_biases(seen: ModeView, found: Blocks) -> list[KernelBias]:
    """Mean error of every kernel that has a null comparison in this mode."""
    decided, _ = _alarms(found)
    rows: dict[str, list[int]] = defaultdict(list)
    for at, asked in enumerate(found.asked):
        rows[asked.slice].append(at)
    return [
        _kernel_bias(seen, name, found, at, int(np.count_nonzero(decided[at])))
        for name, at in ((view.name, rows[view.name]) for view in seen.views)
        if at
    ]


def _kernel_bias(seen: ModeView, name: str, found: Blocks, at: list[int], alarms: int) -> KernelBias:
    units = _unit_means(found, at)
    mean = math.fsum(units) / len(units)
    error = _standard_error(units, mean)
    return KernelBias(
        mode=seen.mode,
        slice=name,
        time_ns=_time_ns(seen, name, {found.asked[row].baseline for row in at}),
        comparisons=len(at),
        alarms=alarms,
        units=len(units),
        mean_error=mean,
        standard_error=error,
        quotient=mean / error if error else None,
        beyond=None if error is None else abs(mean) > MOST_STANDARD_ERRORS * error,
    )


def _unit_means(found: Blocks, at: list[int]) -> list[float]:
    """Mean error of the nulls that share an arm and a block, and so the very batches of that arm."""
    errors: dict[tuple[str, str, int], list[float]] = defaultdict(list)
    for row in at:
        asked = found.asked[row]
        errors[asked.device, asked.baseline, asked.block].append(float(found.estimate[row]) - 1)
    return [math.fsum(of_unit) / len(of_unit) for of_unit in errors.values()]


def _standard_error(units: Sequence[float], mean: float) -> float | None:
    if len(units) < _FEWEST_UNITS:
        return None
    spread = math.fsum((value - mean) ** 2 for value in units)
    return math.sqrt(spread / (len(units) - 1) / len(units))


def _time_ns(seen: ModeView, name: str, arms: set[str]) -> float:
    """Median time per launch over devices, fixtures, arms and repetitions of a slice."""
    view = next(view for view in seen.views if view.name == name)
    times: list[FloatArray] = [
        cube.times([one for one in view.fixtures if arm in seen.plan.arms_by_fixture[one]], arm).ravel()
        for cube in view.cubes["main"]
        for arm in sorted(arms)
    ]
    known = np.concatenate(times)
    return median(known[~np.isnan(known)])


def bar_of(plan: Plan, process: ModeSummary, kernels: Sequence[KernelBias]) -> list[BarPart]:
    """Hold mode ``process`` against the bar, part by part."""
    allowed = int(process.comparisons * MOST_ALARMS)
    error, nulls = process.error_p95, _most_nulls(plan)
    unknown = sum(one.beyond is not False for one in kernels)
    return [
        BarPart(
            name="comparisons",
            limit=float(FEWEST_COMPARISONS),
            found=float(process.comparisons),
            passes=process.comparisons >= FEWEST_COMPARISONS,
        ),
        BarPart(name="nulls_a_baseline", limit=float(MOST_NULLS), found=float(nulls), passes=nulls <= MOST_NULLS),
        BarPart(
            name="false_alarms",
            limit=float(allowed),
            found=float(process.alarms),
            passes=process.comparisons > 0 and process.alarms <= allowed,
        ),
        BarPart(name="error_p95", limit=MOST_ERROR, found=error, passes=error is not None and error <= MOST_ERROR),
        BarPart(name="kernels_beyond", limit=0.0, found=float(unknown), passes=bool(kernels) and not unknown),
    ]


def _most_nulls(plan: Plan) -> int:
    """Most nulls that any arm has on one fixture."""
    of = {arm.name: arm.of for arm in plan.experiment.arms if arm.role is Role.NULL}
    counted = (Counter(of[name] for name in names if name in of) for names in plan.arms_by_fixture.values())
    return max((max(one.values(), default=0) for one in counted), default=0)
