"""Random numbers that are a function of their place: Philox4x32-10, the same in NumPy, in C and on a GPU.

Large inputs need no generator's state: element ``i`` of stream ``s`` under ``seed`` is computed from ``(seed, s, i)`` alone. The twin in C and CUDA
is ``reportgen_philox.h``. Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ROUNDS = 10
LANES = 4
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
_MANTISSA_BITS = 24
_MOST_BLOCKS = 1 << 18


def words(seed: int, stream: int, first: int, count: int) -> NDArray[np.uint32]:
    """Words ``first``, ``first + 1``, ... of a stream.

    Word ``i`` is lane ``i % 4`` of the block whose counter is ``i // 4`` in its low and ``stream`` in its high 64 bits, under the 64-bit key ``seed``.

    Parameters
    ----------
    seed, stream, first:
        Whole numbers in [0, 2**64).

    Returns
    -------
    array, shape (count,)
    """
    begin, end = first // LANES, -(-(first + count) // LANES)
    made = np.empty((end - begin, LANES), np.uint32)
    for at in range(begin, end, _MOST_BLOCKS):  # in pieces that a processor's cache holds
        blocks = np.arange(at, min(at + _MOST_BLOCKS, end), dtype=np.uint64)
        made[at - begin : at - begin + blocks.size] = _blocks(seed, stream, blocks)
    return made.reshape(-1)[first - begin * LANES :][:count]


def uniform(seed: int, stream: int, first: int, count: int) -> NDArray[np.float32]:
    """Values in [-1, 1), multiples of 2**-23: a word's upper 24 bits, exact in float32."""
    bits = words(seed, stream, first, count) >> np.uint32(32 - _MANTISSA_BITS)
    return bits.astype(np.float32) * np.float32(2.0 ** (1 - _MANTISSA_BITS)) - np.float32(1)


def _blocks(seed: int, stream: int, blocks: NDArray[np.uint64]) -> NDArray[np.uint32]:
    counter = [blocks & _LOW, blocks >> _SHIFT, *(np.full(blocks.shape, half, np.uint64) for half in _halves(stream))]
    keys = list(_halves(seed))
    for _ in range(ROUNDS):
        one, two = (counter[lane] * np.uint64(factor) for lane, factor in zip((0, 2), _MULTIPLIERS, strict=True))
        counter = [
            (two >> _SHIFT) ^ counter[1] ^ np.uint64(keys[0]),
            two & _LOW,
            (one >> _SHIFT) ^ counter[3] ^ np.uint64(keys[1]),
            one & _LOW,
        ]
        keys = [(key + step) & int(_LOW) for key, step in zip(keys, _KEY_STEPS, strict=True)]
    return np.stack(counter, axis=1).astype(np.uint32)


def _halves(number: int) -> tuple[int, int]:
    return number & int(_LOW), number >> 32
