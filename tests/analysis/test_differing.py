"""Two records held against each other: known moves between known records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from reportgen.analysis.differing import Side, difference
from reportgen.errors import InputError
from reportgen.model.difference import Difference
from reportgen.model.experiment import Gate, GateKind
from reportgen.model.plan import Plan
from reportgen.model.record import Device
from reportgen.scoring import score_attempts
from tests.factories import RATIOS, make_experiment, make_plan, sealed_attempt

PAYS = Gate(name="pays", kind=GateKind.EVERY_FIXTURE, arms=["candidate"], vs="incumbent", threshold=0.02)


def side(
    folder: Path, name: str, plan: Plan | None = None, ratios: Mapping[str, float] | None = None, **made: Any
) -> Side:
    """Score one attempt without noise, of the plan with a gate."""
    plan = plan or make_plan(make_experiment(gates=[PAYS]))
    attempt = sealed_attempt(folder / name, plan=plan, noise=0.0, ratios=RATIOS | dict(ratios or {}), **made)
    return Side(name, plan, score_attempts(plan, [attempt]), [attempt.manifest])


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Side:
    """Give the record of a candidate at 0.95 of the incumbent's time."""
    return side(tmp_path_factory.mktemp("first"), "first")


@pytest.fixture(scope="module")
def found(first: Side, tmp_path_factory: pytest.TempPathFactory) -> Difference:
    """Hold it against one in which the candidate gains nothing."""
    return difference(first, side(tmp_path_factory.mktemp("second"), "second", ratios={"candidate": 1.0}))


def test_a_record_does_not_differ_from_itself(first: Side) -> None:
    """Nothing moved, nothing was another."""
    found = difference(first, first)
    assert not any(one.moved for one in found.comparisons)
    assert ([], [], []) == (found.cells, found.environment, found.plan)
    assert {True} == {one.overlap for one in found.comparisons}
    assert {("both", True, 1.0)} == {(one.arm and one.sides, one.same_code, one.time_ratio) for one in found.arms}


def test_records_of_different_experiments_are_not_held_against_each_other(first: Side) -> None:
    """Arms and fixtures of one name are others there, so a coincidence of names would compare unlike things."""
    other = replace(first, name="second", plan=msgspec.structs.replace(first.plan, name="other"))
    with pytest.raises(
        InputError, match="first is of experiment sample, second of other; name two records or attempts"
    ):
        difference(first, other)


def test_a_lost_gain_moves_its_comparisons_and_cells(found: Difference) -> None:
    """From 0.95 to 1, in both slices, against incumbent and control; all else stayed."""
    moved = [one for one in found.comparisons if one.moved]
    assert {("candidate", "incumbent"), ("candidate", "control")} == {(one.arm, one.baseline) for one in moved}
    assert {("faster", "equivalent", False)} == {
        (one.before.verdict.value, one.after.verdict.value, one.overlap) for one in moved if one.before and one.after
    }
    assert {"candidate"} == {one.arm for one in found.cells}
    assert {(0.95, 1.0)} == {(round(one.before.ratio, 9), round(one.after.ratio, 9)) for one in found.cells}


def test_a_gate_that_does_not_hold_any_more_moved(found: Difference) -> None:
    """With both readings beside each other."""
    assert {(True, "passes", "fails")} == {
        (one.moved, one.before.outcome.value, one.after.outcome.value)
        for one in found.gates
        if one.before and one.after
    }


def test_an_arms_time_is_after_over_before(found: Difference) -> None:
    """The candidate takes 1 / 0.95 of its former time, the incumbent as much as ever."""
    ratios = {one.arm: one.time_ratio for one in found.arms}
    assert ratios["candidate"] == pytest.approx(1 / 0.95, abs=1e-4)
    assert ratios["incumbent"] == pytest.approx(1.0, abs=1e-9)


def test_plan_and_environment_are_told_field_by_field(first: Side, tmp_path: Path) -> None:
    """By path, with both values, and only what differs."""
    plan = make_plan(make_experiment(gates=[msgspec.structs.replace(PAYS, threshold=0.01)]))
    other = side(
        tmp_path, "other", plan, header={"device": Device(id="cpu-ffffffffffff", model="Other CPU", kind="cpu")}
    )
    found = difference(first, other)
    fields = {one.field: (one.before, one.after) for one in found.plan}
    assert ("0.02", "0.01") == fields["experiment.gate[pays].threshold"]
    assert set(fields) == {"digest", "experiment.gate[pays].threshold", "files[sample/experiment.toml].sha256"}
    assert ("Sample CPU", "Other CPU") == {one.field: (one.before, one.after) for one in found.environment}[
        "device.model"
    ]
    assert 0 == found.cells_compared


def test_another_device_of_the_same_model_is_compared(first: Side, tmp_path: Path) -> None:
    """Where there is one on either side."""
    other = side(tmp_path, "other", header={"device": Device(id="cpu-ffffffffffff", model="Sample CPU", kind="cpu")})
    assert difference(first, other).cells_compared > 0


def test_what_one_side_alone_has_is_told(first: Side) -> None:
    """A comparison, a gate and an arm less."""
    result = msgspec.structs.replace(first.result, comparisons=first.result.comparisons[1:], gates=[], times=[])
    found = difference(first, replace(first, result=result))
    lost = [one for one in found.comparisons if one.after is None]
    assert 1 == len(lost)
    assert (True, None) == (lost[0].moved, lost[0].overlap)
    assert {None} == {one.after for one in found.gates}
    assert {None} == {one.time_ratio for one in found.arms}
