"""What stands around every page: title, navigation, source, date, banner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

from reportgen.project import Settings
from reportgen.publish.context import Frame, Link
from reportgen.publish.library import root_of

STUDIES = "Studies"
LEDGER = "attempts/"
CATALOGUE = "data/"
PAGES = "pages/"
FEED = "feed.xml"


@dataclass(frozen=True)
class Subject:
    """What a page says of itself; ``source`` is the file or folder it comes from.

    ``banner`` is the loud line of a page that shows simulated records, ``above`` are the pages between it and the first
    one, as (title, address), ``picture`` the address of its picture.
    """

    address: str
    title: str
    summary: str
    kind: str
    date: str
    source: str
    banner: str = ""
    root: str = ""
    above: tuple[tuple[str, str], ...] = ()
    picture: str = ""


def url(settings: Settings, address: str) -> str:
    """Lead to a page from anywhere; empty where the lab does not say where its site lies."""
    return f"{settings.address.rstrip('/')}/{address}" if settings.address else ""


def root_path(settings: Settings) -> str:
    """Give the path of the site's first page on its host; the host's own where the lab does not say where its site lies."""
    return f"{urlsplit(settings.address).path.rstrip('/')}/"


@dataclass(frozen=True)
class Framer:
    """Frames pages of one lab; ``written`` are the pages to navigate to, as (title, address), ``titles`` those of all that people wrote.

    ``terms`` are the addresses of the glossary's words.
    """

    settings: Settings
    written: tuple[tuple[str, str], ...]
    titles: Mapping[str, str] = field(default_factory=dict)
    terms: Mapping[str, str] = field(default_factory=dict)

    def frame(self, subject: Subject) -> Frame:
        """Build the frame of one page."""
        root = subject.root or root_of(subject.address)
        repository = self.settings.repository.rstrip("/")
        written = subject.source.endswith((".md", ".html"))
        place = f"{'blob' if written else 'tree'}/main/{quote(subject.source)}"
        improve = f"edit/main/{quote(subject.source)}" if written else "issues/new"
        return Frame(
            site_title=self.settings.title,
            tagline=self.settings.tagline,
            title=subject.title,
            summary=subject.summary,
            kind=subject.kind,
            root=root,
            navigation=self._navigation(subject.address, root),
            trail=tuple(Link(text, root + to) for text, to in self._above(subject)),
            banner=subject.banner,
            date=subject.date,
            source=subject.source,
            source_href=f"{repository}/{place}" if repository else "",
            improve_href=f"{repository}/{improve}" if repository else "",
            data_licence=self.settings.data_licence,
            code_licence=self.settings.code_licence,
            url=url(self.settings, subject.address),
            picture=self._picture(subject),
        )

    def _picture(self, subject: Subject) -> Link | None:
        """Lead to the picture of a link preview, from anywhere; None where the page has none or the site no address."""
        place = url(self.settings, subject.picture) if subject.picture else ""
        return Link(f"{subject.title}: {subject.summary}", place) if place else None

    def pages_above(self, address: str) -> tuple[tuple[str, str], ...]:
        """Name the written pages whose folders hold a page, as (title, address), the outermost first."""
        found = [to for to in sorted(self.titles) if to and to != address and address.startswith(to)]
        return tuple((self.titles[to], to) for to in found)

    def _above(self, subject: Subject) -> tuple[tuple[str, str], ...]:
        """Name the pages above one that is not in the navigation itself, from the first page on."""
        places = [to for _, to in self._places()]
        return () if subject.root or subject.address in places else (self._places()[0], *subject.above)

    def _places(self) -> list[tuple[str, str]]:
        return [(STUDIES, ""), *self.written, ("Attempts", LEDGER), ("Data", CATALOGUE)]

    def _navigation(self, address: str, root: str) -> tuple[Link, ...]:
        return tuple(Link(text, root + to, current=to == address) for text, to in self._places())
