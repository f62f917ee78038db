"""What the kernels of the A/A study compute, by their own indices and in their own arithmetic: models in NumPy, slow and literal."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]


def model_stream(given: Arrays, n: int) -> NDArray[Any]:
    """Thread j, vector k * n + j."""
    sums = np.zeros(n, np.float32)
    for k in range(16):
        for j in range(n):
            sums[j] += given["x"][4 * (k * n + j) : 4 * (k * n + j) + 4].sum(dtype=np.float32)
    return sums


def model_l2_resident(given: Arrays, n: int, shift: int) -> NDArray[Any]:
    """Thread j, vector k * n + (j + turn * shift) mod n."""
    vectors, j = given["x"].reshape(-1, 4), np.arange(n)
    places = [k * n + ((j + turn * shift) & (n - 1)) for turn in range(4) for k in range(8)]
    return np.asarray(sum(vectors[place].sum(axis=1, dtype=np.float32) for place in places), np.float32)


def model_gather(given: Arrays, n: int) -> NDArray[Any]:
    """Eight places a thread."""
    elements = given["table"].reshape(-1, 4)
    return np.array(
        [sum(int(elements[given["places"][k * n + j]].sum()) for k in range(8)) for j in range(n)], np.int32
    )


def model_transpose(given: Arrays, rows: int, columns: int) -> NDArray[Any]:
    """Tile by tile through 32 rows of 33 words."""
    y = np.full(rows * columns, np.nan, np.float32)
    lane, part = np.arange(256) % 32, np.arange(256) // 32
    for across in range(columns // 32):
        for down in range(rows // 32):
            tile = np.full((32, 33), np.nan, np.float32)
            for k in range(0, 32, 8):
                tile[part + k, lane] = given["x"][(down * 32 + part + k) * columns + across * 32 + lane]
            for k in range(0, 32, 8):
                y[(across * 32 + part + k) * rows + down * 32 + lane] = tile[lane, part + k]
    return y


def model_fp32(given: Arrays, rounds: int) -> NDArray[Any]:
    """In float32, whose products and sums here are exact, so a fused rounding is none."""
    value, (factors, terms) = given["x"], given["steps"].reshape(2, 4)
    for _ in range(rounds):
        for step in range(16):
            value = value * factors[step % 4] + terms[step % 4]
    return np.asarray(value * factors[0] + terms[0])


def model_tensor(given: Arrays, rounds: int) -> NDArray[Any]:
    """Lay fragments out as the instruction's description does, lane by lane, and multiply matrices."""
    y = np.empty_like(given["c"])
    a, b = np.empty((16, 16)), np.empty((2, 8, 16))
    for lane in range(32):
        row, pair = lane // 4, lane % 4
        for part in range(4):
            at = (row + part % 2 * 8) * 8 + pair + part // 2 * 4
            a[row + part % 2 * 8, pair * 2 + part // 2 * 8 :][:2] = given["a"].reshape(-1)[at : at + 1].view(np.float16)
            at = part // 2 * 64 + row * 8 + pair + part % 2 * 4
            b[part // 2, row, pair * 2 + part % 2 * 8 :][:2] = given["b"].reshape(-1)[at : at + 1].view(np.float16)
    for warp in range(given["c"].size // 128):
        c = given["c"][warp * 128 :][:128].reshape(16, 8).astype(np.float64)
        for _ in range(rounds):
            c = c + a @ b[0].T + a @ b[1].T - a @ b[0].T - a @ b[1].T
        y[warp * 128 :][:128] = (c + a @ b[0].T).reshape(-1)
    return y


def model_shuffle(given: Arrays, rounds: int) -> NDArray[Any]:
    """Partners by the exclusive or of lanes."""
    value, i = given["x"].copy(), np.arange(given["x"].size)
    for _ in range(rounds):
        value = value + value[i ^ 1]
        value = (value + value[i ^ 2]) >> 2
    return np.asarray(value + value.reshape(-1, 128).sum(axis=1, dtype=np.int32).repeat(128))


def model_int8_dot(given: Arrays) -> NDArray[Any]:
    """Lane by lane: vectors of 16 bytes i, i + 32, ... of a row."""
    weights, x = (given[name].astype(np.int32).reshape(-1, 256, 16) for name in ("weights", "x"))
    lanes = [np.einsum("rib,vib->rv", weights[:, lane::32], x[:, lane::32]) for lane in range(32)]
    return np.asarray(sum(lanes), np.int32).reshape(-1)


def model_atomics(given: Arrays) -> NDArray[Any]:
    """Key by key, 256 bins."""
    bins = np.zeros(256, np.int32)
    np.add.at(bins, given["keys"], 1)
    return bins


def model_multi_kernel(given: Arrays) -> NDArray[Any]:
    """Blocks' sums, their sum, 2,048 products: all in float32."""
    vectors = given["x"].reshape(8, -1, 256, 4)
    partials = vectors.sum(axis=(0, 2, 3), dtype=np.float32)
    return np.asarray(given["x"][:2048] * partials.sum(dtype=np.float32))


def model_softmax(given: Arrays) -> NDArray[Any]:
    """In float32, powers of two of rounded products, a sum in a tree, one reciprocal."""
    x = given["x"].reshape(-1, 1024)
    powers = np.exp2((x - x.max(axis=1, keepdims=True)) * np.float32(1.44269504))
    lanes = powers.reshape(len(x), 256, 4).sum(axis=2, dtype=np.float32)
    inverse = np.float32(1) / lanes.sum(axis=1, dtype=np.float32, keepdims=True)
    return np.asarray(powers * inverse).reshape(-1)


def model_tiny(given: Arrays) -> NDArray[Any]:
    """Own sum, and that of the thread as far away as the block's sum tells."""
    own = given["x"].reshape(256, 4).sum(axis=1, dtype=np.int32)
    return np.array([own[j] + own[(j + int(own.sum())) & 255] for j in range(256)], np.int32)


MODELS: dict[str, Callable[..., NDArray[Any]]] = {
    name.removeprefix("model_"): model for name, model in globals().items() if name.startswith("model_")
}
