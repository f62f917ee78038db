"""Median time of every arm on every device and fixture."""

from __future__ import annotations

from collections.abc import Sequence

from reportgen.analysis.median import Samples
from reportgen.analysis.pairing import TimeCube
from reportgen.analysis.views import SliceView
from reportgen.model.result import ArmTime


def arm_times(views: Sequence[SliceView]) -> list[ArmTime]:
    """Median over repetitions of the time per launch, in ns, by device, fixture and arm in the order of the plan.

    Peers are timed by peer processes; an arm of the main group that they repeat is shown as the main group timed it.
    """
    cubes = {
        cube.device: (cube, view.cubes["peer"][at]) for view in views for at, cube in enumerate(view.cubes["main"])
    }
    times = []
    for device in sorted(cubes):
        main, peer = cubes[device]
        rows = {**_medians(peer), **_medians(main)}
        times += [rows[key] for key in sorted(rows)]
    return [entry for entry in times if entry.repetitions]


def _medians(cube: TimeCube) -> dict[tuple[int, int], ArmTime]:
    fixtures, arms = list(cube.fixtures), list(cube.arms)
    samples = Samples.of(cube.time_ns.reshape(len(fixtures) * len(arms), -1))
    found = zip(samples.median().tolist(), samples.count.tolist(), strict=True)
    return {
        divmod(at, len(arms)): ArmTime(
            device=cube.device,
            fixture=fixtures[at // len(arms)],
            arm=arms[at % len(arms)],
            median_ns=median_ns,
            repetitions=count,
        )
        for at, (median_ns, count) in enumerate(found)
        if count
    }
