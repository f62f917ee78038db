"""BenchmarkDotNet's full JSON (``JsonExporter.Full``): values in ns an operation."""

from __future__ import annotations

from typing import Any

from reportgen.archive.importers.assembling import apart, assemble, something
from reportgen.archive.importers.content import Content
from reportgen.archive.importers.quantities import number, reported_ns, timed, whole
from reportgen.archive.importers.shape import items_of, listed, object_of, text_of
from reportgen.model.imported import Benchmark, RowStatus, Source

NAME = "benchmarkdotnet"
UNIT = "ns"
UNRECORDED = (
    "an order of interest: all iterations of a benchmark follow each other",
    "device clocks, power and temperature",
)
_FIGURES = {"Median": "median", "Mean": "mean", "StandardDeviation": "stddev", "Min": "min", "Max": "max"}


def recognise(content: Content) -> bool:
    """``HostEnvironmentInfo`` beside a list ``Benchmarks``."""
    found = content.json
    return isinstance(found, dict) and "Benchmarks" in found and "HostEnvironmentInfo" in found


def read(content: Content) -> Source:
    """Read the file: samples are ``Statistics.OriginalValues``; the measurements of pilot and jitting stages are none.

    Raises
    ------
    InputError
        A benchmark has no name, or nothing tells two apart.
    """
    found, where = content.json, content.where
    rows = items_of(found, "Benchmarks", where)
    context = object_of(found, "HostEnvironmentInfo", where)
    benchmarks = [_benchmark(row, f"{where}: Benchmarks[{at}]") for at, row in enumerate(rows)]
    return Source(
        name=content.name,
        format=NAME,
        version=context.get("BenchmarkDotNetVersion"),
        benchmarks=something(apart(benchmarks, where), where),
        context=context,
        unrecorded=UNRECORDED,
    )


def _benchmark(row: dict[str, Any], where: str) -> Benchmark:
    stats = object_of(row, "Statistics", where)
    values, stated = listed(stats, "OriginalValues", f"{where}.Statistics"), whole(stats.get("N"))
    complete = bool(values) and stated in (None, len(values)) and all(number(one) is not None for one in values)
    samples = [timed(told, UNIT, at + 1, f"{where}.Statistics.OriginalValues[{at}]") for at, told in enumerate(values)]
    _, _, job = str(row.get("DisplayInfo") or "").rpartition(": ")
    params = {"Parameters": row.get("Parameters"), "Job": job}
    return assemble(
        _name(row, where),
        samples if complete else [],
        params={key: value for key, value in params.items() if value},
        status=RowStatus.OK if stats else RowStatus.ERROR,
        reason="" if stats else "there are no statistics: it did not run to its end",
        unit=UNIT,
        reported={f"{ours}_ns": reported_ns(stats.get(theirs), UNIT, where) for theirs, ours in _FIGURES.items()},
        repetitions=stated,
        notes=() if complete or not values else (f"{len(values)} of {stated} values: they are not used",),
    )


def _name(row: dict[str, Any], where: str) -> str:
    if row.get("FullName"):
        return text_of(row, "FullName", where)
    parts = [row.get("Namespace"), row.get("Type"), text_of(row, "Method", where)]
    return ".".join(str(part) for part in parts if part)
