"""The CPU backend inside the timed process: shared objects, one arena of memory, a batch loop in C."""

from __future__ import annotations

import _ctypes
import ctypes
import mmap
import os
import resource
import time
from collections.abc import Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from reportgen.calls import Buffer
from reportgen.errors import InputError
from reportgen.measure.backends.sensors import Sensors
from reportgen.measure.backends.session import (
    Allocation,
    Array,
    BatchTime,
    Bytes,
    CallableGraph,
    CallableSpec,
    GraphSpec,
    Module,
    Readings,
    Slot,
)
from reportgen.measure.backends.steadiness import WINDOW, is_steady
from reportgen.measure.job import Job
from reportgen.units import NS_PER_MS, NS_PER_S

ALIGNMENT_BYTES = 64
MAP_NORESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)
SPIN_PIECE_NS = 4 * NS_PER_MS


class _Arg(ctypes.Union):
    _fields_ = (("p", ctypes.c_void_p), ("i", ctypes.c_int64), ("f", ctypes.c_double))


class _Call(ctypes.Structure):
    _fields_ = (("function", ctypes.c_void_p), ("args", ctypes.POINTER(_Arg)))


class _Time(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_int64) for name in ("started_ns", "elapsed_ns", "lead_in_ns", "descheduled"))


class _Graph:
    """Calls with their arguments resolved to addresses, kept alive together."""

    def __init__(self, calls: Sequence[tuple[int, Sequence[_Arg]]]) -> None:
        self._args = [(_Arg * max(len(args), 1))(*args) for _, args in calls]
        filled = [_Call(address, args) for (address, _), args in zip(calls, self._args, strict=True)]
        self.calls, self.count = (_Call * len(filled))(*filled), len(filled)


class NativeSession:
    """A pinned process; see :class:`reportgen.measure.backends.session.Session`."""

    def __init__(self, job: Job) -> None:
        self.core = _pin(job.options.get("device"))
        self._sensors = Sensors(self.core)
        self._library = _batch_library(job.options["batch_library"])
        self._modules: dict[str, ctypes.CDLL] = {}
        self._owner: dict[int, tuple[str, str]] = {}
        self._arena: mmap.mmap | None = None
        self._views: dict[Slot, Bytes] = {}
        self._places: dict[Slot, int] = {}

    def load(self, modules: Sequence[Module]) -> None:
        """Open every shared object with its symbols resolved at once and visible to nobody else."""
        for module in modules:
            try:
                self._modules[module.arm] = ctypes.CDLL(module.file, mode=os.RTLD_NOW | os.RTLD_LOCAL)
            except OSError as fault:
                raise InputError(
                    f"arm {module.arm!r} cannot be loaded: {fault}",
                    remedy="see that it links, and that programs may be loaded from the folder TMPDIR",
                ) from fault

    def allocate(self, allocations: Sequence[Allocation]) -> None:
        """Place all buffers in one reserved arena; paddings are address space that nothing touches."""
        places, end = [], 0
        for allocation in (each for each in allocations if each.of is None):
            start = _aligned(end + allocation.padding_bytes)
            places.append((allocation, start))
            end = start + _aligned(max(allocation.size_bytes, 1))
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE
        self._arena = mmap.mmap(-1, max(end, mmap.PAGESIZE), flags=flags)
        base = np.frombuffer(self._arena, np.uint8).ctypes.data
        for allocation, start in places:
            self._views[allocation.slot] = np.frombuffer(self._arena, np.uint8, allocation.size_bytes, start)
            self._places[allocation.slot] = base + start
        for allocation in allocations:
            if allocation.of is not None:
                self._views[allocation.slot] = self._views[allocation.of]
                self._places[allocation.slot] = self._places[allocation.of]

    def upload(self, slot: Slot, array: Array) -> None:
        """Copy an array's bytes."""
        raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        self._views[slot][: raw.size] = raw

    def download(self, slot: Slot) -> Bytes:
        """Copy of a buffer."""
        return self._views[slot].copy()

    def copy(self, source: Slot, targets: Sequence[Slot]) -> None:
        """Copy one after the other."""
        for target in targets:
            self._views[target][:] = self._views[source]

    def fill(self, slots: Sequence[Slot], byte: int) -> None:
        """Set every byte."""
        for slot in slots:
            self._views[slot][:] = byte

    def checksums(self, slots: Sequence[Slot]) -> list[str]:
        """Two 64-bit sums over the words and their places, by the batch library."""
        sums, checksums = (ctypes.c_uint64 * 2)(), []
        for slot in slots:
            self._library.reportgen_checksum(self._places[slot], self._views[slot].size, sums)
            checksums.append(bytes(sums).hex())
        return checksums

    def capture(self, spec: GraphSpec) -> _Graph:
        """Resolve symbols and buffers of every launch."""
        calls = []
        for launch in spec.launches:
            for call in launch.calls:
                args = [self._argument(Slot(spec.fixture, launch.set, ""), argument) for argument in call.args]
                calls.append((self._address(spec.arm, call.symbol), args))
        return _Graph(calls)

    def capture_callable(self, spec: CallableSpec) -> CallableGraph:
        """Refuse: the batch loop is C, and calls no Python."""
        raise InputError(f"backend 'native' measures no peers, and arm {spec.arm!r} is one", remedy="leave it out")

    def poison(self, graph: _Graph, byte: int) -> None:
        """There are no results outside the buffers."""

    def deliver(self, graph: _Graph) -> None:
        """There are no results outside the buffers."""

    def replay(self, graph: _Graph) -> None:
        """Run the calls once."""
        self._library.reportgen_replay(graph.calls, graph.count, 1)

    def count(self, lead: Any, counted: Any, *, lead_in: int) -> None:
        """Replay as often as asked: no profiler of this program looks at the processor."""
        for graph in (*[lead] * lead_in, counted):
            self.replay(graph)

    def batch(self, graph: _Graph, *, lead_in: int, replays: int) -> BatchTime:
        """Run and time a batch in C."""
        time_ = _Time()
        self._library.reportgen_batch(graph.calls, graph.count, lead_in, replays, ctypes.byref(time_))
        descheduled = time_.descheduled if time_.descheduled >= 0 else None
        return BatchTime(time_.started_ns, time_.elapsed_ns, time_.lead_in_ns, descheduled)

    def stabilise(self, most_s: float) -> dict[str, Any]:
        """Spin until the median rate of eight pieces agrees with that of the eight before it."""
        rounds, rates = 1_000_000, list[float]()
        deadline_ns = time.monotonic_ns() + int(most_s * NS_PER_S)
        stable = False
        while not stable and time.monotonic_ns() < deadline_ns:
            took_ns = max(self._library.reportgen_spin(rounds), 1)
            rates.append(rounds / took_ns)
            rounds = max(1000, int(rounds * SPIN_PIECE_NS / took_ns))
            stable = is_steady(rates)
        return {
            "stable": stable,
            "pieces": len(rates),
            "rounds_per_ns": [round(rate, 5) for rate in rates[-WINDOW:]],
        }

    def readings(self) -> Readings:
        """Clock, temperature, load and context switches."""
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return Readings(
            clock_mhz=self._sensors.clock_mhz(),
            temperature_c=self._sensors.temperature_c(),
            throttle_counts=self._sensors.throttle_counts(),
            load_1min=os.getloadavg()[0],
            voluntary_switches=usage.ru_nvcsw,
            involuntary_switches=usage.ru_nivcsw,
        )

    def facts(self) -> dict[str, Any]:
        """Core, governor, sensors, and where the buffers lie."""
        base = min(self._places.values(), default=0)
        return {"core": self.core, "arena_page_offset": base % mmap.PAGESIZE, **self._sensors.facts()}

    def addresses(self) -> list[int]:
        """Where the buffers begin."""
        return [view.ctypes.data for view in self._views.values()]

    def adopt(self, job: Job) -> None:
        """Go on: nothing here depends on the repetition."""
        del job

    def close(self) -> None:
        """Give the arena back and unload the shared objects."""
        self._views.clear()
        if self._arena is not None:
            self._arena.close()
        for library in self._modules.values():
            _ctypes.dlclose(library._handle)  # noqa: SLF001 - the only name that the handle has
        self._modules.clear()
        self._owner.clear()

    def _argument(self, place: Slot, argument: Buffer | float) -> _Arg:
        if isinstance(argument, Buffer):
            return _Arg(p=self._places[Slot(place.fixture, place.set, argument.name)])
        return _Arg(i=int(argument)) if isinstance(argument, Integral) else _Arg(f=float(argument))

    def _address(self, arm: str, symbol: str) -> int:
        try:
            function = getattr(self._modules[arm], symbol)
        except AttributeError as fault:
            raise InputError(
                f"arm {arm!r} exports no symbol {symbol!r}",
                remedy="see that the source defines it and that it is not static",
            ) from fault
        address = ctypes.cast(function, ctypes.c_void_p).value or 0
        owner = self._owner.setdefault(address, (arm, symbol))
        if owner[0] != arm:
            raise InputError(
                f"arms {owner[0]!r} and {arm!r} resolve to one function {symbol!r}",
                remedy="give each arm code of its own",
            )
        return address


def _aligned(size_bytes: int) -> int:
    return -(-size_bytes // ALIGNMENT_BYTES) * ALIGNMENT_BYTES


def _pin(selector: str | None) -> int | None:
    """Keep this process on the core asked for, else on the last one allowed; ``None`` where the system forbids it."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    core = max(os.sched_getaffinity(0)) if selector is None else int(selector)
    try:
        os.sched_setaffinity(0, {core})
    except OSError:
        return None
    return core


def _batch_library(path: str) -> ctypes.CDLL:
    library = ctypes.CDLL(str(Path(path).resolve()))
    library.reportgen_replay.argtypes = [ctypes.POINTER(_Call), ctypes.c_int64, ctypes.c_int64]
    library.reportgen_batch.argtypes = [ctypes.POINTER(_Call), *[ctypes.c_int64] * 3, ctypes.POINTER(_Time)]
    library.reportgen_spin.argtypes, library.reportgen_spin.restype = [ctypes.c_int64], ctypes.c_int64
    library.reportgen_checksum.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p]
    for function in (library.reportgen_replay, library.reportgen_batch, library.reportgen_checksum):
        function.restype = None
    return library
