"""What the analysis finds. Every number a page shows is a field here or is bound to rows of the record."""

from __future__ import annotations

import enum
from datetime import datetime

import msgspec

from reportgen.model.experiment import AxisValue
from reportgen.model.null_study import NullStudy

SCHEMA_VERSION = 1


class Verdict(enum.StrEnum):
    """Decided once, in ``analysis.verdict``."""

    INVALID = "invalid"
    FASTER = "faster"
    SLOWER = "slower"
    EQUIVALENT = "equivalent"
    INCONCLUSIVE = "inconclusive"


class Reason(enum.StrEnum):
    """Why a verdict is what it is."""

    BASELINE_FAILED_CHECK = "baseline_failed_check"
    ARM_FAILED_CHECK = "arm_failed_check"
    CELL_WITHOUT_DATA = "cell_without_data"
    NO_NOISE_FLOOR = "no_noise_floor"
    TOO_FEW_REPETITIONS = "too_few_repetitions"
    BEYOND_MARGIN = "beyond_margin"
    WITHIN_MARGIN = "within_margin"
    NOISE_FLOOR = "noise_floor"
    FIXTURES_DIFFER = "fixtures_differ"
    DEVICES_DISAGREE = "devices_disagree"
    DIRECTION_ONLY = "direction_only"
    TOO_WIDE = "too_wide"


class Promotion(enum.StrEnum):
    """What to do with a candidate in a slice."""

    ADOPT = "adopt"
    ADOPT_AS_REWRITE = "adopt as rewrite"
    NOT_ATTRIBUTABLE = "not attributable"
    KEEP_INCUMBENT = "keep incumbent"


class GateOutcome(enum.StrEnum):
    """How a gate came out."""

    PASSES = "passes"
    THIN_MARGIN = "thin margin"
    FAILS = "fails"
    INVALID = "invalid"


class PointVerdict(enum.StrEnum):
    """What a band says of one point of its axis."""

    PAYS = "pays"
    COSTS = "costs"
    NEITHER = "neither"
    UNDECIDED = "undecided"


class Interval(msgspec.Struct, frozen=True):
    """A closed interval of time ratios."""

    low: float
    high: float


class OrderInterval(msgspec.Struct, frozen=True, kw_only=True):
    """Distribution-free interval for a median: ``rank`` is counted from 1, null where n < 6 (then the range)."""

    low: float
    high: float
    rank: int | None
    n: int
    coverage: float


class CellResult(msgspec.Struct, frozen=True, kw_only=True):
    """One comparison on one device and fixture; ``pair_ratio`` follows the repetitions, null where missing.

    ``bootstrap`` is the percentile interval of the exact bootstrap law of the median; it decides nothing.
    """

    device: str
    fixture: str
    ratio: float
    interval: OrderInterval
    bootstrap: Interval
    pair_ratio: list[float | None]
    candidate_ns: float
    baseline_ns: float


class DeviceResult(msgspec.Struct, frozen=True, kw_only=True):
    """One device's process values in the order of time, with their interval and lag-1 correlation.

    ``interval`` is null where no repetition of the device has a process value.
    """

    device: str
    repetitions: list[int]
    h: list[float | None]
    interval: OrderInterval | None
    lag1: float | None


class ComparisonResult(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate against a baseline in a slice. Figures are null where the verdict is ``invalid`` without data.

    ``headline``: median over cells of the cell ratios; ``estimate``: median of the pooled process values;
    ``low``, ``high``: decision interval; ``bootstrap``: descriptive interval of the headline. Holm's figures belong to
    candidates and are null for other arms. ``where`` is the comparison's own filter. ``valid_nulls`` counts the valid null arms of ``baseline`` in the slice: a
    candidate without effect outruns all of them with probability at most ``outrun_bound`` = 1 / (valid_nulls + 1).
    """

    arm: str
    role: str
    baseline: str
    baseline_role: str
    slice: str
    fixtures: list[str]
    verdict: Verdict
    reason: Reason
    headline: float | None = None
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    rank: int | None = None
    coverage: float | None = None
    order_interval: Interval | None = None
    stretched: bool | None = None
    device_p: float | None = None
    devices_agree: bool | None = None
    margin: float | None = None
    p_against_1: float | None = None
    p_against_margin: float | None = None
    holm_p: float | None = None
    holm_rank: int | None = None
    family_size: int | None = None
    resolvable: bool | None = None
    smallest_effect_shown: float | None = None
    where: dict[str, list[AxisValue]] = {}
    valid_nulls: int | None = None
    outrun_bound: float | None = None
    bootstrap: Interval | None = None
    cells: list[CellResult] = []
    devices: list[DeviceResult] = []


class NoiseResult(msgspec.Struct, frozen=True, kw_only=True):
    """One null arm against the arm it repeats, in a slice; ``floor`` is the slice's, over all its nulls."""

    slice: str
    null: str
    of: str
    valid: bool
    low: float | None
    high: float | None
    floor: float | None
    cell_floor: float | None


class PromotionResult(msgspec.Struct, frozen=True, kw_only=True):
    """What to do with a candidate in a slice, and against what it was judged."""

    arm: str
    slice: str
    outcome: Promotion
    incumbent: str
    control: str | None


class StageCell(msgspec.Struct, frozen=True, kw_only=True):
    """What a ``ceiling`` gate took from the record of another stage: times per launch in ns on one device and fixture.

    ``plan`` is the digest of that record's plan. Both lists follow its repetitions, null where a pair is missing.
    """

    gate: str
    plan: str
    arm: str
    baseline: str
    device: str
    model: str
    fixture: str
    arm_ns: list[float | None]
    baseline_ns: list[float | None]


class CeilingSum(msgspec.Struct, frozen=True, kw_only=True):
    """The sum of a ``ceiling`` gate at the cells that decide, in ns: what the ceiling saves, less what the arm costs.

    ``fixture`` and ``device`` are those of the ceiling; ``low`` its lower end, ``cost_high`` the upper end of the cost.
    """

    plan: str
    fixture: str
    device: str
    saved: float
    low: float
    cost: float
    cost_high: float


class BandPoint(msgspec.Struct, frozen=True, kw_only=True):
    """A point of a ``band`` gate on one device: time ratio, its interval at the corrected rank, and what it says there."""

    value: AxisValue
    fixture: str
    device: str
    ratio: float
    interval: OrderInterval
    verdict: PointVerdict


class Band(msgspec.Struct, frozen=True, kw_only=True):
    """Adjacent points of an axis, two or more, that say the same on every device."""

    verdict: PointVerdict
    first: AxisValue
    last: AxisValue
    points: int


class GateCell(msgspec.Struct, frozen=True, kw_only=True):
    """What an arm saves on one fixture of one device, in the unit of the gate: median and order-statistic interval."""

    device: str
    fixture: str
    estimate: float
    low: float
    high: float


class GateResult(msgspec.Struct, frozen=True, kw_only=True):
    """A gate asked of one arm in one slice. ``estimate`` and ``end`` are of the deciding cell (``fixture``, ``device``).

    Both are in the unit and direction of ``threshold``: share of the baseline's time saved, nanoseconds saved, or for
    ``no_regression`` the time lost. ``tolerance`` is what ``no_regression`` allowed there, or the margin of a ``band``: the
    threshold or, where that is more, the slice's cell floor. ``frozen_at`` is when the plan's files were last changed,
    ``began_at`` when the first attempt of the record began. ``ceiling``, ``points`` and ``bands`` belong to those kinds,
    ``cells`` to ``every_fixture``.
    """

    name: str
    kind: str
    slice: str
    arm: str
    baseline: str
    threshold: float
    quantity: str
    estimate: float | None
    end: float | None
    outcome: GateOutcome
    fixture: str | None
    frozen_at: str | None
    device: str | None = None
    tolerance: float | None = None
    began_at: str | None = None
    ceiling: CeilingSum | None = None
    points: list[BandPoint] = []
    bands: list[Band] = []
    cells: list[GateCell] = []
    exploratory: bool = False

    @property
    def younger(self) -> bool:
        """Whether the rule was last changed after the first batch that it judges."""
        if not self.frozen_at or not self.began_at:
            return False
        return datetime.fromisoformat(self.frozen_at) > datetime.fromisoformat(self.began_at)


class PositionEffect(msgspec.Struct, frozen=True, kw_only=True):
    """Median relative time by slot: over batches, time over the mean of its arm's two batches, less 1."""

    slice: str
    order_pass: int
    position: int
    batches: int
    effect: float


class ArmTime(msgspec.Struct, frozen=True, kw_only=True):
    """Median time per launch of an arm on a device and fixture, over repetitions."""

    device: str
    fixture: str
    arm: str
    median_ns: float
    repetitions: int


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """``results.json``: everything computed from one record.

    ``stages`` holds what ``ceiling`` gates took from other records. Verdicts, noise, gates, positions and times are of mode ``process``; ``null_study`` is there where the plan has several modes or
    other harnesses.
    """

    schema_version: int
    experiment: str
    plan: str
    smallest_effect: float
    comparisons: list[ComparisonResult]
    noise: list[NoiseResult]
    promotions: list[PromotionResult]
    gates: list[GateResult]
    positions: list[PositionEffect]
    times: list[ArmTime]
    with_left_out: list[ComparisonResult] = []
    null_study: NullStudy | None = None
    stages: list[StageCell] = []
