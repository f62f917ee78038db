"""A walk over every figure of a built site: what has no full value, leads nowhere, or leads to a place that says another figure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from reportgen.publish import wording
from reportgen.publish.numerals import measured, plain
from tests.publish.page_kinds import pages_of

VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
BLOCKS = ("p", "li", "dd", "dt", "figcaption", "summary", "h1", "h2", "h3", "blockquote", "div", "th", "td")
HOLDING = {*BLOCKS, "table", "ul", "ol", "dl", "figure", "section", "article", "header", "details", "main"}
WALKED = ("report", "finding", "gate", "sweep", "note", "method", "home", "record", "fixtures", "attempt", "ledger")
APART = "\N{OBJECT REPLACEMENT CHARACTER}"
_NUMBER = re.compile(r"[<±+\-−~≈(]*\s*\.?\d")

# What is exempt, and why. Nothing else is.
SILENT_TAGS = {
    **dict.fromkeys(("svg",), "a drawing: its numbers stand in its table, its CSV file or the record's tables"),
    **dict.fromkeys(("code", "pre"), "a name, a hash or a block of code"),
    **dict.fromkeys(("script", "style", "title", "button", "template"), "not part of the text"),
    **dict.fromkeys(("time", "nav", "footer"), "a date; the way around the site"),
}
SILENT_CLASSES = {
    "stated": "no measurement: it carries its reason, and the plan holds it where it can",
    "published": "published elsewhere: it leads to its source",
    "missing": "a mark for what could not be said; a strict build fails on it",
    "told": "words of the plan or the archive as they stand there: ideas, fields, opcodes",
    "rows": "says which rows of a file a figure is made of",
    "files": "sizes of downloads: the row holds the file itself, its bytes and its hash",
    "cite": "a citation",
    "formulas": "the formulas, with their constants",
}
DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?(?: UTC)?)?$")
IDENTITY = re.compile(r"@[0-9a-f]{6}\b|\b\d{8}T\d{6}Z(?:-\w+)*|\bplan [0-9a-f]{12,64}\b")
METHOD = {"5%", "95%"}  # error rate and confidence: constants of docs/statistics.md, which no record holds
_DIGIT, _WORDY = re.compile(r"\d"), re.compile(r"\w{2}|\d")
_FILE = re.compile(r"\b[\w.]+\.(?:csv|json|parquet|jsonl|toml)\b|\bSHA256SUMS\b")


@dataclass(eq=False, repr=False)
class Element:
    """One element of a page: its attributes, what it holds in order, what holds it."""

    tag: str
    attributes: Mapping[str, str]
    parent: Element | None
    parts: list[Element | str] = field(default_factory=list)
    exempt: bool = False

    @cached_property
    def classes(self) -> set[str]:
        """The names of its classes."""
        return set(self.attributes.get("class", "").split())

    def all(self, tag: str) -> Iterator[Element]:
        """Give every element of a tag in it, itself included, in order."""
        if self.tag == tag:
            yield self
        for part in self.parts:
            if isinstance(part, Element):
                yield from part.all(tag)

    def above(self) -> Iterator[Element]:
        """Give itself and what holds it, from the inside out."""
        at: Element | None = self
        while at is not None:
            yield at
            at = at.parent

    def within(self, tag: str) -> Element | None:
        """Give the nearest element of a tag that holds it, itself included."""
        at: Element | None = self
        while at is not None and at.tag != tag:
            at = at.parent
        return at

    @cached_property
    def text(self) -> str:
        """Everything that it says."""
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)

    @cached_property
    def values(self) -> frozenset[str]:
        """The full values of the figures in it, of several in one each apart and together; and the numbers that its words hold."""
        told = [one.attributes.get("value", "") for one in self.all("data")]
        words = re.findall(r"(?<![\w.])\d[\d.]*(?![\w.]*\w)", self.text)
        return frozenset([*told, *(part for value in told for part in value.split()), *words])


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Element("", {}, None)
        self._at = self.root
        self.ids: dict[str, Element] = {}
        self.elements: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        made = Element(tag, {key: value or "" for key, value in attrs}, self._at)
        self._at.parts.append(made)
        self.ids.setdefault(made.attributes.get("id", ""), made)
        made.exempt = self._at.exempt or tag in SILENT_TAGS or not made.classes.isdisjoint(SILENT_CLASSES)
        self.elements.append(made)
        if tag not in VOID:
            self._at = made

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        held = self._at.within(tag)
        if held is not None and held.parent is not None:
            self._at = held.parent

    def handle_data(self, data: str) -> None:
        self._at.parts.append(data)


@dataclass(frozen=True, repr=False)
class Page:
    """The elements of a page in order, and by id; ``kind`` is the class of its body."""

    kind: str
    elements: list[Element]
    ids: Mapping[str, Element]


def read(html: str) -> Page:
    """Read a page."""
    reader = _Reader()
    reader.feed(html)
    kind = next((one.attributes.get("class", "") for one in reader.elements if one.tag == "body"), "")
    return Page(kind, reader.elements, reader.ids)


@dataclass(frozen=True)
class Fault:
    """A figure with which something is wrong: its page, where on it, what it says."""

    page: str
    place: str
    said: str
    wrong: str


@dataclass(frozen=True, repr=False)
class Site:
    """The pages of a site by address."""

    pages: Mapping[str, Page]

    def faults(self) -> list[Fault]:
        """Find every figure of the site that has no full value, or leads to no place that says the same."""
        return [
            fault
            for address, page in self.pages.items()
            if page.kind in WALKED
            for fault in (*_bare_cells(address, page), *_bare_texts(address, page), *self._unled(address))
        ]

    def figures(self, address: str) -> list[Element]:
        """Give every figure of a page that is held to its derivation."""
        return [one for one in self.pages[address].elements if one.tag == "data" and not one.exempt]

    def target(self, address: str, href: str) -> Element | None:
        """Find what a link of the page at ``address`` leads to, as a place on a page; None where that is not there."""
        parts, path = urlsplit(href), address
        if parts.path:
            folder = address if not address or address.endswith("/") else posixpath.dirname(address)
            joined = posixpath.normpath(posixpath.join("/", folder, unquote(parts.path))).strip("/")
            path = f"{joined}/" if joined and not joined.endswith(".html") else joined
        page = self.pages.get(path)
        return None if page is None or not parts.fragment else page.ids.get(unquote(parts.fragment))

    def _unled(self, address: str) -> Iterator[Fault]:
        for one in self.figures(address):
            wrong = self._wrong(address, one)
            if wrong:
                yield Fault(address, _place(one), f"{one.text} ({one.attributes.get('value')})", wrong)

    def _wrong(self, address: str, one: Element) -> str:
        value, link = one.attributes.get("value", ""), _link(one)
        if not value:
            return "has an empty value"
        if link is None:
            return "" if _derived(one) else "leads nowhere"
        href = link.attributes.get("href", "")
        target = self.target(address, href)
        if target is None:
            return f"leads to a place that is not there: {href}"
        if target in one.above() and not _derived(one):
            return "leads to itself, where nothing derives it"
        stated = value in target.values or set(value.split()) <= target.values or value in " ".join(target.text.split())
        return "" if stated else f"leads to a place that says another figure: {href}"


def site_of(out: Path) -> Site:
    """Read every page of a site."""
    return Site({address: read(html) for address, html in pages_of(out).items()})


def _link(one: Element) -> Element | None:
    """Give the link that a figure stands in; of a second line that of its cell."""
    own, cell = one.within("a"), one.within("td") or one.within("th")
    return own if own is not None or cell is None else next(cell.all("a"), None)


def _derived(one: Element) -> bool:
    """Whether a figure stands where it is derived: a named fact, a line of a sum, or a named row or table that tells which file holds it."""
    if any(holder.tag == "div" and holder.attributes.get("id") for holder in one.above()):
        return True
    table, row = one.within("figure"), one.within("tr")
    if table is None:
        return False
    if table.attributes.get("id", "").startswith("sum-"):
        return True
    named = bool(table.attributes.get("id")) or (row is not None and bool(row.attributes.get("id")))
    return named and _FILE.search(table.text) is not None


def _bare_cells(address: str, page: Page) -> Iterator[Fault]:
    """Find cells of the program's tables, and second lines in them, that begin like a number and are none in full."""
    for cell in page.elements:
        if cell.tag != "td" or cell.exempt or cell.within("figure") is None:
            continue
        own = [part for part in cell.parts if isinstance(part, str) or "second" not in part.classes]
        second: list[list[Element | str]] = [[part] for part in cell.parts if part not in own]
        for parts in (own, *second):
            words = "".join(_unsaid(part) for part in parts).strip()
            if _NUMBER.match(words) and not DATE.match(words) and not _says_the_same(cell, words):
                yield Fault(address, _place(cell), words, "is a number without its full value")


def _says_the_same(cell: Element, words: str) -> bool:
    """Whether a second line says the figure of its cell as a change in percent."""
    values = [one.attributes["value"] for one in cell.all("data")]
    return len(values) == 1 and " " not in values[0] and words == wording.change(float(values[0]))


def _bare_texts(address: str, page: Page) -> Iterator[Fault]:
    """Find what reads like a measurement in running text, and is none in full."""
    for block in page.elements:
        if block.tag not in BLOCKS or block.exempt:
            continue
        words = "".join(_said(part) for part in _own(block))
        for seen in (
            measured(plain(IDENTITY.sub(" ", words)))
            if _WORDY.search(words) and (block.tag != "td" or _DIGIT.search(words))
            else []
        ):
            if APART not in seen.text and seen.text not in METHOD and not _excused(page, block, seen.text, seen.kind):
                said = f"{seen.text!r} in {' '.join(words.split())[:120]!r}"
                yield Fault(address, _place(block), said, f"is a {seen.kind} without its full value")


def _excused(page: Page, block: Element, text: str, kind: str) -> bool:
    return _counts_rows(block, kind) or _archived(block) or _again(block, text) or _is_told_by_people(page, block)


def _counts_rows(block: Element, kind: str) -> bool:
    """Whether a sentence of the program counts the rows that stand beside it."""
    return kind == "count" and (bool(block.classes & {"note"}) or block.within("figure") is None)


def _own(block: Element) -> list[Element | str]:
    """Give the parts of a block but for a second line that says the figure before it again."""
    return [
        part
        for part in block.parts
        if isinstance(part, str) or "second" not in part.classes or not _says_the_same(block, part.text)
    ]


def _again(block: Element, text: str) -> bool:
    """Whether a verdict's reason repeats word for word a figure that its table holds in full."""
    table = block.within("figure")
    return block.tag == "td" and table is not None and text in {one.text for one in table.all("data")}


def _archived(block: Element) -> bool:
    """Whether it is a fact as the archive has it: of device, versions or environment."""
    holder = block.within("div")
    return block.tag == "dd" and holder is not None and not holder.attributes.get("id")


def _is_told_by_people(page: Page, block: Element) -> bool:
    """Whether it is the reason that somebody gave for an attempt's status, or an idea, at the head of a row."""
    if block.tag == "td":
        return _place(block).startswith(("Notes |", "Events |")) or "status" in _place(block)
    return (page.kind == "attempt" and block.within("header") is not None) or (
        block.tag == "th" and page.kind in ("ledger", "record")
    )


def _unsaid(part: Element | str) -> str:
    """Say a part of a cell without its figures and names."""
    if isinstance(part, str):
        return part
    if part.tag == "data":
        return APART
    if part.tag in SILENT_TAGS or part.classes & SILENT_CLASSES.keys():
        return ""
    return "".join(map(_unsaid, part.parts))


def _said(part: Element | str) -> str:
    """Say a part of a block, without the blocks in it, which are read by themselves."""
    return " " if isinstance(part, Element) and part.tag in HOLDING else _unsaid(part)


def _place(element: Element) -> str:
    """Say where on a page something stands: table and column, or the elements around it."""
    cell, row, table = element.within("td"), element.within("tr"), element.within("table")
    if cell is None or row is None or table is None:
        return " in ".join(" ".join([one.tag, *sorted(one.classes)]) for one in [*element.above()][:3])
    figure = cell.within("figure")
    caption = "" if figure is None else next((one.text for one in figure.all("figcaption")), "")
    heads = [*next(table.all("tr")).all("th")]
    at = [part for part in row.parts if isinstance(part, Element)].index(cell)
    return f"{caption.strip().partition(':')[0]} | {heads[at].text if at < len(heads) else at}"
