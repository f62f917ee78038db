"""llama-bench: JSON, JSON lines and CSV (times in ns), Markdown (rates only). A test is named as llama-bench's own table names it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from reportgen.archive.importers.assembling import apart, assemble, something
from reportgen.archive.importers.content import Content
from reportgen.archive.importers.markdown_table import MarkdownTable, markdown_tables
from reportgen.archive.importers.quantities import fault_of, finite, number, timed, whole
from reportgen.archive.importers.shape import objects
from reportgen.errors import InputError
from reportgen.model.imported import Benchmark, Measure, RowStatus, Source

NAME = "llama-bench"
UNIT = "ns"
UNRECORDED = (
    "an order of interest: all repetitions of a test follow each other in one process",
    "device clocks, power and temperature",
    "whether results of the model were right",
)
_FIGURES = {"avg_ns": "mean_ns", "stddev_ns": "stddev_ns"}
_RATES = {"avg_ts": "rate_ts", "stddev_ts": "stddev_ts"}
_LISTS = ("samples_ns", "samples_ts")
_CONTEXT = ("build_commit", "build_number", "cpu_info", "gpu_info", "backends", "test_time")
_RATE_COLUMN = "t/s"
_TEST_COLUMN = "test"
_PLUS_MINUS = re.compile(r"(?P<rate>[0-9.]+|nan|inf|-nan)\s*(±\s*(?P<spread>[0-9.]+|nan|inf|-nan))?")
_BUILD = re.compile(r"build: (?P<commit>\S+) \((?P<number>\d+)\)", re.MULTILINE)


def recognise(content: Content) -> bool:
    """Objects with llama-bench's build and test."""
    found = content.json
    rows = found if isinstance(found, list) else [found]
    return any(isinstance(row, dict) and {"build_commit", "n_prompt", "n_gen"} <= set(row) for row in rows)


def recognise_table(content: Content) -> bool:
    """Look for a table with llama-bench's build, test and mean time."""
    return content.table.has("build_commit", "n_prompt", "n_gen", "avg_ns")


def recognise_markdown(content: Content) -> bool:
    """Look for a Markdown table with columns ``test`` and ``t/s``."""
    header = [
        {cell.strip() for cell in line.split("|")}
        for line in content.text.splitlines()
        if line.lstrip().startswith("|")
    ]
    return any({"model", _TEST_COLUMN, _RATE_COLUMN} <= cells for cells in header)


def read(content: Content) -> Source:
    """Read JSON or JSON lines; lines that cannot be a record are counted.

    Raises
    ------
    InputError
        A line breaks off, a record has no test, or nothing tells two apart.
    """
    where = content.where
    if content.by_line:
        numbered = [(f"{where}: line {number}", row) for number, row in content.numbered]
    else:
        found = content.json
        rows = objects(found if isinstance(found, list) else [found], where)
        numbered = [(f"{where}: [{at}]", row) for at, row in enumerate(rows)]
    noise = content.noise if content.by_line else 0
    notes = (f"{noise} lines that are no records were passed over",) if noise else ()
    return _source(content, numbered, notes, UNRECORDED)


def read_table(content: Content) -> Source:
    """Read CSV, which has means only. Raises as :func:`read`."""
    numbered = [(f"{content.where}: line {line}", row) for line, row in content.table.rows()]
    return _source(content, numbered, (), ("single values", *UNRECORDED))


def _source(
    content: Content,
    numbered: Sequence[tuple[str, Mapping[str, Any]]],
    notes: tuple[str, ...],
    unrecorded: tuple[str, ...],
) -> Source:
    where = content.where
    builds = list(dict.fromkeys(f"{row.get('build_commit')} ({row.get('build_number')})" for _, row in numbered))
    context = {key: _shared([row.get(key) for _, row in numbered]) for key in _CONTEXT}
    benchmarks = _told_apart([_benchmark(row, place) for place, row in numbered], [row for _, row in numbered])
    return Source(
        name=content.name,
        format=NAME,
        version=", ".join(builds) or None,
        benchmarks=something(apart(benchmarks, where), where, "a test"),
        context={key: value for key, value in context.items() if value is not None},
        notes=notes,
        unrecorded=unrecorded,
    )


def _shared(values: Sequence[Any]) -> Any:
    """Give the one value of all rows, or the first of several."""
    return next((value for value in values if value is not None), None)


def _benchmark(row: Mapping[str, Any], where: str) -> Benchmark:
    told = row.get("samples_ns") or []
    if not isinstance(told, list):
        raise InputError("'samples_ns' is no list", where=where)
    mean = number(row.get("avg_ns"))
    samples = [timed(one, UNIT, at + 1, f"{where}: samples_ns[{at}]") for at, one in enumerate(told)]
    fault = "" if samples else fault_of(mean)
    known = (*_FIGURES, *_RATES, *_LISTS, *_CONTEXT)
    figures = {ours: finite(row.get(theirs)) for theirs, ours in {**_FIGURES, **_RATES}.items()}
    return assemble(
        _test(row, where),
        samples,
        params={key: value for key, value in row.items() if key not in known},
        status=RowStatus.ERROR if fault else RowStatus.OK,
        reason=fault,
        unit=UNIT,
        reported=figures if not fault else {},
        repetitions=len(samples) or None,
    )


def _test(row: Mapping[str, Any], where: str) -> str:
    """``pp512``, ``tg128``, ``pp512+tg128``, with `` @ d4096`` behind a filled context."""
    counts = {key: whole(row.get(key, 0)) for key in ("n_prompt", "n_gen", "n_depth")}
    bad = next((key for key, value in counts.items() if value is None), None)
    if bad:
        raise InputError(f"{bad!r} is no whole number", where=where)
    prompt, generated, depth = counts.values()
    parts = [*([f"pp{prompt}"] if prompt else []), *([f"tg{generated}"] if generated else [])]
    return ("+".join(parts) or "nothing") + (f" @ d{depth}" if depth else "")


def _told_apart(benchmarks: list[Benchmark], rows: Sequence[Mapping[str, Any]]) -> list[Benchmark]:
    """Where builds or devices differ from row to row they tell rows apart as parameters do."""
    varying = [key for key in _CONTEXT if key != "test_time" and len({str(row.get(key)) for row in rows}) > 1]
    if not varying:
        return benchmarks
    return [_with(one, {key: row.get(key) for key in varying}) for one, row in zip(benchmarks, rows, strict=True)]


def _with(one: Benchmark, params: Mapping[str, Any]) -> Benchmark:
    return assemble(
        one.name,
        one.samples,
        params=one.params | dict(params),
        status=one.status,
        reason=one.reason,
        unit=one.unit,
        reported=one.reported,
        repetitions=one.repetitions,
    )


def read_markdown(content: Content) -> Source:
    """Read Markdown tables, wherever they stand in a log. Raises as :func:`read`."""
    where = content.where
    tables = [one for one in markdown_tables(content.text, where) if {_TEST_COLUMN, _RATE_COLUMN} <= set(one.header)]
    benchmarks = [
        one for at, table in enumerate(tables, start=1) for one in _rates(table, where, at if len(tables) > 1 else 0)
    ]
    builds = list(dict.fromkeys(f"{found['commit']} ({found['number']})" for found in _BUILD.finditer(content.text)))
    return Source(
        name=content.name,
        format=NAME,
        version=", ".join(builds) or None,
        benchmarks=something(apart(benchmarks, where), where, "a test"),
        notes=("a table rounds its spread: 0.00 is not none",),
        unrecorded=("single values", "times", *UNRECORDED),
    )


def _rates(table: MarkdownTable, where: str, place: int) -> list[Benchmark]:
    found = []
    for line, cells in table.rows:
        row = dict(zip(table.header, cells, strict=True))
        told = _PLUS_MINUS.fullmatch(row.pop(_RATE_COLUMN))
        if told is None:
            raise InputError(f"its {_RATE_COLUMN!r} is no rate", where=f"{where}: line {line}")
        rate, fault = finite(told["rate"]), fault_of(number(told["rate"]))
        found.append(
            assemble(
                row.pop(_TEST_COLUMN),
                params=row | ({"table": place} if place else {}),
                status=RowStatus.ERROR if fault else RowStatus.OK,
                reason=fault.replace("time", "rate"),
                measure=Measure.RATE,
                unit=_RATE_COLUMN,
                reported={} if fault else {"rate": rate, "stddev_rate": finite(told["spread"])},
            )
        )
    return found
