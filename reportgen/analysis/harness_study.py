"""What other harnesses read for the same kernels in the same attempt: one figure a fixture, arm and process."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from reportgen.analysis.median import median
from reportgen.analysis.pairing import DeviceRows
from reportgen.analysis.shares import reach_of_most
from reportgen.analysis.times import arm_times
from reportgen.analysis.views import SliceView
from reportgen.errors import RecordError
from reportgen.model.null_study import HarnessKernel, HarnessRatio, HarnessSummary
from reportgen.model.plan import Plan

GROUP = "harness"
_KEY = ("fixture", "arm", "repetition")


@dataclass(frozen=True)
class Figure:
    """One figure of a harness: its time per execution."""

    harness: str
    device: str
    fixture: str
    arm: str
    repetition: int
    time_ns: float


def harness_figures(plan: Plan, rows: Sequence[DeviceRows]) -> list[Figure]:
    """Every figure of every harness of the plan, in its order, then by device, fixture, arm and repetition of the plan.

    Raises
    ------
    RecordError
        A row names what the plan does not give that harness, stands twice, or is not positive.
    """
    return [
        figure
        for harness in plan.experiment.harnesses
        for device in sorted(rows, key=lambda one: one.device)
        for figure in _figures(plan, harness.name, set(harness.arms), device)
    ]


def _figures(plan: Plan, harness: str, arms: set[str], rows: DeviceRows) -> list[Figure]:
    table = rows.batches
    own = table[(table["group"] == GROUP) & (table["mode"] == harness) & ~table["warmup"].astype(bool)]
    where = f"device {rows.device}, harness {harness}"
    timed = plan.arms_by_fixture
    if any(arm not in arms or arm not in timed.get(fixture, ()) for fixture, arm, _ in _keys(own)):
        raise RecordError("a figure is of a fixture or arm that the plan does not give it", where=where)
    if own.duplicated(list(_KEY)).any():
        raise RecordError("two rows are one figure", where=where)
    if not ((own["elapsed_ns"] > 0) & (own["launches"] > 0)).all():
        raise RecordError("elapsed_ns and launches must be positive", where=where)
    times = (own["elapsed_ns"] / own["launches"]).tolist()
    found = dict(zip(_keys(own), times, strict=True))
    order = {arm.name: at for at, arm in enumerate(plan.experiment.arms)}
    fixtures = {name: at for at, name in enumerate(timed)}
    return [
        Figure(harness, rows.device, *key, found[key])
        for key in sorted(found, key=lambda key: (fixtures[key[0]], order[key[1]], key[2]))
    ]


def _keys(table: pd.DataFrame) -> list[tuple[str, str, int]]:
    return list(zip(*(table[name].tolist() for name in _KEY), strict=True))


def harness_ratios(plan: Plan, figures: Sequence[Figure]) -> list[HarnessRatio]:
    """Ratio of every null to the arm it repeats, where a process of the harness read both."""
    time_ns = {(one.harness, one.device, one.fixture, one.arm, one.repetition): one.time_ns for one in figures}
    of = {arm.name: arm.of for arm in plan.experiment.arms if arm.of is not None}
    found = []
    for one in figures:
        repeated = of.get(one.arm)
        if repeated is None:
            continue
        original = time_ns.get((one.harness, one.device, one.fixture, repeated, one.repetition))
        if original is not None:
            found.append(
                HarnessRatio(
                    harness=one.harness,
                    device=one.device,
                    fixture=one.fixture,
                    null=one.arm,
                    of=repeated,
                    repetition=one.repetition,
                    ratio=one.time_ns / original,
                )
            )
    return found


def harness_summaries(plan: Plan, ratios: Sequence[HarnessRatio]) -> list[HarnessSummary]:
    """One line a harness of the plan."""
    lines = []
    for harness in plan.experiment.harnesses:
        error = np.abs(np.array([one.ratio for one in ratios if one.harness == harness.name]) - 1)
        some = bool(len(error))
        lines.append(
            HarnessSummary(
                harness=harness.name,
                ratios=len(error),
                error_median=median(error) if some else None,
                error_p95=reach_of_most(error) if some else None,
                error_widest=float(error.max()) if some else None,
            )
        )
    return lines


def harness_kernels(
    figures: Sequence[Figure], ratios: Sequence[HarnessRatio], views: Sequence[SliceView]
) -> list[HarnessKernel]:
    """Sum up each harness kernel by kernel; ``views`` are the slices as mode ``process`` timed them."""
    own_ns = {(one.device, one.fixture, one.arm): one.median_ns for one in arm_times(views)}
    slices = {(cube.device, name): view.name for view in views for cube in view.cubes["main"] for name in view.fixtures}
    read: dict[tuple[str, str], list[Figure]] = defaultdict(list)
    errors: dict[tuple[str, str], list[float]] = defaultdict(list)
    for figure in figures:
        read[figure.harness, slices[figure.device, figure.fixture]].append(figure)
    for one in ratios:
        errors[one.harness, slices[one.device, one.fixture]].append(one.ratio - 1)
    return [_kernel(*key, of_kernel, errors[key], own_ns) for key, of_kernel in read.items()]


def _kernel(
    harness: str,
    name: str,
    figures: Sequence[Figure],
    errors: Sequence[float],
    own_ns: Mapping[tuple[str, str, str], float],
) -> HarnessKernel:
    reads = [one.time_ns / own_ns[key] for one in figures if (key := (one.device, one.fixture, one.arm)) in own_ns]
    return HarnessKernel(
        harness=harness,
        slice=name,
        figures=len(figures),
        ratios=len(errors),
        time_ns=median(np.array([one.time_ns for one in figures])),
        reads=median(np.array(reads)) if reads else None,
        mean_error=math.fsum(errors) / len(errors) if errors else None,
        error_widest=max(map(abs, errors)) if errors else None,
    )
