"""Grouped gate/up product over weights in twelve block formats: inputs, float64 reference, kernel calls and a peer.

Rows are sorted by expert; y[row, 1024] = x[token of the row] . W[expert of the row], 512 gate and 512 up outputs. Tolerances are derived in README.md.
"""

import importlib.util
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reportgen.calls import Arm, Fixture, KernelCall, Output
from reportgen.philox import uniform, words

EXPERTS, CHOSEN, COLUMNS, OUTPUTS = 512, 10, 2048, 1024
STEP, ROW_TILE, WARPS, WIDTHS = 256, 8, 4, (24, 32, 40, 56)
OVERFULL = 0.06  # share of experts whose rows may take a second pass
POOL_EXPERTS, POOL_STEP = 8, 977
SAMPLED_EXPERTS = (0, 137, 298, 511)
WEIGHTS_SEED, TOKENS_SEED, ROUTING_SEED = 20261201, 20261202, 20261203
FLOAT_UNIT, HALF_UNIT, DEVIATIONS = 2.0**-24, 2.0**-11, 8
BF16_UNIT = 2.0**-9
KIB = 1024

Arrays = dict[str, NDArray[Any]]
Bytes = NDArray[np.uint8]
Floats = NDArray[np.float32]


class Layout(NamedTuple):
    """What the kernels' headers say of a format."""

    values: int
    bytes: int
    pitch: int
    split: int
    halved: int
    grid: int
    sign_bits: int


def sibling(name: str) -> ModuleType:
    """Load a Python file beside this one; ``compile.headers`` names it, so that the plan covers it."""
    spec = importlib.util.spec_from_file_location(f"moe_gate_up_{name}", Path(__file__).with_name(f"{name}.py"))
    if spec is None or spec.loader is None:
        raise ImportError(f"{name}.py cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FORMATS = sibling("decoders").FORMATS


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


def call(arm: Arm, fixture: Fixture, buffers: dict[str, Any], stream: int) -> Callable[[], dict[str, Any]]:
    """Prepare a grouped product in bf16: weights decoded and activations gathered beforehand, which takes other bytes and no decoding."""
    import torch  # noqa: PLC0415 - the peer's own process alone loads it

    del arm, stream
    across = decoded_bf16(fixture["format"], buffers["weights"]).transpose(1, 2)
    tokens, ends = (torch.as_tensor(buffers[key], device="cuda") for key in ("tokens", "offsets"))
    x = torch.as_tensor(buffers["x"], device="cuda")[tokens.long()].bfloat16()
    ends = ends[1:].contiguous()
    return lambda: {"y": torch.nn.functional.grouped_mm(x, across, offs=ends)}


BF16_WEIGHTS: dict[str, Any] = {}


def decoded_bf16(name: str, packed: Any) -> Any:
    """Weights [512, 1024, 2048] on the GPU; fixtures of one format share them as they share what they are decoded from."""
    import torch  # noqa: PLC0415 - the peer's own process alone loads it

    if name not in BF16_WEIGHTS:
        made = torch.empty((EXPERTS, OUTPUTS, COLUMNS), dtype=torch.bfloat16, device="cuda")
        for expert in range(EXPERTS):
            blocks = packed[expert].reshape(-1, layouts()[name].bytes)
            made[expert] = torch.as_tensor(FORMATS[name].decode(blocks).reshape(OUTPUTS, COLUMNS), device="cuda")
        BF16_WEIGHTS[name] = made
    return BF16_WEIGHTS[name]


def peer_outputs(arm: Arm, fixture: Fixture) -> dict[str, Output]:
    """Operands in bf16 err by 2^-9 at most, as does the rounded result."""
    del arm
    own = outputs(fixture)["y"]
    spread = DEVIATIONS * FORMATS[fixture["format"]].weights_rms * np.sqrt(COLUMNS / 3)
    return {"y": replace(own, absolute=own.absolute + float(spread) * BF16_UNIT, relative=BF16_UNIT)}
