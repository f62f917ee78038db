"""RMS norm of a row of halves by one program of Triton; a function an arm, which differ in their warps alone."""

from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl

from reportgen.calls import Fixture

Buffers = dict[str, Any]
Launch = Callable[[], None]

EPSILON: tl.constexpr = tl.constexpr(1e-6)


@triton.jit
def rms_rows(x, weight, y, COLUMNS: tl.constexpr):  # noqa: ANN001, ANN201, N803 - Triton reads annotations
    """Norm one row: COLUMNS is a power of two, so that nothing has to be masked."""
    row = tl.program_id(0)
    columns = tl.arange(0, COLUMNS)
    places = row * COLUMNS + columns
    value = tl.load(x + places).to(tl.float32)
    scale = tl.rsqrt(tl.sum(value * value, axis=0) / COLUMNS + EPSILON)
    weights = tl.load(weight + columns).to(tl.float32)
    tl.store(y + places, (value * scale * weights).to(tl.float16))


@triton.jit
def copy_rows(x, y, COLUMNS: tl.constexpr):  # noqa: ANN001, ANN201, N803 - Triton reads annotations
    """Read one row and write it, and nothing else."""
    places = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    tl.store(y + places, tl.load(x + places))


def tensors(buffers: Buffers, *names: str) -> list[Any]:
    """Give the set's own memory, as PyTorch sees it."""
    return [torch.as_tensor(buffers[name], device="cuda") for name in names]


def rms(buffers: Buffers, warps: int) -> Launch:
    """Prepare what every arm is, but for its warps."""
    x, weight, y = tensors(buffers, "x", "weight", "y")
    rows, columns = x.shape

    def launch() -> None:
        rms_rows[(rows,)](x, weight, y, COLUMNS=columns, num_warps=warps)

    return launch


def rms_4_warps(_fixture: Fixture, buffers: Buffers, _stream: int) -> Launch:
    """Prepare the incumbent."""
    return rms(buffers, 4)


def rms_8_warps(_fixture: Fixture, buffers: Buffers, _stream: int) -> Launch:
    """Prepare the candidate."""
    return rms(buffers, 8)


def rms_16_warps(_fixture: Fixture, buffers: Buffers, _stream: int) -> Launch:
    """Prepare the candidate."""
    return rms(buffers, 16)


def copy_4_warps(_fixture: Fixture, buffers: Buffers, _stream: int) -> Launch:
    """Prepare the ceiling."""
    x, y = tensors(buffers, "x", "y")
    rows, columns = x.shape

    def launch() -> None:
        copy_rows[(rows,)](x, y, COLUMNS=columns, num_warps=4)

    return launch
