"""SIGKILL of each part of a run in each phase, beside a live service: real processes, the real command line."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from reportgen.measure.recovery import recover
from reportgen.model.record import Status
from tests.measure.guarded import PHASES, ROOT, GuardedRun
from tests.measure.lab import Lab
from tests.measure.serving import LiveService

Hold = Callable[[str], GuardedRun]
MEASURED = ("cleaning", "reopening")


@pytest.fixture
def held(lab: Lab, tmp_path: Path) -> Iterator[Hold]:
    """Start runs that wait in a phase."""
    folder = tmp_path / "service"
    folder.mkdir()
    service = LiveService(folder)
    service.start()
    runs: list[GuardedRun] = []

    def hold(phase: str) -> GuardedRun:
        runs.append(GuardedRun(lab, service, phase))
        runs[-1].start()
        return runs[-1]

    yield hold
    for run in runs:
        run.end()
    service.end()


def test_a_run_beside_a_service_leaves_it_open_and_tells_each_step(held: Hold) -> None:
    """The events are in order; nothing stays written down."""
    run = held("reopening")
    run.let_go()
    assert 0 == run.finish(), run.said
    (attempt,) = run.attempts()
    steps = ["identifying", "identified", "closing", "closed", "idle", "cleaning", "comparing", "reopening", "reopened"]
    events = [event.event for event in attempt.events]
    assert [f"service {step}" for step in steps] == [event for event in events if event.startswith("service")]
    assert events.index("service idle") < events.index("calibrated") < events.index("service cleaning")
    assert ["nothing owned left", "sealed"] == events[-2:]
    assert (Status.SCORED, [], False) == (attempt.status, run.written_down(), run.service.status()["closed"])


@pytest.mark.parametrize("phase", PHASES)
def test_when_the_controller_is_killed_the_watchdog_cleans_up_and_reopens(held: Hold, phase: str) -> None:
    """Its line says so and how to go on; the attempt is readable."""
    run = held(phase)
    run.kill(run.controller)
    run.let_go()
    assert 1 == run.finish()
    assert "reportgen: the controller was killed by SIGKILL; " in run.said
    assert ([], [], False) == (run.owned(), run.written_down(), run.service.status()["closed"])
    found = [attempt.status for attempt in run.attempts()]
    assert ([] if phase == "before close" else [Status.ABORTED]) == found
    assert ("--resume" in run.said) is (phase != "before close")


@pytest.mark.parametrize("phase", PHASES)
def test_when_the_watchdog_is_killed_the_controller_stops_cleans_up_and_reopens(held: Hold, phase: str) -> None:
    """What was measured by then is sealed as ever, the rest is left open as by an interruption."""
    run = held(phase)
    run.kill(run.watchdog)
    run.let_go()
    assert -signal.SIGKILL == run.finish()
    assert ([], [], False) == (run.owned(), run.written_down(), run.service.status()["closed"])
    expected = [] if phase == "before close" else [Status.SCORED if phase in MEASURED else Status.ABORTED]
    attempts = run.attempts()
    assert expected == [attempt.status for attempt in attempts]
    if phase in ("closed", "measuring"):
        assert "watchdog died" in [event.event for event in attempts[0].events]


@pytest.mark.parametrize("phase", PHASES)
def test_when_both_guards_are_killed_the_service_stays_closed_until_recover(held: Hold, phase: str) -> None:
    """Before it was closed there is nothing to reopen; a second time there is nothing to mend."""
    run = held(phase)
    run.kill(run.watchdog, run.controller)
    run.finish()
    if phase in ("closed", "measuring", "cleaning"):
        assert run.service.status()["closed"]
    run.let_go()
    found = recover(run.lab.project)
    assert all(one.mended for one in found), found
    assert ([], [], False) == (run.owned(), run.written_down(), run.service.status()["closed"])
    attempts = run.attempts()
    assert ([] if phase == "before close" else [Status.ABORTED]) == [attempt.status for attempt in attempts]
    mended = {one.kind for one in found}
    assert ("service" in mended) is (phase != "before close")
    assert phase != "cleaning" or "process" in mended
    if attempts:
        assert ["service reopened", "nothing owned left"] == [event.event for event in attempts[0].events][-2:]
    assert [] == recover(run.lab.project)


@pytest.mark.parametrize("phase", ["before close", "measuring"])
def test_when_the_worker_is_killed_the_run_goes_on_or_ends_by_itself(held: Hold, phase: str) -> None:
    """A lost repetition goes to a spare; without references nothing is measured. Workers run in these phases only."""
    run = held(phase)
    run.worker().kill()
    run.let_go()
    assert (1 if phase == "before close" else 0) == run.finish(), run.said
    assert ([], [], False) == (run.owned(), run.written_down(), run.service.status()["closed"])
    assert ([] if phase == "before close" else [Status.SCORED]) == [attempt.status for attempt in run.attempts()]


@pytest.mark.parametrize("phase", ["closed", "measuring", "cleaning", "reopening"])
def test_a_service_that_was_started_anew_stays_closed_with_the_one_command(held: Hold, phase: str) -> None:
    """The run says so and ends with 1; recover does no more, until the operator vouches."""
    run = held(phase)
    run.service.kill()
    run.service.start()
    run.service.post("/close")
    if phase == "measuring":
        os.kill(run.watchdog, signal.SIGINT)
    run.let_go()
    assert 1 == run.finish()
    assert "reportgen: " in run.said
    assert "service inference stays closed to new requests: " in run.said
    if phase != "reopening":  # there the request to open breaks off, and recover is the first that compares again
        assert re.search(
            r"closed to new requests: its process (id was \d+ and is \d+|\d+ does not run); see to it", run.said
        )
        assert "run `reportgen recover --reopen inference`" in run.said
    assert [False] == [one.mended for one in recover(run.lab.project) if one.kind == "service"]
    assert run.service.status()["closed"]
    assert [True] == [one.mended for one in recover(run.lab.project, frozenset({"inference"})) if one.kind == "service"]
    assert (False, []) == (run.service.status()["closed"], run.written_down())


def test_a_service_that_was_started_anew_before_it_is_closed_is_the_service(held: Hold) -> None:
    """Its identity is taken at the window's beginning."""
    run = held("before close")
    run.service.kill()
    run.service.start()
    run.let_go()
    assert (0, False, []) == (run.finish(), run.service.status()["closed"], run.written_down())


def test_a_command_of_the_watchdog_has_no_signal_blocked(held: Hold) -> None:
    """It waits for signals itself; a program that it starts must take them as ever."""
    run = held("closed")
    run.kill(run.controller)
    run.let_go()
    assert 1 == run.finish()
    assert ["0" * 16, "/close", "/open"] == [run.mask_of_the_open_command(), *run.service.status()["calls"]]


def test_a_signal_to_the_watchdog_alone_reaches_the_controller(held: Hold) -> None:
    """The run is interrupted as by Ctrl-C; the service is open again."""
    run = held("measuring")
    os.kill(run.watchdog, signal.SIGTERM)
    assert 130 == run.finish()
    assert ([], [], False) == (run.owned(), run.written_down(), run.service.status()["closed"])


def test_recover_leaves_a_run_that_goes_on_alone(held: Hold) -> None:
    """Its service stays closed, its processes live; vouching for it is refused."""
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
    os.kill(run.watchdog, signal.SIGINT)
    assert 130 == run.finish()
