"""What a gate is asked of, and how it may answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from reportgen.analysis.decision import FEWEST_REPETITIONS, DevicePairs
from reportgen.analysis.median import FloatArray
from reportgen.analysis.views import PairedTimes
from reportgen.model.experiment import AxisValue, Gate
from reportgen.model.result import Band, BandPoint, CeilingSum, GateCell, GateOutcome


@dataclass(frozen=True, eq=False)
class Finding:
    """What a rule found: ``estimate`` and ``end`` of the deciding cell in the direction of the threshold."""

    outcome: GateOutcome
    estimate: float | None = None
    end: float | None = None
    fixture: str | None = None
    device: str | None = None
    tolerance: float | None = None
    ceiling: CeilingSum | None = None
    points: tuple[BandPoint, ...] = ()
    bands: tuple[Band, ...] = ()
    cells: tuple[GateCell, ...] = ()


INVALID = Finding(GateOutcome.INVALID)


@dataclass(frozen=True, eq=False)
class Question:
    """A gate asked of one arm in one slice: the pairs of its cells and the slice's cell floor.

    ``stage`` holds the pairs of the ceiling that the gate names, ``places`` the value on its axis of each fixture, in the
    order of the axis.
    """

    gate: Gate
    paired: tuple[PairedTimes, ...]
    cell_floor: float | None
    stage: tuple[PairedTimes, ...] = ()
    places: Mapping[str, AxisValue] = field(default_factory=dict)

    @property
    def in_time(self) -> bool:
        """Whether the gate is about nanoseconds rather than shares."""
        return self.gate.quantity == "saved_ns"

    def pairs(self) -> list[DevicePairs]:
        """Pair values: nanoseconds saved, or time ratios."""
        return [times.saved(self.gate.repeats) if self.in_time else times.ratios() for times in self.paired]

    def as_savings(self, values: FloatArray) -> FloatArray:
        """Pair values, or medians of them, as savings."""
        return values if self.in_time else 1 - values


@dataclass(frozen=True, eq=False)
class Cells:
    """Savings of all cells: median, lower and upper end of its order-statistic interval."""

    names: tuple[tuple[str, str], ...]
    estimate: FloatArray
    end: FloatArray
    high: FloatArray

    def as_results(self) -> tuple[GateCell, ...]:
        """One noun a cell, in the order of the record."""
        columns = zip(self.names, self.estimate.tolist(), self.end.tolist(), self.high.tolist(), strict=True)
        return tuple(
            GateCell(device=device, fixture=fixture, estimate=estimate, low=low, high=high)
            for (device, fixture), estimate, low, high in columns
        )


def cells_of(question: Question) -> Cells | None:
    """Find the savings of all cells; None where a cell has too few pairs for an interval, or there is none."""
    pairs = question.pairs()
    samples = [device.samples for device in pairs]
    if not samples or any((sample.count < FEWEST_REPETITIONS).any() for sample in samples):
        return None
    ends = [sample.order_ends() for sample in samples]
    worst, best = (0, 1) if question.in_time else (1, 0)
    return Cells(
        names=tuple((device.device, fixture) for device in pairs for fixture in device.fixtures),
        estimate=question.as_savings(np.concatenate([sample.median() for sample in samples])),
        end=question.as_savings(np.concatenate([both[worst] for both in ends])),
        high=question.as_savings(np.concatenate([both[best] for both in ends])),
    )


def outcome_of(end_clears: bool, estimate_clears: bool) -> GateOutcome:  # noqa: FBT001 - the two columns of a table
    """Pass where the end clears what was asked; thinly where the estimate alone does."""
    if end_clears:
        return GateOutcome.PASSES
    return GateOutcome.THIN_MARGIN if estimate_clears else GateOutcome.FAILS
