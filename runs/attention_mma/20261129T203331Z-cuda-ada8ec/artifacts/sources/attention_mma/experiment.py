"""Decode attention on tensor cores, FP16 keys and values: inputs, float64 reference, kernel calls and peers.

Sixteen query heads of width 256 on two KV heads: eight share the rows of one. Tolerances are derived in README.md.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reportgen.calls import Arm, Fixture, KernelCall, Output

WIDTH, KV_HEADS, GROUP = 256, 2, 8
HEADS = KV_HEADS * GROUP
MASKED_ROWS = 32
MOST_QUERIES, MOST_SPLITS = 4, 64
TILE_ROWS, THREADS, COMBINE_BLOCKS = 32, 256, 2
SHARED_BYTES = 126 * 1024
L2_BYTES = 60 << 20
FLOAT_UNIT, HALF_UNIT = 2.0**-24, 2.0**-11
STEP_ADDITIONS = 17

Arrays = dict[str, NDArray[Any]]


def splits(fixture: Fixture) -> int:
    """Blocks that share a KV head's rows: 64, or one for every tile of 32 rows where there are fewer."""
    return int(min(MOST_SPLITS, fixture["rows"] // TILE_ROWS))


def inputs(fixture: Fixture, rng: np.random.Generator) -> Arrays:
    """Magnitudes of K, V and Q within [1/2, 1), signs drawn; and the mask."""
    queries, rows = fixture["queries"], fixture["rows"]
    arrays: Arrays = {
        "k": halves(rng, (KV_HEADS, rows, WIDTH)),
        "v": halves(rng, (KV_HEADS, rows, WIDTH)),
        "q": halves(rng, (queries, HEADS, WIDTH)),
    }
    if fixture["mask"] == "masked":
        arrays["mask"] = mask(rng, queries, rows)
    return arrays


def halves(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float16]:
    """Half-precision numbers, 1/2 <= magnitude < 1: sign and fraction drawn as bits, since a fixture has up to 33 million of them."""
    drawn = rng.integers(0, 1 << 64, int(np.prod(shape)) // 4, dtype=np.uint64).view("<u2")
    drawn &= np.uint16(0x83FF)
    drawn |= np.uint16(0x3800)
    return drawn.view("<f2").reshape(shape)


def mask(rng: np.random.Generator, queries: int, rows: int) -> NDArray[np.float16]:
    """Additive [query, row]: -inf on later rows than the query's own, and on a tenth of the groups of 32 rows.

    Row ``rows - queries + i`` is that of query i. The last group stays, so that every query keeps its own row.
    """
    allowed = np.arange(rows)[None, :] <= (rows - queries + np.arange(queries))[:, None]
    groups = rows // MASKED_ROWS
    dropped = rng.choice(groups - 1, -(-groups // 10), replace=False)
    allowed &= ~np.isin(np.arange(rows) // MASKED_ROWS, dropped)[None, :]
    return np.where(allowed, 0.0, -np.inf).astype(np.float16)


def scratch(fixture: Fixture) -> dict[str, Output]:
    """Name what the splits hand to the second kernel: normalised outputs, and the base-2 logarithm of each column's sum of exponentials."""
    places = KV_HEADS * splits(fixture) * MOST_QUERIES * GROUP
    return {
        "split_values": Output((places, WIDTH), "float32", 0.0, 0.0),
        "split_logarithms": Output((places,), "float32", 0.0, 0.0),
    }


def outputs(fixture: Fixture) -> dict[str, Output]:
    """Declare the one output [query, head, value]."""
    return {"out": Output((fixture["queries"], HEADS, WIDTH), "float32", value_tolerance(fixture), 0.0)}


def score_tolerance() -> float:
    """Sixteen matrix steps, each of which truncates 17 addends at a unit of the largest partial sum, 256."""
    steps = WIDTH // 16
    return STEP_ADDITIONS * steps * 2 * FLOAT_UNIT * WIDTH / float(np.sqrt(WIDTH))


def weight_tolerance() -> float:
    """Relative error of a weight: of its score and of the maximum's, its rounding to half, two exponentials."""
    return 2 * score_tolerance() + HALF_UNIT + 2 * 2.0**-22


def value_tolerance(fixture: Fixture) -> float:
    """Eight standard deviations of what the weights' errors do to a mean of independent values, and the truncation of its sums."""
    steps = fixture["rows"] // splits(fixture) // 16
    truncated = STEP_ADDITIONS * steps * 2 * FLOAT_UNIT
    return 8 * weight_tolerance() * spread(fixture) + truncated + 2.0**-17


def spread(fixture: Fixture) -> float:
    """Upper bound of sqrt(sum of squared weights) / sum of weights of a query head; :func:`reference` refuses inputs beyond it."""
    return float(np.sqrt(3 / fixture["rows"]))


def reference(fixture: Fixture, inputs: Arrays) -> dict[str, NDArray[np.float64]]:
    """Attention in float64.

    Raises
    ------
    ValueError
        The weights are more uneven than the tolerance allows for.
    """
    queries = fixture["queries"]
    q = inputs["q"].astype(np.float64).reshape(queries, KV_HEADS, GROUP, WIDTH)
    parts = []
    for head in range(KV_HEADS):
        scores = np.einsum("qgi,ri->qgr", q[:, head], inputs["k"][head].astype(np.float64), optimize=True)
        scores /= np.sqrt(WIDTH)
        if "mask" in inputs:
            scores += inputs["mask"].astype(np.float64)[:, None, :]
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        check_spread(fixture, weights)
        parts.append(np.einsum("qgr,ri->qgi", weights, inputs["v"][head].astype(np.float64), optimize=True))
    return {"out": np.stack(parts, axis=1).reshape(queries, HEADS, WIDTH)}


def check_spread(fixture: Fixture, weights: NDArray[np.float64]) -> None:
    """Refuse weights [query, head, row] for which the tolerance is not derived."""
    largest = float(np.sqrt((weights**2).sum(axis=-1)).max())
    if largest > spread(fixture):
        raise ValueError(f"{fixture.name}: weights of spread {largest}, tolerance derived for {spread(fixture)}")


def kernels(arm: Arm, fixture: Fixture, buffers: Any) -> list[KernelCall]:
    """Two calls: a block for each KV head and split, then two for each column; an unmasked fixture's mask is a null pointer."""
    rows, queries, count = fixture["rows"], fixture["queries"], splits(fixture)
    launch = {"grid": (count, KV_HEADS, 1), "block": (THREADS, 1, 1), "shared_bytes": SHARED_BYTES}
    combine = {"grid": (COMBINE_BLOCKS * queries * GROUP, KV_HEADS, 1), "block": (THREADS, 1, 1)}
    if arm.role == "floor":
        return [KernelCall(arm.symbol, (), **launch), KernelCall(f"{arm.symbol}_combine", (), **combine)]
    mask = buffers["mask"] if "mask" in buffers else np.uint64(0)
    memory = (*(buffers[name] for name in ("k", "v", "q")), mask, buffers["split_values"], buffers["split_logarithms"])
    sizes = (np.int32(rows), np.int32(queries), np.int32(rows // count // TILE_ROWS))
    handed = (buffers["split_values"], buffers["split_logarithms"], buffers["out"], np.int32(count))
    return [
        KernelCall(arm.symbol, (*memory, *sizes), **launch),
        KernelCall(f"{arm.symbol}_combine", handed, **combine),
    ]


def moved_bytes(fixture: Fixture) -> int:
    """K, V, Q and the mask read once, the output written once; what passes between the two kernels is not counted."""
    queries, rows = fixture["queries"], fixture["rows"]
    read = 2 * 2 * KV_HEADS * rows * WIDTH + 2 * queries * HEADS * WIDTH
    read += 2 * queries * rows if fixture["mask"] == "masked" else 0
    return int(read + 4 * queries * HEADS * WIDTH)


def bytes_and_flops(fixture: Fixture) -> tuple[int, int]:
    """Bytes as above; two products and two additions for each query head, row and value. Columns of padding do not count."""
    return moved_bytes(fixture), 4 * fixture["queries"] * HEADS * fixture["rows"] * WIDTH


def sets(fixture: Fixture) -> int:
    """Rotating: three times the second-level cache over the bytes of one launch."""
    return 1 if fixture["cache"] != "rotating" else -(-3 * L2_BYTES // moved_bytes(fixture))


def peer_outputs(_arm: Arm, fixture: Fixture) -> dict[str, Output]:
    """Peers give ``out`` in FP16: one rounding more."""
    return {"out": Output((fixture["queries"], HEADS, WIDTH), "float32", value_tolerance(fixture), HALF_UNIT)}


def call(arm: Arm, fixture: Fixture, buffers: Any, _stream: int) -> Callable[[], dict[str, Any]]:
    """Prepare PyTorch's attention on tensors that share the memory of the buffers.

    cuDNN takes the 16 heads as they are (``enable_gqa``: quick for one query). The others take the eight query heads of a KV head as eight times the
    queries, so that K and V are read once; Q is laid out so beforehand.
    """
    import torch  # noqa: PLC0415 - in processes of peers alone

    queries = fixture["queries"]
    q, k, v = (torch.as_tensor(buffers[name], device="cuda") for name in ("q", "k", "v"))
    mask = torch.as_tensor(buffers["mask"], device="cuda") if "mask" in buffers else None
    if arm.name == "sdpa_cudnn":
        attend, heads = sdpa(torch, arm.name, mask, grouped=True), q.transpose(0, 1)[None]
        return lambda: {"out": attend(heads, k[None], v[None])[0].transpose(0, 1)}
    columns = q.view(queries, KV_HEADS, GROUP, WIDTH).transpose(0, 1).reshape(1, KV_HEADS, queries * GROUP, WIDTH)
    attend = flex(mask, queries) if arm.name == "flex_attention" else sdpa(torch, arm.name, mask, grouped=False)

    def launch() -> dict[str, Any]:
        return {"out": attend(columns, k[None], v[None]).view(KV_HEADS, queries, GROUP, WIDTH).transpose(0, 1)}

    return launch


def sdpa(torch: Any, name: str, mask: Any, *, grouped: bool) -> Callable[..., Any]:
    """Bind one backend of ``scaled_dot_product_attention``, with the additive mask that it is given."""
    from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: PLC0415 - in processes of peers alone

    backend = {"sdpa_flash": SDPBackend.FLASH_ATTENTION, "sdpa_cudnn": SDPBackend.CUDNN_ATTENTION}[name]

    def attend(q: Any, k: Any, v: Any) -> Any:
        with sdpa_kernel(backend):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=grouped)

    return attend


@functools.cache
def compiled_flex() -> Any:
    """Compile FlexAttention, once a process and shape."""
    import torch  # noqa: PLC0415 - in processes of peers alone
    from torch.nn.attention.flex_attention import flex_attention  # noqa: PLC0415 - in processes of peers alone

    return torch.compile(flex_attention, dynamic=False)


def flex(mask: Any, queries: int) -> Callable[..., Any]:
    """Bind FlexAttention: blocks of rows that no query keeps are left out."""
    from torch.nn.attention.flex_attention import create_block_mask  # noqa: PLC0415 - in processes of peers alone

    if mask is None:
        return compiled_flex()
    kept, group = (
        mask.isfinite(),
        GROUP,
    )  # no global in the function below: the compiler would look for this module by name

    def keeps(_batch: Any, _head: Any, column: Any, row: Any) -> Any:
        return kept[column // group, row]

    blocks = create_block_mask(keeps, None, None, queries * group, mask.shape[1], device="cuda")
    attend = compiled_flex()
    return lambda q, k, v: attend(q, k, v, block_mask=blocks)
