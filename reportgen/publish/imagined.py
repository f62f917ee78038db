"""Records as they could have been: the same plan with other times, held to the same rules.

A claim that is true of all of them is true whatever is measured. They are drawn from a number alone and obey what every record obeys: an
interval holds its headline, the noise floor follows from the null arms, verdicts and promotions from the rules of docs/statistics.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from random import Random
from statistics import median

import msgspec

from reportgen.analysis.decision import Decision
from reportgen.analysis.promotion import promotions
from reportgen.analysis.verdict import invalidity, judge
from reportgen.model.experiment import Role
from reportgen.model.result import (
    ArmTime,
    CellResult,
    ComparisonResult,
    Interval,
    NoiseResult,
    OrderInterval,
    Reason,
    Result,
    Verdict,
)
from reportgen.publish import imagined_code, imagined_gates, imagined_study
from reportgen.publish.view import RecordView

# Places of an interval, in units of ``unit``: on either side of no change, around it, near it; all on a logarithmic scale.
SHAPES: Mapping[str, tuple[float, float]] = {
    "less": (-3.0, -1.5),
    "more": (1.5, 3.0),
    "within": (-0.4, 0.3),
    "wide": (-2.0, 2.0),
    "hardly less": (-1.2, -0.1),
    "hardly more": (0.1, 1.2),
    "short of the margin": (-0.9, -0.3),
    "few": (-3.0, -1.5),
    "devices": (-3.0, 2.0),
}
PLAIN = ("less", "more", "within", "wide")
UNITS = (1.0, 60.0, 600.0)  # of the margin: at it, some tens of percent, and as far as times ever are apart
FLOORS = (0.02, 0.4, 2.0, 12.0)  # of the smallest effect of interest
LEVELS = ("each", "role", "slice", "arm")
FARTHEST = 6.0
FAIL_EVERY, FAILING = (
    8,
    (0.2, 1.0, 0.5, 0.0),
)  # in every eighth record this share of the arms failed a check, or all nulls did
ALIKE = len(SHAPES) * len(UNITS)
NUMBER = 160


class Imagined:
    """One made-up record in place of a real one, by its ``number`` below ``NUMBER``; ``view`` gives it.

    The first of them differ in everything; the next ``ALIKE`` are alike in all their comparisons, and so is every fourth of the rest within a
    role, a slice or an arm: what is said of many is then false at once.
    """

    def __init__(self, record: RecordView, number: int) -> None:
        self._record, self._number = record, number
        self._alike = number - len(LEVELS) if len(LEVELS) <= number < len(LEVELS) + ALIKE else None
        self._effect = self.draws("effect").choice((1.0, 1.0, 0.1, 10.0)) * (record.result.smallest_effect or 0.005)
        self._arms = {arm.name: arm for arm in record.plan.experiment.arms}

    def draws(self, *names: str) -> Random:
        """Give the draws that belong to names: always the same for the same number and names."""
        return Random("\0".join((str(self._number), *names)))  # noqa: S311 - repeatable, and no secret

    @cached_property
    def failing(self) -> frozenset[str]:
        """Name the arms that failed a check: in most records none."""
        draws = self.draws("failing", self._record.name)
        if self._number % FAIL_EVERY != 1:
            return frozenset()
        share = FAILING[self._number // FAIL_EVERY % len(FAILING)]
        nulls = {name for name, arm in self._arms.items() if arm.role is Role.NULL and not share}
        return frozenset(name for name in self._arms if draws.random() < share) | nulls

    @cached_property
    def view(self) -> RecordView:
        """The record as it could have been."""
        record = self._record
        changed = msgspec.structs.replace(record, result=self._result())
        return imagined_code.changed(changed, self.draws, apart=self._alike is None)

    def count(self, what: str) -> int:
        """Give a count, of a record of this or another plan: what is a part of something else is no more than that."""
        draws = self.draws("counts", self._record.name)
        few, many = draws.choice((1, 2, 5)), draws.choice((10, 1_000, 10**9))
        failed = draws.choice((1, many)) if self.failing else 0
        nulls, candidates = draws.choice((0, 1, few)), draws.choice((0, 1, few))
        known = {
            "devices": few, "attempts": few + draws.choice((0, few)), "repetitions": few * draws.choice((6, 12)),
            "slices": few, "fixtures": few * draws.choice((1, many)), "nulls": nulls, "candidates": candidates,
            "arms": 1 + nulls + candidates + draws.choice((0, many)), "comparisons": nulls + candidates * draws.choice((1, many)),
            "batches": 12 * many, "warmup_batches": draws.choice((0, many)), "failed_checks": failed,
            "checks": failed + draws.choice((0, many)),
        }  # fmt: skip
        return known[what]

    def _result(self) -> Result:
        told = self._record.result
        floors = {piece: self._nulls(piece) for piece in dict.fromkeys(one.slice for one in told.comparisons)}
        found = [self._comparison(one, *floors[one.slice]) for one in told.comparisons]
        gates = imagined_gates.changed(self._record, self.draws, alike=self._alike)
        slices = list(dict.fromkeys(one.slice for one in told.promotions))
        return msgspec.structs.replace(
            told,
            smallest_effect=self._effect,
            comparisons=found,
            noise=[self._noise(line, *floors.get(line.slice, ({}, None))) for line in told.noise],
            gates=gates,
            promotions=promotions(self._record.plan, slices, found, gates),
            times=[self._time(one) for one in told.times],
            null_study=imagined_study.changed(told.null_study, self.draws),
        )

    def _nulls(self, piece: str) -> tuple[dict[str, Interval], float | None]:
        """Draw the intervals of a slice's null arms; the floor is their farthest end from no change, if any of them is valid."""
        size = self._effect * self.draws("floor", self._record.name, piece).choice(FLOORS)
        found = {}
        for line in self._record.result.noise:
            if line.slice == piece and not self.failing & {line.null, line.of}:
                draws = self.draws("null", self._record.name, piece, line.null)
                found[line.null] = Interval(1 - size * draws.uniform(0.5, 1), 1 + size * draws.uniform(0.1, 1))
        return found, max((abs(end - 1) for one in found.values() for end in (one.low, one.high)), default=None)

    def _noise(self, line: NoiseResult, nulls: Mapping[str, Interval], floor: float | None) -> NoiseResult:
        own = nulls.get(line.null)
        low, high = (None, None) if own is None else (own.low, own.high)
        return msgspec.structs.replace(line, valid=own is not None, low=low, high=high, floor=floor, cell_floor=floor)

    def _time(self, one: ArmTime) -> ArmTime:
        draws = self.draws("time", self._record.name, one.device, one.fixture, one.arm)
        return msgspec.structs.replace(one, median_ns=one.median_ns * math.exp(draws.uniform(-FARTHEST, FARTHEST)))

    def _comparison(
        self, one: ComparisonResult, nulls: Mapping[str, Interval], floor: float | None
    ) -> ComparisonResult:
        shape, unit = self._shape(one)
        draws = self.draws("comparison", self._record.name, one.slice, one.arm, one.baseline, repr(one.where))
        why = invalidity(
            baseline_failed=one.baseline in self.failing,
            arm_failed=one.arm in self.failing,
            cell_without_data=self._alike is None and draws.random() < 0.03,  # noqa: PLR2004 - now and then
            noise_floor=floor,
        )
        if why is not None or floor is None:
            return _without_figures(one, why)
        margin = max(self._effect, floor)
        own = nulls.get(one.arm) if one.role == Role.NULL and not one.where else None
        low, high = (own.low, own.high) if own else _placed(shape, unit * margin, draws)
        cells = self._cells(one, (low, high), draws)
        headline = median(cell.ratio for cell in cells) if cells and own is None else draws.uniform(low, high)
        ends = min(low, headline), max(high, headline)
        verdict, reason = judge(
            _decision((low, high), ends, shape),
            [Interval(cell.interval.low, cell.interval.high) for cell in cells],
            smallest_effect=self._effect,
            noise_floor=floor,
        )
        return msgspec.structs.replace(
            one, verdict=verdict, reason=reason, headline=headline, estimate=draws.uniform(low, high), low=ends[0], high=ends[1],
            margin=margin, cells=cells,
        )  # fmt: skip

    def _shape(self, one: ComparisonResult) -> tuple[str, float]:
        """Choose where a comparison lies: alike for all, or for those of a role, a slice or an arm, or for itself."""
        if self._alike is not None:
            return list(SHAPES)[self._alike % len(SHAPES)], UNITS[self._alike // len(SHAPES)]
        level = LEVELS[self._number % len(LEVELS)]
        names = {"role": (one.role, one.baseline_role), "slice": (one.slice,), "arm": (one.arm,)}
        own = (self._record.name, one.slice, one.arm, one.baseline)
        draws = self.draws("shape", *names.get(level, own))
        return draws.choice((*SHAPES, *PLAIN)), draws.choice(UNITS)

    def _cells(self, one: ComparisonResult, ends: tuple[float, float], draws: Random) -> list[CellResult]:
        """Scatter the fixtures around the comparison: closely, or as fixtures do that truly differ."""
        low, high = map(math.log, ends)
        middle, half = (low + high) / 2, (high - low) / 2
        scatter = half if self._alike is not None else draws.choice((half, half, 3.0))
        found = []
        for cell in one.cells:
            at, width = draws.uniform(middle - scatter / 2, middle + scatter / 2), half * draws.uniform(0.2, 1)
            interval = msgspec.structs.replace(cell.interval, low=math.exp(at - width), high=math.exp(at + width))
            found.append(msgspec.structs.replace(cell, ratio=math.exp(at), interval=interval))
        return found


def _placed(shape: str, unit: float, draws: Random) -> tuple[float, float]:
    """Place an interval of ratios, none farther than a factor of e^6 from no change."""
    low, high = (end * unit * draws.uniform(0.9, 1.1) for end in SHAPES[shape])
    scale = min(1.0, FARTHEST / max(abs(low), abs(high)))
    return math.exp(scale * low), math.exp(scale * high)


def _decision(own: tuple[float, float], ends: tuple[float, float], shape: str) -> Decision:
    """Give what a verdict looks at; process values are not drawn."""
    pooled = OrderInterval(low=own[0], high=own[1], rank=None, n=0, coverage=0.0)
    return Decision(
        h=(), device_intervals=(), headline=own[0], estimate=own[0], pooled=pooled, unstretched=own, low=ends[0], high=ends[1],
        device_p=None, agree=shape != "devices", enough=shape != "few",
    )  # fmt: skip


def _without_figures(one: ComparisonResult, why: Reason | None) -> ComparisonResult:
    reason = why or Reason.NO_NOISE_FLOOR
    return msgspec.structs.replace(
        one,
        verdict=Verdict.INVALID,
        reason=reason,
        headline=None,
        estimate=None,
        low=None,
        high=None,
        margin=None,
        cells=[],
    )
