"""Whether a process answered everything that it was asked. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from reportgen.measure.answers import Row
from reportgen.measure.job import Job
from reportgen.measure.jobs import Described

PASSES = (1, 2)
INPUTS = "inputs/"


def missing(job: Job, batches: Iterable[Row], checks: Iterable[Row]) -> str:
    """Name what a repetition's answer lacks or has too often; empty where the matrix and its checks are whole."""
    passes = PASSES if job.harness is None else PASSES[:1]
    planned = {
        (fixture, arm, number, position)
        for fixture in job.block_order
        for number in passes
        for position, arm in enumerate(job.orders[fixture][:: 1 if number == 1 else -1], start=1)
    }
    measured = Counter(
        (row["fixture"], row["arm"], row["pass"], row["position"]) for row in batches if not row["warmup"]
    )
    if set(measured) != planned or max(measured.values(), default=1) > 1:
        return f"{len(planned - set(measured))} of {len(planned)} planned batches are missing"
    if not job.keeps_checks:
        return ""
    wanted = {(fixture, arm, when) for fixture, arm in job.check_order for when in job.checks}
    unchecked = wanted - {(row["fixture"], row["arm"], row["when"]) for row in checks}
    return f"{len(unchecked)} of {len(wanted)} planned checks are missing" if unchecked else ""


def other_inputs(described: Mapping[str, Described], seen: Mapping[str, Mapping[str, str]]) -> str:
    """Name an input whose bytes on the device are not those that the references were made from; empty if there is none."""
    for fixture, hashes in sorted(seen.items()):
        for name, sha256 in sorted(hashes.items()):
            if described[fixture].hashes[f"{INPUTS}{name}"] != sha256:
                return f"input {name} of fixture {fixture} is not the one that the reference was made from"
    return ""


def short_batches(job: Job, batches: Iterable[Row]) -> int:
    """Count scored batches shorter than the protocol's least length; a floor's may be."""
    bound = {arm.name for arm in job.arms if arm.calibrated}
    scored = [row for row in batches if not row["warmup"] and row["arm"] in bound]
    return sum(1 for row in scored if row["elapsed_ns"] < job.least_batch_ns)
