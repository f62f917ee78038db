"""The bindings that say what a plan or someone else set: constants of the protocol, figures with a reason, figures with a source."""

from __future__ import annotations

from typing import Any

import msgspec
from markupsafe import Markup

from reportgen.model.experiment import Experiment
from reportgen.publish import record_facts, statements, sums, wording
from reportgen.publish.fixture_bindings import FixtureBindings
from reportgen.publish.library import Library
from reportgen.publish.markdown import SourcePage
from reportgen.publish.page_records import Where
from reportgen.publish.view import RecordView


class PlanBindings(FixtureBindings):
    """What was set before anything was measured, for one page."""

    def __init__(self, page: SourcePage, library: Library) -> None:
        super().__init__(page, library)
        self._cited: set[str] = set()

    def protocol(self, experiment: str | None = None) -> dict[str, Any]:
        """Give the protocol's constants as the record froze them, each a figure; or as the experiment declares them."""
        declared, record = self._declared(self._named(experiment))
        constants = msgspec.to_builtins(declared.protocol)
        return {name: self._constant(record, f"protocol.{name}", value) for name, value in constants.items()}

    def experiment(self, name: str | None = None) -> dict[str, Any]:
        """Give what the experiment declares: title, question, summary, smallest effect, slicing axes."""
        declared, record = self._declared(self._named(name))
        least = declared.smallest_effect
        return {
            "title": declared.title,
            "question": declared.question,
            "summary": declared.summary,
            "backend": declared.backend,
            "slicing": wording.names(list(declared.slicing)),
            "smallest_effect": self._of_plan(record, "fact-smallest_effect", least, wording.share(least)),
        }

    def _declared(self, name: str) -> tuple[Experiment, RecordView | None]:
        """Find a plan: as a record froze it, the pinned one where the page pins it; else as the experiment is declared, in a lab without record."""
        pinned = [one for one in self._page.front.records if one.partition("@")[0] == name]
        wanted = pinned[0] if pinned else name
        if any(wanted == one.name or (wanted == one.experiment and one.current) for one in self._library.known()):
            record = self._library.record(wanted)
            return record.plan.experiment, record
        return self._library.experiment(name), None

    def _constant(self, record: RecordView | None, path: str, value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return wording.names([str(one) for one in value]) if isinstance(value, list) else str(value)
        return self._of_plan(record, record_facts.plan_anchor(path), value, wording.plain_number(value))

    def _of_plan(self, record: RecordView | None, anchor: str, value: float, text: str) -> Markup:
        """Say a figure of a plan; one that nothing was measured by has no page to lead to."""
        if record is not None:
            return self._figure(record, anchor, value, text, sums.COUNT)
        amount = sums.Amount(value, sums.COUNT, text, "")
        return sums.unlinked(amount)

    def stated(self, text: str, because: str, plan: str | None = None) -> Markup:
        """Say a figure that is no measurement, or a word of outcome that is no finding, with the reason; ``plan`` names its field there."""
        plans = {name.partition("@")[0]: self._declared(name)[0] for name in self._page.front.records}
        return statements.stated(text, because, plans, plan)

    def published(self, dataset: str, row: str | Where, column: str) -> Markup:
        """Say a figure that others published, with its source, which is said in full where a page first uses it."""
        again = dataset in self._cited
        self._cited.add(dataset)
        return statements.published(self._library.published(dataset), dataset, row, column, again=again)
