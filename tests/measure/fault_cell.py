"""One cell of ``fault_table``: a real run beside a real service is broken in a phase, and what is left after it is looked at.

    python -m tests.measure.fault_cell FAULT PHASE FOLDER [--mounts]

prints what was seen as JSON; ``--mounts`` is said by :func:`look_apart`, which gives it file systems of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from reportgen.archive.load import Attempt
from reportgen.measure.recovery import recover
from reportgen.model.record import Status
from tests.measure.fault_table import CLOSED, DEAD, EITHER, NOTHING, RECOVER, REOPENED, SCORED, VOUCH, After, cell_of
from tests.measure.guarded import PATIENCE_S, ROOT, GuardedRun
from tests.measure.injecting import DAY_S, FULL_DISK, inject, settings
from tests.measure.lab import Lab
from tests.measure.serving import LiveService
from tests.measure.small_disk import mounting

ROWS = ["mode", "repetition", "fixture", "arm", "pass", "position", "launches", "started_ns", "elapsed_ns"]


@dataclass(frozen=True)
class Outcome:
    """What was seen of a cell: as the table says, and how many repetitions from before the fault are unchanged."""

    exit_status: int
    attempt: str
    said: str
    service: str
    mend: str
    repetitions_intact: int
    seconds: float


def look_apart(fault: str, phase: str, folder: Path) -> dict[str, Any] | str:
    """Look at a cell in a process of its own, with device locks and, where this user may mount, file systems of its own.

    Returns
    -------
    dict or str
        The fields of :class:`Outcome`, or what is said of a cell that is not as the table says.
    """
    command = [*mounting(), sys.executable, "-m", "tests.measure.fault_cell", fault, phase, str(folder)]
    finished = subprocess.run(
        [*command, "--mounts"] if mounting() else command,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    if finished.returncode:
        return finished.stderr[-3000:]
    seen: dict[str, Any] = json.loads(finished.stdout)
    return seen


def look_at(fault: str, phase: str, folder: Path, *, mounts: bool = False) -> Outcome:
    """Break a run and look; ``mounts`` tells that this process may mount what nobody else sees.

    Raises
    ------
    AssertionError
        Something does not hold that the table claims, or that must hold in every cell.
    """
    (folder / "service").mkdir(parents=True)
    lab, service = Lab(folder / "lab"), LiveService(folder / "service")
    service.start()
    run = GuardedRun(lab, service, phase, **settings(fault, folder, mounts=mounts))
    try:
        began_s = time.monotonic()
        run.start()
        inject(fault, run)
        return _looked(fault, run, began_s)
    finally:
        run.end()
        service.end()


def _looked(fault: str, run: GuardedRun, began_s: float) -> Outcome:
    after = cell_of(fault, run.hold)
    assert isinstance(after, After)
    assert after.exit_status == run.finish(), run.said
    attempts = run.attempts()
    assert ([] if after.attempt == NOTHING else [after.attempt]) == [one.status.value for one in attempts], run.said
    assert all(one.reason for one in attempts if one.status is not Status.SCORED)
    said = re.search(after.said, "\n".join([run.said, run.said_by_others, *map(_told, attempts)]))
    assert said is not None, run.said
    service = _service(run, after)
    _mend(run, after)
    assert ([], [], []) == (run.owned(), run.written_down(), recover(run.lab.project))
    intact = _intact(run)
    if fault.startswith("clock"):
        _check_that_the_clock_was_off(attempts)
    if fault == FULL_DISK:
        _check_that_room_is_enough(run, attempts)
    seconds = time.monotonic() - began_s
    return Outcome(after.exit_status, after.attempt, said.group(), service, after.mend, intact, seconds)


def _told(attempt: Attempt) -> str:
    return "\n".join(
        [
            attempt.reason,
            *(str(one.get("reason")) for one in attempt.manifest.left_out),
            *(f"{event.event} {msgspec.json.encode(event.facts).decode()}" for event in attempt.events),
        ]
    )


def _service(run: GuardedRun, after: After) -> str:
    """Say how the service was found before anything was mended."""
    assert run.service.process is not None
    if after.service == DEAD:
        assert run.service.process.poll() is not None
        return DEAD
    found = CLOSED if run.service.status()["closed"] else REOPENED
    assert after.service in (EITHER, found), run.said
    return found


def _mend(run: GuardedRun, after: After) -> None:
    """Do what the run said; afterwards the service is open."""
    if after.service == DEAD and after.mend:
        _start_and_close(run)
    if after.mend == VOUCH:
        assert [False] == [one.mended for one in recover(run.lab.project) if one.kind == "service"]
        assert run.service.status()["closed"]
        vouched = recover(run.lab.project, frozenset({"inference"}))
        assert [True] == [one.mended for one in vouched if one.kind == "service"]
    elif after.mend == RECOVER:
        if after.attempt == SCORED:  # the service is what fails, and still does
            assert [False] == [one.mended for one in recover(run.lab.project)]
            run.service.control()
        mended = recover(run.lab.project)
        assert all(one.mended for one in mended), mended
    if after.service != DEAD or after.mend:
        assert not run.service.status()["closed"]


def _start_and_close(run: GuardedRun) -> None:
    run.service.start()
    run.service.post("/close")


def _intact(run: GuardedRun) -> int:
    """Count the repetitions that were archived before the fault; each row of theirs stands as it was."""
    rows = [_row(row) for one in run.kept for row in one.batches]
    stands = {_row(row) for one in run.attempts() for row in one.batches.to_dict("records")}
    assert stands >= set(rows)
    return sum(one.repetition > 0 for one in run.kept)


def _row(row: dict[Any, Any]) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in ROWS)


def _check_that_the_clock_was_off(attempts: list[Attempt]) -> None:
    """Both guards saw it: else the cell would show nothing."""
    (attempt,) = attempts
    off_s = (datetime.now(UTC) - datetime.fromisoformat(attempt.events[-1].at)).total_seconds()
    assert abs(abs(off_s) - DAY_S) < DAY_S / 2


def _check_that_room_is_enough(run: GuardedRun, attempts: list[Attempt]) -> None:
    """Once the disk takes bytes again the attempt is completed; what it held is part of it."""
    if run.disk is not None:
        run.disk.make_room()
    again = run.begin(*(word for one in attempts for word in ("--resume", one.id)))
    _, said = again.communicate(timeout=PATIENCE_S)
    assert 0 == again.returncode, said
    assert [Status.SCORED] == [one.status for one in run.attempts()]
    _intact(run)


def main() -> None:
    """Look at the cell that is asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("cell", nargs=2)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--mounts", action="store_true")
    wanted = parser.parse_args()
    fault, phase = wanted.cell
    seen = asdict(look_at(fault, phase, wanted.folder, mounts=wanted.mounts))
    del seen["seconds"]
    json.dump(seen, sys.stdout)


if __name__ == "__main__":
    main()
