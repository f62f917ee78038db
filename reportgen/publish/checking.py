"""How a reader checks a record: three roads, what each computes again, and what each cannot see."""

from __future__ import annotations

from reportgen.publish import wording
from reportgen.publish.context import Cell, Checking, Column, Row, Table
from reportgen.publish.record_files import ZIP
from reportgen.publish.tables import code, word
from reportgen.publish.view import RecordView

ROADS = (
    (
        word("the button below, with scripts"),
        (
            "SHA-256 of every file, against SHA256SUMS and this page; from batches.csv and checks.csv the headline, estimate, "
            "interval, verdict, p and Holm's reading of every comparison, the fixtures behind it and the noise floors; the digits of this page."
        ),
        (
            "Which comparisons and fixtures the plan asks for (it takes them from results.json); gates, promotions, position effect "
            "and false alarms by way of measuring; whether the CSV files are the sealed Parquet files."
        ),
    ),
    (
        code("python3 verify.py"),
        (
            "The same, and all else in results.json; the plan's digest from the archived sources, the complete and mirrored matrix, "
            "orders and counts against those noted while measuring."
        ),
        (
            "Whether the CSV files are the sealed Parquet files, which the standard library cannot read: a row changed by a nanosecond "
            "with results and sums written anew passes. This page's digits."
        ),
    ),
    (
        code("reportgen verify record.zip"),
        "The same, and every row of the CSV files against the sealed Parquet files.",
        (
            "A record that was forged as a whole, Parquet and sums included. Against that stand the history of the repository and "
            "every copy that somebody kept."
        ),
    ),
)

# Of a record with arms in Python, by road: what is seen of their code besides, and what is not.
_UNREAD = "The machine code of such arms that a library other than Triton launched, which no process could read."
IN_PYTHON = (
    ("", "What arms in Python became."),
    (
        "Files and functions of arms in Python against the plan; the kernels that every process told of against the archived ones.",
        _UNREAD,
    ),
    ("", _UNREAD),
)


def checking(record: RecordView) -> Checking:
    """Say how the record can be checked; the button is there only with scripts."""
    files = [file for file in record.downloads if file.path != ZIP]
    length = wording.size(sum(file.length_bytes for file in files))
    more = IN_PYTHON if record.plan.python_arms else (("", ""),) * len(ROADS)
    rows = tuple(
        Row(road, (_said(sees, seen), _said(blind, unseen)))
        for (road, sees, blind), (seen, unseen) in zip(ROADS, more, strict=True)
    )
    return Checking(
        cost=f"It fetches {wording.plural(len(files), 'file')} from this site, {length}, and computes on your machine.",
        roads=Table(
            caption="Three roads to the same figures",
            stub="Road",
            columns=(Column("what it holds against each other"), Column("what it cannot see")),
            rows=rows,
            note="All three are held to the same golden cases; a record with one digit changed is found by each.",
        ),
    )


def _said(sentence: str, further: str) -> Cell:
    return word(f"{sentence} {further}".rstrip(), tone="told")
