"""What is done to many buffers at once on the GPU: one launch each, over a table of addresses and sizes that stays there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from reportgen.measure.backends.session import Slot

THREADS = 256
WORD_BYTES = 8
SUMS_BYTES = 16
WORDS_A_THREAD = 8
MOST_PARTS = 512
FEWEST_PARTS = 8
BLOCKS = 4096


class Table(NamedTuple):
    """Where a table lies, where its sums go, how many buffers it has and in how many parts each is worked on."""

    place: int
    sums: int
    buffers: int
    parts: int


class Bulk:
    """Kernels of the harness on a stream. ``places`` holds address and bytes of every buffer, and may grow."""

    def __init__(self, runtime: Any, stream: Any, harness: Any, places: Mapping[Slot, tuple[int, int]]) -> None:
        self._runtime, self._stream, self._places = runtime, stream, places
        self._fill, self._copy, self._checksums = (
            harness.get_function(f"reportgen_{name}") for name in ("fill", "copy", "checksums")
        )
        self._tables: dict[tuple[Slot, ...], Table] = {}

    def fill(self, slots: Sequence[Slot], byte: int) -> None:
        """Enqueue a fill of every byte."""
        table = self._table(slots)
        self._launch(self._fill, table, np.uintp(table.place), np.uint64(byte * 0x0101010101010101))

    def copy(self, source: Slot, targets: Sequence[Slot]) -> None:
        """Enqueue copies of one buffer."""
        table = self._table(targets)
        self._launch(self._copy, table, np.uintp(table.place), np.uintp(self._places[source][0]))

    def checksums(self, slots: Sequence[Slot]) -> list[str]:
        """Sum every buffer, and wait once."""
        table = self._table(slots)
        sums = np.empty((table.buffers, SUMS_BYTES), np.uint8)
        stream = self._stream
        self._runtime.memsetAsync(table.sums, 0, sums.nbytes, stream.ptr)
        self._launch(self._checksums, table, np.uintp(table.place), np.uintp(table.sums))
        self._runtime.memcpyAsync(
            sums.ctypes.data, table.sums, sums.nbytes, self._runtime.memcpyDeviceToHost, stream.ptr
        )
        stream.synchronize()
        return [row.tobytes().hex() for row in sums]

    def close(self) -> None:
        """Free the tables; every buffer's place is forgotten with them."""
        for table in self._tables.values():
            self._runtime.free(table.place)
        self._tables.clear()

    def _launch(self, kernel: Any, table: Table, *args: np.generic) -> None:
        if table.buffers:
            kernel((table.buffers, table.parts, 1), (THREADS, 1, 1), args, stream=self._stream)

    def _table(self, slots: Sequence[Slot]) -> Table:
        key = tuple(slots)
        if key not in self._tables:
            rows = np.array([self._places[slot] for slot in key], np.uint64).reshape(-1, 2)
            place = self._runtime.malloc(max(2 * rows.nbytes, 1))
            kind = self._runtime.memcpyHostToDevice
            self._runtime.memcpyAsync(place, rows.ctypes.data, rows.nbytes, kind, self._stream.ptr)
            self._stream.synchronize()
            most_bytes = int(rows[:, 1].max(initial=0))
            self._tables[key] = Table(place, place + rows.nbytes, len(rows), parts(len(rows), most_bytes))
        return self._tables[key]


def parts(buffers: int, most_bytes: int) -> int:
    """Blocks a buffer: enough for the largest, and together about as many as keep a large GPU busy."""
    wanted = -(-most_bytes // (WORD_BYTES * WORDS_A_THREAD * THREADS))
    return max(1, min(wanted, MOST_PARTS, max(FEWEST_PARTS, BLOCKS // max(buffers, 1))))
