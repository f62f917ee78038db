"""The words of a claim: each gives a plain value of a record and is noted, with what it could have been instead."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reportgen.errors import InputError
from reportgen.model.result import GateOutcome, PointVerdict, Promotion, Reason, Verdict
from reportgen.publish import code_tables, counters, gate_values, lookup, study_values
from reportgen.publish.library import Library
from reportgen.publish.markdown import SourcePage
from reportgen.publish.page_records import PageRecords, Where
from reportgen.publish.record_facts import COUNTS

FAR = 1e9
NUMBERS: tuple[float, ...] = (-FAR, 0.0, 0.5, FAR)
POSITIVE: tuple[float, ...] = (1e-9, 0.5, FAR)  # whatever a record says, times and margins are above zero,
NOT_NEGATIVE: tuple[float, ...] = (0.0, *POSITIVE)  # and nothing is counted, and no floor lies, below it
COUNTED: tuple[int, ...] = (0, 1, 2, 10**9)
RATIOS = ("headline", "estimate", "low", "high")
ENDS: Mapping[str, Callable[[Sequence[float]], float]] = {"low": min, "high": max}


def _each(values: type[Any]) -> tuple[str, ...]:
    return tuple(one.value for one in values)


def _lists(values: type[Any]) -> tuple[list[str], ...]:
    known = sorted(_each(values))
    return (*([one] for one in known), known)


BANDS: tuple[list[list[Any]], ...] = ([], *([[one, 0, 1]] for one in _each(PointVerdict)))

DOMAINS: Mapping[str, Sequence[Any]] = {
    "verdict": _each(Verdict),
    "reason": _each(Reason),
    "verdicts": _lists(Verdict),
    "outcome": _each(Promotion),
    "promotions": _lists(Promotion),
    "gate": _each(GateOutcome),
    "gates": _lists(GateOutcome),
    "bands": BANDS,
    "saving": NUMBERS,
    "change": NUMBERS,
    "floor": NOT_NEGATIVE,
    "margin": POSITIVE,
    "count": COUNTED,
    "counter": NOT_NEGATIVE,
    "code": COUNTED,
    "time": POSITIVE,
    "change_on": NUMBERS,
    "study": (*NUMBERS, "passes", "missed"),
}


@dataclass
class Asked:
    """What a claim asked for: the ``values`` of its calls by their text, or, while ``instead`` is set, others.

    ``instead`` chooses, for the n-th distinct call, a place in the domain of its word.
    """

    values: dict[str, Any] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    instead: Sequence[int] | None = None

    def note(self, text: str, word: str, value: Any) -> Any:
        """Keep the value of a call, or give another in its place."""
        if self.instead is None:
            self.words[text], self.values[text] = word, value
            return value
        if text not in self.words:
            self.words[text] = word
        place = self.instead[list(self.words).index(text) % len(self.instead)]
        domain = DOMAINS[word]
        return domain[place % len(domain)]


class ClaimWords(PageRecords):
    """The vocabulary of claims for one page. ``asked`` notes what the claim at hand has asked."""

    def __init__(self, page: SourcePage, library: Library) -> None:
        super().__init__(page, library)
        self.asked = Asked()

    def functions(self) -> dict[str, Callable[..., Any]]:
        """Every word by its name."""
        return {name: self._noted(name) for name in DOMAINS}

    def _noted(self, name: str) -> Callable[..., Any]:
        function = getattr(self, name)

        @functools.wraps(function)
        def noted(*values: Any, **named: Any) -> Any:
            said = [repr(value) for value in values] + [f"{key}={value!r}" for key, value in named.items()]
            text = f"{name}({', '.join(said)})"
            if self.asked.instead is not None:
                return self.asked.note(text, name, None)
            return self.asked.note(text, name, function(*values, **named))

        return noted

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
        return max(one.median_ns for one in lookup.times_of(record, name, at))

    def change_on(self, arm: str, vs: str, at: Where, figure: str = "low") -> float:
        """Give an end of the change in percent on one fixture: ``low`` or ``high`` of the interval, over all devices."""
        if figure not in ENDS:
            raise InputError(f"no figure {figure!r}", remedy=f"figures are: {', '.join(ENDS)}")
        record, name = self._arm(arm)
        counters.fixtures_where(record, at)
        _, cells = lookup.cells_of(record, name, vs, at)
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
