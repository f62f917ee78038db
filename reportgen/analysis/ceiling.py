"""The gate ``ceiling``: what could be saved at most in one stage, less what the arm of another stage costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import numpy as np

from reportgen.analysis.pairing import DeviceRows
from reportgen.analysis.questions import INVALID, Finding, Question, cells_of, outcome_of
from reportgen.analysis.views import PairedTimes, slice_views
from reportgen.model.experiment import Gate
from reportgen.model.plan import Plan
from reportgen.model.result import CeilingSum, GateOutcome, StageCell


def stage_cells(gate: Gate, plan: Plan, rows: Sequence[DeviceRows]) -> list[StageCell]:
    """Take what a ceiling gate rests on from the record of the stage that it names.

    Parameters
    ----------
    plan, rows:
        Plan and scored rows of that record. An arm that failed a check there, or that it does not have, gives no cell.

    Raises
    ------
    RecordError
        Rows that are no record of their plan.
    """
    stage = gate.stage
    if (
        stage is None
        or stage.plan != plan.digest
        or not {stage.arm, stage.vs} <= {arm.name for arm in plan.experiment.arms}
    ):
        return []
    found = []
    for view in slice_views(plan, rows):
        fixtures = view.shared_fixtures(stage.arm, stage.vs, stage.where)
        if not view.failed & {stage.arm, stage.vs}:
            model = view.cubes["main"][0].model
            found += [
                cell for times in view.paired(stage.arm, stage.vs, fixtures) for cell in _cells(gate, times, model)
            ]
    return found


def _cells(gate: Gate, times: PairedTimes, model: str) -> list[StageCell]:
    stage = gate.stage
    if stage is None:
        return []
    return [
        StageCell(
            gate=gate.name,
            plan=stage.plan,
            arm=stage.arm,
            baseline=stage.vs,
            device=times.device,
            model=model,
            fixture=fixture,
            arm_ns=[None if np.isnan(value) else float(value) for value in times.arm_ns[at]],
            baseline_ns=[None if np.isnan(value) else float(value) for value in times.baseline_ns[at]],
        )
        for at, fixture in enumerate(times.fixtures)
    ]


def stage_times(cells: Sequence[StageCell], gate: Gate, model: str) -> tuple[PairedTimes, ...]:
    """Pair what was taken for a gate again, on devices of one model."""
    stage = gate.stage
    wanted = (gate.name, stage and stage.plan, stage and stage.arm, stage and stage.vs, model)
    return tuple(
        PairedTimes(
            device=cell.device,
            fixtures=(cell.fixture,),
            repetitions=tuple(range(1, len(cell.arm_ns) + 1)),
            arm_ns=np.array([cell.arm_ns], dtype=float),
            baseline_ns=np.array([cell.baseline_ns], dtype=float),
        )
        for cell in cells
        if (cell.gate, cell.plan, cell.arm, cell.baseline, cell.model) == wanted
    )


def ceiling(question: Question) -> Finding:
    """Pass where the least lower end of the ceiling, less the greatest upper end of the cost, clears the threshold.

    Either end errs with probability at most (1 - coverage) / 2, whatever the other does; so their difference overstates what
    remains with probability at most the sum of both (Bonferroni), 5 % or less.
    """
    gate, own = question.gate, cells_of(question)
    if gate.stage is None or own is None:
        return INVALID
    of_stage = msgspec.structs.replace(gate, repeats=gate.stage.repeats)
    top = cells_of(replace(question, gate=of_stage, paired=question.stage))
    if top is None:
        return INVALID
    outcome = outcome_of(
        bool(top.end.min() + own.end.min() >= gate.threshold),
        bool(top.estimate.min() + own.estimate.min() >= gate.threshold),
    )
    by_estimate = outcome is GateOutcome.FAILS
    at = int(np.argmin(top.estimate if by_estimate else top.end))
    mine = int(np.argmin(own.estimate if by_estimate else own.end))
    (device, fixture), (of_device, of_fixture) = own.names[mine], top.names[at]
    return Finding(
        outcome,
        estimate=float(top.estimate[at] + own.estimate[mine]),
        end=float(top.end[at] + own.end[mine]),
        fixture=fixture,
        device=device,
        ceiling=CeilingSum(
            plan=gate.stage.plan,
            fixture=of_fixture,
            device=of_device,
            saved=float(top.estimate[at]),
            low=float(top.end[at]),
            cost=-float(own.estimate[mine]),
            cost_high=-float(own.end[mine]),
        ),
    )
