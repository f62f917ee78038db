"""How an attempt ends: sealed as what it is, or left open to be resumed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from reportgen.archive.counting import left_out_entry
from reportgen.archive.journal import Journal, read_journal
from reportgen.archive.load import aborted_manifest
from reportgen.archive.seal import seal
from reportgen.errors import EXIT_FINDING, EXIT_INTERRUPTED, ReportgenError
from reportgen.measure.failures import failure_sentence
from reportgen.measure.ledger import REPLACES
from reportgen.measure.watching import RunOutcome
from reportgen.model.record import Kind, Repetition, Status

INTERRUPTED = "interrupted"


def close_complete(journal: Journal, kind: Kind, finding: str = "", *, seals: bool = True) -> RunOutcome:
    """Seal an attempt whose matrix is whole: ``scored`` if it was a timing, else ``complete`` with the reason and what it found, if anything.

    Where somebody else ``seals``, the outcome says as what.
    """
    scored = kind is Kind.TIMING
    status, reason = (Status.SCORED, "") if scored else (Status.COMPLETE, f"a {kind.value} attempt is never scored")
    said = f"{reason}; {finding}" if finding else reason
    return (seal_as if seals else _leave_to_seal)(journal, status, said, EXIT_FINDING if finding else 0, finding)


def close_early(journal: Journal, status: Status, fault: ReportgenError, *, seals: bool = True) -> RunOutcome:
    """Seal an attempt that cannot go on, with the reason."""
    close = seal_as if seals else _leave_to_seal
    return close(journal, status, fault.one_line(), fault.exit_status, fault.one_line())


def leave_open(journal: Journal, fault: ReportgenError | None) -> RunOutcome:
    """Leave the journal to be resumed: the user interrupted (no ``fault``), or this machine, or a live service, refuses."""
    folder = journal.folder
    try:
        if fault is None:
            journal.event(INTERRUPTED)
    finally:
        journal.close()
    reason = INTERRUPTED if fault is None else fault.one_line()
    status = EXIT_INTERRUPTED if fault is None else fault.exit_status
    return RunOutcome(folder, Status.ABORTED, reason, [], status, reason, left_open=True)


def _leave_to_seal(journal: Journal, status: Status, reason: str, exit_status: int, sentence: str) -> RunOutcome:
    """Close the journal of an attempt that is to be sealed by whoever sent it."""
    journal.close()
    return RunOutcome(journal.folder, status, reason, [], exit_status, sentence)


def seal_as(journal: Journal, status: Status, reason: str, exit_status: int, sentence: str) -> RunOutcome:
    """Seal an attempt as ``status``; failed checks are a finding where nothing worse is.

    Raises
    ------
    RecordError
        The disk refuses; the attempt stays open.
    """
    journal.event("sealed", status=status.value, reason=reason)
    contents = read_journal(journal.folder)
    manifest = replace(
        aborted_manifest(contents, reason or "-"),
        status=status,
        reason=reason,
        ended_at=datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        left_out=_left_out(contents.repetitions),
    )
    failures = failed_checks(contents.repetitions)
    path: Path = seal(journal, manifest)
    if failures and not exit_status:
        exit_status, sentence = EXIT_FINDING, "; ".join(failures)
    return RunOutcome(path, status, reason, list(manifest.failed_arms), exit_status, sentence)


def failed_checks(repetitions: Sequence[Repetition]) -> list[str]:
    """One sentence a failed arm, about its first failed check: arm, fixture, mismatches."""
    found: dict[str, str] = {}
    for row in (row for repetition in repetitions for row in repetition.checks if not row["passed"]):
        found.setdefault(row["arm"], failure_sentence(row))
    return [found[arm] for arm in sorted(found)]


def _left_out(repetitions: Sequence[Repetition]) -> list[dict[str, Any]]:
    spares = {
        (one.mode, one.facts[REPLACES]): one.repetition for one in repetitions if one.facts.get(REPLACES) is not None
    }
    return [
        left_out_entry(one) | {"replaced_by": spares.get((one.mode, one.repetition))}
        for one in sorted(repetitions, key=lambda one: one.repetition)
        if one.left_out
    ]
