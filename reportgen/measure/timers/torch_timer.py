"""``torch.utils.benchmark.Timer(...).blocked_autorange()``."""

from __future__ import annotations

from typing import Any

from reportgen.measure.rig import Rig
from reportgen.measure.timers.interface import Figure, OneByOne, Place, spread
from reportgen.measure.timers.launching import execution
from reportgen.measure.timers.torch_streams import current_stream, torch_with_gpu
from reportgen.units import NS_PER_S


class BlockedAutorange(OneByOne):
    """The figure is the measurement's median, which its report prints first."""

    def __init__(self, rig: Rig, settings: dict[str, Any]) -> None:
        self._torch = torch_with_gpu()
        from torch.utils import benchmark  # noqa: PLC0415 - seconds, and absent without the harness

        self._rig, self._settings, self._timer = rig, settings, benchmark.Timer
        self.about = {
            "library": "torch",
            "version": str(self._torch.__version__),
            "times": "blocks of calls from the host, by the host's clock, the device waited for at both ends of a block",
            "statistic": "median of the blocks",
            "cache": "as the call before left it",
            "stream": "PyTorch's current one: the default stream",
        }

    def time_one(self, place: Place) -> Figure:
        """Median over blocks of calls."""
        call = execution(self._rig, place).on(current_stream(self._torch))
        measured = self._timer(stmt="call()", globals={"call": call}).blocked_autorange(**self._settings)
        told = {
            **spread([took_s * NS_PER_S for took_s in measured.times]),
            "calls_a_block": measured.number_per_run,
            "iqr_ns": measured.iqr * NS_PER_S,
            "has_warnings": bool(measured.has_warnings),
        }
        return Figure(measured.median * NS_PER_S, measured.number_per_run * len(measured.times), told)
