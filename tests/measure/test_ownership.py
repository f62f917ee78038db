"""What a run started is found, ended and seen to be gone; nothing else is touched."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psutil
import pytest
from msgspec.structs import replace

from reportgen.measure.inherited import bear, borne_us, limit_us
from reportgen.measure.marks import mark_of, read_stat
from reportgen.measure.ownership import Owned, Ownership, environment_mark
from tests.measure.marked import marked_processes
from tests.measure.serving import wait_until

MARK = "20260101T000000Z-test-000000"
STUBBORN = (
    "import signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(60)"
)
DETACHED = """
import os, sys, time
if os.fork():
    print(1, flush=True)
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
open(sys.argv[1] + ".new", "w").write(str(os.getpid()))
os.rename(sys.argv[1] + ".new", sys.argv[1])
time.sleep(60)
"""

FORGETS = """
import os, sys
if "REPORTGEN_ATTEMPT" in os.environ:
    os.execve(sys.executable, [sys.executable, "-S", "-c", sys.orig_argv[3], *sys.argv[1:]], {})
"""
HAS_A_CHILD = """
import subprocess, sys, time
subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"], env={}, stdout=subprocess.DEVNULL)
print(1, flush=True)
time.sleep(60)
"""
LIMITED = """
import os, resource
from reportgen.measure.inherited import bear, borne_us
resource.setrlimit(resource.RLIMIT_RTTIME, (10**6, 10**6))
bear("run-1")
print(borne_us(os.getpid()))
"""
ROOT = Path(__file__).parents[2]


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[bytes]]]:
    """End these after the test, whatever it did to them."""
    processes: list[subprocess.Popen[bytes]] = []
    yield processes
    for process in processes:
        process.kill()
        process.communicate()


def start(processes: list[subprocess.Popen[bytes]], program: str, *words: str, mark: str = "", bears: str = "") -> int:
    """Start a Python program with that mark, by one that ``bears`` another; it has begun when this returns."""
    environment = {**os.environ, "REPORTGEN_ATTEMPT": mark}
    process = subprocess.Popen(
        [sys.executable, "-S", "-c", program, *words],
        env=environment,
        stdout=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=partial(bear, bears) if bears else None,  # noqa: PLW1509 - no thread runs here
    )
    processes.append(process)
    assert process.stdout is not None
    process.stdout.readline()
    return process.pid


def gone(pid: int) -> bool:
    """Whether nothing of that id is there, not even to be collected."""
    return read_stat(pid) is None


def test_a_process_that_ignores_sigterm_is_ended_by_force(started: list[subprocess.Popen[bytes]]) -> None:
    """It is collected too: no zombie is left."""
    pid = start(started, STUBBORN, mark=MARK)
    ownership = Ownership(frozenset({MARK}))
    assert [(pid, "mark")] == [(one.pid, one.by) for one in ownership.find()]
    assert ([], True) == (ownership.end_all(grace_s=0.1), gone(pid))


def test_a_process_that_forked_twice_and_detached_is_found_by_its_mark(
    started: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    """It has another parent, session and group."""
    start(started, DETACHED, str(tmp_path / "pid"), mark=MARK)
    wait_until((tmp_path / "pid").exists)
    pid = int((tmp_path / "pid").read_text("ascii"))
    ownership = Ownership(frozenset({MARK}))
    assert [(pid, "mark")] == [(one.pid, one.by) for one in ownership.find()]
    assert [] == ownership.end_all()
    stat = read_stat(pid)
    assert stat is None or stat.ended


def test_a_process_that_was_started_without_its_environment_is_found_by_its_limit(
    started: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    """It forked twice and detached besides, and no guard is left whose descendant it would be; one of another run is left alone."""
    other = start(started, STUBBORN, bears=MARK + "x")
    start(started, FORGETS + DETACHED, str(tmp_path / "pid"), mark=MARK, bears=MARK)
    wait_until((tmp_path / "pid").exists)
    started[-1].wait(60)
    pid = int((tmp_path / "pid").read_text("ascii"))
    assert (None, limit_us(MARK)) == (environment_mark(pid), borne_us(pid))
    ownership = Ownership(frozenset({MARK}))
    assert [(pid, "mark")] == [(one.pid, one.by) for one in ownership.find()]
    assert [] == ownership.end_all()
    stat = read_stat(pid)
    assert stat is None or stat.ended
    assert not gone(other)


def test_what_descends_from_a_marked_process_is_owned_where_no_guard_is_left(
    started: list[subprocess.Popen[bytes]],
) -> None:
    """Its parent is found by its mark, and both are ended."""
    parent = start(started, HAS_A_CHILD, mark=MARK)
    (child,) = psutil.Process(parent).children()
    ownership = Ownership(frozenset({MARK}))
    assert {(parent, "mark"), (child.pid, "descendant")} == {(one.pid, one.by) for one in ownership.find()}
    assert ([], True) == (ownership.end_all(grace_s=0.1), gone(parent))
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE


def test_a_limit_that_somebody_asked_for_stays() -> None:
    """Then the environment alone tells; a process that is gone has no limit."""
    finished = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True, check=True, cwd=ROOT)
    assert "1000000\n" == finished.stdout
    assert borne_us(4194304) is None


def test_what_carries_another_mark_or_none_is_left_alone(started: list[subprocess.Popen[bytes]]) -> None:
    """Nor is a process owned whose mark merely begins the same."""
    other = start(started, STUBBORN, mark=MARK + "x")
    unmarked = start(started, STUBBORN)
    assert (MARK + "x", None) == (environment_mark(other), environment_mark(unmarked))
    assert [] == Ownership(frozenset({MARK})).end_all(grace_s=0.1)
    assert not gone(other)
    assert not gone(unmarked)
    assert other in {one.pid for one in marked_processes()[MARK + "x"]}


def test_descendants_are_owned_whatever_their_environment_but_spared_ones_are_not(
    started: list[subprocess.Popen[bytes]],
) -> None:
    """The other guard is a descendant too and ends nothing of itself."""
    mine, spared = start(started, STUBBORN), start(started, STUBBORN)
    ownership = Ownership(frozenset({MARK}), root=os.getpid(), spared=frozenset({os.getpid(), spared}))
    assert (mine, "descendant") in [(one.pid, one.by) for one in ownership.find()]
    assert ([], True, False) == (ownership.end_all(grace_s=0.1), gone(mine), gone(spared))


def test_a_group_is_owned_through_its_leader(started: list[subprocess.Popen[bytes]]) -> None:
    """The same id with another start time is another group."""
    pid = start(started, STUBBORN)
    leader = mark_of(pid)
    assert leader is not None
    earlier = replace(leader, started_ticks=leader.started_ticks - 1)
    assert [] == Ownership(frozenset({MARK}), leaders=[earlier]).end_all(grace_s=0.1)
    assert not gone(pid)
    assert ([], True) == (Ownership(frozenset({MARK}), leaders=[leader]).end_all(grace_s=0.1), gone(pid))


def test_a_timed_process_that_goes_on_is_left_alone_and_what_detached_from_it_is_not(
    started: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    """Its group stays; what has a group of its own is a stray."""
    pid = start(started, STUBBORN, mark=MARK)
    start(started, DETACHED, str(tmp_path / "pid"), mark=MARK)
    wait_until((tmp_path / "pid").exists)
    stray = int((tmp_path / "pid").read_text("ascii"))
    ownership = Ownership(frozenset({MARK}), staying=frozenset({pid}))
    assert [stray] == [one.pid for one in ownership.alive()]
    assert ([], False) == (ownership.end_all(grace_s=0.1), gone(pid))


def test_what_only_waits_to_be_collected_is_not_alive(started: list[subprocess.Popen[bytes]]) -> None:
    """A process that ended by itself shared nothing with anyone any more."""
    pid = start(started, "print(1, flush=True)", mark=MARK)
    wait_until(lambda: (stat := read_stat(pid)) is not None and stat.ended)
    ownership = Ownership(frozenset({MARK}), root=os.getpid())
    assert ([], True) == ([one for one in ownership.alive() if one.pid == pid], gone(pid))


def test_no_mark_is_looked_for_in_what_is_older_than_the_run(started: list[subprocess.Popen[bytes]]) -> None:
    """It cannot be its own, and reading every environment of a machine takes as long as reading every start."""
    pid = start(started, STUBBORN, mark=MARK)
    stat = read_stat(pid)
    assert stat is not None
    for since, found in ((stat.started_ticks, [pid]), (stat.started_ticks + 1, [])):
        assert found == [one.pid for one in Ownership(frozenset({MARK}), since_ticks=since).find()]


def test_an_id_that_another_process_got_meanwhile_is_not_signalled(started: list[subprocess.Popen[bytes]]) -> None:
    """It was seen with another start time."""
    pid = start(started, "import time; print(1, flush=True); time.sleep(60)")
    stat = read_stat(pid)
    assert stat is not None
    from reportgen.measure.ownership import _signal  # noqa: PLC0415 - the one place where an id becomes a signal

    _signal(Owned(pid, stat.started_ticks - 1, "mark"), signal.SIGKILL)
    assert not gone(pid)
    _signal(Owned(pid, stat.started_ticks, "mark"), signal.SIGKILL)
    wait_until(lambda: (read_stat(pid) or stat).ended)


def test_a_context_left_on_the_device_is_left_of_the_run(started: list[subprocess.Popen[bytes]]) -> None:
    """Of what it started, or of processes that cannot be seen from here; others' contexts, and earlier ones, are not its."""
    pid = start(started, STUBBORN, mark=MARK)
    foreign, unseen, earlier = os.getpid(), 4194303, 4194302
    ownership = Ownership(
        frozenset({MARK}),
        contexts=lambda: [pid, foreign, unseen, earlier],
        contexts_before=frozenset({earlier}),
    )
    left = ownership.end_all(grace_s=0.1, vanish_s=1)
    assert [(pid, "device"), (unseen, "device")] == [(one.pid, one.by) for one in left]
    assert "a context of process 4194303 on the device" == str(left[1])


def test_a_driver_that_does_not_tell_leaves_nothing_to_say(started: list[subprocess.Popen[bytes]]) -> None:
    """Processes alone are verified then."""
    start(started, STUBBORN, mark=MARK)
    assert [] == Ownership(frozenset({MARK}), contexts=lambda: None).end_all(grace_s=0.1)
