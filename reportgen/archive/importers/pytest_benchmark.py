"""pytest-benchmark's JSON (``--benchmark-json``, ``--benchmark-autosave``): times in seconds."""

from __future__ import annotations

from typing import Any

from reportgen.archive.importers.assembling import apart, assemble, something
from reportgen.archive.importers.content import Content
from reportgen.archive.importers.quantities import finite, number, reported_ns, timed, whole
from reportgen.archive.importers.shape import items_of, listed, object_of
from reportgen.errors import InputError
from reportgen.model.imported import Benchmark, RowStatus, Source

NAME = "pytest-benchmark"
UNIT = "s"
UNRECORDED = (
    "single values, unless --benchmark-save-data was given",
    "an order of interest: all rounds of a benchmark follow each other in one process",
    "device clocks, power and temperature",
)
_FIGURES = ("min", "max", "mean", "stddev", "median", "q1", "q3", "iqr")


def recognise(content: Content) -> bool:
    """``machine_info``, or a list ``benchmarks`` of objects with ``stats``."""
    found = content.json
    rows = found.get("benchmarks") if isinstance(found, dict) else None
    if not isinstance(rows, list):
        return False
    return "machine_info" in found or any(isinstance(row, dict) and "stats" in row for row in rows)


def read(content: Content) -> Source:
    """Read the file. A list of values counts only where it is as long as the rounds say and holds nothing but numbers.

    Raises
    ------
    InputError
        A benchmark has no name or no ``stats``, or nothing tells two apart.
    """
    found, where = content.json, content.where
    rows = items_of(found, "benchmarks", where)
    benchmarks = [_benchmark(row, f"{where}: benchmarks[{at}]") for at, row in enumerate(rows)]
    context = {key: found[key] for key in ("machine_info", "commit_info", "datetime") if key in found}
    return Source(
        name=content.name,
        format=NAME,
        version=found.get("version"),
        benchmarks=something(apart(benchmarks, where), where),
        context=context,
        unrecorded=UNRECORDED,
    )


def _benchmark(row: dict[str, Any], where: str) -> Benchmark:
    name = row.get("fullname") or row.get("name")
    if not isinstance(name, str):
        raise InputError("has no 'fullname' and no 'name'", where=where)
    stats = object_of(row, "stats", where)
    if not stats:
        raise InputError("has no 'stats'", where=f"{where} {name[:80]}")
    rounds, values = whole(stats.get("rounds")), listed(stats, "data", f"{where}.stats")
    iterations = finite(stats.get("iterations"))
    complete = bool(values) and len(values) == rounds and all(number(one) is not None for one in values)
    notes = [f"its list holds {len(values)} of {rounds} values: it is not used"] if values and not complete else []
    samples = [
        timed(told, UNIT, at + 1, f"{where}.stats.data[{at}]", iterations=iterations) for at, told in enumerate(values)
    ]
    reported = {f"{key}_ns": reported_ns(stats.get(key), UNIT, where) for key in _FIGURES}
    empty = not complete and reported["median_ns"] is None and reported["mean_ns"] is None
    return assemble(
        name,
        samples if complete else [],
        params=object_of(row, "params", where),
        status=RowStatus.ERROR if empty else RowStatus.OK,
        reason="there is no time" if empty else "",
        unit=UNIT,
        reported=reported,
        repetitions=rounds,
        iterations=iterations,
        notes=notes,
    )
