"""Upgrading: beside the original, step by step, or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reportgen.archive import layout, upgrade
from reportgen.archive.load import load_attempt
from reportgen.archive.sums import check_sums
from reportgen.errors import InputError, SchemaVersionError
from tests.factories import sealed_attempt


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """Seal an attempt and set its manifest and events back to a version 0 that had another word for `reason`."""
    path = sealed_attempt(tmp_path / "runs", repetitions=1).path
    manifest = path / layout.MANIFEST
    manifest.write_text(
        manifest.read_text().replace('"schema_version": 1', '"schema_version": 0').replace('"reason"', '"why"')
    )
    events = path / layout.EVENTS
    events.write_text(events.read_text().replace('"schema_version":1', '"schema_version":0'))
    return path


def rename_reason(document: dict[str, Any]) -> dict[str, Any]:
    """Make a manifest of version 1 out of one of version 0."""
    return {key: value for key, value in document.items() if key != "why"} | {
        "reason": document["why"],
        "schema_version": 1,
    }


def test_the_present_format_needs_nothing(tmp_path: Path) -> None:
    """Said of an attempt, of an experiment, of the whole archive."""
    path = sealed_attempt(tmp_path / "runs", repetitions=1).path
    for place in (path, path.parent, path.parent.parent):
        assert upgrade.upgrade(place) == "1 attempts, all of the present format: nothing to do"
        assert not place.with_name(f"{place.name}.upgraded").exists()


def test_an_older_attempt_is_upgraded_beside_the_original(older: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The copy loads and its sums hold; the original has not changed by a byte."""
    monkeypatch.setitem(upgrade.STEPS, (layout.MANIFEST, 0), rename_reason)
    monkeypatch.setitem(upgrade.STEPS, (layout.EVENTS, 0), lambda event: event | {"schema_version": 1})
    before = (older / layout.MANIFEST).read_bytes()
    runs = older.parent.parent
    assert "1 of 1 attempts upgraded" in upgrade.upgrade(runs)
    copy = runs.with_name("runs.upgraded") / "sample" / older.name
    assert load_attempt(copy).events
    assert [] == check_sums(copy)
    assert before == (older / layout.MANIFEST).read_bytes()
    with pytest.raises(InputError, match="is there already"):
        upgrade.upgrade(runs)


def test_a_version_without_a_way_is_refused(older: Path) -> None:
    """The file is named, nothing is written."""
    with pytest.raises(SchemaVersionError, match=r"manifest\.json: no way is known from schema_version 0 to 1"):
        upgrade.upgrade(older)
    assert [older] == list(older.parent.iterdir())


def test_a_newer_version_is_refused(tmp_path: Path) -> None:
    """It takes a newer program."""
    path = sealed_attempt(tmp_path, repetitions=1).path
    manifest = path / layout.MANIFEST
    manifest.write_text(manifest.read_text().replace('"schema_version": 1', '"schema_version": 2'))
    with pytest.raises(SchemaVersionError, match="is newer than this program reads"):
        upgrade.upgrade(path)


def test_what_holds_no_attempt_is_bad_input(tmp_path: Path) -> None:
    """An empty folder, or nothing."""
    for place in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InputError, match="holds no sealed attempt"):
            upgrade.upgrade(place)
