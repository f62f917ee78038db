"""Bands along an axis, by hand, and how often a band is seen where there is none."""

from __future__ import annotations

import numpy as np
import pytest

from reportgen.analysis.analyse import analyse
from reportgen.analysis.band import band
from reportgen.analysis.questions import Question
from reportgen.analysis.views import PairedTimes
from reportgen.model.experiment import Arm, Comparison, Gate, GateKind, Role
from reportgen.model.result import GateOutcome, GateResult
from tests.analysis.made_records import device_rows, make_plan

POINTS = ("a", "b", "c", "d")
COUNT = 9  # repetitions: with four points the corrected rank is 1, which covers 99.6 % (98.75 % is asked for)
BANDS = {
    "passes": ((0.9, 0.92, 1.0, 1.2), GateOutcome.PASSES, [("pays", "a", "b", 2)]),
    "alone": ((0.9, 1.0, 0.9, 1.0), GateOutcome.FAILS, []),
    "costs": ((1.0, 1.0, 1.1, 1.2), GateOutcome.FAILS, [("neither", "a", "b", 2), ("costs", "c", "d", 2)]),
}


def ask(ratios: dict[str, list[float]], **changes: object) -> GateResult:
    """Answer a band gate of 2 % over four points; the null never differs."""
    arms = [
        Arm(name="incumbent", role=Role.INCUMBENT, idea="in use"),
        Arm(name="patch", role=Role.CANDIDATE, idea="new"),
        Arm(name="null", role=Role.NULL, idea="again", of="incumbent"),
    ]
    fields: dict[str, object] = {"arms": ["patch"], "vs": "incumbent", "threshold": 0.02, "axis": "case"}
    gate = Gate(name="range", kind=GateKind.BAND, **(fields | changes))  # type: ignore[arg-type]
    plan = make_plan(arms, POINTS, [Comparison(candidate="patch", baseline="incumbent")], gates=[gate])
    times = {
        name: {
            "incumbent": [[1_000_000] * 2] * len(values),
            "patch": [[round(1_000_000 * value)] * 2 for value in values],
            "null": [[1_000_000] * 2] * len(values),
        }
        for name, values in ratios.items()
    }
    (found,) = analyse(plan, [device_rows("board", times)]).gates
    return found


@pytest.mark.parametrize("case", BANDS)
def test_a_band_needs_two_adjacent_points(case: str) -> None:
    """Every repetition alike, so that each interval is a point."""
    means, outcome, expected = BANDS[case]
    found = ask({name: [mean] * COUNT for name, mean in zip(POINTS, means, strict=True)})

    assert outcome is found.outcome
    assert expected == [(str(one.verdict), one.first, one.last, one.points) for one in found.bands]


def test_the_weaker_of_the_best_two_neighbours_decides() -> None:
    """Of 10 and 8 % saved it is b with 8 %."""
    found = ask({name: [mean] * COUNT for name, mean in zip(POINTS, BANDS["passes"][0], strict=True)})

    assert ("b", "board", 0.02) == (found.fixture, found.device, found.tolerance)
    assert (0.08, 0.08) == pytest.approx((found.estimate, found.end))


def test_ranks_are_corrected_for_the_points_looked_at() -> None:
    """One stray of nine lies beyond rank 2, which 95 % allow, and within rank 1, which 1 - 0.05 / 4 asks for."""
    strayed = [0.9] * (COUNT - 1) + [0.99]
    found = ask({"a": strayed, "b": [0.9] * COUNT, "c": [1.0] * COUNT, "d": [1.0] * COUNT})

    assert GateOutcome.THIN_MARGIN is found.outcome
    assert (1, COUNT, 1 - 2 / 2**COUNT) == (
        found.points[0].interval.rank, found.points[0].interval.n, found.points[0].interval.coverage
    )  # fmt: skip
    assert (0.1, 0.01) == pytest.approx((found.estimate, found.end))


def test_too_few_repetitions_for_so_many_points_are_invalid() -> None:
    """Seven repetitions reach 98.4 % at best, and four points ask for 98.75 %."""
    found = ask({name: [0.9] * 7 for name in POINTS})

    assert (GateOutcome.INVALID, []) == (found.outcome, found.bands)


def test_points_chosen_after_looking_are_marked() -> None:
    """And can hold nothing back."""
    found = ask({name: [0.9] * COUNT for name in POINTS}, after="ab" * 32, required=False)

    assert found.exploratory
    with pytest.raises(ValueError, match="exploratory, so required must be false"):
        ask({name: [0.9] * COUNT for name in POINTS}, after="ab" * 32)


def test_a_band_is_seldom_seen_where_there_is_none() -> None:
    """Ten points without effect, 12 repetitions, margin 0: at most 5 % of 1,000 sweeps say anything of any point."""
    draw, wrong = np.random.default_rng(3), 0
    gate = Gate(name="range", kind=GateKind.BAND, arms=["patch"], vs="incumbent", threshold=0.0, axis="case")
    names = tuple(f"p{at}" for at in range(10))
    for _ in range(1_000):
        times = draw.normal(1_000, 3, (10, 12))
        pairs = PairedTimes("board", names, tuple(range(12)), times, np.full((10, 12), 1_000.0))
        found = band(Question(gate, (pairs,), 0.0, places={name: at for at, name in enumerate(names)}))
        wrong += any(point.verdict.value != "undecided" for point in found.points)

    assert wrong <= 50
