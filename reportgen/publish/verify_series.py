"""The series of an attempt (modes, peers and outer harnesses): whether each is whole, mirrored, and as it was noted."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from reportgen.publish.verify_evidence import launch_contradictions, left_out_of, order_contradictions

SeriesRow = Mapping[str, Any]
Cell = tuple[str, str, str]
PROCESS, PEER, HARNESS = "process", "peer", "harness"


def named(mode: str, repetition: int) -> str:
    """Name a repetition; of a process its number says enough."""
    return f"repetition {repetition}" if mode == PROCESS else f"{mode} repetition {repetition}"


def planned_series(plan: SeriesRow, manifest: SeriesRow) -> dict[str, tuple[int, set[Cell], tuple[int, ...]]]:
    """Give what a scored attempt must hold, by mode, peers or harness: repetitions, cells, passes.

    What the manifest says a peer was refused on must not have been measured; a fixture without a peer has no batch of its incumbent either.
    """
    experiment = plan["experiment"]
    main = {("main", fixture, arm) for fixture, arms in plan["arms_by_fixture"].items() for arm in arms}
    due = manifest["repetitions_planned"]
    found: dict[str, tuple[int, set[Cell], tuple[int, ...]]] = dict.fromkeys(
        experiment["protocol"].get("modes", [PROCESS]), (due, main, (1, 2))
    )
    if peers := peer_cells(plan, manifest):
        found[PEER] = (min(due, experiment["protocol"].get("peer_repetitions") or due), peers, (1, 2))
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


def peer_cells(plan: SeriesRow, manifest: SeriesRow) -> set[Cell]:
    """Give what the peer group must have measured: the incumbent and the peers that were not refused, where there is one."""
    refused = {(entry["fixture"], entry["arm"]) for entry in manifest.get("refused", [])}
    found: set[Cell] = set()
    for fixture, (incumbent, *arms) in plan["peers_by_fixture"].items():
        left = {(PEER, fixture, arm) for arm in arms if (fixture, arm) not in refused}
        found |= left | ({(PEER, fixture, incumbent)} if left else set())
    return found


def refusal_contradictions(manifest: SeriesRow, noted: Iterable[SeriesRow]) -> Iterator[str]:
    """Hold the manifest's refusals against those that the peers' calibrating process noted (``noted``: lines of ``repetitions.jsonl``)."""
    told = [
        one["facts"].get("refused", []) for one in noted if one.get("mode", PROCESS) == PEER and not one["repetition"]
    ]
    if manifest.get("refused", []) != [refusal for refused in told for refusal in refused]:
        yield "refused peers are not those that the calibrating process noted"


def matrix_contradictions(plan: SeriesRow, manifest: SeriesRow, scored: Iterable[SeriesRow]) -> Iterator[str]:
    """Look for every planned batch, once, in each repetition that counts, for none that was not planned, and for mirrors.

    ``scored`` are the rows that are no warm-up, with ``mode``, ``group``, ``fixture``, ``repetition``, ``pass``,
    ``position`` and ``arm``.
    """
    rows: defaultdict[str, list[SeriesRow]] = defaultdict(list)
    for row in scored:
        rows[row["mode"]].append(row)
    series = planned_series(plan, manifest)
    for mode in sorted(set(rows) - set(series)):
        yield f"mode {mode}: is not in the plan, yet {len(rows[mode])} batches have it"
    for mode, (due, cells, passes) in series.items():
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
