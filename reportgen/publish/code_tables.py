"""Static evidence: what was counted in the machine code of the arms, as a table and as single figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reportgen.errors import InputError
from reportgen.model.code import COUNTED, CodeFacts
from reportgen.publish import lookup, wording
from reportgen.publish.context import Cell, Column, Row, Table
from reportgen.publish.tables import NOTHING, code, figure, word
from reportgen.publish.view import AttemptView, RecordView

FILE = "artifacts/code.json"
_PARTS = 2  # of an opcode's name: SHFL.IDX
_HEADS = {
    "entry_bytes": "bytes of code", "spill_load_bytes": "spilled bytes read", "spill_store_bytes": "spilled bytes written",
    "stack_bytes": "stack bytes", "shared_bytes": "static shared bytes",
}  # fmt: skip
_ALWAYS = ("registers", "instructions", "spill_load_bytes", "spill_store_bytes", "stack_bytes", "shared_bytes")
# Families that a reader looks for first; the attempt's file counts every opcode.
_FAMILIES = ("LDG", "STG", "LDGSTS", "UBLKCP", "LDS", "STS", "LDSM", "SHFL", "MATCH", "VOTE", "MUFU", "HMMA", "IDP", "FFMA", "HFMA2", "BAR")  # fmt: skip


def counted(record: RecordView, arm: str, what: str) -> tuple[int, str]:
    """Give a static count of an arm with the address where it stands.

    Raises
    ------
    InputError
        The record has no such arm, or nothing was counted in it.
    """
    attempt = _counting(record)
    found = attempt.code.get(lookup.arm_named(record.plan, arm).name)
    value = None if found is None else found.of(what)
    if value is None:
        raise InputError(
            f"{record.name} counted no {what!r} in the code of {arm!r}",
            remedy=f"counts are {', '.join(COUNTED)}, and opcodes where the backend disassembles",
        )
    return value, f"{attempt.address}#{anchor(arm)}"


def anchor(arm: str) -> str:
    """Name the row of an arm's code on its attempt's page."""
    return f"code-{lookup.slug(arm)}"


def of_record(
    record: RecordView, root: str, counts: Sequence[str] | None = None, arms: Sequence[str] | None = None
) -> Table:
    """Build the table of a record's arms, or of some ``arms``; ``counts`` are its columns after registers and instructions.

    Raises
    ------
    InputError
        Nothing was counted, or an arm does not exist.
    """
    attempt = _counting(record)
    for arm in arms or ():
        lookup.arm_named(record.plan, arm)
    wanted = {name: facts for name, facts in attempt.code.items() if arms is None or name in arms}
    columns = ("registers", "instructions", *counts) if counts is not None else _columns(wanted)
    return _table(wanted, _in_order(record, wanted), columns, root + attempt.address)


def of_attempt(attempt: AttemptView) -> Table:
    """Build the table of an attempt's own page, a row with an anchor for each arm; without rows where nothing was counted."""
    return _table(attempt.code, sorted(attempt.code), _columns(attempt.code), "")


def _counting(record: RecordView) -> AttemptView:
    found = [one for one in record.attempts if one.code]
    if not found:
        raise InputError(f"{record.name} counted nothing in its machine code")
    return found[0]


def _in_order(record: RecordView, found: Mapping[str, CodeFacts]) -> list[str]:
    return [arm.name for arm in record.plan.experiment.arms if arm.name in found]


def _columns(found: Mapping[str, CodeFacts]) -> tuple[str, ...]:
    """Choose what to show: counts that the backend makes, and families of opcodes that any arm has."""
    if not any(one.opcodes for one in found.values()):
        return tuple(name for name in COUNTED if any(one.of(name) is not None for one in found.values()))
    return _ALWAYS + tuple(family for family in _FAMILIES if any(one.of(family) for one in found.values()))


def _table(found: Mapping[str, CodeFacts], names: Sequence[str], columns: Sequence[str], page: str) -> Table:
    every = not page and any(one.opcodes for one in found.values())
    rows = tuple(
        Row(
            code(name),
            (
                *(_cell(found[name].of(what), f"{page}#{anchor(name)}" if page else "") for what in columns),
                *((word(_opcodes(found[name]), tone="told"),) if every else ()),
            ),
            anchor="" if page else anchor(name),
        )
        for name in names
    )
    return Table(
        caption="Machine code",
        stub="Arm",
        columns=(
            *(Column(_HEADS.get(what, what), figure=True) for what in columns),
            *((Column("opcode by opcode, without further variants"),) if every else ()),
        ),
        rows=rows,
        note="Static counts in the disassembly of an arm's first kernel, that is, places in its text: how often each is carried out, and what "
        f"then moves through memory, they do not say. An opcode stands for all of its variants; each is counted in {FILE}.",
    )


def _opcodes(facts: CodeFacts) -> str:
    """Count every opcode and each first variant of one, as sentences and tables ask for them."""
    names = {".".join(name.split(".")[:_PARTS]) for name in facts.opcodes or {}} | {
        name.split(".")[0] for name in facts.opcodes or {}
    }
    return ", ".join(f"{name} {facts.of(name)}" for name in sorted(names))


def _cell(value: int | None, href: str) -> Cell:
    return NOTHING if value is None else figure(wording.count(value), value, href=href)
