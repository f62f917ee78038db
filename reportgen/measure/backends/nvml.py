"""What NVIDIA's management library tells about one GPU; nothing here sets anything. Standard library and ``pynvml`` only."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from reportgen.errors import InputError

MILLI = 1000
INSTALL = "pip install 'reportgen[cuda]'"
_REASONS = {
    "sw_power_cap": "NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP",
    "sync_boost": "NVML_FI_DEV_CLOCKS_EVENT_REASON_SYNC_BOOST",
    "sw_thermal": "NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN",
    "hw_thermal": "NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN",
    "hw_power_brake": "NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN",
}


def open_nvml() -> ModuleType:
    """Import and start the library.

    Raises
    ------
    InputError
        The package is not installed, or there is no driver.
    """
    try:
        import pynvml  # noqa: PLC0415 - absent without the extra
    except ImportError as fault:
        raise InputError("nvidia-ml-py is not installed, which names the GPU", remedy=INSTALL) from fault
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as fault:
        raise InputError(
            f"there is no NVIDIA driver here ({_text(str(fault))})", remedy="run this on a machine with a GPU"
        ) from fault
    found: ModuleType = pynvml
    return found


class Gpu:
    """One GPU by its UUID; what the library does not tell reads as ``None``."""

    def __init__(self, library: ModuleType, uuid: str) -> None:
        self._library, self.uuid = library, uuid
        self._handle = library.nvmlDeviceGetHandleByUUID(uuid)

    def clock_mhz(self) -> float | None:
        """Read the clock of the multiprocessors."""
        library = self._library
        told: float | None = self._told(
            lambda: float(library.nvmlDeviceGetClockInfo(self._handle, library.NVML_CLOCK_SM))
        )
        return told

    def temperature_c(self) -> float | None:
        """Read the temperature of the chip."""
        library = self._library
        told: float | None = self._told(
            lambda: float(library.nvmlDeviceGetTemperature(self._handle, library.NVML_TEMPERATURE_GPU))
        )
        return told

    def power_w(self) -> float | None:
        """Read the power that the board takes."""
        told: float | None = self._told(lambda: float(self._library.nvmlDeviceGetPowerUsage(self._handle)) / MILLI)
        return told

    def throttle_counts(self) -> dict[str, int] | None:
        """How long clocks have been held down since the driver was loaded, by reason; only growth has a meaning here."""
        library = self._library
        numbers = {name: getattr(library, field, None) for name, field in _REASONS.items()}
        known = {name: number for name, number in numbers.items() if number is not None}
        values = self._told(lambda: library.nvmlDeviceGetFieldValues(self._handle, list(known.values())))
        if not values:
            return None
        told = zip(known, values, strict=True)
        return {name: int(one.value.ullVal) for name, one in told if one.nvmlReturn == library.NVML_SUCCESS} or None

    def compute_processes(self) -> list[int] | None:
        """Ids of the processes with a context on the GPU, as the driver numbers them."""
        found = self._told(lambda: self._library.nvmlDeviceGetComputeRunningProcesses(self._handle))
        return None if found is None else sorted(process.pid for process in found)

    def foreign_processes(self, own_pids: Sequence[int] = ()) -> int | None:
        """Count other processes on the GPU than this one and ``own_pids``, the attempt's.

        ``None`` where this one is not in the list, as in a container with ids of its own.
        """
        found, own = self.compute_processes(), os.getpid()
        return len(set(found) - {own, *own_pids}) if found is not None and own in found else None

    def facts(self) -> dict[str, Any]:
        """Tell what is fixed: memory, highest clocks, limits, modes."""
        library, handle = self._library, self._handle
        asked: dict[str, Callable[[], Any]] = {
            "memory_bytes": lambda: int(library.nvmlDeviceGetMemoryInfo(handle).total),
            "most_sm_clock_mhz": lambda: int(library.nvmlDeviceGetMaxClockInfo(handle, library.NVML_CLOCK_SM)),
            "most_memory_clock_mhz": lambda: int(library.nvmlDeviceGetMaxClockInfo(handle, library.NVML_CLOCK_MEM)),
            "power_limit_w": lambda: library.nvmlDeviceGetEnforcedPowerLimit(handle) / MILLI,
            "persistence_mode": lambda: bool(library.nvmlDeviceGetPersistenceMode(handle)),
            "compute_mode": lambda: int(library.nvmlDeviceGetComputeMode(handle)),
            "ecc": lambda: bool(library.nvmlDeviceGetEccMode(handle)[0]),
            "mig": lambda: bool(library.nvmlDeviceGetMigMode(handle)[0]),
            "vbios": lambda: _text(library.nvmlDeviceGetVbiosVersion(handle)),
        }
        return {name: self._told(question) for name, question in asked.items()}

    def _told(self, question: Callable[[], Any]) -> Any:
        try:
            return question()
        except self._library.NVMLError:
            return None


def gpus(library: ModuleType) -> list[tuple[str, str]]:
    """UUID and name of every GPU, in the order of ``nvidia-smi``."""
    handles = [library.nvmlDeviceGetHandleByIndex(index) for index in range(library.nvmlDeviceGetCount())]
    return [(_text(library.nvmlDeviceGetUUID(one)), _text(library.nvmlDeviceGetName(one))) for one in handles]


def chosen(found: list[tuple[str, str]], selector: str | None, visible: str | None) -> tuple[str, str]:
    """Choose a GPU.

    Parameters
    ----------
    found:
        UUID and name of every GPU.
    selector:
        A number as ``nvidia-smi`` counts, or a UUID or its beginning; the first that may be used, if ``None``.
    visible:
        The variable ``CUDA_VISIBLE_DEVICES``: where it is set, nothing else may be used.

    Raises
    ------
    InputError
        There is none, or not that one.
    """
    allowed = found
    if visible is not None:
        allowed = [one for entry in visible.split(",") for one in _named(found, entry.strip())]
    wanted = allowed[:1] if selector is None else [one for one in _named(found, selector) if one in allowed]
    if len(wanted) != 1:
        known = ", ".join(f"{found.index(one)} ({one[0]})" for one in allowed) or "none"
        limited = " by CUDA_VISIBLE_DEVICES" if visible is not None else ""
        raise InputError(
            f"no GPU {selector!r} may be used here" if selector else "no GPU may be used here",
            remedy=f"--device takes a number or a UUID; allowed{limited}: {known}",
        )
    return wanted[0]


def _named(found: list[tuple[str, str]], entry: str) -> list[tuple[str, str]]:
    if entry.isdecimal():
        return found[int(entry) : int(entry) + 1]
    return [one for one in found if entry and one[0].startswith(entry)]


def driver_version(library: ModuleType) -> str:
    """Version of the kernel driver."""
    return _text(library.nvmlSystemGetDriverVersion())


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
