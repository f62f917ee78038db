"""From rows to benchmarks: the worst status of its rows, units that are one or several, names that must not be confused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from reportgen.errors import InputError
from reportgen.model.imported import Benchmark, Better, Measure, RowStatus, Sample

_WORST = (RowStatus.ERROR, RowStatus.SKIPPED, RowStatus.OK)
ZERO = "a time of 0 is less than the clock can tell: no ratio rests on it"
_SHOWN = 80


def assemble(  # noqa: PLR0913 - the parts of one benchmark
    name: str,
    samples: Sequence[Sample] = (),
    *,
    params: Mapping[str, Any] | None = None,
    arm: str | None = None,
    status: RowStatus = RowStatus.OK,
    reason: str = "",
    measure: Measure = Measure.TIME,
    unit: str = "",
    reported: Mapping[str, float | None] | None = None,
    notes: Sequence[str] = (),
    **facts: Any,
) -> Benchmark:
    """Make a benchmark; its status is the worst of ``status`` and of its samples, with the reason of the first that has it."""
    found = [(status, reason), *((one.status, one.reason) for one in samples)]
    worst = next(each for each in _WORST if any(one == each for one, _ in found))
    why = next((text for one, text in found if one is worst and text), "")
    told = {key: value for key, value in (reported or {}).items() if value is not None}
    units = list(dict.fromkeys([one.unit for one in samples] or [unit or "ns"]))
    zero = any(one.value == 0 for one in samples) or any(told.get(key) == 0 for key in ("median_ns", "mean_ns"))
    return Benchmark(
        name=name,
        params=dict(params or {}),
        arm=arm,
        status=worst,
        reason=why if worst is not RowStatus.OK else "",
        measure=measure,
        better=Better.HIGHER if measure is Measure.RATE else Better.LOWER,
        unit=" and ".join(units),
        samples=tuple(samples),
        reported=told,
        notes=(*notes, *((ZERO,) if zero else ())),
        **facts,
    )


def identity(one: Benchmark) -> bytes:
    """Give what tells a benchmark from all others: arm, name and parameters."""
    return msgspec.json.encode((one.arm, one.name, one.params), order="deterministic")


def apart(benchmarks: Iterable[Benchmark], where: str) -> tuple[Benchmark, ...]:
    """Refuse two benchmarks that nothing tells apart: neither may replace or join the other.

    Raises
    ------
    InputError
        There are such; the name is given.
    """
    found = tuple(benchmarks)
    seen: set[bytes] = set()
    for one in found:
        key = identity(one)
        if key in seen:
            raise InputError(f"{one.name[:_SHOWN]!r} stands for two benchmarks that nothing tells apart", where=where)
        seen.add(key)
    return found


def something(benchmarks: tuple[Benchmark, ...], where: str, what: str = "a benchmark") -> tuple[Benchmark, ...]:
    """Refuse a file that can be read and holds nothing to import (InputError)."""
    if not benchmarks:
        raise InputError(f"holds nothing to import: there is no {what.removeprefix('a ')} in it", where=where)
    return benchmarks


def labels(benchmarks: Sequence[Benchmark]) -> list[str]:
    """Name each benchmark so that no two are confused: by its name, and where that is not enough by arm and the parameters that differ."""
    groups: dict[str, list[Benchmark]] = {}
    for one in benchmarks:
        groups.setdefault(one.name, []).append(one)
    differing = {name: _differing(same) for name, same in groups.items() if len(same) > 1}
    return [_label(one, *differing[one.name]) if one.name in differing else one.name for one in benchmarks]


def _differing(same: Sequence[Benchmark]) -> tuple[bool, list[str]]:
    """Whether benchmarks of one name have several arms, and in which parameters they differ."""
    keys = dict.fromkeys(key for one in same for key in one.params)
    told = [key for key in keys if len({repr(one.params.get(key)) for one in same}) > 1]
    return len({one.arm for one in same}) > 1, told


def _label(one: Benchmark, arms: bool, keys: Sequence[str]) -> str:  # noqa: FBT001 - as its caller found them
    arm = [one.arm] if arms and one.arm is not None else []
    return f"{one.name} [{', '.join([*arm, *(f'{key}={one.params[key]}' for key in keys if key in one.params)])}]"
