"""y = a x + y0 in single precision; x is drawn by its place, so a GPU can draw it as well."""

from __future__ import annotations

from typing import Any

import numpy as np

from reportgen.calls import Arm, Fixture, KernelCall, Output
from reportgen.philox import uniform

SIZES = {"small": 1 << 20, "large": 1 << 22, "odd": 1001}
FACTOR = 0.75
L2_BYTES = 60 << 20
THREADS = 256
SHARED_BYTES = 64 * 1024


def inputs(fixture: Fixture, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Values in [-1, 1); x is stream 1 of the fixture's seed."""
    n = SIZES[fixture["size"]]
    return {"x": uniform(fixture.seed, 1, 0, n), "y0": rng.uniform(-1, 1, n).astype(np.float32)}


def outputs(fixture: Fixture) -> dict[str, Output]:
    """Allow two roundings: the product is below 1 and the sum below 2, which err by at most 2**-25 + 2**-24."""
    return {"y": Output((SIZES[fixture["size"]],), "float32", absolute=1.5 * 2.0**-24, relative=0.0)}


def scratch(fixture: Fixture) -> dict[str, Output]:
    """Products of the arm that takes two steps."""
    return {"product": Output((SIZES[fixture["size"]],), "float32", absolute=0.0, relative=0.0)}


def sets(fixture: Fixture) -> int:
    """Rotating: three times the second-level cache, at 12 bytes a value."""
    if fixture["cache"] != "rotating":
        return 1
    return -(-3 * L2_BYTES // (12 * SIZES[fixture["size"]]))


def reference(fixture: Fixture, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:  # noqa: ARG001 - the interface passes it
    """In double precision."""
    return {"y": FACTOR * inputs["x"].astype(np.float64) + inputs["y0"].astype(np.float64)}


def kernels(arm: Arm, fixture: Fixture, buffers: Any) -> list[KernelCall]:
    """One kernel, or two; a in the kernel's own type, n as int64."""
    n = SIZES[fixture["size"]]
    x, y0, y, product = (buffers[name] for name in ("x", "y0", "y", "product"))
    factor, block = np.float32(FACTOR), (THREADS, 1, 1)
    if arm.symbol == "saxpy_product":
        grid = (-(-n // THREADS), 1, 1)
        return [
            KernelCall(arm.symbol, (x, product, factor, np.int32(n)), grid, block),
            KernelCall("saxpy_sum", (product, y0, y, np.int32(n)), grid, block, SHARED_BYTES),
        ]
    if arm.symbol == "saxpy_drawn":
        return [
            KernelCall(arm.symbol, (y0, y, factor, np.uint64(fixture.seed), n), (-(-n // (4 * THREADS)), 1, 1), block)
        ]
    each = 4 if arm.symbol == "saxpy_four" else 1
    grid = (-(-n // (THREADS * each)), 1, 1)
    return [KernelCall(arm.symbol, (x, y0, y, factor, n), grid, block)]


def bytes_and_flops(fixture: Fixture) -> tuple[int, int]:
    """X and y0 read, y written; a product and a sum each."""
    return 12 * SIZES[fixture["size"]], 2 * SIZES[fixture["size"]]
