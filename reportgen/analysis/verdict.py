"""The only place that decides (rule 8 of docs/statistics.md): first reason that holds, in the order written."""

from __future__ import annotations

from collections.abc import Sequence

from reportgen.analysis.decision import Decision
from reportgen.model.result import Interval, Reason, Verdict

Judgement = tuple[Verdict, Reason]


def invalidity(
    *, baseline_failed: bool, arm_failed: bool, cell_without_data: bool, noise_floor: float | None
) -> Reason | None:
    """Why nothing can be said, if so."""
    if baseline_failed:
        return Reason.BASELINE_FAILED_CHECK
    if arm_failed:
        return Reason.ARM_FAILED_CHECK
    if cell_without_data:
        return Reason.CELL_WITHOUT_DATA
    return Reason.NO_NOISE_FLOOR if noise_floor is None else None


def judge(decision: Decision, cells: Sequence[Interval], *, smallest_effect: float, noise_floor: float) -> Judgement:
    """Verdict of a valid comparison.

    Parameters
    ----------
    cells:
        Order-statistic interval of each cell.
    smallest_effect, noise_floor:
        s and f, shares of the baseline's time; the margin is their maximum.
    """
    if not decision.enough:
        return Verdict.INCONCLUSIVE, Reason.TOO_FEW_REPETITIONS
    beyond = _beyond(decision.low, decision.high, max(smallest_effect, noise_floor))
    if beyond is not None:
        return beyond, Reason.BEYOND_MARGIN
    if _inside(decision.low, decision.high, smallest_effect):
        return _inside_smallest_effect(cells, smallest_effect, noise_floor)
    return Verdict.INCONCLUSIVE, _undecided(decision, smallest_effect, noise_floor)


def _beyond(low: float, high: float, margin: float) -> Verdict | None:
    """Strictly beyond the margin: on it decides nothing."""
    if high < 1 - margin:
        return Verdict.FASTER
    return Verdict.SLOWER if low > 1 + margin else None


def _inside(low: float, high: float, smallest_effect: float) -> bool:
    return smallest_effect > 0 and low >= 1 - smallest_effect and high <= 1 + smallest_effect


def _inside_smallest_effect(cells: Sequence[Interval], smallest_effect: float, noise_floor: float) -> Judgement:
    if noise_floor > smallest_effect:
        return Verdict.INCONCLUSIVE, Reason.NOISE_FLOOR
    if any(_beyond(cell.low, cell.high, smallest_effect) for cell in cells):
        return Verdict.INCONCLUSIVE, Reason.FIXTURES_DIFFER
    return Verdict.EQUIVALENT, Reason.WITHIN_MARGIN


def _undecided(decision: Decision, smallest_effect: float, noise_floor: float) -> Reason:
    if decision.disagree:
        return Reason.DEVICES_DISAGREE
    if _beyond(decision.low, decision.high, smallest_effect):
        return Reason.NOISE_FLOOR
    if _stretching_undid(decision, smallest_effect, noise_floor):
        return Reason.FIXTURES_DIFFER
    return Reason.DIRECTION_ONLY if _beyond(decision.low, decision.high, 0.0) else Reason.TOO_WIDE


def _stretching_undid(decision: Decision, smallest_effect: float, noise_floor: float) -> bool:
    """Whether the interval of the process values alone would have decided (faster, slower or equivalent)."""
    low, high = decision.unstretched
    if _beyond(low, high, max(smallest_effect, noise_floor)):
        return True
    return noise_floor <= smallest_effect and _inside(low, high, smallest_effect)
