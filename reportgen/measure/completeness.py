"""Whether a process answered everything that it was asked. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from reportgen.measure.answers import Row
from reportgen.measure.checking import AFTER, BEFORE
from reportgen.measure.job import Job

PASSES = (1, 2)


def missing(job: Job, batches: Iterable[Row], checks: Iterable[Row]) -> str:
    """Name what a repetition's answer lacks or has too often; empty where the matrix and its checks are whole."""
    planned = {
        (fixture, arm, number, position)
        for fixture in job.block_order
        for number in PASSES
        for position, arm in enumerate(job.orders[fixture][:: 1 if number == 1 else -1], start=1)
    }
    measured = Counter(
        (row["fixture"], row["arm"], row["pass"], row["position"]) for row in batches if not row["warmup"]
    )
    if set(measured) != planned or max(measured.values(), default=1) > 1:
        return f"{len(planned - set(measured))} of {len(planned)} planned batches are missing"
    wanted = {(fixture, arm, when) for fixture, arm in job.check_order for when in (BEFORE, AFTER)}
    unchecked = wanted - {(row["fixture"], row["arm"], row["when"]) for row in checks}
    return f"{len(unchecked)} of {len(wanted)} planned checks are missing" if unchecked else ""
