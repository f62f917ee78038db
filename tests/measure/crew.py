"""A real scheduler and real workers on loopback, each owning one simulated device."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tests.measure.serving import wait_until

ROOT = Path(__file__).parents[2]
PATIENCE_S = 180  # of a test, on a machine that does much else
_ADDRESS = re.compile(r"Scheduler at:\s+(tcp://\S+)")


@dataclass
class RealCrew:
    """Processes of Dask that the tests start; ``folder`` holds their logs and is where they run."""

    folder: Path
    address: str = ""
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self) -> None:
        """Start the scheduler."""
        self._start("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show")
        wait_until(lambda: _ADDRESS.search(self.log(0)) is not None, PATIENCE_S)
        found = _ADDRESS.search(self.log(0))
        assert found is not None
        self.address = found[1]

    def hire(self, device: int, *, wait: bool = True) -> subprocess.Popen[bytes]:
        """Start a worker that owns a device; the scheduler knows it when this returns, unless told not to ``wait``."""
        number = len(self.processes)
        process = self._start(
            "dask_worker",
            self.address,
            *("--resources", "CPU=1", "--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1"),
            REPORTGEN_DEVICE=str(device),
        )
        if wait:
            wait_until(lambda: "Registered to" in self.log(number), PATIENCE_S)
        return process

    def log(self, number: int) -> str:
        """Read what a process told; the scheduler is 0, workers are counted as they were hired."""
        return (self.folder / f"{number}.log").read_text("utf-8", "replace")

    def dismiss(self) -> None:
        """End the workers; the scheduler stays."""
        for process in self.processes[1:]:
            process.kill()
            process.wait()

    def end(self) -> None:
        """End all of them."""
        for process in reversed(self.processes):
            process.kill()
            process.wait()

    def _start(self, module: str, *words: str, **variables: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{len(self.processes)}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{module}", *words],
                cwd=self.folder,
                env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
                stdout=log,
                stderr=log,
            )
        self.processes.append(process)
        return process
