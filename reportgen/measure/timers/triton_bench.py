"""``triton.testing``: ``do_bench`` and ``do_bench_cudagraph``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reportgen.measure.rig import Rig
from reportgen.measure.timers.interface import Figure, OneByOne, Place, spread
from reportgen.measure.timers.launching import execution
from reportgen.measure.timers.torch_streams import current_stream, torch_with_gpu
from reportgen.units import NS_PER_MS


class DoBench(OneByOne):
    """The figure is the mean, as without ``return_mode``; asking for all times changes only what is returned."""

    def __init__(self, rig: Rig, settings: dict[str, Any]) -> None:
        self._torch = torch_with_gpu()
        import triton  # noqa: PLC0415 - seconds, and absent without the harness
        import triton.testing  # noqa: PLC0415 - the same

        self._rig, self._settings, self._bench = rig, settings, triton.testing.do_bench
        self.about = {
            "library": "triton",
            "version": triton.__version__,
            "times": "one call between two events",
            "statistic": "mean",
            "cache": "emptied before every call, by zeroing a buffer larger than the second-level cache",
            "stream": "PyTorch's current one: the default stream",
        }

    def time_one(self, place: Place) -> Figure:
        """Mean of single calls."""
        call = execution(self._rig, place).on(current_stream(self._torch))
        times_ns = [took_ms * NS_PER_MS for took_ms in self._bench(call, return_mode="all", **self._settings)]
        told = spread(times_ns)
        return Figure(told["mean_ns"], len(times_ns), told)


class DoBenchCudagraph(OneByOne):
    """The figure is the mean of ten replays of a graph of many calls, each over its number of calls."""

    def __init__(self, rig: Rig, settings: dict[str, Any]) -> None:
        self._torch = torch_with_gpu()
        import triton  # noqa: PLC0415 - seconds, and absent without the harness
        import triton.testing  # noqa: PLC0415 - the same

        self._rig, self._settings, self._bench = rig, settings, triton.testing.do_bench_cudagraph
        self.about = {
            "library": "triton",
            "version": triton.__version__,
            "times": "ten replays of one graph of as many calls as it judges to fill the time asked for",
            "statistic": "mean of the replays",
            "cache": "as the call before left it",
            "stream": "one that it makes",
        }

    def time_one(self, place: Place) -> Figure:
        """Mean over replays; the calls of the graph are counted while it is captured."""
        captured = _Captured(self._torch.cuda, execution(self._rig, place).launch)
        times_ns = [took_ms * NS_PER_MS for took_ms in self._bench(captured, return_mode="all", **self._settings)]
        told = spread(times_ns)
        return Figure(told["mean_ns"], captured.calls * len(times_ns), {**told, "calls_a_graph": captured.calls})


class _Captured:
    """A call on the current stream of its time that counts how often it was captured into a graph, which no clock sees."""

    def __init__(self, cuda: Any, launch: Callable[[int], None]) -> None:
        self._cuda, self._launch, self.calls = cuda, launch, 0

    def __call__(self) -> None:
        self._launch(self._cuda.current_stream().cuda_stream)
        self.calls += self._cuda.is_current_stream_capturing()
