"""Callables on the GPU (peers, arms in Python): arrays over the buffers, capture with memory of its own, results that lie in that memory.

PyTorch is never imported here; where a callable has loaded it, its current stream and its allocator are set as CuPy's are.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from reportgen.errors import InputError, ReportgenError
from reportgen.measure.backends.cuda_called import CalledLaunches
from reportgen.measure.backends.session import CallableRefusedError, CallableSpec, Slot

# The first run compiles, the second may still choose between kernels; the third meets what will be captured.
WARM_UPS = 3
REMEDY = "see `reportgen manual writing-experiments` on what a callable returns"
_LIBRARIES = ("torch", "triton", "jax", "jaxlib")

Run = Callable[[int], Any]
Tensors = Mapping[str, Any]


@dataclass(frozen=True)
class CapturedCallable:
    """A graph on the device, or what calls its launches one by one; what the last launch of each set and step returned, and the buffers for it.

    ``last`` and ``parts`` are by set and step; where launches are called, ``last`` is written anew by each. ``kept`` holds what must outlive the
    graph: pools of memory, and what was prepared.
    """

    graph: Any
    computed: tuple[str, ...] | None
    last: Mapping[tuple[int, int], Any]
    parts: Mapping[tuple[int, int], Tensors]
    kept: tuple[Any, ...]

    @property
    def results(self) -> tuple[tuple[Tensors, Tensors], ...]:
        """What was returned with the buffers that it is copied into; nothing where all is written in place."""
        if self.computed is None:
            return ()
        return tuple((self.last[turn], self.parts[turn]) for turn in sorted(self.last))

    def poison(self, cupy: Any, stream: Any, byte: int) -> None:
        """Enqueue a fill of the memory under every result."""
        for results, _ in self.results:
            for tensor in results.values():
                place, size_bytes = memory_under(cupy, tensor)
                cupy.cuda.runtime.memsetAsync(place, byte, size_bytes, stream.ptr)

    def deliver(self, cupy: Any, stream: Any) -> None:
        """Copy every result into its buffer, cast to the buffer's type, and wait."""
        with _current(cupy, stream):
            for results, buffers in self.results:
                for name, tensor in results.items():
                    _copy(cupy, buffers[name], tensor)
        stream.synchronize()


def capture_callable(
    cupy: Any, stream: Any, spec: CallableSpec, places: Mapping[Slot, tuple[int, int]], *, calls: bool = False
) -> CapturedCallable:
    """Prepare, warm up and capture a callable; with ``calls`` nothing is captured, and each replay calls its launches.

    Raises
    ------
    CallableRefusedError
        A peer raises, or the work cannot be captured.
    InputError
        It returns what is no dict of arrays by output.
    """
    buffers = [_arrays(cupy, spec, places, index) for index in range(spec.sets)]
    runs = [spec.prepare(arrays, stream.ptr) for arrays in buffers]
    cupy.cuda.runtime.deviceSynchronize()
    with _current(cupy, stream):
        last = {}
        for index, step in (turn for _ in range(WARM_UPS) for turn in sorted(set(spec.launches))):
            last[index, step] = runs[index](step)
        cupy.cuda.runtime.deviceSynchronize()
        pools: tuple[Any, ...] = ()
        if calls:
            graph: Any = CalledLaunches(partial(_current, cupy, stream), partial(_called, runs, spec, last))
        else:
            with _own_memory(cupy) as pools:
                graph, last = _captured(stream, runs, spec)
    parts = {turn: spec.part(buffers[turn[0]], turn[1]) for turn in last}
    computed = _computed(spec, [(last[turn], parts[turn]) for turn in sorted(last)])
    graph.upload(stream)
    stream.synchronize()
    return CapturedCallable(graph, computed, last, parts, (*pools, *runs))


def _called(runs: Sequence[Run], spec: CallableSpec, last: dict[tuple[int, int], Any]) -> None:
    """Call every launch; what the last of each set and step returns is kept."""
    for index, step in spec.launches:
        last[index, step] = runs[index](step)


def _captured(stream: Any, runs: Sequence[Run], spec: CallableSpec) -> tuple[Any, dict[tuple[int, int], Any]]:
    """Record the launches; what the last of each set and step returns is kept, and the others' memory may serve again."""
    last: dict[tuple[int, int], Any] = {}
    stream.begin_capture()
    try:
        for index, step in spec.launches:
            last[index, step] = runs[index](step)
        graph = stream.end_capture()
    except Exception as fault:
        with suppress(Exception):
            stream.end_capture()
        if isinstance(fault, ReportgenError):
            raise
        raise CallableRefusedError(f"its graph cannot be made: {' '.join(str(fault).split())}") from fault
    return graph, last


def _computed(spec: CallableSpec, results: Sequence[tuple[Any, Tensors]]) -> tuple[str, ...] | None:
    """Names of the outputs that the callable returned, the same on every set; ``None`` where it wrote into the buffers."""
    answers = {
        None if result is None else tuple(result) if isinstance(result, Mapping) else "other" for result, _ in results
    }
    answer = answers.pop()
    if answers or answer in ("other", ()):
        raise InputError(
            f"{spec.named} must return None, or on every set a dict of the same outputs",
            where=spec.fixture,
            remedy=REMEDY,
        )
    if answer is None or isinstance(answer, str):
        return None
    for result, buffers in results:
        for name, tensor in result.items():
            _check_result(spec, name, tensor, buffers)
    return answer


def _check_result(spec: CallableSpec, name: str, tensor: Any, buffers: Tensors) -> None:
    if name not in buffers:
        raise InputError(f"{spec.named} returns {name!r}, which is no output", where=spec.fixture, remedy=REMEDY)
    wanted, found = buffers[name].shape, tuple(getattr(tensor, "shape", ()))
    if _count(wanted) != _count(found):
        raise InputError(
            f"{spec.named}: {name!r} has shape {found}, declared is {wanted}", where=spec.fixture, remedy=REMEDY
        )


def _count(shape: Sequence[int]) -> int:
    count = 1
    for length in shape:
        count *= int(length)
    return count


def _arrays(cupy: Any, spec: CallableSpec, places: Mapping[Slot, tuple[int, int]], index: int) -> dict[str, Any]:
    """CuPy arrays over the buffers of one set, which own nothing."""
    found = {}
    for name, (shape, dtype) in spec.arrays.items():
        place, size_bytes = places[Slot(spec.fixture, index, name)]
        memory = cupy.cuda.UnownedMemory(place, size_bytes, None, 0)
        found[name] = cupy.ndarray(shape, dtype, memptr=cupy.cuda.MemoryPointer(memory, 0))
    return found


@contextmanager
def _current(cupy: Any, stream: Any) -> Iterator[None]:
    """Make our stream the current one of CuPy and, where it is loaded, of PyTorch; Triton asks PyTorch."""
    del cupy
    torch = sys.modules.get("torch")
    with ExitStack() as stack:
        stack.enter_context(stream)
        if torch is not None:
            stack.enter_context(torch.cuda.stream(torch.cuda.ExternalStream(stream.ptr)))
        yield


@contextmanager
def _own_memory(cupy: Any) -> Iterator[tuple[Any, ...]]:
    """Let what is allocated while a graph is captured come from pools that serve nobody else: replays write there."""
    torch = sys.modules.get("torch")
    pool = cupy.cuda.MemoryPool()
    with ExitStack() as stack:
        stack.enter_context(cupy.cuda.using_allocator(pool.malloc))
        if torch is None:
            yield (pool,)
            return
        own = torch.cuda.MemPool()
        stack.enter_context(torch.cuda.use_mem_pool(own))
        yield pool, own


def memory_under(cupy: Any, tensor: Any) -> tuple[int, int]:
    """Address and bytes of the memory that a tensor of PyTorch, an array of CuPy or any other that DLPack can carry lies in."""
    storage = getattr(tensor, "untyped_storage", None)
    if storage is not None:
        held = storage()
        return int(held.data_ptr()), int(held.nbytes())
    array = tensor if hasattr(getattr(tensor, "data", None), "mem") else cupy.from_dlpack(tensor)
    return int(array.data.mem.ptr), int(array.data.mem.size)


def loaded_versions() -> dict[str, str]:
    """Versions of the libraries that callables have loaded into this process."""
    loaded = {name: module for name in _LIBRARIES if (module := sys.modules.get(name)) is not None}
    found = {name: str(module.__version__) for name, module in loaded.items()}
    return found if "torch" not in loaded else found | {"cudnn": str(loaded["torch"].backends.cudnn.version())}


def _copy(cupy: Any, buffer: Any, tensor: Any) -> None:
    if hasattr(tensor, "untyped_storage"):
        torch = sys.modules["torch"]
        torch.as_tensor(buffer, device="cuda").copy_(tensor.reshape(buffer.shape))
    else:
        array = tensor if hasattr(getattr(tensor, "data", None), "mem") else cupy.from_dlpack(tensor)
        cupy.copyto(buffer, array.reshape(buffer.shape), casting="unsafe")
