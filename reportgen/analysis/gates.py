"""Rules frozen in the plan: each is asked of an arm in a slice and passes, passes thinly, fails or is invalid.

Everything is computed as a saving: the share of the baseline's time, 1 - ratio, or nanoseconds. What cannot be computed
is invalid, never passed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from reportgen.analysis.band import band, places_along
from reportgen.analysis.ceiling import ceiling, stage_times
from reportgen.analysis.decision import decision
from reportgen.analysis.median import FloatArray, Samples
from reportgen.analysis.promotion import incumbent_of
from reportgen.analysis.questions import INVALID, Cells, Finding, Question, cells_of, outcome_of
from reportgen.analysis.views import SliceView, arms_by_name
from reportgen.model.experiment import Gate, GateKind, Role
from reportgen.model.result import GateOutcome, GateResult, StageCell


@dataclass(frozen=True)
class Moments:
    """When the plan's files were last changed, and when the first attempt of the record began (ISO 8601, UTC)."""

    frozen_at: str | None = None
    began_at: str | None = None


UNKNOWN = Moments()


def gate_results(
    views: Sequence[SliceView],
    cell_floors: Mapping[str, float | None],
    moments: Moments,
    stages: Sequence[StageCell] = (),
) -> list[GateResult]:
    """Outcome of every gate of the plan, by slice, gate and arm; ``stages`` is what ceilings rest on."""
    results = [
        _ask(view, gate, arm, cell_floors[view.name], (moments, stages))
        for view in views
        for gate in view.plan.experiment.gates
        for arm in gate.arms
    ]
    return _asked_somewhere(results)


def _ask(
    view: SliceView, gate: Gate, arm: str, floor: float | None, beside: tuple[Moments, Sequence[StageCell]]
) -> tuple[GateResult, bool]:
    """Answer the gate, and tell whether the slice holds any fixture that it asks about."""
    baseline = _baseline(view, gate, arm)
    fixtures = view.shared_fixtures(arm, baseline, gate.where) if baseline else ()
    computable = bool(fixtures) and not view.failed & {arm, baseline}
    found = INVALID
    if computable:
        found = RULES[gate.kind](
            Question(
                gate,
                tuple(view.paired(arm, baseline, fixtures)),
                floor,
                stage=stage_times(beside[1], gate, view.cubes["main"][0].model),
                places=places_along(view.plan, gate.axis, fixtures) if gate.axis else {},
            )
        )
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
        frozen_at=beside[0].frozen_at,
        device=found.device,
        tolerance=found.tolerance,
        began_at=beside[0].began_at,
        ceiling=found.ceiling,
        points=list(found.points),
        bands=list(found.bands),
        cells=list(found.cells),
        exploratory=gate.after is not None,
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
    cells = cells_of(question)
    if cells is None:
        return INVALID
    return replace(_weigh(cells, np.full(len(cells.end), question.gate.threshold)), cells=cells.as_results())


def _no_regression(question: Question) -> Finding:
    """Pass where no cell's upper end costs more than the threshold or, where that is more, than the cell floor."""
    cells = cells_of(question)
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
    if cells_of(question) is None:
        return INVALID
    found = decision(pairs)
    if not found.enough:
        return INVALID
    worst = found.low if question.in_time else found.high
    estimate, end = question.as_savings(np.array([found.estimate, worst])).tolist()
    return Finding(outcome_of(end >= question.gate.threshold, estimate >= question.gate.threshold), estimate, end)


Rule = Callable[[Question], Finding]

RULES: dict[GateKind, Rule] = {
    GateKind.EVERY_FIXTURE: _every_fixture,
    GateKind.HEADLINE: _headline,
    GateKind.NO_REGRESSION: _no_regression,
    GateKind.CEILING: ceiling,
    GateKind.BAND: band,
}


def _weigh(cells: Cells, required: FloatArray) -> Finding:
    """Hold every cell against what it requires; the one farthest below, or nearest above, decides."""
    estimates, ends = cells.estimate - required, cells.end - required
    outcome = outcome_of(bool((ends >= 0).all()), bool((estimates >= 0).all()))
    at = int(np.argmin(estimates if outcome is GateOutcome.FAILS else ends))
    device, fixture = cells.names[at]
    return Finding(outcome, float(cells.estimate[at]), float(cells.end[at]), fixture, device)


def _baseline_ns(question: Question) -> FloatArray:
    return np.concatenate([Samples.of(times.baseline_ns).median() for times in question.paired])
