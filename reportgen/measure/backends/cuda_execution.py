"""One execution of an operation on any stream: arguments laid out once, then nothing but the driver's launch."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np


@dataclass(frozen=True)
class PreparedCall:
    """One kernel's launch as the driver takes it, but for the stream.

    ``head`` is function, grid, block and shared bytes; ``parameters`` the addresses of the arguments, which ``kept`` holds.
    """

    head: tuple[int, ...]
    parameters: Any
    kept: tuple[Any, ...]

    @classmethod
    def of(cls, head: Sequence[int], arguments: Sequence[np.generic]) -> PreparedCall:
        """Lay the arguments out in memory of their own."""
        kept = tuple(np.array(argument) for argument in arguments)
        parameters = (ctypes.c_void_p * len(kept))(*(each.ctypes.data for each in kept))
        return cls(tuple(head), parameters, kept)

    @property
    def address(self) -> int:
        """Where the addresses of the arguments stand."""
        return ctypes.addressof(self.parameters)


class CudaExecution:
    """Kernels of one execution. It must outlive what :meth:`on` returns."""

    def __init__(self, launch: Callable[..., Any], calls: Sequence[PreparedCall]) -> None:
        self._launch, self._calls = launch, tuple(calls)
        self._flat = [(call.head, call.address) for call in self._calls]

    def launch(self, stream: int) -> None:
        """Launch every kernel on the stream of that handle."""
        for head, address in self._flat:
            self._launch(*head, stream, address, 0)

    def on(self, stream: int) -> Callable[[], Any]:
        """Return what launches them there; a single kernel without a frame of Python."""
        if len(self._flat) == 1:
            ((head, address),) = self._flat
            return partial(self._launch, *head, stream, address, 0)
        return partial(self.launch, stream)
