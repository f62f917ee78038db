"""What became of one input: a clean result, an error of this program's, or something that must not be."""

from __future__ import annotations

import resource
import signal
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from types import FrameType

from benchmarks.fuzz.readers import Reader
from reportgen.errors import ReportgenError

CLEAN = "clean"
ELSE = "anything else"
DEADLINE_S = 10.0
MOST_LINE = 2_000
MEMORY_BYTES = 4 << 30


class LateError(BaseException):
    """An input took longer than the deadline; no ``except Exception`` may swallow that."""


@dataclass
class Tally:
    """Counts of one reader. ``surprises`` holds the first inputs whose outcome must not be, by where that arose."""

    inputs: int = 0
    past_first_check: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    surprises: dict[str, bytes] = field(default_factory=dict)
    slowest_s: float = 0.0

    def add(self, reader: Reader, data: bytes) -> str:
        """Give ``data`` to ``reader`` and count what became of it."""
        began = time.perf_counter()
        outcome, trace = judge(reader, data)
        self.slowest_s = max(self.slowest_s, time.perf_counter() - began)
        self.inputs += 1
        self.past_first_check += reader.first_check(data)
        self.outcomes[outcome] += 1
        if outcome == ELSE:
            self.surprises.setdefault(trace, data)
        return outcome


def limit_memory() -> None:
    """Bound the address space, so that a blow-up is an error of this process and not of the machine."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def judge(reader: Reader, data: bytes) -> tuple[str, str]:
    """Give the outcome of an input and, where it must not be, the trace of how it arose."""
    signal.signal(signal.SIGALRM, _late)
    signal.setitimer(signal.ITIMER_REAL, DEADLINE_S)
    try:
        reader.work(data)
    except ReportgenError as error:
        line = error.one_line()
        told = bool(error.where and error.what) and "\n" not in line and len(line) <= MOST_LINE
        return (
            (type(error).__name__, "")
            if told
            else (ELSE, f"an error that does not say where, or too much: {line[:300]}")
        )
    except BaseException as fault:
        if isinstance(fault, KeyboardInterrupt):
            raise
        return ELSE, _trace(fault)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return CLEAN, ""


def _late(_signal: int, _frame: FrameType | None) -> None:
    raise LateError("longer than the deadline")


def _trace(fault: BaseException) -> str:
    frames = traceback.extract_tb(fault.__traceback__)[-4:]
    places = " > ".join(f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in frames)
    return f"{type(fault).__name__} at {places}: {str(fault)[:160]!r}"
