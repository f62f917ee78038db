"""What an arm saves on one fixture, by the gate that asked: for sentences and claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from reportgen.errors import InputError
from reportgen.model.result import GateCell, GateResult
from reportgen.publish.view import RecordView

FIGURES = ("estimate", "low", "high")


class Saved(NamedTuple):
    """A gate's outcome and its cell on one fixture; of several devices the one whose low end is least speaks."""

    gate: GateResult
    cell: GateCell

    def figure(self, name: str) -> float:
        """Give a figure in the gate's own unit: nanoseconds, or a share.

        Raises
        ------
        InputError
            There is no such figure.
        """
        if name not in FIGURES:
            raise InputError(f"a saving has no figure {name!r}", remedy=f"figures are: {', '.join(FIGURES)}")
        return float(getattr(self.cell, name))


def saved_on(record: RecordView, found: list[GateResult], at: Mapping[str, Any]) -> Saved:
    """Find what an arm saves on the one fixture with the values ``at``, among the outcomes ``found`` of a gate.

    Raises
    ------
    InputError
        No fixture has these values, or several have, or the gate holds no savings by fixture.
    """
    names = {one.name for one in record.plan.fixtures if all(one.values.get(key) == value for key, value in at.items())}
    cells = [(gate, cell) for gate in found for cell in gate.cells if cell.fixture in names]
    if len({(gate.arm, cell.fixture) for gate, cell in cells}) != 1:
        raise InputError(
            f"{record.name} has {len(cells)} savings at {dict(at)} there",
            remedy="name a gate of kind every_fixture, an arm and a value of every axis",
        )
    return Saved(*min(cells, key=lambda both: both[1].low))
