"""Criterion.rs: the folder of a benchmark (``target/criterion/<name>/new``) or its ``raw.csv``; each sample is a time over its iterations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reportgen.archive.importers.assembling import assemble, something
from reportgen.archive.importers.content import Content
from reportgen.archive.importers.quantities import finite, number, reported_ns, timed
from reportgen.archive.importers.shape import text_of
from reportgen.errors import InputError
from reportgen.model.imported import Benchmark, Sample, Source

NAME = "criterion"
UNIT = "ns"
PARTS = ("benchmark.json", "estimates.json", "sample.json", "tukey.json")
RAW = "raw.csv"
SAMPLE, NAMES, ESTIMATES = "sample.json", "benchmark.json", "estimates.json"
UNRECORDED = (
    "version, machine and date",
    "an order of interest: all samples of a benchmark follow each other in one process",
    "device clocks, power and temperature",
)
_OLD_TIME, _NEW_TIME, _ITERATIONS = "sample_time_nanos", "sample_measured_value", "iteration_count"
_ESTIMATES = {
    "mean": ("mean", "Mean"),
    "median": ("median", "Median"),
    "stddev": ("std_dev", "StdDev"),
    "slope": ("slope", "Slope"),
}


def recognise_part(content: Content) -> bool:
    """One of the files of a benchmark's folder, by what it holds."""
    found = content.json
    if isinstance(found, list):
        lists = len(found) == 2 and all(isinstance(one, list) and one for one in found)  # noqa: PLR2004 - iterations and times
        return lists and content.name == SAMPLE
    keys = set(found) if isinstance(found, dict) else set()
    return (
        {"iters", "times"} <= keys or {"group_id", "full_id"} <= keys or bool(keys & {"median_abs_dev", "MedianAbsDev"})
    )


def refuse_part(content: Content) -> Source:
    """Refuse a file that is one of several (InputError)."""
    raise InputError(
        "is one file of a Criterion benchmark, which its folder holds",
        where=content.where,
        remedy="name the folder, or raw.csv",
    )


def recognise_table(content: Content) -> bool:
    """Look for a table with Criterion's iterations and either of its times."""
    return content.table.has("group", "function", _ITERATIONS) and (
        content.table.has(_OLD_TIME) or content.table.has(_NEW_TIME)
    )


def read_folder(parts: Mapping[str, Content], where: str) -> Source:
    """Read a benchmark's folder, given its files by name; ``raw.csv`` beside ``sample.json`` holds the same samples and is passed over.

    Raises
    ------
    InputError
        A file is missing or misshapen.
    """
    if SAMPLE not in parts:
        return read_table(parts[RAW])
    sample, place = parts[SAMPLE].json, parts[SAMPLE].where
    iterations, times = sample[:2] if isinstance(sample, list) else (sample.get("iters"), sample.get("times"))
    if not isinstance(iterations, list) or not isinstance(times, list) or len(iterations) != len(times):
        raise InputError("holds no equal numbers of iterations and times", where=place)
    pairs = [
        (number(count), told, f"{place}: times[{at}]")
        for at, (count, told) in enumerate(zip(iterations, times, strict=True))
    ]
    named = parts[NAMES].json if NAMES in parts else {}
    if not isinstance(named, dict) or not named:
        raise InputError(f"has no {NAMES}, which names the benchmark", where=where)
    estimates = parts[ESTIMATES].json if ESTIMATES in parts else {}
    params = {key: named[key] for key in ("group_id", "function_id", "value_str") if named.get(key) is not None}
    benchmark = assemble(
        text_of(named, "full_id", parts[NAMES].where),
        _samples(pairs),
        params=params,
        unit=UNIT,
        reported=_estimates(estimates, where),
        repetitions=len(times),
        notes=("times are taken to be in ns, as Criterion's clock gives them: the folder does not say",),
    )
    return _source(where, (benchmark,))


def _estimates(found: Any, where: str) -> dict[str, float | None]:
    told: dict[str, float | None] = {}
    for ours, keys in _ESTIMATES.items():
        one: dict[str, Any] = next(
            (found[key] for key in keys if isinstance(found, dict) and isinstance(found.get(key), dict)), {}
        )
        told[f"{ours}_ns"] = reported_ns(one.get("point_estimate"), UNIT, where)
    return told


def _samples(pairs: Sequence[tuple[float | None, Any, str]], units: Sequence[str] = ()) -> list[Sample]:
    """Divide each time by its iterations.

    Raises
    ------
    InputError
        A sample has no iterations, so that it has no time per iteration.
    """
    found = []
    for at, (iterations, told, place) in enumerate(pairs):
        if iterations is None or not iterations > 0:
            raise InputError(f"{_ITERATIONS} is {iterations}: there is no time per iteration", where=place)
        total = finite(told)
        value = None if total is None else total / iterations
        found.append(timed(value, units[at] if units else UNIT, at + 1, place, iterations=iterations))
    return found


def read_table(content: Content) -> Source:
    """Read ``raw.csv``, with its older or its newer header.

    Raises
    ------
    InputError
        A sample has no iterations, or is in no unit of time.
    """
    table, where = content.table, content.where
    time = _OLD_TIME if table.has(_OLD_TIME) else _NEW_TIME
    groups: dict[tuple[str, ...], list[tuple[float | None, Any, str]]] = {}
    units: dict[tuple[str, ...], list[str]] = {}
    for line, row in table.rows():
        key = tuple(row.get(name, "") for name in ("group", "function", "value"))
        groups.setdefault(key, []).append((finite(row[_ITERATIONS]), row[time], f"{where}: line {line}"))
        units.setdefault(key, []).append(row.get("unit", UNIT) if time == _NEW_TIME else UNIT)
    benchmarks = tuple(
        assemble(
            "/".join(part for part in key if part),
            _samples(pairs, units[key]),
            params={
                name: part for name, part in zip(("group_id", "function_id", "value_str"), key, strict=True) if part
            },
            repetitions=len(pairs),
        )
        for key, pairs in groups.items()
    )
    return _source(content.name, something(benchmarks, where, "a sample"))


def _source(name: str, benchmarks: tuple[Benchmark, ...]) -> Source:
    return Source(name=name, format=NAME, version=None, benchmarks=benchmarks, unrecorded=UNRECORDED)
