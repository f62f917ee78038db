"""What the chart of savings shows: for each arm of a gate a bar a fixture, with its interval, against the gate's line."""

from __future__ import annotations

import msgspec

from reportgen.errors import InputError
from reportgen.model.plan import Slice
from reportgen.model.result import GateCell, GateOutcome, GateResult
from reportgen.publish import lookup, wording
from reportgen.publish.gate_tables import SAVED_NS, said
from reportgen.publish.view import RecordView

# Colours by outcome; the outcome itself stands beside the arm's name.
TONES = {
    GateOutcome.PASSES: "faster",
    GateOutcome.THIN_MARGIN: "inconclusive",
    GateOutcome.FAILS: "slower",
    GateOutcome.INVALID: "invalid",
}


class SavingsRow(msgspec.Struct, frozen=True):
    """One fixture, on the device that is surest of least: estimate and interval in the chart's unit; ``decides`` marks what the outcome rests on."""

    name: str
    estimate: float
    low: float
    high: float
    decides: bool


class SavingsGroup(msgspec.Struct, frozen=True):
    """One arm with its cells."""

    arm: str
    label: str
    tone: str
    rows: list[SavingsRow]


class SavingsChart(msgspec.Struct, frozen=True, tag=True):
    """What every arm of a gate saves on every fixture; ``line`` is what the gate asks, all in ``unit``."""

    anchor: str
    title: str
    description: str
    groups: list[SavingsGroup]
    line: float
    line_label: str
    unit: str


def savings(record: RecordView, piece: Slice, gate: str, unit: str = "") -> SavingsChart:
    """Take the cells of a gate of kind ``every_fixture`` in a slice.

    Raises
    ------
    InputError
        There is no such gate there, or none of its arms could be computed.
    """
    found = [one for one in record.result.gates if (one.name, one.slice) == (gate, piece.name) and one.cells]
    if not found:
        raise InputError(
            f"{record.name} has no savings by fixture of gate {gate!r} in {piece.name}",
            remedy="name a gate of kind every_fixture",
        )
    first = found[0]
    asked = said(first, first.threshold, unit)
    factor, named = _scale(first, unit)
    groups = [_group(one, piece, factor) for one in found]
    told = [f"{one.arm}: {wording.GATES[one.outcome]}, least {said(one, one.estimate or 0.0, unit)}" for one in found]
    return SavingsChart(
        anchor=f"c-savings-{lookup.slug(record.name)}-{lookup.slug(piece.name)}-{lookup.slug(gate)}",
        title=f"Saved against {first.baseline}, {wording.slice_name(piece.name)}",
        description=f"A bar a fixture with its interval; the gate {gate} asks for {asked}. {'; '.join(told)}.",
        groups=groups,
        line=first.threshold * factor,
        line_label=f"asked: {asked}",
        unit=named,
    )


def _scale(gate: GateResult, unit: str) -> tuple[float, str]:
    """Give the factor from the gate's unit to the chart's, and the chart's unit."""
    if gate.quantity != SAVED_NS:
        return 100.0, "%"
    named = unit or "us"
    return 1 / wording.UNITS_NS[named], wording.unit_name(named)


def _group(gate: GateResult, piece: Slice, factor: float) -> SavingsGroup:
    weakest: dict[str, GateCell] = {}
    for cell in gate.cells:
        known = weakest.get(cell.fixture)
        weakest[cell.fixture] = cell if known is None or cell.low < known.low else known
    rows = [
        SavingsRow(
            name=wording.within(cell.fixture, piece.name),
            estimate=cell.estimate * factor,
            low=cell.low * factor,
            high=cell.high * factor,
            decides=cell.fixture == gate.fixture,
        )
        for cell in weakest.values()
    ]
    return SavingsGroup(gate.arm, wording.GATES[gate.outcome], TONES[gate.outcome], rows)
