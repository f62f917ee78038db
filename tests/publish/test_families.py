"""Holm's reading in words, from the adjusted p-values that the record holds."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from reportgen.model.result import ComparisonResult, Reason, Verdict
from reportgen.publish import families


def record(found: list[tuple[Verdict, float | None]]) -> Any:
    """Make a record of one slice whose candidates have these verdicts and adjusted p-values."""
    made = [
        ComparisonResult(
            arm=f"idea{place}",
            role="candidate",
            baseline="incumbent",
            baseline_role="incumbent",
            slice="all",
            fixtures=[],
            verdict=verdict,
            reason=Reason.BEYOND_MARGIN,
            holm_p=holm_p,
        )
        for place, (verdict, holm_p) in enumerate(found)
    ]
    return SimpleNamespace(result=SimpleNamespace(comparisons=made))


FASTER, SLOWER, UNDECIDED = Verdict.FASTER, Verdict.SLOWER, Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (
            [(FASTER, 0.05), (SLOWER, 0.051), (UNDECIDED, 1.0)],
            "After Holm at 5%, 1 of the 2 faster or slower verdicts against incumbent stands.",
        ),
        (
            [(FASTER, 0.2), (FASTER, None)],
            "After Holm at 5%, none of the 2 faster or slower verdicts against incumbent stand.",
        ),
        (
            [(FASTER, 0.01), (FASTER, 0.02), (SLOWER, 0.03)],
            "After Holm at 5%, 3 of the 3 faster or slower verdicts against incumbent stand.",
        ),
        ([(FASTER, 0.01)], "After Holm at 5%, the one faster or slower verdict against incumbent stands."),
        ([(SLOWER, 0.06)], "After Holm at 5%, the one faster or slower verdict against incumbent does not stand."),
        ([(UNDECIDED, 0.01)], "No candidate is shown faster or slower than incumbent."),
    ],
)
def test_holms_reading_is_said_in_words(found: list[tuple[Verdict, float | None]], text: str) -> None:
    """What decides is the adjusted p of the verdicts that claim a direction; on 5% itself they stand."""
    assert text == families.holm_said(record(found), "all")
