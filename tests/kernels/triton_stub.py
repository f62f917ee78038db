"""As much of Triton and PyTorch as one kernel needs, on NumPy: a program runs row by row, loads and stores are checked against the ends of memory."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray


class Values(np.ndarray):
    """A block of values, or one."""

    def to(self, dtype: type) -> Values:
        """Round to a type."""
        rounded: Values = self.astype(dtype).view(Values)
        return rounded


@dataclass(frozen=True)
class Pointer:
    """A tensor's memory from a place on; a block of places is a block of pointers."""

    memory: NDArray[Any]
    places: Any = 0

    def __add__(self, places: Any) -> Pointer:
        return Pointer(self.memory, self.places + places)


class Tl:
    """The language."""

    constexpr = staticmethod(lambda value: value)
    float16, float32 = np.float16, np.float32

    def __init__(self) -> None:
        self.row = 0

    def program_id(self, axis: int) -> int:
        """Tell which program runs."""
        assert axis == 0
        return self.row

    @staticmethod
    def arange(start: int, end: int) -> NDArray[np.int64]:
        """Count; Triton wants a power of two."""
        assert (end - start).bit_count() == 1
        return np.arange(start, end)

    @staticmethod
    def load(pointer: Pointer) -> Values:
        """Read a block."""
        block: Values = pointer.memory.reshape(-1)[pointer.places].view(Values)
        return block

    @staticmethod
    def store(pointer: Pointer, values: Values) -> None:
        """Write a block."""
        assert values.dtype == pointer.memory.dtype
        pointer.memory.reshape(-1)[pointer.places] = values

    @staticmethod
    def sum(values: Values, axis: int) -> Any:
        """Sum in float32, pairwise."""
        return values.sum(axis=axis, dtype=np.float32)

    @staticmethod
    def rsqrt(value: Any) -> Any:
        """Take the reciprocal root in float32."""
        return np.float32(1) / np.sqrt(np.float32(value))


def install(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Put both libraries where imports find them; the settings of every launch are kept in the list."""
    language, launches = Tl(), list[dict[str, Any]]()

    def jit(function: Callable[..., None]) -> Any:
        def on(grid: tuple[int]) -> Callable[..., None]:
            def launch(*tensors: NDArray[Any], num_warps: int, **constants: int) -> None:
                launches.append({"grid": grid, "num_warps": num_warps, **constants})
                for language.row in range(grid[0]):
                    function(*(Pointer(tensor) for tensor in tensors), **constants)

            return launch

        return _Jit(on)

    language_module = ModuleType("triton.language")
    for name in ("constexpr", "float16", "float32", "program_id", "arange", "load", "store", "sum", "rsqrt"):
        setattr(language_module, name, getattr(language, name))
    triton = ModuleType("triton")
    vars(triton).update(jit=jit, language=language_module, __version__="3.6.0")
    torch = ModuleType("torch")
    vars(torch).update(as_tensor=lambda buffer, device: buffer if device == "cuda" else None)
    for module in (triton, language_module, torch):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return launches


class _Jit:
    """A kernel: ``kernel[grid](...)`` launches it."""

    def __init__(self, on: Callable[[tuple[int]], Callable[..., None]]) -> None:
        self._on, self.device_caches = on, dict[int, Any]()

    def __getitem__(self, grid: tuple[int]) -> Callable[..., None]:
        return self._on(grid)
