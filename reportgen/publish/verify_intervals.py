"""Medians, intervals, verdicts of one comparison, by the rules of docs/statistics.md: standard library, plain loops.

With ``verify_numbers`` and ``verify`` the second road to every number: it shares no code with ``reportgen.analysis`` and
is held to the same golden cases. A published record carries the three as one file, ``verify.py``.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise, product
from math import comb, fsum
from typing import Any

RESAMPLES = 2000
Facts = dict[str, Any]
Sample = list[float | None]


def present(values: Iterable[Any]) -> list[Any]:
    """Give the values that are there."""
    return [value for value in values if value is not None]


def median(values: Iterable[float | None]) -> Any:
    """Give the middle value, or the mean of the two middle ones; None for no value."""
    ordered = sorted(present(values))
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2 if ordered else None


@cache
def rank_of(n: int, sides: int = 40) -> int | None:
    """Rule 3: the largest l >= 1 with 40 sum_{i<l} C(n, i) <= 2^n, or None; 1 in ``sides`` may lie beyond an end."""
    return max((at for at in range(1, n + 1) if sides * sum(comb(n, i) for i in range(at)) <= 2**n), default=None)


def order_interval(values: Iterable[float | None]) -> Any:
    """Rule 3: the interval for the median of the values that are there; None for no value."""
    ordered = sorted(present(values))
    n, rank = len(ordered), rank_of(len(ordered))
    if not n:
        return None
    covered = 1 - 2 * sum(comb(n, i) for i in range(rank or 1)) / 2**n
    ends = {"low": ordered[(rank or 1) - 1], "high": ordered[n - (rank or 1)]}
    return ends | {"rank": rank, "n": n, "coverage": max(0.0, covered)}


@cache
def median_law(n: int) -> list[tuple[int, int, int]]:
    """Of the n^n resamples of x(1) <= ... <= x(n), how many have the middle draws x(i), x(j)."""
    if n % 2:
        m = (n + 1) // 2
        up_to = [sum(comb(n, u) * i**u * (n - i) ** (n - u) for u in range(m, n + 1)) for i in range(n + 1)]
        return [(i, i, up_to[i] - up_to[i - 1]) for i in range(1, n + 1)]
    m, law = n // 2, []
    for i, j in product(range(1, n + 1), repeat=2):
        if i < j:
            law.append((i, j, comb(n, m) * (i**m - (i - 1) ** m) * ((n - j + 1) ** m - (n - j) ** m)))
        if i == j:
            beside = [comb(n, u) * comb(n - u, w) * (i - 1) ** u * (n - i) ** w for u, w in product(range(m), repeat=2)]
            law.append((i, i, sum(beside)))
    return law


def percentile_ends(values: list[float], weights: list[int], fortieths: tuple[int, int] = (1, 39)) -> Any:
    """Give the smallest values whose cumulative share reaches two levels; shares are compared in whole numbers."""
    total, seen = sum(weights), 0
    ends: list[float] = []
    for value, weight in sorted(zip(values, weights, strict=True)):
        seen += weight
        while len(ends) < 2 and 40 * seen >= fortieths[len(ends)] * total:
            ends.append(value)
    return {"low": ends[0], "high": ends[1]} if ends else None


def cell_bootstrap(values: Sample) -> Any:
    """Give the percentile interval of the exact bootstrap law of the median."""
    ordered = sorted(present(values))
    law = median_law(len(ordered))
    return percentile_ends([(ordered[i - 1] + ordered[j - 1]) / 2 for i, j, _ in law], [ways for *_, ways in law])


@cache
def drawn(digest: str, counts: tuple[int, ...]) -> list[list[list[int]]]:
    """Draw repetitions by SplitMix64: resamples, in each a list of indices a device."""

    def stream() -> Iterator[int]:
        state, mask = int(digest[:16], 16), 2**64 - 1
        while True:
            state = (state + 0x9E3779B97F4A7C15) & mask
            z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
            z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
            yield z ^ (z >> 31)

    u = stream()
    return [[[(next(u) * n) >> 64 for _ in range(n)] for n in counts] for _ in range(RESAMPLES)]


def headline_bootstrap(digest: str, tables: list[Facts]) -> Any:
    """Give the percentile interval of the headline: whole repetitions are drawn, jointly for the cells of a device."""
    headlines = []
    for picks in drawn(digest, tuple(len(table["repetitions"]) for table in tables)):
        drawn_cells = [median([row[k] for k in of]) for of, t in zip(picks, tables, strict=True) for row in t["pairs"]]
        headlines += present([median(drawn_cells)])
    return percentile_ends(headlines, [1] * len(headlines))


def decide_interval(tables: list[Facts]) -> Facts:
    """Rules 2 to 5 over pair values, one table of fixtures x repetitions a device."""
    h: list[Sample] = []
    for table in tables:
        columns = [present(row[k] for row in table["pairs"]) for k in range(len(table["repetitions"]))]
        h.append([median(column) if column and 2 * len(column) >= len(table["pairs"]) else None for column in columns])
    values = [present(of) for of in h]
    pooled = [value for of in values for value in of]
    found: Facts = {"h": h, "values": values, "estimate": median(pooled), "order": order_interval(pooled)}
    found["headline"] = median(median(row) for table in tables for row in table["pairs"])
    found["intervals"] = [order_interval(of) for of in h]
    found["device_p"] = device_p(values, found["estimate"]) if len(h) > 1 else None
    found["disagree"] = found["device_p"] is not None and found["device_p"] <= 0.05
    found["enough"] = len(pooled) >= 6 and not (found["disagree"] and min(map(len, values)) < 6)
    if pooled:
        ends = present(found["intervals"]) if found["disagree"] else [found["order"]]
        found["own"] = min(end["low"] for end in ends), max(end["high"] for end in ends)
        found["low"] = min(found["own"][0], found["headline"])
        found["high"] = max(found["own"][1], found["headline"])
    return found


def device_p(values: list[list[float]], centre: float) -> float:
    """Rule 4: the median test of the devices."""
    total, below, smallest = sum(map(len, values)), [sum(v < centre for v in of) for of in values], 1.0
    for seen, of in zip(below, values, strict=True):
        ways = [comb(sum(below), k) * comb(total - sum(below), len(of) - k) for k in range(len(of) + 1)]
        smallest = min(smallest, 2 * min(sum(ways[: seen + 1]), sum(ways[seen:])) / comb(total, len(of)))
    return min(1.0, smallest * (len(values) if len(values) > 2 else 1))


def sign_p(found: Facts, margin: float) -> float:
    """Rule 6: the sign test against a margin; where devices disagree, all of them must say so."""
    samples = [of for of in found["values"] if of] if found["disagree"] else [[v for of in found["values"] for v in of]]
    slower, faster = 0.0, 0.0
    for of in samples:
        up_to = [sum(comb(len(of), i) for i in range(count + 1)) / 2 ** len(of) for count in range(len(of) + 1)]
        slower = max(slower, up_to[sum(v <= 1 + margin for v in of)])
        faster = max(faster, up_to[sum(v >= 1 - margin for v in of)])
    return min(1.0, 2 * min(slower, faster))


def judge(found: Facts, cells: list[Facts], s: float, f: float) -> tuple[str, str]:
    """Rule 8 for a valid comparison: the first that holds."""
    m = max(s, f)

    def outside(low: float, high: float, by: float) -> bool:
        return high < 1 - by or low > 1 + by

    def inside(low: float, high: float) -> bool:
        return s > 0 and 1 - s <= low and high <= 1 + s

    if not found["enough"]:
        return "inconclusive", "too_few_repetitions"
    ends, own = (found["low"], found["high"]), (found["own"][0], found["own"][1])
    differ = any(outside(cell["interval"]["low"], cell["interval"]["high"], s) for cell in cells)
    rules = (
        (ends[1] < 1 - m, "faster", "beyond_margin"),
        (ends[0] > 1 + m, "slower", "beyond_margin"),
        (inside(*ends) and f > s, "inconclusive", "noise_floor"),
        (inside(*ends) and differ, "inconclusive", "fixtures_differ"),
        (inside(*ends), "equivalent", "within_margin"),
        (found["disagree"], "inconclusive", "devices_disagree"),
        (outside(*ends, s), "inconclusive", "noise_floor"),
        (outside(*own, m) or (inside(*own) and f <= s), "inconclusive", "fixtures_differ"),
        (outside(*ends, 0.0), "inconclusive", "direction_only"),
    )
    return next(((verdict, reason) for holds, verdict, reason in rules if holds), ("inconclusive", "too_wide"))


def lag_one(values: Sample) -> float | None:
    """Give the lag-1 correlation of process values in the order of time."""
    known = present(values)
    mean = fsum(known) / max(1, len(known))
    spread = fsum((value - mean) ** 2 for value in known)
    steps = [(a - mean) * (b - mean) for a, b in pairwise(values) if a is not None and b is not None]
    return fsum(steps) / spread if len(known) > 2 and spread else None
