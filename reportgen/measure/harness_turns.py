"""What an outer harness times in its processes, and in which order. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reportgen.measure.draws import Draws
from reportgen.measure.order import Schedule
from reportgen.model.experiment import Harness
from reportgen.model.plan import Plan


def cells_of(plan: Plan, harness: Harness) -> dict[str, list[str]]:
    """Arms that a harness times, by fixture: those it names, on the timed fixtures that its ``where`` selects."""
    found = {}
    for fixture in plan.fixtures:
        selected = all(fixture.values[axis] in allowed for axis, allowed in harness.where.items())
        arms = [arm for arm in plan.arms_by_fixture.get(fixture.name, []) if arm in harness.arms]
        if selected and arms and not fixture.checks_only:
            found[fixture.name] = arms
    return found


def harness_schedule(cells: Mapping[str, Sequence[str]], repetitions: int, spares: int, seed: bytes) -> Schedule:
    r"""Draw the order of every fixture in odd repetitions; the even one after it has the mirror.

    Streams are labelled ``orders\0<fixture>\0<number of the pair, from 1>``. ``seed`` is
    ``draws.schedule_seed(digest, attempt, name)``.
    """
    pairs = range(1, -(-repetitions // 2) + 1)
    orders = {}
    for fixture, arms in cells.items():
        drawn = [Draws(seed, f"orders\0{fixture}\0{pair}").shuffled(sorted(arms)) for pair in pairs]
        mirrored = [order for first in drawn for order in (first, first[::-1])]
        orders[fixture] = [list[str](), *mirrored[:repetitions]]
    return Schedule(orders, spares)
