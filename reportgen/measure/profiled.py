"""What a process under the profiler does: of each arm's graph the lead-in as ever, then a few launches that are counted."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle, islice
from typing import Any

from reportgen.measure.rig import Rig

# One to open, right after the profiler was switched on, and three to take means over; each is counted anew in every pass of the profiler.
COUNTED_LAUNCHES = 4


def profile(rig: Rig) -> list[dict[str, Any]]:
    """Let the profiler count the first launches that would follow the lead-in, fixture by fixture and arm by arm in the plan's order.

    Returns
    -------
    list of dict
        The cells in the order in which they were counted: ``fixture``, ``arm``, and of each counted launch the kernels in order as
        ``[symbol, grid, block]``.
    """
    return [_count(rig, fixture.name, arm) for fixture in rig.job.fixtures for arm in fixture.arms]


def _count(rig: Rig, fixture: str, arm: str) -> dict[str, Any]:
    rig.channel.at("profile", fixture, arm)
    spec = rig.spec(fixture, arm)
    counted = replace(spec, launches=tuple(islice(cycle(spec.launches), COUNTED_LAUNCHES)))
    rig.session.count(rig.graphs[fixture, arm], rig.session.capture(counted), lead_in=rig.job.lead_in_replays)
    launches = [[[call.symbol, list(call.grid), list(call.block)] for call in one.calls] for one in counted.launches]
    return {"fixture": fixture, "arm": arm, "launches": launches}
