"""pyperf's JSON, plain or gzip: runs of values in seconds, each a process of its own; warm-ups are no values."""

from __future__ import annotations

from typing import Any

from reportgen.archive.importers.assembling import apart, assemble, something
from reportgen.archive.importers.content import Content
from reportgen.archive.importers.quantities import finite, number, timed
from reportgen.archive.importers.shape import items_of, listed, object_of
from reportgen.errors import InputError
from reportgen.model.imported import Benchmark, Sample, Source

NAME = "pyperf"
UNIT = "s"
SECOND = "second"
UNRECORDED = (
    "an order of interest between benchmarks: all runs of one follow each other",
    "device clocks, power and temperature of a GPU",
)


def recognise(content: Content) -> bool:
    """Look for a list ``benchmarks`` of objects with ``runs``."""
    found = content.json
    rows = found.get("benchmarks") if isinstance(found, dict) else None
    return isinstance(rows, list) and any(isinstance(row, dict) and "runs" in row for row in rows)


def read(content: Content) -> Source:
    """Read the file. A unit is seconds unless the file says otherwise, as pyperf defines it; other units are no times.

    Raises
    ------
    InputError
        There is no value, or none that is a time; the benchmark or the unit is named.
    """
    found, where = content.json, content.where
    shared = object_of(found, "metadata", where)
    benchmarks, not_time, empty, notes = [], [], [], []
    for at, row in enumerate(items_of(found, "benchmarks", where)):
        place = f"{where}: benchmarks[{at}]"
        known = shared | object_of(row, "metadata", place)
        name = str(known.get("name") or f"benchmark {at + 1}")
        unit = str(known.get("unit", SECOND))
        if unit != SECOND:
            not_time.append((name, unit))
        elif one := _benchmark(name, row, known, place):
            benchmarks.append(one)
        else:
            empty.append(name)
            notes.append(f"{name}: warm-ups and calibration only")
    if not benchmarks:
        said = [f"{name!r} holds warm-ups only" for name in empty] + [
            f"{name!r} is in {unit}" for name, unit in not_time
        ]
        raise InputError(f"holds no time: {'; '.join(said) or 'no benchmark'}", where=where)
    return Source(
        name=content.name,
        format=NAME,
        version=found.get("version"),
        benchmarks=something(apart(benchmarks, where), where),
        context=shared,
        not_time=tuple(name for name, _ in not_time),
        notes=tuple(notes),
        unrecorded=UNRECORDED,
    )


def _benchmark(name: str, row: dict[str, Any], known: dict[str, Any], where: str) -> Benchmark | None:
    samples: list[Sample] = []
    runs = items_of(row, "runs", where)
    for at, run in enumerate(runs):
        place = f"{where}.runs[{at}]"
        facts = known | object_of(run, "metadata", place)
        loops = _loops(facts)
        for index, told in enumerate(listed(run, "values", place)):
            spot = f"{place}.values[{index}]"
            if number(told) is None:
                raise InputError("is no number", where=spot)
            samples.append(timed(told, UNIT, len(samples) + 1, spot, iterations=loops, beside={"run": float(at + 1)}))
    if not samples:
        return None
    with_values = sum(bool(run.get("values")) for run in runs)
    return assemble(
        name, samples, unit=UNIT, repetitions=len(samples), notes=(f"{with_values} of {len(runs)} processes measured",)
    )


def _loops(facts: dict[str, Any]) -> float | None:
    loops = finite(facts.get("loops", 1))
    inner = finite(facts.get("inner_loops", 1))
    return None if loops is None or inner is None else loops * inner
