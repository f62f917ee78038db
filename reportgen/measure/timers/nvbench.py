"""NVIDIA's NVBench by its Python package ``cuda-bench``.

It keeps one list of benchmarks a process and runs it once, so every figure is registered first, in the drawn order, and read from the
JSON file that it writes at its end.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from reportgen.errors import WorkerError
from reportgen.measure.rig import Rig
from reportgen.measure.timers.interface import Around, Figure, Place, finite
from reportgen.measure.timers.launching import execution
from reportgen.units import NS_PER_S

COLD_MEAN, COLD_SAMPLES = "nv/cold/time/gpu/mean", "nv/cold/sample_size"
_KEPT = ("nv/cold/", "nv/batch/")


class NvBench:
    """The figure is the mean of isolated executions: the column "GPU Time" of its report, whose noise is archived beside it."""

    def __init__(self, rig: Rig, settings: dict[str, Any]) -> None:
        from cuda import bench  # noqa: PLC0415 - absent without the harness
        from cuda.bench.results import BenchmarkResult  # noqa: PLC0415 - the same

        self._rig, self._settings, self._bench, self._results = rig, settings, bench, BenchmarkResult
        self.about = {
            "library": "cuda-bench",
            "version": bench.__version__,
            "times": "one call between two events, enqueued while a kernel blocks the stream",
            "statistic": "mean of isolated executions, until its noise is low enough or time is up",
            "cache": "emptied before every call, by overwriting a buffer as large as the second-level cache",
            "stream": "one that it makes",
        }

    def figures(self, places: Sequence[Place], around: Around) -> list[Figure]:
        """Register everything, run once, read what was written."""
        names = [f"figure_{index:05d}" for index in range(len(places))]
        for name, place in zip(names, places, strict=True):
            self._bench.register(self._benchmark(place, around)).set_name(name)
        with tempfile.TemporaryDirectory() as folder:
            told = Path(folder, "told.json")
            self._bench.run_all_benchmarks(["reportgen", "--quiet", "--json", str(told), *self._options()])
            result = self._results.from_json(str(told))
            return [_figure(result[name].states, place) for name, place in zip(names, places, strict=True)]

    def _benchmark(self, place: Place, around: Around) -> Callable[[Any], None]:
        launch = execution(self._rig, place).launch

        def call(here: Any) -> None:
            launch(here.get_stream().addressof())

        def benchmark(state: Any) -> None:
            with around(place):
                state.exec(call)

        return benchmark

    def _options(self) -> list[str]:
        """Write the settings as its command line takes them."""
        return [word for name, value in self._settings.items() for word in (f"--{name.replace('_', '-')}", str(value))]


def _figure(states: Sequence[Any], place: Place) -> Figure:
    summaries = {tag: one.value for state in states for tag, one in state.summaries.items()}
    mean_s = finite(summaries.get(COLD_MEAN))
    if mean_s is None:
        reason = next((state.skip_reason for state in states if state.is_skipped), None) or "no time was written"
        raise WorkerError(f"NVBench gave no figure for arm {place.arm!r} on {place.fixture}: {reason}")
    told = {tag: finite(value) for tag, value in summaries.items() if tag.startswith(_KEPT)}
    return Figure(mean_s * NS_PER_S, int(summaries.get(COLD_SAMPLES) or 1), told)
