"""How two records, or attempts, differ: readings beside each other, never one verdict about both."""

from __future__ import annotations

import msgspec

from reportgen.model.result import GateOutcome, Reason, Verdict


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What one side says of a comparison: time ratios and verdict."""

    headline: float | None
    estimate: float | None
    low: float | None
    high: float | None
    verdict: Verdict
    reason: Reason


class ComparisonMove(msgspec.Struct, frozen=True, kw_only=True):
    """A comparison on both sides, null where a side has none.

    ``overlap`` tells whether the decision intervals have a point in common (null where one is missing); ``moved``, that the verdict differs, the
    intervals do not overlap, or only one side compares these arms.
    """

    arm: str
    baseline: str
    slice: str
    before: Reading | None
    after: Reading | None
    overlap: bool | None
    moved: bool


class CellReading(msgspec.Struct, frozen=True, kw_only=True):
    """The time ratio on one fixture and device, with its order-statistic interval."""

    device: str
    ratio: float
    low: float
    high: float


class CellMove(msgspec.Struct, frozen=True, kw_only=True):
    """A fixture whose intervals on the two sides have no point in common."""

    arm: str
    baseline: str
    slice: str
    fixture: str
    before: CellReading
    after: CellReading


class GateReading(msgspec.Struct, frozen=True, kw_only=True):
    """What one side says of a gate, in the unit of its threshold."""

    outcome: GateOutcome
    threshold: float
    estimate: float | None
    end: float | None


class GateMove(msgspec.Struct, frozen=True, kw_only=True):
    """A gate on both sides, null where a side has none; ``moved`` where outcome or threshold differ."""

    name: str
    arm: str
    slice: str
    quantity: str
    before: GateReading | None
    after: GateReading | None
    moved: bool


class ArmMove(msgspec.Struct, frozen=True, kw_only=True):
    """An arm on both sides: where it stands, whether its code is the same, and its time after / before.

    ``sides`` is ``both``, ``before`` or ``after``. ``time_ratio`` is the median over shared fixtures and devices of the ratios of the median times per launch; it has no
    interval, since the two were measured apart.
    """

    arm: str
    sides: str
    same_code: bool | None
    time_ratio: float | None
    least: float | None
    most: float | None


class FieldMove(msgspec.Struct, frozen=True, kw_only=True):
    """A field that differs, as text; null where a side does not have it."""

    field: str
    before: str | None
    after: str | None


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """Everything in which two sides differ; ``before`` and ``after`` name them. ``cells_compared`` counts fixtures held against each other."""

    before: str
    after: str
    comparisons: list[ComparisonMove]
    cells_compared: int
    cells: list[CellMove]
    gates: list[GateMove]
    arms: list[ArmMove]
    environment: list[FieldMove]
    plan: list[FieldMove]
