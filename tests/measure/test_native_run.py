"""Whole runs of tiny C experiments: compiled, measured in real processes, sealed."""

from __future__ import annotations

from lab import Lab

from reportgen.model.record import Status


def test_a_right_experiment_is_scored(lab: Lab) -> None:
    """Every planned batch and check is there, and nothing else."""
    outcome = lab.run()
    attempt = lab.load(outcome)
    assert (Status.SCORED, "", 0, []) == (outcome.status, outcome.reason, outcome.exit_status, outcome.failed_arms)
