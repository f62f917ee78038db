"""Rules frozen in the plan: each is asked of an arm in a slice and passes, passes thinly, fails or is invalid.

Everything is computed as a saving: the share of the baseline's time, 1 - ratio, or nanoseconds. What cannot be computed
is invalid, never passed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from reportgen.analysis.decision import FEWEST_REPETITIONS, DevicePairs, decision
from reportgen.analysis.median import FloatArray, Samples
from reportgen.analysis.promotion import incumbent_of
from reportgen.analysis.views import PairedTimes, SliceView, arms_by_name
from reportgen.errors import InputError
from reportgen.model.experiment import Gate, GateKind, Role
from reportgen.model.result import GateOutcome, GateResult


@dataclass(frozen=True, eq=False)
class Finding:
    """What a rule found: ``estimate`` and ``end`` of the deciding cell in the direction of the threshold."""

    outcome: GateOutcome
    estimate: float | None = None
    end: float | None = None
    fixture: str | None = None
    device: str | None = None
    tolerance: float | None = None


INVALID = Finding(GateOutcome.INVALID)


@dataclass(frozen=True, eq=False)
class Question:
    """A gate asked of one arm in one slice: the pairs of its cells and the slice's cell floor."""

    gate: Gate
    paired: tuple[PairedTimes, ...]
    cell_floor: float | None

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
    """Savings of all cells: median and lower end of its order-statistic interval."""

    names: tuple[tuple[str, str], ...]
    estimate: FloatArray
    end: FloatArray


def gate_results(
    views: Sequence[SliceView], cell_floors: Mapping[str, float | None], frozen_at: str | None
) -> list[GateResult]:
    """Outcome of every gate of the plan, by slice, gate and arm.

    Raises
    ------
    InputError
        A gate of a kind that this version does not compute.
    """
    for view in views:
        for gate in view.plan.experiment.gates:
            if gate.kind not in RULES:
                raise InputError(
                    f"gates of kind {gate.kind.value!r} cannot be computed by this version",
                    where=f"{view.plan.name}: gate {gate.name}",
                    remedy=f"use one of {', '.join(kind.value for kind in RULES)}",
                )
    results = [
        _ask(view, gate, arm, cell_floors[view.name], frozen_at)
        for view in views
        for gate in view.plan.experiment.gates
        for arm in gate.arms
    ]
    return _asked_somewhere(results)


def _ask(view: SliceView, gate: Gate, arm: str, floor: float | None, frozen_at: str | None) -> tuple[GateResult, bool]:
    """Answer the gate, and tell whether the slice holds any fixture that it asks about."""
    baseline = _baseline(view, gate, arm)
    fixtures = view.shared_fixtures(arm, baseline, gate.where) if baseline else ()
    computable = bool(fixtures) and not view.failed & {arm, baseline}
    found = INVALID
    if computable:
        found = RULES[gate.kind](Question(gate, tuple(view.paired(arm, baseline, fixtures)), floor))
    result = GateResult(
        name=gate.name,
        kind=gate.kind.value,
        slice=view.name,
        arm=arm,
        baseline=baseline or gate.vs,
        threshold=gate.threshold,
        quantity=gate.quantity,
        estimate=found.estimate,
        end=found.end,
        outcome=found.outcome,
        fixture=found.fixture,
        frozen_at=frozen_at,
        device=found.device,
        tolerance=found.tolerance,
    )
    return result, bool(fixtures)


def _asked_somewhere(results: Sequence[tuple[GateResult, bool]]) -> list[GateResult]:
    """Leave a gate out of slices without a fixture of its own, unless no slice has one: then it is invalid in each."""
    answerable = {(result.name, result.arm) for result, asked in results if asked}
    return [result for result, asked in results if asked or (result.name, result.arm) not in answerable]


def _baseline(view: SliceView, gate: Gate, arm: str) -> str:
    """Name the arm that ``vs`` means; empty where the arm has no control."""
    declared = arms_by_name(view.plan)[arm]
    if gate.vs == Role.CONTROL.value:
        return declared.control or ""
    return incumbent_of(view.plan, declared) if gate.vs == Role.INCUMBENT.value else gate.vs


def _every_fixture(question: Question) -> Finding:
    """Pass where the lower end of every cell clears the threshold; all must hold, so nothing is corrected."""
    cells = _cells(question)
    if cells is None:
        return INVALID
    return _weigh(cells, np.full(len(cells.end), question.gate.threshold))


def _no_regression(question: Question) -> Finding:
    """Pass where no cell's upper end costs more than the threshold or, where that is more, than the cell floor."""
    cells = _cells(question)
    if cells is None or question.cell_floor is None:
        return INVALID
    floor = np.full(len(cells.end), question.cell_floor)
    if question.in_time:
        floor = floor * (question.gate.repeats * _baseline_ns(question))
    tolerance = np.maximum(question.gate.threshold, floor)
    found = _weigh(cells, -tolerance)
    at = cells.names.index((str(found.device), str(found.fixture)))
    return replace(
        found, estimate=-float(cells.estimate[at]), end=-float(cells.end[at]), tolerance=float(tolerance[at])
    )


def _headline(question: Question) -> Finding:
    """Pass where the decision interval clears the threshold."""
    pairs = question.pairs()
    if _cells(question) is None:
        return INVALID
    found = decision(pairs)
    if not found.enough:
        return INVALID
    worst = found.low if question.in_time else found.high
    estimate, end = question.as_savings(np.array([found.estimate, worst])).tolist()
    return Finding(_outcome(end >= question.gate.threshold, estimate >= question.gate.threshold), estimate, end)


Rule = Callable[[Question], Finding]

RULES: dict[GateKind, Rule] = {
    GateKind.EVERY_FIXTURE: _every_fixture,
    GateKind.HEADLINE: _headline,
    GateKind.NO_REGRESSION: _no_regression,
}


def _cells(question: Question) -> Cells | None:
    """Find the savings of all cells; None where a cell has too few pairs for an interval."""
    pairs = question.pairs()
    samples = [device.samples for device in pairs]
    if any((sample.count < FEWEST_REPETITIONS).any() for sample in samples):
        return None
    worst = [sample.order_ends()[0 if question.in_time else 1] for sample in samples]
    return Cells(
        names=tuple((device.device, fixture) for device in pairs for fixture in device.fixtures),
        estimate=question.as_savings(np.concatenate([sample.median() for sample in samples])),
        end=question.as_savings(np.concatenate(worst)),
    )


def _weigh(cells: Cells, required: FloatArray) -> Finding:
    """Hold every cell against what it requires; the one farthest below, or nearest above, decides."""
    estimates, ends = cells.estimate - required, cells.end - required
    outcome = _outcome(bool((ends >= 0).all()), bool((estimates >= 0).all()))
    at = int(np.argmin(estimates if outcome is GateOutcome.FAILS else ends))
    device, fixture = cells.names[at]
    return Finding(outcome, float(cells.estimate[at]), float(cells.end[at]), fixture, device)


def _outcome(end_clears: bool, estimate_clears: bool) -> GateOutcome:  # noqa: FBT001 - the two columns of a table
    if end_clears:
        return GateOutcome.PASSES
    return GateOutcome.THIN_MARGIN if estimate_clears else GateOutcome.FAILS


def _baseline_ns(question: Question) -> FloatArray:
    return np.concatenate([Samples.of(times.baseline_ns).median() for times in question.paired])
