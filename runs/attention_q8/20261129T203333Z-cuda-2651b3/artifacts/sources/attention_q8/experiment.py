"""Decode attention over K and V in Q8_0 blocks: inputs, float64 reference and kernel calls.

A Q8_0 block holds 32 values in 34 bytes: ``d`` f16 at 0, ``qs`` int8[32] at 2; a row of 128 values is four of them, 136 bytes.
Tolerances are derived in README.md.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reportgen.calls import Arm, Fixture, KernelCall, Output

WIDTH, Q8_VALUES, Q8_BYTES = 128, 32, 34
ROW_BYTES = WIDTH // Q8_VALUES * Q8_BYTES
KV_HEADS, GROUP = 8, 4
HEADS = KV_HEADS * GROUP
MASKED_ROWS, SPLITS, THREADS = 32, 16, 512
MOST_VALUES = 2 * GROUP * WIDTH // SPLITS
L2_BYTES = 60 << 20
LARGEST_Q = 2.0
MOST_STEPS = 8  # matrix instructions, of 16 rows each, that add to one accumulator
HALF_VARIANCE = 2 / 3 + (MOST_STEPS + 1) / 6  # of a row's roundings to FP16, in units of HALF_UNIT squared (README.md)
PEER_VARIANCE = 2 * (8 + 1 + 1) / 3
FLOAT_UNIT, HALF_UNIT = 2.0**-24, 2.0**-11

Arrays = dict[str, NDArray[Any]]


def inputs(fixture: Fixture, rng: np.random.Generator) -> Arrays:
    """Values of K and V within (-1, 1), of Q within [-2, 2); the mask; and the mail, which every launch leaves empty."""
    queries, rows = fixture["queries"], fixture["rows"]
    arrays: Arrays = {
        "k": blocks(rng, rows),
        "v": blocks(rng, rows),
        "q": rng.uniform(-LARGEST_Q, LARGEST_Q, (queries, HEADS, WIDTH)).astype(np.float16),
        "mail": np.full(KV_HEADS * SPLITS**2 * (MOST_VALUES + 2), 0xFFFFFFFF, np.uint32),
    }
    if fixture["mask"] == "masked":
        arrays["mask"] = mask(rng, queries, rows)
    return arrays


def blocks(rng: np.random.Generator, rows: int) -> NDArray[np.uint8]:
    """Q8_0 rows [KV head, row, 136]: codes within 127, 2^-8 <= d < 2^-7."""
    shape = (KV_HEADS, rows, WIDTH // Q8_VALUES)
    made = np.empty((*shape, Q8_BYTES), np.uint8)
    made[..., 2:] = rng.integers(-127, 128, (*shape, Q8_VALUES), dtype=np.int8).view(np.uint8)
    made[..., :2] = rng.integers(0x1C00, 0x2000, shape).astype("<u2")[..., None].view(np.uint8)
    return made.reshape(KV_HEADS, rows, ROW_BYTES)


def mask(rng: np.random.Generator, queries: int, rows: int) -> NDArray[np.float16]:
    """Additive [query, row]: -inf on later rows than the query's own, and on a tenth of the groups of 32 rows.

    Row ``rows - queries + i`` is that of query i. The last group stays, so that every query keeps its own row; fewer groups
    than a quarter holds are masked, so that every partition keeps some.
    """
    allowed = np.arange(rows)[None, :] <= (rows - queries + np.arange(queries))[:, None]
    groups = rows // MASKED_ROWS
    dropped = rng.choice(groups - 1, -(-groups // 10), replace=False)
    allowed &= ~np.isin(np.arange(rows) // MASKED_ROWS, dropped)[None, :]
    return np.where(allowed, 0.0, -np.inf).astype(np.float16)


def outputs(fixture: Fixture) -> dict[str, Output]:
    """Declare the normalised output; of each partition the maximum, the sum of the weights and, where there are several, its values."""
    queries, partitions = fixture["queries"], fixture["partitions"]
    scalars = (partitions, queries, HEADS)
    declared = {
        "out": Output((queries, HEADS, WIDTH), "float32", value_tolerance(whole_spread(fixture)), 0.0),
        "maxima": Output(scalars, "float32", score_tolerance(), 0.0),
        "sums": Output(scalars, "float32", 0.0, 2 * weight_tolerance()),
    }
    if partitions > 1:
        absolute = largest_sum(fixture) * value_tolerance(partition_spread(fixture))
        declared["accumulated"] = Output((*scalars, WIDTH), "float32", absolute, 0.0)
    return declared


def score_tolerance() -> float:
    """Eight float32 roundings of terms that sum to at most 128 * 2 * 1 / sqrt(128)."""
    return 8 * FLOAT_UNIT * WIDTH * LARGEST_Q / float(np.sqrt(WIDTH))


def weight_tolerance() -> float:
    """Relative error of a weight: that of its score and of its maximum's, and three exponentials of 2^-22 with their products."""
    return 2 * score_tolerance() + 3 * (2.0**-22 + 2 * FLOAT_UNIT)


def value_tolerance(spread: float, variance: float = HALF_VARIANCE) -> float:
    """Weights' errors on values below 1, and eight standard deviations of independent roundings to FP16."""
    return 2 * weight_tolerance() + 8 * HALF_UNIT * float(np.sqrt(variance)) * spread


def whole_spread(fixture: Fixture) -> float:
    """Upper bound of sqrt(sum of squared weights) / sum of weights of a query head; :func:`reference` refuses inputs beyond it."""
    return float(np.sqrt(6 / fixture["rows"]))


def partition_spread(fixture: Fixture) -> float:
    """Bound the same of a partition, whose fewer weights vary more."""
    return float(np.sqrt(12 * fixture["partitions"] / fixture["rows"]))


def largest_sum(fixture: Fixture) -> float:
    """Count a partition's rows: each weight is at most 1."""
    return float(fixture["rows"] / fixture["partitions"])


def decode(rows: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Values [..., 128] of Q8_0 rows [..., 136]; exact."""
    parts = rows.reshape(*rows.shape[:-1], WIDTH // Q8_VALUES, Q8_BYTES)
    d = np.ascontiguousarray(parts[..., :2]).view("<f2").astype(np.float64)
    codes = np.ascontiguousarray(parts[..., 2:]).view(np.int8)
    return (d * codes).reshape(*rows.shape[:-1], WIDTH)


def quantised(q: NDArray[np.float16]) -> NDArray[np.float64]:
    """Q as the kernels use it: blocks of 32 rounded to int8 with a float32 scale, largest magnitude / 127; the same float32 operations."""
    parts = q.reshape(*q.shape[:-1], WIDTH // Q8_VALUES, Q8_VALUES).astype(np.float32)
    most = np.abs(parts).max(axis=-1, keepdims=True)
    inverse = np.divide(np.float32(127), most, out=np.zeros_like(most), where=most > 0)
    codes = np.rint(parts * inverse)
    return (most.astype(np.float64) / 127 * codes).reshape(q.shape)


def reference(fixture: Fixture, inputs: Arrays) -> dict[str, NDArray[np.float64]]:
    """Attention in float64 over the decoded K and V and the quantised Q.

    Raises
    ------
    ValueError
        The weights are more uneven than the tolerances allow for.
    """
    queries, partitions = fixture["queries"], fixture["partitions"]
    q = quantised(inputs["q"]).reshape(queries, KV_HEADS, GROUP, WIDTH)
    scores = np.stack(
        [np.einsum("qgi,ri->qgr", q[:, h], decode(inputs["k"][h]), optimize=True) for h in range(KV_HEADS)], axis=1
    ).reshape(queries, HEADS, -1) / np.sqrt(WIDTH)
    if "mask" in inputs:
        scores = scores + inputs["mask"].astype(np.float64)[:, None, :]
    parts = scores.reshape(queries, HEADS, partitions, -1)
    maxima = parts.max(axis=-1)
    weights = np.exp(parts - maxima[..., None])
    sums = weights.sum(axis=-1)
    accumulated = np.stack([weighted(weights, inputs["v"], h) for h in range(KV_HEADS)], axis=1)
    accumulated = accumulated.reshape(queries, HEADS, partitions, WIDTH)
    whole = np.exp(maxima - maxima.max(axis=-1, keepdims=True))
    check_premises(fixture, weights, whole)
    out = (whole[..., None] * accumulated).sum(axis=2) / (whole * sums).sum(axis=-1)[..., None]
    found = {"out": out, "maxima": np.moveaxis(maxima, -1, 0), "sums": np.moveaxis(sums, -1, 0)}
    return found | ({"accumulated": np.moveaxis(accumulated, 2, 0)} if partitions > 1 else {})


def weighted(weights: NDArray[np.float64], v: NDArray[np.uint8], head: int) -> NDArray[np.float64]:
    """Sum weights times values: [query, head of the group, partition, value] of weights [query, head, partition, row]."""
    queries, _, partitions, rows = weights.shape
    values = decode(v[head]).reshape(partitions, rows, WIDTH)
    own = weights[:, head * GROUP : (head + 1) * GROUP]
    return np.einsum("qgpr,pri->qgpi", own, values, optimize=True).reshape(queries, GROUP, partitions, WIDTH)


def check_premises(fixture: Fixture, weights: NDArray[np.float64], whole: NDArray[np.float64]) -> None:
    """Refuse weights [query, head, partition, row], and factors of partitions, for which the tolerances are not derived."""
    sums, squares = weights.sum(axis=-1), (weights**2).sum(axis=-1)
    of_partition = np.sqrt(squares) / sums
    of_head = np.sqrt((whole**2 * squares).sum(axis=-1)) / (whole * sums).sum(axis=-1)
    largest, allowed = (of_partition.max(), of_head.max()), (partition_spread(fixture), whole_spread(fixture))
    if largest[0] > allowed[0] or largest[1] > allowed[1]:
        raise ValueError(f"{fixture.name}: weights of spread {largest} where the tolerances are derived for {allowed}")


def kernels(arm: Arm, fixture: Fixture, buffers: Any) -> list[KernelCall]:
    """One call, 16 blocks for each KV head; a mask or accumulators that the fixture lacks are null pointers."""
    launch = {
        "grid": (SPLITS, KV_HEADS, 1),
        "block": (THREADS, 1, 1),
        "shared_bytes": shared_bytes(fixture),
        "attributes": {"programmatic_stream_serialization": 1},
    }
    if arm.role == "floor":
        return [KernelCall(arm.symbol, (), **launch)]
    names = ("k", "v", "q", "mask", "out", "accumulated", "maxima", "sums", "mail")
    memory = tuple(buffers[name] if name in buffers else np.uint64(0) for name in names)
    sizes = (np.int32(fixture["rows"] // SPLITS), np.int32(fixture["queries"]), np.int32(fixture["partitions"]))
    return [KernelCall(arm.symbol, (*memory, *sizes), **launch)]


def shared_bytes(fixture: Fixture) -> int:
    """Count the block's rows of K and V, and 28 KiB for what the warps exchange."""
    return int(2 * fixture["rows"] // SPLITS * ROW_BYTES + 28 * 1024)


def call(arm: Arm, fixture: Fixture, buffers: dict[str, Any], stream: int) -> Callable[[], dict[str, Any]]:
    """Prepare PyTorch's flash attention: K and V decoded to FP16, and Q laid out with the query heads of a KV head as its queries.

    Q is then [1, KV head, query and head of the group, 128], so that K and V are read once.
    """
    del arm, stream
    import torch  # noqa: PLC0415 - in processes of peers alone
    from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: PLC0415 - in processes of peers alone

    queries = fixture["queries"]
    k, v = (torch_decode(torch, buffers[name]) for name in ("k", "v"))
    q = torch_rounded(torch, buffers["q"]).view(queries, KV_HEADS, GROUP, WIDTH).transpose(0, 1)
    q = q.reshape(1, KV_HEADS, queries * GROUP, WIDTH)

    def launch() -> dict[str, Any]:
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            out = torch.nn.functional.scaled_dot_product_attention(q, k, v)
        return {"out": out.view(KV_HEADS, queries, GROUP, WIDTH).transpose(0, 1)}

    return launch


def peer_outputs(arm: Arm, fixture: Fixture) -> dict[str, Output]:
    """Peers give the normalised output alone, from operands, weights and output that are rounded to FP16 (README.md)."""
    del arm
    absolute = value_tolerance(whole_spread(fixture), PEER_VARIANCE)
    return {"out": replace(outputs(fixture)["out"], absolute=absolute, relative=HALF_UNIT)}


def torch_rounded(torch: Any, q: Any) -> Any:
    """Q as the kernels round it, in FP16 [query, head, 128]."""
    queries, heads, _ = q.shape
    parts = torch.as_tensor(q, device="cuda").float().view(queries, heads, WIDTH // Q8_VALUES, Q8_VALUES)
    most = parts.abs().amax(dim=-1, keepdim=True)
    return ((parts * (127 / most)).round() * (most / 127)).to(torch.float16).view(queries, heads, WIDTH)


def torch_decode(torch: Any, packed: Any) -> Any:
    """Decode Q8_0 rows on the device: FP16 [1, KV head, row, 128]; a value d * code has at most 18 bits and is rounded once."""
    heads, rows, _ = packed.shape
    parts = torch.as_tensor(packed, device="cuda").view(heads, rows, WIDTH // Q8_VALUES, Q8_BYTES)
    d = parts[..., :2].contiguous().view(torch.float16).float()
    codes = parts[..., 2:].contiguous().view(torch.int8).float()
    return (d * codes).to(torch.float16).reshape(1, heads, rows, WIDTH)


def moved_bytes(fixture: Fixture) -> int:
    """K, V, Q and the mask read once, all outputs written once."""
    queries, rows, partitions = fixture["queries"], fixture["rows"], fixture["partitions"]
    read = 2 * KV_HEADS * rows * ROW_BYTES + 2 * queries * HEADS * WIDTH
    read += 2 * queries * rows if fixture["mask"] == "masked" else 0
    values = 1 + (partitions if partitions > 1 else 0)
    return int(read + 4 * queries * HEADS * (values * WIDTH + 2 * partitions))


def bytes_and_flops(fixture: Fixture) -> tuple[int, int]:
    """Bytes as above; two products and two additions for each query head, row and value."""
    return moved_bytes(fixture), 4 * fixture["queries"] * HEADS * fixture["rows"] * WIDTH


def sets(fixture: Fixture) -> int:
    """Rotating: three times the second-level cache over the bytes of one launch."""
    return 1 if fixture["cache"] != "rotating" else -(-3 * L2_BYTES // moved_bytes(fixture))
