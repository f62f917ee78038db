"""Ctrl-C and SIGTERM as something that is asked for at safe points, never an exception out of nowhere."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType
from typing import Any, Self

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(Exception):  # noqa: N818 - a wish of the user, no error
    """The user asked the run to end; what was measured is in the journal."""


class Interruption:
    """While entered, the first of the signals makes :attr:`descriptor` readable and :meth:`check` raise.

    Outside the main thread, where Python allows no handlers, signals keep their usual meaning.
    """

    def __init__(self) -> None:
        self.descriptor, self._write_end = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._before: dict[int, Any] = {}
        self._signalled = False

    def check(self) -> None:
        """Raise :class:`Interrupted` if a signal came."""
        if self._signalled:
            raise Interrupted

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._note) for number in SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        os.close(self.descriptor)
        os.close(self._write_end)

    def _note(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if not self._signalled:
            self._signalled = True
            os.write(self._write_end, b"x")
