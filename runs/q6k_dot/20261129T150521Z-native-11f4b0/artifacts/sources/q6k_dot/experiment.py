"""Row dot products of a Q6_K matrix: inputs, float64 reference and kernel calls.

A Q6_K block holds 256 weights in 210 bytes: ``ql`` u8[128] at 0, ``qh`` u8[64] at 128, ``scales`` int8[16] at 192,
``d`` f16 at 208. The activations are int8 in runs of 32 with one scale each, an f16 value widened to float32.
The derivation of the tolerance is in README.md.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reportgen.calls import Arm, Buffer, Fixture, KernelCall, Output

BLOCK_VALUES = 256
BLOCK_BYTES = 210
RUN_VALUES = 32
RUNS = BLOCK_VALUES // RUN_VALUES
TOTAL_BLOCKS = {"l2": 1024, "beyond_l2": 16384}
REFERENCE_CHUNK_VALUES = 1 << 20

Arrays = dict[str, NDArray[Any]]


def shape(fixture: Fixture) -> tuple[int, int]:
    """Rows, and Q6_K blocks in a row: every value of ``weights`` is one number of bytes, whatever the row length."""
    blocks = fixture["columns"] // BLOCK_VALUES
    return TOTAL_BLOCKS[fixture["weights"]] // blocks, blocks


def inputs(fixture: Fixture, rng: np.random.Generator) -> Arrays:
    """Random blocks whose weights lie within (-1, 1), and quantised activations within [-1, 1]."""
    rows, blocks = shape(fixture)
    weights = rng.integers(0, 256, (rows * blocks, BLOCK_BYTES), dtype=np.uint8)
    # 2^-13 <= |d| < 2^-12, so |d * scale * code| < 2^-12 * 128 * 32 = 1; random bytes would give NaN and infinity.
    bits = rng.integers(0x0800, 0x0C00, rows * blocks) | rng.integers(0, 2, rows * blocks) << 15
    weights[:, 208:] = bits.astype("<u2").view(np.uint8).reshape(-1, 2)
    activations, run_scales = quantise(rng.uniform(-1.0, 1.0, fixture["columns"]))
    return {"weights": weights.reshape(-1), "activations": activations, "run_scales": run_scales}


def quantise(values: NDArray[np.float64]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Write runs of 32 as int8 times an f16 scale that maps the largest magnitude to 127."""
    runs = values.reshape(-1, RUN_VALUES)
    scales = (np.abs(runs).max(axis=1) / 127).astype(np.float16).astype(np.float32)
    codes = np.clip(np.rint(runs / scales[:, None]), -127, 127)
    return codes.astype(np.int8).reshape(-1), scales


def outputs(fixture: Fixture) -> dict[str, Output]:
    """One float32 a row, within the worst case of float32 rounding."""
    rows, blocks = shape(fixture)
    roundings = (blocks + 8) * 2.0**-24
    absolute = roundings / (1 - roundings) * most_magnitude(fixture)
    return {"y": Output((rows,), "float32", absolute=absolute, relative=0.0)}


def most_magnitude(fixture: Fixture) -> float:
    """Upper bound of a row's sum of |terms|, one term a run of 32; :func:`reference` refuses inputs beyond it."""
    return float(fixture["columns"]) / 16


def decode(blocks: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Values ``[n, 256]`` of Q6_K blocks ``[n, 210]``, one index at a time as the format defines them; exact."""
    half, within = np.divmod(np.arange(BLOCK_VALUES), BLOCK_VALUES // 2)
    run, lane = np.divmod(within, RUN_VALUES)
    low = blocks[:, 64 * half + 32 * (run & 1) + lane] >> (4 * (run >> 1)).astype(np.uint8) & 15
    high = blocks[:, 128 + 32 * half + lane] >> (2 * run).astype(np.uint8) & 3
    codes = (low | high << 4).astype(np.float64) - 32
    scales = blocks[:, 192:208].view(np.int8).astype(np.float64).repeat(16, axis=1)
    d = blocks[:, 208:].copy().view("<f2").astype(np.float64)
    return d * scales * codes


def reference(fixture: Fixture, inputs: Arrays) -> dict[str, NDArray[np.float64]]:
    """Float64 dot products of the decoded weights with the same quantised activations.

    Raises
    ------
    ValueError
        A row's terms sum to more than the tolerance allows for.
    """
    rows, blocks = shape(fixture)
    scales = inputs["run_scales"].astype(np.float64).repeat(RUN_VALUES)
    x = (inputs["activations"] * scales).reshape(blocks * RUNS, RUN_VALUES)
    matrix = inputs["weights"].reshape(rows, blocks, BLOCK_BYTES)
    step = max(1, REFERENCE_CHUNK_VALUES // fixture["columns"])
    y = np.empty(rows)
    for first in range(0, rows, step):
        chunk = matrix[first : first + step]
        values = decode(chunk.reshape(-1, BLOCK_BYTES)).reshape(len(chunk), blocks * RUNS, RUN_VALUES)
        terms = np.einsum("rgi,gi->rg", values, x)
        if np.abs(terms).sum(axis=1).max() > most_magnitude(fixture):
            raise ValueError(f"{fixture.name}: a row's terms sum to more than the tolerance is derived for")
        y[first : first + step] = terms.sum(axis=1)
    return {"y": y}


def kernels(arm: Arm, fixture: Fixture, buffers: Any) -> list[KernelCall]:  # noqa: ARG001 - the interface passes them
    """One call; the arguments in the order of ``q6k_task``."""
    rows, blocks = shape(fixture)
    memory = (Buffer("weights"), Buffer("activations"), Buffer("run_scales"), Buffer("y"))
    return [KernelCall(arm.symbol, (*memory, rows, blocks))]


def bytes_and_flops(fixture: Fixture) -> tuple[int, int]:
    """Bytes read and written once, and two operations a weight."""
    rows, blocks = shape(fixture)
    columns = fixture["columns"]
    return rows * blocks * BLOCK_BYTES + columns + 4 * (columns // RUN_VALUES) + 4 * rows, 2 * rows * columns
