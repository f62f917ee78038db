"""What a record says in words: the answer in a sentence, a line for each slice, and which gate holds an idea back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from reportgen.archive.load import list_attempts
from reportgen.archive.select import records
from reportgen.model.experiment import Gate, GateKind
from reportgen.publish import answers, lookup
from reportgen.publish.view import RecordView
from reportgen.scoring import score
from tests.factories import RATIOS, make_experiment, make_plan, sealed_attempt
from tests.publish.test_answers import said

NEVER = Gate(name="worth_it", kind=GateKind.HEADLINE, arms=["candidate"], vs="incumbent", threshold=0.2)


def record_of(runs: Path, ratios: dict[str, float], gates: Sequence[Gate] = ()) -> RecordView:
    """Measure an experiment without noise, its arms taking the given ratios of the incumbent's time, and score it."""
    plan = make_plan(make_experiment(gates=list(gates)))
    sealed_attempt(runs, plan=plan, ratios=RATIOS | ratios, noise=0.0, repetitions=6)
    record = records(list_attempts(runs))[0]
    return RecordView(
        experiment=record.name,
        slug=record.slug,
        address="records/sample/",
        current=True,
        plan=record.plan,
        result=score(record),
        attempts=[],
        replications=[],
    )


@pytest.mark.parametrize(
    ("ratios", "lead", "line"),
    [
        (
            {"candidate": 0.95},
            "Yes. `candidate` earns its place everywhere tested.",
            "`candidate`: adopt. It takes less time than the kernel in use and than its matched control `control`.",
        ),
        (
            {"candidate": 1.0},
            "No. Nothing tested earned its place",
            "`candidate`: keep the incumbent. It takes as much time as the kernel in use, within the smallest effect of interest.",
        ),
        (
            {"candidate": 1.0, "control": 0.9},
            "Not for the ideas. The m",
            "`candidate`: adopt its matched control `control` as a rewrite: that alone takes less time than the kernel in use.",
        ),
        (
            {"candidate": 0.95, "control": 0.9},
            "Not for the ideas. What",
            (
                "`candidate`: not attributable. It takes less time than the kernel in use, "
                "yet is not shown to take less than `control`, its matched control."
            ),
        ),
    ],
    ids=["pays", "does not", "the rewriting pays", "the control does as well"],
)
def test_the_answer_follows_the_promotions(tmp_path: Path, ratios: dict[str, float], lead: str, line: str) -> None:
    """A reader sees it first."""
    record = record_of(tmp_path, ratios)
    first = answers.slices(record)[0]
    assert said(answers.lead(record)).startswith(lead)
    assert ("cache = same-set", "noise floor ±0.00%") == (first.title, first.floor.striptags())
    assert [line] == [said(one) for one in first.lines]


def test_a_gate_that_holds_an_idea_back_is_named(tmp_path: Path) -> None:
    """Faster than both baselines and yet not adopted: the line says by which rule."""
    record = record_of(tmp_path, {"candidate": 0.95}, [NEVER])
    assert "gate worth_it, fails" == lookup.held_back(record, record.result.promotions[0])
    assert said(answers.slices(record)[0].lines[0]) == (
        "`candidate`: keep the incumbent. It takes less time than both baselines, yet gate `worth_it` fails."
    )


def test_nothing_is_called_held_back_that_did_not_beat_both(tmp_path: Path) -> None:
    """A gate is no excuse for an idea without effect."""
    record = record_of(tmp_path, {"candidate": 1.0}, [NEVER])
    assert "" == lookup.held_back(record, record.result.promotions[0])
