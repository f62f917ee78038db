"""What an attempt holds, counted; and what of it stays once its rows lie in tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from reportgen.model.protocol import Mode
from reportgen.model.record import PEER, SCHEMA_VERSION, Counts, Repetition, RepetitionFacts


def count(repetitions: Sequence[Repetition]) -> Counts:
    """Count what ``repetitions`` hold, left-out ones included; calibration (repetition 0) is no repetition."""
    numbers = {(one.mode, one.repetition) for one in repetitions if one.repetition}
    series = Counter(mode for mode, _ in numbers)
    batches = [row for repetition in repetitions for row in repetition.batches]
    checks = [row for repetition in repetitions for row in repetition.checks]
    warmup = sum(1 for row in batches if row["warmup"])
    return Counts(
        repetitions=series.pop(Mode.PROCESS, 0),
        batches=len(batches) - warmup,
        warmup_batches=warmup,
        checks=len(checks),
        failed_checks=sum(1 for row in checks if not row["passed"]),
        series=dict(sorted(series.items())),
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
        mode=repetition.mode,
    )


def refusals(repetitions: Sequence[Repetition]) -> list[dict[str, str]]:
    """List what the peers' calibrating process refused, with its reasons."""
    told = [one.facts.get("refused", []) for one in repetitions if one.mode == PEER and not one.repetition]
    return [dict(refusal) for refused in told for refusal in refused]


def left_out_entry(repetition: Repetition) -> dict[str, Any]:
    """Entry of a manifest's ``left_out``; its mode stands there where it is not process."""
    mode = {} if repetition.mode == Mode.PROCESS else {"mode": repetition.mode}
    return {"repetition": repetition.repetition, "reason": repetition.left_out, **mode}


def refusal_sentences(refused: Iterable[Mapping[str, Any]]) -> list[str]:
    """Say, one sentence a peer and reason, what was refused and on how many fixtures."""
    fixtures: dict[tuple[str, str], list[str]] = {}
    for one in refused:
        fixtures.setdefault((one["arm"], one["reason"]), []).append(one["fixture"])
    return [
        f"peer {arm!r} is not measured on {_where(names)}: {reason}"
        for (arm, reason), names in sorted(fixtures.items())
    ]


def _where(fixtures: list[str]) -> str:
    return fixtures[0] if len(fixtures) == 1 else f"{len(fixtures)} fixtures ({fixtures[0]}, ...)"
