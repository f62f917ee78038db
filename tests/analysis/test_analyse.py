"""A whole record: slices, models, nulls, peers, left-out rows, positions, refusals and invariances."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reportgen.analysis.analyse import analyse
from reportgen.analysis.pairing import DeviceRows
from reportgen.errors import RecordError
from reportgen.model.experiment import Arm, Comparison, Role
from reportgen.model.plan import Plan
from reportgen.model.result import Reason, Result, Verdict
from tests.analysis.made_records import device_rows, make_plan

FIXTURES = ("a", "b", "c")
EFFECT = {"incumbent": 1.0, "control": 1.0, "idea": 0.97, "null": 1.0, "null_control": 1.0}


def plan(**changes: object) -> Plan:
    """Incumbent, control, an idea, a null of each baseline; three fixtures."""
    arms = [
        Arm(name="incumbent", role=Role.INCUMBENT, idea="in use"),
        Arm(name="control", role=Role.CONTROL, idea="matched"),
        Arm(name="idea", role=Role.CANDIDATE, idea="new", control="control"),
        Arm(name="null", role=Role.NULL, idea="again", of="incumbent"),
        Arm(name="null_control", role=Role.NULL, idea="again", of="control"),
    ]
    asked = [("idea", "incumbent"), ("idea", "control"), ("control", "incumbent")]
    comparisons = [Comparison(candidate=arm, baseline=baseline) for arm, baseline in asked]
    return make_plan(arms, FIXTURES, comparisons, **changes)  # type: ignore[arg-type]


def times(seed: int = 1, n: int = 9, noise: float = 0.001) -> dict[str, dict[str, list[list[float]]]]:
    """Batches of about 1 ms with a little noise."""
    rng = np.random.default_rng(seed)
    return {
        fixture: {
            arm: [[round(1e6 * effect * rng.normal(1, noise)) for _ in range(2)] for _ in range(n)]
            for arm, effect in EFFECT.items()
        }
        for fixture in FIXTURES
    }


def board(device: str = "board", seed: int = 1, **changes: object) -> DeviceRows:
    """Rows of one board."""
    return device_rows(device, times(seed), **changes)  # type: ignore[arg-type]


def without(rows: DeviceRows, query: str) -> DeviceRows:
    """Keep the rows that a query does not select."""
    return replace(rows, batches=rows.batches.query(f"not ({query})"))


def test_each_null_is_judged_against_the_arm_it_repeats() -> None:
    """One floor over both nulls; they are comparisons too, and no family counts them."""
    result = analyse(plan(), [board()])
    nulls = {(found.arm, found.baseline): found for found in result.comparisons if found.role == "null"}
    floors = {line.floor for line in result.noise}
    ends = [abs(end - 1) for found in nulls.values() for end in (found.low or 0, found.high or 0)]

    assert {("null", "incumbent"), ("null_control", "control")} == set(nulls)
    assert {max(ends)} == floors
    assert [True, True] == [line.valid for line in result.noise]
    assert {None} == {found.holm_p for found in nulls.values()}
    assert {1} == {found.family_size for found in result.comparisons if found.role == "candidate"}
    assert {(1, 0.5)} == {(found.valid_nulls, found.outrun_bound) for found in result.comparisons}


def test_the_cell_floor_is_the_95th_percentile_of_null_cells() -> None:
    """Of six null cells, the largest: 5 of 6 are less than 95 %."""
    result = analyse(plan(), [board()])
    strays = [abs(cell.ratio - 1) for found in result.comparisons if found.role == "null" for cell in found.cells]

    assert len(strays) == 6
    assert {max(strays)} == {line.cell_floor for line in result.noise}


def test_slices_speak_for_themselves() -> None:
    """A failed cell in one slice leaves the other alone; noise, family and promotion are formed within a slice."""
    parts = plan(slices={"part=1": ["a"], "part=2": ["b", "c"]})
    result = analyse(parts, [without(board(), "fixture == 'a' and arm == 'idea'")])
    reasons = {
        found.slice: found.reason for found in result.comparisons if found.baseline == "control" and found.arm == "idea"
    }

    assert {"part=1": Reason.CELL_WITHOUT_DATA, "part=2": Reason.BEYOND_MARGIN} == reasons
    assert ["part=1", "part=2"] == [found.slice for found in result.promotions]
    assert len({line.floor for line in result.noise}) == 2


def test_an_arm_limited_to_some_fixtures_is_not_asked_elsewhere() -> None:
    """By plan the idea is timed on b alone: no cell is missing, and slice 1 has no such comparison."""
    timed = {name: [arm for arm in EFFECT if arm != "idea" or name == "b"] for name in FIXTURES}
    limited = plan(slices={"part=1": ["a"], "part=2": ["b", "c"]}, timed=timed)
    rows = without(board(), "arm == 'idea' and fixture != 'b'")
    found = [one for one in analyse(limited, [rows]).comparisons if one.arm == "idea"]

    assert [("part=2", ["b"], Verdict.FASTER)] * 2 == [(one.slice, one.fixtures, one.verdict) for one in found]


def test_device_models_are_slices_of_their_own() -> None:
    """Two boards of one model speak together, another model by itself."""
    rows = [board("x", 1), board("y", 2), board("z", 3, model="other")]
    result = analyse(plan(), rows)
    devices = {found.slice: [device.device for device in found.devices] for found in result.comparisons}

    assert {"all @ board": ["x", "y"], "all @ other": ["z"]} == devices


def test_the_order_of_boards_and_rows_does_not_matter() -> None:
    """The result is the same to the last digit, whatever order the rows come in."""
    rows = [board("x", 1), board("y", 2)]
    shuffled = [replace(one, batches=one.batches.sample(frac=1, random_state=3)) for one in reversed(rows)]

    assert msgspec.json.encode(analyse(plan(), rows)) == msgspec.json.encode(analyse(plan(), shuffled))


@pytest.mark.parametrize("kind", ["category", "string", "object"])
def test_names_may_come_in_any_type_of_column(kind: str) -> None:
    """As Parquet, CSV or a dictionary-encoded table gives them."""
    rows = board()
    named = dict.fromkeys(("mode", "group", "fixture", "arm", "tag"), kind)

    assert analyse(plan(), [rows]) == analyse(plan(), [replace(rows, batches=rows.batches.astype(named))])


def test_warm_up_and_other_modes_are_not_read() -> None:
    """Rows that carry no verdict may stand in the table."""
    rows = board()
    others = pd.concat([rows.batches.assign(warmup=True), rows.batches.assign(mode="placement"), rows.batches])

    assert analyse(plan(), [rows]) == analyse(plan(), [replace(rows, batches=others)])


def test_a_failed_arm_has_no_ratio_anywhere_but_its_times() -> None:
    """It was timed, so that the matrix is complete; nothing is made of it."""
    result = analyse(plan(), [board("x", 1), board("y", 2, failed=["idea"])])
    found = [one for one in result.comparisons if one.arm == "idea"]

    assert {Reason.ARM_FAILED_CHECK} == {one.reason for one in found}
    assert {(None, ())} == {(one.headline, tuple(one.cells)) for one in found}
    assert 6 == len([one for one in result.times if one.arm == "idea"])


def test_an_empty_cell_shows_what_the_others_hold() -> None:
    """The comparison is invalid; the cells that have data are still listed beside all its fixtures."""
    result = analyse(plan(), [without(board(), "fixture == 'a' and arm == 'idea'")])
    (found,) = [one for one in result.comparisons if (one.arm, one.baseline) == ("idea", "control")]

    assert (Verdict.INVALID, Reason.CELL_WITHOUT_DATA) == (found.verdict, found.reason)
    assert (["a", "b", "c"], ["b", "c"]) == (found.fixtures, [cell.fixture for cell in found.cells])


def test_peers_are_compared_within_their_own_processes() -> None:
    """The incumbent of the peer processes is another series than that of the main ones."""
    arms = [
        Arm(name="incumbent", role=Role.INCUMBENT, idea="in use"),
        Arm(name="theirs", role=Role.PEER, idea="someone else's"),
        Arm(name="null", role=Role.NULL, idea="again", of="incumbent"),
    ]
    asked = [Comparison(candidate="theirs", baseline="incumbent")]
    with_peer = make_plan(arms, ["a"], asked, timed={"a": ["incumbent", "null"]}, peers={"a": ["incumbent", "theirs"]})
    main = device_rows("x", {"a": {"incumbent": [[1000, 1000]] * 6, "null": [[1000, 1000]] * 6}})
    peer = device_rows("x", {"a": {"incumbent": [[2000, 2000]] * 6, "theirs": [[1800, 1800]] * 6}}, group="peer")
    result = analyse(with_peer, [replace(main, batches=pd.concat([main.batches, peer.batches]))])

    assert [("theirs", 0.9, Verdict.FASTER)] == [
        (one.arm, one.headline, one.verdict) for one in result.comparisons if one.role == "peer"
    ]
    assert {"incumbent": 100.0, "null": 100.0, "theirs": 180.0} == {one.arm: one.median_ns for one in result.times}
    assert result.promotions == []


def test_left_out_repetitions_are_shown_with_and_without() -> None:
    """Rows of repetitions that a rule left out come by themselves and change only `with_left_out`."""
    rows = board()
    kept, left_out = without(rows, "repetition == 4"), without(rows, "repetition != 4")
    result = analyse(plan(), [kept], left_out=[left_out])

    assert analyse(plan(), [kept]).comparisons == result.comparisons
    assert analyse(plan(), [rows]).comparisons == result.with_left_out
    assert [1, 2, 3, 5, 6, 7, 8, 9] == result.comparisons[0].devices[0].repetitions
    assert analyse(plan(), [rows]).with_left_out == []


def test_a_known_ramp_over_slots_is_found() -> None:
    """Six slots in the order of time, each 1,000 ns slower than the one before; an arm in slot p returns in slot 4 - p.

    Its two batches have their mean where the passes meet, so every slot shows its own distance from there.
    """
    slow = {(1, 1): 1000, (1, 2): 1001, (1, 3): 1002, (2, 1): 1003, (2, 2): 1004, (2, 3): 1005}
    arms = ["incumbent", "idea", "null"]
    by_arm = {arm: [[slow[1, at] * 1000, slow[2, 4 - at] * 1000]] * 6 for at, arm in enumerate(arms, start=1)}
    made = [Arm(name="incumbent", role=Role.INCUMBENT, idea=""), Arm(name="idea", role=Role.CANDIDATE, idea="")]
    ramp = make_plan([*made, Arm(name="null", role=Role.NULL, idea="", of="incumbent")], ["a"], [])
    effects = analyse(ramp, [device_rows("x", {"a": by_arm})]).positions

    assert [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3)] == [(one.order_pass, one.position) for one in effects]
    assert [6] * 6 == [one.batches for one in effects]
    assert [one.effect for one in effects] == pytest.approx(
        [
            slow[key] / ((slow[1, at] + slow[2, 4 - at]) / 2) - 1
            for key, at in zip(slow, (1, 2, 3, 3, 2, 1), strict=True)
        ]
    )


def test_process_values_of_disjoint_cells_leave_too_few() -> None:
    """Every cell has pairs, but no repetition has half of them: nothing is decided, nothing crashes."""
    rows = board()
    thin = rows.batches
    for fixture, third in zip(FIXTURES, (0, 1, 2), strict=True):
        thin = thin[~((thin["fixture"] == fixture) & (thin["arm"] == "idea") & (thin["repetition"] % 3 != third))]
    result = analyse(plan(), [replace(rows, batches=thin)])
    found = result.comparisons[0]

    assert (Verdict.INCONCLUSIVE, Reason.TOO_FEW_REPETITIONS, 0) == (found.verdict, found.reason, found.n)
    assert (None, None, 1.0) == (found.low, found.p_against_margin, found.holm_p)
    assert found.devices[0].interval is None
    assert msgspec.json.decode(msgspec.json.encode(result), type=Result) == result


def test_a_record_without_rows_says_that_every_cell_is_empty() -> None:
    """Nothing measured: each comparison is invalid, nothing is promoted, nothing crashes."""
    rows = board()
    result = analyse(plan(), [replace(rows, batches=rows.batches.iloc[:0])])

    assert {Reason.CELL_WITHOUT_DATA} == {found.reason for found in result.comparisons}
    assert ([], []) == (result.positions, result.times)
    assert {None} == {line.floor for line in result.noise}


def test_a_missing_tag_is_no_tag() -> None:
    """A table may hold null where no rule applied."""
    rows = board()
    named = rows.batches.assign(tag=pd.Categorical([None] * len(rows.batches), categories=["throttled"]))

    assert analyse(plan(), [rows]) == analyse(plan(), [replace(rows, batches=named)])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"elapsed_ns": 0}, "elapsed_ns must be positive"),
        ({"elapsed_ns": -5}, "elapsed_ns must be positive"),
        ({"launches": 0}, "launches must be a positive integer"),
        ({"pass": 3}, "neither 1 nor 2"),
        ({"pass": 2}, "two rows are one batch"),
        ({"arm": "stranger"}, "names arm 'stranger'"),
        ({"fixture": "elsewhere"}, "names fixture 'elsewhere'"),
        ({"group": "third"}, "neither main nor peer"),
    ],
)
def test_a_damaged_row_refuses_the_record_and_is_named(change: dict[str, int | str], message: str) -> None:
    """Board, fixture, arm and repetition of the first row at fault."""
    rows = board("gpu7")
    batches = rows.batches.copy()
    at = batches.index[(batches["fixture"] == "b") & (batches["arm"] == "idea") & (batches["repetition"] == 3)][0]
    for column, value in change.items():
        batches.loc[at, column] = value
    with pytest.raises(RecordError, match=message) as refusal:
        analyse(plan(), [replace(rows, batches=batches)])

    assert "gpu7" in str(refusal.value)
    if {"elapsed_ns", "launches", "pass"} & set(change):
        assert "device gpu7, fixture b, arm idea, repetition 3" in str(refusal.value)


def test_a_missing_column_or_board_refuses_the_record() -> None:
    """And so does the same board twice."""
    rows = board()
    for bad in ([], [rows, rows], [replace(rows, batches=rows.batches.drop(columns="tag"))]):
        with pytest.raises(RecordError):
            analyse(plan(), bad)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 10_000), st.integers(0, 6))
def test_a_clock_that_runs_differently_changes_nothing(seed: int, power: int) -> None:
    """Times scaled by a power of two, exact in binary, give the same ratios, intervals and verdicts."""
    rows = device_rows("x", times(seed, n=6))
    scaled = replace(rows, batches=rows.batches.assign(elapsed_ns=rows.batches["elapsed_ns"] * 2**power))
    first, second = (
        [msgspec.structs.replace(one, cells=[]) for one in analyse(plan(), [table]).comparisons]
        for table in (rows, scaled)
    )

    assert first == second


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 10_000), st.permutations(range(1, 8)))
def test_processes_may_change_places(seed: int, order: list[int]) -> None:
    """Another order of the repetitions leaves figures and verdict; only what shows the order of time may change."""
    rows = device_rows("x", times(seed, n=7))
    moved = replace(
        rows, batches=rows.batches.assign(repetition=rows.batches["repetition"].map(lambda at: order[at - 1]))
    )
    figures = [
        [
            (one.arm, one.headline, one.estimate, one.low, one.high, one.verdict, one.reason, one.p_against_margin)
            for one in analyse(plan(), [table]).comparisons
        ]
        for table in (rows, moved)
    ]

    assert figures[0] == figures[1]


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 10_000))
def test_a_null_and_a_candidate_with_the_same_times_get_the_same_figures(seed: int) -> None:
    """A null is measured and computed as a candidate is; only its part in noise floor and family differs."""
    made = times(seed, n=6)
    for by_arm in made.values():
        by_arm["idea"] = by_arm["null"]
    found = {
        one.arm: (one.headline, one.estimate, one.low, one.high, one.verdict, one.reason, one.p_against_margin)
        for one in analyse(plan(), [device_rows("x", made)]).comparisons
        if one.baseline == "incumbent"
    }

    assert found["null"] == found["idea"]
    assert found["null"][4] not in (Verdict.FASTER, Verdict.SLOWER)
