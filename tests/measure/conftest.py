"""Fixtures of the tests that measure."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from tests.measure.lab import Lab


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """Lab with a right experiment, and device locks of its own so that other tests on this machine do not matter."""
    return lab_in(tmp_path, monkeypatch)


def lab_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """Make such a lab in a folder."""
    locks = folder / "locks"
    locks.mkdir()
    monkeypatch.setenv("TMPDIR", str(locks))
    monkeypatch.setattr(tempfile, "tempdir", str(locks))
    made = Lab(folder / "lab")
    made.write()
    return made
