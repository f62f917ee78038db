"""Imported attempts: archived with their files, read back without loss, verified against them, never part of a record."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
import pytest

from reportgen.archive import layout
from reportgen.archive.importers.arranging import told_of
from reportgen.archive.importers.gathering import gather
from reportgen.archive.load import Attempt, load_attempt, read_whole
from reportgen.archive.select import find_imported, records
from reportgen.archive.sums import sums_of
from reportgen.archive.taking import take
from reportgen.errors import InputError
from reportgen.model.imported import Told
from reportgen.model.record import Kind, Status
from reportgen.publish.attempt_checks import attempt_findings
from tests.factories import sealed_attempt

FOLDER = Path(__file__).resolve().parent.parent / "data" / "importing"
AB = FOLDER / "generic" / "made-up-ab.csv"
GOOGLE = FOLDER / "google-benchmark" / "one-run-counters.json"
WITH_PEOPLE = """{"context": {"host_name": "big-box.lan", "date": "2031-01-01", "executable": "/home/jane/bench"}, "benchmarks": [
 {"name": "read(/home/jane/data)", "run_type": "iteration", "iterations": 1, "real_time": 5.0, "cpu_time": 5.0, "time_unit": "ns"}]}"""


def taken(runs: Path, *paths: Path, told: Told | None = None, keep: bool = False, name: str = "") -> Attempt:
    """Import files into an archive and load what came of it."""
    read = gather(paths).found
    return load_attempt(take(runs, read, told or Told(), name=name, keep_identity=keep).path)


def test_an_attempt_says_what_it_was_imported_from(tmp_path: Path) -> None:
    """Kind, reason, format, version, what is not recorded, hash and bytes of the file, context."""
    path = FOLDER / "tricky" / "gb-error-and-skip.json"
    attempt = taken(tmp_path, path)
    entry = attempt.manifest.imported
    assert entry is not None
    assert (Kind.IMPORTED, Status.COMPLETE) == (attempt.manifest.kind, attempt.status)
    assert "measured elsewhere" in attempt.reason
    source = entry.sources[0]
    assert ("google-benchmark", "v1.9.0") == (source.format, source.version)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == source.files[0].original_sha256
    assert (6, 3, 3) == (source.context["num_cpus"], entry.benchmarks, entry.samples)
    assert source.unrecorded


def test_a_file_without_names_is_kept_byte_for_byte(tmp_path: Path) -> None:
    """Line ends, byte order marks and gzip included."""
    for name in ("tricky/csv-bom-semicolon-crlf.csv", "generic/made-up-ab.jsonl", "pyperf/no-unit.json"):
        attempt = taken(tmp_path, FOLDER / name)
        entry = attempt.manifest.imported
        assert entry is not None
        kept = layout.sources_dir(attempt.path) / entry.sources[0].files[0].path
        assert (FOLDER / name).read_bytes() == kept.read_bytes()


@pytest.mark.parametrize("name", ["google-benchmark", "pyperf", "tricky", "asv", "nvbench", "own/criterion", "own"])
def test_tables_hold_everything_that_was_read(tmp_path: Path, name: str) -> None:
    """Read back they are the very benchmarks, samples and figures; and verification reads the copies to the same."""
    attempt = taken(tmp_path, FOLDER / name, keep=True)
    given = [one for read in gather([FOLDER / name]).found for one in read.source.benchmarks]
    held = [one for _, one in attempt.imported]
    assert [len(one.samples) for one in given] == [len(one.samples) for one in held]
    assert [(one.good, one.reported, one.params) for one in given] == [
        (one.good, one.reported, one.params) for one in held
    ]
    read_whole(attempt)
    assert attempt_findings(attempt.path) == []


def test_names_of_hosts_and_people_stay_out(tmp_path: Path) -> None:
    """In the copy, its name, the tables and the manifest; the hash as given stays; on request everything stays."""
    given = tmp_path / "big-box.lan-run.json"
    given.write_text(WITH_PEOPLE, "utf-8")
    attempt = taken(tmp_path / "runs", given)
    entry = attempt.manifest.imported
    assert entry is not None
    written = b"".join(path.read_bytes() for path in attempt.path.rglob("*") if path.is_file())
    names = " ".join(str(path) for path in attempt.path.rglob("*"))
    assert [] == [told for told in ("big-box", "jane") if told.encode() in written or told in names]
    assert hashlib.sha256(given.read_bytes()).hexdigest() == entry.sources[0].files[0].original_sha256
    assert 3 == entry.sources[0].files[0].replaced
    assert "read(/home/user-1/data)" == attempt.imported[0][1].name
    assert attempt_findings(attempt.path) == []
    kept = taken(tmp_path / "kept", given, keep=True)
    assert "read(/home/jane/data)" == kept.imported[0][1].name
    assert b"big-box.lan" in b"".join(path.read_bytes() for path in kept.path.rglob("*") if path.is_file())


def test_columns_that_name_hosts_and_people_are_replaced(tmp_path: Path) -> None:
    """In tables too, and nothing but whole cells."""
    given = tmp_path / "t.csv"
    given.write_text(
        "arm,fixture,repetition,time_ns,host,user\na,sort box,1,5,box,jane\nb,sort box,1,6,box,jane\n", "utf-8"
    )
    attempt = taken(tmp_path / "runs", given)
    entry = attempt.manifest.imported
    assert entry is not None
    kept = (layout.sources_dir(attempt.path) / entry.sources[0].files[0].path).read_text("utf-8")
    assert "a,sort box,1,5,host-1,user-1\n" in kept
    assert "jane" not in kept


def test_the_same_files_are_archived_once(tmp_path: Path) -> None:
    """Unless something else is told of them."""
    read = gather([AB]).found
    first = take(tmp_path, read, Told())
    again = take(tmp_path, read, Told())
    assert (first.path, True) == (again.path, again.present)
    other = take(tmp_path, read, Told(baseline="cand"))
    assert (False, False) == (other.present, other.path == first.path)


def test_no_record_speaks_through_an_imported_attempt(tmp_path: Path) -> None:
    """Beside a measured record of the same name it is listed, and `show` shows the record."""
    attempt = taken(tmp_path, AB, name="sample")
    assert records([attempt]) == []
    assert find_imported(tmp_path, "sample") is not None
    sealed_attempt(tmp_path, repetitions=2)
    assert find_imported(tmp_path, "sample") is None
    by_id = find_imported(tmp_path, attempt.id)
    assert by_id is not None
    assert attempt.id == by_id.id


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("value", "benchmark 1, 'sort', is not what the archived file says"),
        ("benchmark", "counts 4 imported benchmarks, the tables hold 3"),
        ("version", "version is not what the archived file says"),
    ],
)
def test_a_forged_table_is_told_from_its_source(tmp_path: Path, change: str, found: str) -> None:
    """Even where the list of sums was made anew."""
    attempt = taken(tmp_path, AB)
    forge(attempt, change)
    (attempt.path / layout.SUMS).write_bytes(sums_of(attempt.path))
    assert any(found in line for line in attempt_findings(attempt.path)), attempt_findings(attempt.path)


def forge(attempt: Attempt, change: str) -> None:
    """Change a value, leave out a benchmark, or claim another version."""
    from reportgen.archive.imported_rows import tables  # noqa: PLC0415 - what a forger would use

    rows = list(attempt.imported)
    number, first = rows[0]
    better = msgspec.structs.replace(first.samples[0], value=1.0)
    if change == "value":
        rows[0] = (number, msgspec.structs.replace(first, samples=(better, *first.samples[1:])))
    if change == "benchmark":
        rows = rows[:-1]
    for path, data in tables(rows).items():
        (layout.artifacts_dir(attempt.path) / path).write_bytes(data)
    if change == "version":
        manifest = attempt.path / layout.MANIFEST
        manifest.write_text(manifest.read_text("utf-8").replace('"version": null', '"version": "9"'), "utf-8")


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (Told(baseline="nobody"), "there is no arm 'nobody'; arms are base, cand"),
        (Told(nulls={"base2": "base"}), "there is no arm 'base2'"),
        (Told(arm_from="size"), "has no parameter 'size'"),
    ],
)
def test_what_is_told_must_fit(tmp_path: Path, told: Told, said: str) -> None:
    """A mapping to what is not there is refused, and nothing is archived."""
    with pytest.raises(InputError, match=said):
        taken(tmp_path, AB, told=told)
    assert list(tmp_path.iterdir()) == []


def test_a_null_is_written_with_what_it_repeats() -> None:
    """``ARM=OF``; an arm may hold the sign itself."""
    told = told_of(baseline="", nulls=["a=b=c"], arm_from="", paired=False, fresh_processes=False)
    assert {"a=b": "c"} == told.nulls
    with pytest.raises(InputError, match="is not written ARM=OF"):
        told_of(baseline="", nulls=["alone"], arm_from="", paired=False, fresh_processes=False)
