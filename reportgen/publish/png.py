"""PNG files with the same bytes on every machine: no compressor of the system takes part, since two of them may write two files.

PNG 1.2 with a palette; deflate (RFC 1951) with the fixed codes and no matches but runs of one byte, which suits flat pictures whose
rows are written as differences from the row above.
"""

from __future__ import annotations

import functools
import struct
import zlib
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

SIGNATURE = b"\x89PNG\r\n\x1a\n"
UP = 2  # filter: each byte less the one above
LEAST_RUN, LONGEST_RUN = 3, 258
_END = 256
# Length codes 257 to 285: the shortest length of each, and its extra bits (RFC 1951, 3.2.5).
_SHORTEST = (
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    11,
    13,
    15,
    17,
    19,
    23,
    27,
    31,
    35,
    43,
    51,
    59,
    67,
    83,
    99,
    115,
    131,
    163,
    195,
    227,
    258,
)
_EXTRA = (0,) * 8 + (1,) * 4 + (2,) * 4 + (3,) * 4 + (4,) * 4 + (5,) * 4 + (0,)


def png(pixels: NDArray[np.uint8], palette: Sequence[tuple[int, int, int]]) -> bytes:
    """Write rows of palette numbers as a PNG file."""
    rows, columns = pixels.shape
    above = np.vstack([np.zeros((1, columns), np.uint8), pixels[:-1]])
    lines = np.hstack([np.full((rows, 1), UP, np.uint8), pixels - above])
    data = lines.tobytes()
    header = struct.pack(">IIBBBBB", columns, rows, 8, 3, 0, 0, 0)
    packed = b"\x78\x01" + deflate(data) + struct.pack(">I", zlib.adler32(data))
    colours = b"".join(bytes(colour) for colour in palette)
    parts = ((b"IHDR", header), (b"PLTE", colours), (b"IDAT", packed), (b"IEND", b""))
    return SIGNATURE + b"".join(_chunk(name, content) for name, content in parts)


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def deflate(data: bytes) -> bytes:
    """Compress as one block of fixed codes."""
    held, bits, out = 0b011, 3, bytearray()  # the last block, fixed codes
    for value, length in _codes(data):
        held |= value << bits
        bits += length
        while bits >= 8:  # noqa: PLR2004 - bits of a byte
            out.append(held & 0xFF)
            held >>= 8
            bits -= 8
    out.append(held & 0xFF)
    return bytes(out)


def _codes(data: bytes) -> Iterator[tuple[int, int]]:
    """Give bit patterns, the first bit lowest, with their lengths."""
    values = np.frombuffer(data, np.uint8)
    starts = np.flatnonzero(np.diff(values, prepend=values[:1] ^ 1))
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(values)], strict=True):
        yield _symbol(data[start])
        left = end - start - 1
        while left >= LEAST_RUN:
            run = min(left, LONGEST_RUN)
            yield from _run(run)
            left -= run
        for _ in range(left):
            yield _symbol(data[start])
    yield _symbol(_END)


def _run(length: int) -> Iterator[tuple[int, int]]:
    """Say that the last byte comes again: a length, and the distance one."""
    code = max(place for place, shortest in enumerate(_SHORTEST) if shortest <= length)
    yield _symbol(_END + 1 + code)
    if _EXTRA[code]:
        yield length - _SHORTEST[code], _EXTRA[code]
    yield 0, 5


@functools.cache
def _symbol(symbol: int) -> tuple[int, int]:
    """Give the fixed code of a literal or length (RFC 1951, 3.2.6), highest bit first as the stream wants it."""
    for first, last, base, length in ((0, 143, 0x30, 8), (144, 255, 0x190, 9), (256, 279, 0, 7), (280, 287, 0xC0, 8)):
        if first <= symbol <= last:
            code = base + symbol - first
            return int(f"{code:0{length}b}"[::-1], 2), length
    raise ValueError(f"no symbol {symbol}")
