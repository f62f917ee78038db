"""What to do with an idea: nothing is adopted that its control or a required gate does not allow."""

from __future__ import annotations

from collections.abc import Sequence

from reportgen.errors import InputError
from reportgen.model.experiment import Arm, Role
from reportgen.model.plan import Plan
from reportgen.model.result import ComparisonResult, GateOutcome, GateResult, Promotion, PromotionResult, Verdict


def promotions(
    plan: Plan, slices: Sequence[str], comparisons: Sequence[ComparisonResult], gates: Sequence[GateResult]
) -> list[PromotionResult]:
    """Outcome of every candidate, in every slice in which the plan compares it with its incumbent or control.

    Raises
    ------
    InputError
        It is not clear which incumbent a candidate is held against.
    """
    results = []
    for name in slices:
        here = [result for result in comparisons if result.slice == name]
        required = _required(plan, gates, name)
        for arm in plan.experiment.arms:
            baselines = {incumbent_of(plan, arm), arm.control} if arm.role is Role.CANDIDATE else set()
            if any(result.arm == arm.name and result.baseline in baselines for result in here):
                results.append(_promotion(plan, arm, name, here, gates_pass=required.get(arm.name, True)))
    return results


def incumbent_of(plan: Plan, arm: Arm) -> str:
    """Find the incumbent that an arm is held against: the one it names, or the only one timed on any of its fixtures.

    Raises
    ------
    InputError
        It names none and there are none or several to choose from.
    """
    if arm.incumbent is not None:
        return arm.incumbent
    beside = {name for names in plan.arms_by_fixture.values() if arm.name in names for name in names}
    incumbents = [other.name for other in plan.experiment.arms if other.role is Role.INCUMBENT and other.name in beside]
    if len(incumbents) != 1:
        what = f"several incumbents ({', '.join(incumbents)})" if incumbents else "no incumbent"
        raise InputError(
            f"arm {arm.name!r} shares its fixtures with {what}",
            where=plan.name,
            remedy="name one with `incumbent` in the arm's declaration",
        )
    return incumbents[0]


def _required(plan: Plan, gates: Sequence[GateResult], slice_name: str) -> dict[str, bool]:
    """Whether each arm passes every required gate that is asked of it in a slice."""
    required = {gate.name for gate in plan.experiment.gates if gate.required}
    passed: dict[str, bool] = {}
    for gate in gates:
        if gate.name in required and gate.slice == slice_name:
            passed[gate.arm] = passed.get(gate.arm, True) and gate.outcome is GateOutcome.PASSES
    return passed


def _promotion(
    plan: Plan, arm: Arm, slice_name: str, here: Sequence[ComparisonResult], *, gates_pass: bool
) -> PromotionResult:
    incumbent = incumbent_of(plan, arm)
    outcome = decide(
        beats_incumbent=_faster(here, arm.name, incumbent),
        beats_control=arm.control is not None and _faster(here, arm.name, arm.control),
        control_beats_incumbent=arm.control not in (None, incumbent) and _faster(here, str(arm.control), incumbent),
        gates_pass=gates_pass,
    )
    return PromotionResult(arm=arm.name, slice=slice_name, outcome=outcome, incumbent=incumbent, control=arm.control)


def decide(*, beats_incumbent: bool, beats_control: bool, control_beats_incumbent: bool, gates_pass: bool) -> Promotion:
    """First rule that holds. ``beats_control`` is false where the candidate names no control."""
    if beats_incumbent and beats_control and gates_pass:
        return Promotion.ADOPT
    if beats_incumbent and not beats_control:
        return Promotion.NOT_ATTRIBUTABLE
    return Promotion.ADOPT_AS_REWRITE if control_beats_incumbent else Promotion.KEEP_INCUMBENT


def _faster(here: Sequence[ComparisonResult], arm: str, baseline: str) -> bool:
    """Whether the comparison over all fixtures, or where there is none every one with a filter, came out faster."""
    asked = [result for result in here if (result.arm, result.baseline) == (arm, baseline)]
    decisive = [result for result in asked if not result.where] or asked
    return bool(decisive) and all(result.verdict is Verdict.FASTER for result in decisive)
