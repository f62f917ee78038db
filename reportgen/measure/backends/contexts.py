"""Which processes have a context on a device, as its driver lists them: the last thing a run could leave there."""

from __future__ import annotations

from reportgen.errors import InputError
from reportgen.measure.backends.nvml import Gpu, open_nvml

CUDA = "cuda"


def contexts_on(backend: str, device_id: str) -> list[int] | None:
    """List process ids, as the driver numbers them; ``None`` where it does not tell. A CPU has no contexts."""
    if backend != CUDA or not device_id:
        return []
    try:
        library = open_nvml()
    except InputError:
        return None
    try:
        return Gpu(library, device_id).compute_processes()
    except library.NVMLError:
        return None
