"""The records that one page speaks of, found as its author names them; ``used`` fills as they are asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reportgen.errors import InputError
from reportgen.model.plan import Slice
from reportgen.model.result import ComparisonResult, GateResult
from reportgen.publish import counters, lookup
from reportgen.publish.library import Library
from reportgen.publish.markdown import SourcePage
from reportgen.publish.view import RecordView

Where = Mapping[str, Any]


class PageRecords:
    """Finds records, arms, comparisons and slices for one page."""

    def __init__(self, page: SourcePage, library: Library) -> None:
        self._page, self._library = page, library
        self.used: dict[str, RecordView] = {}

    def _named(self, name: str | None) -> str:
        """Name the experiment that is meant where the page has one record and says none."""
        if name is not None:
            return name
        mentioned = self._page.front.records
        if len(mentioned) != 1:
            raise InputError("which experiment is meant?", remedy=f"name it: the page has {len(mentioned)} records")
        return mentioned[0]

    def _record(self, name: str | None) -> RecordView:
        named = self._named(name)
        pinned = [one for one in self._page.front.records if one.partition("@")[0] == named]
        record = self._library.record(pinned[0] if pinned else named)
        self.used[record.name] = record
        return record

    def _arm(self, name: str) -> tuple[RecordView, str]:
        experiment, colon, arm = name.rpartition(":")
        return self._record(experiment if colon else None), arm

    def _comparison(self, arm: str, vs: str, where: Where | None) -> tuple[RecordView, ComparisonResult]:
        record, name = self._arm(arm)
        self._pieces(record, where)
        return record, lookup.comparison_of(record, name, vs, where or {})

    def _pieces(self, record: RecordView, where: Where | None) -> list[Slice]:
        """Find the slices that ``where`` leaves; those asked for as rotating must be so, as far as a profile tells."""
        found = lookup.matching_slices(record, where or {})
        if counters.asks_rotating(where or {}):
            counters.refuse_false_rotation(record, [name for piece in found for name in piece.fixtures])
        return found

    def _slice(self, where: Where | None, experiment: str | None) -> tuple[RecordView, Slice]:
        record = self._record(experiment)
        pieces = self._pieces(record, where)
        if len(pieces) > 1:
            raise InputError(f"{record.name} has several slices there", remedy="say where={...}")
        return record, pieces[0]

    def _gates(
        self, name: str | None, arm: str | None, where: Where | None, experiment: str | None
    ) -> list[GateResult]:
        record = self._record(experiment)
        pieces = {piece.name for piece in self._pieces(record, where)}
        found = [
            gate
            for gate in record.result.gates
            if name in (None, gate.name) and arm in (None, gate.arm) and gate.slice in pieces
        ]
        if not found:
            known = ", ".join(sorted({gate.name for gate in record.result.gates})) or "none"
            raise InputError(f"{record.name} has no such gate there", remedy=f"its gates are: {known}")
        return found
