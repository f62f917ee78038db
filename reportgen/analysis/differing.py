"""Two records, or attempts, held against each other: what moved in numbers and verdicts, and what was not the same."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, TypeVar

import msgspec

from reportgen.errors import InputError
from reportgen.model.difference import (
    ArmMove,
    CellMove,
    CellReading,
    ComparisonMove,
    Difference,
    FieldMove,
    GateMove,
    GateReading,
    Reading,
)
from reportgen.model.plan import Plan
from reportgen.model.record import Manifest
from reportgen.model.result import CellResult, ComparisonResult, GateResult, Result

_NAMES = ("name", "path", "arm")
_PLANNED = ("digest", "experiment", "files", "backend_options", "order_method")
_ENVIRONMENT = ("backend", "device", "versions", "environment", "reportgen")
Item = TypeVar("Item")


@dataclass(frozen=True)
class Side:
    """One of the two: its name, plan and result, and the manifests of the attempts that speak, by device."""

    name: str
    plan: Plan
    result: Result
    manifests: Sequence[Manifest]


def difference(before: Side, after: Side) -> Difference:
    """Hold two sides against each other. Comparisons are matched by arm, baseline, slice and filter, cells by fixture and device.

    Raises
    ------
    InputError
        The sides are of different experiments: arms and fixtures of one name would be others there, so nothing is compared.
    """
    if before.plan.name != after.plan.name:
        raise InputError(
            f"{before.name} is of experiment {before.plan.name}, {after.name} of {after.plan.name}",
            remedy="name two records or attempts of one experiment",
        )
    pairs = _paired(_comparisons(before), _comparisons(after))
    shared = [(one, other) for one, other in pairs if one and other]
    devices = _devices(before, after)
    cells = [cell for one, other in shared for cell in _cells(one, other, devices)]
    return Difference(
        before=before.name,
        after=after.name,
        comparisons=[_comparison(one, other) for one, other in pairs],
        cells_compared=len(cells),
        cells=[cell for cell in cells if not _overlap(cell.before, cell.after)],
        gates=[_gate(one, other) for one, other in _paired(_gates(before), _gates(after))],
        arms=_arms(before, after, devices),
        environment=_fields(_environment(before), _environment(after)),
        plan=_fields(_planned(before.plan), _planned(after.plan)),
    )


def _paired(before: Mapping[Hashable, Item], after: Mapping[Hashable, Item]) -> list[tuple[Item | None, Item | None]]:
    """Pair what has one key: in the order of the second side, then what only the first has."""
    return [(before.get(key), after.get(key)) for key in dict.fromkeys([*after, *before])]


def _comparisons(side: Side) -> dict[Hashable, ComparisonResult]:
    return {
        (one.slice, one.arm, one.baseline, json.dumps(one.where, sort_keys=True)): one
        for one in side.result.comparisons
    }


def _gates(side: Side) -> dict[Hashable, GateResult]:
    return {(one.name, one.arm, one.slice): one for one in side.result.gates}


def _comparison(one: ComparisonResult | None, other: ComparisonResult | None) -> ComparisonMove:
    known = other or one
    if known is None:
        raise ValueError("a pair of nothing")
    before, after = _reading(one), _reading(other)
    overlap = _overlap(before, after) if before and after else None
    alike = before is not None and after is not None and before.verdict is after.verdict
    return ComparisonMove(
        arm=known.arm,
        baseline=known.baseline,
        slice=known.slice,
        before=before,
        after=after,
        overlap=overlap,
        moved=not alike or overlap is False,
    )


def _reading(one: ComparisonResult | None) -> Reading | None:
    if one is None:
        return None
    return Reading(
        headline=one.headline, estimate=one.estimate, low=one.low, high=one.high, verdict=one.verdict, reason=one.reason
    )


def _overlap(one: Reading | CellReading, other: Reading | CellReading) -> bool | None:
    """Tell whether two closed intervals have a point in common; unknown where one has no ends."""
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return None
    return one.low <= other.high and other.low <= one.high


def _devices(before: Side, after: Side) -> dict[str, str]:
    """Name for each device of the first side the one of the second that it is held against: itself, or the only one of its model."""
    theirs = {one.device.id: one.device.model for one in after.manifests}
    ours = {one.device.id: one.device.model for one in before.manifests}
    found = {}
    for device, model in ours.items():
        alike = [name for name, of in theirs.items() if of == model]
        if device in theirs:
            found[device] = device
        elif len(alike) == 1 and list(ours.values()).count(model) == 1:
            found[device] = alike[0]
    return found


def _cells(one: ComparisonResult, other: ComparisonResult, devices: Mapping[str, str]) -> Iterator[CellMove]:
    after = {(cell.device, cell.fixture): cell for cell in other.cells}
    for cell in one.cells:
        match = after.get((devices.get(cell.device, ""), cell.fixture))
        if match is not None:
            yield CellMove(
                arm=one.arm,
                baseline=one.baseline,
                slice=other.slice,
                fixture=cell.fixture,
                before=_cell(cell),
                after=_cell(match),
            )


def _cell(cell: CellResult) -> CellReading:
    return CellReading(device=cell.device, ratio=cell.ratio, low=cell.interval.low, high=cell.interval.high)


def _gate(one: GateResult | None, other: GateResult | None) -> GateMove:
    known = other or one
    if known is None:
        raise ValueError("a pair of nothing")
    before, after = (
        None
        if gate is None
        else GateReading(outcome=gate.outcome, threshold=gate.threshold, estimate=gate.estimate, end=gate.end)
        for gate in (one, other)
    )
    alike = before and after and (before.outcome, before.threshold) == (after.outcome, after.threshold)
    return GateMove(
        name=known.name,
        arm=known.arm,
        slice=known.slice,
        quantity=known.quantity,
        before=before,
        after=after,
        moved=not alike,
    )


def _arms(before: Side, after: Side, devices: Mapping[str, str]) -> list[ArmMove]:
    ours, theirs = ({arm.name for arm in side.plan.experiment.arms} for side in (before, after))
    names = dict.fromkeys(arm.name for side in (after, before) for arm in side.plan.experiment.arms)
    return [_arm(name, name in ours, name in theirs, (before, after), devices) for name in names]


def _arm(name: str, ours: bool, theirs: bool, sides: tuple[Side, Side], devices: Mapping[str, str]) -> ArmMove:  # noqa: FBT001 - where it stands
    codes = [{one.binaries.get(name) for one in side.manifests} for side in sides]
    times = [
        {(one.device, one.fixture): one.median_ns for one in side.result.times if one.arm == name} for side in sides
    ]
    ratios = [
        times[1][there] / ns
        for (device, fixture), ns in times[0].items()
        if (there := (devices.get(device, ""), fixture)) in times[1]
    ]
    return ArmMove(
        arm=name,
        sides="both" if ours and theirs else "before" if ours else "after",
        same_code=codes[0] == codes[1] if ours and theirs and None not in codes[0] | codes[1] else None,
        time_ratio=median(ratios) if ratios else None,
        least=min(ratios, default=None),
        most=max(ratios, default=None),
    )


def _planned(plan: Plan) -> dict[str, str]:
    """Say every field of a plan that was declared or frozen; what follows from them is left out."""
    told = msgspec.to_builtins(plan)
    return dict(_flat({name: told[name] for name in _PLANNED}, ""))


def _environment(side: Side) -> dict[str, str]:
    """Say every field of the attempts' surroundings; what several attempts say is joined."""
    said: dict[str, list[str]] = {}
    for manifest in side.manifests:
        told = msgspec.to_builtins(manifest)
        for field, value in _flat({name: told[name] for name in _ENVIRONMENT}, ""):
            said.setdefault(field, []).append(value)
    return {field: "; ".join(dict.fromkeys(values)) for field, values in said.items()}


def _flat(value: Any, where: str) -> Iterator[tuple[str, str]]:
    """Give every leaf with its path; things in a list are named by what names them."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _flat(inner, f"{where}.{name}" if where else str(name))
    elif isinstance(value, list) and value and all(isinstance(one, Mapping) for one in value):
        for place, inner in enumerate(value, start=1):
            named = next((str(inner[key]) for key in _NAMES if key in inner), str(place))
            yield from _flat(inner, f"{where}[{named}]")
    elif value not in (None, [], {}):
        yield where, value if isinstance(value, str) else json.dumps(value)


def _fields(before: Mapping[str, str], after: Mapping[str, str]) -> list[FieldMove]:
    names = sorted({*before, *after})
    return [
        FieldMove(field=name, before=before.get(name), after=after.get(name))
        for name in names
        if before.get(name) != after.get(name)
    ]
