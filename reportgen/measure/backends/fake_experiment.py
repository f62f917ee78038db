"""What the simulated backend measures where an experiment has no ``experiment.py``: one small sum, right by construction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reportgen.calls import Arm, Buffer, Fixture, KernelCall, Output

HEADS, WIDTH = 4, 16


def inputs(fixture: Fixture, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
    """Draw some normal numbers."""
    del fixture
    return {"x": rng.standard_normal((HEADS, WIDTH))}


def outputs(fixture: Fixture) -> dict[str, Output]:
    """Their running sums."""
    del fixture
    return {"y": Output((HEADS, WIDTH), "float32", absolute=1e-6, relative=1e-6)}


def reference(fixture: Fixture, inputs: dict[str, NDArray[Any]]) -> dict[str, NDArray[np.float64]]:
    """Sum along the rows, running."""
    del fixture
    return {"y": np.cumsum(inputs["x"], axis=1)}


def kernels(arm: Arm, fixture: Fixture, buffers: dict[str, Buffer]) -> list[KernelCall]:
    """One call that nobody makes."""
    del fixture
    return [KernelCall(arm.symbol, (buffers["x"], buffers["y"]))]


def call(arm: Arm, fixture: Fixture, buffers: dict[str, Any], stream: int) -> Callable[[], dict[str, Any]]:
    """Let a peer make the same sums."""
    del arm, fixture, stream
    return lambda: {"y": np.cumsum(buffers["x"], axis=1)}


def bytes_and_flops(fixture: Fixture) -> tuple[int, int]:
    """Bytes of both arrays and one addition an element."""
    del fixture
    return HEADS * WIDTH * 12, HEADS * WIDTH
