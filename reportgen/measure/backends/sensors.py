"""What Linux tells about one core: clock, governor, temperature, throttling. Absent files read as ``None``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

CPU = Path("/sys/devices/system/cpu")
CPUINFO = Path("/proc/cpuinfo")
THERMAL = Path("/sys/class/thermal")
KHZ_PER_MHZ = 1000
MILLI = 1000


class Sensors:
    """Sensors of ``core``; where the process is not pinned, those of core 0."""

    def __init__(self, core: int | None) -> None:
        self._core = core or 0
        self._folder = CPU / f"cpu{self._core}"
        self._zone = _thermal_zone()

    def clock_mhz(self) -> float | None:
        """Read the current clock, from cpufreq or else from /proc/cpuinfo."""
        khz = _text(self._folder / "cpufreq" / "scaling_cur_freq")
        return float(khz) / KHZ_PER_MHZ if khz else _cpuinfo_mhz(self._core)

    def temperature_c(self) -> float | None:
        """Read the temperature of the processor's thermal zone."""
        reading = _text(self._zone / "temp") if self._zone else None
        return float(reading) / MILLI if reading else None

    def throttle_counts(self) -> dict[str, int] | None:
        """How often core and package were slowed for heat since the machine started."""
        folder = self._folder / "thermal_throttle"
        counts = {name: _text(folder / f"{name}_throttle_count") for name in ("core", "package")}
        known = {f"thermal_{name}": int(count) for name, count in counts.items() if count}
        return known or None

    def facts(self) -> dict[str, Any]:
        """Governor and the sources of the readings."""
        return {
            "governor": _text(self._folder / "cpufreq" / "scaling_governor"),
            "clock_source": "cpufreq" if (self._folder / "cpufreq" / "scaling_cur_freq").exists() else "/proc/cpuinfo",
            "thermal_zone": _text(self._zone / "type") if self._zone else None,
        }


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="ascii").strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def _thermal_zone() -> Path | None:
    zones = sorted(THERMAL.glob("thermal_zone*"))
    of_processor = [
        zone for zone in zones if any(word in (_text(zone / "type") or "") for word in ("pkg", "cpu", "soc"))
    ]
    return next(iter(of_processor or zones), None)


def _cpuinfo_mhz(core: int) -> float | None:
    current = -1
    for line in (_text(CPUINFO) or "").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "processor":
            current = int(value)
        if name.strip() == "cpu MHz" and current == core:
            return float(value)
    return None
