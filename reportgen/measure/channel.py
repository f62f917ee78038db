"""The timed process's only voice: JSON lines on a descriptor that no kernel and no library prints to."""

from __future__ import annotations

import json
import os
from typing import Any


class Channel:
    """Writes one message a line to ``descriptor``; numbers that JSON cannot hold are refused."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def send(self, kind: str, /, **facts: Any) -> None:
        """Send one message; returns once the pipe has taken it."""
        line = json.dumps({"message": kind, **facts}, allow_nan=False).encode() + b"\n"
        while line:
            line = line[os.write(self._descriptor, line) :]

    def at(self, phase: str, fixture: str = "", arm: str = "") -> None:
        """Say what begins now, so that a death or a silence can be laid at its door."""
        self.send("at", phase=phase, fixture=fixture, arm=arm)
