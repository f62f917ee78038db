"""Gates on small records whose savings were worked out by hand.

Six repetitions, so that a cell's interval is its range; times are round numbers, so that savings are exact shares.
"""

from __future__ import annotations

import numpy as np
import pytest

from reportgen.analysis.analyse import analyse
from reportgen.model.experiment import Arm, Comparison, Gate, GateKind, Role
from reportgen.model.plan import Plan
from reportgen.model.result import GateOutcome, GateResult
from tests.analysis.made_records import device_rows, make_plan

BASE_NS = 1_000_000
IDEA = {
    # thousandths of the baseline's time, by repetition: fixture a saves 3 to 5 %, b 1 to 4 %
    "a": (950, 960, 960, 960, 960, 970),
    "b": (960, 970, 975, 975, 980, 990),
}
NULL = {"a": (1000, 1001, 999, 1000, 1000, 1000), "b": (1000, 1002, 999, 1000, 1002, 1001)}


def ask(gate: Gate, **changes: object) -> list[GateResult]:
    """Answer one gate on the record above."""
    times = {
        name: {
            "incumbent": [[BASE_NS, BASE_NS]] * 6,
            "idea": [[BASE_NS * share // 1000] * 2 for share in IDEA[name]],
            "null": [[BASE_NS * share // 1000] * 2 for share in NULL[name]],
        }
        for name in ("a", "b")
    }
    return analyse(plan(gate), [device_rows("board", times, launches=10, **changes)]).gates  # type: ignore[arg-type]


def plan(*gates: Gate) -> Plan:
    """Name an incumbent, an idea without a control and a null."""
    arms = [
        Arm(name="incumbent", role=Role.INCUMBENT, idea="in use"),
        Arm(name="idea", role=Role.CANDIDATE, idea="new"),
        Arm(name="null", role=Role.NULL, idea="again", of="incumbent"),
    ]
    return make_plan(arms, ["a", "b"], [Comparison(candidate="idea", baseline="incumbent")], gates=gates)


def gate(kind: GateKind, threshold: float, *, vs: str = "incumbent", quantity: str = "ratio", repeats: int = 1) -> Gate:
    """Ask the idea."""
    return Gate(name="g", kind=kind, arms=["idea"], vs=vs, threshold=threshold, quantity=quantity, repeats=repeats)


@pytest.mark.parametrize(
    ("threshold", "outcome", "fixture", "estimate", "end"),
    [
        (0.005, GateOutcome.PASSES, "b", 0.025, 0.01),
        (0.02, GateOutcome.THIN_MARGIN, "b", 0.025, 0.01),
        (0.03, GateOutcome.FAILS, "b", 0.025, 0.01),
        (0.05, GateOutcome.FAILS, "b", 0.025, 0.01),
    ],
)
def test_every_fixture_is_decided_by_the_weakest(
    threshold: float, outcome: GateOutcome, fixture: str, estimate: float, end: float
) -> None:
    """Fixture b saves 2.5 % (its two middle repetitions), its lower end is 1 %."""
    (found,) = ask(gate(GateKind.EVERY_FIXTURE, threshold))

    assert (outcome, fixture, "board") == (found.outcome, found.fixture, found.device)
    assert (estimate, end) == pytest.approx((found.estimate, found.end))


def test_every_cell_says_what_it_saves() -> None:
    """Fixture a saves 4 %, 3 to 5; b 2.5 %, 1 to 4: in shares of the baseline's time, and of 100,000 ns in time."""
    (shares,) = ask(gate(GateKind.EVERY_FIXTURE, 0.005))
    (times,) = ask(gate(GateKind.EVERY_FIXTURE, 500, quantity="saved_ns"))

    said = [[cell.estimate, cell.low, cell.high] for cell in shares.cells]
    saved = [[cell.estimate, cell.low, cell.high] for cell in times.cells]
    assert ["a", "b"] == [cell.fixture for cell in shares.cells]
    np.testing.assert_allclose(said, [[0.04, 0.03, 0.05], [0.025, 0.01, 0.04]])
    np.testing.assert_allclose(saved, [[4_000, 3_000, 5_000], [2_500, 1_000, 4_000]])


def test_saved_time_is_counted_in_nanoseconds_times_repeats() -> None:
    """Fixture b saves 2,500 ns of 100,000 a launch; forty launches save 100,000, at least 40,000."""
    (found,) = ask(gate(GateKind.EVERY_FIXTURE, 90_000, quantity="saved_ns", repeats=40))

    assert (GateOutcome.THIN_MARGIN, "b") == (found.outcome, found.fixture)
    assert (100_000, 40_000) == pytest.approx((found.estimate, found.end))


@pytest.mark.parametrize(
    ("threshold", "outcome"),
    [(0.019, GateOutcome.PASSES), (0.03, GateOutcome.THIN_MARGIN), (0.04, GateOutcome.FAILS)],
)
def test_headline_is_decided_by_the_decision_interval(threshold: float, outcome: GateOutcome) -> None:
    """Process values save 4.5, 3.5, 3.25, 3.25, 3 and 2 %: median 3.25 %, lowest 2 %."""
    (found,) = ask(gate(GateKind.HEADLINE, threshold))

    assert outcome is found.outcome
    assert (0.0325, 0.02) == pytest.approx((found.estimate, found.end))
    assert found.fixture is None


def test_headline_in_nanoseconds_is_the_same_rule() -> None:
    """3.25 % and 2 % of 100,000 ns."""
    (found,) = ask(gate(GateKind.HEADLINE, 1_999, quantity="saved_ns"))

    assert found.outcome is GateOutcome.PASSES
    assert (3_250, 2_000) == pytest.approx((found.estimate, found.end))


def test_no_regression_allows_at_least_the_cell_floor() -> None:
    """Null cells stray by 0 and 0.05 %: no gate can ask for less than 0.05 %; b at worst saves 1 %, a loss of -1 %."""
    (found,) = ask(gate(GateKind.NO_REGRESSION, 0.0))

    assert (GateOutcome.PASSES, "b") == (found.outcome, found.fixture)
    assert (-0.025, -0.01, 0.0005) == pytest.approx((found.estimate, found.end, found.tolerance))


@pytest.mark.parametrize(
    ("allowed", "outcome"),
    [(0.06, GateOutcome.PASSES), (0.05, GateOutcome.THIN_MARGIN), (0.01, GateOutcome.FAILS)],
)
def test_no_regression_turned_round(allowed: float, outcome: GateOutcome) -> None:
    """The incumbent against the idea: fixture a costs 4.17 % more, up to 5.26 %."""
    asked = Gate(name="g", kind=GateKind.NO_REGRESSION, arms=["incumbent"], vs="idea", threshold=allowed)
    (found,) = ask(asked)

    assert (outcome, "a") == (found.outcome, found.fixture)
    assert (1 / 0.96 - 1, 1 / 0.95 - 1, allowed) == pytest.approx((found.estimate, found.end, found.tolerance))


def test_no_regression_in_nanoseconds_scales_the_cell_floor() -> None:
    """0.05 % of 100,000 ns in ten launches is 500 ns."""
    (found,) = ask(gate(GateKind.NO_REGRESSION, 0.0, quantity="saved_ns", repeats=10))

    assert found.outcome is GateOutcome.PASSES
    assert (-25_000, -10_000, 500) == pytest.approx((found.estimate, found.end, found.tolerance))


@pytest.mark.parametrize("kind", [GateKind.EVERY_FIXTURE, GateKind.HEADLINE, GateKind.NO_REGRESSION])
def test_what_cannot_be_computed_is_invalid(kind: GateKind) -> None:
    """A failed arm, or a control that the arm does not have."""
    without_control = ask(gate(kind, 0.0, vs="control"))
    failed = ask(gate(kind, 0.0), failed=["idea"])

    assert [GateOutcome.INVALID] * 2 == [found.outcome for found in [*without_control, *failed]]
    assert [None, None] == [found.estimate for found in [*without_control, *failed]]


def test_without_a_null_no_regression_is_invalid() -> None:
    """Its least tolerance is unknown."""
    (found,) = ask(gate(GateKind.NO_REGRESSION, 0.05), failed=["null"])

    assert found.outcome is GateOutcome.INVALID
