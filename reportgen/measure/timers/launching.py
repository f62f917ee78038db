"""Executions of an operation on a stream of others, for timing programs that call what they time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from reportgen.errors import InputError
from reportgen.measure.backends.session import GraphSpec
from reportgen.measure.rig import Rig
from reportgen.measure.timers.interface import Place


class Execution(Protocol):
    """One execution of an operation: the functions, buffers and arguments of its timed graph."""

    def launch(self, stream: int) -> None:
        """Launch its kernels on the stream of that handle."""

    def on(self, stream: int) -> Callable[[], Any]:
        """Return what launches them on that stream, with as little Python a call as can be."""


@runtime_checkable
class Launching(Protocol):
    """A session whose operations can be launched outside their graphs."""

    def execution(self, spec: GraphSpec) -> Execution:
        """Prepare the first launch of ``spec``."""


def execution(rig: Rig, place: Place) -> Execution:
    """Prepare one execution on the first set of buffers.

    Raises
    ------
    InputError
        The backend runs no CUDA kernels.
    """
    if not isinstance(rig.session, Launching):
        raise InputError("this harness times CUDA kernels only", remedy='use backend = "cuda"')
    return rig.session.execution(rig.single(place.fixture, place.arm))
