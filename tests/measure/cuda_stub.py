"""A stand-in for CuPy that runs nothing: host memory, and a log of what was asked of the device, in order."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from reportgen.measure.backends import cuda_session
from tests.measure.checksum import checksum


class CudaError(RuntimeError):
    """What the runtime raises."""


class Device:
    """One device. ``log`` is what was enqueued; ``failing`` names what raises, with its text; ``direct`` what the driver was asked to launch."""

    def __init__(self, free_bytes: int = 1 << 30) -> None:
        self.log: list[str] = []
        self.launched: list[tuple[str, tuple[Any, ...]]] = []
        self.direct: list[tuple[int, ...]] = []
        self.attributes: list[tuple[int, int, int]] = []
        self.allocated: list[int] = []
        self.places: list[int] = []
        self.failing: dict[str, str] = {}
        self.elapsed_ms = [1.5, 0.25]
        self._free_bytes = free_bytes
        self._memory: list[np.ndarray] = []
        self._functions: dict[tuple[bytes, str], int] = {}
        self._capturing = False
        runtime = SimpleNamespace(
            CUDARuntimeError=CudaError,
            cudaDevAttrMultiProcessorCount=16,
            memcpyHostToDevice=1,
            memcpyDeviceToHost=2,
            deviceGetAttribute=lambda *_: 132,
            deviceSynchronize=lambda: self.do("wait for all"),
            driverGetVersion=lambda: 13000,
            getDeviceCount=lambda: 1,
            free=self._free,
            malloc=self._malloc,
            memGetInfo=lambda: (free_bytes, free_bytes),
            memcpyAsync=lambda to, source, size, *_: ctypes.memmove(to, source, size),
            memsetAsync=lambda place, byte, size, _: ctypes.memset(place, byte, size),
            runtimeGetVersion=lambda: 13000,
        )
        driver = SimpleNamespace(
            CUDADriverError=CudaError,
            CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES=8,
            CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT=9,
            funcSetAttribute=lambda *setting: self.attributes.append(setting),
            launchKernel=self._launch,
        )
        cuda = SimpleNamespace(
            runtime=runtime,
            driver=driver,
            Device=lambda _: SimpleNamespace(compute_capability="90"),
            Stream=self._stream,
            Event=lambda: SimpleNamespace(record=lambda _: self.do("event")),
            function=SimpleNamespace(Module=lambda: _Module(self)),
            get_elapsed_time=lambda *_: self.elapsed_ms.pop(0),
            UnownedMemory=lambda place, size, *_: SimpleNamespace(ptr=place, size=size),
            MemoryPointer=lambda memory, _: SimpleNamespace(mem=memory),
            MemoryPool=lambda: SimpleNamespace(malloc=None),
            using_allocator=lambda _: nullcontext(),
        )
        self.cupy = SimpleNamespace(
            __version__="stub", cuda=cuda, ndarray=_array, copyto=_copy_into, from_dlpack=_shared
        )

    def do(self, what: str) -> None:
        """Log something, or fail at it."""
        if what in self.failing:
            raise CudaError(self.failing[what])
        self.log.append(what)

    def function(self, code: bytes, name: str) -> int:
        """Handle of a kernel: one for each pair of code and name."""
        return self._functions.setdefault((code, name), 1000 + len(self._functions))

    def _launch(self, *words: int) -> None:
        self.do(f"direct {words[0]} on {words[8]}")
        self.direct.append(words)

    def _malloc(self, size_bytes: int) -> int:
        self.do("malloc")
        self.allocated.append(size_bytes)
        self._memory.append(np.zeros(size_bytes + 512, np.uint8))
        self.places.append(-(-self._memory[-1].ctypes.data // 256) * 256)
        return self.places[-1]

    def _free(self, place: int) -> None:
        self.do("free")
        self.places.remove(place)

    def _stream(self, *, non_blocking: bool) -> Any:
        assert non_blocking
        return _Stream(self)

    def graph(self) -> Any:
        """End a capture."""
        self.do("end capture")
        launch: Callable[[Any], None] = lambda _: self.do("graph")  # noqa: E731 - a field of the stand-in
        return SimpleNamespace(launch=launch, upload=lambda _: self.do("upload"))


class _Stream:
    """The one stream; as a context it is the current one."""

    ptr = 77

    def __init__(self, device: Device) -> None:
        self._device = device

    def begin_capture(self) -> None:
        """Begin to record."""
        self._device.do("begin capture")

    def end_capture(self) -> Any:
        """Stop recording."""
        return self._device.graph()

    def synchronize(self) -> None:
        """Wait for the stream."""
        self._device.do("synchronize")

    def __enter__(self) -> None:
        self._device.do("current")

    def __exit__(self, *_: object) -> None:
        self._device.do("not current")


class Array(np.ndarray):
    """An array of CuPy's over host memory: what runs on it really computes."""

    mem: Any

    @property
    def data(self) -> Any:
        """Tell the memory as CuPy does."""
        return SimpleNamespace(mem=self.mem)


def _array(shape: tuple[int, ...], dtype: str, memptr: Any) -> Array:
    raw = (ctypes.c_uint8 * memptr.mem.size).from_address(memptr.mem.ptr)
    made = np.frombuffer(raw, dtype).reshape(shape).view(Array)
    made.mem = memptr.mem
    return made


def _shared(array: np.ndarray) -> Array:
    made = np.asarray(array).view(Array)
    made.mem = SimpleNamespace(ptr=array.ctypes.data, size=array.nbytes)
    return made


def _copy_into(buffer: Array, array: Any, casting: Any) -> None:
    np.copyto(buffer, array, casting=casting)


class _Module:
    def __init__(self, device: Device) -> None:
        self._device, self._code = device, b""

    def load(self, code: bytes) -> None:
        """Keep the code."""
        self._device.do("load")
        self._code = code

    def get_function(self, name: str) -> Any:
        """Return a kernel that logs its launches."""
        self._device.do(f"get {name}")
        return _Function(self._device, name, self._device.function(self._code, name))


class _Function:
    def __init__(self, device: Device, name: str, handle: int) -> None:
        self._device, self._name, self.ptr = device, name, handle

    def __call__(
        self, grid: tuple[int, ...], block: tuple[int, ...], args: tuple[Any, ...], *, shared_mem: int = 0, stream: Any
    ) -> None:
        """Log a launch."""
        assert stream.ptr == 77
        self._device.do(f"{self._name}{grid}{block}{shared_mem}")
        self._device.launched.append((self._name, args))
        if self._name in BULK:
            BULK[self._name](_buffers(int(args[0]), grid[0]), int(args[1]))


def _buffers(table: int, count: int) -> list[tuple[int, int]]:
    rows = np.frombuffer(ctypes.string_at(table, 16 * count), np.uint64).reshape(-1, 2)
    return [(int(place), int(size)) for place, size in rows]


def _fill(buffers: list[tuple[int, int]], pattern: int) -> None:
    for place, size in buffers:
        ctypes.memset(place, pattern & 0xFF, size)


def _copy(buffers: list[tuple[int, int]], source: int) -> None:
    for place, size in buffers:
        ctypes.memmove(place, source, size)


def _checksums(buffers: list[tuple[int, int]], sums: int) -> None:
    found = [checksum(np.frombuffer(ctypes.string_at(place, size), np.uint8)) for place, size in buffers]
    ctypes.memmove(sums, bytes.fromhex("".join(found)), 16 * len(found))


# The harness's kernels that work on tables of buffers are carried out, so that what they do to memory can be read.
BULK = {"reportgen_fill": _fill, "reportgen_copy": _copy, "reportgen_checksums": _checksums}


class NoBoard:
    """A board that tells nothing."""

    uuid = "GPU-1"

    def __init__(self, *_: object) -> None:
        pass

    def compute_processes(self) -> list[int] | None:
        """Show another process only, as in a container."""
        return [os.getpid() + 1]

    def __getattr__(self, name: str) -> Any:
        """Answer nothing to any question."""
        return lambda *_: None


def plugged_in(monkeypatch: pytest.MonkeyPatch) -> Device:
    """Stand-in device, found where CuPy and NVIDIA's library would be."""
    made = Device()
    monkeypatch.setattr(cuda_session, "_cupy", lambda: made.cupy)
    monkeypatch.setattr(cuda_session, "open_nvml", lambda: None)
    monkeypatch.setattr(cuda_session, "Gpu", NoBoard)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-1")
    return made
