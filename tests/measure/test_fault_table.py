"""Faults x phases: real processes, the real command line, a real service. A few cells here, all by ``python -m benchmarks.faults``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.measure.fault_cell import look_apart, look_at
from tests.measure.fault_table import IN_THE_TESTS, TABLE, cells
from tests.measure.guarded import PHASES
from tests.measure.injecting import FULL_DISK, INJECTED


@pytest.mark.parametrize(("fault", "phase"), IN_THE_TESTS, ids=map(", ".join, IN_THE_TESTS))
def test_after_a_fault_everything_is_as_the_table_says(
    fault: str, phase: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is alive, the service is as the rules say, the attempt tells what happened, and what it held before is intact."""
    if fault == FULL_DISK:  # which takes a file system of its own
        seen = look_apart(fault, phase, tmp_path / "cell")
        assert isinstance(seen, dict), seen
        return
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # device locks of its own
    look_at(fault, phase, tmp_path / "cell")


def test_every_fault_can_be_injected_and_each_phase_is_run_here() -> None:
    """Only cells that can happen."""
    assert list(TABLE) == list(INJECTED)
    assert set(IN_THE_TESTS) <= set(cells())
    assert set(PHASES) == {phase for _, phase in IN_THE_TESTS}
