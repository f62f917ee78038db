"""What a reader takes home: complete, described, the same bytes everywhere."""

from __future__ import annotations

import ast
import csv
import io
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from reportgen.archive.load import list_attempts
from reportgen.archive.notes import add_erratum
from reportgen.archive.select import Record, find_record
from reportgen.model.columns import BATCHES, CHECKS, ORIGIN
from reportgen.publish import downloads
from reportgen.publish.downloads import VERIFIER_PARTS, joined, readme, to_csv, verifier, write_record
from reportgen.scoring import score
from tests.factories import sealed_attempt


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """Measure a record of one attempt, with an erratum."""
    runs = tmp_path_factory.mktemp("runs")
    add_erratum(sealed_attempt(runs, repetitions=6).path, "the title names the wrong shape")
    return find_record(list_attempts(runs), "sample")


@pytest.fixture(scope="module")
def folder(record: Record, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write its files."""
    out = tmp_path_factory.mktemp("out")
    write_record(record, score(record), out)
    return out


def test_everything_is_there(record: Record, folder: Path) -> None:
    """Attempt with its notes, tables twice, plan, results, program, text, sums, zip."""
    attempt = record.attempts[0].id
    expected = {
        "README.txt", "SHA256SUMS", "batches.csv", "batches.parquet", "checks.csv", "checks.parquet", "datapackage.json", "plan.toml",
        "record.zip", "results.json", "verify.py", attempt, f"{attempt}.notes.jsonl",
    }  # fmt: skip
    assert expected == {path.name for path in folder.iterdir()}


def test_an_attempt_travels_byte_for_byte(record: Record, folder: Path) -> None:
    """Its own sums still hold."""
    attempt = record.attempts[0]
    command = ["sha256sum", "--check", "--quiet", "SHA256SUMS"]
    subprocess.run(command, cwd=folder / attempt.id, check=True, capture_output=True)
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def test_the_zip_is_the_folder(folder: Path) -> None:
    """Sorted, one time, one set of permissions, so that the same record gives the same zip."""
    with zipfile.ZipFile(folder / "record.zip") as archive:
        names = archive.namelist()
        assert sorted(names) == names
        assert {(1980, 1, 1, 0, 0, 0)} == {member.date_time for member in archive.infolist()}
        assert {0o100644 << 16} == {member.external_attr for member in archive.infolist()}
        for name in names:
            assert archive.read(name) == (folder / name).read_bytes()
    loose = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert loose - {"record.zip"} == set(names)


def test_csv_and_parquet_hold_the_same_rows(record: Record, folder: Path) -> None:
    """Read by pandas, CSV gives every value of the sealed attempt, device and attempt in front."""
    sealed = record.attempts[0].batches
    table = pq.read_table(folder / "batches.parquet")
    assert [column.name for column in (*ORIGIN, *BATCHES)] == table.column_names
    read = pd.read_csv(folder / "batches.csv")
    assert {"cpu-0123456789ab"} == set(read["device"])
    for name in ("fixture", "arm", "repetition", "elapsed_ns", "started_ns", "warmup", "load_1min"):
        assert sealed[name].tolist() == read[name].tolist() == table.column(name).to_pylist(), name
    assert read["foreign_processes"].isna().all()


def test_floats_survive_csv(record: Record) -> None:
    """Reading gives the same float, whatever its digits."""
    table = joined("checks", record.attempts)
    third = pd.Series([1 / 3] * table.num_rows).to_numpy()
    at = table.column_names.index("rel_l2")
    text = to_csv(table.set_column(at, "rel_l2", [third])).decode()
    assert {1 / 3} == {float(row["rel_l2"]) for row in csv.DictReader(io.StringIO(text))}


def test_csv_is_what_the_standard_library_would_write() -> None:
    """Texts with marks of the format, floats of every size, truth values and gaps."""
    columns = {
        'name, "quoted"': ["plain", "a,b", 'say "so"', "", "two\nlines", None],
        "float": [1 / 3, -0.0, 1e300, 5e-324, float("inf"), None],
        "whole": [1, -2, 2**62, 0, None, 7],
        "truth": [True, False, None, True, True, False],
    }
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow([str(value).lower() if isinstance(value, bool) else value for value in row])
    table = pa.table(columns)
    assert text.getvalue() == to_csv(table).decode()
    assert text.getvalue() == to_csv(pa.concat_tables([table.slice(0, 2), table.slice(2)])).decode()


def test_the_readme_explains_every_file_and_column(record: Record, folder: Path) -> None:
    """A stranger needs nothing else."""
    text = readme(record, "CC-BY-4.0")
    assert text == (folder / "README.txt").read_text()
    flat = re.sub(r"\s+", " ", text)
    for column in (*ORIGIN, *BATCHES, *CHECKS):
        assert f"{column.name}" in flat
        assert column.meaning in flat
    for path in folder.iterdir():
        if path.name not in {"README.txt", "record.zip", f"{record.attempts[0].id}.notes.jsonl"}:
            assert path.name in flat
    assert "CC-BY-4.0" in flat
    assert max(map(len, text.splitlines())) <= 100


def test_the_published_program_needs_the_standard_library_alone() -> None:
    """It is one file with a licence line, compiles, and imports nothing that Python does not bring along."""
    source = verifier().decode()
    assert source.startswith("# SPDX-License-Identifier: Apache-2.0\n")
    imported, lines = set(), [line for line in source.splitlines() if re.match("import |from ", line)]
    assert len(lines) == len({line.split()[1] for line in lines})
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            imported |= {name.name.partition(".")[0] for name in node.names}
        if isinstance(node, ast.ImportFrom):
            imported.add(str(node.module).partition(".")[0])
    assert imported <= sys.stdlib_module_names
    assert "pandas" not in source


def test_the_program_and_its_parts_share_nothing_with_the_analysis() -> None:
    """The second road: not an import of the first one, in any of its parts."""
    for part in VERIFIER_PARTS:
        source = Path(downloads.__file__).with_name(part).read_text()
        assert not re.search(r"import.*(analysis|scoring|archive|model|numpy|pandas)", source)
