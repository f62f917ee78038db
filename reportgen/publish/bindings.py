"""The functions that a page may call for its numbers. Each figure leads to its derivation on the record's page.

An unknown name is a problem with the page's file and line, and a visible mark on the page.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape

from reportgen.errors import InputError
from reportgen.model.result import GateResult
from reportgen.publish import (
    answers,
    bandwidth,
    code_tables,
    counter_tables,
    counters,
    folding,
    gate_tables,
    gate_values,
    lookup,
    patch_tables,
    peer_tables,
    record_figures,
    record_files,
    study_charts,
    study_figures,
    study_tables,
    study_values,
    sums,
    sweep_tables,
    table_kinds,
    tables,
    wording,
)
from reportgen.publish.claims import Claims
from reportgen.publish.context import Table
from reportgen.publish.figures import SAVINGS, figures, savings_figure
from reportgen.publish.imported_bindings import KINDS as IMPORTED_KINDS
from reportgen.publish.imported_bindings import ImportedBindings
from reportgen.publish.library import Library
from reportgen.publish.markdown import SourcePage, calling_line
from reportgen.publish.page_records import Where
from reportgen.publish.plan_bindings import PlanBindings
from reportgen.publish.problems import Problem
from reportgen.publish.record_facts import COUNTS, FACTS
from reportgen.publish.templates import Theme
from reportgen.publish.view import RecordView

MISSING = Markup('<mark class="missing">missing</mark>')
OF_SOURCES: Mapping[str, Callable[..., Table]] = {"code": code_tables.of_record, "patches": patch_tables.of_record}
RATIOS = ("headline", "estimate", "low", "high")


class Bindings(PlanBindings, ImportedBindings):
    """Bindings of one page; ``problems`` and ``used`` (records shown) fill as the page is read."""

    def __init__(self, page: SourcePage, library: Library, theme: Theme) -> None:
        super().__init__(page, library)
        self._theme = theme
        self.problems: list[Problem] = []
        self._sums = sums.Sums()
        self._marks = 0
        self._claims = Claims(page, library, self._plain())
        self.used.update(self._claims.used)

    def functions(self) -> dict[str, Callable[..., Any]]:
        """Every binding by the name that pages call it by."""
        return {
            name: self._guard(function) for name, function in {**self._plain(), "claim": self._claims.quote}.items()
        }

    @property
    def claims(self) -> Claims:
        """The claims that the page makes."""
        return self._claims

    @property
    def sums(self) -> tuple[Table, ...]:
        """The derivations of the sums and products that were asked for."""
        return tuple(self._sums.tables)

    def _plain(self) -> dict[str, Callable[..., Any]]:
        """Every binding that the sentence of a claim may use."""
        return {
            "change": self.change,
            "interval": self.interval,
            "verdict": self.verdict,
            "outcome": self.outcome,
            "answer": self.answer,
            "count": self.count,
            "fact": self.fact,
            "floor": self.floor,
            "margin": self.margin,
            "time": self.time,
            "change_on": self.change_on,
            "gate": self.gate,
            "sum_of": self.sum_of,
            "product_of": self.product_of,
            "study": self.study,
            "counter": self.counter,
            "code": self.code,
            "times": self.times,
            "protocol": self.protocol,
            "experiment": self.experiment,
            "table": self.table,
            "chart": self.chart,
            "saving": self.saving,
            "downloads": self.downloads,
            "link": self.link,
            "patch": self.patch,
            "imported": self.imported,
            "stated": self.stated,
            "published": self.published,
        }

    def _guard(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def guarded(*values: Any, **named: Any) -> Any:
            try:
                try:
                    return function(*values, **named)
                except (TypeError, AttributeError, ValueError, LookupError) as fault:
                    raise InputError(
                        f"{function.__name__} is handed what it does not take: {fault}",
                        remedy="see `reportgen manual writing-pages`",
                    ) from fault
            except InputError as fault:
                line = calling_line(self._page.source)
                self.problems.append(Problem(f"{self._page.source}:{line}", fault.one_line()))
                return MISSING

        return guarded

    def change(self, arm: str, vs: str = "incumbent", where: Where | None = None, figure: str = "headline") -> Markup:
        """Say one change in time: ``figure`` is headline, estimate, low or high."""
        if figure not in RATIOS:
            raise InputError(f"no figure {figure!r}", remedy=f"figures are: {', '.join(RATIOS)}")
        record, found = self._comparison(arm, vs, where)
        value = getattr(found, figure)
        if value is None:
            raise InputError(f"{found.arm} against {found.baseline} is {found.verdict.value}: it has no {figure}")
        return self._figure(record, lookup.comparison_anchor(found), value, wording.change(value), sums.RATIO)

    def interval(self, arm: str, vs: str = "incumbent", where: Where | None = None) -> Markup:
        """Say a decision interval as two changes in time."""
        record, found = self._comparison(arm, vs, where)
        if found.low is None or found.high is None:
            raise InputError(f"{found.arm} against {found.baseline} is {found.verdict.value}: it has no interval")
        anchor = lookup.comparison_anchor(found)
        low = self._figure(record, anchor, found.low, wording.change(found.low))
        return low + Markup(" to ") + self._figure(record, anchor, found.high, wording.change(found.high))

    def verdict(self, arm: str, vs: str = "incumbent", where: Where | None = None) -> Markup:
        """Say a verdict with its mark."""
        record, found = self._comparison(arm, vs, where)
        href = self._href(record, lookup.comparison_anchor(found))
        return self._theme.part("verdict", tables.verdict_cell(found), href)

    def outcome(self, arm: str, where: Where | None = None) -> Markup:
        """Say what to do with a candidate, with the reason."""
        record, name = self._arm(arm)
        pieces = [piece.name for piece in self._pieces(record, where)]
        found = [one for one in record.result.promotions if one.arm == name and one.slice in pieces]
        if len({one.outcome for one in found}) != 1:
            raise InputError(f"{name!r} has {len(found)} outcomes there", remedy="name a candidate and one slice")
        against = next(
            (
                one
                for one in record.result.comparisons
                if (one.arm, one.slice, one.baseline) == (name, found[0].slice, found[0].incumbent)
            ),
            None,
        )
        said = escape(wording.PROMOTIONS[found[0].outcome])
        if against is None:
            return said
        return Markup('<a class="fact" href="{}">{}</a>').format(
            self._href(record, lookup.comparison_anchor(against)), said
        )

    def answer(self, experiment: str | None = None) -> Markup:
        """Say what came of every candidate, slice by slice."""
        record = self._record(experiment)
        return self._theme.part("answer", answers.lead(record), answers.slices(record, self._root + record.address))

    def count(self, what: str, experiment: str | None = None) -> Markup:
        """Say a count of the record."""
        record = self._record(experiment)
        if what not in COUNTS:
            raise InputError(f"no count of {what!r}", remedy=f"counts are: {', '.join(sorted(COUNTS))}")
        value = COUNTS[what](record)
        return self._figure(record, f"count-{what}", value, wording.count(value), sums.COUNT)

    def fact(self, what: str, experiment: str | None = None) -> Markup:
        """Say a fact of the record, such as its device or date."""
        record = self._record(experiment)
        if what not in FACTS:
            raise InputError(f"no fact {what!r}", remedy=f"facts are: {', '.join(sorted(FACTS))}")
        value = FACTS[what](record)
        return Markup('<a class="fact" href="{}"><data value="{}">{}</data></a>').format(
            self._href(record, f"fact-{what}"), value, value
        )

    def floor(self, where: Where | None = None, experiment: str | None = None) -> Markup:
        """Say the noise floor of a slice."""
        record, piece = self._slice(where, experiment)
        line = lookup.noise_of(record, piece.name)
        if line is None or line.floor is None:
            raise InputError(f"no null arm of {record.name} is valid in {piece.name}")
        return self._figure(record, lookup.floor_anchor(record, line), line.floor, wording.share(line.floor))

    def margin(self, where: Where | None = None, experiment: str | None = None) -> Markup:
        """Say the margin of a slice: the larger of smallest effect of interest and noise floor."""
        record, piece = self._slice(where, experiment)
        line = lookup.noise_of(record, piece.name)
        if line is None or line.floor is None:
            raise InputError(f"no null arm of {record.name} is valid in {piece.name}")
        value = max(record.result.smallest_effect, line.floor)
        anchor = lookup.SMALLEST_EFFECT if value > line.floor else lookup.floor_anchor(record, line)
        return self._figure(record, anchor, value, wording.share(value))

    def gate(  # noqa: PLR0913 - each a keyword that a page may say
        self,
        name: str,
        arm: str | None = None,
        where: Where | None = None,
        figure: str = "estimate",
        *,
        unit: str = "",
        experiment: str | None = None,
    ) -> Markup:
        """Say a figure of a gate in its own quantity: estimate, end, threshold; of a ceiling also saved, low, cost, cost_high."""
        found = self._gates(name, arm, where, experiment)
        if len(found) != 1:
            raise InputError(f"gate {name!r} is asked {len(found)} times there", remedy="name an arm and a slice")
        record, value = self._record(experiment), gate_tables.figure_of(found[0], figure)
        return self._gate_figure(record, gate_tables.gate_anchor(found[0]), found[0], value, unit)

    def sum_of(self, title: str, *lines: Any) -> Markup:
        """Say a sum of figures; each line is (words, figure) or (words, figure, factor)."""
        return self._sums.sum_of(title, lines)

    def product_of(self, title: str, *lines: Any) -> Markup:
        """Say a product of figures and numbers; lines as in a sum."""
        return self._sums.product_of(title, lines)

    def study(  # noqa: PLR0913 - each a keyword that a page may say
        self,
        what: str,
        *,
        mode: str | None = None,
        kernel: str | None = None,
        effect: float | None = None,
        harness: str | None = None,
        experiment: str | None = None,
    ) -> Markup:
        """Say a figure of the record's A/A study, of what the keywords select."""
        record = self._record(experiment)
        said = study_values.said(record, what, study_values.Selection(mode, kernel, effect, harness))
        return self._figure(record, said.anchor, said.value, said.text)

    def table(
        self,
        kind: str,
        experiment: str | None = None,
        where: Where | None = None,
        *,
        folded: bool | None = None,
        **named: Any,
    ) -> Markup:
        """Show tables of one kind, one a slice; ``bandwidth`` and ``peers`` take ``ceiling``, a record, and ``at``, a fixture of it; ``code`` takes ``counts`` and ``arms``, ``counters`` any axes and ``arms``; ``patches`` ``arms``; those of gates a ``unit``; imported ones an ``attempt``; ``folded`` says whether they wait to be opened."""
        if kind in IMPORTED_KINDS:
            built: Sequence[Table] = self.imported_tables(kind, experiment, **named)
        else:
            built = self._tables_of(kind, self._record(experiment), where, **named)
        return Markup("\n").join(self._theme.table(table, folding.of(kind, folded=folded)) for table in built)

    def _tables_of(self, kind: str, record: RecordView, where: Where | None, **named: Any) -> Sequence[Table]:
        if kind in ("bandwidth", "peers"):
            return self._beside_floor(kind, record, where or {}, **named)
        if kind in OF_SOURCES:
            return [OF_SOURCES[kind](record, self._root, **named)]
        if kind == "counters":
            return self._counters(record, where, **named)
        if kind in study_tables.KINDS:
            return [study_tables.KINDS[kind](record, self._root + record.address)]
        slices = self._pieces(record, where)
        counters.refuse_false_rotation(record, [name for piece in slices for name in piece.fixtures])
        page = self._root + record.address
        if kind in sweep_tables.KINDS:
            derived = {"mark": self._mark()} if kind in sweep_tables.DERIVED_HERE else {}
            asked = self._asked(kind, record, None, named)
            return [sweep_tables.KINDS[kind](record, slices, page, **asked, **derived)]
        build: Callable[..., list[Table]] = gate_tables.build if kind in gate_tables.KINDS else table_kinds.build
        return build(kind, record, slices, page=page, **named)

    def _counters(self, record: RecordView, where: Where | None, arms: list[str] | None = None) -> list[Table]:
        found = counters.profiles(record)
        if not found:
            raise InputError(
                f"{record.name} has no profile", remedy=f"make one: reportgen run {record.experiment} --profile"
            )
        chosen = counters.fixtures_where(record, where or {})
        for arm in arms or []:
            lookup.arm_named(record.plan, arm)
        built = [counter_tables.tables(one, self._root + one.address, chosen, arms) for one in found]
        return [table for each in built for table in each]

    def _beside_floor(
        self, kind: str, record: RecordView, where: Where, ceiling: str | None = None, at: Where | None = None
    ) -> list[Table]:
        reached = None
        if kind == "bandwidth" or ceiling:
            counters.fixtures_where(self._record(ceiling), at or {})
            reached = bandwidth.ceiling_of(self._record(ceiling), at or {}, record.devices)
        pieces, root = self._pieces(record, where), self._root
        if kind == "bandwidth" and reached:
            found = [bandwidth.table(record, piece, reached, root, self._mark()) for piece in pieces]
        else:
            found = [peer_tables.table(record, piece, root, self._mark(), reached) for piece in pieces]
        return [table for table in found if table.rows]

    def saving(  # noqa: PLR0913 - each a keyword that a page may say
        self, gate: str, arm: str, at: Where, figure: str = "estimate", *, unit: str = "", experiment: str | None = None
    ) -> Markup:
        """Say what an arm saves on one fixture, by the gate that asked: estimate, low or high."""
        record, found = self._record(experiment), self._gates(gate, arm, None, experiment)
        counters.fixtures_where(record, at)
        saved = gate_values.saved_on(record, found, at)
        anchor = gate_tables.savings_anchor(saved.gate, saved.cell)
        return self._gate_figure(record, anchor, saved.gate, saved.figure(figure), unit)

    def chart(
        self,
        kind: str,
        experiment: str | None = None,
        where: Where | None = None,
        vs: str | None = None,
        **named: Any,
    ) -> Markup:
        """Show charts of one kind, one a slice and baseline (or the baseline that ``vs`` names); ``savings`` takes a ``gate`` and a ``unit``, ``sweep`` an ``axis`` and ``arms``, ``roofline`` ``ceiling``, ``at`` and ``arms``."""
        record, place = self._record(experiment), (self._library, self._root)
        if kind in study_charts.KINDS:
            return self._theme.figure(study_figures.figure_of(kind, record, place))
        slices = self._pieces(record, where)
        counters.refuse_false_rotation(record, [name for piece in slices for name in piece.fixtures])
        if kind == SAVINGS:
            drawn = [savings_figure(record, piece, place, **named) for piece in slices]
        elif kind in record_figures.KINDS:
            drawn = record_figures.build(kind, record, slices, place, **self._asked(kind, record, vs, named))
        else:
            drawn = figures(kind, record, slices, vs, place)
        return Markup("\n").join(self._theme.figure(figure) for figure in drawn)

    def _asked(self, kind: str, record: RecordView, vs: str | None, named: dict[str, Any]) -> dict[str, Any]:
        """Turn what a page says of a chart of the whole record into what its builder takes."""
        if kind == record_figures.SWEEP:
            return {"axis": "", "vs": vs, **named}
        if "ceiling" not in named:
            return named
        at = named.get("at", {})
        ceiling = self._record(named["ceiling"])
        counters.fixtures_where(ceiling, at)
        rest = {name: value for name, value in named.items() if name not in ("ceiling", "at")}
        derived = {"mark": self._mark()} if kind in record_figures.KINDS else {}
        return {**rest, "ceiling": bandwidth.ceiling_of(ceiling, at, record.devices), **derived}

    def _mark(self) -> str:
        """Name the rows of one more table whose figures are derived on this page."""
        self._marks += 1
        return f"w{self._marks}"

    def downloads(self, experiment: str | None = None) -> Markup:
        """Show where the complete record can be had."""
        record = self._record(experiment)
        return self._theme.part("offered", record_files.downloads(record, self._root + record.address), record.name)

    def link(self, text: str, experiment: str | None = None) -> Markup:
        """Lead to the record's page."""
        record = self._record(experiment)
        return Markup('<a href="{}">{}</a>').format(self._root + record.address, text)

    def patch(self, arm: str, vs: str = "incumbent") -> Markup:
        """Lead to the patch that turns the source of a baseline into an arm's."""
        record, name = self._arm(arm)
        found = patch_tables.fact_of(
            record, name, lookup.baseline_named(record.plan, lookup.arm_named(record.plan, name), vs)
        )
        return Markup('<a href="{}" download>{}</a>').format(
            self._root + record.address + found.path, found.path.rpartition("/")[2]
        )

    def _gate_figure(self, record: RecordView, anchor: str, gate: GateResult, value: float, unit: str) -> Markup:
        kind = sums.TIME if gate.quantity == gate_tables.SAVED_NS else sums.SAVED
        return self._figure(record, anchor, value, gate_tables.said(gate, value, unit), kind)
