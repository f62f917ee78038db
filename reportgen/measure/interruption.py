"""Ctrl-C, SIGTERM, a closed terminal and the watchdog's death as something that is asked for at safe points, never an exception out of nowhere."""

from __future__ import annotations

import os
import select
import signal
import threading
from collections.abc import Iterable
from types import FrameType
from typing import Any, Self

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def heeded(numbers: Iterable[signal.Signals]) -> list[signal.Signals]:
    """Leave those that whoever started this process wants ignored, as ``nohup`` does with SIGHUP and a shell with SIGINT of a job in the background."""
    return [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]


class Interrupted(Exception):  # noqa: N818 - a wish of the user, no error
    """The user asked the run to end; what was measured is in the journal."""


class Interruption:
    """While entered, the first of the signals makes :attr:`descriptor` readable and :meth:`check` raise.

    Outside the main thread, where Python allows no handlers, signals keep their usual meaning.

    Parameters
    ----------
    watchdog:
        Process id of the other guard, whose death counts as a signal; ``None`` where there is none.
    """

    def __init__(self, watchdog: int | None = None) -> None:
        self._read_end, self._write_end = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self.descriptor = self._read_end
        self._before: dict[int, Any] = {}
        self._signalled = False
        self._either: select.epoll | None = None
        self._watchdog = -1
        if watchdog is not None:
            self._watch(watchdog)

    def check(self) -> None:
        """Raise :class:`Interrupted` if a signal came or the watchdog died."""
        if self._signalled or (self._either is not None and self._either.poll(0)):
            raise Interrupted

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._note) for number in heeded(SIGNALS)}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        if self._either is not None:
            self._either.close()
        if self._watchdog >= 0:
            os.close(self._watchdog)
        os.close(self._read_end)
        os.close(self._write_end)

    def _watch(self, watchdog: int) -> None:
        """Make one descriptor of two: it is readable once a signal came or the watchdog is dead (Linux)."""
        self._either = select.epoll()
        self._either.register(self._read_end, select.EPOLLIN)
        self.descriptor = self._either.fileno()
        try:
            self._watchdog = os.pidfd_open(watchdog)
        except ProcessLookupError:
            self._signal()
            return
        self._either.register(self._watchdog, select.EPOLLIN)
        if os.getppid() != watchdog:  # its id may be another's by now
            self._signal()

    def _note(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self._signal()

    def _signal(self) -> None:
        if not self._signalled:
            self._signalled = True
            os.write(self._write_end, b"x")
