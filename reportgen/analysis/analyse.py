"""From a plan and its scored rows to everything a reader is told. Pure: no file, no clock, no seed of its own."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from reportgen.analysis.comparing import Measured, comparison_result, measure
from reportgen.analysis.families import holm_families
from reportgen.analysis.gates import UNKNOWN, Moments, gate_results
from reportgen.analysis.noise import cell_floor, is_valid, noise_floor, noise_results
from reportgen.analysis.null_study import null_study
from reportgen.analysis.pairing import DeviceRows
from reportgen.analysis.positions import position_effects
from reportgen.analysis.promotion import promotions
from reportgen.analysis.times import arm_times
from reportgen.analysis.views import SliceView, all_comparisons, is_null_comparison, slice_views
from reportgen.model.plan import Plan
from reportgen.model.result import SCHEMA_VERSION, ComparisonResult, Result, StageCell


def analyse(
    plan: Plan,
    rows: Sequence[DeviceRows],
    *,
    left_out: Sequence[DeviceRows] = (),
    moments: Moments = UNKNOWN,
    stages: Sequence[StageCell] = (),
) -> Result:
    """Compute the result of one record.

    Parameters
    ----------
    rows:
        Scored rows, one entry a device; batches with a tag count as missing.
    left_out:
        Rows of the repetitions that a rule of the plan left out. With them, or with tagged batches in ``rows``,
        ``with_left_out`` holds the comparisons over all rows.
    moments, stages:
        When the plan was changed and the record began; what ``ceiling`` gates took from other records.

    Raises
    ------
    RecordError
        Rows that are no record of this plan: see ``pairing.time_cubes`` and ``views.slice_views``.
    """
    views = slice_views(plan, rows)
    by_view = _measure(views)
    comparisons = _compare(by_view)
    floors = {view.name: cell_floor(_nulls(measured)) for view, measured in zip(views, by_view, strict=True)}
    gates = gate_results(views, floors, moments, stages)
    return Result(
        schema_version=SCHEMA_VERSION,
        experiment=plan.name,
        plan=plan.digest,
        smallest_effect=plan.experiment.smallest_effect,
        comparisons=comparisons,
        noise=[
            line
            for view, measured in zip(views, by_view, strict=True)
            for line in noise_results(view.name, _nulls(measured))
        ],
        promotions=promotions(plan, [view.name for view in views], comparisons, gates),
        gates=gates,
        positions=[effect for view in views for effect in position_effects(view)],
        times=arm_times(views),
        with_left_out=_with_left_out(plan, rows, left_out) if left_out or _leaves_out(views) else [],
        null_study=null_study(plan, rows),
        stages=list(stages),
    )


def _measure(views: Sequence[SliceView]) -> list[list[Measured]]:
    """Comparisons by slice; one whose arms share no fixture of a slice by plan is not asked there.

    A comparison that no slice can answer is shown as invalid in each, rather than dropped.
    """
    asked = [[measure(view, comparison) for comparison in all_comparisons(view.plan)] for view in views]
    answerable = [any(one.fixtures for one in column) for column in zip(*asked, strict=True)]
    return [
        [one for one, elsewhere in zip(of_slice, answerable, strict=True) if one.fixtures or not elsewhere]
        for of_slice in asked
    ]


def _nulls(measured: Sequence[Measured]) -> list[Measured]:
    return [one for one in measured if is_null_comparison(one.view.plan, one.comparison)]


def _compare(by_view: Sequence[Sequence[Measured]]) -> list[ComparisonResult]:
    results = []
    for measured in by_view:
        nulls = _nulls(measured)
        floor = noise_floor(nulls)
        for one in measured:
            baseline = one.comparison.baseline
            valid = sum(is_valid(null) for null in nulls if null.comparison.baseline == baseline)
            results.append(comparison_result(one, floor, valid))
    return holm_families(results)


def _leaves_out(views: Sequence[SliceView]) -> bool:
    """Whether any batch counts as missing because a rule of the plan has tagged it."""
    return any(cube.left_out for view in views for cubes in view.cubes.values() for cube in cubes)


def _with_left_out(plan: Plan, rows: Sequence[DeviceRows], left_out: Sequence[DeviceRows]) -> list[ComparisonResult]:
    views = slice_views(plan, _joined([*rows, *left_out]), tagged=True)
    return _compare(_measure(views))


def _joined(rows: Sequence[DeviceRows]) -> list[DeviceRows]:
    """Join the entries of each device."""
    by_device: dict[str, list[DeviceRows]] = {}
    for entry in rows:
        by_device.setdefault(entry.device, []).append(entry)
    return [
        DeviceRows(
            device=device,
            model=entries[0].model,
            batches=pd.concat([entry.batches for entry in entries], ignore_index=True),
            failed=frozenset().union(*(entry.failed for entry in entries)),
        )
        for device, entries in by_device.items()
    ]
