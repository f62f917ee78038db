"""From figures to pixels: straight and logarithmic scales, with ticks at round figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

SLACK = 0.06  # of the range, left free at either end
STEPS = (1, 2, 5, 10)


@dataclass(frozen=True)
class Linear:
    """Figures from ``low`` to ``high`` onto pixels from ``start`` to ``end``, which may run backwards."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Place a figure."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, spaces: int = 5) -> list[float]:
        """Round figures over the range, with about so many spaces between them; zero among them if it lies there."""
        rough = (self.high - self.low) / spaces
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * factor for factor in STEPS if power * factor >= rough)
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        return [round(place * step, 10) for place in range(first, last + 1)]


def around(values: Sequence[float], start: float, end: float) -> Linear:
    """Scale over all of ``values`` with some room at either end."""
    low, high = min(values), max(values)
    slack = (high - low or abs(high) or 1.0) * SLACK
    return Linear(low - slack, high + slack, start, end)


def decimals(ticks: Sequence[float]) -> int:
    """Count the decimals that tell ticks apart."""
    step = ticks[1] - ticks[0] if len(ticks) > 1 else 1.0
    return max(0, -math.floor(math.log10(step) + 1e-9))


@dataclass(frozen=True)
class Logarithmic:
    """Positive figures from ``low`` to ``high`` onto pixels, equal ratios to equal lengths."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Place a figure."""
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Powers of ten over the range; where there are fewer than three, 2 and 5 between them too."""
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        powers = [10.0**power for power in range(first, last + 1)]
        tens = [value for value in powers if self.low <= value <= self.high]
        finer = [power * factor for power in powers for factor in (1, 2, 5)]
        return tens if len(tens) >= 3 else [value for value in finer if self.low <= value <= self.high]  # noqa: PLR2004 - three show a scale
