"""Twelve block formats in NumPy: blocks [n, bytes] to weights [n, ...] as exact as float32 is, written from the formats' description alone.

The kernels' own decoders are held to these, and these to the ``gguf`` package's. What needs no codebook works on CuPy's arrays as well.
"""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float32]

IQ4_VALUES = np.array([-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113], np.float32)


class Format(NamedTuple):
    """A block format: bytes where FP16 fields begin, decoder, and upper bounds of the root mean squares of weights and of minima as drawn here.

    ``rounded`` counts the roundings to half of an operand beyond its last, none where all but the last are exact.
    """

    decode: Callable[[Bytes], Floats]
    fields: tuple[int, ...]
    weights_rms: float
    minima_rms: float = 0.0
    rounded: bool = False


def _half(blocks: Bytes, at: int) -> Floats:
    """Read the FP16 field at a byte of every block, [n, 1]."""
    return blocks[:, at : at + 2].copy().view("<f2").astype(np.float32)


def _bits(values: NDArray[Any], shifts: Sequence[int], mask: int) -> NDArray[np.uint32]:
    """Fields at several shifts, along a new last axis."""
    wide = values.astype(np.uint32)
    return np.stack([wide >> np.uint32(shift) & np.uint32(mask) for shift in shifts], axis=-1)


def _words32(blocks: Bytes, at: int, count: int) -> NDArray[np.uint32]:
    return blocks[:, at : at + 4 * count].copy().view("<u4")


def _words16(blocks: Bytes, at: int, count: int) -> NDArray[np.uint32]:
    return blocks[:, at : at + 2 * count].copy().view("<u2").astype(np.uint32)


def _signs(bits: NDArray[np.uint32]) -> Floats:
    """Plus or minus one for each of eight bits, along a new last axis."""
    return (1 - 2 * _bits(bits, range(8), 1).astype(np.float32)).astype(np.float32)


def _with_parity(seven: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Seven signs and an eighth that makes the number of minus signs even."""
    return seven | (_bits(seven, range(7), 1).sum(axis=-1, dtype=np.uint32) & np.uint32(1)) << np.uint32(7)


@cache
def codebook(name: str) -> Floats:
    """Rows of a codebook, read from the header that the kernels include."""
    text = Path(__file__).with_name("moe_codebooks.cuh").read_text(encoding="utf-8")
    body = text.split(f"GRID_{name}[", 1)[1].split("{", 1)[1].split("}", 1)[0]
    packed = np.array([int(word, 16) for word in body.replace(",", " ").split()], np.uint32)
    if name.startswith("IQ3"):
        return _bits(packed, [0, 8, 16, 24], 255).astype(np.float32)
    return np.array([8, 25, 43], np.float32)[_bits(packed, range(0, 32, 4), 7) >> 1]


def _q8_0(b: Bytes) -> Floats:
    return _half(b, 0) * b[:, 2:].view(np.int8).astype(np.float32)


def _q2_0(b: Bytes) -> Floats:
    return _half(b, 0) * (_bits(b[:, 2:], [0, 2, 4, 6], 3).reshape(len(b), 64).astype(np.float32) - 1)


def _q2_k(b: Bytes) -> Floats:
    codes = _bits(b[:, 16:80].reshape(-1, 2, 32), [0, 2, 4, 6], 3).transpose(0, 1, 3, 2).reshape(-1, 16, 16)
    scales, minima = _half(b, 80) * (b[:, :16] & 15), _half(b, 82) * (b[:, :16] >> 4)
    return scales[..., None] * codes.astype(np.float32) - minima[..., None]


def _six_bits(b: Bytes) -> tuple[Floats, Floats]:
    """Scales and minima of Q4_K and Q5_K, [n, 8, 1] each, times d and dmin."""
    packed = b[:, 4:16].reshape(-1, 3, 4)
    scales = np.concatenate([packed[:, 0] & 63, packed[:, 2] & 15 | packed[:, 0] >> 6 << 4], axis=1)
    minima = np.concatenate([packed[:, 1] & 63, packed[:, 2] >> 4 | packed[:, 1] >> 6 << 4], axis=1)
    return (_half(b, 0) * scales)[..., None], (_half(b, 2) * minima)[..., None]


def _q4_k(b: Bytes) -> Floats:
    scales, minima = _six_bits(b)
    codes = _bits(b[:, 16:].reshape(-1, 4, 32), [0, 4], 15).transpose(0, 1, 3, 2).reshape(-1, 8, 32)
    return scales * codes.astype(np.float32) - minima


def _q5_k(b: Bytes) -> Floats:
    scales, minima = _six_bits(b)
    low = _bits(b[:, 48:].reshape(-1, 4, 32), [0, 4], 15).transpose(0, 1, 3, 2).reshape(-1, 8, 32)
    fifth = _bits(b[:, 16:48], range(8), 1).transpose(0, 2, 1)
    return scales * (low | fifth << np.uint32(4)).astype(np.float32) - minima


def _q6_k(b: Bytes) -> Floats:
    low = _bits(b[:, :128].reshape(-1, 2, 64), [0, 4], 15).transpose(0, 1, 3, 2).reshape(-1, 2, 4, 32)
    high = _bits(b[:, 128:192].reshape(-1, 2, 32), [0, 2, 4, 6], 3).transpose(0, 1, 3, 2)
    codes = (low | high << np.uint32(4)).reshape(-1, 16, 16).astype(np.float32) - 32
    return (_half(b, 208) * b[:, 192:208].view(np.int8))[..., None] * codes


def _iq4_xs(b: Bytes) -> Floats:
    low = _bits(b[:, 4:8], [0, 4], 15).reshape(-1, 8)
    scales = (low | _bits(_words16(b, 2, 1)[:, 0], range(0, 16, 2), 3) << np.uint32(4)).astype(np.float32) - 32
    codes = _bits(b[:, 8:].reshape(-1, 8, 16), [0, 4], 15).transpose(0, 1, 3, 2).reshape(-1, 8, 32)
    return (_half(b, 0) * scales)[..., None] * IQ4_VALUES[codes]


def _iq2_xxs(b: Bytes) -> Floats:
    tails = _words32(b, 2, 16)[:, 1::2]
    rows = codebook("IQ2_XXS")[b[:, 2:].reshape(-1, 8, 8)[..., :4]]
    scales = _half(b, 0) * (np.float32(0.5) + (tails >> 28).astype(np.float32)) / 4
    return scales[..., None, None] * rows * _signs(_with_parity(_bits(tails, [0, 7, 14, 21], 127)))


def _nibble_scales(b: Bytes, at: int) -> Floats:
    """Scales of 16 groups of 16 values, d (1/2 + s) / 4, [n, 16, 1, 1]."""
    nibbles = _bits(b[:, at : at + 8], [0, 4], 15).reshape(-1, 16).astype(np.float32)
    return (_half(b, 0) * (np.float32(0.5) + nibbles) / 4)[..., None, None]


def _iq2_xs(b: Bytes) -> Floats:
    codes = _words16(b, 2, 32).reshape(-1, 16, 2)
    return _nibble_scales(b, 66) * codebook("IQ2_XS")[codes & 511] * _signs(_with_parity(codes >> 9))


def _iq2_s(b: Bytes) -> Floats:
    upper = _bits(b[:, 66:74], [0, 2, 4, 6], 3).reshape(-1, 32)
    rows = codebook("IQ2_S")[b[:, 2:34] | upper << np.uint32(8)].reshape(-1, 16, 2, 8)
    return _nibble_scales(b, 74) * rows * _signs(b[:, 34:66].astype(np.uint32)).reshape(-1, 16, 2, 8)


def _iq3_xxs(b: Bytes) -> Floats:
    tails = _words32(b, 66, 8)
    rows = codebook("IQ3_XXS")[b[:, 2:66]].reshape(-1, 8, 4, 8)
    scales = _half(b, 0) * (np.float32(0.5) + (tails >> 28).astype(np.float32)) / 2
    return scales[..., None, None] * rows * _signs(_with_parity(_bits(tails, [0, 7, 14, 21], 127)))


def _iq3_s(b: Bytes) -> Floats:
    upper = _bits(b[:, 66:74], range(8), 1).reshape(-1, 64)
    rows = codebook("IQ3_S")[b[:, 2:66] | upper << np.uint32(8)].reshape(-1, 8, 4, 8)
    scales = _half(b, 0) * (1 + 2 * _bits(b[:, 106:110], [0, 4], 15).reshape(-1, 8).astype(np.float32))
    return scales[..., None, None] * rows * _signs(b[:, 74:106].astype(np.uint32)).reshape(-1, 8, 4, 8)


FORMATS = {
    "Q4_K": Format(_q4_k, (0, 2), 0.5, 0.06, rounded=True),
    "Q5_K": Format(_q5_k, (0, 2), 1.02, 0.06, rounded=True),
    "Q6_K": Format(_q6_k, (208,), 2.1, rounded=True),
    "Q8_0": Format(_q8_0, (0,), 0.114),
    "Q2_0": Format(_q2_0, (0,), 0.0019),
    "Q2_K": Format(_q2_k, (80, 82), 0.029, 0.0135, rounded=True),
    "IQ4_XS": Format(_iq4_xs, (0,), 1.95, rounded=True),
    "IQ3_XXS": Format(_iq3_xxs, (0,), 0.22),
    "IQ3_S": Format(_iq3_s, (0,), 0.215),
    "IQ2_XXS": Format(_iq2_xxs, (0,), 0.083),
    "IQ2_XS": Format(_iq2_xs, (0,), 0.087),
    "IQ2_S": Format(_iq2_s, (0,), 0.088),
}
