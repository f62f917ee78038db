"""y = 3 x in single precision: inputs, the reference that every arm is held to, and the calls of an arm."""

from __future__ import annotations

from typing import Any

import numpy as np

from reportgen.calls import Arm, Fixture, KernelCall, Output

THREADS = 256


def inputs(fixture: Fixture, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Make the inputs of a fixture; the generator is seeded for it."""
    return {"x": rng.uniform(-1, 1, fixture["size"]).astype(np.float32)}


def outputs(fixture: Fixture) -> dict[str, Output]:
    """Declare what is compared, and how near it must be: one rounding of a value below 3 errs by at most 2**-23."""
    return {"y": Output((fixture["size"],), "float32", absolute=2.0**-23, relative=0.0)}


def reference(fixture: Fixture, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:  # noqa: ARG001 - the interface passes it
    """Compute the same by other means, in double precision."""
    return {"y": 3.0 * inputs["x"].astype(np.float64)}


def kernels(arm: Arm, fixture: Fixture, buffers: dict[str, Any]) -> list[KernelCall]:
    """List the calls of one execution of the operation, with grid and block."""
    each = THREADS * (4 if arm.symbol == "scale_four" else 1)
    return [
        KernelCall(
            arm.symbol,
            (buffers["x"], buffers["y"], fixture["size"]),
            (-(-fixture["size"] // each), 1, 1),
            (THREADS, 1, 1),
        )
    ]


def bytes_and_flops(fixture: Fixture) -> tuple[int, int]:
    """Count what one execution must move and compute at least."""
    return 8 * fixture["size"], fixture["size"]
