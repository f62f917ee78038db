"""Loading: what is damaged, missing or of another version is named with its file."""

from __future__ import annotations

import gc
import weakref
from datetime import timedelta
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from reportgen.archive import layout
from reportgen.archive.load import Attempt, list_attempts, load_attempt, read_whole
from reportgen.errors import InputError, RecordError, SchemaVersionError
from tests.factories import STARTED, make_header, make_plan, make_rows, open_attempt, sealed_attempt


@pytest.fixture
def attempt(tmp_path: Path) -> Attempt:
    """Seal a small attempt."""
    return sealed_attempt(tmp_path, repetitions=2)


def read_everything(path: Path) -> None:
    """Touch every part of an attempt."""
    attempt = load_attempt(path)
    assert len(attempt.batches) + len(attempt.checks) + len(attempt.repetitions) > 0


@pytest.mark.parametrize(
    "name", [layout.MANIFEST, layout.PLAN, layout.BATCHES, layout.CHECKS, layout.REPETITIONS, layout.EVENTS]
)
def test_a_missing_file_is_named(attempt: Attempt, name: str) -> None:
    """One line says which and what to do."""
    (attempt.path / name).unlink()
    with pytest.raises(RecordError, match=f"{name}: is missing; restore the record from a copy"):
        read_everything(attempt.path)


@pytest.mark.parametrize(
    "name", [layout.MANIFEST, layout.PLAN, layout.BATCHES, layout.CHECKS, layout.REPETITIONS, layout.EVENTS]
)
@pytest.mark.parametrize("share", [0.3, 0.9, 0.999])
def test_a_truncated_file_is_named(attempt: Attempt, name: str, share: float) -> None:
    """Parquet, JSON, TOML: cut anywhere, the file is named and no traceback reaches anyone."""
    file = attempt.path / name
    data = file.read_bytes()
    file.write_bytes(data[: int(len(data) * share) - 1])
    with pytest.raises((RecordError, SchemaVersionError), match=name):
        read_everything(attempt.path)


@pytest.mark.parametrize("garbage", [b"", b"\xff\xfe\x00", b"[]", b"null", b'{"schema_version":'])
def test_a_manifest_of_garbage_is_named(attempt: Attempt, garbage: bytes) -> None:
    """Whatever lies there instead."""
    (attempt.path / layout.MANIFEST).write_bytes(garbage)
    with pytest.raises((RecordError, SchemaVersionError), match=r"manifest\.json"):
        load_attempt(attempt.path)


@pytest.mark.parametrize(
    ("version", "message"), [(2, "is newer .* use a newer"), (0, "is older .*`reportgen upgrade`")]
)
@pytest.mark.parametrize("name", [layout.MANIFEST, layout.PLAN, layout.REPETITIONS, layout.EVENTS])
def test_another_schema_version_is_refused(attempt: Attempt, name: str, version: int, message: str) -> None:
    """Newer asks for a newer program, older names the upgrade; the file is named."""
    file = attempt.path / name
    text = file.read_text()
    changed = text
    for old in ('"schema_version": 1', '"schema_version":1', "schema_version = 1"):
        changed = changed.replace(old, old[:-1] + str(version), 1)
    assert changed != text
    file.write_text(changed)
    with pytest.raises(SchemaVersionError, match=f"{name}.*{message}"):
        read_everything(attempt.path)


def test_another_schema_version_of_a_table_is_refused(attempt: Attempt) -> None:
    """Parquet carries it in its metadata."""
    file = attempt.path / layout.BATCHES
    table = pq.read_table(file)
    pq.write_table(table.replace_schema_metadata({b"schema_version": b"2"}), file)
    with pytest.raises(SchemaVersionError, match=r"batches\.parquet: schema_version 2 is newer"):
        len(attempt.batches)


def test_a_table_with_other_columns_is_refused(attempt: Attempt) -> None:
    """A renamed column is damage, not data."""
    file = attempt.path / layout.BATCHES
    table = pq.read_table(file)
    renamed = table.rename_columns(["lane", *table.column_names[1:]])
    pq.write_table(renamed.replace_schema_metadata(table.schema.metadata), file)
    with pytest.raises(RecordError, match=r"batches\.parquet: .*columns"):
        len(attempt.batches)


def test_a_folder_renamed_to_another_id_is_refused(attempt: Attempt) -> None:
    """An attempt cannot be passed off as another one."""
    other = attempt.path.with_name("20260301T120001Z-fake-1a2b3c")
    attempt.path.rename(other)
    with pytest.raises(RecordError, match="belongs to attempt"):
        load_attempt(other)


def test_a_folder_that_is_not_there_is_bad_input(tmp_path: Path) -> None:
    """Nothing to repair: the name is wrong."""
    with pytest.raises(InputError, match="no such attempt"):
        load_attempt(tmp_path / "nowhere")


def test_attempts_are_listed_by_experiment_and_id(tmp_path: Path) -> None:
    """Sealed and open ones; hidden folders, notes and strangers are passed over."""
    plan = make_plan()
    later = sealed_attempt(tmp_path, repetitions=1, header={"started": STARTED + timedelta(hours=1)})
    first = sealed_attempt(tmp_path, repetitions=1)
    header = make_header(plan, started=STARTED + timedelta(hours=2))
    open_attempt(tmp_path, plan, make_rows(plan, repetitions=1), header).close()
    (tmp_path / "sample" / ".20260301T120000Z-fake-1a2b3c.sealing").mkdir()
    (tmp_path / "sample" / "drafts").mkdir()
    assert [first.id, later.id, header.id] == [each.id for each in list_attempts(tmp_path)]
    assert list_attempts(tmp_path, "unknown") == []
    assert list_attempts(tmp_path / "nowhere") == []


def test_of_an_attempt_both_open_and_sealed_the_sealed_one_counts(tmp_path: Path) -> None:
    """What a kill right after the rename leaves."""
    plan = make_plan()
    sealed = sealed_attempt(tmp_path, repetitions=1)
    open_attempt(tmp_path / "copy", plan, make_rows(plan, repetitions=1), make_header(plan)).close()
    layout.open_dir(tmp_path / "copy", "sample", sealed.id).rename(layout.open_dir(tmp_path, "sample", sealed.id))
    assert [each.sealed for each in list_attempts(tmp_path)] == [True]


def test_whole_numbers_that_are_missing_stay_whole_numbers(attempt: Attempt) -> None:
    """An unread count of foreign processes is missing, not 0 and not a float."""
    column = attempt.batches["foreign_processes"]
    assert str(column.dtype) == "Int32"
    assert column.isna().all()
    assert pd.api.types.is_integer_dtype(attempt.batches["elapsed_ns"])


def test_counts_of_machine_code_are_read_where_there_are_any(attempt: Attempt) -> None:
    """What other fields say is left alone; a damaged file is named."""
    artifacts = layout.artifacts_dir(attempt.path)
    artifacts.mkdir(exist_ok=True)
    (artifacts / layout.CODE).write_text('{"base": {"registers": 32, "opcodes": {"BAR": 2}, "options": ["-O3"]}}')
    assert (32, 2) == (load_attempt(attempt.path).code["base"].of("registers"), attempt.code["base"].of("BAR"))
    (artifacts / layout.CODE).write_text('{"base": {"registers": 32, "instructions": null, "opcodes": null}}')
    undisassembled = load_attempt(attempt.path).code["base"]
    assert (32, None, None) == (undisassembled.registers, undisassembled.of("instructions"), undisassembled.of("BAR"))
    (artifacts / layout.CODE).write_text("[")
    with pytest.raises(RecordError, match=r"code\.json"):
        _ = load_attempt(attempt.path).code


def test_an_attempt_that_counted_no_machine_code_has_none(attempt: Attempt) -> None:
    """A fake backend compiles nothing."""
    assert {} == attempt.code


def test_tables_are_let_go_when_others_were_read_since(attempt: Attempt) -> None:
    """An archive holds more rows than memory: of the attempts that passed by, only the last are held."""
    first = load_attempt(attempt.path)
    held = weakref.ref(first.batches)
    assert first.batches is held()
    for _ in range(20):
        assert 252 == len(load_attempt(attempt.path).batches)
    gc.collect()
    assert held() is None
    assert 252 == len(first.batches)


def test_an_attempt_that_was_looked_through_keeps_nothing(attempt: Attempt) -> None:
    """Whether all of it can be read is asked of every attempt of an archive."""
    before = set(vars(attempt))
    read_whole(attempt)
    assert before == set(vars(attempt))


def test_attempts_with_the_same_plan_share_it(attempt: Attempt) -> None:
    """A thousand attempts of ten plans hold ten."""
    assert load_attempt(attempt.path).plan is load_attempt(attempt.path).plan
