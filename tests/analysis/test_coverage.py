"""A small version of benchmarks/coverage.py: false alarms where they are known, and how a miss shows."""

from __future__ import annotations

import pytest

from benchmarks.coverage import CASES, RECORDS, Case, Line, coverage_line, no_effect_line, power_line, ratios

EXACT = {case.name: case for case in CASES}


@pytest.mark.parametrize("name", ["homogeneous cells", "effects spread over +-1 %"])
def test_false_alarms_are_as_rare_as_the_coverage_says(name: str) -> None:
    """Three hundred records of twelve processes, within 4 standard errors of 3.9 %."""
    assert coverage_line(EXACT[name], 12, 300).passed


def test_no_effect_is_hardly_called_and_a_large_one_found() -> None:
    """Two hundred records each."""
    assert no_effect_line(12, 0.001, 200).passed
    assert power_line(200).passed


def test_a_wrong_interval_would_miss_its_bar() -> None:
    """Twelve copies of four processes pass for twelve processes: the simulation must notice."""
    case = Case("copies", lambda random, n: [ratios(random, n // 3).repeat(3, axis=1)], exact=True)
    line = coverage_line(case, 12, 300)

    assert isinstance(line, Line)
    assert not line.passed
    assert RECORDS == 2_000
