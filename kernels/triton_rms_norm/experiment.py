"""RMS norm of every row of a matrix of halves; README.md derives the tolerance."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reportgen.calls import Arm, Fixture, KernelCall, Output

Arrays = dict[str, NDArray[Any]]

ROWS = 4096
L2_BYTES = 50 << 20
EPSILON = 1e-6


def inputs(fixture: Fixture, rng: np.random.Generator) -> Arrays:
    """Draw rows of a standard normal, weights in [0.5, 1.5)."""
    columns = fixture["columns"]
    return {
        "x": rng.standard_normal((ROWS, columns), np.float32).astype(np.float16),
        "weight": rng.uniform(0.5, 1.5, columns).astype(np.float16),
    }


def cases(fixture: Fixture, rng: np.random.Generator) -> list[Arrays]:
    """Draw other numbers of the same sizes, a thousandfold in scale from row to row."""
    scales = 10.0 ** rng.uniform(-2, 1, (ROWS, 1))
    made = inputs(fixture, rng)
    return [made | {"x": (made["x"] * scales).astype(np.float16)}]


def outputs(fixture: Fixture) -> dict[str, Output]:
    """Allow one rounding to half precision, and what sums of float32 in any order may err by."""
    columns = fixture["columns"]
    relative = 2.0**-11 + (columns / 2 + 8) * 2.0**-24
    return {"y": Output((ROWS, columns), "float16", absolute=2.0**-24, relative=relative)}


def reference(_fixture: Fixture, inputs: Arrays) -> Arrays:
    """Take the formula in float64."""
    x, weight = inputs["x"].astype(np.float64), inputs["weight"].astype(np.float64)
    return {"y": x / np.sqrt((x * x).mean(axis=1, keepdims=True) + EPSILON) * weight}


def kernels(arm: Arm, fixture: Fixture, buffers: dict[str, Any]) -> list[KernelCall]:
    """Launch the arms in CUDA C++; those in Python launch themselves."""
    if arm.name == "floor":
        return [KernelCall("rms_floor", (), (ROWS, 1, 1), (128, 1, 1))]
    arguments = (buffers["x"], buffers["weight"], buffers["y"], np.int32(fixture["columns"]))
    return [KernelCall(arm.symbol, arguments, (ROWS, 1, 1), (256, 1, 1))]


def call(_arm: Arm, _fixture: Fixture, buffers: dict[str, Any], _stream: int) -> Callable[[], dict[str, Any]]:
    """Prepare the peer: PyTorch's own, into a tensor of its own."""
    import torch  # noqa: PLC0415 - processes without peers or arms in Python load this file, too

    x, weight = (torch.as_tensor(buffers[name], device="cuda") for name in ("x", "weight"))
    return lambda: {"y": torch.nn.functional.rms_norm(x, weight.shape, weight, EPSILON)}


def bytes_and_flops(fixture: Fixture) -> tuple[int, int]:
    """Count every element read and written once, the weights read once."""
    columns = fixture["columns"]
    return 2 * (2 * ROWS * columns + columns), 4 * ROWS * columns


def sets(fixture: Fixture) -> int:
    """Count copies of the matrix, so that three times the second-level cache passes before one is met again."""
    moved, _ = bytes_and_flops(fixture)
    return 1 if fixture["cache"] == "same-set" else -(-3 * L2_BYTES // moved)


def launches(fixture: Fixture) -> int:
    """Fill about 0.3 ms of work in a graph, were it all memory traffic at 3 TB/s."""
    moved, _ = bytes_and_flops(fixture)
    return max(4, round(9e8 / moved))
