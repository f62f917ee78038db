"""Whether a slot in the order costs or saves time, whoever fills it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from reportgen.analysis.median import FloatArray, IntArray
from reportgen.analysis.pairing import TimeCube
from reportgen.analysis.views import SliceView
from reportgen.model.result import PositionEffect


def position_effects(view: SliceView) -> list[PositionEffect]:
    """Median relative time by pass and slot over the slice's batches of the main group.

    A batch's relative time is its time over the mean of its arm's two batches in that process and fixture, less 1;
    batches without their mirror are left out.
    """
    parts = [_relative_times(cube, view.fixtures) for cube in view.cubes["main"]]
    halves, positions, relative = (np.concatenate([part[at] for part in parts]) for at in range(3))
    order = np.lexsort((relative, positions, halves))
    halves, positions, relative = halves[order], positions[order], relative[order]
    new = np.flatnonzero((np.diff(halves) != 0) | (np.diff(positions) != 0)) + 1
    starts, ends = np.concatenate(([0], new)), np.concatenate((new, [len(order)]))
    return [
        PositionEffect(
            slice=view.name,
            order_pass=int(halves[start]) + 1,
            position=int(positions[start]),
            batches=int(end - start),
            effect=float((relative[(start + end - 1) // 2] + relative[(start + end) // 2]) / 2),
        )
        for start, end in zip(starts, ends, strict=True)
        if end > start
    ]


def _relative_times(cube: TimeCube, fixtures: tuple[str, ...]) -> tuple[IntArray, IntArray, FloatArray]:
    rows = cube.rows
    wanted = np.array([name in set(fixtures) for name in cube.fixtures], dtype=bool)
    relative = rows.time_ns / cube.time_ns[rows.fixture, rows.arm, rows.repetition] - 1
    used: npt.NDArray[np.bool_] = wanted[rows.fixture] & ~np.isnan(relative)
    return rows.half[used], rows.position[used], relative[used]
