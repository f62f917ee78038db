"""Names of attempts and where they lie."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from reportgen.archive import layout
from reportgen.errors import InputError

NOON = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
DIGEST = "1a2b3c" + "0" * 58


def test_an_id_is_time_backend_and_first_digits_of_the_plan(tmp_path: Path) -> None:
    """The form that DESIGN and every page use."""
    assert layout.new_attempt_id(tmp_path, "sample", "fake", DIGEST, NOON) == "20260301T120000Z-fake-1a2b3c"


def test_an_id_tells_the_time_in_utc(tmp_path: Path) -> None:
    """A clock in another zone names the same moment."""
    local = NOON.astimezone(timezone(timedelta(hours=5, minutes=30)))
    assert layout.new_attempt_id(tmp_path, "sample", "fake", DIGEST, local) == "20260301T120000Z-fake-1a2b3c"


@pytest.mark.parametrize("taken", ["", ".partial", ".notes.jsonl"])
def test_an_id_that_is_taken_moves_on_by_a_second(tmp_path: Path, taken: str) -> None:
    """Sealed, open, or known from its notes alone: the next second is free."""
    (tmp_path / "sample" / f"20260301T120000Z-fake-1a2b3c{taken}").mkdir(parents=True)
    assert layout.new_attempt_id(tmp_path, "sample", "fake", DIGEST, NOON) == "20260301T120001Z-fake-1a2b3c"


def test_a_backend_that_cannot_stand_in_an_id_is_refused(tmp_path: Path) -> None:
    """Capital letters or slashes would break the form."""
    with pytest.raises(InputError, match="cannot be an attempt's id"):
        layout.new_attempt_id(tmp_path, "sample", "../Fake", DIGEST, NOON)


def test_open_and_sealed_folders_name_the_same_attempt(tmp_path: Path) -> None:
    """The suffix is all that tells them apart, and both share the notes."""
    sealed = layout.attempt_dir(tmp_path, "sample", "20260301T120000Z-fake-1a2b3c")
    opened = layout.open_dir(tmp_path, "sample", "20260301T120000Z-fake-1a2b3c")
    assert sealed == layout.sealed_dir_of(opened)
    assert layout.notes_file(sealed) == layout.notes_file(opened)
    assert (layout.is_open(sealed), layout.is_open(opened)) == (False, True)
