"""What a timing program of others looks like from here: asked once an arm and fixture, it tells the time of one execution."""

from __future__ import annotations

import math
import statistics
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

_QUARTERS = 4


@dataclass(frozen=True)
class Place:
    """One figure to be asked for: an arm on a fixture."""

    fixture: str
    arm: str


@dataclass(frozen=True)
class Figure:
    """What a program told.

    ``time_ns`` is its time of one execution, as its own documentation has it reported; ``executions`` how many it rests on, 1 if
    it does not tell. ``told`` is what else it says, its own spread above all. ``started_ns`` is on the session's clock, where known.
    """

    time_ns: float
    executions: int
    told: dict[str, Any] = field(default_factory=dict)
    started_ns: int | None = None


Around = Callable[[Place], AbstractContextManager[None]]


class Timer(Protocol):
    """A timing program, loaded and ready.

    ``about`` says what it is: ``library``, ``version``, ``times`` (what lies in its window), ``statistic``, ``cache``, ``stream``.
    """

    about: dict[str, str]

    def figures(self, places: Sequence[Place], around: Around) -> list[Figure]:
        """Ask once for each of ``places``, in that order; ``around(place)`` is entered while that one is being timed."""


class OneByOne(ABC):
    """A timing program that is called once for each figure."""

    def figures(self, places: Sequence[Place], around: Around) -> list[Figure]:
        """Ask for one figure after the other."""
        found = []
        for place in places:
            with around(place):
                found.append(self.time_one(place))
        return found

    @abstractmethod
    def time_one(self, place: Place) -> Figure:
        """Ask for one figure."""


def spread(times_ns: Sequence[float]) -> dict[str, float | int]:
    """Location and spread of single times in nanoseconds; quartiles by linear interpolation between order statistics."""
    several = len(times_ns) > 1
    quartiles = statistics.quantiles(times_ns, n=_QUARTERS, method="inclusive") if several else [times_ns[0]] * 3
    return {
        "n": len(times_ns),
        "mean_ns": statistics.fmean(times_ns),
        "median_ns": float(statistics.median(times_ns)),
        "sd_ns": statistics.stdev(times_ns) if several else 0.0,
        "min_ns": float(min(times_ns)),
        "lower_quartile_ns": float(quartiles[0]),
        "upper_quartile_ns": float(quartiles[2]),
        "max_ns": float(max(times_ns)),
    }


def finite(value: Any) -> Any:
    """``value``, or ``None`` for a number that JSON cannot hold."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
