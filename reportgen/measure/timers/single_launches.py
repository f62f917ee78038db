"""What a person writes first: some launches to warm up, then single launches between two clock readings each, the median."""

from __future__ import annotations

import statistics
from typing import Any

from reportgen.measure.rig import Rig
from reportgen.measure.timers.interface import Figure, OneByOne, Place, spread


class SingleLaunches(OneByOne):
    """Needs no library and runs with every backend."""

    def __init__(self, rig: Rig, settings: dict[str, Any]) -> None:
        self._rig = rig
        self._warm_up, self._executions = settings["warm_up"], settings["executions"]
        self.about = {
            "library": "none",
            "version": "",
            "times": "one execution at a time between two clock readings of the device, nothing before it in the queue",
            "statistic": "median",
            "cache": "as the execution before left it",
            "stream": "the session's own",
        }

    def time_one(self, place: Place) -> Figure:
        """Median of single executions, each waited for."""
        graph = self._rig.session.capture(self._rig.single(place.fixture, place.arm))
        for _ in range(self._warm_up):
            self._rig.session.batch(graph, lead_in=0, replays=1)
        batches = [self._rig.session.batch(graph, lead_in=0, replays=1) for _ in range(self._executions)]
        times_ns = [batch.elapsed_ns for batch in batches]
        return Figure(statistics.median(times_ns), len(times_ns), spread(times_ns), batches[0].started_ns)
