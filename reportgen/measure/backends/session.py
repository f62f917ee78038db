"""The half of a backend that lives in the timed process: standard library, NumPy and the backend's own library only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from reportgen.calls import KernelCall
from reportgen.errors import FindingError
from reportgen.measure.job import Job

Array = NDArray[Any]
Bytes = NDArray[np.uint8]


class Slot(NamedTuple):
    """A buffer's identity: its fixture, the set (copy, from 0) it belongs to, and its name in the experiment."""

    fixture: str
    set: int
    name: str


@dataclass(frozen=True)
class Module:
    """An arm's compiled code: the file to load, in the drawn order."""

    arm: str
    file: str


@dataclass(frozen=True)
class Allocation:
    """A buffer of ``size_bytes``, at least ``padding_bytes`` after the one allocated before it, or the memory of the earlier buffer ``of``."""

    slot: Slot
    size_bytes: int
    padding_bytes: int
    of: Slot | None = None


@dataclass(frozen=True)
class Launch:
    """One operation of a graph: its kernel calls, whose buffers are those of set ``set``."""

    set: int
    calls: tuple[KernelCall, ...]


@dataclass(frozen=True)
class GraphSpec:
    """What a graph replays: the launches of one arm on one fixture, back to back."""

    arm: str
    fixture: str
    launches: tuple[Launch, ...]


class CallableRefusedError(FindingError):
    """A peer, or an arm in Python, cannot run here; the sentence says why."""


@dataclass(frozen=True)
class CallableSpec:
    """What the graph of a callable, a peer's or that of an arm in Python, replays: executions back to back, of set and step ``launches[i]``.

    ``what`` says which of the two it is. ``prepare`` takes arrays by name over the memory of one set, of the shapes and types in ``arrays``, and the stream's handle. It is called once
    a set, and returns what enqueues the execution of a step there. What a step returns stands for its part of an output's first axis.
    """

    arm: str
    fixture: str
    sets: int
    steps: int
    launches: tuple[tuple[int, int], ...]
    arrays: Mapping[str, tuple[tuple[int, ...], str]]
    prepare: Callable[[Mapping[str, Any], int], Callable[[int], Any]]
    what: str = "peer"

    @property
    def named(self) -> str:
        """Name of the callable in a complaint."""
        return f"{self.what} {self.arm!r}"

    def part(self, buffers: Mapping[str, Any], step: int) -> dict[str, Any]:
        """Cut the part of a step out of every buffer whose first axis has one for each."""
        return {name: _part(buffer, step, self.steps) for name, buffer in buffers.items()}


def _part(buffer: Any, step: int, steps: int) -> Any:
    each, left = divmod(buffer.shape[0] if buffer.shape else 1, steps)
    return buffer if left or steps == 1 else buffer[step * each : (step + 1) * each]


@dataclass(frozen=True)
class CallableGraph:
    """A callable's graph, and the outputs that it computes (``None``: all of them)."""

    graph: Any
    computed: tuple[str, ...] | None


@dataclass(frozen=True)
class BatchTime:
    """One timed batch. Times are integer nanoseconds of the machine's monotonic clock.

    ``lead_in_ns`` is the time of the untimed replays before the window, ``descheduled`` how often the operating
    system took the core away during lead-in and window (``None`` where that has no meaning). ``enqueue_ns`` is how long the host took to hand
    the timed replays to the device (``None`` where they run on the host): near ``elapsed_ns``, the host was timed and not the device.
    """

    started_ns: int
    elapsed_ns: int
    lead_in_ns: int
    descheduled: int | None = None
    enqueue_ns: int | None = None


@dataclass(frozen=True)
class Readings:
    """State of the device off the timed path; ``None`` where the machine does not tell."""

    clock_mhz: float | None = None
    temperature_c: float | None = None
    power_w: float | None = None
    throttle_counts: dict[str, int] | None = None
    foreign_processes: int | None = None
    load_1min: float | None = None
    voluntary_switches: int | None = None
    involuntary_switches: int | None = None


class Session(Protocol):
    """One process's hold on the device. Graphs are opaque: what :meth:`capture` returns is given back to be replayed."""

    def load(self, modules: Sequence[Module]) -> None:
        """Load every arm's code in the given order.

        Raises
        ------
        InputError
            A file cannot be loaded.
        """

    def allocate(self, allocations: Sequence[Allocation]) -> None:
        """Allocate all buffers in the given order with the given paddings between them."""

    def upload(self, slot: Slot, array: Array) -> None:
        """Copy ``array`` into the start of a buffer."""

    def copy(self, source: Slot, targets: Sequence[Slot]) -> None:
        """Copy a buffer into others of its size, where they lie."""

    def download(self, slot: Slot) -> Bytes:
        """Copy of a buffer's bytes, shape ``(size_bytes,)``."""

    def fill(self, slots: Sequence[Slot], byte: int) -> None:
        """Set every byte of many buffers."""

    def checksums(self, slots: Sequence[Slot]) -> list[str]:
        """Checksum of each buffer, computed where it lies; equal bytes have equal checksums (docs/record-format.md says which)."""

    def capture(self, spec: GraphSpec) -> Any:
        """Make the graph that every check and every batch of this arm and fixture replays.

        Raises
        ------
        InputError
            A symbol is missing, or two arms resolve to one address.
        """

    def capture_callable(self, spec: CallableSpec) -> CallableGraph:
        """Prepare a callable on every set, let it run until it is warm, and make the graph that every check and batch of it replays.

        Raises
        ------
        CallableRefusedError
            A peer raises, or the work of a callable cannot be captured.
        InputError
            This backend calls nothing, an arm in Python raises, or what is returned is no dict of the experiment's outputs.
        """

    def poison(self, graph: Any, byte: int) -> None:
        """Set every byte of the memory in which a callable's graph leaves its results, where that is not the buffers'."""

    def deliver(self, graph: Any) -> None:
        """Copy such results into the output buffers."""

    def replay(self, graph: Any) -> None:
        """Replay a graph once and wait for it."""

    def count(self, lead: Any, counted: Any, *, lead_in: int) -> None:
        """Replay ``lead`` as a lead-in, then ``counted`` once while a profiler that runs this process counts."""

    def batch(self, graph: Any, *, lead_in: int, replays: int) -> BatchTime:
        """Lead-in replays and timed replays of one graph in one uninterrupted go."""

    def stabilise(self, most_s: float) -> dict[str, Any]:
        """Run code of no arm until the clock is stable, at most ``most_s`` seconds; what was seen."""

    def readings(self) -> Readings:
        """Read the device's state."""

    def facts(self) -> dict[str, Any]:
        """Tell what is fixed for the whole process: the core or device in use, its settings, addresses."""

    def addresses(self) -> list[int]:
        """Where the buffers begin, in the order of their allocation."""

    def adopt(self, job: Job) -> None:
        """Go on with a further job on the same code, buffers and graphs."""

    def close(self) -> None:
        """Free memory, code and graphs; what :meth:`capture` returned is of no use any more."""
