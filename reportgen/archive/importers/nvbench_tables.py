"""NVBench's tables: CSV (``--csv``, seconds; column names repeat, so places count) and Markdown (units inside the cells)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reportgen.archive.importers.assembling import apart, assemble, something
from reportgen.archive.importers.content import Content
from reportgen.archive.importers.markdown_table import MarkdownTable, markdown_tables
from reportgen.archive.importers.nvbench import NAME, UNIT, UNRECORDED, outcome
from reportgen.archive.importers.quantities import finite, reported_ns, whole
from reportgen.errors import InputError
from reportgen.model.imported import Benchmark, RowStatus, Source

_HEAD = ("Benchmark", "Device", "Device Name")
_SKIPPED = "Skipped"
_TIMES = {"GPU Time": "mean_ns", "CPU Time": "cpu_mean_ns", "Batch GPU": "batch_mean_ns"}
_MEASURED = (*_TIMES, "Samples", "Noise", "Batch", _SKIPPED)
_SECONDS = " (sec)"
_WITH_UNIT = re.compile(r"(?P<value>[0-9.eE+-]+) ?(?P<unit>ns|us|ms|s)")
_BENCHMARK = re.compile(r"## (?P<name>.+)")
_DEVICE = re.compile(r"### \[(?P<id>\d+)\] .*")
_RESULTS = "# Benchmark Results"


def recognise_table(content: Content) -> bool:
    """Look for a table that begins with NVBench's three columns."""
    return tuple(content.table.header[:3]) == _HEAD


def recognise_markdown(content: Content) -> bool:
    """Look for the heading under which NVBench prints its tables."""
    return any(line.strip() == _RESULTS for line in content.text.splitlines())


def read_table(content: Content) -> Source:
    """Read the CSV form.

    Raises
    ------
    InputError
        There is no column of times, or nothing tells two rows apart.
    """
    table, where = content.table, content.where
    header = [name.removesuffix(_SECONDS) for name in table.header]
    if "GPU Time" not in header and "CPU Time" not in header:
        raise InputError("has neither a column 'GPU Time (sec)' nor 'CPU Time (sec)'", where=where)
    axes = _axes(header)
    benchmarks = []
    for line in table.lines:
        cells = line.cells
        figures = _figures(
            header, [cell if finite(cell) is not None else "" for cell in cells], f"{where}: line {line.number}"
        )
        params: dict[str, object] = {header[at]: cells[at] for at in axes if cells[at]}
        device = whole(cells[1])
        skipped = _SKIPPED in header and cells[header.index(_SKIPPED)] == "Yes"
        benchmarks.append(
            _row(cells[0], params | {"device": cells[1] if device is None else device}, figures, skipped=skipped)
        )
    devices = list(dict.fromkeys(line.cells[2] for line in table.lines))
    return _source(content, benchmarks, devices, ("the reason of a skip", *UNRECORDED))


def _axes(header: Sequence[str]) -> list[int]:
    """Places of the axes: those between the device and the first measured column, and any behind the last measured one."""
    measured = [at for at, name in enumerate(header) if name in _MEASURED and at >= len(_HEAD)]
    first, last = (measured[0], measured[-1]) if measured else (len(header), len(header))
    if _SKIPPED in header:
        first = header.index(_SKIPPED)
    return [at for at in range(len(_HEAD), len(header)) if at < first or at > last]


def _figures(header: Sequence[str], cells: Sequence[str], where: str, unit: str = UNIT) -> dict[str, float | None]:
    """Figures of a row; the first ``Samples`` counts isolated launches, each ``Noise`` follows the time that it belongs to."""
    found: dict[str, float | None] = {}
    last = ""
    for name, cell in zip(header, cells, strict=True):
        if name in _TIMES:
            last = name
            found[_TIMES[name]] = reported_ns(cell, unit, where)
        elif name == "Noise" and last in ("GPU Time", "CPU Time"):
            found["noise" if last == "GPU Time" else "cpu_noise"] = finite(cell)
        elif name == "Samples" and "repetitions" not in found:
            found["repetitions"] = whole(cell)
    return found


def _row(name: str, params: dict[str, object], figures: dict[str, float | None], *, skipped: bool) -> Benchmark:
    count = figures.pop("repetitions", None)
    if figures.get("mean_ns") is None and figures.get("cpu_mean_ns") is not None:
        figures["cpu_only_mean_ns"] = figures["cpu_mean_ns"]
    status, reason = outcome(skipped, "", figures)
    return assemble(
        name,
        params=params,
        status=status,
        reason=reason,
        unit=UNIT,
        reported=figures if status is RowStatus.OK else {},
        repetitions=None if count is None or skipped else int(count),
    )


def read_markdown(content: Content) -> Source:
    """Read the Markdown form; its times have few digits. Raises as :func:`read_table`."""
    where = content.where
    benchmarks: list[Benchmark] = []
    described = [line for line in content.text.splitlines() if line.startswith("## [") and "]" in line]
    devices = [line.partition("]")[2].strip(" `") for line in described]
    for name, device, table in _sections(content):
        if "GPU Time" not in table.header and "CPU Time" not in table.header:
            raise InputError(
                "a table has neither a column 'GPU Time' nor 'CPU Time'", where=f"{where}: line {table.line}"
            )
        axes = [at for at, one in enumerate(table.header) if at < _first_measured(table)]
        for number, cells in table.rows:
            place = f"{where}: line {number}"
            params: dict[str, object] = {table.header[at]: cells[at] for at in axes if cells[at]}
            figures = _figures(table.header, [_in_seconds(cell) for cell in cells], place)
            benchmarks.append(_row(name, params | {"device": device}, figures, skipped=False))
    return _source(content, benchmarks, devices, ("more than four digits", "skipped states", *UNRECORDED))


def _first_measured(table: MarkdownTable) -> int:
    """Place of the first column that a benchmark did not ask for: of sizes and rates those follow the axes, so units tell."""
    names = (*_MEASURED, "Num Elements", "Memory Reads", "Memory Writes", "Elem/s", "GlobalMem BW", "BWUtil")
    return next((at for at, name in enumerate(table.header) if name in names), len(table.header))


def _in_seconds(cell: str) -> str:
    """Give a time with its unit, in seconds; a count without its ``x``; a share without its sign."""
    if found := _WITH_UNIT.fullmatch(cell):
        exponent = {"ns": -9, "us": -6, "ms": -3, "s": 0}[found["unit"]]
        return found["value"] if not exponent else f"{found['value']}e{exponent}"
    if cell.endswith("%"):
        share = finite(cell[:-1])
        return "" if share is None else repr(share / 100)
    return cell.removesuffix("x")


def _sections(content: Content) -> Iterator[tuple[str, int, MarkdownTable]]:
    """Each table with the benchmark and the device under whose headings it stands."""
    text, where = content.text, content.where
    lines = text.splitlines()
    begins = next(at for at, line in enumerate(lines) if line.strip() == _RESULTS)
    tables = {table.line: table for table in markdown_tables(text, where) if table.line > begins}
    name, device = "", 0
    for number, line in enumerate(lines, start=1):
        if number > begins and (found := _BENCHMARK.fullmatch(line.strip())):
            name = found["name"].strip()
        elif found := _DEVICE.fullmatch(line.strip()):
            device = int(found["id"])
        if number in tables:
            yield name, device, tables[number]


def _source(content: Content, benchmarks: list[Benchmark], devices: list[str], unrecorded: tuple[str, ...]) -> Source:
    where = content.where
    return Source(
        name=content.name,
        format=NAME,
        version=None,
        benchmarks=something(apart(benchmarks, where), where, "a state"),
        context={"devices": devices},
        unrecorded=unrecorded,
    )
