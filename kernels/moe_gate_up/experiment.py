"""Grouped gate/up product over weights in twelve block formats: inputs, decoders in NumPy, float64 reference and kernel calls.

Rows are sorted by expert; y[row, 1024] = x[token of the row] . W[expert of the row], 512 gate and 512 up outputs. Tolerances are derived in README.md.
"""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reportgen.calls import Arm, Fixture, KernelCall, Output
from reportgen.philox import uniform, words

EXPERTS, CHOSEN, COLUMNS, OUTPUTS = 512, 10, 2048, 1024
STEP, ROW_TILE, WARPS, WIDTHS = 256, 8, 4, (24, 32, 40, 56)
OVERFULL = 0.02  # share of experts whose rows may take a second pass
POOL_EXPERTS, POOL_STEP = 8, 977
SAMPLED_EXPERTS = (0, 137, 298, 511)
WEIGHTS_SEED, TOKENS_SEED, ROUTING_SEED = 20261201, 20261202, 20261203
FLOAT_UNIT, HALF_UNIT, DEVIATIONS = 2.0**-24, 2.0**-11, 8
KIB = 1024

Arrays = dict[str, NDArray[Any]]
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


class Layout(NamedTuple):
    """What the kernels' headers say of a format."""

    values: int
    bytes: int
    pitch: int
    split: int
    halved: int
    grid: int
    sign_bits: int


def _half(blocks: Bytes, at: int) -> Floats:
    """Read the FP16 field at a byte of every block, [n, 1]."""
    return blocks[:, at : at + 2].copy().view("<f2").astype(np.float32)


def _bits(values: NDArray[Any], shifts: list[int], mask: int) -> NDArray[np.uint32]:
    """Fields at several shifts, along a new last axis."""
    return values.astype(np.uint32)[..., None] >> np.array(shifts, np.uint32) & np.uint32(mask)


def _words32(blocks: Bytes, at: int, count: int) -> NDArray[np.uint32]:
    return blocks[:, at : at + 4 * count].copy().view("<u4")


def _words16(blocks: Bytes, at: int, count: int) -> NDArray[np.uint32]:
    return blocks[:, at : at + 2 * count].copy().view("<u2").astype(np.uint32)


def _signs(bits: NDArray[np.uint32]) -> Floats:
    """Plus or minus one for each of eight bits, along a new last axis."""
    return (1 - 2 * _bits(bits, list(range(8)), 1).astype(np.float32)).astype(np.float32)


def _with_parity(seven: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Seven signs and an eighth that makes the number of minus signs even."""
    return seven | (_bits(seven, list(range(7)), 1).sum(axis=-1, dtype=np.uint32) & np.uint32(1)) << np.uint32(7)


@cache
def codebook(name: str) -> Floats:
    """Rows of a codebook, read from the header that the kernels include."""
    text = Path(__file__).with_name("moe_codebooks.cuh").read_text(encoding="utf-8")
    body = text.split(f"GRID_{name}[", 1)[1].split("{", 1)[1].split("}", 1)[0]
    packed = np.array([int(word, 16) for word in body.replace(",", " ").split()], np.uint32)
    if name.startswith("IQ3"):
        return _bits(packed, [0, 8, 16, 24], 255).astype(np.float32)
    return np.array([8, 25, 43], np.float32)[_bits(packed, list(range(0, 32, 4)), 7) >> 1]


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
    fifth = _bits(b[:, 16:48], list(range(8)), 1).transpose(0, 2, 1)
    return scales * (low | fifth << np.uint32(4)).astype(np.float32) - minima


def _q6_k(b: Bytes) -> Floats:
    low = _bits(b[:, :128].reshape(-1, 2, 64), [0, 4], 15).transpose(0, 1, 3, 2).reshape(-1, 2, 4, 32)
    high = _bits(b[:, 128:192].reshape(-1, 2, 32), [0, 2, 4, 6], 3).transpose(0, 1, 3, 2)
    codes = (low | high << np.uint32(4)).reshape(-1, 16, 16).astype(np.float32) - 32
    return (_half(b, 208) * b[:, 192:208].view(np.int8))[..., None] * codes


def _iq4_xs(b: Bytes) -> Floats:
    low = _bits(b[:, 4:8], [0, 4], 15).reshape(-1, 8)
    scales = (low | _bits(_words16(b, 2, 1)[:, 0], list(range(0, 16, 2)), 3) << np.uint32(4)).astype(np.float32) - 32
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
    upper = _bits(b[:, 66:74], list(range(8)), 1).reshape(-1, 64)
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


@cache
def layouts() -> dict[str, Layout]:
    """Constants of every format by name, read from the headers that the kernels include."""
    found = {}
    for header in ("moe_formats.cuh", "moe_codebook_formats.cuh"):
        text = Path(__file__).with_name(header).read_text(encoding="utf-8")
        for match in re.finditer(r"struct (\w+) \{\n    static constexpr int ([^;]*);", text):
            constants = dict(pair.split(" = ") for pair in match[2].split(", "))
            found[match[1]] = Layout(*(int(constants[name.upper()]) for name in Layout._fields))
    return found


def row_bytes(name: str) -> int:
    """Bytes of one output's weights."""
    layout = layouts()[name]
    return COLUMNS // layout.values * layout.bytes


@cache
def pool(name: str) -> Bytes:
    """Blocks of nine experts in a row: random bytes, but for FP16 fields of either sign with 2^-10 <= |d| < 2^-9."""
    layout = layouts()[name]
    stream, blocks = list(FORMATS).index(name), (POOL_EXPERTS + 1) * OUTPUTS * COLUMNS // layout.values
    made = (
        words(WEIGHTS_SEED, stream, 0, blocks * layout.bytes // 4).view(np.uint8).reshape(blocks, layout.bytes).copy()
    )
    for at in FORMATS[name].fields:
        made[:, at + 1] = made[:, at + 1] & 0x83 | 0x14
    return made


def expert_blocks(name: str, expert: int) -> Bytes:
    """Blocks of an expert: a window of the pool that begins at another block for each."""
    blocks = OUTPUTS * COLUMNS // layouts()[name].values
    first = expert * POOL_STEP % (POOL_EXPERTS * blocks)
    return pool(name)[first : first + blocks]


@cache
def weights(name: str) -> Bytes:
    """All experts' weights [512, 1024, row bytes]; one array, which the fixtures share."""
    made = np.empty((EXPERTS, OUTPUTS, row_bytes(name)), np.uint8)
    for expert in range(EXPERTS):
        made[expert] = expert_blocks(name, expert).reshape(OUTPUTS, -1)
    return made


@cache
def tokens_x(count: int) -> NDArray[np.float16]:
    """Activations [tokens, 2048] in [-1, 1)."""
    return uniform(TOKENS_SEED, 0, 0, count * COLUMNS).astype(np.float16).reshape(count, COLUMNS)


class Routing(NamedTuple):
    """Token of every row, rows sorted by expert and within one by token; and an expert's first row."""

    tokens: NDArray[np.int32]
    offsets: NDArray[np.int32]


@cache
def routing(kind: str, count: int) -> Routing:
    """Balanced: experts in turn, so that numbers of rows differ by one at most. Random: ten distinct experts a token, all alike likely."""
    if kind == "balanced":
        experts = np.arange(count * CHOSEN) % EXPERTS
    else:
        keys = words(ROUTING_SEED, count, 0, count * EXPERTS).reshape(count, EXPERTS)
        experts = np.argsort(keys, axis=1, kind="stable")[:, :CHOSEN].reshape(-1)
    order = np.argsort(experts, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(experts, minlength=EXPERTS))])
    return Routing((order // CHOSEN).astype(np.int32), offsets.astype(np.int32))


def route(fixture: Fixture) -> Routing:
    """Routing of a fixture; the same for every format."""
    return routing(fixture["routing"], fixture["tokens"])


def sampled_rows(fixture: Fixture) -> tuple[int, ...]:
    """First and last row of four experts."""
    offsets = route(fixture).offsets
    rows = {row for e in SAMPLED_EXPERTS if offsets[e] < offsets[e + 1] for row in (offsets[e], offsets[e + 1] - 1)}
    return tuple(sorted(int(row) for row in rows))


def inputs(fixture: Fixture, rng: np.random.Generator) -> Arrays:
    """Weights by format, activations by number of tokens, and the routing: nothing depends on the generator."""
    del rng
    found = route(fixture)
    return {
        "weights": weights(fixture["format"]),
        "x": tokens_x(fixture["tokens"]),
        "tokens": found.tokens,
        "offsets": found.offsets,
    }


def shared(fixture: Fixture) -> dict[str, str]:
    """Weights are those of all fixtures of the format, activations those of all with as many tokens."""
    return {"weights": fixture["format"], "x": f"{fixture['tokens']} tokens"}


def outputs(fixture: Fixture) -> dict[str, Output]:
    """Declare y [rows, 1024], of which the reference gives a few rows."""
    rows = fixture["tokens"] * CHOSEN
    return {"y": Output((rows, OUTPUTS), "float32", tolerance(fixture["format"]), 0.0, rows=sampled_rows(fixture))}


def tolerance(name: str) -> float:
    """Eight deviations of the operands' further roundings, and float32 additions in the matrix unit to a sum of at most eight deviations."""
    kind, length = FORMATS[name], np.sqrt(COLUMNS / 3)
    operand = HALF_UNIT * np.sqrt(kind.weights_rms**2 + kind.minima_rms**2 / 3) if kind.rounded else 0.0
    additions = COLUMNS // 16 * 4 * FLOAT_UNIT * DEVIATIONS * kind.weights_rms
    return float((DEVIATIONS * operand + additions) * length)


@cache
def decoded(name: str, expert: int) -> NDArray[np.float16]:
    """Weights of an expert [1024, 2048], rounded to half once.

    Raises
    ------
    ValueError
        They are larger than the tolerance allows for.
    """
    exact = FORMATS[name].decode(expert_blocks(name, expert)).reshape(OUTPUTS, COLUMNS)
    rms = float(np.sqrt(np.mean(exact.astype(np.float64) ** 2)))
    if rms > FORMATS[name].weights_rms:
        raise ValueError(
            f"{name}: weights of root mean square {rms} where the tolerance is derived for {FORMATS[name].weights_rms}"
        )
    return exact.astype(np.float16)


def reference(fixture: Fixture, inputs: Arrays) -> dict[str, NDArray[np.float64]]:
    """Products in float64 of FP16 operands, of the sampled rows."""
    offsets, rows = inputs["offsets"], sampled_rows(fixture)
    found = np.empty((len(rows), OUTPUTS))
    for at, row in enumerate(rows):
        expert = int(np.searchsorted(offsets, row, side="right")) - 1
        x = inputs["x"][inputs["tokens"][row]].astype(np.float64)
        found[at] = decoded(fixture["format"], expert).astype(np.float64) @ x
    return {"y": found}


def width(fixture: Fixture) -> int:
    """Rows of one pass: the fewest for which one pass does for nearly all experts."""
    counts = np.diff(route(fixture).offsets)
    return next((rows for rows in WIDTHS if np.mean(counts > rows) <= OVERFULL), WIDTHS[-1])


def shared_bytes(name: str, rows: int) -> int:
    """Two stages, and room for sums that warps exchange; as ``layout`` in moe_copies.cuh."""
    layout = layouts()[name]
    stage = block_outputs(name) * layout.pitch + rows * (2 * STEP + (32 if layout.split else 64))
    return 2 * stage + (WARPS * 4 * (rows // ROW_TILE) * 32 * 4 if layout.halved else 0)


def static_bytes(name: str) -> int:
    """Tables."""
    layout = layouts()[name]
    return 4 * max(layout.grid, 1) + 4 * (1 << layout.sign_bits)


def block_outputs(name: str) -> int:
    """Count the outputs of a thread block."""
    return int(32 * WARPS // (1 + layouts()[name].halved))


def entry(arm: Arm, fixture: Fixture) -> str:
    """Entry point of an arm for a format and a width; as ENTRY in moe_arms.cuh."""
    name, rows = fixture["format"].lower(), width(fixture)
    plain = "iq2_xs" if arm.symbol.startswith("moe_signs_") else "q6_k"
    return arm.symbol if (name, rows) == (plain, WIDTHS[0]) else f"{arm.symbol}_{name}_{rows}"


def kernels(arm: Arm, fixture: Fixture, buffers: Any) -> list[KernelCall]:
    """One call: a block for every 64 or 128 outputs of every expert."""
    name, rows = fixture["format"], width(fixture)
    dynamic = shared_bytes(name, rows)
    if arm.name.startswith("pad_"):
        dynamic = int(arm.name.removeprefix("pad_")) * KIB - static_bytes(name)
    elif arm.name == "union":
        dynamic -= WARPS * 4 * (rows // ROW_TILE) * 32 * 4
    launch = {
        "grid": (OUTPUTS // block_outputs(name), EXPERTS, 1),
        "block": (32 * WARPS, 1, 1),
        "shared_bytes": dynamic,
    }
    if arm.role == "floor":
        return [KernelCall(arm.symbol, (), **launch)]
    memory = tuple(buffers[buffer] for buffer in ("weights", "x", "tokens", "offsets", "y"))
    return [KernelCall(entry(arm, fixture), (*memory, np.int32(COLUMNS), np.int32(dynamic)), **launch)]


def bytes_and_flops(fixture: Fixture) -> tuple[int, int]:
    """Weights of experts that have rows, activations and routing read once, y written once; a product and a sum for each weight and row."""
    rows, found = fixture["tokens"] * CHOSEN, route(fixture)
    experts = int(np.count_nonzero(np.diff(found.offsets)))
    read = experts * OUTPUTS * row_bytes(fixture["format"]) + 2 * fixture["tokens"] * COLUMNS + 4 * (rows + EXPERTS + 1)
    return read + 4 * rows * OUTPUTS, 2 * rows * OUTPUTS * COLUMNS
