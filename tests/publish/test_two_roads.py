"""The analysis and the published program, written apart, give the same on records that neither was written for.

Times, gaps, tags, failed arms, devices, filters, peers and gates are drawn; every field of the result is compared.
"""

from __future__ import annotations

import random
from functools import cache, partial
from typing import Any

import msgspec
import pandas as pd
import pytest

from reportgen.analysis import comparing
from reportgen.analysis.analyse import analyse
from reportgen.analysis.bootstrap import headline_bootstrap
from reportgen.analysis.pairing import DeviceRows
from reportgen.model.experiment import Arm, Comparison, Gate, GateKind, Role
from reportgen.model.plan import Plan
from reportgen.publish import verify_intervals
from reportgen.publish.verify import NOT_RECOMPUTED, differences, results_of
from tests.factories import make_arms, make_experiment, make_plan

SEEDS = range(8)
# The descriptive bootstrap takes nearly all of the time; its draws come one after the other, so the first of them are the same on both roads.
FEW_DRAWS, ALL_DRAWS = 60, 6  # the seed whose small record is drawn in full
SMALL = {"rows": [256, 512, 1024], "cache": ["same-set", "rotating"]}
Row = dict[str, Any]


def arms_with_more() -> list[Arm]:
    """Give the default arms, a second candidate without control on some fixtures, a second incumbent, and peers."""
    return [
        *make_arms(),
        Arm(name="narrow", role=Role.CANDIDATE, idea="small rows", incumbent="incumbent", only={"rows": [256, 512]}),
        Arm(name="rewrite", role=Role.CANDIDATE, idea="over the incumbent", control="incumbent", incumbent="incumbent"),
        Arm(name="other_incumbent", role=Role.INCUMBENT, idea="also in use", only={"cache": ["rotating"]}),
        Arm(name="ceiling", role=Role.CEILING, idea="work deleted", incumbent="incumbent"),
        Arm(name="peer", role=Role.PEER, idea="someone else's"),
    ]


GATES = [
    Gate(name="every", kind=GateKind.EVERY_FIXTURE, arms=["candidate", "narrow"], vs="incumbent", threshold=0.01),
    Gate(name="headline", kind=GateKind.HEADLINE, arms=["candidate"], vs="control", threshold=0.01, required=False),
    Gate(name="safe", kind=GateKind.NO_REGRESSION, arms=["candidate", "rewrite"], vs="incumbent", threshold=0.002),
    Gate(
        name="saves", kind=GateKind.HEADLINE, arms=["candidate"], vs="incumbent", threshold=50.0, quantity="saved_ns",
        repeats=7,
    ),
    Gate(
        name="costs", kind=GateKind.NO_REGRESSION, arms=["narrow"], vs="incumbent", threshold=5.0, quantity="saved_ns",
        where={"cache": ["same-set"]},
    ),
]  # fmt: skip
WHERE = Comparison(candidate="candidate", baseline="incumbent", where={"rows": [1024]})
OTHER = Comparison(candidate="candidate", baseline="other_incumbent")
PEER = Comparison(candidate="peer", baseline="incumbent")


def drawn_plan(draw: random.Random) -> Plan:
    """Draw a plan: with or without the further arms, gates and peers; the smallest effect decides much."""
    smallest = draw.choice([0.0, 0.005, 0.02])
    if draw.random() < 0.3:
        return make_plan(make_experiment(axes=SMALL, smallest_effect=smallest))
    experiment = make_experiment(axes=SMALL, smallest_effect=smallest, arms=arms_with_more(), gates=GATES)
    plan = make_plan(experiment)
    main = {fixture: [name for name in arms if name != "peer"] for fixture, arms in plan.arms_by_fixture.items()}
    more = [Comparison(candidate=name, baseline="incumbent") for name in ("ceiling", "narrow", "rewrite")]
    asked = [one for one in plan.comparisons if one not in more and one.candidate != "peer"]
    return msgspec.structs.replace(
        plan,
        arms_by_fixture=main,
        peers_by_fixture={fixture: ["incumbent", "peer"] for fixture in list(main)[:4]},
        comparisons=[one for one in asked if one.baseline == "incumbent" or "narrow" not in one.candidate]
        + [*more, WHERE, OTHER, PEER],
    )


def drawn_rows(draw: random.Random, plan: Plan, device: str, left_out: list[int]) -> list[Row]:
    """Draw the scored rows of a device, with an effect, process and cell noise, gaps and tags."""
    count, noise, gaps = draw.choice([5, 6, 9, 12]), draw.choice([0.0005, 0.01]), draw.choice([0.0, 0.0, 0.05])
    effect = {arm.name: draw.choice([1.0, 1.0, 0.97, 1.003]) for arm in plan.experiment.arms}
    effect |= {arm.name: effect[arm.of] for arm in plan.experiment.arms if arm.of}
    rows = []
    for repetition in range(1, count + len(left_out) + 1):
        shared = {name: draw.gauss(1.0, noise / 2) for name in effect}
        for group, timed in (("main", plan.arms_by_fixture), ("peer", plan.peers_by_fixture)):
            for fixture, arms in timed.items():
                order = draw.sample(arms, len(arms))
                for half, in_order in ((1, order), (2, order[::-1])):
                    for position, arm in enumerate(in_order, start=1):
                        elapsed = round(1_000_000 * effect[arm] * shared[arm] * draw.gauss(1.0, noise))
                        row = {"device": device, "attempt": device, "group": group, "warmup": False}
                        row["mode"] = "peer" if group == "peer" else "process"
                        row |= {"fixture": fixture, "arm": arm, "repetition": repetition, "pass": half}
                        row |= {"position": position, "launches": 20, "elapsed_ns": elapsed, "tag": ""}
                        if draw.random() >= gaps:
                            rows.append(row)
    for row in draw.sample(rows, draw.choice([0, 0, 3])):
        row["tag"] = "throttled"
    return rows


def as_text(row: Row, line: int) -> Row:
    """Write a row as CSV gives it back."""
    text = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in row.items()}
    return text | {"line": line}


@cache
def drawn_record(seed: int) -> tuple[Any, Any]:
    """Draw a record and send it down both roads."""
    draw = random.Random(seed)  # noqa: S311 - repeatable test data
    plan = drawn_plan(draw)
    models = draw.choice([["one"], ["one", "one"], ["one", "one", "one"], ["one", "other"]])
    rows, left, text, checks, manifests = [], [], [], [], {}
    for number, model in enumerate(models):
        device, left_out = f"gpu{number}", draw.choice([[], [2]])
        measured = drawn_rows(draw, plan, device, left_out)
        failed = draw.choice([[], [], [], ["candidate"], ["null_incumbent"], ["control"]])
        frame = pd.DataFrame(measured)
        lost = frame["repetition"].isin(left_out)
        rows.append(DeviceRows(device, model, frame[~lost], frozenset(failed)))
        if lost.any():
            left.append(DeviceRows(device, model, frame[lost], frozenset(failed)))
        text += [as_text(row, line) for line, row in enumerate(measured, start=2)]
        checks += [{"device": device, "arm": arm, "passed": "false"} for arm in failed]
        manifests[device] = {
            "device": {"id": device, "model": model},
            "left_out": [
                one
                for repetition in left_out
                for one in ({"repetition": repetition}, {"repetition": repetition, "mode": "peer"})
            ],
        }
    with pytest.MonkeyPatch.context() as patch:
        if seed != ALL_DRAWS:
            patch.setattr(f"{comparing.__name__}.headline_bootstrap", partial(headline_bootstrap, resamples=FEW_DRAWS))
            patch.setattr(verify_intervals, "RESAMPLES", FEW_DRAWS)
            verify_intervals.drawn.cache_clear()
        first = msgspec.json.decode(msgspec.json.encode(analyse(plan, rows, left_out=left)))
        second = results_of(text, checks, msgspec.json.decode(msgspec.json.encode(plan)), manifests)
        verify_intervals.drawn.cache_clear()
    return first, second


@pytest.mark.parametrize("seed", SEEDS)
def test_both_roads_lead_to_the_same_result(seed: int) -> None:
    """Every field: verdicts and reasons exactly, numbers to 1e-12."""
    first, second = drawn_record(seed)
    assert [] == list(differences(first, second, "result"))
    assert set(first) - NOT_RECOMPUTED == set(second)


def test_the_drawn_records_are_of_many_kinds() -> None:
    """A comparison that can only come out one way would show little."""
    reasons, outcomes, promotions = set(), set(), set()
    for seed in SEEDS:
        first, _ = drawn_record(seed)
        reasons |= {one["reason"] for one in (*first["comparisons"], *first["with_left_out"])}
        outcomes |= {gate["outcome"] for gate in first["gates"]}
        promotions |= {one["outcome"] for one in first["promotions"]}
    assert len(reasons) >= 9, reasons
    assert {"passes", "thin margin", "fails", "invalid"} == outcomes
    assert len(promotions) >= 3, promotions
