"""The timed process's only voice: JSON lines on a descriptor that no kernel and no library prints to."""

from __future__ import annotations

import json
import os
import time
from typing import Any

MOST_SILENCE_S = 2.0


class Channel:
    """Writes one message a line to ``descriptor``; numbers that JSON cannot hold are refused."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._spoken_s = 0.0

    def send(self, kind: str, /, **facts: Any) -> None:
        """Send one message; returns once the pipe has taken it."""
        line = json.dumps({"message": kind, **facts}, allow_nan=False).encode() + b"\n"
        while line:
            line = line[os.write(self._descriptor, line) :]
        self._spoken_s = time.monotonic()

    def beat(self) -> None:
        """Show life between batches, but only after a silence of seconds: a message wakes the controller."""
        if time.monotonic() - self._spoken_s > MOST_SILENCE_S:
            self.send("alive")

    def at(self, phase: str, fixture: str = "", arm: str = "") -> None:
        """Say what begins now, so that a death or a silence can be laid at its door."""
        self.send("at", phase=phase, fixture=fixture, arm=arm)
