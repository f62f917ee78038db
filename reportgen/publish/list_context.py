"""What the templates of documentation, lists and unknown addresses may see, and the class of every template.

As in :mod:`reportgen.publish.context`: frozen dataclasses of finished strings.
"""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from reportgen.publish.context import (
    AttemptPage,
    Download,
    FixturesPage,
    Frame,
    HomePage,
    Link,
    RecordPage,
    Table,
    TextPage,
)


@dataclass(frozen=True)
class Chapter:
    """A section of the documentation with its pages; ``current`` marks the one that the page belongs to."""

    title: str
    links: tuple[Link, ...]
    current: bool


@dataclass(frozen=True)
class DocsPage:
    """A page of the documentation: ``contents`` leads to its headings, ``chapters`` to every other page; ``notes`` tells of footnotes."""

    frame: Frame
    section: str
    contents: tuple[Link, ...]
    body: Markup
    chapters: tuple[Chapter, ...]
    following: Link | None
    notes: bool


@dataclass(frozen=True)
class LedgerPage:
    """Every attempt of every kind and status."""

    frame: Frame
    attempts: tuple[Table, ...]


@dataclass(frozen=True)
class Snippet:
    """Lines of a program that reads the data, and what it is written with."""

    name: str
    text: str


@dataclass(frozen=True)
class CatalogueEntry:
    """One record in the catalogue."""

    title: str
    name: str
    href: str
    banner: str
    downloads: tuple[Download, ...]


@dataclass(frozen=True)
class CataloguePage:
    """Every published record with its files."""

    frame: Frame
    records: tuple[CatalogueEntry, ...]
    snippets: tuple[Snippet, ...]
    snippet_words: str


@dataclass(frozen=True)
class ListedPage:
    """A page as the list of all pages names it."""

    title: str
    href: str
    summary: str


@dataclass(frozen=True)
class Listing:
    """Pages of one kind."""

    title: str
    pages: tuple[ListedPage, ...]


@dataclass(frozen=True)
class PagesPage:
    """Every page of the site, by kind."""

    frame: Frame
    listings: tuple[Listing, ...]


@dataclass(frozen=True)
class NotFoundPage:
    """What an unknown address shows."""

    frame: Frame


PAGES = {
    "home.html": HomePage,
    "text.html": TextPage,
    "docs.html": DocsPage,
    "record.html": RecordPage,
    "fixtures.html": FixturesPage,
    "attempt.html": AttemptPage,
    "ledger.html": LedgerPage,
    "catalogue.html": CataloguePage,
    "pages.html": PagesPage,
    "404.html": NotFoundPage,
}
