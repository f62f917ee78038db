"""What a record says of itself more than once: protocol, orders, checks and declaration must not contradict its rows."""

import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

Row = Mapping[str, Any]
HEADERS = {
    "batches.csv": (
        "device,attempt,mode,group,fixture,arm,repetition,pass,position,launches,elapsed_ns,started_ns,warmup,lead_in,block,"
        "clock_mhz_before,clock_mhz_after,temperature_c_before,temperature_c_after,power_w_before,power_w_after,throttle,"
        "foreign_processes,load_1min,tag"
    ),
    "checks.csv": (
        "device,attempt,fixture,arm,repetition,when,output,against,kind,elements,mismatches,max_abs,rel_l2,passed"
    ),
}
DEFAULTS: dict[str, Any] = {"smallest_effect": 0.005, "gate": [], "comparison": []}


def header_contradictions(name: str, first_line: str) -> Iterator[str]:
    """Hold the first line of a CSV file against the columns that the record format knows."""
    if first_line.rstrip("\r\n") != HEADERS[name]:
        yield f"{name}:1: the columns are not those of the record format"


def moments_of(manifests: Iterable[Row]) -> dict[str, str | None]:
    """Give when the plan was last changed, as the attempts know it, and when the first of them began."""
    known = list(manifests)
    frozen = [moment for one in known if (moment := one["provenance"].get("frozen_at"))]
    return {"frozen_at": min(frozen, default=None), "began_at": min(one["started_at"] for one in known)}


def younger_gates(results: Row) -> Iterator[str]:
    """Say of each gate whose plan was last changed after the data that it judges had begun."""
    for gate in results["gates"]:
        frozen, began = gate.get("frozen_at"), gate.get("began_at")
        if frozen and began and datetime.fromisoformat(frozen) > datetime.fromisoformat(began):
            where = f"gate {gate['name']} of {gate['arm']}, {gate['slice']}"
            yield f"{where}: YOUNGER THAN ITS DATA: last changed {frozen}, the first attempt began {began}"


def left_out_of(manifest: Row, mode: str = "process") -> set[int]:
    """Give the repetitions of a mode that an attempt left out."""
    return {entry["repetition"] for entry in manifest["left_out"] if entry.get("mode", "process") == mode}


def protocol_contradictions(plan: Row, manifest: Row) -> Iterator[str]:
    """Hold the repetitions that a timed attempt claims it had to make against its plan."""
    due, claimed = plan["experiment"]["protocol"]["repetitions"], manifest["repetitions_planned"]
    if manifest["kind"] == "timing" and claimed != due:
        yield f"manifest.json: {claimed} repetitions planned, the plan's protocol asks for {due}"


def order_contradictions(rows: Iterable[Row], orders: Mapping[int, Mapping[str, list[str]]]) -> Iterator[str]:
    """Hold the arms of every first pass against the order noted when it was measured.

    ``rows`` are scored and have ``group``, ``fixture``, ``repetition``, ``pass``, ``position`` and ``arm``; ``orders``
    hold, by repetition and fixture, what ``repetitions.jsonl`` notes.
    """
    blocks: defaultdict[tuple[str, str, int], list[tuple[int, str]]] = defaultdict(list)
    for row in rows:
        if row["pass"] == 1:
            blocks[row["group"], row["fixture"], row["repetition"]].append((row["position"], row["arm"]))
    for (_, fixture, repetition), places in sorted(blocks.items()):
        noted = orders.get(repetition, {}).get(fixture)
        found = [arm for _, arm in sorted(places)]
        if noted is not None and found != noted:
            yield (
                f"fixture {fixture}, repetition {repetition}: arms were timed in the order {', '.join(found)}; "
                f"repetitions.jsonl notes {', '.join(noted)}"
            )


def launch_contradictions(rows: Iterable[Row]) -> Iterator[str]:
    """Look whether all arms and repetitions of a fixture were timed with one number of launches, as the protocol has it."""
    numbers: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    for row in rows:
        numbers[row["group"], row["fixture"]].add(row["launches"])
    for (group, fixture), found in sorted(numbers.items()):
        if len(found) > 1:
            said = ", ".join(str(number) for number in sorted(found))
            yield f"group {group}, fixture {fixture}: batches of unlike numbers of launches: {said}"


def check_contradictions(rows: Iterable[Row]) -> Iterator[str]:
    """Look for checks that claim to have passed in spite of mismatches, or to have failed without one."""
    for row in rows:
        if row["passed"] != (row["mismatches"] == 0):
            claim = "passed" if row["passed"] else "failed"
            yield (
                f"fixture {row['fixture']}, arm {row['arm']}, repetition {row['repetition']}, {row['when']} timing: "
                f"{claim} with {row['mismatches']} mismatches"
            )


def declaration_contradictions(declaration: str, plan: Row) -> Iterator[str]:
    """Hold the plan against the archived ``experiment.toml`` that its digest covers.

    Every key that was declared must stand in the plan with that value; a plan may hold more, since it writes out
    defaults (and asks a null for equal bits), but no smallest effect, rule or arm that nobody declared.
    """
    try:
        declared = tomllib.loads(declaration)
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        yield f"is no TOML, though a plan was made of it: {fault}"
        return
    for name, value in sorted({**DEFAULTS, **declared}.items()):
        yield from _undeclared(value, plan["experiment"].get(name, DEFAULTS.get(name)), name)


def _undeclared(declared: Any, planned: Any, where: str) -> Iterator[str]:
    if isinstance(declared, dict) and isinstance(planned, Mapping):
        for name, value in declared.items():
            yield from _undeclared(value, planned.get(name), f"{where}.{name}")
    elif isinstance(declared, list) and isinstance(planned, list) and len(declared) == len(planned):
        for number, (one, other) in enumerate(zip(declared, planned, strict=True), start=1):
            yield from _undeclared(one, other, f"{where} {number}")
    elif declared != planned and not (planned is None and declared in ({}, [])) and not where.endswith(".bitwise"):
        yield f"declares {where} as {declared!r}, the plan holds {planned!r}"
