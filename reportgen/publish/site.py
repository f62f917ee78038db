"""Every file of the site, made in memory: pages, charts, downloads, index and assets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from reportgen.errors import InputError
from reportgen.project import Project
from reportgen.publish import (
    announcing,
    attempt_page,
    fixtures_page,
    glossary,
    links,
    listing,
    manual_page,
    manual_text,
    preview,
    publishing,
    record_page,
    search,
    svg,
)
from reportgen.publish.claims import Judged
from reportgen.publish.context import Frame, Link
from reportgen.publish.described import described
from reportgen.publish.frames import CATALOGUE, PAGES, Framer, Subject, root_path
from reportgen.publish.gather import Gathered
from reportgen.publish.library import Library
from reportgen.publish.lint import lint
from reportgen.publish.list_context import NotFoundPage, PagesPage
from reportgen.publish.manual import ADDRESS, Manual, ManualPage, read_manual
from reportgen.publish.markdown import SourcePage, read_page
from reportgen.publish.problems import Problem
from reportgen.publish.remembering import Memory, look_at, under
from reportgen.publish.templates import Theme
from reportgen.publish.text_page import default_home, render
from reportgen.publish.theme_folders import theme_folders
from reportgen.publish.view import AttemptView, RecordView

STATIC = "static"
REPORTS = ("report", "finding", "gate", "sweep")


@dataclass(frozen=True)
class Site:
    """Files by address, the number of pages among them, and what is wrong."""

    files: Mapping[str, bytes | Path]
    pages: int
    problems: tuple[Problem, ...]


def make_site(project: Project, gathered: Gathered, memory: Memory) -> Site:
    """Make every file of the lab's site from what was ``gathered``; pages that are in ``memory`` are taken from there."""
    folders = theme_folders(project.templates)
    seen = look_at(under(project.docs)) if project.docs else ()
    manual = memory.read("manual", seen, lambda _: read_manual(project))
    look = look_at(path for folder in folders for path in under(folder))
    theme = memory.read("theme", look, lambda _: Theme(folders))
    maker = _Maker(project, gathered, theme, memory)
    sources = maker.read_sources(manual)
    maker.add_written(sources)
    maker.add_manual(manual, sources)
    maker.add_records(sources)
    maker.add_attempts(sources)
    maker.add_catalogue()
    maker.add_list()
    pages = dict(maker.made)
    assets = static_files([*reversed(folders), project.site])
    figures = {f"figures/{name}.svg": svg.standalone(drawn).encode() for name, drawn in gathered.drawer.drawn.items()}
    figures |= {f"figures/{name}.csv": numbers for name, numbers in gathered.drawer.numbers.items()}
    files: dict[str, bytes | Path] = {**assets, **figures, **manual.files, **gathered.files, **pages}
    files.update(described(gathered.library))
    files.update({address: gathered.preview(shown) for address, shown in maker.pictures})
    files[search.ADDRESS] = search.index(maker.indexed)
    files.update(announcing.files(maker.indexed, project.settings))
    files[publishing.LISTING] = publishing.listing(_listed(address, files[address], memory) for address in files)
    problems = [*gathered.problems, *maker.problems]
    written = {page.front.address: page for page in sources} | {page.address: page for page in manual.pages.values()}
    problems += links.check(pages, set(files), written, root_path(project.settings), memory)
    return Site(files, len(pages), tuple(sorted(dict.fromkeys(problems))))


def _listed(address: str, content: bytes | Path, memory: Memory) -> publishing.Listed:
    known = content if isinstance(content, bytes) else look_at([content])
    found: publishing.Listed = memory.read(("listed", address), known, lambda _: publishing.listed(address, content))
    return found


def static_files(folders: list[Path]) -> dict[str, Path]:
    """Find the assets: those of later folders replace those of earlier ones."""
    found = {}
    for folder in folders:
        for path in sorted((folder / STATIC).rglob("*")):
            if path.is_file() and not path.name.startswith("."):
                found[path.relative_to(folder).as_posix()] = path
    return found


class _Maker:
    """Makes pages one kind after the other; ``made`` holds their HTML, each with its file address."""

    def __init__(self, project: Project, gathered: Gathered, theme: Theme, memory: Memory) -> None:
        self._project, self._library, self._theme = project, gathered.library, theme
        self._framer = Framer(project.settings, ())
        self.made: list[tuple[str, bytes]] = []
        self.indexed: list[search.Indexed] = []
        self.pictures: list[tuple[str, preview.Picture]] = []
        self.problems: list[Problem] = []
        self._claims: list[Judged] = []
        gathered.drawer.asked.clear()
        ledgers = (self.made, self.indexed, self.pictures, self.problems, self._claims, gathered.drawer.asked)
        self._once = partial(memory.once, ledgers=ledgers)

    def read_sources(self, manual: Manual) -> list[SourcePage]:
        """Read what people write, and learn what to navigate to."""
        pages = []
        for path in sorted(self._project.site.rglob("*.md")):
            try:
                pages.append(read_page(path, path.relative_to(self._project.root).as_posix()))
            except InputError as fault:
                self.problems.append(Problem(fault.where, fault.what))
        written = tuple(
            (page.front.short or page.front.title, page.front.address) for page in pages if page.front.kind == "method"
        )
        titles = {page.front.address: page.front.short or page.front.title for page in pages}
        docs = ((manual_page.NAME, ADDRESS),) if manual.pages else ()
        self._framer = Framer(self._project.settings, (*written, *docs), titles, glossary.terms(manual))
        return pages

    def add_manual(self, manual: Manual, sources: list[SourcePage]) -> None:
        """Add the documentation; its links may lead to pages that people write."""
        written = {page.source: page.front.address for page in sources}
        binder = manual_page.Binder(self._project, manual, written, self._framer)
        for page in manual.pages.values():
            parts = (manual, written, self._framer)
            self._once(page.source, parts, make=partial(self._add_documentation, page, binder))
        self.problems += manual.problems

    def _add_documentation(self, page: ManualPage, binder: manual_page.Binder) -> None:
        context, problems = binder.bind(page)
        self.problems += problems
        self._add(page.address, "docs.html", context, page.source, manual_text.passages_of(page))

    def add_written(self, sources: list[SourcePage]) -> None:
        """Add the pages that people write."""
        reports = _reports(sources, self._library)
        fronts = tuple(page.front for page in sources)
        for page in sources:
            self._once(page.source, (page, fronts, self._framer), make=partial(self._add_page, page, reports))
        if all(page.front.address for page in sources):
            home = default_home(sources, self._library, (self._framer, reports))
            self._add("", "home.html", home, "site")

    def _add_page(self, page: SourcePage, reports: dict[str, SourcePage]) -> None:
        made = render(page, self._library, self._theme, (self._framer, reports))
        self.problems += [*made.problems, *lint(page)]
        self._claims += made.claims
        self._add(page.front.address, made.template, made.context, page.source, made.passages)
        if made.picture is not None:
            self.pictures.append((preview.address(page.front.address), made.picture))

    def add_records(self, sources: list[SourcePage]) -> None:
        """Add the page of each record."""
        reports = _reports(sources, self._library)
        for record in self._library.records:
            report = reports.get(record.name)
            frame = self._framer.frame(record_page.subject(record, report))
            leads = None if report is None else Link(report.front.title, frame.root + report.front.address)
            claims = [claim for claim in self._claims if record.name in claim.records]
            parts = (frame, leads, claims)
            self._once(record.address, parts, make=partial(self._add_record, record, *parts))
            fixtures = self._framer.frame(fixtures_page.subject(record, report))
            self._once(("fixtures", record.address), (fixtures,), make=partial(self._add_fixtures, record, fixtures))

    def _add_record(self, record: RecordView, frame: Frame, leads: Link | None, claims: list[Judged]) -> None:
        page = record_page.build(record, frame, leads, self._library, claims)
        self._add(record.address, "record.html", page, record.name, listing.of_record(record))

    def _add_fixtures(self, record: RecordView, frame: Frame) -> None:
        page = fixtures_page.build(record, frame, self._library)
        self._add(fixtures_page.subject(record, None).address, "fixtures.html", page, record.name)

    def add_attempts(self, sources: list[SourcePage]) -> None:
        """Add the page of each attempt, and the ledger of all."""
        records = {one.address: record for record in self._library.records for one in record.all_attempts()}
        reports = _reports(sources, self._library)
        above = {record.name: record_page.subject(record, reports.get(record.name)) for record in self._library.records}
        attempts = self._library.all_attempts()
        for attempt in attempts:
            record = records.get(attempt.address)
            frame = self._framer.frame(attempt_page.subject(attempt, above[record.name] if record else None))
            self._once(attempt.address, (frame,), make=partial(self._add_attempt, attempt, frame, record))
        subject = attempt_page.ledger_subject(attempts)
        self._add(
            subject.address, "ledger.html", attempt_page.ledger(attempts, self._framer.frame(subject)), "attempts"
        )

    def _add_attempt(self, attempt: AttemptView, frame: Frame, record: RecordView | None) -> None:
        page = attempt_page.build(attempt, frame, record, self._library)
        self._add(attempt.address, "attempt.html", page, attempt.manifest.id, listing.of_attempt(attempt))

    def add_catalogue(self) -> None:
        """Add the catalogue and the page of unknown addresses."""
        records = self._library.records
        date = max((record.date for record in records), default="")
        subject = Subject(CATALOGUE, "Data", "Every published record with its files.", "data", date, "runs")
        page = attempt_page.catalogue(records, self._framer.frame(subject), self._library.settings)
        self._add(CATALOGUE, "catalogue.html", page, "data")
        # An unknown address may lie at any depth, so this one page leads to the site's root by its whole path.
        lost = Subject(
            "404.html",
            "No such page",
            "Nothing is published at this address.",
            "404",
            "",
            "templates/404.html",
            root=root_path(self._project.settings),
        )
        self._put("404.html", self._theme.page("404.html", NotFoundPage(self._framer.frame(lost))))

    def add_list(self) -> None:
        """Add the list of all pages, which stands where nothing can be searched."""
        date = max(record.date for record in self._library.records) if self._library.records else ""
        frame = self._framer.frame(listing.subject(date))
        page = PagesPage(frame, listing.listings([*self.indexed, listing.indexed(PAGES, frame)], frame.root))
        self._add(PAGES, "pages.html", page, "pages")

    def _add(
        self, address: str, template: str, context: Any, source: str, passages: tuple[search.Passage, ...] = ()
    ) -> None:
        self.indexed.append(listing.indexed(address, context.frame, passages))
        file = f"{address}index.html"
        if any(file == other for other, _ in self.made):
            self.problems.append(Problem(source, f"address {address!r} is taken by another page"))
        self._put(file, self._theme.page(template, context))

    def _put(self, file: str, html: str) -> None:
        self.made.append((file, html.encode()))


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
