"""The checksum of docs/record-format.md, written from its definition with NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def mix(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Step 3 of the definition."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words = (words ^ (words >> np.uint64(shift))) * np.uint64(factor)
    return words ^ (words >> np.uint64(31))


def checksum(raw: NDArray[np.uint8]) -> str:
    """Checksum of bytes of any number."""
    words = np.frombuffer(raw.tobytes() + bytes(8 - raw.size % 8), "<u8")
    places = np.arange(1, words.size + 1, dtype=np.uint64)
    one = mix(words ^ (places * np.uint64(0x9E3779B97F4A7C15))).sum(dtype=np.uint64)
    two = mix(words + places * np.uint64(0xD1B54A32D192ED03)).sum(dtype=np.uint64)
    return np.array([one, two], "<u8").tobytes().hex()
