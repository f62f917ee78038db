"""Environment of a timed process that loads libraries of others: one that times peers, or any of an experiment with arms in Python."""

from __future__ import annotations

from pathlib import Path

CACHE = "library-cache"
# JAX would take most of the memory for itself. Compilers of others keep what they made for the attempt's later processes, and leave no process of their own behind. A library's
# kernels number thousands: those in use are loaded by the runs before a graph is captured.
_FIXED = {
    "CUDA_MODULE_LOADING": "LAZY",
    "TORCHINDUCTOR_COMPILE_THREADS": "1",
    "TORCHINDUCTOR_FX_GRAPH_CACHE": "1",
    "TORCHINDUCTOR_AUTOGRAD_CACHE": "1",
    "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
}
_FOLDERS = {"TORCHINDUCTOR_CACHE_DIR": "inductor", "TRITON_CACHE_DIR": "triton", "CUPY_CACHE_DIR": "cupy"}


def library_settings() -> dict[str, str]:
    """Environment variables of a process that loads libraries of others."""
    return dict(_FIXED)


def library_folders(work: Path) -> dict[str, str]:
    """Further variables of such a process: caches in the attempt's scratch folder, which are cold in its first one."""
    return {name: str(work / CACHE / folder) for name, folder in _FOLDERS.items()}
