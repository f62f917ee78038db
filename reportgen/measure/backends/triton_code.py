"""Machine code that Triton made of the kernels of one module, read out of the functions that launched it. Triton is never imported here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

CACHES, CUBIN = "device_caches", "cubin"
# What Triton's metadata and, once it is loaded, the kernel itself tell; names on the right are ours.
_TOLD = {"num_warps": "warps", "num_ctas": "blocks_a_cluster", "num_stages": "stages", "shared": "shared_bytes"}
_LOADED = {"n_regs": "registers", "n_spills": "spills"}


@dataclass(frozen=True)
class TritonKernel:
    """One compiled variant of a kernel: its entry point, the bytes that were loaded, and what is told of them."""

    name: str
    cubin: bytes
    facts: dict[str, Any]


def kernels_in(module: ModuleType) -> list[TritonKernel]:
    """Find every variant that the ``@triton.jit`` functions of a module's own names have compiled, autotuned ones included."""
    found: dict[tuple[str, bytes], TritonKernel] = {}
    for function in _functions(module):
        for caches in dict(getattr(function, CACHES)).values():
            for kernel in _compiled(caches):
                found[kernel.name, kernel.cubin] = kernel
    return list(found.values())


def _functions(module: ModuleType) -> Iterator[Any]:
    """Functions behind the module's names, out of the wrappers that choose or add parameters (``.fn``)."""
    for value in list(vars(module).values()):
        function = value
        while not hasattr(function, CACHES) and hasattr(function, "fn"):
            function = function.fn
        if hasattr(function, CACHES) and not isinstance(function, type):
            yield function


def _compiled(caches: Any) -> Iterator[TritonKernel]:
    for kernel in caches[0].values():
        asm = getattr(kernel, "asm", {})
        if CUBIN in asm:
            told = {ours: _of(kernel.metadata, theirs) for theirs, ours in _TOLD.items()}
            loaded = {ours: _of(kernel, theirs) for theirs, ours in _LOADED.items()}
            facts = {name: value for name, value in (told | loaded).items() if isinstance(value, int)}
            yield TritonKernel(str(kernel.name), bytes(asm[CUBIN]), facts)


def _of(holder: Any, name: str) -> Any:
    return getattr(holder, name, None)
