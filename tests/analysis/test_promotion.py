"""What to do with an idea, by every combination of what was found."""

from __future__ import annotations

import pytest

from reportgen.analysis.analyse import analyse
from reportgen.analysis.promotion import decide, incumbent_of
from reportgen.errors import InputError
from reportgen.model.experiment import Arm, Comparison, Gate, GateKind, Role
from reportgen.model.plan import Plan
from reportgen.model.result import Promotion
from tests.analysis.made_records import device_rows, make_plan

TABLE = [
    # beats incumbent, beats control, control beats incumbent, gates pass -> outcome
    (True, True, False, True, Promotion.ADOPT),
    (True, True, True, True, Promotion.ADOPT),
    (True, True, False, False, Promotion.KEEP_INCUMBENT),
    (True, True, True, False, Promotion.ADOPT_AS_REWRITE),
    (True, False, False, True, Promotion.NOT_ATTRIBUTABLE),
    (True, False, True, True, Promotion.NOT_ATTRIBUTABLE),
    (True, False, False, False, Promotion.NOT_ATTRIBUTABLE),
    (False, True, False, True, Promotion.KEEP_INCUMBENT),
    (False, True, True, True, Promotion.ADOPT_AS_REWRITE),
    (False, False, True, True, Promotion.ADOPT_AS_REWRITE),
    (False, False, True, False, Promotion.ADOPT_AS_REWRITE),
    (False, False, False, True, Promotion.KEEP_INCUMBENT),
    (False, False, False, False, Promotion.KEEP_INCUMBENT),
]


@pytest.mark.parametrize(("incumbent", "control", "rewrite", "gates", "outcome"), TABLE)
def test_the_table_of_outcomes(
    *, incumbent: bool, control: bool, rewrite: bool, gates: bool, outcome: Promotion
) -> None:
    """First rule that holds: adopt, not attributable, adopt as rewrite, keep incumbent."""
    assert outcome is decide(
        beats_incumbent=incumbent, beats_control=control, control_beats_incumbent=rewrite, gates_pass=gates
    )


@pytest.mark.parametrize(
    ("control", "shares", "outcome"),
    [
        ("control", {"control": 1.0, "idea": 0.97}, Promotion.ADOPT),
        ("control", {"control": 0.97, "idea": 0.97}, Promotion.NOT_ATTRIBUTABLE),
        ("control", {"control": 0.97, "idea": 1.0}, Promotion.ADOPT_AS_REWRITE),
        ("control", {"control": 1.0, "idea": 1.0}, Promotion.KEEP_INCUMBENT),
        ("incumbent", {"control": 1.0, "idea": 0.97}, Promotion.ADOPT),
        (None, {"control": 1.0, "idea": 0.97}, Promotion.NOT_ATTRIBUTABLE),
    ],
)
def test_a_record_is_promoted_by_its_comparisons(
    control: str | None, shares: dict[str, float], outcome: Promotion
) -> None:
    """From times to an outcome; without a control the best is `not attributable`."""
    result = analyse(_plan(control), [device_rows("board", _times(shares))])

    assert [(outcome, "idea", "incumbent", control)] == [
        (found.outcome, found.arm, found.incumbent, found.control) for found in result.promotions
    ]


def test_a_required_gate_that_does_not_pass_forbids_adoption() -> None:
    """3 % faster than both, but the gate asks for 5 %; a gate that is not required forbids nothing."""
    gates = [
        Gate(name="gain", kind=GateKind.HEADLINE, arms=["idea"], vs="incumbent", threshold=0.05, required=required)
        for required in (True, False)
    ]
    rows = [device_rows("board", _times({"control": 1.0, "idea": 0.97}))]
    outcomes = [analyse(_plan("control", gate), rows).promotions[0].outcome for gate in gates]

    assert outcomes == [Promotion.KEEP_INCUMBENT, Promotion.ADOPT]


def test_an_unclear_incumbent_is_refused() -> None:
    """Two incumbents on the idea's fixtures, and it names none."""
    arms = [
        Arm(name="one", role=Role.INCUMBENT, idea="in use"),
        Arm(name="two", role=Role.INCUMBENT, idea="in use too"),
        Arm(name="idea", role=Role.CANDIDATE, idea="new"),
    ]
    plan = make_plan(arms, ["f"], [])
    with pytest.raises(InputError, match="several incumbents"):
        incumbent_of(plan, arms[2])
    apart = make_plan(arms, ["f", "g"], [], timed={"f": ["one", "idea"], "g": ["two"]})
    assert incumbent_of(apart, arms[2]) == "one"


def _plan(control: str | None, *gates: Gate) -> Plan:
    arms = [
        Arm(name="incumbent", role=Role.INCUMBENT, idea="in use"),
        Arm(name="control", role=Role.CONTROL, idea="matched"),
        Arm(name="idea", role=Role.CANDIDATE, idea="new", control=control),
        Arm(name="null", role=Role.NULL, idea="again", of="incumbent"),
    ]
    asked = [("idea", "incumbent"), ("control", "incumbent"), ("idea", "control"), ("null", "incumbent")]
    comparisons = [Comparison(candidate=arm, baseline=baseline) for arm, baseline in asked]
    return make_plan(arms, ["f"], comparisons, gates=gates)


def _times(shares: dict[str, float]) -> dict[str, dict[str, list[list[float]]]]:
    """Six repetitions of 1 ms a batch; a small ripple keeps the times apart."""
    ripple = [1.0, 1.0001, 0.9999, 1.0002, 0.9998, 1.0]
    of_arm = {"incumbent": 1.0, "null": 1.0, **shares}
    return {"f": {arm: [[round(1e6 * share * one)] * 2 for one in ripple] for arm, share in of_arm.items()}}
