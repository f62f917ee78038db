"""Backends by name, as the controller opens them."""

from __future__ import annotations

from collections.abc import Callable

from reportgen.errors import InputError
from reportgen.measure.backends.command import CommandBuilder
from reportgen.measure.backends.cuda import CudaBuilder
from reportgen.measure.backends.fake import FakeBuilder
from reportgen.measure.backends.interface import Builder
from reportgen.measure.backends.native import NativeBuilder

BUILDERS: dict[str, Callable[[], Builder]] = {
    "command": CommandBuilder,
    "cuda": CudaBuilder,
    "fake": FakeBuilder,
    "native": NativeBuilder,
}


def open_builder(name: str) -> Builder:
    """Open the backend of that name.

    Raises
    ------
    InputError
        There is none; the line lists those that exist.
    """
    if name not in BUILDERS:
        raise InputError(f"no backend named {name!r}", remedy=f"known are: {', '.join(sorted(BUILDERS))}")
    return BUILDERS[name]()
