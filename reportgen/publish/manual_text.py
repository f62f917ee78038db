"""From the Markdown of a documentation page to HTML: links between files become addresses, markers become words.

Markers are comments, so that a code host shows none of them: ``<!-- file: NAME -->`` names what the block below it is,
``<!-- not run: WHY -->`` says why the tests do not run it, ``<!-- figures: WHENCE -->`` where the figures of a section come from.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

from markdown_it.token import Token
from markupsafe import escape

from reportgen.publish import footnotes
from reportgen.publish.glossary import is_glossary, mark
from reportgen.publish.library import Library, root_of
from reportgen.publish.manual import INDEX, ManualPage, reader
from reportgen.publish.numerals import measured
from reportgen.publish.page_text import BLANK
from reportgen.publish.problems import Problem
from reportgen.publish.search import Passage
from reportgen.publish.sections import frame_wide, passages

MARKER = re.compile(r"<!--\s*(file|not run|figures):\s*(.*?)\s*-->", re.DOTALL)
_SAID = {
    "file": '<p class="marker"><code>{}</code></p>\n',
    "not run": '<p class="marker">Not run in the tests: {}.</p>\n',
    "figures": '<p class="marker">Figures here: {}.</p>\n',
}
_PATH = re.compile(r"`([\w.-]+(?:/[\w.-]+)+)`")
_LINKS = {"link_open": "href", "image": "src"}


@dataclass(frozen=True)
class Written:
    """A page's HTML, its headings of the second level as (anchor, words), what is wrong with it, and whether it has footnotes."""

    html: str
    headings: tuple[tuple[str, str], ...]
    problems: tuple[Problem, ...]
    notes: bool


def passages_of(page: ManualPage) -> tuple[Passage, ...]:
    """Give the words of each section of a page, for search."""
    return tuple(passages(reader().parse(page.body)))


def write(page: ManualPage, addresses: Mapping[str, str], library: Library) -> Written:
    """Turn a page into HTML; ``addresses`` are those on the site of every source that has one, files of the folder included."""
    made = reader()
    tokens = made.parse(page.body)
    problems = (*_link(page, tokens, addresses, library), *_ground(page, tokens, library))
    for token in tokens:
        if token.type == "html_block":
            token.content = MARKER.sub(_marker, token.content)
    if is_glossary(page):
        mark(tokens)
    frame_wide(made, tokens)
    footnotes.dress(made)
    html = made.renderer.render(tokens, made.options, {})
    return Written(html, tuple(_headings(tokens)), problems, footnotes.are_in(tokens))


def _marker(match: re.Match[str]) -> str:
    words = " ".join(match[2].split()).rstrip(".")
    said = re.sub(r"`([^`]*)`", r"<code>\1</code>", str(escape(words))) if match[1] != "file" else str(escape(words))
    return _SAID[match[1]].format(said)


def _headings(tokens: Sequence[Token]) -> list[tuple[str, str]]:
    return [
        (str(token.attrGet("id")), "".join(child.content for child in tokens[place + 1].children or ()))
        for place, token in enumerate(tokens)
        if token.type == "heading_open" and token.tag == "h2"
    ]


def _link(
    page: ManualPage, tokens: Sequence[Token], addresses: Mapping[str, str], library: Library
) -> Iterator[Problem]:
    """Rewrite every link to a file of the lab; give those that lead nowhere."""
    root = root_of(page.address)
    for token in tokens:
        held: list[str] = []
        for child in token.children or ():
            name = _LINKS.get(child.type, "")
            if child.type == "link_close":
                child.tag = held.pop()
            elif name:
                href = _target(page, str(child.attrGet(name)), addresses, library)
                if href is None:
                    yield Problem(f"{page.source}:{(token.map or [0])[0] + 1}", f"dead link: {child.attrGet(name)}")
                child.tag = "span" if href in (None, "") and name == "href" else child.tag
                _point(child, name, root, href or "")
            if child.type == "link_open":
                held.append(child.tag)


def _point(child: Token, name: str, root: str, href: str) -> None:
    """Set where a link leads; one that the site cannot follow says where the file lies."""
    if child.tag == "span":
        child.attrs = {"title": f"in the sources: {child.attrGet(name)}"}
    else:
        child.attrSet(name, href if href.startswith(("#", "http:", "https:", "mailto:")) else root + href)


def _target(page: ManualPage, href: str, addresses: Mapping[str, str], library: Library) -> str | None:
    """Find the address from the site's root; itself where it is no file, empty for a file that is not published, None where nothing is there."""
    parts = urlsplit(href)
    if parts.scheme or parts.netloc or not parts.path:
        return href
    place = posixpath.normpath(posixpath.join(posixpath.dirname(page.source), unquote(parts.path)))
    anchor = f"#{parts.fragment}" if parts.fragment else ""
    for name in (place, f"{place}/{INDEX}"):
        if name in addresses:
            return (addresses[name] or "./") + anchor
    there = "" if place.startswith("..") else library.place(place)
    if not there:
        return None
    repository = library.settings.repository.rstrip("/")
    kind = "tree" if there == "folder" else "blob"
    return f"{repository}/{kind}/main/{quote(place)}{anchor}" if repository else ""


def _ground(page: ManualPage, tokens: Sequence[Token], library: Library) -> Iterator[Problem]:
    """Give the figures of sentences and tables that read like measurements in a section that does not say whence it has them."""
    level, ground = 1, 0
    for token in tokens:
        line = (token.map or [0])[0] + 1
        if token.type == "heading_open":
            level = int(token.tag[1])
            ground = ground if level > ground else 0
        elif token.type == "html_block":
            for whence in (found[2] for found in MARKER.finditer(token.content) if found[1] == "figures"):
                ground = level
                yield from (Problem(f"{page.source}:{line}", said) for said in _no_ground(whence, library))
        elif token.type == "inline" and not ground:
            yield from (Problem(f"{page.source}:{line + below}", said) for below, said in _bare(token))


def _bare(inline: Token) -> Iterator[tuple[int, str]]:
    """Give what reads like a measurement outside code, with the line below the block's first."""
    words = "".join(
        "\n" if child.type == "softbreak" else child.content if child.type == "text" else BLANK
        for child in inline.children or ()
    )
    for seen in measured(words):
        yield words[: seen.start].count("\n"), f"{seen.text!r} reads like a measured {seen.kind}: {GROUND}"


GROUND = "say at the head of its section whence it comes, as <!-- figures: rules of the protocol -->"


def _no_ground(whence: str, library: Library) -> Iterator[str]:
    if len(whence.split()) < 2:  # noqa: PLR2004 - a word is no reason
        yield "figures are said to come from nowhere: use some words"
    for place in _PATH.findall(whence):
        if not library.place(place):
            yield f"figures are said to come from {place}, which is not there"
