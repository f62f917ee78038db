"""Notes: they change what an attempt counts as, never what it holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from reportgen.archive import layout
from reportgen.archive.load import load_attempt
from reportgen.archive.notes import add_erratum, exclude, read_notes
from reportgen.archive.sums import check_sums
from reportgen.errors import InputError, RecordError, SchemaVersionError
from reportgen.model.record import Status
from tests.factories import make_header, make_plan, open_attempt, sealed_attempt


def test_an_exclusion_makes_the_attempt_excluded_with_its_reason(tmp_path: Path) -> None:
    """The sealed folder is not touched; the manifest says what was sealed."""
    attempt = sealed_attempt(tmp_path, repetitions=1)
    exclude(attempt.path, "the fan was unplugged")
    after = load_attempt(attempt.path)
    assert (after.status, after.reason) == (Status.EXCLUDED, "the fan was unplugged")
    assert Status.SCORED is after.manifest.status
    assert check_sums(attempt.path) == []


def test_an_erratum_leaves_the_status(tmp_path: Path) -> None:
    """It is shown, and that is all."""
    attempt = sealed_attempt(tmp_path, repetitions=1)
    add_erratum(attempt.path, "the title names the wrong shape")
    after = load_attempt(attempt.path)
    assert (after.status, after.reason) == (Status.SCORED, "")
    assert [note.text for note in after.notes] == ["the title names the wrong shape"]


def test_notes_are_appended(tmp_path: Path) -> None:
    """Earlier lines stay byte for byte."""
    attempt = sealed_attempt(tmp_path, repetitions=1)
    add_erratum(attempt.path, "first, with <script> and ümläuts")
    before = layout.notes_file(attempt.path).read_bytes()
    exclude(attempt.path, "second")
    assert layout.notes_file(attempt.path).read_bytes().startswith(before)
    assert [note.kind for note in read_notes(attempt.path)] == ["erratum", "exclusion"]


def test_an_attempt_is_excluded_once(tmp_path: Path) -> None:
    """The first reason stands."""
    attempt = sealed_attempt(tmp_path, repetitions=1)
    exclude(attempt.path, "first")
    with pytest.raises(InputError, match="is excluded already: first"):
        exclude(attempt.path, "second")


@pytest.mark.parametrize("reason", ["", "  \n"])
def test_a_reason_is_needed(tmp_path: Path, reason: str) -> None:
    """Nothing is written without one."""
    attempt = sealed_attempt(tmp_path, repetitions=1)
    with pytest.raises(InputError, match="a note needs a text"):
        exclude(attempt.path, reason)
    assert not layout.notes_file(attempt.path).exists()


def test_only_a_sealed_attempt_takes_notes(tmp_path: Path) -> None:
    """An open one is aborted anyway; a stranger is no attempt."""
    plan = make_plan()
    with open_attempt(tmp_path, plan, [], make_header(plan)) as journal:
        for folder in (journal.folder, tmp_path / "nowhere"):
            with pytest.raises(InputError, match="is no sealed attempt"):
                exclude(folder, "because")


def test_a_torn_note_is_no_note_and_the_next_one_stands_on_its_own(tmp_path: Path) -> None:
    """Killed while noting: the half line is dropped."""
    attempt = sealed_attempt(tmp_path, repetitions=1)
    add_erratum(attempt.path, "first")
    file = layout.notes_file(attempt.path)
    file.write_bytes(file.read_bytes() + b'{"schema_version":1,"at"')
    assert [note.text for note in read_notes(attempt.path)] == ["first"]
    add_erratum(attempt.path, "second")
    assert [note.text for note in read_notes(attempt.path)] == ["first", "second"]


def test_a_damaged_or_newer_note_is_named(tmp_path: Path) -> None:
    """A record must not lose an exclusion in silence."""
    attempt = sealed_attempt(tmp_path, repetitions=1)
    exclude(attempt.path, "first")
    add_erratum(attempt.path, "second")
    file = layout.notes_file(attempt.path)
    text = file.read_text()
    file.write_text("x" + text)
    with pytest.raises(RecordError, match=r"notes\.jsonl:1: is damaged"):
        load_attempt(attempt.path)
    file.write_text(text.replace('"schema_version":1', '"schema_version":2', 1))
    with pytest.raises(SchemaVersionError, match=r"notes\.jsonl:1: schema_version 2 is newer"):
        load_attempt(attempt.path)


def test_a_reason_is_one_printable_line(tmp_path: Path) -> None:
    """Line breaks become spaces; what would steer a terminal is refused."""
    attempt = sealed_attempt(tmp_path).path
    with pytest.raises(InputError, match="control characters"):
        exclude(attempt, "\x1b[2J")
    assert exclude(attempt, " the fan\n was  off ").text == "the fan was off"
