"""Which patches a record offers, with what came of each; and why two arms have none between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from reportgen.errors import InputError
from reportgen.publish import lookup, patches, wording
from reportgen.publish.context import Cell, Column, Row, Table
from reportgen.publish.patches import Pair
from reportgen.publish.tables import code, figure, word
from reportgen.publish.view import FileFact, RecordView

NOTE = (
    "A patch turns the baseline's source, as it was measured, into the arm's; git apply takes it in the folder of the record's sources. "
    "What was measured of it stands at its head."
)


def of_record(record: RecordView, root: str, arms: Sequence[str] | None = None) -> Table:
    """List the patches of a record, or of some ``arms``, on a page from which ``root`` leads to the first one. Raises as :func:`table`."""
    return table(record, root + record.address, arms)


def table(record: RecordView, page: str, arms: Sequence[str] | None = None) -> Table:
    """List the patches of a record, or of some ``arms``; ``page`` leads to the record, and is empty on its own.

    Raises
    ------
    InputError
        An arm does not exist.
    """
    for arm in arms or ():
        lookup.arm_named(record.plan, arm)
    found = [pair for pair in patches.pairs(record.plan) if arms is None or pair.arm.name in arms]
    rows = tuple(
        Row(code(pair.arm.name), (code(pair.baseline.name), _came_out(record, pair), *_file(record, pair, page)))
        for pair in found
    )
    columns = (Column("in place of"), Column("what came out"), Column("patch"), Column("bytes", figure=True))
    return Table(
        caption=f"Patches of {record.experiment}",
        stub="Arm",
        columns=columns,
        rows=rows,
        note=NOTE if rows else "",
        anchor="" if page else "patches",
    )


def fact_of(record: RecordView, arm: str, baseline: str) -> FileFact:
    """Find the file of a patch.

    Raises
    ------
    InputError
        There is no such patch; the line says why.
    """
    for pair in patches.pairs(record.plan):
        if (pair.arm.name, pair.baseline.name) == (arm, baseline):
            known = _fact(record, pair)
            if known is None:
                raise InputError(f"{record.name} has no patch of {arm!r}: {patches.why_none(pair)}")
            return known
    raise InputError(f"{record.name} has no patch of {arm!r} against {baseline!r}", remedy="see its table of patches")


def _fact(record: RecordView, pair: Pair) -> FileFact | None:
    return next((one for one in record.downloads if one.path == pair.path), None)


def _came_out(record: RecordView, pair: Pair) -> Cell:
    """Count the verdicts over the slices, and below them what to do."""
    key = (pair.arm.name, pair.baseline.name)
    judged = [one for one in record.result.comparisons if (one.arm, one.baseline) == key]
    promoted = [one for one in record.result.promotions if (one.arm, one.incumbent) == key]
    verdicts = Counter(wording.verdict(one.verdict) for one in judged)
    outcomes = Counter(one.outcome.value for one in promoted)
    return word(_counted(verdicts) or wording.NOT_COMPUTED, note=_counted(outcomes), tone="outcome")


def _counted(found: Counter[str]) -> str:
    """Say what is so in every slice, or how often each is."""
    if len(found) == 1:
        return next(iter(found))
    return ", ".join(f"{name} in {wording.count(number)}" for name, number in found.items())


def _file(record: RecordView, pair: Pair, page: str) -> tuple[Cell, Cell]:
    known = _fact(record, pair)
    if known is None:
        return word("none", note=patches.why_none(pair), tone="told"), word("")
    name = known.path.rpartition("/")[2]
    return (
        Cell(name, href=page + known.path, note=f"SHA-256 {known.sha256}", code=True),
        figure(wording.count(known.length_bytes), known.length_bytes),
    )
