"""A page of the documentation, from its source to the context of its template."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from reportgen.publish.context import Link
from reportgen.publish.frames import Framer, Subject
from reportgen.publish.library import Library, root_of
from reportgen.publish.list_context import Chapter, DocsPage
from reportgen.publish.manual import ADDRESS, INDEX, Manual, ManualPage, Section
from reportgen.publish.manual_text import Written, write
from reportgen.publish.problems import Problem

NAME = "Docs"
_FEWEST_HEADINGS = 3


@dataclass
class Binder:
    """Makes the pages of one manual of the lab at ``root``; ``written`` are the addresses of the pages that people write, by source."""

    root: Path
    manual: Manual
    written: Mapping[str, str]
    framer: Framer

    def __post_init__(self) -> None:
        files = {path.relative_to(self.root).as_posix(): address for address, path in self.manual.files.items()}
        pages = {page.source: page.address for page in self.manual.pages.values()}
        self._addresses = {**self.written, **files, **pages}

    def bind(self, page: ManualPage, library: Library) -> tuple[DocsPage, tuple[Problem, ...]]:
        """Make a page, with what is wrong with it; the library tells what of the lab is there."""
        made = write(page, self._addresses, library)
        return self._context(page, made), made.problems

    def _context(self, page: ManualPage, made: Written) -> DocsPage:
        root = root_of(page.address)
        above = () if page.address == ADDRESS else ((NAME, ADDRESS),)
        subject = Subject(page.address, page.title, page.summary, "docs", "", page.source, above=above)
        contents = tuple(Link(words, f"#{anchor}") for anchor, words in made.headings)
        section = self._section(page)
        return DocsPage(
            frame=self.framer.frame(subject),
            section=section.title if section else "",
            contents=contents if len(contents) >= _FEWEST_HEADINGS and page.address != ADDRESS else (),
            body=Markup(made.html),  # noqa: S704 - the documentation is the lab's own
            chapters=tuple(self._chapter(one, page, section, root) for one in self.manual.sections),
            following=self._following(page, section, root),
            notes=made.notes,
        )

    def _section(self, page: ManualPage) -> Section | None:
        """Find the section that lists a page, or the page of its folder."""
        folder = f"{page.source.rpartition('/')[0]}/{INDEX}"
        for source in (page.source, folder):
            for section in self.manual.sections:
                if source in section.sources:
                    return section
        return None

    def _chapter(self, section: Section, page: ManualPage, current: Section | None, root: str) -> Chapter:
        pages = [self.manual.pages[source] for source in section.sources if source in self.manual.pages]
        links = tuple(Link(one.title, root + one.address, current=one.source == page.source) for one in pages)
        return Chapter(section.title, links, section is current)

    def _following(self, page: ManualPage, section: Section | None, root: str) -> Link | None:
        """Lead on within a section."""
        sources = section.sources if section else ()
        place = sources.index(page.source) + 1 if page.source in sources else len(sources)
        found = self.manual.pages.get(sources[place]) if place < len(sources) else None
        return Link(found.title, root + found.address) if found else None
