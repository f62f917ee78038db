"""Random draws with a definition that another language can repeat.

A stream is named by a 32-byte seed and a text label. Its bytes are SHA-256(seed, label in UTF-8, 0x00, i) for
i = 0, 1, 2, ... (i as 8 bytes, big-endian), read as unsigned 64-bit big-endian words. A number below n is the first
word less than the largest multiple of n that 2**64 holds, modulo n. A shuffle is Fisher and Yates' from the end: for
i = last, ..., 1 the items i and ``below(i + 1)`` change places.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")

_WORDS = 1 << 64
_WORD_BYTES = 8


class Draws:
    """One stream of draws.

    Parameters
    ----------
    seed:
        Any bytes; seeds here are SHA-256 hashes.
    label:
        What the stream is for. Streams of one seed with different labels do not disturb each other.
    """

    def __init__(self, seed: bytes, label: str) -> None:
        self._prefix = seed + label.encode() + b"\0"
        self._hashes = 0
        self._pending: list[int] = []

    def below(self, n: int) -> int:
        """Draw an integer in [0, n), all equally likely; ``n`` from 1 to 2**64."""
        if not 1 <= n <= _WORDS:
            raise ValueError("n must lie between 1 and 2**64")
        limit = _WORDS - _WORDS % n
        while (word := self._word()) >= limit:
            pass
        return word % n

    def shuffled(self, items: Iterable[T]) -> list[T]:
        """Return the items in an order drawn uniformly."""
        drawn = list(items)
        for last in range(len(drawn) - 1, 0, -1):
            other = self.below(last + 1)
            drawn[last], drawn[other] = drawn[other], drawn[last]
        return drawn

    def _word(self) -> int:
        if not self._pending:
            block = hashlib.sha256(self._prefix + self._hashes.to_bytes(_WORD_BYTES, "big")).digest()
            self._hashes += 1
            starts = range(0, len(block), _WORD_BYTES)
            self._pending = [int.from_bytes(block[start : start + _WORD_BYTES], "big") for start in starts]
            self._pending.reverse()
        return self._pending.pop()


def schedule_seed(plan_digest: str, attempt_id: str, series: str = "process") -> bytes:
    r"""Seed of an attempt's schedule: SHA-256 of ``digest\0attempt`` (for an outer harness ``digest\0attempt\0name``)."""
    return _hash(plan_digest, attempt_id, *([] if series == "process" else [series]))


def repetition_seed(plan_digest: str, attempt_id: str, repetition: int, series: str = "process") -> bytes:
    r"""Seed of one drawing: SHA-256 of ``digest\0attempt\0repetition`` (decimal; ``\0series`` after it for all but processes)."""
    return _hash(plan_digest, attempt_id, str(repetition), *([] if series == "process" else [series]))


def _hash(*parts: str) -> bytes:
    return hashlib.sha256("\0".join(parts).encode()).digest()
