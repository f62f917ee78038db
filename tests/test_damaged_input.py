"""A short run of the fuzzer, and every fault that it found, as a sentence."""

from __future__ import annotations

import json
import os
import random
import shutil
import warnings
import zipfile
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.fuzz.judging import ELSE, judge
from benchmarks.fuzz.mutations import flip, safely
from benchmarks.fuzz.readers import Reader, make_readers
from benchmarks.fuzz.run import SHARES
from benchmarks.fuzz.samples import make_samples
from reportgen.archive import layout
from reportgen.archive.journal import read_journal
from reportgen.archive.load import Attempt, load_attempt, read_whole
from reportgen.archive.rows import check_rows, to_parquet
from reportgen.errors import InputError, RecordError, ReportgenError
from reportgen.project import find_experiment, open_project, read_experiment
from reportgen.publish.unpacking import unpack
from reportgen.publish.verification import verify_path
from reportgen.publish.verify import check_folder
from tests.factories import make_header, make_plan, make_rows, open_attempt, sealed_attempt

PLAN = make_plan()


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Reader]:
    """Make every reader of the fuzzer."""
    folder = tmp_path_factory.mktemp("fuzz")
    return make_readers(make_samples(folder / "samples"), folder / "work")


@pytest.fixture
def attempt(tmp_path: Path) -> Attempt:
    """Seal a small attempt."""
    return sealed_attempt(tmp_path, repetitions=2)


@pytest.mark.parametrize("name", SHARES)
def test_whatever_a_file_became_its_reader_answers_or_says_what_is_wrong(readers: dict[str, Reader], name: str) -> None:
    """A few changes of each kind, always the same; the long run is benchmarks/fuzz/run.py."""
    reader = readers[name]
    assert ("clean", "") == judge(reader, reader.seeds[0])

    @settings(max_examples=25, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.randoms(use_true_random=False), st.sampled_from([reader.mutate, reader.mutate, flip]))
    def every(draw: random.Random, change: object) -> None:
        with warnings.catch_warnings(action="ignore"):
            data = safely(change, reader.seeds[0], draw)  # type: ignore[arg-type]
        outcome, trace = judge(reader, data)
        assert outcome != ELSE, trace

    every()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"launches":10', '"launches":null'),
        ('"launches":10', '"launches":9223372036854775808'),
        ('"arm":"incumbent"', '"arm":{}'),
        ('"warmup":true', '"warmup":1'),
        ('"tag":""', '"label":""'),
    ],
)
def test_a_journal_row_of_another_type_is_damage_though_its_hash_is_right(tmp_path: Path, old: str, new: str) -> None:
    """The hash says that the line is as it was written, not that it was written by this program."""
    rows = make_rows(PLAN, repetitions=1)
    with open_attempt(tmp_path, PLAN, rows, make_header(PLAN)) as journal:
        text = msgspec.json.encode(rows[1], order="deterministic").decode().replace(old, new, 1)
        assert old in msgspec.json.encode(rows[1], order="deterministic").decode()
        line = {"schema_version": 1, "sha256": _sha256(text), "repetition": msgspec.Raw(text.encode())}
        lines = (journal.folder / layout.JOURNAL).read_bytes().splitlines(keepends=True)
        (journal.folder / layout.JOURNAL).write_bytes(lines[0] + msgspec.json.encode(line) + b"\n" + lines[0])
    with pytest.raises(RecordError, match=r"journal\.jsonl:2: is damaged"):
        read_journal(journal.folder)


def _sha256(text: str) -> str:
    from hashlib import sha256  # noqa: PLC0415 - one use

    return sha256(text.encode()).hexdigest()


def test_a_number_that_no_column_holds_is_refused_before_it_is_archived() -> None:
    """Sealing would fail on it, hours later."""
    row = make_rows(PLAN, repetitions=1)[1].batches[0]
    with pytest.raises(RecordError, match="'position' is 2147483648, beyond int32"):
        check_rows("batches", [row | {"position": 1 << 31}], "here")


@pytest.mark.parametrize("name", ["started_at", "ended_at"])
def test_a_manifest_with_a_time_that_is_none_is_named(attempt: Attempt, name: str) -> None:
    """Records are ordered by these times."""
    _change_manifest(attempt, **{name: "yesterday"})
    with pytest.raises(RecordError, match=rf"manifest\.json: is damaged: .*{name} 'yesterday' is no time"):
        load_attempt(attempt.path)


@pytest.mark.parametrize("name", ["", "..", "../../public", "a\nb"])
def test_an_experiment_cannot_be_named_like_a_way_out(attempt: Attempt, name: str) -> None:
    """Its name becomes part of addresses on the site."""
    _change_manifest(attempt, experiment=name)
    with pytest.raises(RecordError, match="cannot be the name of a folder"):
        load_attempt(attempt.path)


def test_a_left_out_repetition_without_a_number_is_damage(attempt: Attempt) -> None:
    """Scoring looks for it."""
    _change_manifest(attempt, left_out=[{"reason": "throttled"}])
    with pytest.raises(RecordError, match="left_out: an entry names no repetition"):
        load_attempt(attempt.path)


def _change_manifest(attempt: Attempt, **changes: object) -> None:
    file = attempt.path / layout.MANIFEST
    file.write_text(json.dumps(json.loads(file.read_bytes()) | changes))


def test_an_open_folder_renamed_to_another_id_is_refused(tmp_path: Path) -> None:
    """As a sealed one is."""
    with open_attempt(tmp_path, PLAN, make_rows(PLAN, repetitions=1), make_header(PLAN)) as journal:
        other = journal.folder.rename(journal.folder.with_name("20200101T000000Z-fake-000000.partial"))
    with pytest.raises(RecordError, match=r"header\.json: belongs to attempt"):
        load_attempt(other)


@pytest.mark.parametrize(
    "more",
    [
        f"x = {'9' * 5000}\n",
        "x = " + "[" * 900 + "]" * 900 + "\n",
        "x = 1\n[x" + ".a" * 3000 + "]\n",
        f'backend = "fake"\n[[arm]]\nrole = "{"x" * 5000}"\n',
    ],
)
def test_toml_beyond_measure_is_bad_input(attempt: Attempt, tmp_path: Path, more: str) -> None:
    """A number of 5,000 digits, brackets without end, names that the reader quotes: in a plan and in an experiment, in one short line."""
    folder = tmp_path / "lab" / "kernels" / "deep"
    folder.mkdir(parents=True)
    (folder / "experiment.toml").write_text("schema_version = 1\n" + more)
    (attempt.path / layout.PLAN).write_text("schema_version = 1\n" + more)
    with pytest.raises(InputError, match="cannot be read") as misuse:
        read_experiment(find_experiment(open_project(tmp_path / "lab"), "deep"))
    with pytest.raises(RecordError, match=r"plan\.toml: is damaged") as damage:
        load_attempt(attempt.path)
    assert all(len(one.value.one_line()) < 1000 for one in (misuse, damage))


def test_a_pipe_in_place_of_a_file_is_named_and_not_waited_for(attempt: Attempt) -> None:
    """Nobody writes to it, so reading would never end."""
    (attempt.path / layout.PLAN).unlink()
    os.mkfifo(attempt.path / layout.PLAN)
    assert "plan.toml: is a device or a pipe, not a file" in verify_path(attempt.path).findings[0] + "".join(
        check_folder(attempt.path)
    )
    with pytest.raises(RecordError, match=r"plan\.toml: is no plain file"):
        load_attempt(attempt.path)


def test_a_table_that_would_fill_the_memory_is_refused_by_its_footer(attempt: Attempt) -> None:
    """Four million rows that do not vary take some thousand bytes in the file."""
    one = pq.read_table(attempt.path / layout.CHECKS).slice(0, 1)
    many = one.take(pa.array([0] * 4_000_000, type=pa.int32()))
    (attempt.path / layout.CHECKS).write_bytes(to_parquet(many))
    with pytest.raises(RecordError, match=r"checks\.parquet: is damaged: it expands to far more than it holds"):
        read_whole(attempt)


def test_text_in_a_table_that_is_no_utf_8_is_damage(attempt: Attempt) -> None:
    """Arrow would hand it on until something prints it."""
    table = pq.read_table(attempt.path / layout.CHECKS)
    bad = pa.array([b"\xff\xfe"] * len(table), type=pa.binary()).view(pa.string())
    pq.write_table(table.set_column(1, table.schema.field(1), bad), attempt.path / layout.CHECKS)
    with pytest.raises(RecordError, match=r"checks\.parquet: is damaged"):
        read_whole(attempt)


def test_a_schema_version_of_a_thousand_digits_is_none(attempt: Attempt) -> None:
    """Python refuses to read such a number."""
    table = pq.read_table(attempt.path / layout.CHECKS)
    metadata = {**table.schema.metadata, b"schema_version": b"1" * 5_000}
    pq.write_table(table.replace_schema_metadata(metadata), attempt.path / layout.CHECKS)
    with pytest.raises(ReportgenError, match=r"checks\.parquet: has no schema_version"):
        read_whole(attempt)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_zip_packed_by_another_method_is_refused(tmp_path: Path, method: int) -> None:
    """LZMA may ask for gigabytes before its first byte; records are stored or deflated."""
    with zipfile.ZipFile(tmp_path / "odd.zip", "w", method) as archive:
        archive.writestr("manifest.json", "{}")
    (tmp_path / "into").mkdir()
    with pytest.raises(InputError, match="is packed by a method that no record uses"):
        unpack(tmp_path / "odd.zip", tmp_path / "into")


def test_a_field_longer_than_any_and_json_without_end_are_findings_of_the_records_own_program(
    readers: dict[str, Reader], tmp_path: Path
) -> None:
    """No traceback there either."""
    assert "batches.csv" in readers
    record = tmp_path / "record"
    shutil.copytree(make_samples(tmp_path / "samples").record, record)
    results = (record / "results.json").read_bytes()
    (record / "results.json").write_text("[" * 5_000)
    assert any("results.json: is damaged" in line for line in check_folder(record))
    (record / "results.json").write_bytes(results)
    (record / "batches.csv").write_text((record / "batches.csv").read_text() + "y" * 200_000)
    assert any("field larger than field limit" in line for line in check_folder(record))
    assert any("field larger than field limit" in line for line in verify_path(record).findings)
