"""Whole runs of tiny C experiments: compiled, measured in real processes, sealed."""

from __future__ import annotations

from collections import Counter

from reportgen.model.record import Status
from tests.measure.lab import Lab


def test_a_right_experiment_is_scored_with_its_whole_matrix(lab: Lab) -> None:
    """Every arm, repetition, pass and position is there once, each arm was checked before and after."""
    lab.write(sizes="[64, 128]")
    outcome = lab.run()
    attempt = lab.load(outcome)
    assert (Status.SCORED, "", 0, []) == (outcome.status, outcome.reason, outcome.exit_status, outcome.failed_arms)
    scored = attempt.batches[~attempt.batches["warmup"]]
    cells = Counter(zip(scored["fixture"], scored["repetition"], scored["pass"], scored["position"], strict=True))
    assert {1} == set(cells.values())
    assert 2 * 2 * 2 * 3 == len(cells)
    assert 4 * 2 * 3 == len(attempt.checks[attempt.checks["kind"] == "value"])
    assert attempt.checks["passed"].all()
    assert scored.groupby("fixture")["launches"].nunique().eq(1).all()
