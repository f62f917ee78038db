"""PyTorch beside CuPy: both use the device's primary context, and kernels go to the stream that PyTorch calls current."""

from __future__ import annotations

from types import ModuleType

from reportgen.errors import InputError


def torch_with_gpu() -> ModuleType:
    """Import PyTorch and see that it has the GPU: without it, its clocks would not wait for kernels.

    Raises
    ------
    InputError
        It sees none.
    """
    import torch  # noqa: PLC0415 - seconds, and absent without the harness

    if not torch.cuda.is_available():
        raise InputError("PyTorch sees no GPU", remedy="install a PyTorch built for this machine's CUDA")
    torch.cuda.init()
    found: ModuleType = torch
    return found


def current_stream(torch: ModuleType) -> int:
    """Handle of PyTorch's current stream."""
    handle: int = torch.cuda.current_stream().cuda_stream
    return handle
