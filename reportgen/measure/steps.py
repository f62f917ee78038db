"""Kernel calls of one launch of a graph, whose steps differ in a number. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reportgen.calls import KernelCall, Step


def at_step(calls: Sequence[KernelCall], step: int) -> tuple[KernelCall, ...]:
    """Put the number of a launch's step in the place of every :class:`reportgen.calls.Step`."""
    return tuple(_at(call, step) for call in calls)


def _at(call: KernelCall, step: int) -> KernelCall:
    if not any(isinstance(argument, Step) for argument in call.args):
        return call
    return replace(call, args=tuple(step if isinstance(argument, Step) else argument for argument in call.args))
