"""What a record's page says of the records before and after it: a notice where it is superseded, and what changed since the one before."""

from __future__ import annotations

from dataclasses import dataclass

from reportgen.analysis.differing import Side, difference
from reportgen.model.difference import CellMove, CellReading, ComparisonMove, GateMove, Reading
from reportgen.model.result import ComparisonResult
from reportgen.publish import difference_tables, gate_tables, lookup
from reportgen.publish.context import History, Link
from reportgen.publish.library import Library, root_of
from reportgen.publish.view import RecordView


def history(record: RecordView, library: Library) -> History:
    """Find the record that the experiment's name means now, if it is another, and the one that this record followed.

    Records of an experiment are known by when their plans were frozen, the latest first.
    """
    line = library.line(record.experiment)
    place = [one.name for one in line].index(record.name)
    earlier = line[place + 1] if place + 1 < len(line) else None
    current = next((one for one in line if one.current), record)
    superseded = None
    if current.name != record.name:
        superseded = Link(current.name, root_of(record.address) + current.address)
    if earlier is None:
        return History(superseded, None, "", ())
    found = difference(_side(earlier), _side(record))
    link = Link(earlier.name, root_of(record.address) + earlier.address)
    places = Derived(earlier, link.href), Derived(record, "")
    return History(superseded, link, difference_tables.summary(found), difference_tables.tables(found, places=places))


@dataclass(frozen=True)
class Derived:
    """Leads to where a record, on its ``page``, derives what is said of it."""

    record: RecordView
    page: str

    def comparison(self, move: ComparisonMove, reading: Reading) -> str:
        """Lead to the comparison of these arms that came out so."""
        found = self._comparisons(move)
        same = [
            one for one in found if (one.headline, one.low, one.high) == (reading.headline, reading.low, reading.high)
        ]
        return f"{self.page}#{lookup.comparison_anchor((same or found)[0])}"

    def cell(self, move: CellMove, reading: CellReading) -> str:
        """Lead to the fixture of the comparison of these arms."""
        places = [
            lookup.cell_place(one, cell)
            for one in self._comparisons(move)
            for cell in one.cells
            if (cell.fixture, cell.device, cell.ratio) == (move.fixture, reading.device, reading.ratio)
        ]
        return self.page + places[0]

    def gate(self, move: GateMove) -> str:
        """Lead to the gate of that name and arm."""
        asked = [
            one
            for one in self.record.result.gates
            if (one.name, one.arm, one.slice) == (move.name, move.arm, move.slice)
        ]
        return f"{self.page}#{gate_tables.gate_anchor(asked[0])}"

    def _comparisons(self, move: ComparisonMove | CellMove) -> list[ComparisonResult]:
        key = (move.arm, move.baseline, move.slice)
        return [one for one in self.record.result.comparisons if (one.arm, one.baseline, one.slice) == key]


def _side(record: RecordView) -> Side:
    return Side(record.name, record.plan, record.result, [one.manifest for one in record.attempts])
