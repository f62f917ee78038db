"""Figures of gates for sentences and claims: what an arm saves, on which fixture, and what a ceiling leaves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from reportgen.errors import InputError
from reportgen.model.result import GateCell, GateResult
from reportgen.publish import lookup
from reportgen.publish.view import RecordView

OF_GATE = ("estimate", "end", "threshold")
OF_CELL = ("estimate", "low", "high")
OF_CEILING = ("saved", "low", "cost", "cost_high")


class Asked(NamedTuple):
    """A gate as a page names it: gate, arm, and the values of axes that pick a fixture (the deciding one, if there are none)."""

    gate: str
    arm: str
    at: Mapping[str, Any]


def find(record: RecordView, asked: Asked) -> GateResult:
    """Find the outcome of a gate for an arm; of several slices the one that holds the fixture.

    Raises
    ------
    InputError
        No such gate or arm, or several slices.
    """
    found = [one for one in record.result.gates if (one.name, one.arm) == (asked.gate, asked.arm)]
    if asked.at:
        found = [one for one in found if _cells(record, one, asked.at)]
    if len(found) != 1:
        known = sorted({f"{one.name} of {one.arm}" for one in record.result.gates})
        raise InputError(
            f"{record.name} has {len(found)} outcomes of gate {asked.gate!r} for {asked.arm!r} there",
            remedy=f"its gates are: {', '.join(known) or 'none'}",
        )
    return found[0]


def value_of(record: RecordView, asked: Asked, figure: str) -> float:
    """Give one figure in the gate's own unit: nanoseconds, or a share.

    Of a fixture measured on several devices the one that is surest of least speaks.

    Raises
    ------
    InputError
        The gate has no such figure, or it could not be computed.
    """
    gate = find(record, asked)
    if asked.at:
        cell = min(_cells(record, gate, asked.at), key=lambda one: one.low)
        holder: Any = cell
        known: tuple[str, ...] = OF_CELL
    elif gate.ceiling is not None and figure in OF_CEILING:
        holder, known = gate.ceiling, OF_CEILING
    else:
        holder, known = gate, OF_GATE
    value = getattr(holder, figure, None) if figure in known else None
    if value is None:
        raise InputError(
            f"gate {gate.name!r} of {gate.arm!r} ({gate.outcome.value}) has no figure {figure!r} there",
            remedy=f"figures are: {', '.join([*known, *(OF_CEILING if gate.ceiling and not asked.at else ())])}",
        )
    return float(value)


def _cells(record: RecordView, gate: GateResult, at: Mapping[str, Any]) -> list[GateCell]:
    names = {
        one.name for one in record.plan.fixtures if all(one.values.get(axis) == value for axis, value in at.items())
    }
    return [cell for cell in gate.cells if cell.fixture in names]


def gate_anchor(gate: GateResult) -> str:
    """Name the place on the record page where a gate's outcome stands."""
    return f"g-{lookup.slug(gate.slice)}-{lookup.slug(gate.name)}-{lookup.slug(gate.arm)}"


def savings_anchor(gate: GateResult) -> str:
    """Name the place on the record page where an arm's savings begin, fixture by fixture."""
    return f"s-{gate_anchor(gate)}"
