"""Programmatic dependent launch: a kernel that may take its place on the device before the one ahead of it has ended.

CuPy's launch takes no launch attributes, so the driver is called by its C interface. (CUDA's Python bindings would do it, but they ask
the driver at first for every function that they know, and memcheck counts each that an older driver lacks.)
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence

import numpy as np

from reportgen.calls import KernelCall
from reportgen.errors import InputError
from reportgen.measure.backends.cuda_execution import PreparedCall

DRIVER = "libcuda.so.1"
PROGRAMMATIC_STREAM_SERIALIZATION = 6


class LaunchAttribute(ctypes.Structure):
    """``CUlaunchAttribute``: which one, and a union of 64 bytes whose first word says yes or no."""

    _fields_ = (
        ("id", ctypes.c_uint),
        ("padding", ctypes.c_uint),
        ("allowed", ctypes.c_int),
        ("rest", ctypes.c_byte * 60),
    )


class LaunchConfig(ctypes.Structure):
    """``CUlaunchConfig``."""

    _fields_ = (
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared_bytes", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(LaunchAttribute)),
        ("attribute_count", ctypes.c_uint),
    )


def launch_programmatically(function: int, call: KernelCall, arguments: Sequence[np.generic], stream: int) -> None:
    """Launch ``call`` on the stream of that handle; in a capture it becomes a node whose edge to its predecessor is programmatic.

    Raises
    ------
    InputError
        The driver is not there, or refuses the launch.
    """
    prepared, config = PreparedCall.of((), arguments), launch_config(call, stream)
    status = _driver().cuLaunchKernelEx(
        ctypes.byref(config), ctypes.c_void_p(function), ctypes.c_void_p(prepared.address), None
    )
    if status != 0:
        raise InputError(
            f"kernel call {call.symbol!r} cannot be launched programmatically: CUDA error {status}",
            remedy="see that device and driver know programmatic dependent launch (compute capability 9.0 or newer)",
        )


def launch_config(call: KernelCall, stream: int) -> LaunchConfig:
    """Grid, block, shared memory and stream of a call as the driver takes them, with programmatic stream serialisation allowed."""
    attribute = LaunchAttribute(PROGRAMMATIC_STREAM_SERIALIZATION, 0, 1)
    return LaunchConfig(
        (ctypes.c_uint * 3)(*call.grid),
        (ctypes.c_uint * 3)(*call.block),
        call.shared_bytes,
        stream,
        ctypes.pointer(attribute),
        1,
    )


@functools.cache
def _driver() -> ctypes.CDLL:
    try:
        return ctypes.CDLL(DRIVER)
    except OSError as fault:
        raise InputError(f"{DRIVER} cannot be loaded: {fault}", remedy="install NVIDIA's driver") from fault
