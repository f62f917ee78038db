"""What could have been counted in place of a record's counters and machine code."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

import msgspec

from reportgen.model.code import COUNTED, CodeFacts
from reportgen.model.columns import COUNTERS
from reportgen.model.counters import CounterLine
from reportgen.publish.view import AttemptView, RecordView

Draws = Callable[..., Random]
SHARES = frozenset(column.name for column in COUNTERS if column.unit == "%")
SPREAD = 4.0


def changed(record: RecordView, draws: Draws, *, apart: bool) -> RecordView:
    """Draw other counts for every arm, or where they are not ``apart`` the same change for all of them."""

    def own(*names: str) -> Random:
        return draws(record.name, *names) if apart else draws(record.name)

    return msgspec.structs.replace(
        record,
        attempts=[_attempt(one, own) for one in record.attempts],
        others=[_attempt(one, own) for one in record.others],
    )


def _attempt(attempt: AttemptView, own: Draws) -> AttemptView:
    if not attempt.counters and not attempt.code:
        return attempt
    return msgspec.structs.replace(
        attempt,
        counters=[_line(line, own("counter", line.fixture, line.arm, str(line.call))) for line in attempt.counters],
        code={arm: _facts(facts, own("code", arm)) for arm, facts in attempt.code.items()},
    )


def _line(line: CounterLine, draws: Random) -> CounterLine:
    values = {
        name: 100 * draws.random() if name in SHARES else _scaled(old, draws) for name, old in line.values.items()
    }
    return msgspec.structs.replace(line, values=values)


def _scaled(value: float, draws: Random) -> float:
    """Scale a count by as much as e^4, or make it none."""
    return value * math.exp(draws.uniform(-SPREAD, SPREAD)) if draws.random() < 0.9 else 0.0  # noqa: PLR2004 - now and then


def _facts(facts: CodeFacts, draws: Random) -> CodeFacts:
    """Change the counts; a program has a register and an instruction, and each opcode is one of its instructions."""
    opcodes = {name: round(_scaled(number, draws)) for name, number in (facts.opcodes or {}).items()}
    counts = {
        name: max(int(name in ("registers", "instructions", "entry_bytes")), round(_scaled(old, draws)))
        for name in COUNTED
        if (old := getattr(facts, name)) is not None
    }
    if opcodes and "instructions" in counts:
        counts["instructions"] = max(1, sum(opcodes.values()))
    return msgspec.structs.replace(facts, opcodes=opcodes, **counts)
