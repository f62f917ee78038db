"""Two tokens over the Q6_K experts that they name, on one core: inputs, float64 reference and kernel calls.

A Q6_K block holds 256 weights in 210 bytes: ``ql`` u8[128] at 0, ``qh`` u8[64] at 128, ``scales`` int8[16] at 192, ``d`` f16 at 208.
A row of 512 weights is two blocks. The kernels need AVX2, F16C and FMA. The tolerance is derived in README.md.
"""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reportgen.calls import Arm, Buffer, Fixture, KernelCall, Output
from reportgen.philox import words

BLOCK_BYTES, BLOCKS, COLUMNS, GROUPS = 210, 2, 512, 32
GROUP_VALUES, RUN_VALUES = 16, 32
ROW_BYTES = BLOCKS * BLOCK_BYTES
ROWS = {"l2": 32, "beyond_l2": 2048}
TOKENS, TOP = 2, 8
SLOTS = TOKENS * TOP
CUT = (1, 2)
X_BLOCK = np.dtype([("codes", "i1", 256), ("offsets", "<i2", 16), ("scales", "<f4", 8), ("spread", "<f4", (4, 8))])
SEED, X_STREAM = 20261129, 3
WEIGHTS_STREAM = {"l2": 1, "beyond_l2": 2}
MOST_MAGNITUDE = 64.0
ROUNDINGS = 10
FLOAT_UNIT = 2.0**-24
INSTRUCTIONS = ("avx2", "f16c", "fma")

Arrays = dict[str, NDArray[Any]]


def unique(fixture: Fixture) -> int:
    """Experts that the tokens name before a tail is cut: those of both count once."""
    return int(SLOTS - fixture["overlap"])


def inputs(fixture: Fixture, rng: np.random.Generator) -> Arrays:
    """Give the experts and activations of all fixtures of a place, and the fixture's own IDs."""
    return {"weights": experts(fixture["weights"]), "ids": ids(fixture, rng), "x": arranged()}


def shared(fixture: Fixture) -> dict[str, str]:
    """Let the fixtures of a place hold one tensor, and all fixtures the same activations."""
    return {"weights": fixture["weights"], "x": "activations"}


def ids(fixture: Fixture, rng: np.random.Generator) -> NDArray[np.int32]:
    """Experts [token, 8]: ``overlap`` of the first token's stand among the second's, at drawn places; -1 in a cut tail."""
    drawn = rng.permutation(SLOTS)[: unique(fixture)].astype(np.int32)
    common = rng.choice(drawn[:TOP], fixture["overlap"], replace=False)
    chosen = np.stack([drawn[:TOP], rng.permutation(np.concatenate([common, drawn[TOP:]]))])
    if fixture["tail"] == "cut":
        for token, cut in enumerate(CUT):
            chosen[token, TOP - cut :] = -1
    return chosen


@cache
def experts(place: str) -> NDArray[np.uint8]:
    """16 experts of a place: bytes drawn by their place, with 2^-14 <= |d| < 2^-13, so that weights lie within (-1/2, 1/2)."""
    drawn = words(SEED, WEIGHTS_STREAM[place], 0, SLOTS * ROWS[place] * ROW_BYTES // 4)
    blocks = drawn.astype("<u4").view(np.uint8).reshape(-1, BLOCK_BYTES)
    d = blocks[:, 208:].copy().view("<u2")
    blocks[:, 208:] = (d & 0x83FF | 0x0400).view(np.uint8)
    return blocks.reshape(-1)


@cache
def activations() -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Codes [16, 512] within 127 and scales [16, 16] in [2^-8, 2^-7), f16 widened: a row for each token and slot."""
    drawn = words(SEED, X_STREAM, 0, SLOTS * (COLUMNS + COLUMNS // RUN_VALUES))
    codes = (drawn[: SLOTS * COLUMNS] % 255).astype(np.int16) - 127
    scales = (drawn[SLOTS * COLUMNS :] & 0x03FF | 0x1C00).astype("<u2").view("<f2")
    return codes.astype(np.int8).reshape(SLOTS, COLUMNS), scales.astype(np.float32).reshape(SLOTS, -1)


@cache
def arranged() -> NDArray[np.uint8]:
    """Activations as the kernels take them: ``x_block`` of q6k_pair.h, two a slot.

    A block's 256 codes are 2 halves x 4 runs x 2 groups x 16; a vector has one group of a run of either half.
    """
    codes, scales = activations()
    by_group = codes.reshape(SLOTS, BLOCKS, 2, 4, 2, GROUP_VALUES)
    by_run = scales.reshape(SLOTS, BLOCKS, 2, 4)
    x = np.empty((SLOTS, BLOCKS), X_BLOCK)
    x["codes"] = by_group.transpose(0, 1, 3, 4, 2, 5).reshape(SLOTS, BLOCKS, -1)
    x["offsets"] = -by_group.sum(-1, dtype=np.int16).reshape(SLOTS, BLOCKS, -1)
    x["scales"] = by_run.reshape(SLOTS, BLOCKS, -1)
    x["spread"] = by_run.transpose(0, 1, 3, 2).repeat(4, axis=-1)
    return x.reshape(-1).view(np.uint8)


def outputs(fixture: Fixture) -> dict[str, Output]:
    """One float32 a row, token and slot, within the worst case of float32 rounding."""
    bound = ROUNDINGS * FLOAT_UNIT / (1 - ROUNDINGS * FLOAT_UNIT)
    shape = (TOKENS, TOP, ROWS[fixture["weights"]])
    return {"y": Output(shape, "float32", absolute=bound * MOST_MAGNITUDE, relative=0.0)}


def decode(blocks: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Codes 0 .. 63 [block, 256] of Q6_K blocks [block, 210], and the factor [block, 16] of each 16 of them; exact."""
    low, high = blocks[:, :128].reshape(-1, 2, 2, 32), blocks[:, 128:192].reshape(-1, 2, 1, 32)
    nibbles = np.stack([low & 15, low >> 4], axis=2).reshape(-1, 2, 4, 32)
    pairs = high >> np.array([0, 2, 4, 6], np.uint8)[:, None] & 3
    scales = np.ascontiguousarray(blocks[:, 192:208]).view(np.int8)
    d = np.ascontiguousarray(blocks[:, 208:]).view("<f2").astype(np.float64)
    return (nibbles | pairs << 4).reshape(-1, 256), d * scales


@cache
def products(place: str) -> NDArray[np.float64]:
    """Every expert times every slot's activations, [expert, slot, row]: what any routing is made of."""
    whole = experts(place).reshape(SLOTS, -1, BLOCK_BYTES)
    return np.stack([product(blocks) for blocks in whole])


def product(blocks: NDArray[np.uint8]) -> NDArray[np.float64]:
    """One expert times all activations: [slot, row].

    Raises
    ------
    ValueError
        Terms sum to more than the tolerance is derived for.
    """
    codes, scales = activations()
    x = (codes * scales.astype(np.float64).repeat(RUN_VALUES, axis=1)).reshape(SLOTS, GROUPS, GROUP_VALUES)
    unsigned, factors = decode(blocks)
    by_group = unsigned.reshape(-1, GROUPS, GROUP_VALUES).transpose(1, 0, 2).astype(np.float64)
    factors = factors.reshape(-1, GROUPS).T[:, None, :]
    positive = np.matmul(x.transpose(1, 0, 2), by_group.transpose(0, 2, 1)) * factors
    offset = 32 * x.sum(-1).T[:, :, None] * factors
    magnitude = quarter_magnitude(x, by_group, factors) + np.abs(offset).sum(axis=0)
    if magnitude.max() > MOST_MAGNITUDE:
        raise ValueError(f"terms sum to {magnitude.max():.4g}, more than the tolerance is derived for")
    result: NDArray[np.float64] = (positive - offset).sum(axis=0)
    return result


def quarter_magnitude(
    x: NDArray[np.float64], codes: NDArray[np.float64], factors: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Bound the sum of |terms| of the lanes, [slot, row]: a lane sums four products of each group."""
    total = np.zeros((SLOTS, codes.shape[1]))
    for first in range(0, GROUP_VALUES, 4):
        lanes = np.matmul(
            x[:, :, first : first + 4].transpose(1, 0, 2), codes[:, :, first : first + 4].transpose(0, 2, 1)
        )
        total += np.abs(lanes * factors).sum(axis=0)
    return total


def reference(fixture: Fixture, inputs: Arrays) -> dict[str, NDArray[np.float64]]:
    """Float64 products of the experts that are named with the same quantised activations; zero where none is."""
    every = products(fixture["weights"])
    named = inputs["ids"].reshape(-1)
    y = np.zeros((SLOTS, ROWS[fixture["weights"]]))
    for slot in np.flatnonzero(named >= 0):
        y[slot] = every[named[slot], slot]
    return {"y": y.reshape(TOKENS, TOP, -1)}


def kernels(arm: Arm, fixture: Fixture, buffers: Any) -> list[KernelCall]:  # noqa: ARG001 - the interface passes them
    """One call; the arguments in the order of ``pair_task``."""
    require_instructions()
    memory = (Buffer("weights"), Buffer("ids"), Buffer("x"), Buffer("y"))
    return [KernelCall(arm.symbol, (*memory, ROWS[fixture["weights"]]))]


@cache
def require_instructions(listed: Path = Path("/proc/cpuinfo")) -> None:
    """Refuse a processor that says which instructions it has, and lacks some that the kernels use.

    Raises
    ------
    ValueError
        Names what is missing.
    """
    if not listed.exists():
        return
    flags = next((line for line in listed.read_text().splitlines() if line.startswith("flags")), "").split()
    missing = [name for name in INSTRUCTIONS if name not in flags]
    if missing:
        raise ValueError(f"q6k_pair needs a processor with {', '.join(missing)}")


def bytes_and_flops(fixture: Fixture) -> tuple[int, int]:
    """Experts and activations read once and outputs written once; two operations for each weight and slot that names it."""
    named = SLOTS - (sum(CUT) if fixture["tail"] == "cut" else 0)
    rows = ROWS[fixture["weights"]]
    read = unique(fixture) * rows * ROW_BYTES + SLOTS * (4 + BLOCKS * X_BLOCK.itemsize)
    return read + SLOTS * rows * 4, 2 * named * rows * COLUMNS
