"""NVBench's JSON, of 2021 (summaries by title) and later (summaries with tags): means of times in seconds, no single value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reportgen.archive.importers.assembling import apart, assemble, something
from reportgen.archive.importers.content import Content
from reportgen.archive.importers.quantities import fault_of, finite, reported_ns, whole
from reportgen.archive.importers.shape import items_of, listed, object_of, objects, text_of
from reportgen.errors import InputError
from reportgen.model.imported import Benchmark, RowStatus, Source

NAME = "nvbench"
UNIT = "s"
FAILED = "Unexpected error"
MAIN = ("mean_ns", "cpu_only_mean_ns")
UNRECORDED = (
    "single values, unless --jsonbin was given (they are not read)",
    "an order of interest: all samples of a state follow each other in one process",
    "which layout in memory the buffers had",
)
TIMES = {
    "nv/cold/time/gpu/mean": "mean_ns",
    "nv/cold/time/gpu/median": "median_ns",
    "nv/cold/time/gpu/min": "min_ns",
    "nv/cold/time/gpu/max": "max_ns",
    "nv/cold/time/cpu/mean": "cpu_mean_ns",
    "nv/batch/time/gpu/mean": "batch_mean_ns",
    "nv/cpu_only/time/cpu/mean": "cpu_only_mean_ns",
    "Average GPU Time (Cold)": "mean_ns",
    "Average CPU Time (Cold)": "cpu_mean_ns",
    "Average GPU Time (Batch)": "batch_mean_ns",
}
_SHARES = {
    "nv/cold/time/gpu/stdev/relative": "noise",
    "nv/cold/time/cpu/stdev/relative": "cpu_noise",
    "GPU Relative Standard Deviation (Cold)": "noise",
    "CPU Relative Standard Deviation (Cold)": "cpu_noise",
}
_COUNTS = ("nv/cold/sample_size", "nv/cpu_only/sample_size", "Number of Samples (Cold)")


def recognise(content: Content) -> bool:
    """Look for a list ``benchmarks`` of objects with ``states``."""
    found = content.json
    rows = found.get("benchmarks") if isinstance(found, dict) else None
    return isinstance(rows, list) and any(isinstance(row, dict) and "states" in row for row in rows)


def read(content: Content) -> Source:
    """Read the file; the main time is the mean GPU time of isolated ("cold") launches, CPU and batch times stand beside it.

    Raises
    ------
    InputError
        A benchmark or a state is misshapen, or nothing tells two apart.
    """
    found, where = content.json, content.where
    version = object_of(object_of(found, "meta", where), "version", where)
    benchmarks = [
        one
        for at, row in enumerate(items_of(found, "benchmarks", where))
        for one in _states(row, f"{where}: benchmarks[{at}]")
    ]
    harness = object_of(version, "nvbench", where)
    devices = [str(one.get("name")) for one in listed(found, "devices", where) if isinstance(one, dict)]
    return Source(
        name=content.name,
        format=NAME,
        version=object_of(version, "json", where).get("string"),
        benchmarks=something(apart(benchmarks, where), where, "a state"),
        context={"devices": devices, "nvbench": harness.get("string"), "git_sha": harness.get("git_sha")},
        unrecorded=UNRECORDED,
    )


def _states(row: dict[str, Any], where: str) -> list[Benchmark]:
    name, states = text_of(row, "name", where), row.get("states")
    if isinstance(states, dict):
        told = [(f"{where}.states[{key[:60]!r}]", value) for key, value in states.items()]
    elif isinstance(states, list):
        told = [(f"{where}.states[{at}]", value) for at, value in enumerate(states)]
    else:
        raise InputError("has no 'states'", where=where)
    objects([state for _, state in told], f"{where}.states")
    return [_state(name, state, place) for place, state in told]


def _state(name: str, state: dict[str, Any], where: str) -> Benchmark:
    figures = _figures(state, where)
    params = _axes(state, where) | ({} if state.get("device") is None else {"device": state["device"]})
    count = figures.pop("repetitions", None)
    skipped = bool(state.get("is_skipped"))
    status, reason = outcome(skipped, str(state.get("skip_reason") or ""), figures)
    return assemble(
        name,
        params=params,
        status=status,
        reason=reason,
        unit=UNIT,
        reported=figures if status is RowStatus.OK else {},
        repetitions=None if count is None or skipped else int(count),
    )


def outcome(skipped: bool, reason: str, figures: Mapping[str, float | None]) -> tuple[RowStatus, str]:  # noqa: FBT001 - what the state says of itself
    """How a state came out; a skip whose reason reports a failure is an error, and so is a state without a time that was not skipped."""
    if skipped:
        return (RowStatus.ERROR if reason.startswith(FAILED) else RowStatus.SKIPPED), reason or "skipped"
    if all(figures.get(name) is None for name in MAIN):
        return RowStatus.ERROR, "there is no time"
    return RowStatus.OK, ""


def _axes(state: dict[str, Any], where: str) -> dict[str, Any]:
    axes = state.get("axis_values") or []
    if isinstance(axes, dict):
        return {name: axes[name].get("value") if isinstance(axes[name], dict) else axes[name] for name in axes}
    if not isinstance(axes, list):
        raise InputError("'axis_values' is no list", where=where)
    return {text_of(axis, "name", where): axis.get("value") for axis in objects(axes, f"{where}.axis_values")}


def _figures(state: dict[str, Any], where: str) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for tag, told in _summaries(state, where):
        if tag in TIMES:
            found[TIMES[tag]] = reported_ns(told, UNIT, where) if not fault_of(finite(told)) else None
        elif tag in _SHARES:
            found[_SHARES[tag]] = finite(told)
        elif tag in _COUNTS:
            found["repetitions"] = whole(told)
    return found


def _summaries(state: dict[str, Any], where: str) -> list[tuple[str, Any]]:
    """Tag (or title) and value of every summary."""
    summaries = state.get("summaries") or []
    if isinstance(summaries, dict):
        return [(title, _value(one)) for title, one in summaries.items()]
    if not isinstance(summaries, list):
        raise InputError("'summaries' is no list", where=where)
    return [
        (str(one.get("tag")), next((_value(each) for each in listed(one, "data", where) if _named_value(each)), None))
        for one in objects(summaries, f"{where}.summaries")
    ]


def _named_value(each: Any) -> bool:
    return isinstance(each, dict) and each.get("name") == "value"


def _value(one: Any) -> Any:
    told = one.get("value") if isinstance(one, dict) else None
    return told.get("value") if isinstance(told, dict) else told
