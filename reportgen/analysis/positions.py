"""Whether a slot in the order costs or saves time, whoever fills it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from reportgen.analysis.median import FloatArray, median
from reportgen.analysis.pairing import PASSES, TimeCube
from reportgen.analysis.views import SliceView
from reportgen.model.result import PositionEffect


def position_effects(view: SliceView) -> list[PositionEffect]:
    """Median relative time by pass and slot over the slice's batches of the main group.

    A batch's relative time is its time over the mean of its arm's two batches in that process and fixture, less 1;
    batches without their mirror are left out.
    """
    parts = [_relative_times(cube, view.fixtures) for cube in view.cubes["main"]]
    slots, relative = np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
    if not len(slots):
        return []
    order = np.argsort(slots, kind="stable")
    found, starts = np.unique(slots[order], return_index=True)
    return [
        PositionEffect(
            slice=view.name,
            order_pass=int(slot % PASSES) + 1,
            position=int(slot // PASSES),
            batches=len(of_slot),
            effect=median(of_slot),
        )
        for slot, of_slot in sorted(
            zip(found, np.split(relative[order], starts[1:]), strict=True), key=lambda pair: (pair[0] % PASSES, pair[0])
        )
    ]


def _relative_times(cube: TimeCube, fixtures: tuple[str, ...]) -> tuple[npt.NDArray[np.int32], FloatArray]:
    """Slot (position x 2 + pass from 0) and relative time of every batch that has its mirror."""
    at = [cube.fixtures[name] for name in fixtures]
    relative = cube.half_ns[at] / cube.time_ns[at][..., None] - 1
    slots = np.asarray(cube.slot[at] * PASSES + np.arange(PASSES), dtype=np.int32)
    used = ~np.isnan(relative)
    return slots[used], relative[used]
