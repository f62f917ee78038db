"""A whole run beside a live service, and its two guards between them; what is broken in which phase is in ``test_fault_table.py``."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import signal
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from reportgen.model.record import Status
from tests.measure.guarded import ROOT, GuardedRun
from tests.measure.lab import Lab
from tests.measure.serving import LiveService

Hold = Callable[..., GuardedRun]


@pytest.fixture
def held(lab: Lab, tmp_path: Path) -> Iterator[Hold]:
    """Start runs that wait in a phase."""
    folder = tmp_path / "service"
    folder.mkdir()
    service = LiveService(folder)
    service.start()
    runs: list[GuardedRun] = []

    def hold(phase: str, prepare: Callable[[], None] | None = None) -> GuardedRun:
        runs.append(GuardedRun(lab, service, phase, prepare=prepare))
        runs[-1].start()
        return runs[-1]

    yield hold
    for run in runs:
        run.end()
    service.end()


def ignore_a_closed_terminal() -> None:
    """Do what ``nohup`` does."""
    os.setsid()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def test_a_run_beside_a_service_leaves_it_open_and_tells_each_step(held: Hold) -> None:
    """The events are in order; nothing stays written down. Begun as by ``nohup``, it goes on without its terminal, whoever says that it is gone."""
    run = held("reopening", ignore_a_closed_terminal)
    for pid in (run.watchdog, run.controller):
        os.kill(pid, signal.SIGHUP)
    run.let_go()
    assert 0 == run.finish(), run.said
    (attempt,) = run.attempts()
    steps = ["identifying", "identified", "closing", "closed", "idle", "cleaning", "comparing", "reopening", "reopened"]
    events = [event.event for event in attempt.events]
    assert [f"service {step}" for step in steps] == [event for event in events if event.startswith("service")]
    assert events.index("service idle") < events.index("calibrated") < events.index("service cleaning")
    assert ["nothing owned left", "sealed"] == events[-2:]
    assert (Status.SCORED, [], False) == (attempt.status, run.written_down(), run.service.status()["closed"])


def test_a_command_of_the_watchdog_has_no_signal_blocked(held: Hold) -> None:
    """It waits for signals itself; a program that it starts must take them as ever."""
    run = held("closed")
    run.kill(run.controller)
    run.let_go()
    assert 1 == run.finish()
    assert ["0" * 16, "/close", "/open"] == [run.mask_of_the_open_command(), *run.service.status()["calls"]]


def test_a_terminal_that_is_closed_interrupts_the_run(held: Hold) -> None:
    """It tells the leader of its session alone, which is the watchdog: the service is open again, the attempt can be resumed."""
    terminal, inside = pty.openpty()

    def sit_at_it() -> None:
        os.setsid()
        fcntl.ioctl(inside, termios.TIOCSCTTY, 0)

    run = held("measuring", sit_at_it)
    os.close(inside)
    os.close(terminal)
    assert 130 == run.finish(), run.said
    (attempt,) = run.attempts()
    assert (Status.ABORTED, "interrupted") == (attempt.status, attempt.events[-1].event)
    assert ([], [], False) == (run.owned(), run.written_down(), run.service.status()["closed"])


def test_recover_leaves_a_run_that_goes_on_alone_and_a_signal_to_its_watchdog_ends_it(held: Hold) -> None:
    """Its service stays closed, its processes live; vouching for it is refused. Interrupted as by Ctrl-C it opens the service."""
    run = held("measuring")
    command = [sys.executable, "-m", "reportgen", "recover", "--json", "--project", str(run.lab.root)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert [] == json.loads(told.stdout)
    assert (True, 1) == (run.service.status()["closed"], len([run.worker()]))
    refused = subprocess.run(
        [*command, "--reopen", "inference"], env=environment, capture_output=True, text=True, check=False
    )
    assert (2, True) == (refused.returncode, "which goes on" in refused.stderr)
    os.kill(run.watchdog, signal.SIGTERM)
    assert 130 == run.finish()
    assert ([], [], False) == (run.owned(), run.written_down(), run.service.status()["closed"])
