"""How the gates of a made-up record came out: the outcome, and the savings and bands that it follows from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from random import Random
from typing import Any

import msgspec

from reportgen.analysis.band import FEWEST_ADJACENT
from reportgen.model.result import Band, BandPoint, GateCell, GateOutcome, GateResult, PointVerdict
from reportgen.publish.view import RecordView

Draws = Callable[..., Random]
OUTCOMES = tuple(GateOutcome)
SIZES = (0.05, 1.0, 50.0)  # of the threshold, how far from it savings lie


def changed(record: RecordView, draws: Draws, *, alike: int | None) -> list[GateResult]:
    """Draw every gate of a record: all alike where ``alike`` is a number, else each by itself."""
    found = []
    for gate in record.result.gates:
        own = draws("gate", record.name, gate.name, gate.slice, gate.arm)
        wanted = own.choice(OUTCOMES) if alike is None else OUTCOMES[alike % len(OUTCOMES)]
        found.append(_gate(gate, wanted, own))
    return found


def _gate(gate: GateResult, wanted: GateOutcome, draws: Random) -> GateResult:
    if wanted is GateOutcome.INVALID:
        return msgspec.structs.replace(gate, outcome=wanted, estimate=None, end=None, cells=[], points=[], bands=[])
    if gate.points:
        bands = _bands(gate.points, wanted, draws)
        return msgspec.structs.replace(gate, outcome=wanted, bands=bands)
    return msgspec.structs.replace(gate, outcome=wanted, cells=_cells(gate, wanted, draws))


def _cells(gate: GateResult, wanted: GateOutcome, draws: Random) -> list[GateCell]:
    """Draw what each fixture saves; at least one of them decides as the outcome says."""
    size = max(abs(gate.threshold), 1e-3) * draws.choice(SIZES)
    decides = draws.randrange(len(gate.cells)) if gate.cells else 0
    found = []
    for at, cell in enumerate(gate.cells):
        low, estimate, high = sorted(gate.threshold + size * draws.uniform(0.01, 1) for _ in range(3))
        if at == decides and wanted is GateOutcome.THIN_MARGIN:
            low = gate.threshold - size * draws.uniform(0.01, 1)
        elif at == decides and wanted is GateOutcome.FAILS:
            low, estimate, high = (gate.threshold - (value - gate.threshold) for value in (high, estimate, low))
        found.append(msgspec.structs.replace(cell, estimate=estimate, low=low, high=high))
    return found


def _bands(points: Sequence[BandPoint], wanted: GateOutcome, draws: Random) -> list[Band]:
    """Draw what the points of the axis say; two neighbours pay exactly where the gate passes."""
    values = list(dict.fromkeys(point.value for point in points))
    others = [PointVerdict.COSTS, PointVerdict.NEITHER, PointVerdict.UNDECIDED]
    said: list[Any] = [draws.choice(others) for _ in values]
    if wanted is GateOutcome.PASSES:
        first = draws.randrange(max(1, len(values) - 1))
        said[first : first + FEWEST_ADJACENT] = [PointVerdict.PAYS] * FEWEST_ADJACENT
    found = []
    for verdict, run in groupby(zip(said, values, strict=False), key=lambda one: one[0]):
        held = [value for _, value in run]
        if verdict is not PointVerdict.UNDECIDED and len(held) >= FEWEST_ADJACENT:
            found.append(Band(verdict=verdict, first=held[0], last=held[-1], points=len(held)))
    return found
