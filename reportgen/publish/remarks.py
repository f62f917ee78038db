"""What must be read beside a record's result: what was left out or excluded, with the verdicts with and without it, and errata."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Sequence

from reportgen.archive.notes import ERRATUM, EXCLUSION
from reportgen.model.record import Kind, Status
from reportgen.model.result import ComparisonResult
from reportgen.publish import lookup, tables, wording
from reportgen.publish.context import Link, Remark
from reportgen.publish.library import Library
from reportgen.publish.view import AttemptView, RecordView

_MOST_NAMED = 3


def remarks(record: RecordView, library: Library, root: str) -> tuple[Remark, ...]:
    """List what stands beside a record's result, for a page from which ``root`` leads to the first one."""
    return (*_of_repetitions(record, root), *_of_attempts(record, library, root), *_errata(record, root))


def _of_repetitions(record: RecordView, root: str) -> Iterable[Remark]:
    """Say what the repetitions that were left out would have changed."""
    number = sum(len(attempt.manifest.left_out) for attempt in record.attempts)
    if not number and not record.result.with_left_out:
        return
    said = f"{wording.plural(number, 'repetition')} left out" if number else "Batches left out by rules of the plan"
    others = record.result.with_left_out
    told = _verdicts(record.result.comparisons, others) if others else "nothing of it was timed for a verdict"
    yield Remark(
        f"{said}; with what was left out: {told}.", Link("with and without", f"{root}{record.address}#left-out")
    )


def _of_attempts(record: RecordView, library: Library, root: str) -> Iterable[Remark]:
    """Say of each scored attempt of this plan that a note excludes what it says by itself."""
    for attempt in record.others:
        if attempt.status is not Status.EXCLUDED or not _was_scored(attempt):
            continue
        alone = library.alone(attempt.address)
        told = _verdicts(record.result.comparisons, alone.result.comparisons) if alone else "its rows say nothing"
        reason = "; ".join(note.text for note in attempt.notes if note.kind == EXCLUSION)
        yield Remark(
            f"Attempt {attempt.manifest.id} is excluded ({reason.rstrip('.')}); by itself: {told}.",
            Link("what it says", f"{root}{attempt.address}"),
        )


def _was_scored(attempt: AttemptView) -> bool:
    return attempt.manifest.status is Status.SCORED and attempt.manifest.kind is Kind.TIMING


def _errata(record: RecordView, root: str) -> Iterable[Remark]:
    for attempt in record.attempts:
        for note in attempt.notes:
            if note.kind == ERRATUM:
                link = Link(f"attempt {attempt.manifest.id}", f"{root}{attempt.address}#notes")
                yield Remark(f"Erratum of {wording.moment(note.at)}: {note.text}", link)


def _verdicts(ours: Sequence[ComparisonResult], theirs: Sequence[ComparisonResult]) -> str:
    """Say which verdicts are others there; of null arms there are none."""
    known = {_key(one): one for one in theirs}
    pairs = [(one, known.get(_key(one))) for one in ours if one.role in tables.JUDGED]
    changed = [(one, other) for one, other in pairs if other is None or other.verdict is not one.verdict]
    if not changed:
        return f"{wording.plural(len(pairs), 'verdict')}, each the same"
    named = "; ".join(_changed(*pair) for pair in changed[:_MOST_NAMED])
    more = f"; and {wording.count(len(changed) - _MOST_NAMED)} more" if len(changed) > _MOST_NAMED else ""
    return f"another verdict in {wording.of_total(len(changed), len(pairs))}: {named}{more}"


def _changed(one: ComparisonResult, other: ComparisonResult | None) -> str:
    there = "none" if other is None else wording.verdict(other.verdict, plain=True)
    where = wording.slice_name(one.slice.partition(lookup.MODEL_MARK)[0])
    return f"{one.arm} against {one.baseline}, {where}: {there} instead of {wording.verdict(one.verdict, plain=True)}"


def _key(one: ComparisonResult) -> Hashable:
    return one.arm, one.baseline, one.slice.partition(lookup.MODEL_MARK)[0], json.dumps(one.where, sort_keys=True)
