"""Google Benchmark's JSON (``--benchmark_format=json``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reportgen.archive.importers.assembling import apart, assemble, something
from reportgen.archive.importers.content import Content
from reportgen.archive.importers.quantities import finite, reported_ns, timed, whole
from reportgen.archive.importers.shape import items_of, text_of
from reportgen.model.imported import Benchmark, RowStatus, Sample, Source

NAME = "google-benchmark"
UNRECORDED = (
    "in which order benchmarks ran where repetitions are interleaved at random",
    "whether repetitions are processes of their own (they are not, unless the program was started again)",
    "device clocks, power and temperature",
)
_AGGREGATES = ("mean", "median", "stddev", "cv", "min", "max")
_NO_COUNTER = frozenset(
    [
        "name",
        "family_index",
        "per_family_instance_index",
        "run_name",
        "run_type",
        "repetitions",
        "repetition_index",
        "threads",
        "iterations",
        "real_time",
        "cpu_time",
        "time_unit",
        "aggregate_name",
        "aggregate_unit",
        "error_occurred",
        "error_message",
        "skipped",
        "skip_message",
        "label",
        "big_o",
        "rms",
        "cpu_coefficient",
        "real_coefficient",
    ]
)
Key = tuple[str, int | None, int | None]


def recognise(content: Content) -> bool:
    """Look for a list ``benchmarks`` beside a ``context``, or rows with ``real_time``."""
    found = content.json
    rows = found.get("benchmarks") if isinstance(found, dict) else None
    if not isinstance(rows, list):
        return False
    return "context" in found or any(isinstance(row, dict) and "real_time" in row for row in rows)


def read(content: Content) -> Source:
    """Read the file. Rows of one name and one instance are repetitions; aggregates are figures of theirs, never samples.

    Raises
    ------
    InputError
        A row has no name or no unit, two benchmarks cannot be told apart, or there is none.
    """
    found = content.json
    where = content.where
    rows = items_of(found, "benchmarks", where)
    written = {text_of(row, "name", f"{where}: benchmarks[{at}]") for at, row in enumerate(rows)}
    groups: dict[Key, list[tuple[int, dict[str, Any]]]] = {}
    not_time: list[str] = []
    for at, row in enumerate(rows):
        if "big_o" in row or "rms" in row or row.get("aggregate_name") in ("BigO", "RMS"):
            not_time.append(row["name"])
        else:
            groups.setdefault(_key(row, written), []).append((at, row))
    by_name: dict[str, list[Key]] = {}
    for key in groups:
        by_name.setdefault(key[0], []).append(key)
    several = {name for name, keys in by_name.items() if not _joined(groups, keys)}
    benchmarks = [_benchmark(key, group, where, several) for key, group in groups.items()]
    context = found.get("context") if isinstance(found.get("context"), dict) else {}
    return Source(
        name=content.name,
        format=NAME,
        version=context.get("library_version"),
        benchmarks=something(apart(benchmarks, where), where),
        context=context,
        not_time=tuple(not_time),
        unrecorded=UNRECORDED,
    )


def _key(row: dict[str, Any], written: set[str]) -> Key:
    """Name and instance of the benchmark that a row belongs to."""
    name = str(row.get("run_name") or _bare(row, written))
    return name, whole(row.get("family_index")), whole(row.get("per_family_instance_index"))


def _bare(row: dict[str, Any], written: set[str]) -> str:
    """Name without the aggregate's: only where the row says that it is one, or (in old files) where that benchmark stands in the file too."""
    name = str(row["name"])
    stem, _, last = name.rpartition("_")
    told = str(row.get("aggregate_name", ""))
    if told and name.endswith(f"_{told}"):
        return name.removesuffix(f"_{told}")
    return stem if "run_type" not in row and last in _AGGREGATES and stem in written else name


def _joined(groups: dict[Key, list[tuple[int, dict[str, Any]]]], keys: Sequence[Key]) -> bool:
    """Join rows without indices to the one benchmark of their name; whether the name now stands for one benchmark."""
    bare = (keys[0][0], None, None)
    if bare in keys and len(keys) == 2:  # noqa: PLR2004 - the bare key and one other
        other = next(key for key in keys if key != bare)
        groups[other] = sorted([*groups[other], *groups.pop(bare)], key=lambda one: one[0])
        return True
    return len(keys) == 1


def _aggregate(row: dict[str, Any], name: str) -> str | None:
    """Which aggregate a row is: empty where it does not say, None where it is none."""
    if row.get("run_type") == "aggregate":
        return str(row.get("aggregate_name", ""))
    return str(row["name"]).removeprefix(f"{name}_") if "run_type" not in row and row["name"] != name else None


def _benchmark(key: Key, group: Sequence[tuple[int, dict[str, Any]]], where: str, several: set[str]) -> Benchmark:
    name, family, instance = key
    samples: list[Sample] = []
    reported: dict[str, float | None] = {}
    notes: list[str] = []
    for at, row in group:
        place = f"{where}: benchmarks[{at}]"
        which = _aggregate(row, name)
        if which is None:
            samples.append(_sample(row, at, place))
        elif which:
            reported |= _figure(row, which, place)
        else:
            notes.append(
                f"an aggregate row does not say which aggregate it is ({row.get('real_time')} {row.get('time_unit')})"
            )
    indices = {"family_index": family, "per_family_instance_index": instance}
    repetitions = [one for _, row in group if (one := whole(row.get("repetitions"))) is not None]
    return assemble(
        name,
        samples,
        params={key: value for key, value in indices.items() if value is not None} if name in several else {},
        reported=reported,
        notes=notes,
        unit=str(group[0][1].get("time_unit", "")),
        repetitions=max(repetitions, default=None),
    )


def _sample(row: dict[str, Any], at: int, place: str) -> Sample:
    unit = text_of(row, "time_unit", place) if "real_time" in row else "ns"
    beside = {key: value for key, told in row.items() if key not in _NO_COUNTER and (value := finite(told)) is not None}
    cpu_ns = reported_ns(row.get("cpu_time"), unit, place)
    status, reason = _outcome(row)
    index = whole(row.get("repetition_index"))
    return timed(
        row.get("real_time"),
        unit,
        at + 1,
        place,
        status=status,
        reason=reason,
        iterations=finite(row.get("iterations")),
        repetition=None if index is None else index + 1,
        beside=beside | ({} if cpu_ns is None else {"cpu_ns": cpu_ns}),
    )


def _outcome(row: dict[str, Any]) -> tuple[RowStatus, str]:
    if row.get("error_occurred"):
        return RowStatus.ERROR, str(row.get("error_message") or "the harness reports an error")
    if row.get("skipped"):
        return RowStatus.SKIPPED, str(row.get("skip_message") or "skipped")
    return RowStatus.OK, ""


def _figure(row: dict[str, Any], which: str, place: str) -> dict[str, float | None]:
    """Give the figure of an aggregate row: a share where it says so, else a time."""
    if row.get("aggregate_unit") == "percentage" or which == "cv":
        return {which: finite(row.get("real_time"))}
    unit = text_of(row, "time_unit", place)
    return {f"{which}_ns": reported_ns(row.get("real_time"), unit, place)}
