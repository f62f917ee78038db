"""In which order arms are timed: the schedule of an attempt and the layout of a process.

**Construction.** Let a fixture have k arms, numbered 0 .. k-1, and let w be the zigzag 0, 1, k-1, 2, k-2, ... of
E. J. Williams (Australian Journal of Scientific Research A 2, 1949, 149-168). For even k the steps between neighbours
of w are all non-zero residues modulo k, each once; so the k rows w + i hold every arm in every position once and every
ordered pair of neighbours once. For odd k the steps read the same from either end, and they and their negatives cover
every residue twice; so the 2k rows i + w and i - w (which are the mirrors of the former) hold every arm in every
position twice and every ordered pair twice. Those rows are a *block*; renumbering the arms by a permutation s gives
another, with the same balance.

**Blocks never overlap in part.** The rows of a block are s G w, G being the group of rotations of k points (even k) or
of rotations and reflections (odd k), since i - w is i + w seen through x -> -x. Blocks are therefore left cosets of G,
and split all k! orders into classes of |G| rows each: (k-1)! classes of k, or (k-1)!/2 of 2k.

**Balance.** All fixtures with one set of arms share a queue of blocks; only its last block is used in part. Of a whole
block each position and pair has one (even k) or two (odd k), so over repetitions x fixtures the counts of positions and
of ordered neighbours in the first pass differ by at most 1 (even k) or 2 (odd k), for every number of rows. The halves
w + i and w - i of an odd block come one after the other, which keeps even its position counts within 1 wherever
a fixture has at most k! - 2k repetitions.

**Distinct orders.** A fixture takes consecutive rows of the queue. A block that begins inside a fixture is drawn among
those least used by that fixture so far, and its rows are handed out least used first. All blocks but one are used
by the fixture as a whole, so an order comes twice only once all k! have come: up to k! repetitions of a fixture are
distinct, and beyond that the uses of any two orders differ by at most 1. Two arms have two orders: of 12 repetitions
each order takes 6. At last the rows of a fixture are dealt to its repetitions at random.

Only the standard library is needed here.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from reportgen.measure.draws import Draws

MOST_REPETITIONS = 1000
_MOST_LISTED_ARMS = 6  # up to 120 blocks are listed; of 7 arms there are 360 of 14 rows, of which 1000 rows fill 72
ALIGNMENT_BYTES = 64

Row = tuple[int, ...]


@dataclass(frozen=True)
class Schedule:
    """The first-pass order of every repetition and fixture; the second pass is its mirror.

    Parameters
    ----------
    orders:
        Fixture to a list of orders; entry 0 is the calibrating process's, which the balance leaves out.
    spares:
        How many spare repetitions there are after the planned ones.
    replaced:
        Spare repetition to the repetition whose place it takes.
    """

    orders: dict[str, list[list[str]]]
    spares: int
    replaced: dict[int, int] = field(default_factory=dict)

    @property
    def repetitions(self) -> int:
        """Planned repetitions."""
        return max((len(orders) - 1 for orders in self.orders.values()), default=0)

    def order(self, repetition: int, fixture: str) -> list[str]:
        """Arms of a repetition's first pass: 0 calibrates, then the planned ones, then spares that were given a place.

        Raises
        ------
        ValueError
            There is no such repetition, or it is a spare that replaces none yet.
        """
        while repetition in self.replaced:
            repetition = self.replaced[repetition]
        if not 0 <= repetition <= self.repetitions:
            raise ValueError(f"repetition {repetition} is neither planned nor a spare that replaces another")
        return list(self.orders[fixture][repetition])

    def mirror(self, repetition: int, fixture: str) -> list[str]:
        """Arms of the second pass."""
        return self.order(repetition, fixture)[::-1]

    def with_spare(self, spare: int, replaces: int) -> Schedule:
        """Give a spare the orders of the repetition (planned, or itself a spare) that it replaces.

        Raises
        ------
        ValueError
            ``spare`` is no unused spare, or ``replaces`` was replaced already or has no place.
        """
        if not self.repetitions < spare <= self.repetitions + self.spares or spare in self.replaced:
            raise ValueError(f"repetition {spare} is no unused spare")
        if replaces in self.replaced.values() or not (1 <= replaces <= self.repetitions or replaces in self.replaced):
            raise ValueError(f"repetition {replaces} has no place that a spare could take")
        return replace(self, replaced={**self.replaced, spare: replaces})


def schedule(arms_by_fixture: Mapping[str, Sequence[str]], repetitions: int, spares: int, seed: bytes) -> Schedule:
    """Draw an attempt's schedule, balanced within each set of arms (see the module's docstring).

    Parameters
    ----------
    arms_by_fixture:
        Fixture to the arms timed on it, at least one, distinct.
    repetitions, spares:
        Planned repetitions (from 1 to 1000) and spare ones.
    seed:
        :func:`reportgen.measure.draws.schedule_seed`.

    Raises
    ------
    ValueError
        A fixture without arms or with an arm twice, or a number of repetitions out of range.
    """
    if not 1 <= repetitions <= MOST_REPETITIONS or spares < 0:
        raise ValueError(f"a schedule has 1 to {MOST_REPETITIONS} repetitions and no negative number of spares")
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for fixture, arms in arms_by_fixture.items():
        if not arms or len(set(arms)) != len(arms):
            raise ValueError(f"fixture {fixture}: arms must be distinct and at least one")
        groups[tuple(sorted(arms))].append(fixture)
    orders = {}
    for arms, fixtures in groups.items():
        draws = Draws(seed, "orders\0" + "\0".join(arms))
        dealt = _deal(arms, draws.shuffled(sorted(fixtures)), repetitions, draws)
        orders.update({fixture: [draws.shuffled(arms), *dealt[fixture]] for fixture in sorted(fixtures)})
    return Schedule({fixture: orders[fixture] for fixture in arms_by_fixture}, spares)


def _deal(arms: tuple[str, ...], fixtures: Sequence[str], repetitions: int, draws: Draws) -> dict[str, list[list[str]]]:
    """Hand the queue of blocks to the fixtures, ``repetitions`` rows each."""
    queue: list[Row] = []
    dealt = {}
    for fixture in fixtures:
        used: Counter[Row] = Counter()
        rows: list[Row] = []
        while len(rows) < repetitions:
            queue = queue or _next_block(len(arms), used, draws)
            taken = queue[: repetitions - len(rows)]
            queue = queue[len(taken) :]
            used.update(taken)
            rows += taken
        dealt[fixture] = [[arms[label] for label in row] for row in draws.shuffled(rows)]
    return dealt


def _next_block(k: int, used: Counter[Row], draws: Draws) -> list[Row]:
    """Draw a block among those that ``used`` holds least; its rows least used first, one half before the other."""
    halves = _least_used_block(k, used, draws)
    mixed = [row for half in draws.shuffled(halves) for row in draws.shuffled(half)]
    return sorted(mixed, key=lambda row: used[row])


def _least_used_block(k: int, used: Counter[Row], draws: Draws) -> list[list[Row]]:
    if k <= _MOST_LISTED_ARMS:
        blocks = _all_blocks(k)
        uses = [sum(used[row] for half in block for row in half) for block in blocks]
        least_used = [block for block, use in zip(blocks, uses, strict=True) if use == min(uses)]
        return least_used[draws.below(len(least_used))]
    while True:
        block = _block((0, *draws.shuffled(range(1, k))))
        if not any(used[row] for half in block for row in half):
            return block


@functools.cache
def _all_blocks(k: int) -> list[list[list[Row]]]:
    return [_block(numbers) for numbers in _renumberings(k)]


def _renumberings(k: int) -> Iterator[Row]:
    """One renumbering for every block: 0 stays, and for odd k (mirrors are in the block) 1 comes before k-1."""
    for rest in itertools.permutations(range(1, k)):
        if k % 2 == 0 or k == 1 or rest[0] < rest[-1]:
            yield (0, *rest)


def _block(numbers: Row) -> list[list[Row]]:
    """Rows of a block as halves: one half for an even number of arms, the rows and their mirrors for an odd one."""
    k = len(numbers)
    zigzag = [(step + 1) // 2 * (1 if step % 2 else -1) for step in range(k)]
    rows = [tuple(numbers[(label + shift) % k] for label in zigzag) for shift in range(k)]
    return [rows] if k % 2 == 0 or k == 1 else [rows, [row[::-1] for row in rows]]


@dataclass(frozen=True)
class Layout:
    """What a process draws for itself; plain lists and dicts, so that it goes into JSON as it is.

    Parameters
    ----------
    fixtures:
        Order of the fixture blocks.
    modules:
        Order in which the arms' modules are loaded.
    graphs, checks:
        Per fixture the order in which the arms' graphs are built, and in which they are checked; arms that a fixture
        lacks are skipped.
    buffers:
        Per fixture the order of allocation.
    padding_bytes:
        Per fixture the padding before each of those allocations, a multiple of 64.
    """

    fixtures: list[str]
    modules: list[str]
    graphs: dict[str, list[str]]
    checks: dict[str, list[str]]
    buffers: dict[str, list[str]]
    padding_bytes: dict[str, list[int]]


def draw_layout(
    seed: bytes,
    arms: Sequence[str],
    fixtures: Sequence[str],
    buffers: Sequence[str] | Mapping[str, Sequence[str]],
    *,
    most_padding_bytes: int = 64 * 1024 * 1024,
) -> Layout:
    """Draw a process's layout.

    Every drawing has a stream of its own, labelled ``fixtures``, ``modules``, or ``graphs``, ``checks``, ``buffers``,
    ``padding`` followed by NUL and the fixture's name. Items are shuffled from their sorted order, so the caller's
    order does not matter; padding is ``64 * below(most_padding_bytes // 64 + 1)`` for each buffer in its drawn order.

    Parameters
    ----------
    seed:
        :func:`reportgen.measure.draws.repetition_seed`.
    arms, fixtures:
        Names of all arms and fixtures of the process.
    buffers:
        Names of the allocations, for every fixture alike or by fixture.
    most_padding_bytes:
        Upper end of a padding, inclusive.
    """
    by_fixture = buffers if isinstance(buffers, Mapping) else dict.fromkeys(fixtures, buffers)
    steps = most_padding_bytes // ALIGNMENT_BYTES + 1

    def drawn(what: str, items: Sequence[str]) -> list[str]:
        return Draws(seed, what).shuffled(sorted(items))

    def paddings(fixture: str) -> list[int]:
        draws = Draws(seed, f"padding\0{fixture}")
        return [ALIGNMENT_BYTES * draws.below(steps) for _ in by_fixture[fixture]]

    ordered = drawn("fixtures", fixtures)
    return Layout(
        fixtures=ordered,
        modules=drawn("modules", arms),
        graphs={fixture: drawn(f"graphs\0{fixture}", arms) for fixture in ordered},
        checks={fixture: drawn(f"checks\0{fixture}", arms) for fixture in ordered},
        buffers={fixture: drawn(f"buffers\0{fixture}", by_fixture[fixture]) for fixture in ordered},
        padding_bytes={fixture: paddings(fixture) for fixture in ordered},
    )
