"""What the GPU session asks of the device, in which order: seen through a stand-in for CuPy, without a GPU."""

from __future__ import annotations

import ctypes
import hashlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from reportgen.calls import Buffer, KernelCall
from reportgen.errors import InputError, WorkerError
from reportgen.measure.backends import cuda_programmatic, cuda_session
from reportgen.measure.backends.cuda_arguments import exact
from reportgen.measure.backends.cuda_bulk import parts
from reportgen.measure.backends.cuda_clock import wake
from reportgen.measure.backends.cuda_programmatic import launch_config, launch_programmatically
from reportgen.measure.backends.cuda_session import CudaSession
from reportgen.measure.backends.session import Allocation, GraphSpec, Launch, Module, Slot
from reportgen.measure.job import REPETITION, Job
from tests.measure.checksum import checksum
from tests.measure.cuda_stub import Device, plugged_in


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Device:
    """Stand-in device, found where CuPy and NVIDIA's library would be."""
    return plugged_in(monkeypatch)


@pytest.fixture
def session(device: Device, tmp_path: Path) -> CudaSession:
    """Session whose arms ``one`` and ``two`` have code of their own; the log is empty."""
    cubins = {}
    for name in ("harness", "one", "two"):
        (tmp_path / name).write_bytes(name.encode())
        cubins[name] = hashlib.sha256(name.encode()).hexdigest()
    options = {"cubins": cubins, "harness": str(tmp_path / "harness")}
    made = CudaSession(Job(REPETITION, 1, "cuda", options, "", "", 0, [], [], 1, 1, 1, 0.1))
    device.log.clear()
    device.allocated.clear()
    return made


def ready(session: CudaSession, tmp_path: Path, padding_bytes: int = 0) -> None:
    """Load both arms and allocate two sets of a buffer of 100 bytes."""
    session.load([Module(arm, str(tmp_path / arm)) for arm in ("two", "one")])
    session.allocate([Allocation(Slot("f", index, "x"), 100, padding_bytes) for index in (1, 0)])


def spec(arm: str = "one", **more: Any) -> GraphSpec:
    """Graph of two launches, one on each set."""
    call = KernelCall("k", (Buffer("x"), 5, np.int32(6), np.float32(0.5), 0.25), (3, 1, 1), (64, 1, 1), **more)
    return GraphSpec(arm, "f", (Launch(0, (call,)), Launch(1, (call,))))


def test_a_batch_is_one_enqueue_between_three_events_and_one_wait(
    session: CudaSession, device: Device, tmp_path: Path
) -> None:
    """Lead-in and window lie between events; nothing else reaches the device, and the times are integer nanoseconds."""
    ready(session, tmp_path)
    graph = session.capture(spec())
    device.log.clear()
    batch = session.batch(graph, lead_in=2, replays=3)
    assert ["event", "graph", "graph", "event", "graph", "graph", "graph", "event", "synchronize"] == device.log
    assert (1_500_000, 250_000) == (batch.elapsed_ns, batch.lead_in_ns)


def test_capturing_launches_nothing_and_puts_the_graph_on_the_device(
    session: CudaSession, device: Device, tmp_path: Path
) -> None:
    """Kernels are recorded between the ends of one capture, then the graph is uploaded."""
    ready(session, tmp_path)
    device.log.clear()
    session.capture(spec())
    launch = "k(3, 1, 1)(64, 1, 1)0"
    assert ["get k", "begin capture", launch, launch, "end capture", "upload", "synchronize"] == device.log


def test_arguments_arrive_in_the_types_of_the_kernels_parameters(
    session: CudaSession, device: Device, tmp_path: Path
) -> None:
    """Pointers of the launch's own set; integers and floats as they were written."""
    ready(session, tmp_path)
    session.capture(spec())
    (_, first), (_, second) = device.launched
    assert [np.uintp, np.int64, np.int32, np.float32, np.float64] == [type(one) for one in first]
    assert [5, 6, 0.5, 0.25] == [one.item() for one in first[1:]]
    assert first[0] != second[0]
    session.upload(Slot("f", 1, "x"), np.arange(100, dtype=np.uint8))
    assert bytes(range(100)) == ctypes.string_at(int(second[0]), 100)


@pytest.mark.parametrize(
    ("argument", "kind"), [(True, np.bool_), (1, np.int64), (1.0, np.float64), (np.uint64(1 << 63), np.uint64)]
)
def test_a_python_number_has_one_type_and_a_numpy_scalar_its_own(argument: Any, kind: type) -> None:
    """Stated on the page about experiments."""
    assert kind is type(exact(argument))


def test_a_buffer_is_an_allocation_of_its_own_with_its_padding_before_it(
    session: CudaSession, device: Device, tmp_path: Path
) -> None:
    """The end of the buffer is the end of the allocation, so a checker of memory sees what writes past it."""
    ready(session, tmp_path, padding_bytes=1000)
    assert [1024 + 100, 1024 + 100] == device.allocated


def test_buffers_that_do_not_fit_are_refused_with_their_sizes(session: CudaSession) -> None:
    """Before the first is allocated."""
    with pytest.raises(InputError, match=r"buffers of 0 MiB and paddings of 2048 MiB do not fit into 1024 MiB; lower"):
        session.allocate([Allocation(Slot("f", 0, "x"), 1, 1 << 31)])


def test_what_is_filled_and_uploaded_is_read_back(session: CudaSession, tmp_path: Path) -> None:
    """Byte for byte, an upload leaving the rest alone."""
    ready(session, tmp_path)
    slot = Slot("f", 0, "x")
    session.fill([slot], 0xFF)
    session.upload(slot, np.array([1, 2], np.int16))
    assert [1, 0, 2, 0, *[255] * 96] == session.download(slot).tolist()


def test_many_buffers_are_filled_copied_and_summed_by_one_launch_each(
    session: CudaSession, device: Device, tmp_path: Path
) -> None:
    """Their addresses and sizes travel once; then a launch and, for the sums, one wait. Bytes beyond the last whole word count."""
    ready(session, tmp_path)
    slots = [Slot("f", 0, "x"), Slot("f", 1, "x")]
    session.checksums(slots)
    device.log.clear()
    session.fill(slots, 0x7F)
    assert [[0x7F] * 100] * 2 == [session.download(slot).tolist() for slot in slots]
    session.upload(slots[0], np.arange(100, dtype=np.uint8))
    session.copy(slots[0], slots[1:])
    assert [*range(100)] == session.download(slots[1]).tolist()
    device.log.clear()
    assert [checksum(np.arange(100, dtype=np.uint8))] * 2 == session.checksums(slots)
    assert ["reportgen_checksums(2, 1, 1)(256, 1, 1)0", "synchronize"] == device.log


@pytest.mark.parametrize(
    ("buffers", "most_bytes", "wanted"),
    [(1, 1, 1), (1, 1 << 30, 512), (330, 1 << 16, 4), (2000, 1 << 30, 8), (1, 1 << 17, 8), (0, 0, 1)],
)
def test_large_buffers_are_worked_on_by_many_blocks_and_many_small_ones_by_few(
    buffers: int, most_bytes: int, wanted: int
) -> None:
    """A block for 16 KiB of the largest buffer, at most 512 a buffer, and about 4,096 in all."""
    assert wanted == parts(buffers, most_bytes)


def test_a_cubin_that_was_changed_after_the_build_is_not_loaded(session: CudaSession, tmp_path: Path) -> None:
    """The hash of the bytes that are loaded is that of the bytes that were built."""
    (tmp_path / "one").write_bytes(b"other")
    with pytest.raises(InputError, match=r"the cubin of arm 'one' is not the one that was built"):
        session.load([Module("one", str(tmp_path / "one"))])


def test_two_arms_that_collapse_into_one_kernel_are_refused(
    session: CudaSession, device: Device, tmp_path: Path
) -> None:
    """As when two modules resolve to one function."""
    device.function = lambda *_: 7  # type: ignore[method-assign]
    ready(session, tmp_path)
    session.capture(spec("one"))
    with pytest.raises(
        InputError, match=r"arms 'one' and 'two' resolve to one function 'k'; give each arm code of its"
    ):
        session.capture(spec("two"))


def test_much_shared_memory_is_asked_for_and_never_taken_back(
    session: CudaSession, device: Device, tmp_path: Path
) -> None:
    """Beyond 48 KiB the function's limit is raised; a later call that needs less leaves it."""
    ready(session, tmp_path)
    for size in (48 * 1024, 64 * 1024, 100 * 1024, 50 * 1024):
        session.capture(spec(shared_bytes=size))
    handle = device.function(b"one", "k")
    assert [(handle, 8, 64 * 1024), (handle, 8, 100 * 1024)] == device.attributes


def test_an_unknown_attribute_is_refused(session: CudaSession, tmp_path: Path) -> None:
    """The line lists those that are known."""
    ready(session, tmp_path)
    with pytest.raises(InputError, match=r"attribute 'cluster' is not known; known are max_dynamic_shared_size_bytes"):
        session.capture(spec(attributes={"cluster": 2}))


def test_a_programmatic_launch_is_recorded_by_the_drivers_own_call(
    session: CudaSession, device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CuPy's launch knows no launch attributes; the function, its arguments and our stream arrive all the same."""
    seen = []
    monkeypatch.setattr(cuda_session, "launch_programmatically", lambda *told: seen.append(told))
    ready(session, tmp_path)
    session.capture(spec(attributes={"programmatic_stream_serialization": 1}))
    assert [] == device.launched
    assert [(device.function(b"one", "k"), "k", 5, 77)] * 2 == [
        (told[0], told[1].symbol, len(told[2]), told[3]) for told in seen
    ]


def test_a_programmatic_launch_differs_in_nothing_but_its_edge() -> None:
    """Grid, block, shared memory and stream are the call's; one attribute allows the overlap. Sizes are those of cuda.h."""
    config = launch_config(KernelCall("k", (), (3, 2, 1), (64, 1, 1), 128), 77)

    assert ([3, 2, 1], [64, 1, 1]) == (list(config.grid), list(config.block))
    assert (128, 77, 1) == (config.shared_bytes, config.stream, config.attribute_count)
    assert (6, 1) == (config.attributes[0].id, config.attributes[0].allowed)
    assert (56, 72) == (ctypes.sizeof(config), ctypes.sizeof(config.attributes[0]))


def test_a_launch_that_the_driver_refuses_programmatically_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver's number stands in the line."""
    refusing = SimpleNamespace(cuLaunchKernelEx=lambda *_: 801)
    monkeypatch.setattr(cuda_programmatic, "_driver", lambda: refusing)
    with pytest.raises(InputError, match=r"'k' cannot be launched programmatically: CUDA error 801"):
        launch_programmatically(5, KernelCall("k", ()), (), 77)


def test_a_launch_that_cuda_refuses_names_arm_kernel_and_shape(
    session: CudaSession, device: Device, tmp_path: Path
) -> None:
    """The experiment is at fault."""
    ready(session, tmp_path)
    device.failing["k(3, 1, 1)(64, 1, 1)0"] = "invalid argument"
    line = r"arm 'one' cannot launch 'k' with grid \(3, 1, 1\), block \(64, 1, 1\) and 0 shared bytes: invalid argument"
    with pytest.raises(InputError, match=line):
        session.capture(spec())


def test_a_kernel_that_dies_is_a_fault_of_this_process(session: CudaSession, device: Device, tmp_path: Path) -> None:
    """So its repetition goes to a spare; the line is CUDA's own."""
    ready(session, tmp_path)
    graph = session.capture(spec())
    device.failing["synchronize"] = "an illegal memory access was encountered"
    with pytest.raises(
        WorkerError, match=r"a kernel of arm 'one' failed on f: an illegal memory access was encountered"
    ):
        session.replay(graph)


def test_a_batch_tells_how_long_the_host_took_to_enqueue_it(
    session: CudaSession, device: Device, tmp_path: Path
) -> None:
    """A window of 1 ns cannot have been enqueued ahead of the device."""
    ready(session, tmp_path)
    graph = session.capture(spec())
    device.elapsed_ms = [1e-6, 1e-6]
    batch = session.batch(graph, lead_in=1, replays=1)
    assert (batch.enqueue_ns or 0) > batch.elapsed_ns == 1


def test_a_container_that_hides_processes_is_told(session: CudaSession) -> None:
    """NVIDIA's library lists one process, and it is another."""
    assert session.facts()["process_list"].startswith("does not show this process")


def test_code_for_another_gpu_is_refused_with_the_option_that_helps(
    session: CudaSession, device: Device, tmp_path: Path
) -> None:
    """The device says what it is."""
    device.failing["load"] = "no kernel image is available"
    with pytest.raises(
        InputError, match=r"arm 'one' cannot be loaded: no kernel image.*; put --gpu-architecture=sm_90"
    ):
        session.load([Module("one", str(tmp_path / "one"))])


def test_the_clock_is_cycles_over_time_and_waits_for_two_equal_windows() -> None:
    """1,000 cycles in 1,000 ns are 1,000 MHz. With three rising values left among eight their median is 1,000; with four, 995: so five leave."""
    clocks = iter([500, 600, 700, 800, 900, 950, 980, 990, *[1000] * 100])
    woken = wake(lambda _: (next(clocks), 1000), 5)
    assert woken == {"stable": True, "pieces": 16 + 5, "measured_mhz": [1000.0] * 8}


def test_a_clock_that_never_settles_ends_the_wait() -> None:
    """At the limit, and the record says so."""
    state = {"clock": 1.0}

    def rising(rounds: int) -> tuple[int, int]:
        state["clock"] *= 1.01
        return int(rounds * state["clock"]), rounds

    assert not wake(rising, 0.01)["stable"]


def test_a_closed_session_has_freed_all_that_it_allocated(session: CudaSession, device: Device, tmp_path: Path) -> None:
    """Buffers with their paddings, sums and the tables of the bulk kernels, each once; a new session can follow."""
    ready(session, tmp_path, padding_bytes=300)
    session.capture(spec())
    session.fill([Slot("f", 0, "x"), Slot("f", 1, "x")], 0)
    session.checksums([Slot("f", 0, "x")])
    assert len(device.places) >= 5
    assert session.addresses() == [place + 512 for place in device.places[1:3]]
    session.close()
    assert [] == device.places
    assert [] == session.addresses()
