"""A timed process that cannot answer: the error says what is known of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reportgen.errors import WorkerError
from reportgen.measure.interruption import Interruption
from reportgen.measure.process import Deadlines, WorkerProcess


def test_a_process_that_dies_is_quoted(tmp_path: Path) -> None:
    """Its log lies where nobody looks, so its last line is in the error."""
    (tmp_path / "job.json").write_text("{}", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with (
        Interruption() as interruption,
        WorkerProcess(tmp_path / "job.json", tmp_path / "log", environment) as process,
        pytest.raises(WorkerError, match=r"ended with status 1 and no answer; its last words: \w+Error"),
    ):
        list(process.messages(Deadlines(start_s=60, silence_s=60), interruption))
