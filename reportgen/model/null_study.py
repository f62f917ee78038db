"""What an A/A study finds: how often, how far and how surely each way of measuring is wrong about identical code.

An *error* is an estimate of a time ratio whose truth is 1, less 1; a *kernel* is a slice. docs/statistics.md, section
"An A/A study", gives every formula with its source.
"""

from __future__ import annotations

import msgspec


class NullComparison(msgspec.Struct, frozen=True, kw_only=True):
    """A null against the arm it repeats over one block of repetitions in one mode.

    ``estimate``: median of the process values; ``low``, ``high``: decision interval; ``alarm``: it excludes 1.
    ``bootstrap_*``: the same of the percentile interval of the exact bootstrap law of the median.
    """

    mode: str
    device: str
    slice: str
    null: str
    of: str
    block: int
    n: int
    estimate: float
    low: float
    high: float
    alarm: bool
    bootstrap_low: float
    bootstrap_high: float
    bootstrap_alarm: bool


class NullSeries(msgspec.Struct, frozen=True, kw_only=True):
    """Process values of one null comparison in the order of time, null where missing."""

    mode: str
    device: str
    slice: str
    null: str
    of: str
    block: int
    h: list[float | None]


class ModeSummary(msgspec.Struct, frozen=True, kw_only=True):
    """All null comparisons of one mode; figures are null where there is none.

    Shares are of the comparisons; ``share_low``, ``share_high`` the exact 95 % interval of ``alarm_share`` if they were
    independent. ``error_*`` and ``offset_rms`` are of abs(estimate - 1); ``width_median`` of high - low. ``between_sd`` and
    ``within_sd`` split the log ratio into what a block of repetitions has in common and what varies within it.
    """

    mode: str
    comparisons: int
    alarms: int
    bootstrap_alarms: int
    alarm_share: float | None
    share_low: float | None
    share_high: float | None
    nominal_share: float | None
    bootstrap_share: float | None
    error_median: float | None
    error_p95: float | None
    error_widest: float | None
    offset_rms: float | None
    width_median: float | None
    between_sd: float | None
    within_sd: float | None
    kernels: int
    kernels_beyond: int


class KernelBias(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel in one mode: mean error over independent ``units``, its standard error, and their quotient.

    A unit is all nulls of one arm in one block. ``beyond``: the mean lies more than three standard errors from 0.
    ``time_ns`` is the median time per launch of the arms that are repeated, in this mode.
    """

    mode: str
    slice: str
    time_ns: float
    comparisons: int
    alarms: int
    units: int
    mean_error: float
    standard_error: float | None
    quotient: float | None
    beyond: bool | None


class BarPart(msgspec.Struct, frozen=True, kw_only=True):
    """One part of what an A/A study was asked to show, of mode ``process``: ``found`` is at most (or least) ``limit``."""

    name: str
    limit: float
    found: float | None
    passes: bool


class PlantedComparison(msgspec.Struct, frozen=True, kw_only=True):
    """An arm with work planted in it against an incumbent, over one block in one mode.

    ``expected`` = 1 + planted (r - 1), r being the ratio of the arm that does all its work twice; null without such an arm.
    ``found``: the whole decision interval says more time.
    """

    mode: str
    device: str
    slice: str
    arm: str
    baseline: str
    planted: float
    block: int
    n: int
    expected: float | None
    estimate: float
    low: float
    high: float
    found: bool


class PowerSummary(msgspec.Struct, frozen=True, kw_only=True):
    """All comparisons of one planted share in one mode, of one kernel or (``slice`` null) of all of them.

    ``expected``, ``estimate`` and ``error`` (estimate - expected) are means over the comparisons.
    """

    mode: str
    planted: float
    slice: str | None
    comparisons: int
    found: int
    found_share: float
    expected: float | None
    estimate: float
    error: float | None


class HarnessRatio(msgspec.Struct, frozen=True, kw_only=True):
    """What another harness read for a null over what it read for the arm it repeats, in one of its processes."""

    harness: str
    device: str
    fixture: str
    null: str
    of: str
    repetition: int
    ratio: float


class HarnessKernel(msgspec.Struct, frozen=True, kw_only=True):
    """One harness on one kernel: ``time_ns`` is the median of its figures.

    ``reads`` is the median of figure / median time of the same arm and fixture in mode ``process``. Null without a ratio,
    or without such a time.
    """

    harness: str
    slice: str
    figures: int
    ratios: int
    time_ns: float
    reads: float | None
    mean_error: float | None
    error_widest: float | None


class HarnessSummary(msgspec.Struct, frozen=True, kw_only=True):
    """All null ratios of one harness: ``error_*`` are of abs(ratio - 1)."""

    harness: str
    ratios: int
    error_median: float | None
    error_p95: float | None
    error_widest: float | None


class NullStudy(msgspec.Struct, frozen=True, kw_only=True):
    """Everything an A/A study computes from one record.

    ``layout_covers``: share of the variance that blocks of mode ``placement`` have in common which goes once the layout is
    drawn anew within the process. ``shown``: the series of the placement comparison farthest from 1, and of the same null
    and block in the other modes.
    """

    block_repetitions: int
    modes: list[ModeSummary]
    kernels: list[KernelBias]
    bar: list[BarPart]
    layout_covers: float | None
    power: list[PowerSummary]
    harnesses: list[HarnessSummary]
    harness_kernels: list[HarnessKernel]
    shown: list[NullSeries]
    nulls: list[NullComparison]
    planted: list[PlantedComparison]
    harness_ratios: list[HarnessRatio]
