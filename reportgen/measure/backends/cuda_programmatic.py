"""Programmatic dependent launch: a kernel that may take its place on the device before the one ahead of it has ended.

CuPy's launch takes no launch attributes, so this one goes through CUDA's own bindings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from reportgen.calls import KernelCall
from reportgen.errors import InputError
from reportgen.measure.backends.cuda_execution import PreparedCall


def launch_programmatically(function: int, call: KernelCall, arguments: Sequence[np.generic], stream: int) -> None:
    """Launch ``call`` on the stream of that handle; in a capture it becomes a node whose edge to its predecessor is programmatic.

    Raises
    ------
    InputError
        CUDA's bindings are missing, or the driver refuses the launch.
    """
    try:
        from cuda.bindings import driver  # noqa: PLC0415 - absent without the extra
    except ImportError as fault:
        raise InputError(
            f"cuda.bindings cannot be imported: {fault}", remedy="pip install 'reportgen[cuda]'"
        ) from fault
    prepared = PreparedCall.of((), arguments)
    status, *_ = driver.cuLaunchKernelEx(launch_config(driver, call, stream), function, prepared.address, 0)
    if int(status) != 0:
        raise InputError(
            f"kernel call {call.symbol!r} cannot be launched programmatically: {status.name}",
            remedy="see that the driver knows programmatic_stream_serialization (compute capability 9.0 or newer)",
        )


def launch_config(driver: Any, call: KernelCall, stream: int) -> Any:
    """Grid, block, shared memory and stream of a call as the driver takes them, with programmatic stream serialisation allowed."""
    allowed = driver.CUlaunchAttributeValue()
    allowed.programmaticStreamSerializationAllowed = 1
    attribute = driver.CUlaunchAttribute()
    attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
    attribute.value = allowed
    config = driver.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = call.grid
    config.blockDimX, config.blockDimY, config.blockDimZ = call.block
    config.sharedMemBytes = call.shared_bytes
    config.hStream = stream
    config.attrs = [attribute]
    config.numAttrs = 1
    return config
