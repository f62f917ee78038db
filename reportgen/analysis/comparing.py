"""One comparison in one slice: what was measured, before the slice's noise floor is known, and what follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reportgen.analysis.bootstrap import headline_bootstrap
from reportgen.analysis.decision import Decision, DevicePairs, decision, lag_one_correlation
from reportgen.analysis.median import FloatArray, Samples, order_coverage, order_rank
from reportgen.analysis.multiplicity import sign_p
from reportgen.analysis.verdict import Judgement, invalidity, judge
from reportgen.analysis.views import PairedTimes, SliceView, arms_by_name
from reportgen.model.experiment import Comparison
from reportgen.model.result import (
    CellResult,
    ComparisonResult,
    DeviceResult,
    Interval,
    OrderInterval,
    Reason,
    Verdict,
)


@dataclass(frozen=True, eq=False)
class Measured:
    """Pairs of one comparison in one slice with their decision interval (None where a check failed or a cell is empty)."""

    view: SliceView
    comparison: Comparison
    fixtures: tuple[str, ...]
    paired: tuple[PairedTimes, ...]
    pairs: tuple[DevicePairs, ...]
    decision: Decision | None

    @property
    def failed(self) -> bool:
        """Whether either arm failed a check: then there is no ratio anywhere."""
        return bool(self.view.failed & {self.comparison.candidate, self.comparison.baseline})

    def invalid_reason(self, noise_floor: float | None) -> Reason | None:
        """Why the comparison is invalid, if it is."""
        return invalidity(
            baseline_failed=self.comparison.baseline in self.view.failed,
            arm_failed=self.comparison.candidate in self.view.failed,
            cell_without_data=self.decision is None,
            noise_floor=noise_floor,
        )

    def cell_ratios(self) -> FloatArray:
        """m[c] of all cells, device by device."""
        return np.concatenate([device.samples.median() for device in self.pairs])

    def cell_intervals(self) -> list[Interval]:
        """Order-statistic interval of every cell, device by device."""
        ends = [device.samples.order_ends() for device in self.pairs]
        return [
            Interval(low, high) for lows, highs in ends for low, high in zip(lows.tolist(), highs.tolist(), strict=True)
        ]


def measure(view: SliceView, comparison: Comparison) -> Measured:
    """Pair the arms of a comparison in a slice and, where all cells have data, find the decision interval."""
    fixtures = view.shared_fixtures(comparison.candidate, comparison.baseline, comparison.where)
    paired = tuple(view.paired(comparison.candidate, comparison.baseline, fixtures))
    pairs = tuple(times.ratios() for times in paired)
    complete = bool(fixtures) and all((device.samples.count > 0).all() for device in pairs)
    failed = view.failed & {comparison.candidate, comparison.baseline}
    found = decision(pairs) if complete and not failed else None
    return Measured(view, comparison, fixtures, paired, pairs, found)


def comparison_result(measured: Measured, noise_floor: float | None, valid_nulls: int) -> ComparisonResult:
    """Judge a comparison against the slice's noise floor; Holm's figures are left to ``holm_families``."""
    verdict, reason = _judgement(measured, noise_floor)
    arms = arms_by_name(measured.view.plan)
    comparison = measured.comparison
    return ComparisonResult(
        arm=comparison.candidate,
        role=arms[comparison.candidate].role.value,
        baseline=comparison.baseline,
        baseline_role=arms[comparison.baseline].role.value,
        slice=measured.view.name,
        fixtures=list(measured.fixtures),
        verdict=verdict,
        reason=reason,
        where=comparison.where,
        valid_nulls=valid_nulls,
        outrun_bound=1 / (valid_nulls + 1),
        cells=[] if measured.failed else _cells(measured),
        **_figures(measured, noise_floor),
    )


def _judgement(measured: Measured, noise_floor: float | None) -> Judgement:
    reason = measured.invalid_reason(noise_floor)
    if reason is not None or measured.decision is None or noise_floor is None:
        return Verdict.INVALID, reason or Reason.CELL_WITHOUT_DATA
    smallest_effect = measured.view.plan.experiment.smallest_effect
    return judge(measured.decision, measured.cell_intervals(), smallest_effect=smallest_effect, noise_floor=noise_floor)


def _figures(measured: Measured, noise_floor: float | None) -> dict[str, Any]:
    """Fields of the result that exist wherever there is data, and those that need the noise floor."""
    found = measured.decision
    if found is None:
        return {}
    values = [device.values for device in measured.pairs]
    figures: dict[str, Any] = {
        "headline": found.headline,
        "n": found.pooled.n,
        "coverage": found.pooled.coverage,
        "device_p": found.device_p,
        "devices_agree": found.agree,
        "bootstrap": headline_bootstrap(values, measured.view.plan.digest),
        "devices": _devices(measured.pairs, found),
    }
    if not found.pooled.n:
        return figures
    return figures | _interval_figures(found) | _margin_figures(measured, found, noise_floor)


def _interval_figures(found: Decision) -> dict[str, Any]:
    return {
        "estimate": found.estimate,
        "low": found.low,
        "high": found.high,
        "rank": found.pooled.rank,
        "order_interval": Interval(found.pooled.low, found.pooled.high),
        "stretched": found.stretched,
        "p_against_1": sign_p(found, 0.0),
    }


def _margin_figures(measured: Measured, found: Decision, noise_floor: float | None) -> dict[str, Any]:
    if noise_floor is None:
        return {}
    margin = max(measured.view.plan.experiment.smallest_effect, noise_floor)
    return {
        "margin": margin,
        "p_against_margin": sign_p(found, margin),
        "smallest_effect_shown": margin + (found.high - found.low) if found.enough else None,
    }


def _devices(pairs: Sequence[DevicePairs], found: Decision) -> list[DeviceResult]:
    return [
        DeviceResult(
            device=device.device,
            repetitions=list(device.repetitions),
            h=_with_gaps(h.tolist()),
            interval=interval,
            lag1=lag_one_correlation(h),
        )
        for device, h, interval in zip(pairs, found.h, found.device_intervals, strict=True)
    ]


def _cells(measured: Measured) -> list[CellResult]:
    """Cells that have data; which have none shows beside ``fixtures``."""
    return [
        cell
        for paired, pairs in zip(measured.paired, measured.pairs, strict=True)
        for cell in _device_cells(paired, pairs)
    ]


def _device_cells(paired: PairedTimes, pairs: DevicePairs) -> list[CellResult]:
    """Cells of one device; columns become lists first, since a list is walked faster than an array."""
    samples = pairs.samples
    if not len(samples.count):
        return []
    columns = (
        samples.median(),
        *samples.order_ends(),
        *samples.bootstrap_ends(),
        Samples.of(paired.arm_ns).median(),
        Samples.of(paired.baseline_ns).median(),
    )
    return [
        CellResult(
            device=paired.device,
            fixture=fixture,
            ratio=ratio,
            interval=OrderInterval(low=low, high=high, rank=order_rank(n), n=n, coverage=order_coverage(n)),
            bootstrap=Interval(boot_low, boot_high),
            pair_ratio=_with_gaps(row) if n < len(row) else row,
            candidate_ns=arm_ns,
            baseline_ns=baseline_ns,
        )
        for fixture, n, row, ratio, low, high, boot_low, boot_high, arm_ns, baseline_ns in zip(
            paired.fixtures,
            samples.count.tolist(),
            pairs.values.tolist(),
            *(column.tolist() for column in columns),
            strict=True,
        )
        if n
    ]


def _with_gaps(values: Sequence[float]) -> list[float | None]:
    return [None if value != value else value for value in values]  # noqa: PLR0124 - NaN alone differs from itself
