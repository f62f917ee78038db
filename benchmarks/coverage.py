"""Simulate records whose truth is known and count how often the decision rules are wrong: ``python benchmarks/coverage.py``.

A false alarm is a decision interval that excludes the median of the law of h. Prints a table and exits 1 on a miss.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import sqrt

import numpy as np

from reportgen.analysis.decision import Decision, DevicePairs, decision
from reportgen.analysis.median import FloatArray, Samples, order_coverage
from reportgen.analysis.verdict import judge
from reportgen.model.result import Interval, Verdict

RECORDS = 2_000
REPETITIONS = (6, 9, 12, 24)
CELLS = 18
PROCESS_SD = 0.001
CELL_SD = 0.0015
STANDARD_ERRORS = 4
_LAW_DRAWS = 400_000

Boards = list[FloatArray]
Draw = Callable[[np.random.Generator, int], Boards]


@dataclass(frozen=True)
class Case:
    """A way in which pair ratios arise: ``draw`` gives cells x repetitions by board; ``exact`` bars hold from both sides.

    ``centred`` says that the law of h is symmetric about 1; otherwise its median is found from many draws.
    """

    name: str
    draw: Draw
    exact: bool
    centred: bool = True


@dataclass(frozen=True)
class Line:
    """A line of the table: what was counted, the bar it is held to, and what came out."""

    name: str
    n: int
    bar: str
    figure: str
    passed: bool


def ratios(  # noqa: PLR0913 - each figure of the model has its name
    random: np.random.Generator,
    n: int,
    *,
    effects: FloatArray | float = 0.0,
    process_sd: float = PROCESS_SD,
    cell_sd: float = CELL_SD,
    cells: int = CELLS,
) -> FloatArray:
    """Pair ratios, cells x n: 1 + the cell's effect + noise of the process + noise of the cell in that process."""
    shared = random.normal(0.0, process_sd, (1, n))
    own = random.normal(0.0, cell_sd, (cells, n))
    return np.asarray(1 + np.broadcast_to(np.asarray(effects).reshape(-1, 1), (cells, 1)) + shared + own)


def _homogeneous(random: np.random.Generator, n: int) -> Boards:
    return [ratios(random, n)]


def _spread_effects(random: np.random.Generator, n: int) -> Boards:
    return [ratios(random, n, effects=np.linspace(-0.01, 0.01, CELLS))]


def _shared_process(random: np.random.Generator, n: int) -> Boards:
    return [ratios(random, n, process_sd=10 * PROCESS_SD)]


def _heavy_tails(random: np.random.Generator, n: int) -> Boards:
    shared = PROCESS_SD * random.standard_t(2, (1, n))
    return [1 + shared + CELL_SD * random.standard_t(2, (CELLS, n))]


def _two_clusters(random: np.random.Generator, n: int) -> Boards:
    return [ratios(random, n, effects=np.repeat([-0.01, 0.0], [CELLS // 2 - 1, CELLS // 2 + 1]))]


def _two_even_clusters(random: np.random.Generator, n: int) -> Boards:
    return [ratios(random, n, effects=np.repeat([-0.01, 0.01], CELLS // 2))]


def _ramp(random: np.random.Generator, n: int) -> Boards:
    return [ratios(random, n) + np.linspace(-0.003, 0.003, n)]


def _unlike_boards(difference: float) -> Draw:
    """Two boards whose effects differ and that share the n processes between them."""

    def draw(random: np.random.Generator, n: int) -> Boards:
        sizes = (n - n // 2, n // 2)
        return [
            ratios(random, size, effects=side * difference / 2, cells=CELLS // 2)
            for size, side in zip(sizes, (-1, 1), strict=True)
        ]

    return draw


CASES = (
    Case("homogeneous cells", _homogeneous, exact=True),
    Case("effects spread over +-1 %", _spread_effects, exact=True),
    Case("process sd 1 %, shared", _shared_process, exact=True),
    Case("t(2) tails", _heavy_tails, exact=True),
    Case("two clusters, 8 and 10 cells, 1 % apart", _two_clusters, exact=False, centred=False),
    Case("two clusters, 9 and 9 cells, 2 % apart", _two_even_clusters, exact=False),
    Case("ramp of 0.6 % over processes", _ramp, exact=False),
    Case("two boards 0.1 % apart", _unlike_boards(0.001), exact=False, centred=False),
    Case("two boards 0.5 % apart", _unlike_boards(0.005), exact=False, centred=False),
)


def decide(boards: Boards) -> Decision:
    """Run the analysis's own decision interval on drawn pair ratios."""
    return decision(
        [
            DevicePairs(f"board{at}", tuple(map(str, range(len(values)))), tuple(range(values.shape[1])), values)
            for at, values in enumerate(boards)
        ]
    )


def verdict(boards: Boards, nulls: Sequence[Boards], smallest_effect: float) -> Verdict:
    """Run the analysis's own judgement, with the noise floor of some null arms."""
    found = decide(boards)
    floors = [decide(null) for null in nulls]
    floor = max(max(abs(null.low - 1), abs(null.high - 1)) for null in floors)
    ends = [Samples.of(values).order_ends() for values in boards]
    cells = [Interval(low, high) for lows, highs in ends for low, high in zip(lows, highs, strict=True)]
    return judge(found, cells, smallest_effect=smallest_effect, noise_floor=floor)[0]


@cache
def median_of_law(case: Case, n: int) -> float:
    """Median of the law of h: 1 by symmetry, or that of many drawn process values (boards in their shares of n)."""
    if case.centred:
        return 1.0
    random = np.random.default_rng(20_260_101)
    boards = case.draw(random, _LAW_DRAWS // n * n)
    values, weights = [], []
    for board, size in zip(boards, (n - n // 2, n // 2) if len(boards) > 1 else (n,), strict=True):
        h = np.median(board, axis=0)
        values.append(h)
        weights.append(np.full(len(h), size / len(h)))
    pooled, weight = np.concatenate(values), np.concatenate(weights)
    order = np.argsort(pooled)
    return float(pooled[order][np.searchsorted(np.cumsum(weight[order]), n / 2)])


def false_alarms(case: Case, n: int, records: int) -> float:
    """Share of drawn records whose decision interval excludes the median of the law of h."""
    truth, random = median_of_law(case, n), np.random.default_rng([n, *case.name.encode()])
    missed = 0
    for _ in range(records):
        found = decide(case.draw(random, n))
        missed += not found.low <= truth <= found.high
    return missed / records


def coverage_line(case: Case, n: int, records: int) -> Line:
    """Hold the false alarms of a case to 1 - coverage(n)."""
    nominal = 1 - order_coverage(n)
    allowed = STANDARD_ERRORS * sqrt(nominal * (1 - nominal) / records)
    share = false_alarms(case, n, records)
    passed = share <= nominal + allowed and (not case.exact or share >= nominal - allowed)
    bar = f"{nominal:.2%} +- {allowed:.2%}" if case.exact else f"<= {nominal + allowed:.2%}"
    return Line(f"false alarms: {case.name}", n, bar, f"{share:.2%}", passed)


def no_effect_line(n: int, smallest_effect: float, records: int) -> Line:
    """Count arms without effect that are called faster or slower; candidate and null share their baseline's noise."""
    random, called = np.random.default_rng([n, int(smallest_effect * 1e6)]), 0
    for _ in range(records):
        baseline, null, candidate = (
            ratios(random, n, process_sd=PROCESS_SD / sqrt(2), cell_sd=CELL_SD / sqrt(2)) for _ in range(3)
        )
        found = verdict([candidate / baseline], [[null / baseline]], smallest_effect)
        called += found in (Verdict.FASTER, Verdict.SLOWER)
    most = 0.045 if smallest_effect == 0 else 0.0
    share = called / records
    name = f"no effect called faster or slower, s = {smallest_effect:.1%}"
    return Line(name, n, f"<= {most:.1%}", f"{share:.2%}", share <= most)


def power_line(records: int, *, nulls: int = 1) -> Line:
    """Count how often an effect of 2 s is found: s = 0.2 %, 24 cells, 12 processes, 0.1 % and 0.3 % noise."""
    n, cells, smallest_effect, found = 12, 24, 0.002, 0
    random = np.random.default_rng([n, nulls, 7])
    for _ in range(records):
        arms = [
            ratios(random, n, process_sd=0.001 / sqrt(2), cell_sd=0.003 / sqrt(2), cells=cells)
            for _ in range(nulls + 2)
        ]
        candidate, baseline = arms[0] - 2 * smallest_effect, arms[1]
        outcome = verdict([candidate / baseline], [[null / baseline] for null in arms[2:]], smallest_effect)
        found += outcome is Verdict.FASTER
    share = found / records
    return Line(f"effect of 2 s found, null arms: {nulls}", n, ">= 95.0%", f"{share:.2%}", share >= 0.95)


def shown_line(n: int, smallest_effect: float, records: int) -> Line:
    """Count how often an effect is found that is as large as another record like it calls the smallest effect shown."""
    random, found = np.random.default_rng([n, int(smallest_effect * 1e6), 9]), 0

    def arms() -> tuple[FloatArray, FloatArray]:
        """Draw a candidate without effect and a null, both over one baseline."""
        baseline, null, candidate = (
            ratios(random, n, process_sd=PROCESS_SD / sqrt(2), cell_sd=CELL_SD / sqrt(2)) for _ in range(3)
        )
        return candidate / baseline, null / baseline

    for _ in range(records):
        candidate, null = arms()
        first, floor = decide([candidate]), decide([null])
        margin = max(smallest_effect, abs(floor.low - 1), abs(floor.high - 1))
        candidate, null = arms()
        found += verdict([candidate - (margin + first.high - first.low)], [[null]], smallest_effect) is Verdict.FASTER
    share = found / records
    name = f"smallest effect shown is found, s = {smallest_effect:.1%}"
    return Line(name, n, ">= 80.0%", f"{share:.2%}", share >= 0.80)


def noisy_line(n: int, records: int) -> Line:
    """Count how often 3 % of noise, shared by a process's cells, is called equivalent at s = 0.5 %."""
    random, called = np.random.default_rng([n, 3]), 0
    for _ in range(records):
        candidate, null = (ratios(random, n, process_sd=0.03) for _ in range(2))
        called += verdict([candidate], [[null]], 0.005) is Verdict.EQUIVALENT
    return Line("3 % shared noise called equivalent", n, "never", str(called), called == 0)


def lines(records: int) -> Iterator[Line]:
    """Every line of the table."""
    for case in CASES:
        for n in REPETITIONS:
            yield coverage_line(case, n, records)
    for smallest_effect in (0.0, 0.001, 0.002, 0.005):
        for n in REPETITIONS:
            yield no_effect_line(n, smallest_effect, records)
    yield power_line(records)
    yield power_line(records, nulls=2)
    for smallest_effect in (0.0, 0.002, 0.005):
        yield shown_line(12, smallest_effect, records)
    for n in REPETITIONS:
        yield noisy_line(n, records)


def main() -> int:
    """Print the table; 1 if a bar is missed."""
    missed = 0
    print(f"| {RECORDS} simulated records a line | n | bar | measured | |\n| --- | --- | --- | --- | --- |")
    for line in lines(RECORDS):
        print(
            f"| {line.name} | {line.n} | {line.bar} | {line.figure} | {'pass' if line.passed else 'MISS'} |", flush=True
        )
        missed += not line.passed
    print(f"\n{missed} missed" if missed else "\nall bars held")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
