"""A command with everything that it starts: wall clock, processor time, and memory by two measures.

``largest_mib`` is the peak resident memory of the largest single process, as the kernel knows it to the page. ``together_mib`` is
that of all of them at one moment, each page shared by several counted once (proportional set size), looked at every tenth of a
second: it misses what comes and goes faster, and the two are printed side by side for that reason.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import psutil

EVERY_S = 0.1
KIB_PER_MIB = 1024
BYTES_PER_MIB = 1 << 20
HEADING = f"{'work':<44}{'wall s':>9}{'processor s':>13}{'largest MiB':>13}{'together MiB':>14}"


@dataclass(frozen=True)
class Measured:
    """What one command took; ``said`` is what it printed."""

    wall_s: float
    processor_s: float
    largest_mib: float
    together_mib: float
    said: str

    @property
    def peak_mib(self) -> float:
        """The larger of the two measures of memory: what a budget is held against."""
        return max(self.largest_mib, self.together_mib)

    def line(self, work: str) -> str:
        """Give the table's line."""
        return (
            f"{work:<44}{self.wall_s:>9.2f}{self.processor_s:>13.2f}{self.largest_mib:>13.0f}{self.together_mib:>14.0f}"
        )


def reportgen(*arguments: str, lab: Path) -> Measured:
    """Run a command of this program on a lab, and measure it."""
    return measured([sys.executable, "-m", "reportgen", *arguments, "--project", str(lab)])


def measured(command: Sequence[str], folder: Path | None = None) -> Measured:
    """Run a command in ``folder`` and measure it; one that fails ends the benchmark with what it said."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as said:
        began = perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=said, cwd=folder)
        watch = _Watch(process.pid)
        watch.start()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall_s = perf_counter() - began
        watch.end()
        out.seek(0)
        said.seek(0)
        if process.returncode:
            raise SystemExit(f"{' '.join(command)}: status {process.returncode}\n{out.read()}{said.read()}")
        largest_mib = usage.ru_maxrss / KIB_PER_MIB
        return Measured(wall_s, usage.ru_utime + usage.ru_stime, largest_mib, watch.most_mib, out.read())


class _Watch(threading.Thread):
    """Looks at a process and its descendants until told to end."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._process = psutil.Process(pid)
        self._over = threading.Event()
        self.most_mib = 0.0

    def run(self) -> None:
        while not self._over.wait(EVERY_S):
            self.most_mib = max(self.most_mib, _together_mib(self._process))

    def end(self) -> None:
        self._over.set()
        self.join()


def _together_mib(process: psutil.Process) -> float:
    try:
        family = [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0.0
    return sum(map(_share_mib, family))


def _share_mib(process: psutil.Process) -> float:
    try:
        return float(process.memory_full_info().pss) / BYTES_PER_MIB
    except (psutil.NoSuchProcess, psutil.ZombieProcess, psutil.AccessDenied):
        return 0.0


def mib_under(folder: Path) -> float:
    """Bytes of all files under a folder, in MiB."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / BYTES_PER_MIB
