"""hyperfine's JSON (``--export-json``): times in seconds, one a run, with exit codes."""

from __future__ import annotations

from typing import Any

from reportgen.archive.importers.assembling import apart, assemble, something
from reportgen.archive.importers.content import Content
from reportgen.archive.importers.quantities import reported_ns, timed
from reportgen.archive.importers.shape import items_of, listed, object_of, text_of
from reportgen.errors import InputError
from reportgen.model.imported import Benchmark, RowStatus, Sample, Source

NAME = "hyperfine"
UNIT = "s"
UNRECORDED = (
    "its version, the machine and the date",
    "warm-up runs, and what --prepare did",
    "an order of interest: all runs of a command follow each other",
)
_FIGURES = ("mean", "stddev", "median", "min", "max", "user", "system")


def recognise(content: Content) -> bool:
    """Look for a list ``results`` of objects with a ``command``."""
    found = content.json
    rows = found.get("results") if isinstance(found, dict) else None
    return isinstance(rows, list) and any(isinstance(row, dict) and "command" in row for row in rows)


def read(content: Content) -> Source:
    """Read the file. Runs that ended with another status than 0, or were killed, are errors, however short.

    Raises
    ------
    InputError
        A result has no command, unlike numbers of times and exit codes, or nothing tells two apart.
    """
    where = content.where
    rows = items_of(content.json, "results", where)
    benchmarks = [_benchmark(row, f"{where}: results[{at}]") for at, row in enumerate(rows)]
    return Source(
        name=content.name,
        format=NAME,
        version=None,
        benchmarks=something(apart(benchmarks, where), where, "a result"),
        unrecorded=UNRECORDED,
    )


def _benchmark(row: dict[str, Any], where: str) -> Benchmark:
    times, codes = listed(row, "times", where), listed(row, "exit_codes", where)
    if times and codes and len(times) != len(codes):
        raise InputError(f"has {len(times)} times and {len(codes)} exit_codes", where=where)
    failed = [code for code in codes if code != 0]
    return assemble(
        text_of(row, "command", where),
        [_sample(told, at, codes, where) for at, told in enumerate(times)],
        params=object_of(row, "parameters", where),
        status=RowStatus.ERROR if failed else RowStatus.OK,
        reason=_ended(failed[0]) if failed else "",
        unit=UNIT,
        reported={f"{name}_ns": reported_ns(row.get(name), UNIT, where) for name in _FIGURES},
        repetitions=len(times or codes) or None,
        iterations=1.0,
        notes=("the reported figures include failed runs",) if failed else (),
    )


def _sample(told: Any, at: int, codes: list[Any], where: str) -> Sample:
    failed = bool(codes) and codes[at] != 0
    return timed(
        told,
        UNIT,
        at + 1,
        f"{where}.times[{at}]",
        status=RowStatus.ERROR if failed else RowStatus.OK,
        reason=_ended(codes[at]) if failed else "",
        iterations=1.0,
    )


def _ended(code: Any) -> str:
    return "a run was killed" if code is None else f"a run ended with status {code}"
