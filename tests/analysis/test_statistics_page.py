"""docs/statistics.md says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.coverage import CASES, REPETITIONS
from reportgen.analysis.gates import RULES
from reportgen.analysis.median import order_coverage, order_rank
from reportgen.model.result import GateOutcome, Promotion, Reason, Verdict

TEXT = (Path(__file__).parents[2] / "docs" / "statistics.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "word",
    [
        *(reason.value for reason in Reason),
        *(verdict.value for verdict in Verdict),
        *(outcome.value for outcome in Promotion),
        *(outcome.value for outcome in GateOutcome if outcome is not GateOutcome.PASSES),
        *(kind.value for kind in RULES),
    ],
)
def test_every_word_that_a_report_may_say_is_explained(word: str) -> None:
    """Verdicts, reasons, outcomes and the gate kinds that are computed."""
    assert word in TEXT


def test_the_table_of_ranks_is_the_computed_one() -> None:
    """Ranks and coverages at the repetitions worth planning."""
    row = {line.split("|")[1].strip(): line.split("|")[2:-1] for line in TEXT.splitlines() if line.startswith("|")}
    numbers = [int(cell) for cell in row["n"]]

    assert [f"{order_rank(n)}, {n + 1 - (order_rank(n) or 1)}" for n in numbers] == [x.strip() for x in row["ranks"]]
    assert [f"{order_coverage(n):.1%}".replace("%", " %") for n in numbers] == [x.strip() for x in row["coverage"]]


def test_the_simulation_is_printed_whole() -> None:
    """Every case at every n, and no bar missed."""
    for case in CASES:
        lines = re.findall(rf"^\| false alarms: {re.escape(case.name)} \| (\d+) \|.*\| pass \|$", TEXT, re.MULTILINE)
        assert list(REPETITIONS) == [int(n) for n in lines]
    assert "MISS" not in TEXT
