"""A lab under siege: its runs, resumed ones and ``recover`` are struck by signals at random moments, beside a real service that is open in the end.

What each round does is drawn from a seed; what it meets depends on the machine besides. What must hold after each is not: nothing of
any run is alive, the service is open and was closed whenever something was timed, every attempt is readable with a reason, what was archived
before is unchanged, events are in order, and nothing is written down any more that somebody had to see to.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from random import Random

import msgspec
import psutil

from reportgen.archive.load import Attempt, scan_attempts
from reportgen.measure.guard_files import guard_files, state_file
from reportgen.measure.marks import Liveness, liveness, read_stat
from reportgen.measure.ownership import Owned, Ownership
from reportgen.measure.recovery import recover
from reportgen.model.admission import GuardRecord, ProcessMark
from reportgen.model.record import Event, Status
from tests.measure.lab import PROGRAM, Lab
from tests.measure.serving import LiveService, wait_until

ROOT = Path(__file__).parents[2]
PATIENCE_S = 240
LOOK_S = 0.002
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, signal.SIGINT)
VICTIMS = ("watchdog", "controller", "both", "worker", "everyone")
WRITTEN_STEPS = ("identifying", "closing", "waiting", "measuring", "cleaning", "comparing", "reopening")
MOMENTS = ("guarded", "opened", *WRITTEN_STEPS, "first", "second", "left")
JOBS = {"first": "repetition-001.json", "second": "repetition-002.json"}
LEAVES = ("", "", "marked", "forgetful")
STEPS = ["identifying", "identified", "closing", "closed", "idle", "cleaning", "comparing", "reopening", "reopened"]
CLEANING = STEPS.index("cleaning")
MEASURED = ("calibrated", "repetition")

# Each process that times something asks the service whether it is closed, and leaves behind what is asked for: a process that forked
# twice, detached and ignores SIGTERM, with its environment or without.
EXPERIMENT = """
import os, signal, socket, sys
from pathlib import Path

GATE = Path({gate!r})
STAYS = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(300)"

def look_at_the_service():
    with socket.create_connection(("127.0.0.1", int((GATE / "port").read_text("ascii"))), 60) as line:
        line.sendall(b"GET /status HTTP/1.0\\r\\n\\r\\n")
        told = b"".join(iter(lambda: line.recv(65536), b""))
    if b'"closed": true' not in told:
        (GATE / "timed beside requests").write_bytes(told)

def leave():
    try:
        kind = (GATE / "leave").read_text("ascii")
        (GATE / "leave").unlink()
    except FileNotFoundError:
        return
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        (GATE / "left").touch()
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    variables = dict(os.environ) if kind == "marked" else {{}}
    os.execve(sys.executable, [sys.executable, "-S", "-c", STAYS], variables)

def at_a_timed_process():
    if "repetition" in sys.argv[1]:
        look_at_the_service()
        leave()
"""
HEAD = "def kernels(arm, fixture, buffers):\n"


@dataclass(frozen=True)
class Blow:
    """One signal to one victim, or to several at once, and the pause after it."""

    victim: str
    number: signal.Signals
    pause_s: float


@dataclass(frozen=True)
class Attack:
    """What is done in a round: ``resumes`` goes on with an open attempt if there is one, ``busy`` keeps the service from being idle meanwhile."""

    resumes: bool
    moment: str
    delay_s: float
    blows: tuple[Blow, ...]
    leaves: str
    busy: bool
    recovery_lives_s: float | None


def drawn(random: Random) -> Attack:
    """Draw one."""
    blows = [
        Blow(random.choice(VICTIMS), random.choice(SIGNALS), random.choice((0.0, 0.01, 0.1, 0.5)))
        for _ in range(random.choice((1, 1, 2, 3)))
    ]
    return Attack(
        resumes=random.random() < 0.6,
        moment=random.choice(MOMENTS),
        delay_s=random.choice((0.0, 0.0, random.random() * 0.02, random.random() * 0.3)),
        blows=tuple(blows),
        leaves=random.choice(LEAVES),
        busy=random.random() < 0.2,
        recovery_lives_s=random.random() if random.random() < 0.5 else None,
    )


@dataclass
class Siege:
    """A lab with a service in a folder; :meth:`round` strikes once and looks; ``said`` is what the run told then. Use :meth:`end` in the end."""

    folder: Path
    lab: Lab = field(init=False)
    service: LiveService = field(init=False)
    tokens: set[str] = field(default_factory=set)
    struck: set[int] = field(default_factory=set)
    stopped: set[int] = field(default_factory=set)
    archived: dict[str, list[bytes]] = field(default_factory=dict)
    begun: str = ""
    said: str = ""

    def __post_init__(self) -> None:
        (self.folder / "service").mkdir(parents=True)
        (self.folder / "tmp").mkdir()
        self.lab, self.service = Lab(self.folder / "lab"), LiveService(self.folder / "service")
        self.service.start()
        program = EXPERIMENT.format(gate=str(self.service.folder)) + PROGRAM.replace(
            HEAD, f"{HEAD}    at_a_timed_process()\n"
        )
        self.lab.write(backend="fake", repetitions=2, spares=2, program=program)
        declared = self.service.toml(idle_deadline_s=60, deadline_s=60).replace("deadline_s = 1\n", "deadline_s = 60\n")
        (self.lab.root / "reportgen.toml").write_text(f"[[service]]\n{declared}", "utf-8")

    def round(self, attack: Attack) -> str:
        """Strike, look, and mend where both guards were killed; what became of it, in a few words.

        Raises
        ------
        AssertionError
            Something does not hold that must.
        """
        self._leave(attack.leaves)
        self.service.control(requests=int(attack.busy))
        process = self._begin(attack)
        try:
            self._wait_for(attack.moment if attack.leaves or attack.moment != "left" else "second", process)
            time.sleep(attack.delay_s)
            for blow in attack.blows:
                self._strike(blow)
        finally:
            self.service.control()
            self._wake()
        _, self.said = process.communicate(timeout=PATIENCE_S)  # the pipe is open as long as one of the guards lives
        assert "Traceback" not in self.said, self.said
        found = self._mended(attack) if self._left() else "none left"
        self._look()
        return f"{self.begun} {attack.moment}: status {process.returncode}, {found}"

    def end(self) -> None:
        """End what a failed round leaves."""
        self._wake()
        for mark in self._guards():
            with suppress(ProcessLookupError):
                os.kill(mark.pid, signal.SIGKILL)
        Ownership(frozenset(self.tokens)).end_all(0.1)
        self.service.end()

    def _begin(self, attack: Attack) -> subprocess.Popen[str]:
        open_now = sorted(self.lab.project.runs.glob("doubling/*.partial"))
        words = ["--resume", open_now[-1].name.removesuffix(".partial")] if attack.resumes and open_now else []
        self.begun = words[0] if words else "run"
        return subprocess.Popen(
            [sys.executable, "-m", "reportgen", "run", "doubling", "--project", str(self.lab.root), *words],
            env=self._environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(self.folder / "tmp")}

    def _leave(self, kind: str) -> None:
        (self.service.folder / "left").unlink(missing_ok=True)
        if kind:
            (self.service.folder / "leave").write_text(kind, "ascii")

    def _wait_for(self, moment: str, process: subprocess.Popen[str]) -> None:
        """Wait until the run stands there, or is over."""
        until_s = time.monotonic() + PATIENCE_S
        while process.poll() is None and not self._stands(moment):
            assert time.monotonic() < until_s, moment
            time.sleep(LOOK_S)

    def _stands(self, moment: str) -> bool:
        records = self._records()
        self.tokens.update(record.token for record in records)
        if moment in ("guarded", "opened"):
            return any(len(record.guards) > 1 and (moment == "guarded" or record.attempt) for record in records)
        if moment in ("first", "second"):
            return any(self.lab.project.runs.glob(f"doubling/*.partial/artifacts/logs/{JOBS[moment]}"))
        if moment == "left":
            return (self.service.folder / "left").exists()
        state = state_file(self.lab.project.guarding, "inference").read()
        return state is not None and state.step.value == moment

    def _records(self) -> list[GuardRecord]:
        return [record for file in guard_files(self.lab.project.guarding) if (record := file.read()) is not None]

    def _guards(self) -> list[ProcessMark]:
        return [mark for record in self._records() for mark in record.guards if liveness(mark) is Liveness.ALIVE]

    def _strike(self, blow: Blow) -> None:
        guards = self._guards()
        workers = [child.pid for mark in guards[1:] for child in _children(mark.pid) if _is_worker(child)]
        pids = [mark.pid for mark in guards]
        victims = {
            "watchdog": pids[:1],
            "controller": pids[1:],
            "both": pids,
            "worker": workers,
            "everyone": [*pids, *workers],
        }[blow.victim]
        if len(victims) > 1 and blow.number is signal.SIGKILL:  # as one: none may act on the other's death
            _send(victims, signal.SIGSTOP)
        _send(victims, blow.number)
        if blow.number is signal.SIGKILL:
            self.struck.update(victims)
        if blow.number is signal.SIGSTOP:  # a run that is over but for them has nothing written down any more
            self.stopped.update(victims)
        time.sleep(blow.pause_s)

    def _wake(self) -> None:
        _send([*self.stopped], signal.SIGCONT)
        self.stopped.clear()

    def _left(self) -> list[GuardRecord]:
        """List what is still written down; the service stands open where nothing is."""
        left = self._records()
        if not left:
            assert not self.service.status()["closed"]
        return left

    def _mended(self, attack: Attack) -> str:
        """See that both guards were killed, and mend: once by a program that may be killed in its turn, then for certain."""
        for record in self._left():
            assert {mark.pid for mark in record.guards} <= self.struck, record
        was_closed = self.service.status()["closed"]
        if attack.recovery_lives_s is not None:
            self._recover_for(attack.recovery_lives_s)
        mended = recover(self.lab.project)
        assert all(one.mended for one in mended), mended
        assert [] == recover(self.lab.project)
        return f"both guards killed, {'closed' if was_closed else 'open'}, recovered"

    def _recover_for(self, lives_s: float) -> None:
        process = subprocess.Popen(
            [sys.executable, "-m", "reportgen", "recover", "--project", str(self.lab.root)],
            env=self._environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        with suppress(subprocess.TimeoutExpired):
            process.wait(lives_s)
        process.kill()
        process.wait()

    def _look(self) -> None:
        assert [] == [path.name for path in self.lab.project.guarding.rglob("*.json")]
        assert not self.service.status()["closed"]
        wait_until(lambda: not self._owned(), 10)
        assert not (self.service.folder / "timed beside requests").exists()
        attempts, faults = scan_attempts(self.lab.project.runs)
        assert [] == faults
        for attempt in attempts:
            assert attempt.reason or attempt.status is Status.SCORED
            self._look_at_repetitions(attempt)
            check_order(attempt.events)

    def _owned(self) -> list[Owned]:
        return Ownership(frozenset(self.tokens)).find() if self.tokens else []

    def _look_at_repetitions(self, attempt: Attempt) -> None:
        """Compare what was there after an earlier round: all of it stands, unchanged and in front."""
        rows = [row for _, row in attempt.batches.iterrows()]
        now = [msgspec.json.encode({name: str(value) for name, value in row.items()}) for row in rows]
        before = self.archived.get(attempt.id, [])
        assert before == now[: len(before)]
        self.archived[attempt.id] = now


def check_order(events: Sequence[Event]) -> None:
    """See that they are in order, each window's steps too, and that nothing was measured but in a window.

    An event may be missing, where its writer was killed after it had done what the event tells.
    """
    assert sorted(event.at for event in events) == [event.at for event in events]
    assert "opened" == events[0].event
    names = [event.event.removeprefix("service ") for event in events]
    steps = [name for name in names if name in {*STEPS, *MEASURED}]
    window = [STEPS.index(step) for step in steps if step in STEPS]
    assert all(after > before or after in (0, CLEANING) for before, after in pairwise(window)), steps
    last = ""
    for step in steps:
        assert step in STEPS or last == "idle", steps
        last = step if step in STEPS else last


def _children(pid: int) -> list[psutil.Process]:
    with suppress(psutil.Error):
        return psutil.Process(pid).children()
    return []


def _is_worker(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return "reportgen.measure.worker" in process.cmdline()
    return False


def _send(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        if read_stat(pid) is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
