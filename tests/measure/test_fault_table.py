"""Faults x phases: real processes, the real command line, a real service. Each fault once here, all cells by ``python -m benchmarks.faults``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.measure.fault_cell import look_at
from tests.measure.fault_table import IN_THE_TESTS, TABLE, cells
from tests.measure.guarded import PHASES
from tests.measure.injecting import INJECTED

CHOSEN = [(fault, phase) for fault, phases in IN_THE_TESTS.items() for phase in phases]


@pytest.mark.parametrize(("fault", "phase"), CHOSEN, ids=[f"{fault}, {phase}" for fault, phase in CHOSEN])
def test_after_a_fault_everything_is_as_the_table_says(
    fault: str, phase: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is alive, the service is as the rules say, the attempt tells what happened, and what it held before is intact."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # device locks of its own
    look_at(fault, phase, tmp_path / "cell")


def test_each_fault_and_each_phase_is_run_here() -> None:
    """Only cells that can happen, each phase with more than one fault."""
    assert list(TABLE) == list(IN_THE_TESTS) == list(INJECTED)
    assert set(CHOSEN) <= set(cells())
    assert all(2 <= sum(phase == one for _, phase in CHOSEN) for one in PHASES)
