"""A live service of the test's own, its declaration, and what a window of it tells."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import psutil

from reportgen.measure.admission import Holder
from reportgen.measure.guard_files import StateFile, state_file
from reportgen.measure.marks import own_mark
from reportgen.model.service import Service

PROGRAM = Path(__file__).with_name("live_service.py")

DECLARATION = """
name = "inference"
idle_deadline_s = {idle_deadline_s}
close_deadline_s = 1
open_deadline_s = 1
poll_s = 0.02
find = {{ {find} }}
close = {{ url = "{url}/close", deadline_s = {deadline_s} }}
open = {{ url = "{url}/open", deadline_s = {deadline_s} }}
closed = {{ url = "{url}/status", expect = {{ closed = true }}, deadline_s = {deadline_s} }}
idle = {{ url = "{url}/status", expect = {{ closed = true, "/requests" = 0 }}, deadline_s = {deadline_s} }}
profile = {{ facts = ["command_line", "environment", "executable"], status = {{ url = "{url}/status", leave_out = {leave_out}, deadline_s = {deadline_s} }} }}
"""
RUN = "run-1"
LEFT_OUT = ["closed", "requests", "calls", "uptime_s"]


def wait_until(holds: Callable[[], bool], patience_s: float = 15) -> None:
    """Wait until something holds."""
    until_s = time.monotonic() + patience_s
    while not holds():
        assert time.monotonic() < until_s, "it did not happen in time"
        time.sleep(0.01)


@dataclass
class LiveService:
    """A process of the small service, and requests that the test leaves under way."""

    folder: Path
    process: subprocess.Popen[bytes] | None = None
    clients: list[threading.Thread] = field(default_factory=list)

    def start(self, *words: str) -> None:
        """Start it, or start it anew on the same port; it listens when this returns."""
        port = [str(self.port)] if (self.folder / "port").exists() else ["0"]
        (self.folder / "port").unlink(missing_ok=True)
        self.process = subprocess.Popen([sys.executable, "-S", str(PROGRAM), str(self.folder), *port, *words])
        wait_until((self.folder / "port").exists)

    def kill(self) -> None:
        """Kill it, and collect it."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def end(self) -> None:
        """Let go of everything."""
        (self.folder / "release").touch()
        for client in self.clients:
            client.join(5)
        if self.process is not None and self.process.poll() is None:
            self.kill()

    @property
    def port(self) -> int:
        """Port that the system chose."""
        return int((self.folder / "port").read_text("utf-8"))

    @property
    def url(self) -> str:
        """Address."""
        return f"http://127.0.0.1:{self.port}"

    def control(self, **wishes: Any) -> None:
        """Ask it to behave badly."""
        fresh = self.folder / "control.new"
        fresh.write_text(json.dumps(wishes), "utf-8")
        fresh.replace(self.folder / "control.json")

    def status(self) -> dict[str, Any]:
        """Ask it directly."""
        with urllib.request.urlopen(f"{self.url}/status", timeout=5) as reply:
            told: dict[str, Any] = json.load(reply)
        return told

    def post(self, path: str) -> None:
        """Do something to it as its operator would."""
        urllib.request.urlopen(urllib.request.Request(f"{self.url}{path}", method="POST"), timeout=5).close()

    def leave_a_request_under_way(self) -> None:
        """Send a request that it works on until ``release``."""

        def work() -> None:
            urllib.request.urlopen(f"{self.url}/work", timeout=30).close()

        self.clients.append(threading.Thread(target=work, daemon=True))
        self.clients[-1].start()
        wait_until((self.folder / "working").exists)

    def release(self) -> None:
        """Let the requests under way end."""
        (self.folder / "release").touch()

    def toml(self, *, idle_deadline_s: float = 5, deadline_s: float = 5, find: str | None = None) -> str:
        """Body of its declaration."""
        return DECLARATION.format(
            url=self.url,
            idle_deadline_s=idle_deadline_s,
            deadline_s=deadline_s,
            find=find or f'pid_file = "{self.folder / "service.pid"}"',
            leave_out=json.dumps(LEFT_OUT),
        )

    def declared(self, **keys: Any) -> Service:
        """Its declaration."""
        return msgspec.toml.decode(self.toml(**keys), type=Service)


@dataclass
class Window:
    """One window as a test drives it; ``events`` are what it told, in order."""

    guarding: Path
    token: str = RUN
    events: list[str] = field(default_factory=list)
    facts: list[dict[str, Any]] = field(default_factory=list)

    @property
    def file(self) -> StateFile:
        """Its state."""
        return state_file(self.guarding, "inference")

    @property
    def holder(self) -> Holder:
        """Stand for the run with this process."""
        return Holder(self.token, "20260101T000000Z-fake-000000", "doubling", [own_mark()])

    def say(self, name: str, /, **facts: Any) -> None:
        """Remember an event."""
        self.events.append(name.removeprefix("service "))
        self.facts.append(facts)


def children() -> list[psutil.Process]:
    """List what this process started and still runs."""
    return psutil.Process().children(recursive=True)
