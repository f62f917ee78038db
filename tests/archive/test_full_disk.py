"""A disk that takes n bytes more, for several n: what ``python -m benchmarks.full_disk`` does with each command that writes, here with two."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.measure.small_disk import mounting

TRIED = {"exclude": "exclude: 2 sizes", "init": "init: 3 sizes"}


@pytest.mark.skipif(not mounting(), reason="nothing can be mounted here")
def test_a_command_that_meets_a_full_disk_says_so_and_harms_nothing() -> None:
    """Whatever it could still write: one line, what was sealed as it was, and with room again it succeeds."""
    command = [sys.executable, "-m", "benchmarks.full_disk", "--only", *TRIED, "--pages", "6"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stdout + done.stderr
    assert all(line.startswith(tried) for line, tried in zip(done.stdout.splitlines(), TRIED.values(), strict=True))
