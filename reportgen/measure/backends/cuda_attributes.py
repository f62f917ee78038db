"""Sizes of a GPU that only CUDA's driver tells, asked without making a context."""

from __future__ import annotations

import uuid as uuids
from typing import Any

_UUID_PREFIX = "GPU-"


def attributes(uuid: str) -> dict[str, int | None]:
    """Multiprocessors, bytes of second-level cache and of shared memory, compute capability; null where the driver does not tell.

    Parameters
    ----------
    uuid:
        As the management library writes it: ``GPU-`` and a UUID.
    """
    names = {
        "multiprocessors": "CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT",
        "l2_bytes": "CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE",
        "shared_bytes_per_multiprocessor": "CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR",
        "shared_bytes_per_block": "CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN",
        "compute_capability_major": "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR",
        "compute_capability_minor": "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR",
    }
    try:
        from cuda.bindings import driver  # noqa: PLC0415 - absent without the extra

        device = _device(driver, uuid)
    except (ImportError, RuntimeError):
        return dict.fromkeys(names)
    if device is None:
        return dict.fromkeys(names)
    return {name: _attribute(driver, device, getattr(driver.CUdevice_attribute, key)) for name, key in names.items()}


def _device(driver: Any, uuid: str) -> Any:
    wanted = uuids.UUID(uuid.removeprefix(_UUID_PREFIX)).bytes
    if int(driver.cuInit(0)[0]) != 0:
        return None
    for index in range(driver.cuDeviceGetCount()[1]):
        device = driver.cuDeviceGet(index)[1]
        if bytes(driver.cuDeviceGetUuid(device)[1].bytes)[:16] == wanted:
            return device
    return None


def _attribute(driver: Any, device: Any, number: Any) -> int | None:
    status, value = driver.cuDeviceGetAttribute(number, device)
    return int(value) if int(status) == 0 else None
