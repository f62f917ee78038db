"""A real scheduler and real workers: repetitions arrive as they are measured, and outlive workers, sender and connections."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from reportgen.archive import layout
from reportgen.archive.journal import read_journal
from reportgen.archive.load import Attempt, scan_attempts
from reportgen.errors import InputError
from reportgen.measure.dispatch import Dispatch
from reportgen.measure.fleet import Crew, connected
from reportgen.measure.watching import RunOptions
from reportgen.model.record import Status
from reportgen.publish.attempt_checks import attempt_findings
from tests.measure.crew import PATIENCE_S, ROOT, RealCrew
from tests.measure.lab import Lab, Seen
from tests.measure.serving import wait_until

SLOW = '[[fake.fault]]\nkind = "slow"\nseconds = 1.5\narm = "idea"\nrepetition = 2\n'
# By itself its first repetition takes longer than the tests wait for its end, and no batch of it is as silent as to be ended for that.
VERY_SLOW = SLOW.replace("1.5", "25").replace("repetition = 2", "repetition = 1")
SHORTER_S = 60
SENDER = """
import sys
from pathlib import Path
from reportgen.measure.dispatch import Dispatch
from reportgen.measure.fleet import Crew, connected
from reportgen.measure.watching import RunOptions
from reportgen.project import open_project
from tests.measure.lab import Seen
Dispatch(open_project(Path(sys.argv[1])), "doubling", RunOptions(), Seen(), lease_s=8.0).run(sys.argv[2])
"""


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealCrew]:
    """Start one scheduler for all tests."""
    made = RealCrew(tmp_path_factory.mktemp("crew"))
    made.start()
    yield made
    made.end()


@pytest.fixture
def crew(scheduler: RealCrew) -> Iterator[RealCrew]:
    """Let the test hire workers, and dismiss them."""
    yield scheduler
    scheduler.dismiss()


def dispatch(
    lab: Lab, crew: RealCrew, seen: Seen, patience_s: float = 60, resume: str | None = None
) -> dict[str, tuple[int, str]]:
    """Run on the fleet: exit status and sentence by device."""
    asked = Dispatch(lab.project, "doubling", RunOptions(resume=resume), seen, patience_s=patience_s)
    return {one.device: (one.outcome.exit_status, one.outcome.sentence) for one in asked.run(crew.address)}


def attempts(lab: Lab) -> dict[str, Attempt]:
    """Read what the sender archived, by device; nothing of it may be damaged."""
    found, faults = scan_attempts(lab.project.runs)
    assert [] == faults
    return {one.manifest.device.id: one for one in found}


def wait_for_repetition(lab: Lab, number: int) -> Path:
    """Wait until the sender has a repetition on its own disk; the attempt's folder."""

    def arrived() -> list[Path]:
        folders = list(lab.project.runs.glob("doubling/*.partial"))
        return [one for one in folders if any(each.repetition == number for each in read_journal(one).repetitions)]

    wait_until(lambda: bool(arrived()), PATIENCE_S)
    return arrived()[0]


def left() -> list[str]:
    """Name every process of a run that is alive; the workers of this test keep their runs in a folder of its own."""
    folder = os.environ["TMPDIR"]
    found = [" ".join(each.info["cmdline"] or []) for each in psutil.process_iter(["cmdline"])]
    return [line for line in found if "reportgen.measure." in line and folder in line]


def test_a_worker_killed_in_mid_repetition_costs_that_repetition_alone(lab: Lab, crew: RealCrew) -> None:
    """Device 2, another board, gets an attempt of its own; device 1's is resumed on its board, by the same binaries."""
    lab.write(backend="fake", repetitions=2, protocol="side_by_side = true", more=SLOW)
    doomed = crew.hire(1)
    killed: list[str] = []

    def at_phase(name: str, detail: str) -> None:
        if (name, detail) == ("repetition", "device fake-1 2") and not killed:
            folder = wait_for_repetition(lab, 1)
            doomed.send_signal(signal.SIGKILL)
            doomed.wait()
            killed.append(layout.attempt_id_of(folder))
            crew.hire(2, wait=False)
            crew.hire(1, wait=False)

    seen = Seen(at_phase=at_phase)
    told = dispatch(lab, crew, seen)
    assert {"fake-1": (0, ""), "fake-2": (0, "")} == told
    found = attempts(lab)
    assert [Status.SCORED, Status.SCORED] == [found[name].status for name in ("fake-1", "fake-2")]
    assert killed == [found["fake-1"].id]
    events = [event.event for event in found["fake-1"].events]
    assert ["opened", "calibrated", "repetition", "worker lost", "resumed"] == events[:5]
    assert "repetition" in events[5:]  # on a busy machine the newcomer may be missed for a moment, and resume once more
    assert [0, 1, 2] == [one.repetition for one in found["fake-1"].repetitions]
    assert [] == [line for one in found.values() for line in attempt_findings(one.path)]
    assert [] == left()
    assert found["fake-1"].manifest.binaries == found["fake-2"].manifest.binaries


def test_without_its_board_an_attempt_stays_open_and_is_completed_later(lab: Lab, crew: RealCrew) -> None:
    """It reads as aborted with what arrived; a resumed one begins no other attempt."""
    lab.write(backend="fake", repetitions=2, more=SLOW)
    doomed = crew.hire(1)

    def at_phase(name: str, detail: str) -> None:
        if (name, detail) == ("repetition", "device fake-1 2"):
            wait_for_repetition(lab, 1)
            doomed.kill()
            doomed.wait()

    (status, sentence) = dispatch(lab, crew, Seen(at_phase=at_phase), patience_s=0)["fake-1"]
    attempt = attempts(lab)["fake-1"]
    assert (1, f"the worker was lost after 1 repetitions; continue on the same board with --resume {attempt.id}") == (
        status,
        sentence,
    )
    assert (Status.ABORTED, False, [0, 1]) == (
        attempt.status,
        attempt.sealed,
        [one.repetition for one in attempt.repetitions],
    )
    crew.hire(1)
    assert {"fake-1": (0, "")} == dispatch(lab, crew, Seen(), resume=attempt.id)
    assert ["fake-1"] == [*attempts(lab)]
    assert Status.SCORED == attempts(lab)["fake-1"].status


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_when_the_sender_ends_the_worker_ends_its_run(lab: Lab, crew: RealCrew, number: signal.Signals) -> None:
    """Asked to stop, or unheard for as long as the lease is: no process is left, what arrived is there."""
    lab.write(backend="fake", repetitions=1, more=VERY_SLOW)
    crew.hire(1)
    sender = subprocess.Popen(
        [sys.executable, "-c", SENDER, str(lab.root), crew.address], env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    wait_for_repetition(lab, 0)
    wait_until(lambda: bool(left()), PATIENCE_S)
    sender.send_signal(number)
    sender.wait(PATIENCE_S)
    wait_until(lambda: not left(), SHORTER_S)
    attempt = attempts(lab)["fake-1"]
    assert (Status.ABORTED, [0]) == (attempt.status, [one.repetition for one in attempt.repetitions])


def test_a_lost_scheduler_leaves_the_attempt_open_with_what_arrived(lab: Lab, tmp_path: Path) -> None:
    """One line says what was lost and how to go on; the worker ends its run."""
    lab.write(backend="fake", repetitions=1, more=VERY_SLOW)
    crew = RealCrew(tmp_path)
    crew.start()
    crew.hire(1)

    def at_phase(name: str, detail: str) -> None:
        if (name, detail) == ("repetition", "device fake-1 1"):
            wait_for_repetition(lab, 0)
            crew.processes[0].kill()
            crew.processes[0].wait()

    try:
        (status, sentence) = dispatch(lab, crew, Seen(at_phase=at_phase), patience_s=0)["fake-1"]
        attempt = attempts(lab)["fake-1"]
        assert (1, Status.ABORTED, [0]) == (status, attempt.status, [one.repetition for one in attempt.repetitions])
        assert f"--resume {attempt.id}" in sentence
        assert "\n" not in sentence
    finally:
        crew.end()
    wait_until(lambda: not left(), SHORTER_S)


def test_a_client_that_has_given_its_scheduler_up_is_a_lost_connection(crew: RealCrew) -> None:
    """Dask's client then knows no workers at all, which is not the same as a fleet without workers."""
    with connected(crew.address) as client:
        fleet = Crew(client, "fake")
        assert ({}, []) == fleet.look()
        client.close()
        with pytest.raises(ConnectionError, match="it answers no more"):
            fleet.look()


def test_what_no_fleet_can_do_is_said(lab: Lab, crew: RealCrew) -> None:
    """No worker of that resource; a device named; no scheduler."""
    lab.write(backend="fake")
    with pytest.raises(InputError, match="no worker with the resource CPU can measure this"):
        dispatch(lab, crew, Seen())
    with pytest.raises(InputError, match="own their devices"):
        Dispatch(lab.project, "doubling", RunOptions(device="0"), Seen()).run(crew.address)
