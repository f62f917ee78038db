"""An A/A study: false alarms, bias and power on records whose truth is known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import NormalDist
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from reportgen.analysis.analyse import analyse
from reportgen.analysis.null_study import null_study
from reportgen.analysis.pairing import DeviceRows
from reportgen.analysis.shares import clopper_pearson, reach_of_most, variance_components
from reportgen.errors import RecordError
from reportgen.model.experiment import Role
from reportgen.model.null_study import ModeSummary, NullStudy
from reportgen.model.plan import Plan
from reportgen.model.protocol import Mode
from reportgen.scoring import device_rows, score_attempts
from tests.factories import sealed_attempt
from tests.study_factory import HARNESS, Truth, study_arms, study_plan, study_repetitions, study_rows

PLACEMENT = [Mode.PROCESS, Mode.PLACEMENT]
TRIPLE = (1.001, 0.999, 1.002, 1.003, 1.0, 1.004)


def study_of(plan: Plan, rows: pd.DataFrame, **more: object) -> NullStudy:
    """Compute the study of one device."""
    found = null_study(plan, [DeviceRows("device", "model", rows, **more)])  # type: ignore[arg-type]
    assert found is not None
    return found


def by_mode(study: NullStudy) -> dict[str, ModeSummary]:
    """Give the summaries by mode."""
    return {one.mode: one for one in study.modes}


def tiny_rows(ratios: Mapping[str, Sequence[float]], arms: Mapping[str, float] | None = None) -> pd.DataFrame:
    """Give rows of one kernel in which the null takes ``ratios`` (by mode, a repetition each) times 1 ms."""
    shares = {"base_1": 1.0, **(arms or {})}
    rows = [
        {
            "mode": mode, "group": "main", "fixture": "kernel=copy", "arm": arm, "repetition": k, "pass": half,
            "position": 1, "launches": 1, "warmup": False, "tag": "",
            "elapsed_ns": round(1e9 * (ratio if arm == "null_1a" else shares[arm])),
        }
        for mode, of_mode in ratios.items()
        for k, ratio in enumerate(of_mode, start=1)
        for arm in ("null_1a", *shares)
        for half in (1, 2)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def tiny_plan(planted: Sequence[float] = ()) -> Plan:
    """Give a plan of one kernel, one null, two modes and one block of six repetitions."""
    arms = [arm for arm in study_arms(planted=planted) if arm.name != "null_1b"]
    return study_plan(
        kernels=["copy"], arms=arms, modes=PLACEMENT, repetitions=6, block_repetitions=6, harness_repetitions=0
    )


def test_a_block_worked_out_by_hand() -> None:
    """Six ratios: the median is the mean of the middle two, the interval their range (ranks 1 and 6 of 6)."""
    alarmed = (1.004, 1.003, 1.005, 1.006, 1.004, 1.003)
    study = study_of(tiny_plan(), tiny_rows({"process": TRIPLE, "placement": alarmed}))
    process, placement = study.nulls
    assert ("process", "kernel=copy", "null_1a", "base_1", 1, 6) == (
        process.mode, process.slice, process.null, process.of, process.block, process.n,
    )  # fmt: skip
    assert pytest.approx((1.0015, 0.999, 1.004)) == (process.estimate, process.low, process.high)
    assert pytest.approx((1.004, 1.003, 1.006)) == (placement.estimate, placement.low, placement.high)
    assert (False, True) == (process.alarm, placement.alarm)
    found = by_mode(study)
    assert (1, 0, 0.0) == (found["process"].comparisons, found["process"].alarms, found["process"].alarm_share)
    assert pytest.approx(2 / 64) == found["process"].nominal_share
    assert pytest.approx((0.0015, 0.0015, 0.0015)) == (
        found["process"].error_median, found["process"].error_p95, found["process"].error_widest,
    )  # fmt: skip
    assert pytest.approx((0.004, 0.003)) == (found["placement"].offset_rms, found["placement"].width_median)
    assert ["placement", "process"] == [one.mode for one in study.shown]
    assert pytest.approx(alarmed) == study.shown[0].h


def test_a_study_is_computed_where_several_modes_or_harnesses_were_planned_and_nowhere_else() -> None:
    """One mode alone is an ordinary record; a harness alone makes a study of one mode."""
    one = study_plan(modes=[Mode.PROCESS], harness_repetitions=0)
    assert analyse(one, [DeviceRows("d", "m", study_rows(one, Truth()))]).null_study is None
    beside = study_plan(modes=[Mode.PROCESS])
    study = analyse(beside, [DeviceRows("d", "m", study_rows(beside, Truth()))]).null_study
    assert study is not None
    assert (["process"], [HARNESS], []) == (
        [one.mode for one in study.modes], [one.harness for one in study.harnesses], study.shown,
    )  # fmt: skip


def test_verdicts_rest_on_mode_process_alone() -> None:
    """Whatever the other modes timed, everything beside the study stays as it was."""
    plan = study_plan()
    rows = study_rows(plan, Truth(offset=0.003))
    alone = rows[rows["mode"] == "process"]
    whole, process = (analyse(plan, [DeviceRows("d", "m", part)]) for part in (rows, alone))
    for name in ("comparisons", "noise", "positions", "times", "promotions"):
        assert getattr(process, name) == getattr(whole, name), name


@pytest.fixture(scope="module")
def large() -> tuple[Plan, DeviceRows]:
    """Simulate 432 null comparisons a mode: independent processes, and a placement that adds 0.37 % to half of the nulls."""
    plan = study_plan(
        kernels=[f"kernel_{at}" for at in range(12)], arms=study_arms(6, planted=(0.01, 1.0)), repetitions=36,
        modes=PLACEMENT, harness_repetitions=0,
    )  # fmt: skip
    offsets = {arm.name: 0.0037 for arm in plan.experiment.arms if arm.role is Role.NULL}
    rows = study_rows(plan, Truth(within=0.0004 / math.sqrt(2), offsets=offsets), seed=7)
    return plan, DeviceRows("d", "m", rows)


def test_independent_processes_alarm_as_often_as_the_ranks_say(large: tuple[Plan, DeviceRows]) -> None:
    """3.86 % of 432 within four standard errors; the usual bootstrap alarms more often; nothing is biased."""
    study = null_study(large[0], [large[1]])
    assert study is not None
    found = by_mode(study)["process"]
    assert 432 == found.comparisons
    assert pytest.approx(0.038574, abs=1e-6) == found.nominal_share
    assert abs(found.alarm_share - 0.038574) < 4 * math.sqrt(0.038574 * 0.961426 / 432)  # type: ignore[operator]
    assert found.share_low < 0.038574 < found.share_high  # type: ignore[operator]
    assert found.bootstrap_alarms > found.alarms
    assert (12, 0) == (found.kernels, found.kernels_beyond)
    assert {"comparisons": True, "nulls_a_baseline": True, "false_alarms": True, "kernels_beyond": True} == {
        part.name: part.passes for part in study.bar if part.name != "error_p95"
    }
    assert 27 == next(part.limit for part in study.bar if part.name == "false_alarms")
    assert pytest.approx(0.0004, rel=0.03) == found.within_sd
    assert found.between_sd < 0.00003  # type: ignore[operator]


def test_a_constant_offset_in_one_placement_alarms_nearly_always(large: tuple[Plan, DeviceRows]) -> None:
    """0.37 % off with a spread of 0.04 %: every interval is sure and wrong, and every kernel is biased."""
    study = null_study(large[0], [large[1]])
    assert study is not None
    found = by_mode(study)["placement"]
    assert (432, 12) == (found.alarms, found.kernels_beyond)
    assert pytest.approx(0.0037, rel=0.02) == found.offset_rms
    assert pytest.approx(0.0037, rel=0.02) == found.between_sd
    assert pytest.approx(0.0004, rel=0.03) == found.within_sd
    assert all(abs(one.mean_error - 0.0037) < 0.0001 for one in study.kernels if one.mode == "placement")


def test_the_mean_error_of_a_kernel_rests_on_independent_units() -> None:
    """Two nulls of one arm in one block are one unit: the standard error is that of unit means."""
    plan = study_plan(kernels=["copy"], modes=PLACEMENT, harness_repetitions=0)
    study = study_of(plan, study_rows(plan, Truth()))
    errors = [one for one in study.nulls if one.mode == "process"]
    units = [np.mean([one.estimate - 1 for one in errors if one.block == block]) for block in (1, 2)]
    found = study.kernels[0]
    assert (4, 2) == (found.comparisons, found.units)
    assert pytest.approx(np.mean(units)) == found.mean_error
    assert pytest.approx(np.std(units, ddof=1) / math.sqrt(2)) == found.standard_error
    assert pytest.approx(np.mean(units) / found.standard_error) == found.quotient


def test_one_unit_has_no_standard_error_and_so_does_not_pass_the_bar() -> None:
    """What cannot be computed is no pass."""
    study = study_of(tiny_plan(), tiny_rows({"process": TRIPLE, "placement": TRIPLE}))
    assert (None, None, None) == (
        study.kernels[0].standard_error, study.kernels[0].quotient, study.kernels[0].beyond,
    )  # fmt: skip
    assert not next(part.passes for part in study.bar if part.name == "kernels_beyond")


def test_what_a_fresh_layout_covers_is_a_share_of_variance() -> None:
    """A process draws 0.1 % that no layout redraws, a placement 0.3 % beside it: the layout covers nine tenths."""
    plan = study_plan(kernels=[f"k{at}" for at in range(12)], arms=study_arms(6, planted=()), repetitions=36)
    study = study_of(plan, study_rows(plan, Truth(offset=0.003, process=0.001), seed=3))
    assert pytest.approx(0.9, abs=0.03) == study.layout_covers
    found = by_mode(study)
    assert pytest.approx(math.sqrt(2) * 0.001, rel=0.15) == found["layout"].between_sd
    assert pytest.approx(math.sqrt(2 * (0.003**2 + 0.001**2)), rel=0.1) == found["placement"].between_sd


def test_planted_work_is_expected_by_what_all_of_it_again_costs() -> None:
    """The arm that does its work twice takes 1.8 times as long: 1 % of the work is expected to cost 0.8 %."""
    plan = tiny_plan(planted=(0.01, 1.0))
    rows = tiny_rows({"process": TRIPLE, "placement": TRIPLE}, {"planted_10": 1.009, "planted_1000": 1.8})
    study = study_of(plan, rows)
    process, placement = study.planted
    assert ("planted_10", "base_1", 0.01, True) == (process.arm, process.baseline, process.planted, process.found)
    assert pytest.approx((1.008, 1.009)) == (process.expected, process.estimate)
    assert [("process", None), ("placement", None), ("process", "kernel=copy"), ("placement", "kernel=copy")] == [
        (one.mode, one.slice) for one in study.power
    ]
    assert (1, 1, 1.0) == (study.power[0].comparisons, study.power[0].found, study.power[0].found_share)
    assert pytest.approx(0.001) == study.power[0].error
    assert placement.estimate == process.estimate


def test_planted_work_that_reads_as_less_time_is_not_found() -> None:
    """An interval on the wrong side of 1 finds nothing; without the doubled arm nothing is expected."""
    study = study_of(
        tiny_plan(planted=(0.01,)), tiny_rows({"process": TRIPLE, "placement": TRIPLE}, {"planted_10": 0.99})
    )
    assert [(None, False)] * 2 == [(one.expected, one.found) for one in study.planted]
    assert (None, None, 0) == (study.power[0].expected, study.power[0].error, study.power[0].found)


def test_power_grows_with_what_was_planted(large: tuple[Plan, DeviceRows]) -> None:
    """1 % more work on a spread of 0.04 % is found always, and estimated right."""
    study = null_study(large[0], [large[1]])
    assert study is not None
    found = study.power[0]
    assert (("process", 0.01), 216, 1.0) == ((found.mode, found.planted), found.comparisons / 1, found.found_share)
    assert pytest.approx(0.008, rel=0.01) == found.expected - 1  # type: ignore[operator]
    assert abs(found.error) < 0.0001  # type: ignore[arg-type]


def test_a_spare_stands_where_the_repetition_stood_that_it_replaced() -> None:
    """Repetition 7 took the place of 2: the block is the same as if 2 had been kept, in its order of time."""
    ratios = {"process": TRIPLE, "placement": TRIPLE}
    whole = study_of(tiny_plan(), tiny_rows(ratios))
    rows = tiny_rows(ratios)
    rows.loc[(rows["mode"] == "placement") & (rows["repetition"] == 2), "repetition"] = 7
    assert whole == study_of(tiny_plan(), rows, places={"placement": {7: 2}})
    lost = study_of(tiny_plan(), rows)
    assert [1, 0] == [one.comparisons for one in lost.modes]


def test_a_block_of_fewer_than_six_gives_no_comparison() -> None:
    """Then there are no figures, and the bar is missed rather than passed by default."""
    study = study_of(tiny_plan(), tiny_rows({"process": TRIPLE[:5], "placement": TRIPLE}))
    found = by_mode(study)["process"]
    assert (0, 0, None, None) == (found.comparisons, found.alarms, found.alarm_share, found.error_p95)
    assert not any(part.passes for part in study.bar if part.name != "nulls_a_baseline")


def test_an_arm_that_failed_a_check_is_compared_nowhere() -> None:
    """It has no ratio."""
    study = study_of(tiny_plan(), tiny_rows({"process": TRIPLE, "placement": TRIPLE}), failed=frozenset({"null_1a"}))
    assert [] == study.nulls


def test_figures_of_another_harness_are_paired_within_its_processes() -> None:
    """Null over original by process; its times beside those of mode process."""
    plan = study_plan(kernels=["copy"], harness_repetitions=2)
    rows = study_rows(plan, Truth(within=0.0))
    own = rows["mode"] == HARNESS
    first_process = own & (rows["repetition"] == 1)
    rows.loc[first_process & (rows["arm"] == "null_1a"), "elapsed_ns"] = 4_488_000
    rows.loc[first_process & (rows["arm"] == "base_1"), "elapsed_ns"] = 4_400_000
    study = study_of(plan, rows)
    first = next(one for one in study.harness_ratios if (one.null, one.repetition) == ("null_1a", 1))
    assert pytest.approx(1.02) == first.ratio
    assert 4 == study.harnesses[0].ratios
    kernel = study.harness_kernels[0]
    assert ("kernel=copy", 6, 4) == (kernel.slice, kernel.figures, kernel.ratios)
    assert pytest.approx(1.25, rel=0.05) == kernel.reads
    assert pytest.approx(33_000 * 1.25, rel=0.05) == kernel.time_ns
    errors = [one.ratio - 1 for one in study.harness_ratios]
    assert pytest.approx(np.mean(errors)) == kernel.mean_error
    assert pytest.approx(max(map(abs, errors))) == kernel.error_widest == study.harnesses[0].error_widest


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"arm": "planted_2"}, "does not give it"),
        ({"repetition": 2}, "one figure"),
        ({"elapsed_ns": 0}, "must be positive"),
    ],
)
def test_wrong_rows_of_a_harness_refuse_the_record(change: dict[str, Any], said: str) -> None:
    """An arm that it does not time, a figure twice, a time of nothing."""
    plan = study_plan(kernels=["copy"], harness_repetitions=2)
    rows = study_rows(plan, Truth())
    at = rows.index[(rows["mode"] == HARNESS) & (rows["repetition"] == 1)][0]
    for name, value in change.items():
        rows.loc[at, name] = value
    with pytest.raises(RecordError, match=said):
        study_of(plan, rows)


@pytest.mark.parametrize(("count", "total"), [(0, 432), (15, 290), (25, 400), (432, 432), (1, 1), (166, 290)])
def test_the_exact_interval_of_a_share_is_that_of_scipy(count: int, total: int) -> None:
    """Against scipy's own Clopper-Pearson interval."""
    expected = stats.binomtest(count, total).proportion_ci(0.95, method="exact")
    assert pytest.approx((expected.low, expected.high), abs=1e-12) == clopper_pearson(count, total)


def test_most_is_the_smallest_value_that_19_of_20_do_not_exceed() -> None:
    """Of 20 the 19th, of 21 the 20th, of one itself."""
    assert (19, 20, 7) == (
        reach_of_most(np.arange(1.0, 21)), reach_of_most(np.arange(1.0, 22)), reach_of_most(np.array([7.0])),
    )  # fmt: skip


def test_variance_components_are_found_again() -> None:
    """Rows with an offset of sd 3 and values of sd 1 around it; gaps do not matter; no offset gives about none."""
    random = np.random.default_rng(5)
    values = random.normal(0, 3, (4000, 1)) + random.normal(0, 1, (4000, 12))
    values[::7, 3] = np.nan
    assert pytest.approx((3, 1), rel=0.03) == variance_components(values)
    assert variance_components(random.normal(0, 1, (4000, 12)))[0] < 0.06
    assert (0.0, math.sqrt(2)) == variance_components(np.array([[1.0, -1.0], [-1.0, 1.0]]))


def test_the_nominal_share_is_that_of_a_symmetric_law_too() -> None:
    """The share of 3.86 % at n = 12 is what normal values give: P(x(3) > 0 or x(10) < 0)."""
    below = NormalDist().cdf(0)
    tail = sum(math.comb(12, k) * below**12 for k in range(3))
    assert pytest.approx(2 * tail, abs=1e-12) == 0.03857421875


def test_two_devices_stand_apart() -> None:
    """Each has comparisons of its own; a kernel's mean error rests on both."""
    plan = study_plan(kernels=["copy"], modes=PLACEMENT, harness_repetitions=0)
    devices = [DeviceRows(name, "m", study_rows(plan, Truth(), seed)) for seed, name in enumerate("ab", start=1)]
    study = null_study(plan, devices)
    assert study is not None
    assert {"a": 8, "b": 8} == {name: sum(one.device == name for one in study.nulls) for name in "ab"}
    assert (8, 4) == (study.kernels[0].comparisons, study.kernels[0].units)


def test_a_slice_of_two_fixtures_is_asked_by_its_process_values() -> None:
    """The process value is the median over fixtures, and the interval holds the block's headline."""
    plan = study_plan(kernels=["copy", "tiny"], modes=PLACEMENT, harness_repetitions=0)
    whole = msgspec.structs.replace(plan.slices[0], name="all", values={}, fixtures=[f.name for f in plan.fixtures])
    plan = msgspec.structs.replace(plan, slices=[whole])
    study = study_of(plan, study_rows(plan, Truth()))
    verdicts = analyse(plan, [DeviceRows("device", "model", study_rows(plan, Truth()))])
    assert ["all"] == [one.slice for one in study.kernels if one.mode == "process"]
    assert {1, 2} == {one.block for one in study.nulls}
    h = next(one for one in verdicts.comparisons if one.arm == "null_1a").devices[0].h
    first = next(one for one in study.nulls if (one.null, one.block, one.mode) == ("null_1a", 1, "process"))
    assert pytest.approx(float(np.median([value for value in h[:12] if value]))) == first.estimate


def test_what_was_left_out_is_told_by_mode_and_a_spare_of_a_spare_takes_the_first_ones_place(tmp_path: Path) -> None:
    """Repetition 2 of mode placement was lost, and so was its spare 25; process repetition 2 is as it was."""
    plan = study_plan(kernels=["copy"])
    answered = study_repetitions(plan, Truth())
    again = {25: "throttled", 26: ""}
    second = next(one for one in answered if (one.mode, one.repetition) == ("placement", 2))
    for number, why in again.items():
        batches = [row | {"repetition": number} for row in second.batches]
        answered.append(msgspec.structs.replace(second, repetition=number, batches=batches, left_out=why))
    answered[answered.index(second)] = msgspec.structs.replace(second, left_out="throttled")
    left_out = [
        {"repetition": 2, "mode": "placement", "reason": "throttled", "replaced_by": 25},
        {"repetition": 25, "mode": "placement", "reason": "throttled", "replaced_by": 26},
    ]
    attempt = sealed_attempt(tmp_path, plan=plan, repetitions=answered, manifest={"left_out": left_out})
    rows = device_rows(attempt, left_out=False)
    assert {"placement": {25: 2, 26: 2}} == rows.places
    numbers = {mode: set(own["repetition"]) & {2, 25, 26} for mode, own in rows.batches.groupby("mode")}
    assert ({2}, {26}) == (numbers["process"], numbers["placement"])
    undisturbed = sealed_attempt(tmp_path / "whole", plan=plan, repetitions=study_repetitions(plan, Truth()))
    whole = score_attempts(plan, [undisturbed])
    found = score_attempts(plan, [attempt])
    assert whole.null_study == found.null_study
    assert [] == found.with_left_out
