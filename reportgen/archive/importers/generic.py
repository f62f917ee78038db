"""The generic form, CSV or JSON lines: columns ``arm``, ``fixture``, ``repetition`` and one time with its unit; see docs/importing.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reportgen.archive.importers.assembling import assemble, something
from reportgen.archive.importers.content import Content
from reportgen.archive.importers.quantities import NS, Signs, number, rated, timed, whole
from reportgen.archive.importers.shape import objects
from reportgen.errors import InputError
from reportgen.model.imported import Benchmark, Measure, RowStatus, Sample, Source

CSV, JSONL = "csv", "jsonl"
UNRECORDED = (
    "how its times came about: harness, version, machine and date",
    "whether a repetition is a process of its own",
)
_PREFIX = "time_"
_TIME, _RATE, _UNIT, _STATUS = "time", "rate", "unit", "status"
_KEYS = ("arm", "fixture", "repetition")
_OK = ("", "ok", "pass", "passed", "success")
_SKIPPED = ("skip", "skipped")
_REMEDY = "name the columns arm, fixture, repetition and time_ns, time_us, time_ms or time_s"


@dataclass(frozen=True)
class _Form:
    """Where a file has its values: the column, what it holds, and its unit (empty: in the column ``unit``)."""

    column: str
    measure: Measure
    unit: str


@dataclass(frozen=True)
class _Row:
    """One row: its place, what it belongs to, its value and all else."""

    place: str
    line: int
    arm: str | None
    fixture: str
    repetition: int | None
    sample: Sample
    rest: Mapping[str, Any]


def recognise_json(content: Content) -> bool:
    """Objects with an arm or a fixture, and a time."""
    found = content.json
    rows = found if isinstance(found, list) else [found]
    return any(isinstance(row, dict) and _value_columns(row) and {"arm", "fixture"} & set(row) for row in rows)


def read_json(content: Content, unit: str = "") -> Source:
    """Read JSON lines, or a list of the same objects; ``unit`` is that of a column ``time`` that says none.

    Raises
    ------
    InputError
        A row has no time, no unit, or a repetition that stands twice; the line is named.
    """
    where = content.where
    if content.by_line:
        numbered = [(f"{where}: line {number}", number, row) for number, row in content.numbered]
    else:
        found = content.json
        rows = objects(found if isinstance(found, list) else [found], where)
        numbered = [(f"{where}: [{at}]", at + 1, row) for at, row in enumerate(rows)]
    columns = list(dict.fromkeys(key for _, _, row in numbered for key in row))
    form = _form(columns, unit, where)
    read = [_row(place, at, row, form, order, number) for order, (place, at, row) in enumerate(numbered, start=1)]
    return _source(content, JSONL, read, form)


def read_table(content: Content, unit: str = "") -> Source:
    """Read CSV, as :func:`read_json` reads JSON lines."""
    table, where = content.table, content.where
    form = _form(table.header, unit, where)
    twice = next((name for name in table.header if table.header.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"has two columns {twice!r}", where=f"{where}: line 1")
    signs = Signs(cell for line in table.lines for cell in line.cells)
    read = []
    for order, (line, row) in enumerate(table.rows(), start=1):
        place = f"{where}: line {line}"

        def value(cell: Any, place: str = f"{place}: {form.column}") -> float | None:
            return signs.read(str(cell), place)

        read.append(_row(place, line, row, form, order, value))
    return _source(content, CSV, read, form)


def _value_columns(columns: Mapping[str, Any] | Sequence[str]) -> list[str]:
    return [
        name for name in columns if name in (_TIME, _RATE) or (name.startswith(_PREFIX) and name[len(_PREFIX) :] in NS)
    ]


def _form(columns: Sequence[str], unit: str, where: str) -> _Form:
    found = _value_columns(columns)
    if len(found) != 1:
        said = f"has several: {', '.join(found)}" if found else "has no column of times"
        raise InputError(f"{said}: one column `time` with its unit is read", where=where, remedy=_REMEDY)
    if not {"arm", "fixture"} & set(columns):
        raise InputError(f"has a column {found[0]!r}, but neither arm nor fixture", where=where, remedy=_REMEDY)
    column = found[0]
    if column.startswith(_PREFIX):
        return _Form(column, Measure.TIME, column.removeprefix(_PREFIX))
    measure = Measure.RATE if column == _RATE else Measure.TIME
    if _UNIT not in columns and not unit:
        raise InputError(
            f"its column {column!r} has no unit: not in its name, not in a column `unit`, not on the command line",
            where=where,
            remedy="call it time_us, for example, or give --unit",
        )
    return _Form(column, measure, "" if _UNIT in columns else unit)


def _row(place: str, line: int, row: Mapping[str, Any], form: _Form, order: int, read: Any) -> _Row:  # noqa: PLR0913, PLR0917 - a row and how it is read
    unit = form.unit or str(row.get(_UNIT) or "")
    if not unit:
        raise InputError("has no unit", where=f"{place}: {_UNIT}")
    repetition = row.get("repetition")
    told = whole(repetition)
    if repetition not in (None, "") and told is None:
        raise InputError(f"repetition {str(repetition)[:40]!r} is no whole number", where=place)
    status, reason = _outcome(row)
    make = timed if form.measure is Measure.TIME else rated
    value = row.get(form.column)
    sample = make(
        None if value is None else read(value), unit, order, place, repetition=told, status=status, reason=reason
    )
    known = (*_KEYS, form.column, _UNIT, _STATUS)
    arm = None if row.get("arm") in (None, "") else str(row["arm"])
    fixture = str(row.get("fixture") if row.get("fixture") not in (None, "") else "all")
    return _Row(place, line, arm, fixture, told, sample, {key: one for key, one in row.items() if key not in known})


def _outcome(row: Mapping[str, Any]) -> tuple[RowStatus, str]:
    told = str(row.get(_STATUS) or "").strip()
    if told.lower() in _OK:
        return RowStatus.OK, ""
    return (RowStatus.SKIPPED if told.lower() in _SKIPPED else RowStatus.ERROR), f"status {told}"


def _source(content: Content, name: str, rows: Sequence[_Row], form: _Form) -> Source:
    where = content.where
    params = _params(rows)
    groups: dict[tuple[Any, ...], list[_Row]] = {}
    for row in rows:
        key = (row.arm, row.fixture, *(str(row.rest.get(one)) for one in params))
        groups.setdefault(key, []).append(row)
    benchmarks = tuple(_benchmark(group, params, form) for group in groups.values())
    left = list(dict.fromkeys(key for row in rows for key in row.rest if key not in params))
    notes = [f"{key!r} varies within a benchmark: kept in the source file only" for key in left]
    if content.by_line and content.noise:
        notes.append(f"{content.noise} lines that are no records were passed over")
    return Source(
        name=content.name,
        format=name,
        version=None,
        benchmarks=something(benchmarks, where, "a row"),
        notes=tuple(notes),
        unrecorded=UNRECORDED,
    )


def _params(rows: Sequence[_Row]) -> list[str]:
    """Further columns that tell benchmarks apart: those with one value in each, or all, where only they tell repetitions apart.

    Raises
    ------
    InputError
        A repetition of an arm on a fixture stands twice, and nothing tells the rows apart.
    """
    keys = list(dict.fromkeys(key for row in rows for key in row.rest))
    values: dict[tuple[str | None, str, str], set[str]] = {}
    for row in rows:
        for key in keys:
            values.setdefault((row.arm, row.fixture, key), set()).add(str(row.rest.get(key)))
    constant = [key for key in keys if all(len(found) == 1 for (_, _, one), found in values.items() if one == key)]
    if _twice(rows, constant) is None:
        return constant
    if (again := _twice(rows, keys)) is None:
        return keys
    first, second = again
    raise InputError(
        f"repetition {second.repetition} of arm {str(second.arm)[:40]!r} on {second.fixture[:40]!r} stands twice, here and in {first.place.rpartition(': ')[2]}",
        where=second.place,
        remedy="number repetitions, or tell the rows apart by a further column",
    )


def _twice(rows: Sequence[_Row], params: Sequence[str]) -> tuple[_Row, _Row] | None:
    seen: dict[tuple[Any, ...], _Row] = {}
    for row in rows:
        if row.repetition is not None:
            key = (row.arm, row.fixture, row.repetition, *(str(row.rest.get(one)) for one in params))
            if key in seen:
                return seen[key], row
            seen[key] = row
    return None


def _benchmark(group: Sequence[_Row], params: Sequence[str], form: _Form) -> Benchmark:
    first = group[0]
    measured = [row.sample for row in group]
    return assemble(
        first.fixture,
        measured,
        params={key: first.rest[key] for key in params if first.rest.get(key) not in (None, "")},
        arm=first.arm,
        measure=form.measure,
        repetitions=len(measured),
    )
