"""The first sentence of a report says no more than the record shows."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from reportgen.model.result import ComparisonResult, Promotion, PromotionResult, Reason, Verdict
from reportgen.publish import answers


def record(verdicts: dict[str, Verdict], promotions: dict[str, Promotion]) -> Any:
    """Make a record of one slice whose candidates came out so against the incumbent."""
    return SimpleNamespace(
        result=SimpleNamespace(
            comparisons=[
                ComparisonResult(
                    arm=arm,
                    role="candidate",
                    baseline="incumbent",
                    baseline_role="incumbent",
                    slice="all",
                    fixtures=[],
                    verdict=verdict,
                    reason=Reason.TOO_WIDE,
                )
                for arm, verdict in verdicts.items()
            ],
            promotions=[
                PromotionResult(arm=arm, slice="all", outcome=outcome, incumbent="incumbent", control=None)
                for arm, outcome in promotions.items()
            ],
        )
    )


@pytest.mark.parametrize("verdict", [Verdict.EQUIVALENT, Verdict.SLOWER, Verdict.FASTER])
def test_decided_verdicts_without_adoption_are_a_no(verdict: Verdict) -> None:
    """Every comparison is decided and nothing is adopted: the answer is no."""
    made = record({"idea": verdict}, {"idea": Promotion.KEEP_INCUMBENT})
    assert answers.NOTHING == answers.lead(made)


@pytest.mark.parametrize("verdict", [Verdict.INCONCLUSIVE, Verdict.INVALID])
def test_one_undecided_comparison_is_no_no(verdict: Verdict) -> None:
    """A record that cannot tell does not say that an idea does not pay."""
    verdicts = {"idea": verdict, "other": Verdict.SLOWER}
    made = record(verdicts, dict.fromkeys(verdicts, Promotion.KEEP_INCUMBENT))
    assert answers.UNDECIDED == answers.lead(made)


def test_an_adopted_arm_is_named() -> None:
    """The answer names what was adopted."""
    made = record({"idea": Verdict.FASTER}, {"idea": Promotion.ADOPT})
    assert answers.lead(made) == "Yes, everywhere tested: idea."
