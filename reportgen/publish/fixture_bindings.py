"""The bindings that say one figure of one arm on one fixture, or of its machine code, each with its derivation."""

from __future__ import annotations

from markupsafe import Markup

from reportgen.publish import code_tables, counters, lookup, sums, wording
from reportgen.publish.library import Library, root_of
from reportgen.publish.markdown import SourcePage
from reportgen.publish.page_records import PageRecords, Where
from reportgen.publish.view import RecordView

TO = Markup(" to ")


class FixtureBindings(PageRecords):
    """Figures of single fixtures, for one page."""

    def __init__(self, page: SourcePage, library: Library) -> None:
        super().__init__(page, library)
        self._root = root_of(page.front.address)

    def time(self, arm: str, at: Where, device: str | None = None) -> Markup:
        """Say the median time of an arm per launch on the one fixture with the values ``at``; ``device`` is an id or a model."""
        record, name = self._arm(arm)
        counters.fixtures_where(record, at)
        found = lookup.time_of(record, name, at, device)
        anchor = lookup.time_anchor(found.fixture, found.device)
        return self._figure(record, anchor, found.median_ns, wording.time(found.median_ns), sums.TIME)

    def times(self, arm: str, at: Where) -> Markup:
        """Say the median time of an arm on one fixture, of several devices the shortest and the longest."""
        record, name = self._arm(arm)
        counters.fixtures_where(record, at)
        found = sorted(lookup.times_of(record, name, at), key=lambda one: one.median_ns)
        ends = {wording.time(one.median_ns): one for one in (found[0], found[-1])}
        return TO.join(
            self._figure(record, lookup.time_anchor(one.fixture, one.device), one.median_ns, said, sums.TIME)
            for said, one in ends.items()
        )

    def change_on(self, arm: str, vs: str, at: Where) -> Markup:
        """Say a change in time on the one fixture with the values ``at``, of several devices the least and the most."""
        record, name = self._arm(arm)
        counters.fixtures_where(record, at)
        found, cells = lookup.cells_of(record, name, vs, at)
        ends = {wording.change(one.ratio): one for one in (cells[0], cells[-1])}
        return TO.join(
            self._figure(record, lookup.cell_place(found, one), one.ratio, said, sums.RATIO)
            for said, one in ends.items()
        )

    def counter(self, arm: str, metric: str, where: Where | None = None, call: int | None = None) -> Markup:
        """Say a counter of an arm on the fixture that ``where`` selects, as a profile attempt counted it."""
        record, name = self._arm(arm)
        found = counters.counted(record, lookup.arm_named(record.plan, name).name, metric, where or {}, call)
        return Markup('<a class="number" href="{}"><data value="{}">{}</data></a>').format(
            f"{self._root}{found.address}#{found.anchor}", repr(found.value), counters.text(metric, found.value)
        )

    def code(self, arm: str, what: str) -> Markup:
        """Say a static count of an arm's machine code: registers, instructions, or an opcode such as SHFL.IDX."""
        record, name = self._arm(arm)
        value, address = code_tables.counted(record, name, what)
        return sums.figure_of(sums.Amount(value, sums.COUNT, wording.count(value), self._root + address), value)

    def _figure(self, record: RecordView, anchor: str, value: float | str, text: str, unit: str = "") -> Markup:
        number = value if isinstance(value, int | float) else 0.0
        return sums.figure_of(sums.Amount(number, unit, text, self._href(record, anchor)), value)

    def _href(self, record: RecordView, place: str) -> str:
        """Lead to a place of the record: an anchor on its page, or another page of it with one."""
        return f"{self._root}{record.address}{place if '#' in place else f'#{place}'}"
