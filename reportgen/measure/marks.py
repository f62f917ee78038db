"""Processes that cannot be mistaken for later ones of the same id. Linux: what is known comes from /proc."""

from __future__ import annotations

import enum
import os
import platform
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from reportgen.model.admission import ProcessMark

PROC = Path("/proc")
_AFTER_NAME = {"state": 0, "ppid": 1, "pgrp": 2, "started": 19}
_ENDED = frozenset("ZX")


class Liveness(enum.Enum):
    """What can be said of a marked process from here."""

    ALIVE = "alive"
    GONE = "gone"
    ELSEWHERE = "elsewhere"


@dataclass(frozen=True)
class Stat:
    """Of ``/proc/<pid>/stat``: state (one letter), parent, process group, clock ticks from boot to start."""

    pid: int
    state: str
    ppid: int
    pgrp: int
    started_ticks: int

    @property
    def ended(self) -> bool:
        """Whether it only waits to be collected by its parent."""
        return self.state in _ENDED


def read_stat(pid: int) -> Stat | None:
    """Read a process's line; ``None`` if there is none of that id."""
    try:
        with open(f"{PROC}/{pid}/stat", "rb") as file:  # noqa: PTH123 - read for every process of the machine: a path costs as much again
            line = file.read()
    except (FileNotFoundError, ProcessLookupError):
        return None
    words = (
        line.decode("utf-8", "replace").rpartition(")")[2].split()
    )  # the name before it may hold anything, ")" and spaces too
    number = {name: words[place] for name, place in _AFTER_NAME.items()}
    return Stat(pid, number["state"], int(number["ppid"]), int(number["pgrp"]), int(number["started"]))


def all_stats() -> list[Stat]:
    """Read every process that can be seen from here, by id."""
    pids = sorted(int(entry.name) for entry in PROC.iterdir() if entry.name.isdecimal())
    return [stat for stat in map(read_stat, pids) if stat is not None]


def mark_of(pid: int) -> ProcessMark | None:
    """Mark the process that has that id now; ``None`` if none has, or it has ended and only waits to be collected."""
    stat = read_stat(pid)
    return None if stat is None or stat.ended else mark_as(pid, stat.started_ticks)


def mark_as(pid: int, started_ticks: int) -> ProcessMark:
    """Mark of a process of this machine that started then."""
    boot, host, namespace = _here()
    return ProcessMark(pid=pid, started_ticks=started_ticks, boot=boot, host=host, namespace=namespace)


def own_mark() -> ProcessMark:
    """Mark this process."""
    mark = mark_of(os.getpid())
    if mark is None:
        raise ProcessLookupError
    return mark


def liveness(mark: ProcessMark) -> Liveness:
    """Tell whether the marked process lives. Another machine, or another container of this one, cannot be looked into."""
    boot, host, namespace = _here()
    if mark.host != host or (mark.boot == boot and mark.namespace != namespace):
        return Liveness.ELSEWHERE
    stat = read_stat(mark.pid) if mark.boot == boot else None
    lives = stat is not None and not stat.ended and stat.started_ticks == mark.started_ticks
    return Liveness.ALIVE if lives else Liveness.GONE


@cache
def _here() -> tuple[str, str, int]:
    boot = (PROC / "sys/kernel/random/boot_id").read_text("ascii").strip()
    return boot, platform.node(), (PROC / "self/ns/pid").stat().st_ino
