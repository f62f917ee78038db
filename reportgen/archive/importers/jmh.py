"""JMH's results: JSON (``-rf json``) and CSV (``-rf csv``); times an operation, or operations in a time, which stay rates."""

from __future__ import annotations

import re
from typing import Any

from reportgen.archive.importers.assembling import apart, assemble, something
from reportgen.archive.importers.content import Content
from reportgen.archive.importers.quantities import NS, Signs, number, rated, reported_ns, timed, whole
from reportgen.archive.importers.shape import listed, object_of, objects, text_of
from reportgen.errors import InputError
from reportgen.model.imported import Benchmark, Measure, RowStatus, Sample, Source

NAME = "jmh"
UNRECORDED = (
    "host and date",
    "an order of interest: all iterations of a benchmark follow each other",
    "device clocks, power and temperature",
)
_COLUMNS = ("Benchmark", "Mode", "Threads", "Samples", "Score", "Unit")
_PARAM = "Param: "
_TIME = re.compile(r"(?P<unit>[^/]+)/op")
_RATE = re.compile(r"ops/(?P<unit>[^/]+)")
_NOT_A_NUMBER = "the score is not a number"


def recognise(content: Content) -> bool:
    """Look for a list of objects with a ``primaryMetric``."""
    found = content.json
    return isinstance(found, list) and any(isinstance(row, dict) and "primaryMetric" in row for row in found)


def recognise_table(content: Content) -> bool:
    """Look for a table with JMH's columns."""
    return content.table.has(*_COLUMNS)


def read(content: Content) -> Source:
    """Read the JSON form; the values of all forks are one list, in order.

    Raises
    ------
    InputError
        A record has no name, metric or unit of time, or nothing tells two apart.
    """
    where = content.where
    rows = objects(content.json, where)
    versions = list(dict.fromkeys(str(row["jmhVersion"]) for row in rows if "jmhVersion" in row))
    kept = ("jmhVersion", "jdkVersion", "vmName", "vmVersion", "jvm", "threads", "forks")
    context = {key: rows[0][key] for key in kept if rows and key in rows[0]}
    secondary = sorted({key for row in rows for key in object_of(row, "secondaryMetrics", where)})
    return Source(
        name=content.name,
        format=NAME,
        version=", ".join(versions) or None,
        benchmarks=something(apart([_benchmark(row, f"{where}: [{at}]") for at, row in enumerate(rows)], where), where),
        context=context,
        not_time=tuple(secondary),
        notes=("secondary metrics are left out",) if secondary else (),
        unrecorded=UNRECORDED,
    )


def _benchmark(row: dict[str, Any], where: str) -> Benchmark:
    metric = object_of(row, "primaryMetric", where)
    if not metric:
        raise InputError("has no 'primaryMetric'", where=where)
    unit, measure = _unit(text_of(metric, "scoreUnit", f"{where}.primaryMetric"), f"{where}.primaryMetric")
    samples = _samples(metric, unit, measure, where)
    bad = number(metric.get("score")) is None or number(metric.get("score")) != number(metric.get("score"))
    params = object_of(row, "params", where)
    return assemble(
        text_of(row, "benchmark", where),
        samples,
        params=params,
        status=RowStatus.ERROR if bad else RowStatus.OK,
        reason=_NOT_A_NUMBER if bad else "",
        measure=measure,
        unit=unit,
        reported=_figures(metric, unit, measure, where),
        repetitions=len(samples) or None,
        notes=("its values are a histogram, not single ones",) if "rawDataHistogram" in metric and not samples else (),
    )


def _unit(told: str, where: str) -> tuple[str, Measure]:
    """Give unit of a score, and whether it is a time or a rate."""
    if (found := _TIME.fullmatch(told)) and found["unit"] in NS:
        return found["unit"], Measure.TIME
    if (found := _RATE.fullmatch(told)) and found["unit"] in NS:
        return told, Measure.RATE
    raise InputError(f"unit {told[:40]!r} is neither a time an operation nor operations in a time", where=where)


def _samples(metric: dict[str, Any], unit: str, measure: Measure, where: str) -> list[Sample]:
    found: list[Sample] = []
    make = timed if measure is Measure.TIME else rated
    for fork, values in enumerate(listed(metric, "rawData", f"{where}.primaryMetric")):
        for at, told in enumerate(values if isinstance(values, list) else [values]):
            place = f"{where}.primaryMetric.rawData[{fork}][{at}]"
            found.append(make(told, unit, len(found) + 1, place, beside={"fork": float(fork + 1)}))
    return found


def _figures(metric: dict[str, Any], unit: str, measure: Measure, where: str) -> dict[str, float | None]:
    percentiles = object_of(metric, "scorePercentiles", where)
    if measure is Measure.RATE:
        return {"rate": number(metric.get("score")), "median_rate": number(percentiles.get("50.0"))}
    return {
        "mean_ns": reported_ns(metric.get("score"), unit, where),
        "median_ns": reported_ns(percentiles.get("50.0"), unit, where),
    }


def read_table(content: Content) -> Source:
    """Read the CSV form: a mean score a row, no single value; raises as :func:`read`."""
    table, where = content.table, content.where
    signs = Signs(cell for line in table.lines for cell in line.cells)
    benchmarks = []
    for line, row in table.rows():
        place = f"{where}: line {line}"
        unit, measure = _unit(row["Unit"], place)
        score = signs.read(row["Score"], place)
        bad = score is None or score != score  # noqa: PLR0124 - NaN alone differs from itself
        figure = {"rate": score} if measure is Measure.RATE else {"mean_ns": reported_ns(score, unit, place)}
        benchmarks.append(
            assemble(
                row["Benchmark"],
                params={
                    key.removeprefix(_PARAM): value for key, value in row.items() if key.startswith(_PARAM) and value
                },
                status=RowStatus.ERROR if bad else RowStatus.OK,
                reason=_NOT_A_NUMBER if bad else "",
                measure=measure,
                unit=unit,
                reported={} if bad else figure,
                repetitions=whole(row["Samples"]),
            )
        )
    return Source(
        name=content.name,
        format=NAME,
        version=None,
        benchmarks=something(apart(benchmarks, where), where),
        unrecorded=("single values", *UNRECORDED),
    )
