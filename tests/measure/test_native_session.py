"""The CPU session inside one process: placement, arguments, launches, symbols, checksums."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from reportgen.calls import Buffer, KernelCall
from reportgen.errors import InputError
from reportgen.measure.backends import native
from reportgen.measure.backends.native_session import NativeSession
from reportgen.measure.backends.session import Allocation, GraphSpec, Launch, Module, Slot
from reportgen.measure.compiling import Patience, compile_one
from reportgen.measure.job import REPETITION, Job
from tests.measure.checksum import checksum

COUNTING = """
#include "reportgen_native.h"
void count(const reportgen_arg *a) { int64_t *n = a[0].p; n[0] += a[1].i; ((double *)n)[1] = a[2].f; }
"""


@pytest.fixture
def session(tmp_path: Path) -> Iterator[NativeSession]:
    """Session with arms ``one`` and ``two`` compiled but not loaded; the test process may use all its cores afterwards."""
    (tmp_path / "count.c").write_text(COUNTING)
    patience = Patience(30, lambda: None)
    for arm in ("one", "two"):
        command = ["cc", *native.OPTIONS, f"-I{native.HERE}", "count.c", "-o", str(tmp_path / f"{arm}.so")]
        compile_one(command, tmp_path, arm, patience)
    library = tmp_path / "batch.so"
    compile_one(["cc", *native.OPTIONS, "native_batch.c", "-o", str(library)], native.HERE, "the batch loop", patience)
    cores = os.sched_getaffinity(0)
    options = {"batch_library": str(library)}
    yield NativeSession(Job(REPETITION, 1, "native", options, "", str(tmp_path), 0, [], [], 1, 1, 1, 0.1))
    os.sched_setaffinity(0, cores)


def spec(arm: str, sets: int = 1, symbol: str = "count") -> GraphSpec:
    """Graph that adds 7 to the counter of each set in turn."""
    call = KernelCall(symbol, (Buffer("n"), 7, 0.5))
    return GraphSpec(arm, "f", tuple(Launch(index, (call,)) for index in range(sets)))


def allocate(session: NativeSession, sets: int, padding_bytes: int = 64) -> list[Slot]:
    """Allocate one counter a set."""
    slots = [Slot("f", index, "n") for index in range(sets)]
    session.allocate([Allocation(slot, 16, padding_bytes) for slot in slots])
    return slots


def counters(session: NativeSession, slots: list[Slot]) -> list[int]:
    """Counters of all sets."""
    return [int(session.download(slot).view(np.int64)[0]) for slot in slots]


def test_a_batch_runs_lead_in_and_replays_of_every_launch_and_nothing_else(
    session: NativeSession, tmp_path: Path
) -> None:
    """(2 + 5) replays of 3 launches, one on each of 3 sets, add 7 each; floats arrive as floats."""
    session.load([Module("one", str(tmp_path / "one.so"))])
    slots = allocate(session, 3)
    graph = session.capture(spec("one", sets=3))
    assert [0, 0, 0] == counters(session, slots)
    session.replay(graph)
    assert [7, 7, 7] == counters(session, slots)
    session.batch(graph, lead_in=2, replays=5)
    assert [7 * 8] * 3 == counters(session, slots)
    assert 0.5 == session.download(slots[0]).view(np.float64)[1]


def test_a_batch_is_timed_on_the_machines_raw_monotonic_clock(session: NativeSession, tmp_path: Path) -> None:
    """The window lies between readings of the same clock from outside, and is no longer than they are apart."""
    session.load([Module("one", str(tmp_path / "one.so"))])
    allocate(session, 1)
    graph = session.capture(spec("one"))
    before_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    batch = session.batch(graph, lead_in=1000, replays=100_000)
    after_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    assert before_ns + batch.lead_in_ns <= batch.started_ns
    assert batch.started_ns + batch.elapsed_ns <= after_ns
    assert 0 < batch.lead_in_ns < batch.elapsed_ns


def test_buffers_lie_in_the_drawn_order_at_least_their_paddings_apart(session: NativeSession) -> None:
    """Addresses rise in the order of allocation, aligned to 64 bytes."""
    slots = allocate(session, 4, padding_bytes=1 << 20)
    places = [session._views[slot].ctypes.data for slot in slots]
    assert all(place % 64 == 0 for place in places)
    assert all(later - earlier >= (1 << 20) + 16 for earlier, later in itertools.pairwise(places))


def test_two_arms_that_collapse_into_one_function_are_refused(session: NativeSession, tmp_path: Path) -> None:
    """One file loaded for two arms is one function under two names."""
    session.load([Module("one", str(tmp_path / "one.so")), Module("two", str(tmp_path / "one.so"))])
    allocate(session, 1)
    session.capture(spec("one"))
    with pytest.raises(InputError, match="arms 'one' and 'two' resolve to one function 'count'"):
        session.capture(spec("two"))


def test_the_same_code_in_files_of_its_own_is_two_functions(session: NativeSession, tmp_path: Path) -> None:
    """So it is with a null."""
    session.load([Module("one", str(tmp_path / "one.so")), Module("two", str(tmp_path / "two.so"))])
    allocate(session, 1)
    assert session.capture(spec("one")).calls[0].function != session.capture(spec("two")).calls[0].function


def test_a_missing_symbol_and_a_file_that_is_no_object_are_named(session: NativeSession, tmp_path: Path) -> None:
    """One line each."""
    session.load([Module("one", str(tmp_path / "one.so"))])
    with pytest.raises(InputError, match="arm 'one' exports no symbol 'absent'"):
        session.capture(GraphSpec("one", "f", (Launch(0, (KernelCall("absent", ()),)),)))
    with pytest.raises(InputError, match="arm 'two' cannot be loaded"):
        session.load([Module("two", str(tmp_path / "count.c"))])


@pytest.mark.parametrize("size", [1, 31, 32, 33, 4096, 4097])
def test_one_changed_bit_anywhere_changes_the_checksum(session: NativeSession, size: int) -> None:
    """First, middle and last byte, lowest and highest bit; restored, the checksum is what it was."""
    slot = Slot("f", 0, "x")
    session.allocate([Allocation(slot, size, 0)])
    session.upload(slot, np.random.default_rng(1).integers(0, 256, size, np.uint8))
    whole = session.checksums([slot])
    for place, bit in itertools.product({0, size // 2, size - 1}, (1, 128)):
        session._views[slot][place] ^= bit
        assert whole != session.checksums([slot])
        session._views[slot][place] ^= bit
    assert whole == session.checksums([slot]) == [checksum(session.download(slot))]


def swapped_words(values: np.ndarray) -> np.ndarray:
    """Two neighbouring words in each other's place."""
    return values.reshape(-1, 2, 2)[:, ::-1].reshape(-1)


ORDINARY: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "two words swapped": lambda x: np.concatenate([x[2:4], x[:2], x[4:]]),
    "all neighbours swapped": swapped_words,
    "heads swapped": lambda x: np.roll(x, x.size // 2),
    "one head for another": lambda x: np.concatenate([x[: x.size // 2]] * 2),
    "moved by one element": lambda x: np.roll(x, 1),
    "reversed": lambda x: x[::-1],
    "signs of all": lambda x: -x,
    "signs of two": lambda x: np.concatenate([-x[:2], x[2:]]),
    "signs of every second": lambda x: np.where(np.arange(x.size) % 2, x, -x),
    "minus zero": lambda x: np.concatenate([x[:-1], -x[-1:]]),
    "one unit in the last place more, one less": lambda x: np.concatenate(
        [np.nextafter(x[:1], np.float32(9)), np.nextafter(x[1:2], np.float32(-9)), x[2:]]
    ),
    "all zero": np.zeros_like,
    "all NaN": lambda x: np.full_like(x, np.nan),
}


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("size", [4, 64, 4096])
def test_differences_that_faulty_kernels_make_change_the_checksum(
    session: NativeSession, size: int, *, constant: bool
) -> None:
    """Words swapped, heads exchanged, signs flipped, places moved: whatever differs in a byte has another checksum, and only that."""
    right = np.arange(size, dtype=np.float32) if not constant else np.ones(size, np.float32)
    right[-1] = 0
    contents = [right, *(np.ascontiguousarray(spoil(right), np.float32) for spoil in ORDINARY.values())]
    slots = [Slot("f", index, "x") for index in range(len(contents))]
    session.allocate([Allocation(slot, right.nbytes, 0) for slot in slots])
    for slot, content in zip(slots, contents, strict=True):
        session.upload(slot, content)
    assert len({content.tobytes() for content in contents}) == len(set(session.checksums(slots)))


def test_copies_of_a_buffer_are_its_bytes(session: NativeSession) -> None:
    """Every other set gets the first one's inputs where they lie."""
    slots = allocate(session, 3)
    session.upload(slots[0], np.arange(16, dtype=np.uint8))
    session.copy(slots[0], slots[1:])
    session.fill(slots[2:], 7)
    assert [[*range(16)], [*range(16)], [7] * 16] == [session.download(slot).tolist() for slot in slots]


def test_waiting_for_a_stable_clock_ends_in_time(session: NativeSession) -> None:
    """However restless the machine is."""
    began_s = time.monotonic()
    seen = session.stabilise(0.2)
    assert time.monotonic() - began_s < 5
    assert seen["pieces"] >= 1


def test_a_closed_session_leaves_neither_code_nor_memory_behind(session: NativeSession, tmp_path: Path) -> None:
    """Opened, used and closed twelve times, as mode layout does, no more lies mapped than after the first time."""
    mapped = []
    for _ in range(12):
        session.load([Module(arm, str(tmp_path / f"{arm}.so")) for arm in ("two", "one")])
        slots = allocate(session, 2, 1 << 20)
        session.replay(session.capture(spec("one", 2)))
        assert [7, 7] == counters(session, slots)
        session.close()
        maps = Path("/proc/self/maps").read_text()
        assert str(tmp_path / "one.so") not in maps
        mapped.append(len(maps.splitlines()))
    assert max(mapped[1:]) <= mapped[0] + 2
