"""What an attempt holds, counted; and what of it stays once its rows lie in tables."""

from __future__ import annotations

from collections.abc import Sequence

from reportgen.model.record import SCHEMA_VERSION, Counts, Repetition, RepetitionFacts


def count(repetitions: Sequence[Repetition]) -> Counts:
    """Count what ``repetitions`` hold, left-out ones included; calibration (repetition 0) is no repetition."""
    batches = [row for repetition in repetitions for row in repetition.batches]
    checks = [row for repetition in repetitions for row in repetition.checks]
    warmup = sum(1 for row in batches if row["warmup"])
    return Counts(
        repetitions=len({repetition.repetition for repetition in repetitions} - {0}),
        batches=len(batches) - warmup,
        warmup_batches=warmup,
        checks=len(checks),
        failed_checks=sum(1 for row in checks if not row["passed"]),
    )


def facts_of(repetition: Repetition) -> RepetitionFacts:
    """Everything of a repetition but its rows, with their number."""
    return RepetitionFacts(
        schema_version=SCHEMA_VERSION,
        repetition=repetition.repetition,
        left_out=repetition.left_out,
        batches=len(repetition.batches),
        checks=len(repetition.checks),
        facts=repetition.facts,
    )
