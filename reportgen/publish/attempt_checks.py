"""What an attempt's files must agree on among themselves: sums, digest of the plan, counts, matrix, repetitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd

from reportgen.archive import layout
from reportgen.archive.digest import plan_digest
from reportgen.archive.load import Attempt, load_attempt
from reportgen.archive.sums import check_sums, sha256_of
from reportgen.errors import ReportgenError
from reportgen.model.record import Kind, Status
from reportgen.publish.imported_checks import imported_findings
from reportgen.publish.verify import declarations
from reportgen.publish.verify_code import code_contradictions, kept_code
from reportgen.publish.verify_evidence import (
    check_contradictions,
    declaration_contradictions,
    protocol_contradictions,
)
from reportgen.publish.verify_series import (
    PROCESS,
    matrix_contradictions,
    named,
    refusal_contradictions,
    row_contradictions,
)


def attempt_findings(folder: Path, beside: Collection[str] = ()) -> list[str]:
    """Check the attempt in ``folder``: one line for each thing wrong. An open one is checked for a readable journal.

    Files named in ``beside`` may lie there unlisted.
    """
    try:
        findings = check_sums(folder, beside) if not layout.is_open(folder) else []
        attempt = load_attempt(folder)
        return [*findings, *_contents(attempt)]
    except ReportgenError as fault:
        return [fault.one_line()]


def _contents(attempt: Attempt) -> Iterator[str]:
    yield from _counts(attempt)
    yield from _repetitions(attempt)
    yield from plan_findings(attempt)
    yield from _binaries(attempt)
    yield from _code(attempt)
    yield from _evidence(attempt)
    if attempt.manifest.kind is Kind.IMPORTED:
        yield from imported_findings(attempt)
    if attempt.manifest.kind is Kind.TIMING and attempt.manifest.status is Status.SCORED:
        yield from protocol_contradictions(msgspec.to_builtins(attempt.plan), msgspec.to_builtins(attempt.manifest))
        yield from _matrix(attempt)


def rows_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as dictionaries by column."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def _evidence(attempt: Attempt) -> Iterator[str]:
    """Hold the plan against its declaration, and the rows against what was noted beside them when they were measured."""
    plan = msgspec.to_builtins(attempt.plan)
    for source in declarations(attempt.path, [file.path for file in attempt.plan.files]):
        name = source.relative_to(attempt.path)
        yield from (
            f"{name}: {line}" for line in declaration_contradictions(source.read_text("utf-8", "replace"), plan)
        )
    noted = [msgspec.to_builtins(facts) for facts in attempt.repetitions]
    for line in row_contradictions(_scored(attempt), noted):
        yield f"{layout.BATCHES}: {line}"
    for line in refusal_contradictions(msgspec.to_builtins(attempt.manifest), noted):
        yield f"{layout.MANIFEST}: {line}"
    columns = ["fixture", "arm", "repetition", "when", "mismatches", "passed"]
    for line in check_contradictions(rows_of(attempt.checks[columns])):
        yield f"{layout.CHECKS}: {line}"


def plan_findings(attempt: Attempt) -> Iterator[str]:
    """Compute the plan's digest again from the archived sources."""
    plan = attempt.plan
    for file in plan.files:
        source = layout.sources_dir(attempt.path) / file.path
        name = source.relative_to(attempt.path)
        if ".." in Path(file.path).parts or not source.is_file():
            yield f"{name}: is missing, so the plan's digest cannot be computed"
        elif sha256_of(source) != file.sha256:
            yield f"{name}: does not have the SHA-256 that {layout.PLAN} lists"
    digest = plan_digest(plan.files, plan.backend_options, plan.order_method)
    for holder, claimed in ((layout.PLAN, plan.digest), (layout.MANIFEST, attempt.manifest.plan)):
        if claimed != digest:
            yield f"{holder}: plan digest {claimed}, recomputed {digest}"
    if attempt.id.rpartition("-")[2] != digest[:6]:
        yield f"{layout.MANIFEST}: id {attempt.id} does not end in the first digits of the plan's digest {digest[:6]}"


def _binaries(attempt: Attempt) -> Iterator[str]:
    """Look for the code of every arm among the archived binaries, where a backend archives them."""
    folder = layout.binaries_dir(attempt.path)
    if not folder.is_dir():
        return
    archived = {sha256_of(path) for path in sorted(folder.rglob("*")) if path.is_file()}
    for arm, sha256 in sorted(attempt.manifest.binaries.items()):
        if sha256 not in archived:
            yield f"{folder.relative_to(attempt.path)}: no file has the SHA-256 of arm {arm}, {sha256}"


def _code(attempt: Attempt) -> Iterator[str]:
    """Look for what arms in Python are and became."""
    noted = [msgspec.to_builtins(facts) for facts in attempt.repetitions]
    yield from code_contradictions(msgspec.to_builtins(attempt.plan), noted, kept_code(attempt.path))


def _counts(attempt: Attempt) -> Iterator[str]:
    counts, batches, checks = attempt.manifest.counts, attempt.batches, attempt.checks
    warmup, failed = int(batches["warmup"].sum()), checks.loc[~checks["passed"], "arm"]
    series = Counter(mode for mode, number in {(one.mode, one.repetition) for one in attempt.repetitions} if number)
    found = {
        "batches": len(batches) - warmup,
        "warmup_batches": warmup,
        "checks": len(checks),
        "failed_checks": len(failed),
        "repetitions": series.pop(PROCESS, 0),
        "series": dict(series),
    }
    for name, number in found.items():
        if number != getattr(counts, name):
            yield f"{layout.MANIFEST}: counts {getattr(counts, name)} {name}, the tables hold {number}"
    arms = sorted(set(failed))
    if arms != sorted(attempt.manifest.failed_arms):
        yield f"{layout.MANIFEST}: failed arms {attempt.manifest.failed_arms}, {layout.CHECKS} shows {arms}"


def _repetitions(attempt: Attempt) -> Iterator[str]:
    batches = Counter(zip(attempt.batches["mode"].tolist(), attempt.batches["repetition"].tolist(), strict=True))
    listed = {(facts.mode, facts.repetition): facts for facts in attempt.repetitions}
    for place, facts in listed.items():
        if facts.batches != batches[place]:
            yield (
                f"{layout.REPETITIONS}: {named(*place)} counts {facts.batches} batches, "
                f"the tables hold {batches[place]}"
            )
    yield from _checks(attempt)
    strangers = sorted(set(batches) - set(listed))
    if strangers:
        yield f"{layout.REPETITIONS}: does not list {named(*strangers[0])}, which the tables hold"
    left_out = {place for place, facts in listed.items() if facts.left_out}
    claimed = {(entry.get("mode", PROCESS), entry["repetition"]) for entry in attempt.manifest.left_out}
    if left_out != claimed:
        said, noted = ([named(*place) for place in sorted(places)] for places in (claimed, left_out))
        yield f"{layout.MANIFEST}: left out {', '.join(said) or 'nothing'}; {layout.REPETITIONS} says {', '.join(noted) or 'nothing'}"


def _checks(attempt: Attempt) -> Iterator[str]:
    """Count the rows of checks by repetition: main processes and peers number theirs alike, and the table does not tell them apart."""
    found = Counter(attempt.checks["repetition"].tolist())
    noted: Counter[int] = Counter()
    for facts in attempt.repetitions:
        noted[facts.repetition] += facts.checks
    for number in sorted(set(found) | set(noted)):
        if found[number] != noted[number]:
            yield f"{layout.REPETITIONS}: counts {noted[number]} checks of repetition {number}, {layout.CHECKS} holds {found[number]}"


def _matrix(attempt: Attempt) -> Iterator[str]:
    """Look for every planned batch, once, of every mode and harness, and for mirrored passes."""
    plan, manifest = msgspec.to_builtins(attempt.plan), msgspec.to_builtins(attempt.manifest)
    for line in matrix_contradictions(plan, manifest, _scored(attempt)):
        yield f"{layout.BATCHES}: {line}"


def _scored(attempt: Attempt) -> list[dict[str, Any]]:
    frame = attempt.batches
    columns = ["mode", "group", "fixture", "repetition", "pass", "position", "arm", "launches"]
    return rows_of(frame.loc[~frame["warmup"], columns])
