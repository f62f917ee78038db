"""The series of an attempt (modes and outer harnesses): whether each is whole, mirrored, and as it was noted."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from reportgen.publish.verify_evidence import launch_contradictions, left_out_of, order_contradictions

SeriesRow = Mapping[str, Any]
Cell = tuple[str, str, str]
PROCESS, HARNESS = "process", "harness"


def named(mode: str, repetition: int) -> str:
    """Name a repetition; of a process its number says enough."""
    return f"repetition {repetition}" if mode == PROCESS else f"{mode} repetition {repetition}"


def planned_series(plan: SeriesRow) -> dict[str, tuple[int | None, set[Cell], tuple[int, ...]]]:
    """Give what a scored attempt must hold, by mode or harness: repetitions (``None``: as the manifest says), cells, passes."""
    experiment = plan["experiment"]
    main = {("main", fixture, arm) for fixture, arms in plan["arms_by_fixture"].items() for arm in arms}
    peers = {("peer", fixture, arm) for fixture, arms in plan["peers_by_fixture"].items() for arm in arms}
    found: dict[str, tuple[int | None, set[Cell], tuple[int, ...]]] = {}
    for mode in experiment["protocol"].get("modes", [PROCESS]):
        found[mode] = (None, main | peers if mode == PROCESS else main, (1, 2))
    for harness in experiment.get("harness", []):
        cells = {
            (HARNESS, fixture["name"], arm)
            for fixture in plan["fixtures"]
            if all(fixture["values"][axis] in allowed for axis, allowed in harness["where"].items())
            for arm in plan["arms_by_fixture"].get(fixture["name"], [])
            if arm in harness["arms"]
        }
        found[harness["name"]] = (harness["repetitions"], cells, (1,))
    return found


def matrix_contradictions(plan: SeriesRow, manifest: SeriesRow, scored: Iterable[SeriesRow]) -> Iterator[str]:
    """Look for every planned batch, once, in each repetition that counts, for none that was not planned, and for mirrors.

    ``scored`` are the rows that are no warm-up, with ``mode``, ``group``, ``fixture``, ``repetition``, ``pass``,
    ``position`` and ``arm``.
    """
    rows: defaultdict[str, list[SeriesRow]] = defaultdict(list)
    for row in scored:
        rows[row["mode"]].append(row)
    series = planned_series(plan)
    for mode in sorted(set(rows) - set(series)):
        yield f"mode {mode}: is not in the plan, yet {len(rows[mode])} batches have it"
    for mode, (repetitions, cells, passes) in series.items():
        due = manifest["repetitions_planned"] if repetitions is None else repetitions
        lost = left_out_of(manifest, mode)
        prefix = "" if mode == PROCESS else f"mode {mode}, "
        for line in (*holes(rows[mode], due, cells, passes, lost), *unmirrored(rows[mode], lost)):
            yield f"{prefix}{line}"


def holes(
    rows: Sequence[SeriesRow], due: int, cells: set[Cell], passes: tuple[int, ...], lost: set[int]
) -> Iterator[str]:
    """Compare the rows of one series with its plan."""
    found = Counter((row["group"], row["fixture"], row["arm"], row["repetition"], row["pass"]) for row in rows)
    numbers = sorted({place[3] for place in found} - lost)
    if len(numbers) < due:
        yield f"{len(numbers)} whole repetitions, {due} planned"
    planned = {(*cell, number, half) for cell in cells for number in numbers for half in passes}
    for place in sorted(planned | set(found)):
        times, is_due = found[place], place in planned
        if times == is_due or (place[3] in lost and times == 1 and place[:3] in cells):
            continue
        group, fixture, arm, number, half = place
        what = "is missing" if not times else f"stands {times} times" if is_due else "is not in the plan"
        yield f"group {group}, fixture {fixture}, arm {arm}, repetition {number}, pass {half}: {what}"


def unmirrored(rows: Iterable[SeriesRow], lost: set[int]) -> Iterator[str]:
    """Look whether the second pass of every fixture block is the mirror of the first, in what counts."""
    blocks: defaultdict[tuple[str, str, int], dict[int, list[tuple[int, str]]]] = defaultdict(lambda: {1: [], 2: []})
    for row in rows:
        if row["group"] != HARNESS and row["repetition"] not in lost and row["pass"] in (1, 2):
            place = row["group"], row["fixture"], row["repetition"]
            blocks[place][row["pass"]].append((row["position"], row["arm"]))
    for (group, fixture, number), halves in sorted(blocks.items()):
        first, second = ([arm for _, arm in sorted(halves[half])] for half in (1, 2))
        if first != second[::-1]:
            yield f"group {group}, fixture {fixture}, repetition {number}: pass 2 is not the mirror of pass 1"


def row_contradictions(scored: Sequence[SeriesRow], noted: Sequence[SeriesRow]) -> Iterator[str]:
    """Hold scored rows against the orders that ``repetitions.jsonl`` notes (``noted`` are its lines), mode by mode."""
    for mode in sorted({row["mode"] for row in scored}):
        orders = {
            one["repetition"]: one["facts"].get("orders", {}) for one in noted if one.get("mode", PROCESS) == mode
        }
        prefix = "" if mode == PROCESS else f"mode {mode}, "
        for line in order_contradictions((row for row in scored if row["mode"] == mode), orders):
            yield f"{prefix}{line}"
    yield from launch_contradictions(row for row in scored if row["group"] != HARNESS)
