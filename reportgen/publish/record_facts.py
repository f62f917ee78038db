"""What can be asked of a record by name: counts and facts. Their anchors stand on the record's page."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from reportgen.model.experiment import Role
from reportgen.publish import lookup, wording
from reportgen.publish.context import Fact, FactGroup
from reportgen.publish.view import AttemptView, RecordView


def _over_attempts(count: Callable[[AttemptView], int]) -> Callable[[RecordView], int]:
    return lambda record: sum(count(attempt) for attempt in record.attempts)


COUNTS: Mapping[str, Callable[[RecordView], int]] = {
    "arms": lambda record: len(record.plan.experiment.arms),
    "attempts": lambda record: len(record.all_attempts()),
    "batches": lambda record: record.batches,
    "candidates": lambda record: sum(arm.role is Role.CANDIDATE for arm in record.plan.experiment.arms),
    "checks": _over_attempts(lambda attempt: attempt.manifest.counts.checks),
    "comparisons": lambda record: len(record.result.comparisons),
    "devices": lambda record: len(record.attempts),
    "failed_checks": _over_attempts(lambda attempt: attempt.manifest.counts.failed_checks),
    "fixtures": lambda record: len(record.plan.fixtures),
    "nulls": lambda record: sum(arm.role is Role.NULL for arm in record.plan.experiment.arms),
    "repetitions": _over_attempts(lambda attempt: attempt.manifest.counts.repetitions),
    "slices": lambda record: len(lookup.slices(record)),
    "warmup_batches": _over_attempts(lambda attempt: attempt.manifest.counts.warmup_batches),
}


def _frozen(record: RecordView) -> str:
    known = record.attempts[0].manifest.provenance.frozen_at
    return wording.moment(known) if known else "not known"


FACTS: Mapping[str, Callable[[RecordView], str]] = {
    "backend": lambda record: ", ".join(dict.fromkeys(attempt.manifest.backend for attempt in record.attempts)),
    "commit": lambda record: record.attempts[0].manifest.provenance.commit or "not known",
    "date": lambda record: record.date,
    "device": lambda record: wording.names(record.devices),
    "digest": lambda record: record.plan.digest,
    "frozen": _frozen,
    "name": lambda record: record.name,
    "question": lambda record: record.plan.experiment.question,
    "reportgen": lambda record: record.attempts[0].manifest.reportgen,
    "slices": lambda record: wording.names([wording.slice_name(piece.name) for piece in lookup.slices(record)]),
    "smallest_effect": lambda record: wording.share(record.result.smallest_effect),
    "title": lambda record: record.title,
}

NAMES = {
    "digest": "SHA-256 of the plan",
    "frozen": "plan last changed",
    "name": "name that pins this record",
    "reportgen": "measured with reportgen",
    "smallest_effect": "smallest effect of interest",
    "failed_checks": "failed checks",
    "warmup_batches": "warm-up batches, not scored",
    "batches": "scored batches",
}
CODE = ("digest", "name", "commit", "backend")


def groups(record: RecordView) -> tuple[FactGroup, ...]:
    """List every fact and count with the anchor that bindings lead to."""
    values = {"smallest_effect": repr(record.result.smallest_effect)}
    facts = tuple(
        Fact(NAMES.get(what, what), get(record), values.get(what, ""), anchor=f"fact-{what}", code=what in CODE)
        for what, get in FACTS.items()
        if what not in ("question", "title")
    )
    counts = tuple(
        Fact(NAMES.get(what, what), wording.count(get(record)), value=str(get(record)), anchor=f"count-{what}")
        for what, get in COUNTS.items()
    )
    return (
        FactGroup("What and when", facts),
        FactGroup("How much", counts),
        FactGroup("Protocol, as frozen", _protocol(record)),
    )


def smallest_effect(record: RecordView | None) -> tuple[Fact, ...]:
    """Say the smallest effect of interest as a fact with the anchor that margins lead to; nothing without a record."""
    if record is None:
        return ()
    what, value = "smallest_effect", record.result.smallest_effect
    return (Fact(NAMES[what], FACTS[what](record), repr(value), anchor=lookup.SMALLEST_EFFECT),)


def plan_anchor(path: str) -> str:
    """Name the place on the record's page where a constant of the plan stands."""
    return f"plan-{lookup.slug(path)}"


def _protocol(record: RecordView) -> tuple[Fact, ...]:
    """List the numbers of the protocol by their names in the plan."""
    constants = msgspec.to_builtins(record.plan.experiment.protocol)
    return tuple(
        Fact(name, wording.plain_number(value), value=repr(value), anchor=plan_anchor(f"protocol.{name}"), code=False)
        for name, value in constants.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    )
