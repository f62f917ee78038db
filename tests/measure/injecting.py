"""How each fault of ``fault_table`` is done to a run that stands in a phase. Nothing is simulated but what the names say."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from reportgen.archive.journal import decode_repetition
from reportgen.archive.lines import read_growing
from tests.measure.guarded import PATIENCE_S, GuardedRun
from tests.measure.small_disk import SmallDisk

DAY_S = 86_400
FULL_DISK = "full disk"
MANY = "[64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75]"  # what a repetition leaves is larger than what its job's file sets free
CLOCK = Path(__file__).with_name("stepped_clock.c")

# A signal's handler raises in the controller's main thread, wherever that is.
OPERATOR = """
import signal
def fail(number, frame):
    raise ZeroDivisionError
signal.signal(signal.SIGUSR1, fail)
from reportgen.__main__ import main
main()
"""
HANGS = "import time; time.sleep(3600)"
IGNORES = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {HANGS}"
FILLS = """
import resource
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (64 << 20),) * 2)
taken = []
while True:
    taken.append(bytes(range(256)) * 4096)
"""
DETACHES = """
import os, signal, time
child = os.fork()
if child == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.setsid()
    if os.fork():
        os._exit(0)
    (gate / "detached").touch()
    time.sleep(120)
    os._exit(0)
os.waitpid(child, 0)
while not (gate / "detached").exists():
    time.sleep(0.01)
"""


def settings(fault: str, folder: Path, *, mounts: bool) -> dict[str, Any]:
    """Give what the run must be started with, so that the fault can happen to it; ``mounts`` tells that it may have a disk of its own."""
    if fault.startswith("clock"):
        library = folder / "stepped_clock.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, CLOCK, "-ldl"], check=True)
        return {"variables": {"LD_PRELOAD": str(library), "CLOCK_STEP": str(folder / "step")}}
    if fault == FULL_DISK:
        return _on_a_small_disk(folder) if mounts else {"sizes": MANY}
    given: dict[str, dict[str, Any]] = {
        "exception in the operator": {"command": ("-c", OPERATOR)},
        "timed process hangs": {"silence_deadline_s": 3},
        "timed process ignores SIGTERM and hangs": {"silence_deadline_s": 3},
        "service never becomes idle": {"idle_deadline_s": 1},
        "request to open the service is refused": {"open_deadline_s": 30},
        "request to open the service is not answered": {"open_deadline_s": 3},
    }
    return given.get(fault, {})


def inject(fault: str, run: GuardedRun) -> None:
    """Do it, and let whoever survives go on."""
    INJECTED[fault](run)
    wishes: dict[str, dict[str, Any]] = {
        "service refuses to close": {"refuse_close": True},
        "service never becomes idle": {"requests": 1},
        "command to open the service fails": {"refuse_open": True},
        "request to open the service is refused": {"refuse_open": True},
        "request to open the service is not answered": {"hold_open": True},
    }
    run.let_go(**wishes.get(fault, {}))


def _raise(run: GuardedRun) -> None:
    subprocess.run(["kill", "-USR1", str(run.controller)], check=True)


def _within(program: str) -> Callable[[GuardedRun], None]:
    def put(run: GuardedRun) -> None:
        run.within_the_timed_process(program)
        while (run.gate / "fault.py").exists() and run.worker().is_running():
            pass

    return put


def _detach(run: GuardedRun) -> None:
    """In cleaning, the process that holds it is the very one: it ignores SIGTERM and is no descendant of the guards."""
    if run.hold != "cleaning":
        _within(DETACHES)(run)


def _on_a_small_disk(folder: Path) -> dict[str, Any]:
    """Put the lab, and the temporary files of the run, on a disk that can be filled."""
    disk = SmallDisk.mount(folder / "lab", 8 << 10)
    temporary = disk.folder / "tmp"
    temporary.mkdir()
    return {"disk": disk, "sizes": MANY, "variables": {"TMPDIR": str(temporary)}}


def _fill_the_disk(run: GuardedRun) -> None:
    """Fill it; where there is none of its own, let the system refuse every byte that a guard writes to a file from now on."""
    if run.disk is not None:
        run.disk.fill()
        return
    for pid in (run.watchdog, run.controller):
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))


def _start_anew(run: GuardedRun) -> None:
    run.service.kill()
    run.service.start()
    if run.hold != "before close":
        run.service.post("/close")


def _step(seconds: int) -> Callable[[GuardedRun], None]:
    def step(run: GuardedRun) -> None:
        Path(run.variables["CLOCK_STEP"]).write_text(str(seconds), "ascii")

    return step


def _run_a_second(run: GuardedRun) -> None:
    os.kill(run.controller, signal.SIGSTOP)  # cleaning lasts for two seconds, and a second run may take longer to begin
    second = run.begin()
    _, said = second.communicate(timeout=PATIENCE_S)
    os.kill(run.controller, signal.SIGCONT)
    assert 2 == second.returncode, said
    run.said_by_others = said


def _cut_the_journal(run: GuardedRun) -> None:
    """Kill both guards, as a machine does that loses power; whatever of the last line is on the disk, the others are read."""
    run.kill(run.watchdog, run.controller)
    (path,) = run.lab.project.runs.glob("*/*.partial/journal.jsonl")
    whole = path.read_bytes()
    begins = whole[:-1].rfind(b"\n") + 1
    decode = cache(decode_repetition)  # each whole line once
    path.write_bytes(whole[:begins])
    before = read_growing(path, decode).nouns
    assert run.kept[:-1] == list(before)
    path.write_bytes(whole)
    for length in range(len(whole) - 1, begins, -1):
        os.truncate(path, length)
        found = read_growing(path, decode)
        assert (before, True) == (found.nouns, found.torn), length
    path.write_bytes(whole[: (begins + len(whole)) // 2])
    run.kept = run.kept[:-1]


def _nothing(run: GuardedRun) -> None:
    """Break nothing: what the service is asked from now on is the fault."""


INJECTED: dict[str, Callable[[GuardedRun], None]] = {
    "exception in the operator": _raise,
    "SIGKILL of the timed process": lambda run: run.worker().kill(),
    "SIGKILL of the controller": lambda run: run.kill(run.controller),
    "SIGKILL of the watchdog": lambda run: run.kill(run.watchdog),
    "SIGKILL of both guards": lambda run: run.kill(run.watchdog, run.controller),
    "timed process ignores SIGTERM and hangs": _within(IGNORES),
    "timed process hangs": _within(HANGS),
    "timed process forks twice and detaches": _detach,
    "timed process fills memory": _within(FILLS),
    FULL_DISK: _fill_the_disk,
    "service dies": lambda run: run.service.kill(),
    "service is started anew": _start_anew,
    "service refuses to close": _nothing,
    "service never becomes idle": _nothing,
    "command to open the service fails": _nothing,
    "request to open the service is refused": _nothing,
    "request to open the service is not answered": _nothing,
    "clock is set back a day": _step(-DAY_S),
    "clock is set forward a day": _step(DAY_S),
    "second controller": _run_a_second,
    "journal cut at every byte of its last line": _cut_the_journal,
}
