"""A command with everything that it starts: wall clock, processor time, and memory by two measures.

``largest_mib`` is the peak resident memory of the largest single process, as the kernel keeps it (``VmHWM``; what ``getrusage``
says of a child is never below the size of the process that started it). ``together_mib`` is that of all of them at one moment,
each page shared by several counted once (proportional set size), looked at every tenth of a second: it misses what comes and
goes faster, and the two are printed side by side for that reason.
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
        processor_s = usage.ru_utime + usage.ru_stime
        return Measured(wall_s, processor_s, watch.largest_mib, watch.together_mib, out.read())


class _Watch(threading.Thread):
    """Looks at a process and its descendants until told to end."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._process = psutil.Process(pid)
        self._over = threading.Event()
        self.largest_mib = self.together_mib = 0.0

    def run(self) -> None:
        while not self._over.wait(EVERY_S):
            found = [_look(process) for process in _family(self._process)]
            self.largest_mib = max([self.largest_mib, *(peak for peak, _ in found)])
            self.together_mib = max(self.together_mib, sum(share for _, share in found))

    def end(self) -> None:
        self._over.set()
        self.join()


def _family(process: psutil.Process) -> list[psutil.Process]:
    try:
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _look(process: psutil.Process) -> tuple[float, float]:
    """Give the peak and the share of a process, in MiB; nothing of one that has ended."""
    try:
        status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
        share = float(process.memory_full_info().pss) / BYTES_PER_MIB
    except (OSError, psutil.NoSuchProcess, psutil.ZombieProcess, psutil.AccessDenied):
        return 0.0, 0.0
    peak = next((line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")), "0")
    return int(peak) / KIB_PER_MIB, share


def mib_under(folder: Path) -> float:
    """Bytes of all files under a folder, in MiB."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / BYTES_PER_MIB
