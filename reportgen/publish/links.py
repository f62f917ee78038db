"""What is wrong with finished pages: dead links and anchors, repeated ids, images without words, orphans."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Protocol
from urllib.parse import unquote, urlsplit

from reportgen.publish.problems import Problem

_PAGE = "index.html"
_LINKING = {"a": "href", "link": "href", "img": "src", "script": "src", "source": "src", "use": "href"}
NO_PAGES_LEAD_TO = ("404.html",)
LISTS_ALL = "pages/index.html"
# A comment, a script or style with what it holds, or a start tag; a bracket in a quoted value ends no tag.
_WITHIN = r"""[^>"']*(?:(?:"[^"]*"|'[^']*')[^>"']*)*"""
_PIECE = re.compile(
    rf"<!--.*?-->|<(script|style)\b{_WITHIN}>.*?</\1\s*>|<[a-z]{_WITHIN}>",
    re.DOTALL | re.IGNORECASE,
)
_TOLD = re.compile(r"\b(?:id|href|src)\b|^<img\b", re.IGNORECASE)


class Written(Protocol):
    """A page that people write: its file, and its text line by line as that file has it."""

    @property
    def source(self) -> str:
        """Path from the lab's root."""
        ...

    @property
    def body(self) -> str:
        """Text by lines, under the numbers that they have in the file."""
        ...


@dataclass(frozen=True)
class Found:
    """What one page holds: links as written, with the file and anchor that they lead to; ids; images without alternative."""

    links: Mapping[str, tuple[str, str] | None]
    ids: Mapping[str, int]
    wordless: tuple[str, ...]


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.wordless: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        target = known.get(_LINKING.get(tag, ""))
        if target is not None:
            self.links.append(target)
        if known.get("id"):
            self.ids.append(str(known["id"]))
        if tag == "img" and "alt" not in known:
            self.wordless.append(known.get("src") or "an image")


def check(found: Mapping[str, Found], files: set[str], written: Mapping[str, Written]) -> list[Problem]:
    """Check finished pages, as :func:`read` found them, by file address, against each other and the site's other files.

    ``written`` maps an address to the page that people wrote there, for file and line.
    """
    problems = []
    for address in sorted(found):
        where = _Where(address, written.get(address.removesuffix(_PAGE)))
        problems += [where.problem(fault, text) for fault, text in _faults(address, found, files)]
    for address in sorted(_orphans(found)):
        where = _Where(address, written.get(address.removesuffix(_PAGE)))
        problems.append(where.problem("no page leads here", ""))
    return problems


@dataclass(frozen=True)
class _Where:
    """Where a page's problems are: in the file that people wrote, at the line that holds the text, or at its address."""

    address: str
    page: Written | None

    def problem(self, fault: str, text: str) -> Problem:
        if self.page is None:
            return Problem(self.address, fault)
        lines = self.page.body.splitlines()
        # In documentation the file's own link stands where the page has an address; the anchor is the same.
        told = [part for part in (text, text[text.find("#") :] if "#" in text else "") if part]
        line = next((place for part in told for place, written in enumerate(lines, start=1) if part in written), 1)
        return Problem(f"{self.page.source}:{line}", fault)


def read(address: str, base: str, html: bytes) -> Found:
    """Read the page at a file address; ``base`` is the path of the first page on its host."""
    parser = _Parser()
    # Of a long table's tags few link or are linked to, and the parser takes its time over each.
    for piece in _PIECE.finditer(html.decode()):
        if _TOLD.search(piece[0]):
            parser.feed(piece[0])
    links = {link: target_of(address, link, base) for link in parser.links}
    return Found(links, Counter(parser.ids), tuple(parser.wordless))


def _faults(address: str, found: Mapping[str, Found], files: set[str]) -> list[tuple[str, str]]:
    here = found[address]
    faults = [(f"image without alternative text: {src}", src) for src in here.wordless]
    faults += [(f"id {name!r} stands {number} times", name) for name, number in here.ids.items() if number > 1]
    for link, target in here.links.items():
        fault = _link_fault(target, link, found, files)
        if fault:
            faults.append((fault, link))
    return faults


def _link_fault(target: tuple[str, str] | None, link: str, found: Mapping[str, Found], files: set[str]) -> str:
    if target is None:
        return ""
    path, anchor = target
    if path not in found:
        return "" if path in files else f"dead link: {link}"
    missing = anchor and anchor not in found[path].ids
    return f"no anchor {anchor!r} on that page: {link}" if missing else ""


def target_of(address: str, link: str, base: str = "/") -> tuple[str, str] | None:
    """Resolve a link of the page at ``address`` to a file of the site and an anchor; None where it leads elsewhere.

    A path from the host's root must begin with ``base``, where the site lies; another leads to no file of it.
    """
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    path = unquote(parts.path)
    if not path:
        return address, unquote(parts.fragment)
    if path.startswith("/") and not path.startswith(base):
        return path, ""
    folder, inside = ("", path.removeprefix(base)) if path.startswith("/") else (posixpath.dirname(address), path)
    joined = posixpath.normpath(posixpath.join(folder, inside or "."))
    if path.endswith("/") or re.search(r"(?:^|/)\.{1,2}$", path):
        joined = posixpath.normpath(posixpath.join(joined, _PAGE))
    return joined, unquote(parts.fragment)


def _orphans(found: Mapping[str, Found]) -> set[str]:
    """Find pages that no chain of links from the first page reaches; the list of all pages would hide every one of them."""
    reached, waiting = set(), [_PAGE]
    while waiting:
        address = waiting.pop()
        if address in reached or address not in found:
            continue
        reached.add(address)
        if address == LISTS_ALL:
            continue
        waiting += [target[0] for target in found[address].links.values() if target is not None]
    return set(found) - reached - set(NO_PAGES_LEAD_TO)
