"""What a published record's files must agree on: sealed attempts, joined tables, CSV, results computed again."""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pyarrow as pa

from reportgen.archive import layout
from reportgen.archive.encoding import decode_json, decode_toml, read_bytes
from reportgen.archive.load import load_attempt
from reportgen.archive.rows import read_table
from reportgen.archive.select import Record, records
from reportgen.errors import RecordError, ReportgenError
from reportgen.model import plan as plan_model
from reportgen.model import result as result_model
from reportgen.model.columns import ORIGIN, TABLES
from reportgen.model.plan import Plan
from reportgen.model.result import Result
from reportgen.publish import patches, verify
from reportgen.publish.attempt_checks import attempt_findings
from reportgen.publish.downloads import RESULTS, ZIP, csv_text, joined, study_tables_of
from reportgen.publish.unpacking import BROKEN
from reportgen.publish.verify_evidence import header_contradictions
from reportgen.scoring import score

_MOST_DIFFERENCES = 20


def record_findings(folder: Path) -> list[str]:
    """Check the published record in ``folder``: one line for each thing wrong, with file, row and field."""
    findings = list(_until_refused(folder, verify.check_sums(folder)))
    folders = sorted(path.parent for path in folder.glob(f"*/{layout.MANIFEST}"))
    for attempt in folders:
        findings += [f"{attempt.name}/{_relative(line, attempt)}" for line in attempt_findings(attempt, {verify.PAGE})]
    findings += _until_refused(folder, _zip(folder))
    try:
        record = _record(folder, folders)
    except ReportgenError as fault:
        return [*findings, _relative(fault.one_line(), folder)]
    return [
        *findings,
        *_until_refused(folder, _tables(folder, record)),
        *_until_refused(folder, _results(folder, record)),
        *_until_refused(folder, _study(folder, record)),
        *_until_refused(folder, _patches(folder, record)),
    ]


def _relative(line: str, folder: Path) -> str:
    return line.replace(f"{folder}/", "")


def _until_refused(folder: Path, lines: Iterator[str]) -> Iterator[str]:
    """Pass findings on; an error that ends them is the last."""
    try:
        yield from lines
    except ReportgenError as fault:
        yield _relative(fault.one_line(), folder)
    except OSError as fault:
        yield _relative(f"{fault.filename}: cannot be read: {fault.strerror}", folder)
    except (UnicodeDecodeError, csv.Error, verify.RefusedError) as fault:
        yield f"a table or listing is damaged: {fault}"


def _record(folder: Path, folders: list[Path]) -> Record:
    """Form the record that the attempts of the folder are."""
    found = records(load_attempt(path) for path in folders)
    names = [path.name for path in folders]
    if len(found) != 1 or sorted(attempt.id for attempt in found[0].attempts) != names:
        raise RecordError(
            "its attempts do not form one record (one plan, one set of binaries, each scored, one a device)",
            where=str(folder),
        )
    plan = decode_toml(read_bytes(folder / layout.PLAN), Plan, plan_model.SCHEMA_VERSION, str(folder / layout.PLAN))
    if plan != found[0].plan:
        raise RecordError("is not the plan of the attempts", where=str(folder / layout.PLAN))
    return found[0]


def _tables(folder: Path, record: Record) -> Iterator[str]:
    for name in TABLES:
        sealed = joined(name, record.attempts)
        if not read_table(name, folder / f"{name}.parquet", ORIGIN).equals(sealed):
            yield f"{name}.parquet: does not hold the rows of the sealed attempts"
        yield from _csv(folder / f"{name}.csv", sealed)


def _study(folder: Path, record: Record) -> Iterator[str]:
    """Hold the tables of an A/A study against the sealed rows."""
    for name, data in study_tables_of(record, score(record)).items():
        if not (folder / name).is_file() or (folder / name).read_bytes() != data:
            yield f"{name}: does not hold what follows from the rows of the sealed attempts"


def _patches(folder: Path, record: Record) -> Iterator[str]:
    """Hold every patch, from where its diff begins, against the archived sources; older records have none."""
    made = patches.patches_of(record, score(record))
    for path in sorted((folder / patches.FOLDER).glob("*")):
        name = f"{patches.FOLDER}/{path.name}"
        if name not in made or patches.diff_of(path.read_bytes()) != patches.diff_of(made[name]):
            yield f"{name}: is not what turns one archived source into another"


def _csv(path: Path, sealed: pa.Table) -> Iterator[str]:
    """Hold a CSV file against the sealed rows; each differing field is named, up to a number of lines."""
    with path.open(encoding="utf-8", newline="") as file:
        yield from header_contradictions(path.name, file.readline())
    written = verify.read_rows(path)
    if len(written) != sealed.num_rows:
        yield f"{path.name}: holds {len(written)} rows, the sealed attempts {sealed.num_rows}"
    told = 0
    for row, sealed_row in zip(written, sealed.to_pylist(), strict=False):
        for name, value in sealed_row.items():
            if row.get(name) != csv_text(value) and told < _MOST_DIFFERENCES:
                told += 1
                yield f"{path.name}:{row['line']}: {name} is {row.get(name)!r}, sealed was {csv_text(value)!r}"


def _results(folder: Path, record: Record) -> Iterator[str]:
    path = folder / RESULTS
    published = decode_json(read_bytes(path), Result, result_model.SCHEMA_VERSION, str(path))
    computed = msgspec.json.decode(msgspec.json.encode(score(record, published.stages)))
    yield from verify.differences(msgspec.json.decode(msgspec.json.encode(published)), computed, RESULTS)


def _zip(folder: Path) -> Iterator[str]:
    """Hold the zip beside a record, if there is one, against the loose files."""
    path = folder / ZIP
    if not path.exists():
        return
    listed = {*verify.read_sums(folder)[0], layout.SUMS}
    try:
        with zipfile.ZipFile(path) as archive:
            for name in sorted({*archive.namelist(), *listed}):
                if name not in listed or not _same(archive, name, folder / name):
                    yield f"{ZIP}: {name} is not the file beside it"
    except BROKEN as fault:
        yield f"{ZIP}: is damaged: {fault}"


def _same(archive: zipfile.ZipFile, name: str, loose: Path) -> bool:
    """Compare a member with a file; one of another declared length is not read, for it may expand without end."""
    member = archive.NameToInfo.get(name)
    if member is None or not loose.is_file() or member.file_size != loose.stat().st_size:
        return False
    return archive.read(member) == loose.read_bytes()
