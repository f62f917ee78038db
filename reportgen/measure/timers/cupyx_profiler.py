"""``cupyx.profiler.benchmark``."""

from __future__ import annotations

from typing import Any

from reportgen.measure.rig import Rig
from reportgen.measure.timers.interface import Figure, OneByOne, Place, spread
from reportgen.measure.timers.launching import execution
from reportgen.units import NS_PER_S


class CupyxBenchmark(OneByOne):
    """The figure is the mean of the GPU's times, which its report prints."""

    def __init__(self, rig: Rig, settings: dict[str, Any]) -> None:
        import cupy  # noqa: PLC0415 - only where it is asked for
        from cupyx.profiler import benchmark  # noqa: PLC0415 - the same

        self._rig, self._settings, self._benchmark = rig, settings, benchmark
        self._stream = cupy.cuda.get_current_stream
        self.about = {
            "library": "cupy",
            "version": cupy.__version__,
            "times": "one call between two events, the device waited for after each",
            "statistic": "mean of the GPU's times",
            "cache": "as the call before left it",
            "stream": "CuPy's current one: the default stream",
        }

    def time_one(self, place: Place) -> Figure:
        """Mean of single calls."""
        call = execution(self._rig, place).on(self._stream().ptr)
        result = self._benchmark(call, name=place.arm, **self._settings)
        times_ns = [float(took_s) * NS_PER_S for took_s in result.gpu_times[0]]
        told = spread(times_ns)
        cpu_ns = [float(took_s) * NS_PER_S for took_s in result.cpu_times]
        return Figure(told["mean_ns"], len(times_ns), {**told, "cpu_mean_ns": spread(cpu_ns)["mean_ns"]})
