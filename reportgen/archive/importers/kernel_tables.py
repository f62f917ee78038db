"""Kernel tables of profilers: nsys (``stats --format csv``), ncu (``--csv``) and rocprof; summaries are aggregates, traces one sample a launch."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reportgen.archive.importers.assembling import apart, assemble, something
from reportgen.archive.importers.content import Content, Table
from reportgen.archive.importers.quantities import NS, Signs, reported_ns, timed, whole
from reportgen.errors import InputError
from reportgen.model.imported import Benchmark, Sample, Source

NSYS, NCU, ROCPROF = "nsys", "ncu", "rocprof"
UNRECORDED = (
    "times without the profiler: it changes what it measures",
    "version, machine and date",
    "which launch belongs to which repetition of what",
)
_API_NAMES = re.compile(r"_{0,2}(?:hip[A-Z]|hsa_|roctx[A-Z]|rccl[A-Z]|nccl[A-Z])\w*")
_MEMORY = ("[CUDA mem", "CopyDeviceToHost", "CopyHostToDevice", "MEMORY_COPY_")
_NSYS_FIGURES = {
    "Avg": "mean",
    "Med": "median",
    "Min": "min",
    "Max": "max",
    "StdDev": "stddev",
    "Average": "mean",
    "Minimum": "min",
    "Maximum": "max",
}
_WITH_UNIT = re.compile(r"(?P<name>.+?) \((?P<unit>ns|us|ms|s|nsec|usec|msec|sec)\)")
_DURATION = re.compile(r"gpu__time_duration(\.sum|\.avg|_measured_wallclock)?|Duration")
_TRACE_COLUMNS = (
    ("Kernel_Name", "Start_Timestamp", "End_Timestamp"),
    ("KernelName", "BeginNs", "EndNs"),
)
_STATS_COLUMNS = ("Name", "Calls", "TotalDurationNs", "AverageNs")
_STATS_FIGURES = {"AverageNs": "mean_ns", "MinNs": "min_ns", "MaxNs": "max_ns", "StdDev": "stddev_ns"}


def recognise_nsys(content: Content) -> bool:
    """Look for a summary by kernel, or a trace with durations."""
    table = content.table
    summary = table.has("Name") and any(name.startswith("Time") and "%" in name for name in table.header)
    return summary or (table.has("Name") and any(name.startswith("Duration (") for name in table.header))


def recognise_ncu(content: Content) -> bool:
    """Metrics of launches, a row a metric or a column a metric."""
    return content.table.has("Kernel Name", "Metric Name", "Metric Value") or content.table.has(
        "ID", "Kernel Name", "Context"
    )


def recognise_rocprof(content: Content) -> bool:
    """Look for a trace or a summary of any version."""
    return any(content.table.has(*names) for names in (*_TRACE_COLUMNS, _STATS_COLUMNS))


def read_nsys(content: Content) -> Source:
    """Read a kernel summary (median as reported, no samples) or a trace.

    Raises
    ------
    InputError
        It is a table of API calls or copies, or its times have no unit.
    """
    table, where = content.table, content.where
    units = {found["name"]: (name, found["unit"]) for name in table.header if (found := _WITH_UNIT.fullmatch(name))}
    if any(name.startswith("Num Calls") for name in table.header):
        raise InputError("is a table of API calls, not of kernels", where=where, remedy="export cuda_gpu_kern_sum")
    if any("(MB)" in name or name in ("Count", "Operations") for name in table.header):
        raise InputError("is a table of copies, not of kernels", where=where, remedy="export cuda_gpu_kern_sum")
    if "Duration" in units and not table.has("Instances"):
        return _source(content, NSYS, _nsys_trace(table, units["Duration"], where))
    if not table.has("Instances"):
        raise InputError("has no column 'Instances': which profile it is cannot be told", where=where)
    if not any(key in units for key in _NSYS_FIGURES):
        raise InputError("its times have no unit: no column is called like 'Avg (ns)'", where=where)
    return _source(content, NSYS, list(_nsys_summary(table, units, where)), "single values")


def _nsys_summary(table: Table, units: Mapping[str, tuple[str, str]], where: str) -> Iterator[Benchmark]:
    signs = _signs(table)
    for line, row in table.rows():
        place = f"{where}: line {line}"
        reported = {
            f"{ours}_ns": reported_ns(signs.read(row[units[key][0]], place), units[key][1], place)
            for key, ours in _NSYS_FIGURES.items()
            if key in units
        }
        count = whole(signs.read(row["Instances"], place))
        yield assemble(
            row["Name"],
            params=_grid(row),
            unit=units[next(key for key in _NSYS_FIGURES if key in units)][1],
            reported=reported,
            repetitions=count,
        )


def _grid(row: Mapping[str, str]) -> dict[str, Any]:
    return {key: row[key] for key in ("GridXYZ", "BlockXYZ") if row.get(key)}


def _nsys_trace(table: Table, duration: tuple[str, str], where: str) -> list[Benchmark]:
    column, unit = duration
    signs = _signs(table)
    rows = [(row["Name"], signs.read(row[column], f"{where}: line {line}"), line) for line, row in table.rows()]
    return _launches([one for one in rows if not one[0].startswith(_MEMORY)], unit, where)


def read_ncu(content: Content) -> Source:
    """Read the durations of launches; other metrics are no times.

    Raises
    ------
    InputError
        There is no duration, or one that can be read in two ways.
    """
    table, where = content.table, content.where
    rows = list(_ncu_long(table, where) if table.has("Metric Name") else _ncu_wide(table, where))
    if not rows:
        raise InputError(
            "holds no duration of a launch: there is no metric gpu__time_duration",
            where=where,
            remedy="collect gpu__time_duration.sum",
        )
    units = {unit for _, _, _, unit in rows}
    benchmarks = [
        one
        for unit in sorted(units)
        for one in _launches([(n, v, line) for n, v, line, u in rows if u == unit], unit, where)
    ]
    return _source(content, NCU, benchmarks)


def _ncu_long(table: Table, where: str) -> Iterator[tuple[str, float | None, int, str]]:
    signs = _signs(table)
    for line, row in table.rows():
        if _DURATION.fullmatch(row["Metric Name"]) and row.get("Metric Unit", "") in NS:
            place = f"{where}: line {line}"
            yield row["Kernel Name"], signs.read(row["Metric Value"], place), line, row["Metric Unit"]


def _ncu_wide(table: Table, where: str) -> Iterator[tuple[str, float | None, int, str]]:
    """Give the form of ``--page raw``: a column a metric, units in the first row."""
    column = next((name for name in table.header if _DURATION.fullmatch(name)), None)
    if column is None or not table.lines:
        return
    unit = table.lines[0].cells[table.column(column)]
    if unit not in NS:
        raise InputError(
            f"the unit of {column!r} is {unit!r}, none of time", where=f"{where}: line {table.lines[0].number}"
        )
    signs = _signs(table)
    for line, row in list(table.rows())[1:]:
        yield row["Kernel Name"], signs.read(row[column], f"{where}: line {line}"), line, unit


def read_rocprof(content: Content) -> Source:
    """Read a trace (one sample a dispatch) or a summary (means).

    Raises
    ------
    InputError
        It is a table of API calls or copies.
    """
    table, where = content.table, content.where
    for names in _TRACE_COLUMNS:
        if table.has(*names):
            return _source(content, ROCPROF, _rocprof_trace(table, names, where))
    calls = [row["Name"] for _, row in table.rows()]
    if calls and all(_API_NAMES.fullmatch(name) or name.startswith(_MEMORY) for name in calls):
        raise InputError(
            "is a table of API calls or copies, not of kernels", where=where, remedy="export kernel statistics"
        )
    return _source(content, ROCPROF, list(_rocprof_summary(table, where)), "single values")


def _rocprof_trace(table: Table, names: Sequence[str], where: str) -> list[Benchmark]:
    kernel, start, end = names
    rows = []
    for line, row in table.rows():
        begin, finish = whole(row[start]), whole(row[end])
        if begin is None or finish is None:
            raise InputError(f"{start!r} or {end!r} is no whole number", where=f"{where}: line {line}")
        if row.get("Kind", "KERNEL_DISPATCH") == "KERNEL_DISPATCH":
            rows.append((row[kernel], float(finish - begin), line))
    return _launches(rows, "ns", where)


def _rocprof_summary(table: Table, where: str) -> Iterator[Benchmark]:
    signs = _signs(table)
    for line, row in table.rows():
        place = f"{where}: line {line}"
        count = whole(signs.read(row["Calls"], place))
        reported = {
            ours: reported_ns(signs.read(row[theirs], place), "ns", place)
            for theirs, ours in _STATS_FIGURES.items()
            if theirs in row
        }
        notes = ("one call: the mean is that call",) if count == 1 else ()
        yield assemble(row["Name"], unit="ns", reported=reported, repetitions=count, notes=notes)


def _launches(rows: Sequence[tuple[str, float | None, int]], unit: str, where: str) -> list[Benchmark]:
    """Make a benchmark a kernel, its launches in the order of the file."""
    groups: dict[str, list[Sample]] = {}
    for order, (name, value, line) in enumerate(rows, start=1):
        groups.setdefault(name, []).append(timed(value, unit, order, f"{where}: line {line}"))
    return [assemble(name, samples, unit=unit, repetitions=len(samples)) for name, samples in groups.items()]


def _signs(table: Table) -> Signs:
    return Signs(cell for line in table.lines for cell in line.cells)


def _source(content: Content, name: str, benchmarks: list[Benchmark], *unrecorded: str) -> Source:
    where = content.where
    return Source(
        name=content.name,
        format=name,
        version=None,
        benchmarks=something(apart(benchmarks, where), where, "a kernel"),
        unrecorded=(*unrecorded, *UNRECORDED),
        kind="kernels",
    )
