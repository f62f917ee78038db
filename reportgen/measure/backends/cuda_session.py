"""The GPU backend inside the timed process: hashed cubins, an allocation a buffer, graphs on a stream of our own, CUDA events."""

from __future__ import annotations

import gc
import hashlib
import os
import resource
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from reportgen.calls import Buffer, KernelCall
from reportgen.errors import InputError, ReportgenError, WorkerError
from reportgen.measure.backends.cuda_arguments import exact, function_attributes, is_programmatic
from reportgen.measure.backends.cuda_bulk import Bulk
from reportgen.measure.backends.cuda_callables import CapturedCallable, capture_callable, loaded_versions
from reportgen.measure.backends.cuda_called import CalledLaunches, called_batch
from reportgen.measure.backends.cuda_clock import wake
from reportgen.measure.backends.cuda_execution import CudaExecution, PreparedCall
from reportgen.measure.backends.cuda_programmatic import launch_programmatically
from reportgen.measure.backends.nvml import Gpu, open_nvml
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
from reportgen.measure.job import CALLS, Job
from reportgen.measure.timing import clock_ns
from reportgen.units import NS_PER_MS

ALIGNMENT_BYTES = 256
THREADS = 256
SUMS_BYTES = 16


@dataclass(frozen=True)
class Captured:
    """A graph on the device, what to say if it dies, and the callable behind it, whose results may lie outside the buffers."""

    graph: Any
    complaint: str
    called: CapturedCallable | None = None


class CudaSession:
    """The one visible GPU; see :class:`reportgen.measure.backends.session.Session`."""

    def __init__(self, job: Job) -> None:
        self._cupy = _cupy()
        cuda = self._cupy.cuda
        self._runtime = cuda.runtime
        self._errors = (cuda.runtime.CUDARuntimeError, cuda.driver.CUDADriverError)
        with self._told("the GPU cannot be used", InputError, "see `reportgen doctor`"):
            if self._runtime.getDeviceCount() != 1:
                raise InputError("a timed process sees one GPU", remedy="name one with --device")
            self._stream = cuda.Stream(non_blocking=True)
            self._events = [cuda.Event() for _ in range(3)]
            self._sums = self._runtime.malloc(SUMS_BYTES)
        self._allocated = [self._sums]
        self._own_pids, self._calls = job.own_pids, job.launching == CALLS
        self._cubins: dict[str, str] = job.options["cubins"]
        self._nvml = Gpu(open_nvml(), os.environ["CUDA_VISIBLE_DEVICES"])
        self._modules: dict[str, Any] = {}
        self._owner: dict[int, tuple[str, str]] = {}
        self._functions: dict[tuple[str, str], Any] = {}
        self._attributes: dict[tuple[int, str], int] = {}
        self._places: dict[Slot, tuple[int, int]] = {}
        self._executions: dict[tuple[str, str], CudaExecution] = {}
        self._harness = cuda.function.Module()
        with self._told("no kernel can be loaded", InputError, self._right_target()):
            self._harness.load(Path(job.options["harness"]).read_bytes())
            self._bulk = Bulk(self._runtime, self._stream, self._harness, self._places)
            self._spin = self._harness.get_function("reportgen_spin")
        self._multiprocessors = int(self._runtime.deviceGetAttribute(self._runtime.cudaDevAttrMultiProcessorCount, 0))

    def load(self, modules: Sequence[Module]) -> None:
        """Load every cubin's exact bytes, in the given order."""
        for module in modules:
            data = Path(module.file).read_bytes()
            if hashlib.sha256(data).hexdigest() != self._cubins[module.arm]:
                raise InputError(f"the cubin of arm {module.arm!r} is not the one that was built", where=module.file)
            loaded = self._cupy.cuda.function.Module()
            with self._told(f"arm {module.arm!r} cannot be loaded", InputError, self._right_target()):
                loaded.load(data)
            self._modules[module.arm] = loaded

    def allocate(self, allocations: Sequence[Allocation]) -> None:
        """One allocation a buffer, its padding before it: what writes past the end leaves the allocation."""
        own = [each for each in allocations if each.of is None]
        sizes = [(each, _aligned(each.padding_bytes), max(each.size_bytes, 1)) for each in own]
        paddings, buffers = sum(padding for _, padding, _ in sizes), sum(size for _, _, size in sizes)
        free_bytes, _ = self._runtime.memGetInfo()
        if paddings + buffers > free_bytes:
            raise InputError(
                f"buffers of {buffers >> 20} MiB and paddings of {paddings >> 20} MiB do not fit into {free_bytes >> 20} MiB",
                remedy="lower protocol.most_padding_mib, or use fewer fixtures or sets",
            )
        with self._told("memory cannot be allocated", InputError, "lower protocol.most_padding_mib"):
            for each, padding, size in sizes:
                self._allocated.append(self._runtime.malloc(padding + size))
                self._places[each.slot] = self._allocated[-1] + padding, each.size_bytes
        self._places.update({each.slot: self._places[each.of] for each in allocations if each.of is not None})

    def upload(self, slot: Slot, array: Array) -> None:
        """Copy an array's bytes."""
        raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        kind = self._runtime.memcpyHostToDevice
        with self._told(f"{slot.name} cannot be uploaded"):
            self._runtime.memcpyAsync(self._places[slot][0], raw.ctypes.data, raw.size, kind, self._stream.ptr)
            self._stream.synchronize()

    def download(self, slot: Slot) -> Bytes:
        """Copy of a buffer."""
        place, size_bytes = self._places[slot]
        return self._fetch(place, size_bytes)

    def copy(self, source: Slot, targets: Sequence[Slot]) -> None:
        """Copy by one launch."""
        with self._told(f"{source.name} cannot be copied"):
            self._bulk.copy(source, targets)

    def fill(self, slots: Sequence[Slot], byte: int) -> None:
        """Set every byte by one launch."""
        with self._told("buffers cannot be filled"):
            self._bulk.fill(slots, byte)

    def checksums(self, slots: Sequence[Slot]) -> list[str]:
        """Two 64-bit sums over the words of each buffer and their places, by one launch."""
        with self._told("buffers cannot be summed"):
            return self._bulk.checksums(slots)

    def capture(self, spec: GraphSpec) -> Captured:
        """Record every launch on our stream and instantiate the graph on the device, or keep what calls them; nothing is launched."""
        launches = [
            (call, self._function(spec.arm, call), self._arguments(Slot(spec.fixture, launch.set, ""), call))
            for launch in spec.launches
            for call in launch.calls
        ]
        complaint = f"a kernel of arm {spec.arm!r} failed on {spec.fixture}"
        if self._calls:
            called = CalledLaunches(nullcontext, partial(self._launch_all, spec.arm, launches))
            return Captured(called, complaint)
        self._stream.begin_capture()
        self._launch_all(spec.arm, launches)
        with self._told(f"arm {spec.arm!r}: its graph cannot be made", InputError):
            graph = self._stream.end_capture()
            graph.upload(self._stream)
            self._stream.synchronize()
        return Captured(graph, complaint)

    def _launch_all(self, arm: str, launches: Sequence[tuple[KernelCall, Any, tuple[np.generic, ...]]]) -> None:
        for call, function, arguments in launches:
            with self._told(
                f"arm {arm!r} cannot launch {call.symbol!r} with grid {call.grid}, block {call.block}"
                f" and {call.shared_bytes} shared bytes",
                InputError,
                "correct what kernels() returns",
            ):
                if is_programmatic(call):
                    launch_programmatically(function.ptr, call, arguments, self._stream.ptr)
                else:
                    function(call.grid, call.block, arguments, shared_mem=call.shared_bytes, stream=self._stream)

    def capture_callable(self, spec: CallableSpec) -> CallableGraph:
        """Prepare on every set, warm up, and record on our stream as any arm is, or keep what calls the launches."""
        complaint = f"{spec.named} failed on {spec.fixture}"
        with self._told(complaint):
            called = capture_callable(self._cupy, self._stream, spec, self._places, calls=self._calls)
        return CallableGraph(Captured(called.graph, complaint, called), called.computed)

    def poison(self, graph: Captured, byte: int) -> None:
        """Set every byte under a callable's results."""
        if graph.called is not None:
            with self._told(graph.complaint):
                graph.called.poison(self._cupy, self._stream, byte)

    def deliver(self, graph: Captured) -> None:
        """Copy a callable's results into the output buffers."""
        if graph.called is not None:
            with self._told(graph.complaint):
                graph.called.deliver(self._cupy, self._stream)

    def execution(self, spec: GraphSpec) -> CudaExecution:
        """Prepare the first launch of ``spec`` for streams of others: the functions, buffers and arguments of its graph."""
        known = self._executions.get((spec.arm, spec.fixture))
        if known is None:
            first = spec.launches[0]
            calls = [
                PreparedCall.of(
                    (self._function(spec.arm, call).ptr, *call.grid, *call.block, call.shared_bytes),
                    self._arguments(Slot(spec.fixture, first.set, ""), call),
                )
                for call in first.calls
            ]
            known = CudaExecution(self._cupy.cuda.driver.launchKernel, calls)
            self._executions[spec.arm, spec.fixture] = known
        return known

    def replay(self, graph: Captured) -> None:
        """Replay once and wait."""
        with self._told(graph.complaint):
            # What is called may run on streams of a library's own, which ours does not wait for.
            if self._calls:
                self._runtime.deviceSynchronize()
            graph.graph.launch(self._stream)
            (self._runtime.deviceSynchronize if self._calls else self._stream.synchronize)()

    def count(self, lead: Captured, counted: Captured, *, lead_in: int) -> None:
        """Switch the profiler on for one replay; what it counts of the lead-in is nothing."""
        with self._told(counted.complaint):
            for _ in range(lead_in):
                lead.graph.launch(self._stream)
            self._stream.synchronize()
            self._runtime.profilerStart()
            counted.graph.launch(self._stream)
            self._stream.synchronize()
            self._runtime.profilerStop()

    def batch(self, graph: Captured, *, lead_in: int, replays: int) -> BatchTime:
        """One enqueue: event, lead-in, event, replays, event; one synchronisation. No collection of garbage in between."""
        if self._calls:
            with self._told(graph.complaint):
                return called_batch(self._runtime, graph.graph, lead_in=lead_in, replays=replays)
        stream, launch, (first, second, third) = self._stream, graph.graph.launch, self._events
        gc.disable()
        try:
            with self._told(graph.complaint):
                first.record(stream)
                for _ in range(lead_in):
                    launch(stream)
                second.record(stream)
                began_ns = clock_ns()
                for _ in range(replays):
                    launch(stream)
                third.record(stream)
                enqueued_ns = clock_ns() - began_ns
                stream.synchronize()
                ended_ns = clock_ns()
                elapsed_ns, lead_in_ns = self._between_ns(second, third), self._between_ns(first, second)
        finally:
            gc.enable()
        return BatchTime(ended_ns - elapsed_ns, elapsed_ns, lead_in_ns, enqueue_ns=enqueued_ns)

    def stabilise(self, most_s: float) -> dict[str, Any]:
        """Keep every multiprocessor busy until the clock is steady."""
        return wake(self._spin_once, most_s) | {"nvml_mhz": self._nvml.clock_mhz()}

    def readings(self) -> Readings:
        """Read what NVIDIA's management library tells, and the host's load."""
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return Readings(
            clock_mhz=self._nvml.clock_mhz(),
            temperature_c=self._nvml.temperature_c(),
            power_w=self._nvml.power_w(),
            throttle_counts=self._nvml.throttle_counts(),
            foreign_processes=self._nvml.foreign_processes(self._own_pids),
            load_1min=os.getloadavg()[0],
            voluntary_switches=usage.ru_nvcsw,
            involuntary_switches=usage.ru_nivcsw,
        )

    def facts(self) -> dict[str, Any]:
        """Device, versions that the process saw, whether foreign processes can be told."""
        return {
            "device": self._nvml.uuid,
            "runtime": self._runtime.runtimeGetVersion(),
            "driver_api": self._runtime.driverGetVersion(),
            "cupy": self._cupy.__version__,
            "multiprocessors": self._multiprocessors,
            **loaded_versions(),
            "process_list": _process_list(self._nvml.compute_processes()),
        }

    def addresses(self) -> list[int]:
        """Where the buffers begin."""
        return [place for place, _ in self._places.values()]

    def adopt(self, job: Job) -> None:
        """Go on among the processes that the attempt has now."""
        self._own_pids = job.own_pids

    def close(self) -> None:
        """Free every allocation and unload every module; graphs go with the last that holds them, the context stays."""
        with self._told("memory cannot be freed"):
            self._stream.synchronize()
            self._bulk.close()
            for place in self._allocated:
                self._runtime.free(place)
        for kept in (self._allocated, self._places, self._functions, self._executions, self._owner, self._modules):
            kept.clear()
        del self._bulk, self._spin, self._harness, self._events, self._stream
        gc.collect()

    def _right_target(self) -> str:
        """Say for which target this GPU wants its kernels compiled."""
        target = self._cupy.cuda.Device(0).compute_capability
        return f"put --gpu-architecture=sm_{target} into the experiment's compile options: that is this GPU"

    def _function(self, arm: str, call: KernelCall) -> Any:
        known = self._functions.get((arm, call.symbol))
        if known is None:
            with self._told(
                f"arm {arm!r} exports no kernel {call.symbol!r}", InputError, 'declare it extern "C" __global__'
            ):
                known = self._modules[arm].get_function(call.symbol)
            owner = self._owner.setdefault(known.ptr, (arm, call.symbol))
            if owner[0] != arm:
                raise InputError(
                    f"arms {owner[0]!r} and {arm!r} resolve to one function {call.symbol!r}",
                    remedy="give each arm code of its own",
                )
            self._functions[arm, call.symbol] = known
        self._set_attributes(arm, known.ptr, call)
        return known

    def _set_attributes(self, arm: str, function: int, call: KernelCall) -> None:
        """Set a function's attributes, never below what an earlier call of it needs."""
        driver = self._cupy.cuda.driver
        for name, value in function_attributes(call).items():
            if value <= self._attributes.get((function, name), -1):
                continue
            with self._told(f"arm {arm!r}: attribute {name.lower()} = {value} is refused", InputError):
                driver.funcSetAttribute(function, getattr(driver, f"CU_FUNC_ATTRIBUTE_{name}"), value)
            self._attributes[function, name] = value

    def _arguments(self, place: Slot, call: KernelCall) -> tuple[np.generic, ...]:
        return tuple(
            np.uintp(self._places[Slot(place.fixture, place.set, argument.name)][0])
            if isinstance(argument, Buffer)
            else exact(argument)
            for argument in call.args
        )

    def _spin_once(self, rounds: int) -> tuple[int, int]:
        """Cycles and nanoseconds of a piece, as one multiprocessor counted both."""
        with self._told("the harness's kernel failed"):
            args = (np.int64(rounds), np.uintp(self._sums), np.uintp(self._sums))
            self._spin((self._multiprocessors, 1, 1), (THREADS, 1, 1), args, stream=self._stream)
        cycles, took_ns = self._fetch(self._sums, SUMS_BYTES).view(np.int64)
        return int(cycles), int(took_ns)

    def _between_ns(self, earlier: Any, later: Any) -> int:
        took_ms: float = self._cupy.cuda.get_elapsed_time(earlier, later)
        return round(took_ms * NS_PER_MS)

    def _fetch(self, place: int, size_bytes: int) -> Bytes:
        raw = np.empty(size_bytes, np.uint8)
        kind = self._runtime.memcpyDeviceToHost
        with self._told("memory cannot be read"):
            self._runtime.memcpyAsync(raw.ctypes.data, place, size_bytes, kind, self._stream.ptr)
            self._stream.synchronize()
        return raw

    @contextmanager
    def _told(self, what: str, kind: type[ReportgenError] = WorkerError, remedy: str = "") -> Iterator[None]:
        """Make one line of what CUDA says."""
        try:
            yield
        except self._errors as fault:
            raise kind(f"{what}: {fault}", remedy=remedy) from fault


def _process_list(pids: list[int] | None) -> str:
    if pids is None:
        return "not told by the driver"
    if os.getpid() in pids:
        return "shows this process"
    return "does not show this process, as in a container with process ids of its own: foreign ones cannot be told"


def _cupy() -> ModuleType:
    try:
        import cupy  # noqa: PLC0415 - absent without the extra
    except ImportError as fault:
        raise InputError(f"CuPy cannot be imported: {fault}", remedy="pip install 'reportgen[cuda]'") from fault
    found: ModuleType = cupy
    return found


def _aligned(size_bytes: int) -> int:
    return -(-size_bytes // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
