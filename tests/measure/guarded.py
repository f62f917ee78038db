"""A real run of the command line beside a real service, held in one phase so that a test can break something there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from filelock import FileLock

from reportgen.archive.journal import read_journal
from reportgen.archive.load import Attempt, scan_attempts
from reportgen.measure.guard_files import guard_files, state_file
from reportgen.measure.marks import mark_of
from reportgen.measure.ownership import Owned, Ownership
from reportgen.model.admission import GuardRecord
from tests.measure.lab import PROGRAM, Lab
from tests.measure.serving import LiveService, wait_until
from tests.measure.small_disk import SmallDisk

ROOT = Path(__file__).parents[2]
PHASES = ("before close", "closed", "measuring", "cleaning", "reopening")
COMMAND = ("-m", "reportgen")
PATIENCE_S = 180  # of a test, on a machine that does much else

# A timed process that waits at the gate does what is put there: "fault.py" is run within it.
GATE = """
def at_the_gate(name):
    import time
    from pathlib import Path
    gate = Path({gate!r})
    (gate / name).touch()
    while not (gate / "go").exists():
        if (gate / "fault.py").exists():
            code = (gate / "fault.py").read_text("utf-8")
            (gate / "fault.py").unlink()
            exec(code, {{"gate": gate}})
        time.sleep(0.01)

"""
REFERENCE, KERNELS = "def reference(fixture, inputs):\n", "def kernels(arm, fixture, buffers):\n"
WAITS = '    at_the_gate("referencing")\n'
SECOND_WAITS = '    import sys\n    if "repetition-002" in sys.argv[1]: at_the_gate("measuring")\n'
OPENS = """
import urllib.request
status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
open({mask!r}, "w").write(status["SigBlk"].strip())
urllib.request.urlopen(urllib.request.Request({url!r}, method="POST"), timeout=20).close()
"""
STUBBORN = """
import pathlib, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
pathlib.Path(sys.argv[1]).touch()
time.sleep(120)
"""


@dataclass
class GuardedRun:
    """One run of two repetitions; ``hold`` names the phase in which it waits until ``let_go``.

    It is held: by the references' process; by a service with a request under way; by the process of the second repetition; by
    a process of the run that ignores SIGTERM; by a service that does not answer the request to open.
    ``command`` is what Python is given before ``run``, ``variables`` are added to the environment of both guards. The service is
    opened by a command, or by a request that it must answer within ``open_deadline_s`` if that is given. ``sizes`` are the fixtures, ``disk`` is what
    the lab lies on if it is one of its own; ``prepare`` is called in the watchdog's process before it begins.
    """

    lab: Lab
    service: LiveService
    hold: str
    command: Sequence[str] = COMMAND
    variables: dict[str, str] = field(default_factory=dict)
    silence_deadline_s: float = PATIENCE_S
    idle_deadline_s: float = 60
    open_deadline_s: float | None = None
    sizes: str = "[64]"
    disk: SmallDisk | None = None
    prepare: Callable[[], None] | None = None
    process: subprocess.Popen[str] | None = None
    record: GuardRecord | None = None
    kept: list[Any] = field(default_factory=list)
    said: str = ""
    said_by_others: str = ""
    stray: subprocess.Popen[bytes] | None = None
    gate: Path = field(init=False)

    def __post_init__(self) -> None:
        self.gate = self.lab.root.with_name("gate")
        self.gate.mkdir(parents=True)
        self._write_lab()
        if self.hold not in ("before close", "measuring", "cleaning"):
            (self.gate / "go").touch()
        wishes: dict[str, dict[str, int]] = {"closed": {"requests": 1}, "reopening": {"hold_open": 1}}
        self.service.control(**wishes.get(self.hold, {}))

    def start(self) -> None:
        """Start it, and wait until it stands in its phase."""
        self.process = self.begin()
        if self.hold == "cleaning":
            self._hold_cleaning()
        wait_until(self._stands, PATIENCE_S)
        self.record = self._written()
        self.kept = [one for attempt in self.journals() for one in attempt]

    def begin(self, *words: str) -> subprocess.Popen[str]:
        """Start the command."""
        return subprocess.Popen(
            [sys.executable, *self.command, "run", "doubling", "--project", str(self.lab.root), *words],
            env={**os.environ, "PYTHONPATH": str(ROOT), **self.variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=self.prepare is None,
            preexec_fn=self.prepare,  # noqa: PLW1509 - the threads of these tests only wait for a service
        )

    def within_the_timed_process(self, program: str) -> None:
        """Let the process that waits at the gate run a program."""
        (self.gate / "fault.new").write_text(program, "utf-8")
        (self.gate / "fault.new").replace(self.gate / "fault.py")

    def let_go(self, **wishes: Any) -> None:
        """Let whoever survives go on; ``wishes`` are what the service is asked from now on."""
        self.service.control(**wishes)
        (self.gate / "go").touch()

    def finish(self) -> int:
        """Wait for the first guard's end, and the other's; its exit status."""
        assert self.process is not None
        _, self.said = self.process.communicate(timeout=PATIENCE_S)
        if self.record is not None and len(self.record.guards) > 1:
            wait_until(lambda: mark_of(self.controller) is None, PATIENCE_S)
        return self.process.returncode

    def end(self) -> None:
        """End what a failed test leaves."""
        for pid in (self.watchdog, self.controller) if self.record is not None else ():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        if self.record is not None:
            self._ownership().end_all(0.1)
        if self.stray is not None:
            self.stray.kill()
            self.stray.wait()

    @property
    def watchdog(self) -> int:
        """Process id of the parent."""
        assert self.record is not None
        return self.record.guards[0].pid

    @property
    def controller(self) -> int:
        """Process id of the child."""
        assert self.record is not None
        return self.record.guards[1].pid

    def worker(self) -> psutil.Process:
        """Find the timed process that runs now."""
        found = [
            child
            for child in psutil.Process(self.controller).children()
            if "reportgen.measure.worker" in child.cmdline()
        ]
        assert 1 == len(found)
        return found[0]

    def kill(self, *pids: int) -> None:
        """Kill them as one: none may act on the other's death."""
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in pids:
                os.kill(pid, number)

    def owned(self) -> list[Owned]:
        """List what is left of the run; the kernel is given a moment to end what must die with its parent."""
        until_s = time.monotonic() + 3
        while (found := self._ownership().find()) and time.monotonic() < until_s:
            time.sleep(0.02)
        return found

    def attempts(self) -> list[Attempt]:
        """Read what it archived; nothing of it may be damaged."""
        found, faults = scan_attempts(self.lab.project.runs)
        assert [] == faults
        return found

    def journals(self) -> list[list[Any]]:
        """Read the repetitions that are on the disk by now, attempt by attempt."""
        return [list(read_journal(folder).repetitions) for folder in sorted(self.lab.project.runs.glob("*/*.partial"))]

    def written_down(self) -> list[str]:
        """Name what the guards wrote and did not remove."""
        return sorted(path.name for path in self.lab.project.guarding.rglob("*.json"))

    def mask_of_the_open_command(self) -> str:
        """Read which signals were blocked for the command that opened the service."""
        return (self.gate / "mask").read_text("utf-8")

    def _write_lab(self) -> None:
        """Write an experiment that waits where it is to be held, and the declaration of the service."""
        held = {"before close": (REFERENCE, WAITS), "measuring": (KERNELS, SECOND_WAITS)}
        head, waits = held.get("measuring" if self.hold == "cleaning" else self.hold, ("", ""))
        program = GATE.format(gate=str(self.gate)) + (PROGRAM.replace(head, head + waits) if head else PROGRAM)
        deadline_s = self.silence_deadline_s
        self.lab.write(backend="fake", repetitions=2, program=program, silence_deadline_s=deadline_s, sizes=self.sizes)
        toml = self.service.toml(idle_deadline_s=self.idle_deadline_s, deadline_s=30)
        declared = f'open = {{ url = "{self.service.url}/open", deadline_s = 30 }}'
        assert declared in toml
        (self.lab.root / "reportgen.toml").write_text(f"[[service]]\n{toml.replace(declared, self._opens())}", "utf-8")

    def _opens(self) -> str:
        url = f"{self.service.url}/open"
        if self.open_deadline_s is not None:
            return f'open = {{ url = "{url}", deadline_s = {self.open_deadline_s} }}'
        program = OPENS.format(mask=str(self.gate / "mask"), url=url)
        command = json.dumps([sys.executable, "-S", "-c", program])
        return f"open = {{ command = {command}, deadline_s = 30 }}"

    def _hold_cleaning(self) -> None:
        """Leave it something to clean that takes a while: a process with its mark that begins once all is measured."""
        wait_until((self.gate / "measuring").exists, PATIENCE_S)
        with FileLock(state_file(self.lab.project.guarding, "inference").path.with_suffix(".lock")):
            (self.gate / "go").touch()
            wait_until(lambda: any(one.repetition == 2 for attempt in self.journals() for one in attempt), PATIENCE_S)
            written = self._written()
            assert written is not None
            self.stray = subprocess.Popen(
                [sys.executable, "-S", "-c", STUBBORN, str(self.gate / "stubborn")],
                env={**os.environ, "REPORTGEN_ATTEMPT": written.token},
            )
            wait_until((self.gate / "stubborn").exists)

    def _ownership(self) -> Ownership:
        assert self.record is not None
        return Ownership(frozenset({self.record.token}))

    def _written(self) -> GuardRecord | None:
        files = guard_files(self.lab.project.guarding)
        return files[0].read() if files else None

    def _step(self) -> str:
        state = state_file(self.lab.project.guarding, "inference").read()
        return state.step.value if state else ""

    def _stands(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.process.communicate()
        stands: dict[str, Callable[[], bool]] = {
            "before close": (self.gate / "referencing").exists,
            "closed": lambda: self._step() == "waiting" and bool(self.service.status()["closed"]),
            "measuring": (self.gate / "measuring").exists,
            "cleaning": lambda: self._step() == "cleaning",
            "reopening": lambda: self._step() == "reopening" and "/open" in self.service.status()["calls"],
        }
        return stands[self.hold]()
