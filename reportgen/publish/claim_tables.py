"""The claims that pages make of a record, with their outcome and what they rest on."""

from __future__ import annotations

from collections.abc import Sequence

from reportgen.publish.claims import Judged
from reportgen.publish.context import Column, Row, Table
from reportgen.publish.library import root_of
from reportgen.publish.tables import code, word
from reportgen.publish.view import RecordView

HOLDS, FAILS = "holds", "does not hold"


def claims_of(record: RecordView, made: Sequence[Judged]) -> Table:
    """List the claims that rest on a record, page by page."""
    found = [claim for claim in made if record.name in claim.records]
    root = root_of(record.address)
    rows = tuple(
        Row(
            word(claim.says.striptags()),
            (
                word(HOLDS if claim.true else FAILS, tone="outcome"),
                code(claim.holds),
                word("; ".join(f"{text} is {value}" for text, value in claim.values), tone="rows"),
                code(claim.address or "/", href=root + claim.address),
            ),
            anchor=claim.anchor,
        )
        for claim in found
    )
    return Table(
        caption="Claims that pages make of this record",
        stub="Claim",
        columns=tuple(Column(name) for name in ("outcome", "expression that has to hold", "values", "page")),
        rows=rows,
        note="A strict build fails where a claim does not hold, and where none of a record's values could make it fail.",
    )
