"""What a reader takes home: a record's attempts, its joined tables, its results and the program that checks them.

The same record gives the same bytes on any machine; so the zip stores its files as they are (deflate gives other bytes
with other libraries), with one fixed time and fixed permissions.
"""

from __future__ import annotations

import ast
import functools
import io
import shutil
import textwrap
import zipfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from reportgen.archive import layout
from reportgen.archive.encoding import encode_json_pretty
from reportgen.archive.load import Attempt
from reportgen.archive.rows import to_parquet, with_origin
from reportgen.archive.select import Record
from reportgen.archive.sums import files_under, read_sums, sha256_of, sums_of
from reportgen.model.columns import ORIGIN, TABLES, Column
from reportgen.model.result import Result
from reportgen.publish import data_package, patches, study_files
from reportgen.scoring import device_rows

RESULTS = "results.json"
VERIFIER = "verify.py"
README = "README.txt"
ZIP = "record.zip"
VERIFIER_PARTS = (
    "verify.py", "verify_code.py", "verify_evidence.py", "verify_intervals.py", "verify_gates.py", "verify_null_study.py",
    "verify_numbers.py", "verify_series.py", "verify_study_tables.py",
)  # fmt: skip
LICENCE = "CC-BY-4.0"
_LICENCE_LINE = "# SPDX-License-Identifier: Apache-2.0"
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
_PERMISSIONS = 0o100644 << 16


@dataclass(frozen=True)
class DownloadFile:
    """A published file: its path under the record's folder, its length and SHA-256."""

    path: str
    length_bytes: int
    sha256: str


def write_record(record: Record, result: Result, out_dir: Path, *, licence: str = LICENCE) -> tuple[DownloadFile, ...]:
    """Write a record's files into ``out_dir`` (new or empty) and list them, ``record.zip`` of all of them included.

    Raises
    ------
    RecordError
        A table of an attempt is damaged.
    """
    out_dir.mkdir(parents=True, exist_ok=True)
    for attempt in record.attempts:
        shutil.copytree(attempt.path, out_dir / attempt.id, copy_function=shutil.copyfile)
        notes = layout.notes_file(attempt.path)
        if notes.exists():
            shutil.copyfile(notes, out_dir / notes.name)
    for name in TABLES:
        table = joined(name, record.attempts)
        (out_dir / f"{name}.parquet").write_bytes(to_parquet(table))
        (out_dir / f"{name}.csv").write_bytes(to_csv(table))
    for name, data in {**study_tables_of(record, result), **patches.patches_of(record, result)}.items():
        (out_dir / name).parent.mkdir(exist_ok=True)
        (out_dir / name).write_bytes(data)
    # As it was sealed: writing it anew would add what later versions of the format know by default.
    shutil.copyfile(record.attempts[0].path / layout.PLAN, out_dir / layout.PLAN)
    (out_dir / RESULTS).write_bytes(encode_json_pretty(result))
    (out_dir / VERIFIER).write_bytes(verifier())
    (out_dir / README).write_bytes(readme(record, licence, study_files.names(result.null_study)).encode())
    data_package.write(record, out_dir, licence)
    (out_dir / layout.SUMS).write_bytes(sums_of(out_dir))
    known = read_sums(out_dir)
    (out_dir / ZIP).write_bytes(zipped(out_dir, files_under(out_dir)))
    return tuple(
        DownloadFile(name, (out_dir / name).stat().st_size, known.get(name) or sha256_of(out_dir / name))
        for name in files_under(out_dir)
    )


def study_tables_of(record: Record, result: Result) -> dict[str, bytes]:
    """Write the CSV files of the record's A/A study, if it has one."""
    if result.null_study is None:
        return {}
    rows = [device_rows(attempt, left_out=False) for attempt in record.attempts]
    return study_files.study_files(result.null_study, record.plan, rows)


def joined(name: str, attempts: Sequence[Attempt]) -> pa.Table:
    """Join table ``name`` of several attempts, device and attempt in front, in the order of the attempts."""
    return with_origin(name, [(one.manifest.device.id, one.id, getattr(one, name)) for one in attempts])


def to_csv(table: pa.Table) -> bytes:
    """CSV of a table: UTF-8, a line feed at the end of a line, ``true`` and ``false``, nothing for what is missing.

    Floats are written so that reading gives the same float.
    """
    lines = pc.binary_join_element_wise(*map(_csv_texts, table.itercolumns()), ",")
    return "\n".join([",".join(map(_csv_quoted, table.column_names)), *lines.to_pylist(), ""]).encode()


def _csv_texts(column: pa.ChunkedArray) -> pa.Array:
    """Texts of a column's values, quoted where they must be; each different text or float is written once."""
    if pa.types.is_boolean(column.type) or pa.types.is_integer(column.type):
        return column.cast(pa.string()).combine_chunks().fill_null("")
    coded = column.combine_chunks().dictionary_encode()
    texts = pa.array([_csv_quoted(csv_text(value)) for value in coded.dictionary.to_pylist()], pa.string())
    return texts.take(coded.indices).fill_null("")


def _csv_quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ',"\r\n') else text


def csv_text(value: Any) -> str:
    """Text of one value in a CSV file."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


@functools.cache
def verifier() -> bytes:
    """Source of the published ``verify.py``: its parts as one file that needs the standard library alone."""
    main, *parts = (resources.files("reportgen.publish").joinpath(name).read_text("utf-8") for name in VERIFIER_PARTS)
    head = f'{_LICENCE_LINE}\n"""{_documentation(main)}"""\n\n{_imports([main, *parts])}'
    titled = [f"# {_documentation(part).splitlines()[0]}\n\n{_body(part)}" for part in parts]
    return "\n\n".join([head, *titled, _body(main)]).encode()


def readme(record: Record, licence: str, study: Sequence[str] = ()) -> str:
    """Text of ``README.txt``: what is in the record, how to check it, what each column means.

    ``study`` names the files of its A/A study, if it has one.
    """
    attempts = "".join(
        _paragraph(f"{one.id}/  one sealed attempt on {one.manifest.device.model} ({one.manifest.device.id})", "  ")
        for one in record.attempts
    )
    holds = FILES | {name: study_files.HOLDS[name] for name in study}
    files = "".join(_paragraph(f"{name}  {meaning}", "  ") for name, meaning in holds.items())
    columns = "".join(
        f"\n{name}.csv, {name}.parquet\n\n" + "".join(map(_column_line, (*ORIGIN, *TABLES[name]))) for name in TABLES
    )
    if study:
        named = "".join(_paragraph(f"{name}  {meaning}", "  ") for name, meaning in study_files.COLUMNS.items())
        columns += f"\n{', '.join(study)}\n\n{named}"
    return (
        f"Record {record.name}@{record.slug}\n\n"
        + _paragraph(record.plan.experiment.title)
        + _paragraph(record.plan.experiment.question)
        + f"\nPlan {record.digest}\nData licence {licence}; {VERIFIER}: Apache-2.0\n"
        + f"\nCheck it\n\n  python3 {VERIFIER}\n  sha256sum --check {layout.SUMS}\n"
        + f"\nFiles\n\n{attempts}{files}\nColumns\n{columns}"
    )


FILES = {
    "batches.csv, batches.parquet": "every timing batch of these attempts, warm-up and left-out ones included",
    "checks.csv, checks.parquet": "every check of outputs and inputs",
    layout.PLAN: "the frozen experiment, with everything derived from it written out",
    RESULTS: "what was computed: ratios, intervals, verdicts, gates, promotions",
    f"{patches.FOLDER}/<arm>-vs-<baseline>.patch": "what turns the baseline's archived source into the arm's, for git apply",
    VERIFIER: "checks files and numbers; needs Python 3.11 or newer and nothing else",
    data_package.NAME: "files and columns for programs (Data Package 2.0)",
    layout.SUMS: "SHA-256 of every file but itself",
    "<attempt>.notes.jsonl": "exclusions and errata that were noted after sealing, if any",
}


def zipped(folder: Path, names: Sequence[str]) -> bytes:
    """Zip of files under ``folder``: sorted, stored, one time, one set of permissions."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(names):
            entry = zipfile.ZipInfo(name, _ZIP_TIME)
            entry.create_system, entry.external_attr = 3, _PERMISSIONS
            archive.writestr(entry, (folder / name).read_bytes())
    return buffer.getvalue()


def _paragraph(text: str, indent: str = "") -> str:
    return textwrap.fill(text, 100, initial_indent=indent, subsequent_indent=f"{indent}    ") + "\n"


def _column_line(column: Column) -> str:
    unit = f" [{column.unit}]" if column.unit else ""
    empty = "; may be empty" if column.nullable else ""
    return _paragraph(f"{column.name}{unit}  {column.meaning} ({column.type}{empty})", "  ")


def _documentation(source: str) -> str:
    return ast.get_docstring(ast.parse(source), clean=False) or ""


def _imports(sources: Sequence[str]) -> str:
    """Join the imports of the standard library at the top of some sources: modules first, then names by module."""
    modules: set[str] = set()
    names: defaultdict[str, set[str]] = defaultdict(set)
    for node in (node for source in sources for node in ast.parse(source).body):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.module.startswith("reportgen"):
            names[node.module] |= {alias.name for alias in node.names}
    lines = [f"import {module}\n" for module in sorted(modules)]
    lines += [f"from {module} import {', '.join(sorted(names[module]))}\n" for module in sorted(names)]
    return "".join(lines)


def _body(source: str) -> str:
    """Give what follows the imports of a source."""
    last = max(node.end_lineno or 0 for node in ast.parse(source).body if isinstance(node, ast.Import | ast.ImportFrom))
    return "\n".join(source.splitlines()[last:]).strip() + "\n"
