"""Twelve kernels of different kinds, the same in every arm; README.md says what each stresses and derives the one tolerance that is not 0."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reportgen.calls import Arm, Fixture, KernelCall, Output
from reportgen.philox import words

Arrays = dict[str, NDArray[Any]]

ROUNDS = 1000
PLANTED_ROUNDS = {"more_0_2": 1002, "more_0_5": 1005, "more_1": 1010, "more_3": 1030, "doubled": 2000}
MULTIPROCESSORS = 132
CHAINS = MULTIPROCESSORS * 128  # threads of the three chained kernels: one block of four warps a multiprocessor

STREAM = 3 << 17  # sums, each of 64 values: 96 MiB in all
RESIDENT, SHIFT, TURNS = 1 << 17, 37 * 256, 4  # threads of eight vectors: 16 MiB
GATHERS, TABLE = 1 << 17, 1 << 22  # threads of eight places; elements of 16 bytes: 64 MiB
TALL, WIDE = 2048, 1024
PARTIALS, SCALED = 512, 1 << 16
KEYS, BINS = 1 << 20, 4096
ROWS, COLUMNS = 1024, 1024
DOT_ROWS, DOT_COLUMNS, VECTORS = 4096, 4096, 4

EXACT = 0.0
SOFTMAX_RELATIVE = 4e-6  # README.md, "Tolerances"


@dataclass(frozen=True)
class Kind:
    """One kernel: what it reads, what it writes, and what is right.

    ``calls`` holds (suffix of the symbol, arguments, grid, block) of each kernel in order; an argument is a buffer's name, a number, or
    ``rounds``. ``launches`` are the executions of a graph, for 0.3 to 0.5 ms of it on an H200.
    """

    inputs: Callable[[int], Arrays]
    outputs: dict[str, Output]
    reference: Callable[[Arrays], Arrays]
    calls: list[tuple[str, tuple[Any, ...], tuple[int, int], int]]
    launches: int
    bytes: int
    flops: int = 0
    scratch: dict[str, Output] | None = None


def whole(seed: int, stream: int, count: int, bits: int) -> NDArray[np.int32]:
    """Draw whole numbers in [-2**(bits - 1), 2**(bits - 1)): the upper bits of words ``stream`` of the seed, as signed."""
    return words(seed, stream, 0, count).view(np.int32) >> np.int32(32 - bits)


def binary(seed: int, stream: int, count: int, bits: int, scale: int) -> NDArray[np.float32]:
    """Whole numbers divided by a power of two: sums of few enough are exact in float32 in any order."""
    return whole(seed, stream, count, bits).astype(np.float32) / np.float32(scale)


def _vectors(values: NDArray[Any]) -> NDArray[np.float64]:
    """Sum the four values of every vector."""
    sums: NDArray[np.float64] = values.reshape(-1, 4).sum(axis=1, dtype=np.float64)
    return sums


def _resident_reference(given: Arrays) -> Arrays:
    columns = _vectors(given["x"]).reshape(8, RESIDENT).sum(axis=0)
    return {"y": sum(np.roll(columns, -turn * SHIFT) for turn in range(TURNS))}


def _gather_reference(given: Arrays) -> Arrays:
    elements = _vectors(given["table"])
    return {"y": elements[given["places"]].reshape(8, GATHERS).sum(axis=0)}


def _steps(seed: int) -> NDArray[np.float32]:
    """Factors 2, -1, 1/2, -1 and terms c0 to c3 with which four steps change nothing."""
    first, second, third = binary(seed, 2, 3, 11, 512)
    return np.array([2, -1, 0.5, -1, first, second, third, (second - first) / 2 + third], np.float32)


def _fragments(seed: int, stream: int, rows: int, depth: int) -> NDArray[np.uint32]:
    """Halves in [-8, 8), whole numbers, two a word."""
    return whole(seed, stream, rows * depth, 4).astype(np.float16).view(np.uint32).reshape(rows, depth // 2)


def halves(packed: NDArray[np.uint32]) -> NDArray[np.float64]:
    """Unpack words of two halves along the last axis."""
    return packed.view(np.float16).astype(np.float64)


def _tensor_reference(given: Arrays) -> Arrays:
    product = halves(given["a"]) @ halves(given["b"])[:8].T
    return {"y": (given["c"].reshape(-1, 16, 8) + product).reshape(-1)}


def _shuffle_reference(given: Arrays) -> Arrays:
    quads = given["x"].astype(np.float64).reshape(-1, 4)
    means = quads.mean(axis=1).repeat(4).reshape(-1, 128)
    return {"y": (means + means.sum(axis=1, keepdims=True)).reshape(-1)}


def _multi_reference(given: Arrays) -> Arrays:
    values = given["x"].astype(np.float64)
    # In units of 2**-7 no float32 sum of the partials, in whatever order, reaches 2**24: all are exact.
    partials = _vectors(values).reshape(8, PARTIALS, 256).sum(axis=(0, 2)) * 128
    if np.abs(partials).sum() >= 2**24:
        raise ValueError("the partial sums are too large to be exact; draw with another seed")
    return {"y": values[:SCALED] * values.sum()}


def _softmax_reference(given: Arrays) -> Arrays:
    x = given["x"].astype(np.float64).reshape(ROWS, COLUMNS)
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return {"y": (powers / powers.sum(axis=1, keepdims=True)).reshape(-1)}


def _dot_reference(given: Arrays) -> Arrays:
    weights = given["weights"].astype(np.float64).reshape(DOT_ROWS, DOT_COLUMNS)
    return {"y": (weights @ given["x"].astype(np.float64).reshape(VECTORS, DOT_COLUMNS).T).reshape(-1)}


def _tiny_reference(given: Arrays) -> Arrays:
    sums = _vectors(given["x"])
    return {"y": sums + sums.sum()}


def _output(count: int, dtype: str = "int32", relative: float = EXACT) -> dict[str, Output]:
    return {"y": Output((count,), dtype, absolute=0.0, relative=relative)}


def _scratch(count: int, dtype: str) -> Output:
    return Output((count,), dtype, absolute=0.0, relative=0.0)


KINDS = {
    "stream": Kind(
        inputs=lambda seed: {"x": binary(seed, 1, 64 * STREAM, 11, 1024)},
        outputs=_output(STREAM, "float32"),
        reference=lambda given: {"y": _vectors(given["x"]).reshape(16, STREAM).sum(axis=0)},
        calls=[("stream", ("x", "y", STREAM), (STREAM // 256, 1), 256)],
        launches=16,
        bytes=4 * 65 * STREAM,
        flops=63 * STREAM,
    ),
    "l2_resident": Kind(
        inputs=lambda seed: {"x": binary(seed, 1, 32 * RESIDENT, 11, 1024)},
        outputs=_output(RESIDENT, "float32"),
        reference=_resident_reference,
        calls=[("l2_resident", ("x", "y", RESIDENT, SHIFT), (RESIDENT // 256, 1), 256)],
        launches=32,
        bytes=4 * 33 * RESIDENT,
        flops=(32 * TURNS - 1) * RESIDENT,
    ),
    "gather": Kind(
        inputs=lambda seed: {
            "table": whole(seed, 1, 4 * TABLE, 20),
            "places": (words(seed, 2, 0, 8 * GATHERS) % np.uint32(TABLE)).astype(np.int32),
        },
        outputs=_output(GATHERS),
        reference=_gather_reference,
        calls=[("gather", ("table", "places", "y", GATHERS), (GATHERS // 256, 1), 256)],
        launches=24,
        bytes=(8 * 20 + 4) * GATHERS,
    ),
    "shuffle": Kind(
        inputs=lambda seed: {"x": whole(seed, 1, CHAINS, 16) * np.int32(4)},
        outputs=_output(CHAINS),
        reference=_shuffle_reference,
        calls=[("shuffle", ("x", "y", "rounds"), (MULTIPROCESSORS, 1), 128)],
        launches=12,
        bytes=8 * CHAINS,
    ),
    "transpose": Kind(
        inputs=lambda seed: {"x": binary(seed, 1, TALL * WIDE, 24, 1024)},
        outputs=_output(TALL * WIDE, "float32"),
        reference=lambda given: {"y": given["x"].astype(np.float64).reshape(TALL, WIDE).T.reshape(-1)},
        calls=[("transpose", ("x", "y", TALL, WIDE), (WIDE // 32, TALL // 32), 256)],
        launches=80,
        bytes=8 * TALL * WIDE,
    ),
    "fp32": Kind(
        inputs=lambda seed: {"x": binary(seed, 1, CHAINS, 11, 512), "steps": _steps(seed)},
        outputs=_output(CHAINS, "float32"),
        reference=lambda given: {"y": 2 * given["x"].astype(np.float64) + given["steps"][4]},
        calls=[("fp32", ("x", "steps", "y", "rounds"), (MULTIPROCESSORS, 1), 128)],
        launches=12,
        bytes=8 * CHAINS + 32,
        flops=2 * (16 * ROUNDS + 1) * CHAINS,
    ),
    "tensor": Kind(
        inputs=lambda seed: {
            "a": _fragments(seed, 1, 16, 16),
            "b": _fragments(seed, 2, 16, 16),
            "c": binary(seed, 3, 4 * CHAINS, 11, 1),
        },
        outputs=_output(4 * CHAINS, "float32"),
        reference=_tensor_reference,
        calls=[("tensor", ("a", "b", "c", "y", "rounds"), (MULTIPROCESSORS, 1), 128)],
        launches=8,
        bytes=32 * CHAINS + 1024,
        flops=2 * 16 * 8 * 16 * (4 * ROUNDS + 1) * CHAINS // 32,
    ),
    "multi_kernel": Kind(
        inputs=lambda seed: {"x": binary(seed, 1, 32 * 256 * PARTIALS, 8, 128)},
        outputs=_output(SCALED, "float32", relative=2.0**-24),
        scratch={"partials": _scratch(PARTIALS, "float32"), "total": _scratch(1, "float32")},
        reference=_multi_reference,
        calls=[
            ("multi_partials", ("x", "partials"), (PARTIALS, 1), 256),
            ("multi_combine", ("partials", "total"), (1, 1), PARTIALS),
            ("multi_scale", ("x", "total", "y"), (SCALED // 1024, 1), 256),
        ],
        launches=48,
        bytes=4 * (32 * 256 * PARTIALS + 2 * SCALED),
        flops=32 * 256 * PARTIALS + SCALED,
    ),
    "atomics": Kind(
        inputs=lambda seed: {"keys": (words(seed, 1, 0, KEYS) % np.uint32(BINS)).astype(np.int32)},
        outputs=_output(BINS),
        reference=lambda given: {"y": np.bincount(given["keys"], minlength=BINS).astype(np.float64)},
        calls=[
            ("atomics_clear", ("y",), (BINS // 256, 1), 256),
            ("atomics", ("keys", "y"), (KEYS // 1024, 1), 256),
        ],
        launches=40,
        bytes=4 * (KEYS + BINS),
    ),
    "tiny": Kind(
        inputs=lambda seed: {"x": whole(seed, 1, 1024, 16)},
        outputs=_output(256),
        reference=_tiny_reference,
        calls=[("", ("x", "y"), (1, 1), 256)],
        launches=240,
        bytes=4 * (1024 + 256),
    ),
    "softmax": Kind(
        inputs=lambda seed: {"x": binary(seed, 1, ROWS * COLUMNS, 11, 256)},
        outputs=_output(ROWS * COLUMNS, "float32", relative=SOFTMAX_RELATIVE),
        reference=_softmax_reference,
        calls=[("softmax", ("x", "y"), (ROWS, 1), 256)],
        launches=80,
        bytes=8 * ROWS * COLUMNS,
        flops=5 * ROWS * COLUMNS,
    ),
    "int8_dot": Kind(
        inputs=lambda seed: {
            "weights": words(seed, 1, 0, DOT_ROWS * DOT_COLUMNS // 4).view(np.int8),
            "x": words(seed, 2, 0, VECTORS * DOT_COLUMNS // 4).view(np.int8),
        },
        outputs=_output(DOT_ROWS * VECTORS),
        reference=_dot_reference,
        calls=[("int8_dot", ("weights", "x", "y"), (DOT_ROWS // 8, 1), 256)],
        launches=60,
        bytes=DOT_ROWS * DOT_COLUMNS + VECTORS * DOT_COLUMNS + 4 * DOT_ROWS * VECTORS,
    ),
}


def inputs(fixture: Fixture, rng: np.random.Generator) -> Arrays:
    """Draw by place under the fixture's seed: nothing depends on the generator's state."""
    del rng
    return KINDS[fixture["kernel"]].inputs(fixture.seed)


def outputs(fixture: Fixture) -> dict[str, Output]:
    """All exact but the rounded products of ``multi_kernel`` and ``softmax``."""
    return KINDS[fixture["kernel"]].outputs


def scratch(fixture: Fixture) -> dict[str, Output]:
    """Name what the three kernels of one operation hand on."""
    return KINDS[fixture["kernel"]].scratch or {}


def launches(fixture: Fixture) -> int:
    """Count the executions of a graph: 0.3 to 0.5 ms of each kernel, so that neither the host nor the lead-in costs much."""
    return KINDS[fixture["kernel"]].launches


def reference(fixture: Fixture, inputs: Arrays) -> Arrays:
    """Formulas in float64 that follow no kernel's order."""
    return KINDS[fixture["kernel"]].reference(inputs)


def kernels(arm: Arm, fixture: Fixture, buffers: dict[str, Any]) -> list[KernelCall]:
    """List the same calls in every arm but for the number of rounds of planted arms; the floor launches nothing on the same grids."""
    rounds = PLANTED_ROUNDS.get(arm.name, ROUNDS)
    calls = []
    for suffix, names, (across, down), threads in KINDS[fixture["kernel"]].calls:
        args = tuple(np.int32(rounds) if name == "rounds" else _argument(name, buffers) for name in names)
        symbol = f"{arm.symbol}_{suffix}" if suffix else arm.symbol
        if arm.role == "floor":
            symbol, args = arm.symbol, ()
        calls.append(KernelCall(symbol, args, (across, down, 1), (threads, 1, 1)))
    return calls


def _argument(name: str | int, buffers: dict[str, Any]) -> Any:
    return buffers[name] if isinstance(name, str) else np.int32(name)


def bytes_and_flops(fixture: Fixture) -> tuple[int, int]:
    """Distinct bytes read and written once; floating-point operations (a comparison, an exponential and a division count one each)."""
    kind = KINDS[fixture["kernel"]]
    return kind.bytes, kind.flops
