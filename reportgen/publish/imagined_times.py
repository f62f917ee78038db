"""Times of a record that could have been measured, such that they agree with the changes that a claim asks for beside them.

A time and a change of one arm on one fixture hang together by formula: the ratio is that of two times. Drawn apart they would belie a claim that
no record can.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from reportgen.model.result import ArmTime
from reportgen.publish import lookup
from reportgen.publish.view import RecordView

Pair = tuple[str, str]


def times_of(record: RecordView, arm: str, at: Mapping[str, Any], pairs: Iterable[Pair]) -> list[float]:
    """Give the times of an arm on the one fixture ``at`` in ns, a device each; ``pairs`` are the arms that a claim compares, each with its baseline.

    Raises
    ------
    InputError
        No time, or those of several fixtures, fit.
    """
    known = {(one.device, one.fixture, one.arm): one.median_ns for one in record.result.times}
    asked = list(dict.fromkeys(pairs))
    return [_following(record, one, known, asked) for one in lookup.times_of(record, arm, at)]


def _following(record: RecordView, time: ArmTime, known: Mapping[Any, float], pairs: Sequence[Pair]) -> float:
    """Take the time of the first arm by name that comparisons lead to, times the ratios on the way back."""
    ways, open_ends = {time.arm: 1.0}, [time.arm]
    ratios = _ratios(record, time, pairs)
    while open_ends:
        at = open_ends.pop()
        for (arm, baseline), ratio in ratios.items():
            for here, there, factor in ((arm, baseline, ratio), (baseline, arm, 1 / ratio)):
                if here == at and there not in ways and (time.device, time.fixture, there) in known:
                    ways[there] = ways[at] * factor
                    open_ends.append(there)
    first = min(ways)
    return known[time.device, time.fixture, first] * ways[first]


def _ratios(record: RecordView, time: ArmTime, pairs: Sequence[Pair]) -> dict[Pair, float]:
    return {
        (one.arm, one.baseline): cell.ratio
        for one in record.result.comparisons
        if (one.arm, one.baseline) in pairs and not one.where
        for cell in one.cells
        if (cell.device, cell.fixture) == (time.device, time.fixture)
    }
