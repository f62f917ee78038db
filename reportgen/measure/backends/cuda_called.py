"""Launches that are called one after the other from the host, for work that no graph can hold: the same way for every arm of an experiment."""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from reportgen.measure.backends.session import BatchTime
from reportgen.measure.timing import clock_ns


@dataclass(frozen=True)
class CalledLaunches:
    """What stands where a graph would: ``call`` makes every launch of it, ``around`` makes our stream the current one of the libraries."""

    around: Callable[[], AbstractContextManager[Any]]
    call: Callable[[], Any]

    def launch(self, stream: Any) -> None:
        """Make every launch once; the stream is the one that ``around`` sets."""
        del stream
        with self.around():
            self.call()

    def upload(self, stream: Any) -> None:
        """There is nothing to prepare on the device."""


def called_batch(runtime: Any, launches: CalledLaunches, *, lead_in: int, replays: int) -> BatchTime:
    """Time calls by the host's clock, from an idle device to an idle device: not every library launches on our stream.

    No collection of garbage in between.
    """
    gc.disable()
    try:
        runtime.deviceSynchronize()
        began_ns = clock_ns()
        for _ in range(lead_in):
            launches.launch(None)
        runtime.deviceSynchronize()
        started_ns = clock_ns()
        for _ in range(replays):
            launches.launch(None)
        called_ns = clock_ns()
        runtime.deviceSynchronize()
        ended_ns = clock_ns()
    finally:
        gc.enable()
    return BatchTime(started_ns, ended_ns - started_ns, started_ns - began_ns, enqueue_ns=called_ns - started_ns)
