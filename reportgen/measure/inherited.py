"""A second mark of a run, which a process keeps that was started without its environment: one of its resource limits.

The limit is that of the time which a process with a real-time schedule may run on without a pause (``RLIMIT_RTTIME``, microseconds). Nearly
nowhere is it limited, and what is written here is more than 70,000 years: it limits nothing. Every process hands it on, whatever
it forks, executes, closes or forgets, and ``/proc/<pid>/limits`` shows it to everyone. Linux, without root.
"""

from __future__ import annotations

import hashlib
import sys
from contextlib import suppress

from reportgen.measure.marks import PROC

_LEAST_US = 1 << 61
_LINE = b"Max realtime timeout "


def bear(token: str) -> None:
    """Mark this process and whatever it starts from now on; where the limit is somebody's wish, or the system refuses, nothing changes."""
    if not sys.platform.startswith("linux"):
        return
    import resource  # noqa: PLC0415 - there is none on Windows

    soft, hard = resource.getrlimit(resource.RLIMIT_RTTIME)
    if soft == resource.RLIM_INFINITY:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_RTTIME, (limit_us(token), hard))


def limit_us(token: str) -> int:
    """Limit that stands for a token: 60 bits of its SHA-256, above what anyone would ask for."""
    return _LEAST_US + int.from_bytes(hashlib.sha256(token.encode()).digest()[:8], "big") % (_LEAST_US >> 1)


def borne_us(pid: int) -> int | None:
    """Read a process's limit; ``None`` if it has none, or there is no such process."""
    try:
        with open(f"{PROC}/{pid}/limits", "rb") as file:  # noqa: PTH123 - read for every process of the machine: a path costs as much again
            line = next((line for line in file if line.startswith(_LINE)), b"")
    except OSError:
        return None
    words = line.removeprefix(_LINE).split()
    return int(words[0]) if words and words[0].isdigit() else None
