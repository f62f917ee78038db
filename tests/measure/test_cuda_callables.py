"""How a callable (here a peer) is captured on the GPU, on a stand-in that runs nothing: warm-ups, a capture with memory of its own, what is kept of the results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from reportgen.errors import InputError
from reportgen.measure.backends.cuda_callables import CapturedCallable, capture_callable
from reportgen.measure.backends.session import CallableRefusedError, CallableSpec, Slot

PLACES = {Slot("f", index, name): (1000 * (index + 1) + at, 16) for index in range(2) for at, name in enumerate("xy")}


class Device:
    """A stand-in for CuPy and its stream; ``log`` is what was asked of them, ``refusing`` what raises."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.refusing = ""
        self.ptr = 7
        runtime = SimpleNamespace(
            deviceSynchronize=lambda: self.note("wait"),
            memsetAsync=lambda place, byte, size, _stream: self.note(f"fill {place} {size} {byte}"),
        )
        self.cuda = SimpleNamespace(
            runtime=runtime,
            UnownedMemory=lambda place, size, *_: SimpleNamespace(ptr=place, size=size),
            MemoryPointer=lambda memory, _: SimpleNamespace(mem=memory),
            MemoryPool=lambda: SimpleNamespace(malloc=None),
            using_allocator=self.pool,
        )

    def note(self, what: str) -> None:
        """Write something down, or fail at it."""
        self.log.append(what)
        if self.refusing == what:
            raise RuntimeError("operation not permitted when stream is capturing")

    @contextmanager
    def pool(self, _malloc: Any) -> Iterator[None]:
        """Allocate elsewhere for a while."""
        self.note("own memory")
        yield
        self.note("shared memory")

    def ndarray(self, shape: tuple[int, ...], dtype: str, memptr: Any) -> Any:
        """Make an array over memory."""
        return SimpleNamespace(shape=shape, dtype=dtype, data=memptr)

    def copyto(self, buffer: Any, tensor: Any, casting: str) -> None:
        """Copy."""
        self.note(f"copy {tensor.data.mem.ptr} to {buffer.data.mem.ptr} {casting}")

    def __enter__(self) -> None:
        self.note("current")

    def __exit__(self, *_: object) -> None:
        self.note("not current")

    def begin_capture(self) -> None:
        """Begin to record."""
        self.note("begin")

    def end_capture(self) -> Any:
        """Stop recording."""
        self.note("end")
        return SimpleNamespace(upload=lambda _stream: self.note("upload"))

    def synchronize(self) -> None:
        """Wait for the stream."""
        self.note("wait")


def tensor(place: int, shape: tuple[int, ...] = (4,)) -> Any:
    """Give an array that a peer allocated."""
    made = SimpleNamespace(shape=shape, data=SimpleNamespace(mem=SimpleNamespace(ptr=place, size=16)))
    made.reshape = lambda _shape: made
    return made


def captured(device: Device, result: Callable[[Any], Any]) -> CapturedCallable:
    """Capture a peer of two sets, whose runs note where they are and return what ``result`` makes of their buffers."""

    def prepare(buffers: Any, stream: int) -> Callable[[int], Any]:
        device.note(f"prepare {buffers['x'].data.mem.ptr} {stream}")

        def run(_step: int) -> Any:
            device.note(f"run {buffers['x'].data.mem.ptr}")
            return result(buffers)

        return run

    arrays = dict.fromkeys("xy", ((4,), "float32"))
    spec = CallableSpec("theirs", "f", 2, 1, ((0, 0), (1, 0), (0, 0), (1, 0)), arrays, prepare)
    return capture_callable(device, device, spec, PLACES)


def test_a_peer_is_prepared_and_warmed_before_it_is_captured_in_memory_of_its_own() -> None:
    """Every set is prepared once and run three times; the graph holds the planned launches, and nothing else is inside it."""
    device = Device()
    assert captured(device, lambda _: None).computed is None
    assert ["prepare 1000 7", "prepare 2000 7", "wait", "current"] == device.log[:4]
    assert ["run 1000", "run 2000"] * 3 == device.log[4:10]
    launches = ["run 1000", "run 2000"] * 2
    assert ["wait", "own memory", "begin", *launches, "end", "shared memory"] == device.log[10:19]


def test_results_elsewhere_are_poisoned_and_delivered_where_the_last_launch_left_them() -> None:
    """Of three warm-ups and two launches a set, the memory of the last one counts."""
    device, places = Device(), iter(range(5000, 6000))
    made = captured(device, lambda _: {"y": tensor(next(places))})
    assert ("y",) == made.computed
    device.log.clear()
    made.poison(device, device, 0xFF)
    made.deliver(device, device)
    assert ["fill 5008 16 255", "fill 5009 16 255"] == device.log[:2]
    assert ["copy 5008 to 1001 unsafe", "copy 5009 to 2001 unsafe"] == device.log[3:5]


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (lambda _: np.zeros(4), "must return None, or on every set a dict of the same outputs"),
        (lambda buffers: {"y": None} if buffers["x"].data.mem.ptr == 1000 else None, "on every set"),
        (lambda _: {"z": tensor(1)}, "returns 'z', which is no output"),
        (lambda _: {"y": tensor(1, (5,))}, r"'y' has shape \(5,\), declared is \(4,\)"),
    ],
)
def test_what_is_no_output_is_refused(result: Callable[[Any], Any], said: str) -> None:
    """Each in one line that names the peer."""
    with pytest.raises(InputError, match=said):
        captured(Device(), result)


def test_what_cannot_be_captured_is_refused_and_the_capture_ended() -> None:
    """A peer that waits while it is captured, for example."""
    device = Device()
    device.refusing = "end"
    with pytest.raises(CallableRefusedError, match="its graph cannot be made: operation not permitted"):
        captured(device, lambda _: None)
    assert 2 == device.log.count("end")
