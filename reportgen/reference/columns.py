"""Columns of every table of a record, as the registry has them."""

from __future__ import annotations

from reportgen.model.columns import COUNTERS, IMPORTED_BENCHMARKS, IMPORTED_SAMPLES, ORIGIN, TABLES, Column
from reportgen.publish import study_files
from reportgen.reference.docstrings import cell, page

LEAD = (
    "Name, type, unit and meaning of each column, by table; types are Arrow's. In Parquet they stand in the metadata of the file too, of a record's CSV files in its `datapackage.json`. "
    "[Record format](../record-format.md) says which file lies where."
)
_MEASURED = "Of every attempt that was timed"
_STUDY = "All of an A/A study's tables draw from these; which file has which, its first line says, and `README.txt` of the record."


def columns() -> str:
    """Make the page of columns."""
    imported = "Of an imported attempt, `artifacts/imported/"
    parts = [
        _table("batches", f"{_MEASURED}: `batches.parquet`, one row a timing batch.", TABLES["batches"]),
        _table(
            "checks", f"{_MEASURED} or looked at by a sanitizer: `checks.parquet`, one row a check.", TABLES["checks"]
        ),
        _table("In front, in a published record", "`batches` and `checks` of a record join its attempts.", ORIGIN),
        _table("benchmarks", f"{imported}benchmarks.parquet`, one row a benchmark.", IMPORTED_BENCHMARKS),
        _table("samples", f"{imported}samples.parquet`, one row a value.", IMPORTED_SAMPLES),
        _table(
            "counters",
            "Of an attempt of kind `profile`, `artifacts/counters.parquet`, one row a kernel call.",
            COUNTERS,
        ),
    ]
    return page("Columns", LEAD, ["<!-- figures: rules of the format -->", *parts, _study()])


def _table(title: str, told: str, listed: tuple[Column, ...]) -> str:
    rows = [
        f"| `{one.name}` | {one.type} | {one.unit} | {cell(one.meaning)}{' (may be missing)' if one.nullable else ''} |"
        for one in listed
    ]
    return "\n".join(
        [f"## {title}\n\n{told}\n", "| column | type | unit | meaning |", "| --- | --- | --- | --- |", *rows]
    )


def _study() -> str:
    files = [f"- `{name}`: {holds}" for name, holds in study_files.HOLDS.items()]
    rows = [f"| `{name}` | {cell(meaning)} |" for name, meaning in study_files.COLUMNS.items()]
    return "\n".join(["## A/A studies\n", _STUDY, "", *files, "", "| column | meaning |", "| --- | --- |", *rows])
