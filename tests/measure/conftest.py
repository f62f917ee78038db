"""Fixtures of the tests that measure."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from tests.measure.lab import Lab


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """Lab with a right experiment, and device locks of its own so that other tests on this machine do not matter."""
    locks = tmp_path / "locks"
    locks.mkdir()
    monkeypatch.setenv("TMPDIR", str(locks))
    monkeypatch.setattr(tempfile, "tempdir", str(locks))
    made = Lab(tmp_path / "lab")
    made.write()
    return made
