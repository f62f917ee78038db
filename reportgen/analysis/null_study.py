"""An A/A study: false alarms, bias and power of each way of measuring, on code whose true ratio is known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reportgen.analysis.bias import bar_of, kernel_biases, mode_summary
from reportgen.analysis.blocks import Blocks, blocks_of, mode_view
from reportgen.analysis.harness_study import (
    harness_figures,
    harness_kernels,
    harness_ratios,
    harness_summaries,
)
from reportgen.analysis.pairing import DeviceRows
from reportgen.analysis.power import planted_comparisons, power_summaries
from reportgen.model.null_study import BarPart, KernelBias, ModeSummary, NullComparison, NullSeries, NullStudy
from reportgen.model.plan import Plan
from reportgen.model.protocol import Mode


def null_study(plan: Plan, rows: Sequence[DeviceRows]) -> NullStudy | None:
    """Compute an A/A study from the rows of all modes and harnesses; None where the plan has one mode and no harness.

    Raises
    ------
    RecordError
        Rows of a mode or harness that are no record of this plan.
    """
    experiment = plan.experiment
    modes = [mode.value for mode in experiment.protocol.modes]
    if len(modes) == 1 and not experiment.harnesses:
        return None
    seen = {mode: mode_view(plan, rows, mode) for mode in modes}
    asked = _nulls(plan)
    nulls = {mode: blocks_of(of, [(view, asked) for view in of.views]) for mode, of in seen.items()}
    kernels = [line for mode in modes for line in kernel_biases(seen[mode], nulls[mode])]
    summaries = [mode_summary(mode, nulls[mode], kernels) for mode in modes]
    planted = [line for mode in modes for line in planted_comparisons(seen[mode])]
    figures = harness_figures(plan, rows)
    ratios = harness_ratios(plan, figures)
    return NullStudy(
        block_repetitions=experiment.protocol.block_repetitions,
        modes=summaries,
        kernels=kernels,
        bar=_bar(plan, summaries, kernels),
        layout_covers=_layout_covers(summaries),
        power=power_summaries(planted),
        harnesses=harness_summaries(plan, ratios),
        harness_kernels=harness_kernels(figures, ratios, seen[Mode.PROCESS.value].views),
        shown=_shown(nulls),
        nulls=[line for mode in modes for line in _comparisons(mode, nulls[mode])],
        planted=planted,
        harness_ratios=ratios,
    )


def _nulls(plan: Plan) -> list[tuple[str, str]]:
    """Every null with the arm it repeats."""
    return [(arm.name, arm.of) for arm in plan.experiment.arms if arm.of is not None]


def _comparisons(mode: str, found: Blocks) -> list[NullComparison]:
    columns = (found.count, found.estimate, found.low, found.high, found.bootstrap_low, found.bootstrap_high)
    return [
        NullComparison(
            mode=mode,
            device=asked.device,
            slice=asked.slice,
            null=asked.arm,
            of=asked.baseline,
            block=asked.block,
            n=n,
            estimate=estimate,
            low=low,
            high=high,
            alarm=low > 1 or high < 1,
            bootstrap_low=bootstrap_low,
            bootstrap_high=bootstrap_high,
            bootstrap_alarm=bootstrap_low > 1 or bootstrap_high < 1,
        )
        for asked, n, estimate, low, high, bootstrap_low, bootstrap_high in zip(
            found.asked, *(column.tolist() for column in columns), strict=True
        )
    ]


def _bar(plan: Plan, summaries: Sequence[ModeSummary], kernels: Sequence[KernelBias]) -> list[BarPart]:
    process = next(one for one in summaries if one.mode == Mode.PROCESS)
    return bar_of(plan, process, [one for one in kernels if one.mode == Mode.PROCESS])


def _layout_covers(summaries: Sequence[ModeSummary]) -> float | None:
    """1 - (variance that blocks have in common in mode layout) / (the same in mode placement)."""
    between = {one.mode: one.between_sd for one in summaries}
    layout, placement = between.get(Mode.LAYOUT), between.get(Mode.PLACEMENT)
    return None if layout is None or not placement else 1 - (layout / placement) ** 2


def _shown(nulls: dict[str, Blocks]) -> list[NullSeries]:
    """Process values of the surest error in one placement, and of the same comparison in every other mode.

    That is the comparison whose interval lies farthest from 1; of several that hold it, the one whose estimate does.
    """
    worst = nulls.get(Mode.PLACEMENT)
    if worst is None or not worst.asked:
        return []
    clear = np.maximum(np.maximum(worst.low - 1, 1 - worst.high), 0)
    asked = worst.asked[int(np.lexsort((np.abs(worst.estimate - 1), clear))[-1])]
    modes = [Mode.PLACEMENT.value, *(mode for mode in nulls if mode != Mode.PLACEMENT)]
    return [
        NullSeries(
            mode=mode,
            device=asked.device,
            slice=asked.slice,
            null=asked.arm,
            of=asked.baseline,
            block=asked.block,
            h=[None if value != value else value for value in nulls[mode].h[at].tolist()],  # noqa: PLR0124 - NaN
        )
        for mode in modes
        for at, other in enumerate(nulls[mode].asked)
        if other == asked
    ]
