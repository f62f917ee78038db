"""Comparisons over blocks of consecutive repetitions in one mode: an A/A study asks each block for an interval of its own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from reportgen.analysis.decision import FEWEST_REPETITIONS, DevicePairs
from reportgen.analysis.median import FloatArray, IntArray, Samples
from reportgen.analysis.pairing import DeviceRows, TimeCube
from reportgen.analysis.views import SliceView, slice_views
from reportgen.model.plan import Plan


@dataclass(frozen=True)
class Asked:
    """Which comparison a row is: two arms on one device and slice, over one block (from 1)."""

    device: str
    slice: str
    arm: str
    baseline: str
    block: int


@dataclass(frozen=True, eq=False)
class Blocks:
    """Comparisons of one mode, one a row; ``h`` holds the process values in the order of time, NaN where missing.

    ``low`` and ``high`` are the decision interval of ``estimate``, ``bootstrap_low`` and ``bootstrap_high`` the percentile interval of
    the exact bootstrap law of the median. Blocks of fewer than six process values have no interval and are no rows.
    """

    asked: tuple[Asked, ...]
    h: FloatArray
    count: IntArray
    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    bootstrap_low: FloatArray
    bootstrap_high: FloatArray


@dataclass(frozen=True, eq=False)
class ModeView:
    """The slices as one mode timed them, and by device the place among the planned repetitions that each spare took."""

    mode: str
    plan: Plan
    views: tuple[SliceView, ...]
    places: Mapping[str, Mapping[int, int]]


@dataclass(frozen=True, eq=False)
class Placed:
    """Time ratios of ``pairs`` of arms on one device: fixtures x pairs x planned repetitions, NaN where missing."""

    device: str
    slice: str
    pairs: tuple[tuple[str, str], ...]
    values: FloatArray

    def process_values(self) -> FloatArray:
        """Take the process values of every pair: pairs x planned repetitions (rule 2)."""
        fixtures, pairs, planned = self.values.shape
        flat = DevicePairs(self.device, (), (), self.values.reshape(fixtures, pairs * planned))
        return flat.process_values().reshape(pairs, planned)


def mode_view(plan: Plan, rows: Sequence[DeviceRows], mode: str) -> ModeView:
    """Take what one mode timed. Raises as ``views.slice_views``."""
    places = {device.device: device.places.get(mode, {}) for device in rows}
    return ModeView(mode, plan, tuple(slice_views(plan, rows, mode=mode)), places)


def placed(seen: ModeView, view: SliceView, pairs: Sequence[tuple[str, str]]) -> Iterator[Placed]:
    """Put the ratios of pairs (arm, baseline) in their planned places, on every device of a slice.

    Left out are pairs that share no fixture there, and those of which an arm failed a check. A spare stands where the
    repetition stood that it replaced.
    """
    by_fixtures: dict[tuple[str, ...], list[tuple[str, str]]] = defaultdict(list)
    for arm, baseline in pairs:
        fixtures = view.shared_fixtures(arm, baseline, {})
        if fixtures and not view.failed & {arm, baseline}:
            by_fixtures[fixtures].append((arm, baseline))
    for cube in view.cubes["main"]:
        for fixtures, shared in by_fixtures.items():
            times = cube.time_ns[[cube.fixtures[name] for name in fixtures]]
            arm_ns, baseline_ns = (times[:, [cube.arms[pair[side]] for pair in shared]] for side in (0, 1))
            yield Placed(cube.device, view.name, tuple(shared), _in_place(seen, cube, arm_ns / baseline_ns))


def _in_place(seen: ModeView, cube: TimeCube, ratios: FloatArray) -> FloatArray:
    planned, taken = seen.plan.experiment.protocol.repetitions, seen.places.get(cube.device, {})
    at = np.array([taken.get(number, number) for number in cube.repetitions], dtype=np.int64)
    kept = (at >= 1) & (at <= planned)
    found = np.full((*ratios.shape[:2], planned), np.nan)
    found[..., at[kept] - 1] = ratios[..., kept]
    return found


def blocks_of(seen: ModeView, asked: Sequence[tuple[SliceView, Sequence[tuple[str, str]]]]) -> Blocks:
    """Estimate and interval of every block of every pair of arms, slice by slice.

    A process value is the median over the fixtures of a slice (rule 2); the interval is stretched to hold the block's
    headline (rule 5), which a slice of one fixture never needs.
    """
    size = seen.plan.experiment.protocol.block_repetitions
    number = seen.plan.experiment.protocol.repetitions // size
    parts = [part for view, pairs in asked for part in placed(seen, view, pairs)]
    names = [
        Asked(part.device, part.slice, *pair, block)
        for part in parts
        for pair in part.pairs
        for block in range(1, number + 1)
    ]
    h = [part.process_values()[:, : number * size].reshape(-1, size) for part in parts]
    headline = [_headlines(part.values[..., : number * size], size) for part in parts]
    return _intervals(names, np.concatenate([np.empty((0, size)), *h]), np.concatenate([np.empty(0), *headline]))


def _headlines(values: FloatArray, size: int) -> FloatArray:
    """Median over fixtures of the medians over a block's repetitions: one a pair and block."""
    fixtures = len(values)
    cells = Samples.of(values.reshape(-1, size)).median().reshape(fixtures, -1)
    return Samples.of(np.ascontiguousarray(cells.T)).median()


def _intervals(asked: Sequence[Asked], h: FloatArray, headline: FloatArray) -> Blocks:
    samples = Samples.of(h)
    enough = samples.count >= FEWEST_REPETITIONS
    kept = Samples(samples.ordered[enough], samples.count[enough])
    low, high = kept.order_ends()
    bootstrap_low, bootstrap_high = kept.bootstrap_ends()
    return Blocks(
        asked=tuple(one for one, whole in zip(asked, enough, strict=True) if whole),
        h=h[enough],
        count=kept.count,
        estimate=kept.median(),
        low=np.fmin(low, headline[enough]),
        high=np.fmax(high, headline[enough]),
        bootstrap_low=bootstrap_low,
        bootstrap_high=bootstrap_high,
    )
