"""A real run of the command line beside a real service, held in one phase so that a test can break something there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from reportgen.archive.load import Attempt, scan_attempts
from reportgen.measure.guard_files import guard_files, state_file
from reportgen.measure.marks import mark_of
from reportgen.measure.ownership import Owned, Ownership
from reportgen.model.admission import GuardRecord
from tests.measure.lab import PROGRAM, Lab
from tests.measure.serving import LiveService, wait_until

ROOT = Path(__file__).parents[2]
HELD = """
def reference(fixture, inputs):
    import subprocess, sys, time
    from pathlib import Path
    gate = Path({gate!r})
    if (gate / "detach").exists():
        subprocess.Popen([sys.executable, "-S", "-c", {detached!r}, str(gate / "detached")]).wait()
    (gate / "referencing").touch()
    while not (gate / "go").exists():
        time.sleep(0.01)
"""
DETACHED = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
open(sys.argv[1], "w").write(str(os.getpid()))
time.sleep(120)
"""
OPENS = """
import urllib.request
status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
open({mask!r}, "w").write(status["SigBlk"].strip())
urllib.request.urlopen(urllib.request.Request({url!r}, method="POST"), timeout=20).close()
"""
HANG = '[[fake.fault]]\nkind = "hang"\narm = "idea"\nrepetition = 1\n'
PHASES = ("before close", "closed", "measuring", "cleaning", "reopening")


@dataclass
class GuardedRun:
    """One run; ``hold`` names the phase in which it waits until ``let_go``."""

    lab: Lab
    service: LiveService
    hold: str
    process: subprocess.Popen[str] | None = None
    record: GuardRecord | None = None
    said: str = ""
    gate: Path = field(init=False)

    def __post_init__(self) -> None:
        self.gate = self.lab.root / "gate"
        self.gate.mkdir(parents=True)
        program = PROGRAM.replace(
            "def reference(fixture, inputs):", HELD.format(gate=str(self.gate), detached=DETACHED).strip("\n")
        )
        self.lab.write(backend="fake", repetitions=1, program=program, more=HANG if self.hold == "measuring" else "")
        program = OPENS.format(mask=str(self.gate / "mask"), url=f"{self.service.url}/open")
        command = json.dumps([sys.executable, "-S", "-c", program])
        toml = self.service.toml().replace(
            f'open = {{ url = "{self.service.url}/open"', f"open = {{ command = {command}"
        )
        (self.lab.root / "reportgen.toml").write_text(f"[[service]]\n{toml}", "utf-8")
        if self.hold == "cleaning":
            (self.gate / "detach").touch()
        if self.hold != "before close":
            (self.gate / "go").touch()
        wishes: dict[str, dict[str, int]] = {"closed": {"requests": 1}, "reopening": {"hold_open": 1}}
        self.service.control(**wishes.get(self.hold, {}))

    def start(self) -> None:
        """Start it, and wait until it stands in its phase."""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "reportgen", "run", "doubling", "--project", str(self.lab.root)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        wait_until(self._stands, 40)
        self.record = self._written()

    def let_go(self) -> None:
        """Let whoever survives go on."""
        (self.gate / "go").touch()
        self.service.control()

    def finish(self) -> int:
        """Wait for the first guard's end; its exit status."""
        assert self.process is not None
        _, self.said = self.process.communicate(timeout=60)
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

    def wait_for_the_controller(self) -> None:
        """Wait until the controller is gone, whoever's child it is by now."""
        wait_until(lambda: mark_of(self.controller) is None, 60)

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

    def written_down(self) -> list[str]:
        """Name what the guards wrote and did not remove."""
        guarding = self.lab.project.guarding
        return sorted(path.name for path in guarding.rglob("*.json"))

    def mask_of_the_open_command(self) -> str:
        """Read which signals were blocked for the command that opened the service."""
        return (self.gate / "mask").read_text("utf-8")

    def _ownership(self) -> Ownership:
        assert self.record is not None
        return Ownership(frozenset({self.record.token, self.record.attempt} - {""}))

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
            "measuring": lambda: self._step() == "measuring" and self._is_timing(),
            "cleaning": lambda: self._step() == "cleaning",
            "reopening": lambda: self._step() == "reopening" and "/open" in self.service.status()["calls"],
        }
        return stands[self.hold]()

    def _is_timing(self) -> bool:
        """Whether calibration is over and the first repetition's process has begun."""
        return any(self.lab.project.runs.glob("doubling/*.partial/artifacts/logs/repetition-001.json"))
