"""Which repetitions are done, which were lost, and what is measured next. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from reportgen.model.record import Repetition

REPLACES = "replaces"


@dataclass(frozen=True)
class Turn:
    """A repetition to measure; a spare names the lost one whose place it takes."""

    repetition: int
    replaces: int | None = None


@dataclass(frozen=True)
class Ledger:
    """State of an attempt's matrix, as its journal tells it.

    ``accepted`` are complete repetitions, ``lost`` those left out, ``replaced`` maps a spare to the one it took the place of.
    """

    planned: int
    spares: int
    accepted: frozenset[int]
    lost: tuple[int, ...]
    replaced: dict[int, int]

    @property
    def unreplaced(self) -> list[int]:
        """Lost repetitions whose place is empty, in the order in which they were lost."""
        return [lost for lost in self.lost if lost not in self.replaced.values()]

    @property
    def complete(self) -> bool:
        """Whether every planned place is filled."""
        return len(self.accepted) == self.planned

    @property
    def hopeless(self) -> bool:
        """Whether more places are empty than spares are left."""
        return len(self.unreplaced) > self.spares - len(self.replaced)

    def next_turn(self) -> Turn | None:
        """Planned repetitions first, then a spare for each lost one; ``None`` if complete or hopeless."""
        if self.complete or self.hopeless:
            return None
        done = self.accepted | set(self.lost)
        for repetition in range(1, self.planned + 1):
            if repetition not in done:
                return Turn(repetition)
        return Turn(self.planned + len(self.replaced) + 1, self.unreplaced[0])


def read_ledger(planned: int, spares: int, repetitions: Iterable[Repetition]) -> Ledger:
    """Ledger of the repetitions that a journal holds; calibration is none of them."""
    timed = [one for one in repetitions if one.repetition > 0]
    return Ledger(
        planned,
        spares,
        frozenset(one.repetition for one in timed if not one.left_out),
        tuple(one.repetition for one in timed if one.left_out),
        {one.repetition: one.facts[REPLACES] for one in timed if one.facts.get(REPLACES) is not None},
    )
