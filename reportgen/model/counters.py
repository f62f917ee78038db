"""What a profile attempt says: means of its counters, and whether a fixture that is called rotating is so."""

from __future__ import annotations

import msgspec

ROTATING = "rotating"
# Of what a launch must move at least, the share that must come from the device's memory (or go there) where every launch finds the caches cold.
LEAST_ROTATING_SHARE = 0.9


class CounterLine(msgspec.Struct, frozen=True):
    """One kernel of an arm on a fixture: the ``call``-th of an execution. ``values`` are means over the counted launches, by column."""

    fixture: str
    arm: str
    call: int
    kernel: str
    launches: int
    values: dict[str, float]


class Rotation(msgspec.Struct, frozen=True):
    """Of a fixture that is called rotating, the arm that moved the fewest bytes between device memory and caches in a launch.

    ``footprint_bytes`` is what the experiment says that a launch must move at least. It is rotating where ``share``, the one over the
    other, reaches ``LEAST_ROTATING_SHARE``.
    """

    fixture: str
    arm: str
    dram_bytes: float
    footprint_bytes: int

    @property
    def share(self) -> float:
        """Bytes moved over those that must be moved."""
        return self.dram_bytes / self.footprint_bytes

    @property
    def holds(self) -> bool:
        """Whether the fixture may be called rotating."""
        return self.share >= LEAST_ROTATING_SHARE
