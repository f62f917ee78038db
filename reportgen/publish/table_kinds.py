"""The kinds of tables of a record that a page may ask for by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from reportgen.errors import InputError
from reportgen.model.plan import Slice
from reportgen.publish import tables
from reportgen.publish.check_tables import checks
from reportgen.publish.context import Table
from reportgen.publish.holm_tables import holm
from reportgen.publish.view import RecordView

BY_SLICE: Mapping[str, Callable[[RecordView, Slice, str], Table]] = {
    "answer": tables.answer,
    "changes": tables.changes,
    "holm": holm,
    "noise": tables.noise,
    "fixtures": tables.fixtures,
    "times": tables.times,
}
OF_GATES = ("gates", "savings", "ceilings", "bands")
WHOLE: Mapping[str, Callable[[RecordView, str], Table]] = {"arms": tables.arms, "checks": checks}


def build(kind: str, record: RecordView, slices: Sequence[Slice], page: str) -> list[Table]:
    """Build the tables of one kind, one a slice, or one for the whole record.

    Raises
    ------
    InputError
        Unknown kind.
    """
    if kind in WHOLE:
        return [WHOLE[kind](record, page)]
    if kind not in BY_SLICE:
        known = f"{', '.join(sorted([*BY_SLICE, *WHOLE, *OF_GATES]))}; those of an A/A study stand in the guide"
        raise InputError(f"no table of kind {kind!r}", remedy=f"kinds are: {known}")
    return [BY_SLICE[kind](record, piece, page) for piece in slices]
