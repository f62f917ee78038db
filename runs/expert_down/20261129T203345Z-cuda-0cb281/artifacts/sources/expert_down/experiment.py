"""Two-token expert down projection over Q6_K weights: inputs, float64 reference, kernel calls and peers.

A Q6_K block holds 256 weights in 210 bytes: ``ql`` u8[128] at 0, ``qh`` u8[64] at 128, ``scales`` int8[16] at 192, ``d`` f16 at 208.
A row of 512 weights is two blocks, an expert 2,048 rows. The tolerance is derived in README.md.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reportgen.calls import Arm, Fixture, KernelCall, Output, Step
from reportgen.philox import words

BLOCK_VALUES, BLOCK_BYTES, GROUP_VALUES, X_BLOCK_VALUES = 256, 210, 16, 32
ROWS, COLUMNS = 2048, 512
EXPERT_BLOCKS = ROWS * COLUMNS // BLOCK_VALUES
EXPERT_BYTES = EXPERT_BLOCKS * BLOCK_BYTES
ROW_BYTES = EXPERT_BYTES // ROWS
PROCESSORS, TILE_ROWS = 132, 16
EXPERTS = 256
TOKENS, TOP = 2, 8
SLOTS = TOKENS * TOP
STRIDES = {"packed": (TOP, COLUMNS, COLUMNS // X_BLOCK_VALUES), "padded": (11, COLUMNS + 48, 19)}
CUT = (1, 2)
L2_BYTES = 60 << 20
WEIGHTS_SEED, WEIGHTS_STREAM, X_STREAM = 20261129, 1, 2
MOST_MAGNITUDE, MOST_SPREAD = 16.0, 2.5
ROUNDINGS = 8
FLOAT_UNIT = 2.0**-24
BFLOAT_UNIT = 2.0**-8

Arrays = dict[str, NDArray[Any]]


def unique(fixture: Fixture) -> int:
    """Experts of one selection before a tail is cut: those of both tokens count once."""
    return int(SLOTS - fixture["overlap"])


def steps(fixture: Fixture) -> int:
    """Count the selections that a graph walks through. Rotating: they read three times the second-level cache, no expert twice."""
    return 1 if fixture["cache"] != "rotating" else -(-3 * L2_BYTES // (unique(fixture) * EXPERT_BYTES))


def inputs(fixture: Fixture, rng: np.random.Generator) -> Arrays:
    """Give one tensor of all experts and activations, the same for all fixtures, and the fixture's own IDs."""
    of_ids, of_x, of_dx = STRIDES[fixture["strides"]]
    codes, scales = activations()
    return {
        "weights": tensor(),
        "ids": padded(ids(fixture, rng), of_ids, rng.integers(0, EXPERTS, of_ids)),
        "x": padded(codes, of_x, rng.integers(-127, 128, of_x)),
        "dx": padded(scales, of_dx, rng.uniform(1, 2, of_dx)),
    }


def shared(fixture: Fixture) -> dict[str, str]:  # noqa: ARG001 - all fixtures
    """Let all fixtures hold one tensor."""
    return {"weights": "experts"}


def padded(rows: NDArray[Any], stride: int, between: NDArray[Any]) -> NDArray[Any]:
    """Rows ``stride`` apart, with values ``between`` them that no kernel may use."""
    spread = np.broadcast_to(between.astype(rows.dtype), (*rows.shape[:-1], stride)).copy()
    spread[..., : rows.shape[-1]] = rows
    return spread


def ids(fixture: Fixture, rng: np.random.Generator) -> NDArray[np.int32]:
    """Experts [selection, token, 8]: ``overlap`` of the first token's stand among the second's, at drawn places; no expert in two selections."""
    order = rng.permutation(EXPERTS).astype(np.int32)
    chosen = np.empty((steps(fixture), TOKENS, TOP), np.int32)
    for own, drawn in zip(
        chosen, order.reshape(-1)[: chosen.shape[0] * unique(fixture)].reshape(-1, unique(fixture)), strict=True
    ):
        common = rng.choice(drawn[:TOP], fixture["overlap"], replace=False)
        own[:] = drawn[:TOP], rng.permutation(np.concatenate([common, drawn[TOP:]]))
    if fixture["tail"] == "cut":
        for token, cut in enumerate(CUT):
            chosen[:, token, TOP - cut :] = -1
    return chosen


@cache
def tensor() -> NDArray[np.uint8]:
    """All experts: bytes drawn by their place, with 2^-14 <= |d| < 2^-13, so that weights lie within (-1/2, 1/2)."""
    drawn = words(WEIGHTS_SEED, WEIGHTS_STREAM, 0, EXPERTS * EXPERT_BYTES // 4)
    blocks = drawn.astype("<u4").view(np.uint8).reshape(-1, BLOCK_BYTES)
    d = blocks[:, 208:].copy().view("<u2")
    blocks[:, 208:] = (d & 0x83FF | 0x0400).view(np.uint8)
    return blocks.reshape(-1)


@cache
def activations() -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """Codes [16, 512] within 127 and scales [16, 16] in [2^-8, 2^-7), a row for each token and slot."""
    drawn = words(WEIGHTS_SEED, X_STREAM, 0, SLOTS * (COLUMNS + COLUMNS // X_BLOCK_VALUES))
    codes = (drawn[: SLOTS * COLUMNS] % 255).astype(np.int16) - 127
    scales = (drawn[SLOTS * COLUMNS :] & 0x03FF | 0x1C00).astype("<u2").view("<f2")
    return codes.astype(np.int8).reshape(SLOTS, COLUMNS), scales.reshape(SLOTS, -1)


def outputs(fixture: Fixture) -> dict[str, Output]:
    """One float32 a row, token, slot and selection, within the worst case of float32 rounding."""
    bound = ROUNDINGS * FLOAT_UNIT / (1 - ROUNDINGS * FLOAT_UNIT)
    return {"y": Output((steps(fixture), TOKENS, TOP, ROWS), "float32", absolute=bound * MOST_MAGNITUDE, relative=0.0)}


def decode(blocks: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Weights [block, 256] of Q6_K blocks [block, 210]; exact."""
    low = blocks[:, :128].reshape(-1, 2, 64)
    high = blocks[:, 128:192].reshape(-1, 2, 32)
    codes = np.empty((len(blocks), 2, 4, 32), np.int8)
    for quarter in range(4):
        nibbles = low[:, :, 32 * (quarter % 2) :][:, :, :32] >> (4 if quarter > 1 else 0) & 15
        codes[:, :, quarter] = nibbles | (high >> 2 * quarter & 3) << 4
    codes -= 32
    scales = np.ascontiguousarray(blocks[:, 192:208]).view(np.int8)
    d = np.ascontiguousarray(blocks[:, 208:]).view("<f2").astype(np.float64)
    groups = codes.reshape(-1, GROUP_VALUES, GROUP_VALUES) * (d * scales)[:, :, None]
    return groups.reshape(-1, BLOCK_VALUES)


@cache
def products() -> NDArray[np.float64]:
    """Every expert times every slot's activations, [expert, slot, row]: what any selection is made of."""
    codes, scales = activations()
    x = (codes.reshape(SLOTS, -1, X_BLOCK_VALUES) * scales.astype(np.float64)[..., None]).reshape(
        SLOTS, -1, GROUP_VALUES
    )
    by_group = np.ascontiguousarray(x.transpose(1, 2, 0))
    with ThreadPoolExecutor() as pool:
        return np.stack(list(pool.map(lambda expert: product(expert, by_group), range(EXPERTS))))


def product(expert: int, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """One expert times activations [group of 16, value, slot]: [slot, row].

    Raises
    ------
    ValueError
        Products are larger than the tolerances are derived for.
    """
    blocks = tensor()[expert * EXPERT_BYTES : (expert + 1) * EXPERT_BYTES].reshape(-1, BLOCK_BYTES)
    weights = decode(blocks).reshape(ROWS, -1, GROUP_VALUES)
    terms = np.matmul(weights.transpose(1, 0, 2), x)
    magnitude = np.abs(terms).sum(axis=0).max()
    spread = np.sqrt((weights.reshape(ROWS, COLUMNS) ** 2 @ x.reshape(COLUMNS, SLOTS) ** 2).max())
    if magnitude > MOST_MAGNITUDE or spread > MOST_SPREAD:
        raise ValueError(
            f"expert {expert}: products of {magnitude}, {spread} where tolerances are derived for {MOST_MAGNITUDE}, {MOST_SPREAD}"
        )
    found: NDArray[np.float64] = terms.sum(axis=0).T
    return found


def reference(fixture: Fixture, inputs: Arrays) -> dict[str, NDArray[np.float64]]:
    """Products of the experts that are named, zeros where none is."""
    chosen = inputs["ids"][..., :TOP].reshape(-1, SLOTS)
    wanted = products()[chosen, np.arange(SLOTS)]
    wanted[chosen < 0] = 0
    return {"y": wanted.reshape(steps(fixture), TOKENS, TOP, ROWS)}


def kernels(arm: Arm, fixture: Fixture, buffers: Any) -> list[KernelCall]:
    """One call, a warp for each tile of 16 rows."""
    launch = slot_launch() if (arm.of or arm.name) == "incumbent" else even_launch()
    if arm.role == "floor":
        return [KernelCall(arm.symbol, (), **launch)]
    memory = tuple(buffers[name] for name in ("weights", "ids", "x", "dx", "y"))
    strides = tuple(np.int32(stride) for stride in STRIDES[fixture["strides"]])
    return [KernelCall(arm.symbol, (*memory, *strides, Step()), **launch)]


def slot_launch() -> dict[str, Any]:
    """Eight tiles of a slot for each block, all slots, whether or not an earlier one stands for them."""
    warps = 8
    return {
        "grid": (ROWS // TILE_ROWS // warps, SLOTS, 1),
        "block": (32 * warps, 1, 1),
        "shared_bytes": warps * TILE_ROWS * ROW_BYTES,
    }


def even_launch() -> dict[str, Any]:
    """Blocks for each multiprocessor of an H200, with warps for all tiles of sixteen experts."""
    warps = 16
    return {
        "grid": (PROCESSORS, 1, 1),
        "block": (32 * warps, 1, 1),
        "shared_bytes": warps * TILE_ROWS * ROW_BYTES,
    }


def bytes_and_flops(fixture: Fixture) -> tuple[int, int]:
    """Every expert's weights, IDs and activations read once, all outputs of a selection written once; a product and an addition a weight and slot.

    A tail counts as if it had not been cut: such fixtures are never timed.
    """
    small = SLOTS * (4 + COLUMNS + 2 * COLUMNS // X_BLOCK_VALUES + 4 * ROWS)
    return unique(fixture) * EXPERT_BYTES + small, 2 * SLOTS * ROWS * COLUMNS


def call(arm: Arm, fixture: Fixture, buffers: Any, stream: int) -> Any:  # noqa: ARG001 - one peer, one stream
    """PyTorch's grouped product on the selected experts, decoded to bfloat16 beforehand: 2.44 times the bytes."""
    import torch  # noqa: PLC0415 - peer processes alone have it

    chosen = buffers["ids"].get()[0, :, :TOP].reshape(-1)
    rows = grouped(chosen)
    experts = list(dict.fromkeys(int(expert) for expert in chosen))
    codes, scales = activations()
    x = (codes.reshape(SLOTS, -1, X_BLOCK_VALUES) * scales.astype(np.float32)[..., None]).reshape(SLOTS, COLUMNS)
    a = torch.as_tensor(x[rows]).to("cuda", torch.bfloat16)
    decoded = [
        decode(buffers["weights"][e * EXPERT_BYTES :][:EXPERT_BYTES].get().reshape(-1, BLOCK_BYTES)) for e in experts
    ]
    weights = torch.as_tensor(np.stack(decoded).reshape(-1, ROWS, COLUMNS)).to("cuda", torch.bfloat16).transpose(1, 2)
    ends = np.cumsum([np.count_nonzero(chosen == expert) for expert in experts])
    offsets = torch.as_tensor(ends.astype(np.int32)).cuda()
    back = None if (rows == np.arange(SLOTS)).all() else torch.as_tensor(np.argsort(rows)).cuda()

    def launch() -> dict[str, Any]:
        y = torch.nn.functional.grouped_mm(a, weights, offs=offsets)
        return {"y": y if back is None else y.index_select(0, back)}

    return launch


def grouped(chosen: NDArray[np.int32]) -> NDArray[np.int64]:
    """Slots in the order of their experts, which stand as they are first named."""
    firsts = {int(expert): place for place, expert in reversed(list(enumerate(chosen)))}
    return np.argsort([firsts[int(expert)] for expert in chosen], kind="stable")


def peer_outputs(arm: Arm, fixture: Fixture) -> dict[str, Output]:  # noqa: ARG001 - one peer
    """Eight standard deviations of the roundings of weights and activations to bfloat16, and the rounding of the result."""
    absolute = 8 * BFLOAT_UNIT * float(np.sqrt(2 / 3)) * MOST_SPREAD
    return {"y": Output((steps(fixture), TOKENS, TOP, ROWS), "float32", absolute=absolute, relative=BFLOAT_UNIT)}
