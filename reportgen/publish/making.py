"""Makes the pages of a site, one kind after the other: each from nothing but common things, its parts, and what it asks of the library."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from reportgen.errors import InputError
from reportgen.project import Project
from reportgen.publish import (
    attempt_page,
    fixtures_page,
    glossary,
    links,
    listing,
    manual_page,
    manual_text,
    preview,
    record_page,
    search,
)
from reportgen.publish.claims import Judged
from reportgen.publish.context import Frame, Link
from reportgen.publish.crew import Job
from reportgen.publish.frames import CATALOGUE, PAGES, Framer, Subject, root_path
from reportgen.publish.gather import Gathered
from reportgen.publish.library import Library, Question
from reportgen.publish.lint import lint
from reportgen.publish.list_context import NotFoundPage, PagesPage
from reportgen.publish.manual import ADDRESS, Manual, ManualPage
from reportgen.publish.markdown import SourcePage, read_page
from reportgen.publish.problems import Problem
from reportgen.publish.shelf import Grown
from reportgen.publish.templates import Theme
from reportgen.publish.text_page import default_home, render
from reportgen.publish.view import AttemptView, RecordView

REPORTS = ("report", "finding", "gate", "sweep")
_SLOW, _LONG, _SHORT = 4, 100_000, 10_000  # how long pages take, beside a character of documentation


@dataclass(frozen=True)
class Task:
    """A page to be made: its name among all, its parts, and what adds it where it is told to, asking the library that it is given."""

    name: str
    parts: tuple[Any, ...]
    make: Callable[[Grown, Library], object]
    weight: int


class Maker:
    """Makes pages one kind after the other; ``whole`` holds what they add to the site.

    ``once`` makes a page of a name from parts, or takes what was made of them before.
    """

    def __init__(self, project: Project, gathered: Gathered, theme: Theme, once: Callable[..., Grown]) -> None:
        self._project, self._library, self._theme = project, gathered.library, theme
        self._framer = Framer(project.settings, ())
        self._drawer, self._entries, self._once = gathered.drawer, gathered.entries, once
        self._base = root_path(project.settings)
        self.whole = Grown()

    def add(self, tasks: Iterable[Task]) -> None:
        """Add pages to the site."""
        for task in tasks:
            self.whole.add(self._once(task.name, task.parts, partial(self._made, task)))

    def jobs(self, tasks: Iterable[Task]) -> list[Job]:
        """Give the making of each page as a job of its own, which adds it to no site."""
        return [
            Job(f"page {task.name}", task.weight, partial(self._once, task.name, task.parts, partial(self._made, task)))
            for task in tasks
        ]

    def _made(self, task: Task) -> Grown:
        page, library = Grown(), self._library.apart()
        self._drawer.asked.clear()
        task.make(page, library)
        page.drawn += self._drawer.asked
        page.asked += sorted(library.asked.items())
        return page

    def read_sources(self, manual: Manual) -> list[SourcePage]:
        """Read what people write, and learn what to navigate to."""
        pages = []
        for path in sorted(self._project.site.rglob("*.md")):
            try:
                pages.append(read_page(path, path.relative_to(self._project.root).as_posix()))
            except InputError as fault:
                self.whole.problems.append(Problem(fault.where, fault.what))
        written = tuple(
            (page.front.short or page.front.title, page.front.address) for page in pages if page.front.kind == "method"
        )
        titles = {page.front.address: page.front.short or page.front.title for page in pages}
        docs = ((manual_page.NAME, ADDRESS),) if manual.pages else ()
        self._framer = Framer(self._project.settings, (*written, *docs), titles, glossary.terms(manual))
        return pages

    def documentation(self, manual: Manual, sources: list[SourcePage]) -> Iterator[Task]:
        """Make the documentation; its links may lead to pages that people write."""
        written = {page.source: page.front.address for page in sources}
        outline = {source: (one.address, one.title) for source, one in manual.pages.items()}
        binder = manual_page.Binder(self._project.root, manual, written, self._framer)
        for page in manual.pages.values():
            parts = (page, outline, manual.sections, [*manual.files], written, self._framer)
            yield Task(page.source, parts, partial(self._add_documentation, page, binder), len(page.body))

    def _add_documentation(self, page: ManualPage, binder: manual_page.Binder, to: Grown, library: Library) -> None:
        context, problems = binder.bind(page, library)
        to.problems += problems
        self._add(to, page.address, ("docs.html", context), page.source, manual_text.passages_of(page))

    def written(self, sources: list[SourcePage]) -> Iterator[Task]:
        """Make the pages that people write."""
        reports = _reports(sources, self._library)
        of_all = {name: page.front for name, page in reports.items()}
        for page in sources:
            parts = (page, self._framer, of_all if page.front.kind == "home" else None)
            yield Task(page.source, parts, partial(self._add_page, page, reports), _SLOW * len(page.body))

    def add_home(self, sources: list[SourcePage]) -> None:
        """Add a first page to a lab that has written none."""
        reports = _reports(sources, self._library)
        if all(page.front.address for page in sources):
            home = default_home(sources, self._library, (self._framer, reports))
            self._add(self.whole, "", ("home.html", home), "site")

    def _add_page(self, page: SourcePage, reports: dict[str, SourcePage], to: Grown, library: Library) -> None:
        made = render(page, library, self._theme, (self._framer, reports))
        to.problems += [*made.problems, *lint(page)]
        to.claims += made.claims
        self._add(to, page.front.address, (made.template, made.context), page.source, made.passages)
        if made.picture is not None:
            self._entries.preview(made.picture)  # which draws it, unless it is in the cache
            to.pictures.append((preview.address(page.front.address), made.picture))

    def records(self, sources: list[SourcePage]) -> Iterator[Task]:
        """Make the pages of each record: its own, which lists the claims that the site so far makes of it, and that of its fixtures."""
        reports = _reports(sources, self._library)
        for record in self._library.records:
            report = reports.get(record.name)
            frame = self._framer.frame(record_page.subject(record, report))
            leads = None if report is None else Link(report.front.title, frame.root + report.front.address)
            claims = [claim for claim in self.whole.claims if record.name in claim.records]
            parts, whole = (frame, leads, claims), self._library.answered(Question("record", record.name))
            yield Task(record.address, (whole, *parts), partial(self._add_record, record, parts), _LONG)
            yield self._fixtures(record, report)

    def fixtures(self, sources: list[SourcePage]) -> Iterator[Task]:
        """Make the page of every record that has it fixture by fixture, which waits for no claims."""
        reports = _reports(sources, self._library)
        return (self._fixtures(record, reports.get(record.name)) for record in self._library.records)

    def _fixtures(self, record: RecordView, report: SourcePage | None) -> Task:
        frame = self._framer.frame(fixtures_page.subject(record, report))
        parts = self._library.answered(Question("record", record.name)), frame
        return Task(f"{record.address}fixtures", parts, partial(self._add_fixtures, record, frame), _LONG)

    def _add_record(
        self, record: RecordView, around: tuple[Frame, Link | None, list[Judged]], to: Grown, library: Library
    ) -> None:
        frame, leads, claims = around
        page = record_page.build(record, frame, leads, library, claims)
        self._add(to, record.address, ("record.html", page), record.name, listing.of_record(record))

    def _add_fixtures(self, record: RecordView, frame: Frame, to: Grown, library: Library) -> None:
        page = fixtures_page.build(record, frame, library)
        self._add(to, fixtures_page.subject(record, None).address, ("fixtures.html", page), record.name)

    def attempts(self, sources: list[SourcePage]) -> Iterator[Task]:
        """Make the page of each attempt."""
        records = {one.address: record for record in self._library.records for one in record.all_attempts()}
        reports = _reports(sources, self._library)
        above = {record.name: record_page.subject(record, reports.get(record.name)) for record in self._library.records}
        for attempt in self._library.all_attempts():
            record = records.get(attempt.address)
            frame = self._framer.frame(attempt_page.subject(attempt, above[record.name] if record else None))
            held = Question("attempt", attempt.address), Question("record", record.name if record else "")
            parts = (*map(self._library.answered, held), frame)
            yield Task(attempt.address, parts, partial(self._add_attempt, attempt, frame, record), _SHORT)

    def add_ledger(self) -> None:
        """Add the list of all attempts."""
        attempts = self._library.all_attempts()
        subject = attempt_page.ledger_subject(attempts)
        ledger = attempt_page.ledger(attempts, self._framer.frame(subject))
        self._add(self.whole, subject.address, ("ledger.html", ledger), "attempts")

    def _add_attempt(
        self, attempt: AttemptView, frame: Frame, record: RecordView | None, to: Grown, library: Library
    ) -> None:
        page = attempt_page.build(attempt, frame, record, library)
        self._add(to, attempt.address, ("attempt.html", page), attempt.manifest.id, listing.of_attempt(attempt))

    def add_catalogue(self) -> None:
        """Add the catalogue and the page of unknown addresses."""
        records = self._library.records
        date = max((record.date for record in records), default="")
        subject = Subject(CATALOGUE, "Data", "Every published record with its files.", "data", date, "runs")
        page = attempt_page.catalogue(records, self._framer.frame(subject), self._library.settings)
        self._add(self.whole, CATALOGUE, ("catalogue.html", page), "data")
        # An unknown address may lie at any depth, so this one page leads to the site's root by its whole path.
        lost = Subject(
            "404.html",
            "No such page",
            "Nothing is published at this address.",
            "404",
            "",
            "templates/404.html",
            root=self._base,
        )
        html = self._theme.page("404.html", NotFoundPage(self._framer.frame(lost)))
        self._put(self.whole, "404.html", lost.source, html)

    def add_list(self) -> None:
        """Add the list of all pages, which stands where nothing can be searched."""
        date = max(record.date for record in self._library.records) if self._library.records else ""
        frame = self._framer.frame(listing.subject(date))
        page = PagesPage(frame, listing.listings([*self.whole.indexed, listing.indexed(PAGES, frame)], frame.root))
        self._add(self.whole, PAGES, ("pages.html", page), "pages")

    def _add(
        self, to: Grown, address: str, page: tuple[str, Any], source: str, passages: tuple[search.Passage, ...] = ()
    ) -> None:
        template, context = page
        to.indexed.append(listing.indexed(address, context.frame, passages))
        self._put(to, f"{address}index.html", source, self._theme.page(template, context))

    def _put(self, to: Grown, file: str, source: str, html: str) -> None:
        data = html.encode()
        to.made.append((file, source, data))
        to.found.append((file, links.read(file, self._base, data)))


def _reports(sources: list[SourcePage], library: Library) -> dict[str, SourcePage]:
    """Find the report that speaks of each record, by the record's pinned name.

    A page that names the record first comes before one that only sets it beside its own; a page before those in its folder.
    """
    named = [
        (place, page.front.address, name, page)
        for page in sources
        if page.front.kind in REPORTS
        for place, name in enumerate(page.front.records)
    ]
    found: dict[str, SourcePage] = {}
    for _, _, name, page in sorted(named, key=lambda one: one[:2]):
        for record in library.records:
            if name == record.name or (name == record.experiment and record.current):
                found.setdefault(record.name, page)
    return found
