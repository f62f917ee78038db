"""Verdicts follow the rules in their order, at and beside every threshold."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from reportgen.analysis.decision import Decision, DevicePairs, decision, lag_one_correlation
from reportgen.analysis.multiplicity import holm, resolvable, sign_p
from reportgen.analysis.verdict import invalidity, judge
from reportgen.model.result import Interval, Reason, Verdict

S = 0.005


def one_board(*rows: list[float], name: str = "a") -> DevicePairs:
    """Pair ratios of one board, a row a cell."""
    values = np.array(rows)
    return DevicePairs(name, tuple(f"f{at}" for at in range(len(rows))), tuple(range(1, values.shape[1] + 1)), values)


def between(low: float, high: float, n: int = 6) -> Decision:
    """Decide on one cell whose process values run evenly from low to high (n = 6: the range is the interval)."""
    return decision([one_board(np.linspace(low, high, n).tolist())])


@pytest.mark.parametrize(
    ("low", "high", "floor", "expected"),
    [
        (0.98, 0.9949, 0.001, (Verdict.FASTER, Reason.BEYOND_MARGIN)),
        (1.0051, 1.02, 0.001, (Verdict.SLOWER, Reason.BEYOND_MARGIN)),
        (0.98, 0.9949, 0.006, (Verdict.INCONCLUSIVE, Reason.NOISE_FLOOR)),
        (1.0051, 1.02, 0.006, (Verdict.INCONCLUSIVE, Reason.NOISE_FLOOR)),
        (0.996, 1.004, 0.001, (Verdict.EQUIVALENT, Reason.WITHIN_MARGIN)),
        (0.996, 0.999, 0.001, (Verdict.EQUIVALENT, Reason.WITHIN_MARGIN)),
        (0.996, 1.004, 0.006, (Verdict.INCONCLUSIVE, Reason.NOISE_FLOOR)),
        (0.99, 0.999, 0.001, (Verdict.INCONCLUSIVE, Reason.DIRECTION_ONLY)),
        (1.001, 1.02, 0.001, (Verdict.INCONCLUSIVE, Reason.DIRECTION_ONLY)),
        (0.99, 1.001, 0.001, (Verdict.INCONCLUSIVE, Reason.TOO_WIDE)),
        (0.99, 1.001, 0.02, (Verdict.INCONCLUSIVE, Reason.TOO_WIDE)),
    ],
)
def test_the_interval_decides(low: float, high: float, floor: float, expected: tuple[Verdict, Reason]) -> None:
    """Each place the interval can take against the margin, s = 0.5 %."""
    assert expected == judge(between(low, high), [], smallest_effect=S, noise_floor=floor)


def test_without_a_smallest_effect_nothing_is_equivalent() -> None:
    """At s = 0 even identical times are merely undecided."""
    flat = decision([one_board([1.0] * 6)])

    assert judge(flat, [], smallest_effect=0.0, noise_floor=0.0) == (Verdict.INCONCLUSIVE, Reason.TOO_WIDE)


def test_a_cell_wholly_beyond_the_effect_forbids_equivalence() -> None:
    """One cell 1 % slower by its own interval, though the median over cells is 1."""
    cells = [Interval(0.999, 1.001), Interval(1.0051, 1.02)]

    assert judge(between(0.996, 1.004), cells, smallest_effect=S, noise_floor=0.001) == (
        Verdict.INCONCLUSIVE,
        Reason.FIXTURES_DIFFER,
    )


def test_five_repetitions_decide_nothing() -> None:
    """However large the effect."""
    assert judge(between(0.5, 0.51, n=5), [], smallest_effect=S, noise_floor=0.0)[1] is Reason.TOO_FEW_REPETITIONS


def test_stretching_out_of_equivalence_is_called_fixtures_differ() -> None:
    """The process values lie within s; the headline, a median of other things, does not."""
    low_first = [0.97] * 4 + [1.001] * 3
    rows = [low_first, low_first[::-1], [1.001] * 7, [0.994] * 7]
    found = decision([one_board(*rows)])
    held = Decision(**{**found.__dict__, "unstretched": (0.996, 1.004), "low": 0.99, "high": 1.004})

    assert judge(held, [], smallest_effect=S, noise_floor=0.001)[1] is Reason.FIXTURES_DIFFER
    assert judge(held, [], smallest_effect=S, noise_floor=0.0051)[1] is Reason.TOO_WIDE


def test_boards_that_disagree_need_six_repetitions_each() -> None:
    """Twelve on one board do not speak for five on the other."""
    many, few = [0.98 + at / 10_000 for at in range(12)], [1.02 + at / 10_000 for at in range(5)]
    found = decision([one_board(many, name="a"), one_board(few, name="b")])

    assert found.agree is False
    assert (min(many[2], found.headline), max(few)) == (found.low, found.high)
    assert judge(found, [], smallest_effect=S, noise_floor=0.0)[1] is Reason.TOO_FEW_REPETITIONS


def test_invalid_names_the_first_cause() -> None:
    """Baseline, arm, empty cell, noise floor: in this order."""
    flags = {"baseline_failed": True, "arm_failed": True, "cell_without_data": True}
    order = [Reason.BASELINE_FAILED_CHECK, Reason.ARM_FAILED_CHECK, Reason.CELL_WITHOUT_DATA, Reason.NO_NOISE_FLOOR]
    found = [
        invalidity(**{name: on and name not in list(flags)[:at] for name, on in flags.items()}, noise_floor=None)
        for at in range(4)
    ]

    assert order == found
    assert invalidity(baseline_failed=False, arm_failed=False, cell_without_data=False, noise_floor=0.0) is None


@given(st.lists(st.floats(0.9, 1.1), min_size=6, max_size=25))
def test_p_values_are_those_of_the_sign_test(h: list[float]) -> None:
    """Against 1 without ties, scipy's binomial test of how many lie below."""
    found = decision([one_board(h)])
    if 1.0 not in h:
        below = sum(value < 1 for value in h)
        assert scipy.stats.binomtest(below, len(h)).pvalue == pytest.approx(sign_p(found, 0.0), abs=1e-12)
    assert sign_p(found, 0.0) <= sign_p(found, 0.01) <= 1


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8))
def test_holm_equals_closed_testing_with_bonferroni(p_values: list[float]) -> None:
    """An arm's adjusted p is the largest Bonferroni p over all families that hold it."""
    adjusted = holm(p_values)
    everyone = range(len(p_values))
    for at in everyone:
        families = (family for size in everyone for family in combinations(everyone, size + 1) if at in family)
        closed = max(min(1.0, len(family) * min(p_values[one] for one in family)) for family in families)
        assert closed == pytest.approx(adjusted[at][0], abs=1e-12)
    assert sorted(rank for _, rank in adjusted) == list(range(1, len(p_values) + 1))
    by_rank = sorted(adjusted, key=lambda pair: pair[1])
    assert all(first[0] <= second[0] for first, second in pairwise(by_rank))


def test_what_n_cannot_resolve_is_said() -> None:
    """2^-5 = 0.031 is at most 0.05 for one candidate, not for two; twelve repetitions resolve 102."""
    assert [resolvable(6, 1), resolvable(6, 2), resolvable(12, 102), resolvable(12, 103)] == [True, False, True, False]


def test_lag_one_correlation_by_hand() -> None:
    """1, 2, 3, 4: mean 2.5, products 0.75 - 0.25 + 0.75 over squares 5. A gap drops its two products."""
    assert lag_one_correlation(np.array([1.0, 2.0, 3.0, 4.0])) == pytest.approx(1.25 / 5)
    assert lag_one_correlation(np.array([1.0, np.nan, 2.0, 3.0])) == pytest.approx(0.0)
    assert lag_one_correlation(np.array([1.0, 1.0, 1.0])) is None
    assert lag_one_correlation(np.array([1.0, 2.0, np.nan])) is None


@pytest.mark.parametrize("sizes", [(6, 6), (12, 8), (9, 9, 9)])
def test_the_median_test_of_devices_is_fisher_exact(sizes: tuple[int, ...]) -> None:
    """Two-sided by doubling the smaller tail of scipy's hypergeometric; Bonferroni over three boards."""
    random = np.random.default_rng(sum(sizes))
    h = [random.normal(1 + at / 500, 0.002, n) for at, n in enumerate(sizes)]
    pooled = np.concatenate(h)
    below, total = int(np.sum(pooled < np.median(pooled))), len(pooled)
    tails = []
    for values in h:
        mine = int(np.sum(values < np.median(pooled)))
        law = scipy.stats.hypergeom(total, below, len(values))
        tails.append(min(1.0, 2 * min(float(law.cdf(mine)), float(law.sf(mine - 1)))))
    expected = min(1.0, min(tails) * (len(sizes) if len(sizes) > 2 else 1))
    found = decision([one_board(values.tolist(), name=str(at)) for at, values in enumerate(h)])

    assert expected == pytest.approx(found.device_p, abs=1e-12)
    assert (expected > 0.05) is found.agree
