"""The series of an attempt (its modes, peers and outer harnesses), and in which order their repetitions take turns. Pure.

Repetition k of all modes is measured one after the other, the order of the modes rotating with k, so that a drift of the
machine meets all of them alike. Repetitions of peers and of a harness stand between those rounds, spread evenly over them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from reportgen.measure.job import LAYOUT, PEER, PLACEMENT
from reportgen.measure.ledger import Ledger, Turn, read_ledger
from reportgen.model.experiment import Experiment, Role
from reportgen.model.protocol import Protocol
from reportgen.model.record import Repetition

STAYING = (LAYOUT, PLACEMENT)


@dataclass(frozen=True)
class Series:
    """One series of repetitions; ``block`` is how many of them one process stays alive for, 1 where each is a fresh one."""

    name: str
    planned: int
    spares: int
    block: int = 1
    is_mode: bool = True

    @property
    def stays(self) -> bool:
        """Whether one process measures several repetitions."""
        return self.name in STAYING and self.is_mode


def series_of(experiment: Experiment, repetitions: int, *, quick: bool) -> tuple[Series, ...]:
    """Series of an attempt with ``repetitions`` of every mode; a quick one has one block, and one repetition of a harness.

    Peers have as many repetitions as a mode, or the protocol's number where that is smaller.
    """
    protocol = experiment.protocol
    block = repetitions if quick else protocol.block_repetitions
    modes = [
        Series(mode.value, repetitions, protocol.spares, block if mode.value in STAYING else 1)
        for mode in protocol.modes
    ]
    harnesses = [
        Series(harness.name, 1 if quick else harness.repetitions, protocol.spares, is_mode=False)
        for harness in experiment.harnesses
    ]
    peers = [Series(PEER, peer_repetitions(protocol, repetitions), protocol.spares, is_mode=False)]
    return (*modes, *(peers if any(arm.role is Role.PEER for arm in experiment.arms) else []), *harnesses)


def peer_repetitions(protocol: Protocol, repetitions: int) -> int:
    """Repetitions of peers in an attempt whose modes have ``repetitions``."""
    return min(repetitions, protocol.peer_repetitions or repetitions)


def planned_turns(series: Sequence[Series]) -> list[Turn]:
    """All planned repetitions in the order in which they are measured where nothing is lost."""
    modes = [one for one in series if one.is_mode]
    rounds = max(one.planned for one in modes)
    turns: list[Turn] = []
    for repetition in range(1, rounds + 1):
        shift = (repetition - 1) % len(modes)
        turns += [Turn(repetition, mode=one.name) for one in (*modes[shift:], *modes[:shift])]
        for other in (one for one in series if not one.is_mode):
            due = [
                number for number in range(1, other.planned + 1) if _round(number, other.planned, rounds) == repetition
            ]
            turns += [Turn(number, mode=other.name) for number in due]
    return turns


def _round(number: int, planned: int, rounds: int) -> int:
    """Round after which such a repetition stands: in the middle of its share of the rounds."""
    return -(-(2 * number - 1) * rounds // (2 * planned))


@dataclass(frozen=True)
class Book:
    """What an attempt has measured of its series, as its journal tells it, and what comes next."""

    series: tuple[Series, ...]
    repetitions: tuple[Repetition, ...]

    @cached_property
    def ledgers(self) -> dict[str, Ledger]:
        """Ledger of each series."""
        return {one.name: read_ledger(one.planned, one.spares, self.repetitions, one.name) for one in self.series}

    @property
    def complete(self) -> bool:
        """Whether every planned place of every series is filled."""
        return all(ledger.complete for ledger in self.ledgers.values())

    @property
    def left(self) -> int:
        """Number of places that are still to be filled."""
        return sum(ledger.planned - len(ledger.accepted) for ledger in self.ledgers.values())

    def next_turn(self) -> Turn | None:
        """Say what is measured next; ``None`` if all is complete, or a series has lost more than its spares.

        A lost repetition of a process that stays alive is made good at once, while that process may still be there; other
        series use their spares once everything planned has been tried.
        """
        if any(ledger.hopeless for ledger in self.ledgers.values()):
            return None
        staying = self._spares(one for one in self.series if one.stays)
        done = {(one.mode, one.repetition) for one in self.repetitions}
        planned = (turn for turn in planned_turns(self.series) if (turn.mode, turn.repetition) not in done)
        return next((turn for turns in (staying, planned, self._spares(self.series)) for turn in turns), None)

    def block(self, turn: Turn) -> int:
        """Block, from 1, that a turn belongs to."""
        series = self._named(turn.mode)
        return (self.ledgers[turn.mode].place(turn) - 1) // series.block + 1

    def ends_block(self, turn: Turn) -> bool:
        """Whether a turn fills the last place of its block."""
        return self.ledgers[turn.mode].place(turn) % self._named(turn.mode).block == 0

    def remains_in_block(self, turn: Turn) -> bool:
        """Whether the block of a turn has places that are still to be filled."""
        series, ledger = self._named(turn.mode), self.ledgers[turn.mode]
        filled = {ledger.place(Turn(one, mode=turn.mode)) for one in ledger.accepted}
        block = self.block(turn)
        return any(place not in filled for place in range((block - 1) * series.block + 1, block * series.block + 1))

    def stays(self, turn: Turn) -> bool:
        """Whether a turn belongs to a process that measures several."""
        return self._named(turn.mode).stays

    def _named(self, name: str) -> Series:
        return next(one for one in self.series if one.name == name)

    def _spares(self, series: Iterable[Series]) -> list[Turn]:
        turns = [self.ledgers[one.name].spare_turn() for one in series]
        return [turn for turn in turns if turn is not None]
