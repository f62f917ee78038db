"""The first sentence of a report says no more than the record shows."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from reportgen.model.plan import Slice
from reportgen.model.result import ComparisonResult, Promotion, PromotionResult, Reason, Verdict
from reportgen.publish import answers
from reportgen.publish.context import Saying


def said(saying: Saying) -> str:
    """Write a sentence with its names between backticks."""
    return "".join(f"`{one.text}`" if one.code else one.text for one in saying.phrases)


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
    assert answers.NOTHING == said(answers.lead(made))


@pytest.mark.parametrize("verdict", [Verdict.INCONCLUSIVE, Verdict.INVALID])
def test_one_undecided_comparison_is_no_no(verdict: Verdict) -> None:
    """A record that cannot tell does not say that an idea does not pay."""
    verdicts = {"idea": verdict, "other": Verdict.SLOWER}
    made = record(verdicts, dict.fromkeys(verdicts, Promotion.KEEP_INCUMBENT))
    assert answers.UNDECIDED == said(answers.lead(made))


def test_an_adopted_arm_is_named() -> None:
    """The answer names what was adopted, in fixed width."""
    made = record({"idea": Verdict.FASTER}, {"idea": Promotion.ADOPT})
    assert "Yes. `idea` earns its place everywhere tested." == said(answers.lead(made))


def in_slices(outcomes: dict[str, dict[str, Promotion]]) -> Any:
    """Make a record of several slices whose candidates came out so."""
    return SimpleNamespace(
        result=SimpleNamespace(
            comparisons=[],
            promotions=[
                PromotionResult(arm=arm, slice=piece, outcome=outcome, incumbent="incumbent", control=None)
                for piece, arms in outcomes.items()
                for arm, outcome in arms.items()
            ],
        )
    )


ADOPT, KEEP, REWRITE = Promotion.ADOPT, Promotion.KEEP_INCUMBENT, Promotion.ADOPT_AS_REWRITE


@pytest.mark.parametrize(
    ("outcomes", "lead"),
    [
        (
            {"size=l2": {"both": KEEP, "one": KEEP}, "size=beyond": {"both": ADOPT, "one": KEEP}},
            "In part. `both` earns its place with size = beyond; elsewhere the kernel in use stays.",
        ),
        (
            {"size=l2": {"both": ADOPT, "one": KEEP}, "size=beyond": {"both": ADOPT, "one": ADOPT}},
            "In part. `both` earns its place with size = l2 and with size = beyond; `one` earns its place with size = beyond.",
        ),
        (
            {"size=l2": {"both": ADOPT, "one": ADOPT}, "size=beyond": {"both": REWRITE, "one": KEEP}},
            (
                "In part. `both` and `one` earn their place with size = l2; "
                "elsewhere no idea does, though a matched control may: the lines below say where."
            ),
        ),
        (
            {"size=l2": {"a": ADOPT, "b": ADOPT, "c": ADOPT}},
            "Yes. `a`, `b` and `c` earn their place everywhere tested.",
        ),
    ],
    ids=["one slice", "an arm a clause", "a control elsewhere", "three arms"],
)
def test_the_answer_says_which_arm_where(outcomes: dict[str, dict[str, Promotion]], lead: str) -> None:
    """Nobody takes a name for a word, and no slice is promised what another one showed."""
    assert lead == said(answers.lead(in_slices(outcomes)))


def test_of_many_candidates_those_with_one_reason_share_a_line() -> None:
    """Nine arms in three lines, each where the first of its arms stands; a few have a line each."""
    verdicts = {f"slow_{n}": Verdict.SLOWER for n in range(6)} | {"unclear": Verdict.INCONCLUSIVE}
    verdicts |= {"other": Verdict.INCONCLUSIVE, "even": Verdict.EQUIVALENT}
    many = with_slice(verdicts)
    lines = [said(line) for line in answers.slices(many)[0].lines]
    assert 3 == len(lines)
    assert lines[0].startswith(
        "`slow_0`, `slow_1`, `slow_2`, `slow_3`, `slow_4` and `slow_5`: keep the incumbent. Each takes"
    )
    assert (
        "`unclear` and `other`: keep the incumbent. None is shown to take less time than the kernel in use." == lines[1]
    )
    few = with_slice({"one": Verdict.SLOWER, "two": Verdict.SLOWER})
    assert 2 == len(answers.slices(few)[0].lines)


def with_slice(verdicts: dict[str, Verdict]) -> Any:
    """Make a record of one slice, in which nothing is adopted."""
    made = record(verdicts, dict.fromkeys(verdicts, Promotion.KEEP_INCUMBENT))
    made.result.noise, made.result.null_study, made.result.gates = [], None, []
    made.plan = SimpleNamespace(
        slices=[Slice(name="all", values={}, fixtures=[])], experiment=SimpleNamespace(gates=[])
    )
    return made
