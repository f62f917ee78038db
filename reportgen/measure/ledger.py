"""Which repetitions of one series are done, which were lost, and what is measured next. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from reportgen.measure.job import PROCESS
from reportgen.model.record import Repetition

REPLACES = "replaces"


@dataclass(frozen=True)
class Turn:
    """A repetition to measure, counted within its mode; a spare names the lost one whose place it takes."""

    repetition: int
    replaces: int | None = None
    mode: str = PROCESS


@dataclass(frozen=True)
class Ledger:
    """State of one series of an attempt, as its journal tells it.

    ``accepted`` are complete repetitions, ``lost`` those left out, ``replaced`` maps a spare to the one it took the place of.
    """

    planned: int
    spares: int
    accepted: frozenset[int]
    lost: tuple[int, ...]
    replaced: dict[int, int]
    mode: str = PROCESS

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
        return next((Turn(one, mode=self.mode) for one in self.open_places()), None) or self.spare_turn()

    def open_places(self) -> list[int]:
        """Planned repetitions that nobody has tried yet."""
        done = self.accepted | set(self.lost)
        return [one for one in range(1, self.planned + 1) if one not in done]

    def spare_turn(self) -> Turn | None:
        """Next spare, for the first lost repetition whose place is empty."""
        if not self.unreplaced:
            return None
        return Turn(self.planned + len(self.replaced) + 1, self.unreplaced[0], self.mode)

    def place(self, turn: Turn) -> int:
        """Planned repetition whose place a turn fills, through all spares that were lost in between."""
        place = turn.repetition if turn.replaces is None else turn.replaces
        while place in self.replaced:
            place = self.replaced[place]
        return place


def read_ledger(planned: int, spares: int, repetitions: Iterable[Repetition], mode: str = PROCESS) -> Ledger:
    """Ledger of the repetitions of ``mode`` that a journal holds; calibration is none of them."""
    timed = [one for one in repetitions if one.repetition > 0 and one.mode == mode]
    return Ledger(
        planned,
        spares,
        frozenset(one.repetition for one in timed if not one.left_out),
        tuple(one.repetition for one in timed if one.left_out),
        {one.repetition: one.facts[REPLACES] for one in timed if one.facts.get(REPLACES) is not None},
        mode,
    )
