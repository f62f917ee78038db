"""The words of a claim: each gives a plain value of a record and is noted, or that of a record that could have been measured instead."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from reportgen.errors import InputError
from reportgen.model.result import ComparisonResult
from reportgen.publish import code_tables, counters, gate_values, imagined_times, lookup, study_values
from reportgen.publish.library import Library
from reportgen.publish.markdown import SourcePage
from reportgen.publish.page_records import PageRecords, Where
from reportgen.publish.record_facts import COUNTS
from reportgen.publish.view import RecordView

RATIOS = ("headline", "estimate", "low", "high")
ENDS: Mapping[str, Callable[[Sequence[float]], float]] = {"low": min, "high": max}
WORDS = (
    "verdict", "reason", "verdicts", "outcome", "promotions", "gate", "gates", "bands", "saving", "change", "floor", "margin", "count",
    "counter", "code", "time", "change_on", "study",
)  # fmt: skip


class ClaimWords(PageRecords):
    """The vocabulary of claims for one page; ``values`` are those of the claim at hand, by the text of the call."""

    def __init__(self, page: SourcePage, library: Library) -> None:
        super().__init__(page, library)
        self.values: dict[str, Any] = {}
        self._compared: list[tuple[str, str, str]] = []
        self._number: int | None = None

    def functions(self) -> dict[str, Callable[..., Any]]:
        """Every word by its name."""
        return {name: self._noted(name) for name in WORDS}

    def begin(self) -> None:
        """Forget what the claim before asked."""
        self.values, self.used, self._compared = {}, {}, []

    @contextmanager
    def imagining(self, number: int) -> Iterator[None]:
        """Give what made-up records say, in place of the page's own, and note none of it."""
        self._number = number
        try:
            yield
        finally:
            self._number = None

    def _record(self, name: str | None) -> RecordView:
        record = super()._record(name)
        return record if self._number is None else self._library.imagined(record, self._number).view

    def _noted(self, name: str) -> Callable[..., Any]:
        function = getattr(self, name)

        @functools.wraps(function)
        def noted(*values: Any, **named: Any) -> Any:
            found = function(*values, **named)
            if self._number is None:
                said = [repr(value) for value in values] + [f"{key}={value!r}" for key, value in named.items()]
                self.values[f"{name}({', '.join(said)})"] = found
            return found

        return noted

    def _comparison(self, arm: str, vs: str, where: Where | None) -> tuple[RecordView, ComparisonResult]:
        record, found = super()._comparison(arm, vs, where)
        self._note(record, found)
        return record, found

    def _note(self, record: RecordView, found: ComparisonResult) -> None:
        """Remember which arms a claim compares, since their times must agree with that in whatever could have been measured."""
        if self._number is None:
            self._compared.append((record.name, found.arm, found.baseline))

    def verdict(self, arm: str, vs: str = "incumbent", where: Where | None = None) -> str:
        """Give one verdict."""
        return self._comparison(arm, vs, where)[1].verdict.value

    def reason(self, arm: str, vs: str = "incumbent", where: Where | None = None) -> str:
        """Give the reason of one verdict."""
        return self._comparison(arm, vs, where)[1].reason.value

    def verdicts(
        self, vs: str = "incumbent", where: Where | None = None, experiment: str | None = None, role: str = "candidate"
    ) -> list[str]:
        """Give the distinct verdicts, sorted, of all arms of a role against a baseline of a role, or an arm."""
        record = self._record(experiment)
        pieces = {piece.name for piece in self._pieces(record, where)}
        found = {
            one.verdict.value
            for one in record.result.comparisons
            if one.role == role and one.slice in pieces and vs in (one.baseline, one.baseline_role)
        }
        if not found:
            raise InputError(f"{record.name} compares no {role} with {vs!r} there")
        return sorted(found)

    def change(self, arm: str, vs: str = "incumbent", where: Where | None = None, figure: str = "headline") -> float:
        """Give a change in time in percent: negative is less time."""
        if figure not in RATIOS:
            raise InputError(f"no figure {figure!r}", remedy=f"figures are: {', '.join(RATIOS)}")
        found = self._comparison(arm, vs, where)[1]
        value = getattr(found, figure)
        if value is None:
            raise InputError(f"{found.arm} against {found.baseline} is {found.verdict.value}: it has no {figure}")
        return float(100 * (value - 1))

    def outcome(self, arm: str, where: Where | None = None) -> str:
        """Give what to do with a candidate, the same in every slice that ``where`` leaves."""
        record, name = self._arm(arm)
        pieces = {piece.name for piece in self._pieces(record, where)}
        found = {one.outcome.value for one in record.result.promotions if one.arm == name and one.slice in pieces}
        return _only(found, f"outcome of {name!r}")

    def promotions(self, experiment: str | None = None, where: Where | None = None) -> list[str]:
        """Give the distinct outcomes of all candidates, sorted."""
        record = self._record(experiment)
        pieces = {piece.name for piece in self._pieces(record, where)}
        return sorted({one.outcome.value for one in record.result.promotions if one.slice in pieces})

    def gate(self, name: str, arm: str | None = None, where: Where | None = None, experiment: str | None = None) -> str:
        """Give how a gate came out, the same in every slice and for every arm that are left."""
        found = {one.outcome.value for one in self._gates(name, arm, where, experiment)}
        return _only(found, f"outcome of gate {name!r}")

    def gates(self, experiment: str | None = None, where: Where | None = None) -> list[str]:
        """Give the distinct outcomes of all gates, sorted."""
        return sorted({one.outcome.value for one in self._gates(None, None, where, experiment)})

    def bands(
        self, name: str, arm: str | None = None, where: Where | None = None, experiment: str | None = None
    ) -> list[list[Any]]:
        """Give the bands of a gate: [verdict, first point, last point] each, in the order of the axis."""
        found = self._gates(name, arm, where, experiment)
        return [[band.verdict.value, band.first, band.last] for gate in found for band in gate.bands]

    def saving(self, gate: str, arm: str, at: Where, figure: str = "estimate", experiment: str | None = None) -> float:
        """Give what an arm saves on one fixture in the gate's own unit, ns or a share: estimate, low or high."""
        found = self._gates(gate, arm, None, experiment)
        return gate_values.saved_on(self._record(experiment), found, at).figure(figure)

    def count(self, what: str, experiment: str | None = None) -> int:
        """Give a count of the record."""
        if what not in COUNTS:
            raise InputError(f"no count of {what!r}", remedy=f"counts are: {', '.join(sorted(COUNTS))}")
        if self._number is not None:
            return self._library.imagined(super()._record(experiment), self._number).count(what)
        return COUNTS[what](self._record(experiment))

    def floor(self, where: Where | None = None, experiment: str | None = None) -> float:
        """Give the noise floor of a slice in percent."""
        record, piece = self._slice(where, experiment)
        line = lookup.noise_of(record, piece.name)
        if line is None or line.floor is None:
            raise InputError(f"no null arm of {record.name} is valid in {piece.name}")
        return 100 * line.floor

    def margin(self, where: Where | None = None, experiment: str | None = None) -> float:
        """Give the margin of a slice in percent."""
        return max(self.floor(where, experiment), 100 * self._record(experiment).result.smallest_effect)

    def counter(self, arm: str, metric: str, where: Where | None = None, call: int | None = None) -> float:
        """Give a counter of an arm as a profile attempt counted it, in the column's unit; shares of the footprint in percent."""
        record, name = self._arm(arm)
        found = counters.counted(record, lookup.arm_named(record.plan, name).name, metric, where or {}, call)
        return 100 * found.value if metric == counters.FOOTPRINT_SHARE else found.value

    def code(self, arm: str, what: str) -> int:
        """Give a static count of an arm's machine code."""
        record, name = self._arm(arm)
        return code_tables.counted(record, name, what)[0]

    def time(self, arm: str, at: Where) -> float:
        """Give the median time of an arm per launch on one fixture in ns; of several devices the longest."""
        record, name = self._arm(arm)
        counters.fixtures_where(record, at)
        if self._number is None:
            return max(one.median_ns for one in lookup.times_of(record, name, at))
        pairs = [(arm, baseline) for of, arm, baseline in self._compared if of == record.name]
        return max(imagined_times.times_of(record, name, at, pairs))

    def change_on(self, arm: str, vs: str, at: Where, figure: str = "low") -> float:
        """Give an end of the change in percent on one fixture: ``low`` or ``high`` of the interval, over all devices."""
        if figure not in ENDS:
            raise InputError(f"no figure {figure!r}", remedy=f"figures are: {', '.join(ENDS)}")
        record, name = self._arm(arm)
        counters.fixtures_where(record, at)
        found, cells = lookup.cells_of(record, name, vs, at)
        self._note(record, found)
        ends = [getattr(cell.interval, figure) for cell in cells]
        return float(100 * (ENDS[figure](ends) - 1))

    def study(self, what: str, *, experiment: str | None = None, **selected: Any) -> Any:
        """Give a figure of the A/A study as it is kept: shares and errors as such, times in ns."""
        known = ("mode", "kernel", "effect", "harness")
        if not set(selected) <= set(known):
            raise InputError(
                f"study selects by {', '.join(known)}, not by {', '.join(sorted(set(selected) - set(known)))}"
            )
        return study_values.said(
            self._record(experiment), what, study_values.Selection(**_filled(selected, known))
        ).value


def _filled(selected: Mapping[str, Any], known: Sequence[str]) -> dict[str, Any]:
    return {name: selected.get(name) for name in known}


def _only(found: set[str], what: str) -> str:
    if len(found) != 1:
        raise InputError(f"{what}: {len(found)} different ones there", remedy="name an arm and a slice, or ask for all")
    return next(iter(found))
