"""How the arguments and attributes of a kernel call reach CUDA. Pure."""

from __future__ import annotations

from typing import Any

import numpy as np

from reportgen.calls import KernelCall
from reportgen.errors import InputError

MOST_UNASKED_SHARED_BYTES = 48 * 1024
ATTRIBUTES = {
    "max_dynamic_shared_size_bytes": "MAX_DYNAMIC_SHARED_SIZE_BYTES",
    "preferred_shared_memory_carveout": "PREFERRED_SHARED_MEMORY_CARVEOUT",
}
PROGRAMMATIC = "programmatic_stream_serialization"


def exact(argument: Any) -> np.generic:
    """Scalar of the very type that the kernel's parameter has: a NumPy scalar as it is, a Python integer as int64, a float as double."""
    if isinstance(argument, np.generic):
        return argument
    if isinstance(argument, bool):
        return np.bool_(argument)
    return np.int64(argument) if isinstance(argument, int) else np.float64(argument)


def function_attributes(call: KernelCall) -> dict[str, int]:
    """Attributes to set on the function by the driver's names; more than 48 KiB of dynamic shared memory are asked for unasked.

    Raises
    ------
    InputError
        An attribute that is not known here; the line lists those that are.
    """
    for name in call.attributes:
        if name not in {*ATTRIBUTES, PROGRAMMATIC}:
            raise InputError(
                f"kernel call {call.symbol!r}: attribute {name!r} is not known",
                remedy=f"known are {', '.join(sorted({*ATTRIBUTES, PROGRAMMATIC}))}",
            )
    found = {ATTRIBUTES[name]: int(value) for name, value in call.attributes.items() if name in ATTRIBUTES}
    if call.shared_bytes > MOST_UNASKED_SHARED_BYTES:
        found.setdefault("MAX_DYNAMIC_SHARED_SIZE_BYTES", call.shared_bytes)
    return found


def is_programmatic(call: KernelCall) -> bool:
    """Whether the call may begin before the kernel ahead of it in the stream has ended; an attribute of the launch, not of the function."""
    return bool(call.attributes.get(PROGRAMMATIC, 0))
