"""asv's results: a file a commit, of version 1 (flat numbers or objects) or 2 (``result_columns``); ``benchmarks.json`` is their index."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from reportgen.archive.importers.assembling import apart, assemble
from reportgen.archive.importers.content import Content
from reportgen.archive.importers.quantities import number, reported_ns, timed, whole
from reportgen.archive.importers.shape import listed, object_of
from reportgen.errors import InputError
from reportgen.model.imported import Benchmark, RowStatus, Source

NAME = "asv"
UNIT = "s"
INDEX = "benchmarks.json"
MACHINE = "machine.json"
UNRECORDED = (
    "single values, unless --record-samples was given",
    "an order of interest between benchmarks",
    "device clocks, power and temperature",
)
_SECONDS = ("seconds", "s")
_TIME_PREFIXES = ("time_", "timeraw_")
_STATS = {"min": "min_ns", "max": "max_ns", "mean": "mean_ns", "std": "stddev_ns", "q_25": "q1_ns", "q_75": "q3_ns"}
_COLUMN_STATS = {"stats_q_25": "q_25", "stats_q_75": "q_75", "stats_number": "number", "stats_repeat": "repeat"}


def recognise(content: Content) -> bool:
    """Results with a commit, an index of benchmarks, or the description of a machine."""
    found = content.json
    if not isinstance(found, dict):
        return False
    return ("results" in found and "commit_hash" in found) or _is_index(found) or _is_machine(found)


def _is_index(found: Mapping[str, Any]) -> bool:
    entries = [value for value in found.values() if isinstance(value, dict)]
    return bool(entries) and all(
        {"name", "type"} <= set(entry) and ("code" in entry or "params" in entry) for entry in entries
    )


def _is_machine(found: Mapping[str, Any]) -> bool:
    return {"machine", "arch", "os"} <= set(found) and "results" not in found


def read(content: Content, index: Content | None = None) -> Source:
    """Read a file of results; ``index`` is the ``benchmarks.json`` that names units and parameters.

    Without it, only names whose last part begins with ``time_`` or ``timeraw_`` are times, in seconds.

    Raises
    ------
    InputError
        It is an index or a machine, holds no times, or its matrix does not fit its parameters.
    """
    found, where = content.json, content.where
    if "results" not in found:
        what = "describes a machine" if _is_machine(found) else "is the index of results"
        raise InputError(
            f"{what} and holds no result", where=where, remedy="name a file of results, or the folder of all"
        )
    known = {} if index is None else index.json
    if not isinstance(known, dict):
        raise InputError("is no index of asv", where=content.where if index is None else index.where)
    benchmarks, not_time = _sorted_out(found, known, where)
    return Source(
        name=content.name,
        format=NAME,
        version=found.get("version", 2 if found.get("result_columns") else 1),
        benchmarks=apart(benchmarks, where),
        context=_context(found, where),
        not_time=tuple(not_time),
        notes=() if index is None else (f"units and names of parameters are from {index.name}",),
        unrecorded=UNRECORDED,
    )


def _sorted_out(found: Mapping[str, Any], known: dict[str, Any], where: str) -> tuple[list[Benchmark], list[str]]:
    """Give the benchmarks that are times, and the names of the rest.

    Raises
    ------
    InputError
        None is a time.
    """
    benchmarks: list[Benchmark] = []
    not_time: list[str] = []
    for name, told in object_of(dict(found), "results", where).items():
        place = f"{where}: results[{name[:80]!r}]"
        entry = object_of(known, name, place)
        if _is_time(name, entry):
            names = listed(entry, "param_names", place)
            benchmarks += _cells(name, _entry(told, found.get("result_columns"), place), names, place)
        else:
            not_time.append(name)
    if not benchmarks:
        said = f"none of its {len(not_time)} results is a time (they are {_kinds(not_time)})"
        raise InputError(f"holds nothing to import: {said if not_time else 'there is no result in it'}", where=where)
    return benchmarks, not_time


def _context(found: Mapping[str, Any], where: str) -> dict[str, Any]:
    kept = ("commit_hash", "python", "env_name", "params", "requirements")
    context = {key: found[key] for key in kept if key in found}
    if "date" in found:
        context["date_ms"] = found["date"]
    return context | {"machine": object_of(dict(found), "params", where).get("machine")}


def _kinds(names: list[str]) -> str:
    return ", ".join(sorted({f"{name.rpartition('.')[2].partition('_')[0]}_" for name in names}))


def _is_time(name: str, entry: Mapping[str, Any]) -> bool:
    if entry:
        return entry.get("type") == "time" and entry.get("unit", "seconds") in _SECONDS
    return name.rpartition(".")[2].startswith(_TIME_PREFIXES)


def _entry(told: Any, columns: Any, where: str) -> dict[str, Any]:
    """Give what a version says of one benchmark, under the names of version 1."""
    if isinstance(columns, list):
        if told is None:
            return {"result": None}
        if not isinstance(told, list) or len(told) > len(columns):
            raise InputError("does not fit 'result_columns'", where=where)
        return dict(zip(map(str, columns), told, strict=False))
    if isinstance(told, dict):
        return told
    return {"result": told, "flat": not isinstance(told, list) and told is not None}


def _cells(name: str, entry: dict[str, Any], names: list[str], where: str) -> Iterator[Benchmark]:
    """Yield a benchmark for each combination of parameters; the last parameter varies fastest."""
    axes = entry.get("params") or []
    if not isinstance(axes, list) or not all(isinstance(axis, list) for axis in axes):
        raise InputError("'params' is no list of lists", where=where)
    if not all(len(axis) for axis in axes):
        raise InputError("a parameter has no value", where=where)
    combinations = list(product(*axes))
    result = entry.get("result")
    values = [None] * len(combinations) if result is None else result if isinstance(result, list) else [result]
    if len(values) != len(combinations):
        raise InputError(f"has {len(values)} results for {len(combinations)} combinations of parameters", where=where)
    known = [str(names[at]) if at < len(names) else f"param{at + 1}" for at in range(len(axes))]
    for at, (value, combination) in enumerate(zip(values, combinations, strict=True)):
        yield _cell(name, dict(zip(known, combination, strict=True)), value, _Facts(entry, at), where)


class _Facts:
    """What an entry says of its ``at``-th result, whatever the version."""

    def __init__(self, entry: Mapping[str, Any], at: int) -> None:
        self.flat = bool(entry.get("flat"))
        stats = self._at(entry.get("stats"), at)
        self.stats = dict(stats) if isinstance(stats, dict) else {}
        for column, key in _COLUMN_STATS.items():
            if (value := self._at(entry.get(column), at)) is not None:
                self.stats[key] = value
        samples = self._at(entry.get("samples"), at)
        self.samples = samples if isinstance(samples, list) else []

    @staticmethod
    def _at(values: Any, at: int) -> Any:
        return values[at] if isinstance(values, list) and at < len(values) else None


def _cell(name: str, params: dict[str, Any], value: Any, facts: _Facts, where: str) -> Benchmark:
    status, reason = _outcome(value)
    count, iterations = whole(facts.stats.get("repeat")), number(facts.stats.get("number"))
    complete = bool(facts.samples) and count in (None, len(facts.samples)) and status is RowStatus.OK
    reported = {ours: reported_ns(facts.stats.get(theirs), UNIT, where) for theirs, ours in _STATS.items()}
    return assemble(
        name,
        [
            timed(told, UNIT, at + 1, f"{where}.samples[{at}]", iterations=iterations)
            for at, told in enumerate(facts.samples)
        ]
        if complete
        else [],
        params=params,
        status=status,
        reason=reason,
        unit=UNIT,
        reported=reported | {"median_ns": reported_ns(value, UNIT, where)} if status is RowStatus.OK else {},
        median_word="reported value, the file does not say which statistic"
        if facts.flat and status is RowStatus.OK
        else "",
        repetitions=count,
        iterations=iterations,
        notes=() if complete or not facts.samples else (f"{len(facts.samples)} of {count} samples: they are not used",),
    )


def _outcome(value: Any) -> tuple[RowStatus, str]:
    if value is None:
        return RowStatus.ERROR, "failed"
    found = number(value)
    if found is None:
        return RowStatus.ERROR, "the result is not a number"
    if math.isnan(found):
        return RowStatus.SKIPPED, "skipped"
    return (
        (RowStatus.ERROR, "the time is negative or not finite")
        if found < 0 or math.isinf(found)
        else (RowStatus.OK, "")
    )
