"""What HTML on a page says and is made of; which elements and attributes a page may write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser

SPOKEN = ("alt", "title", "aria-label", "aria-description")
# Elements and attributes that can neither change nor cover what a binding says.
ELEMENTS = frozenset((
    "a", "abbr", "b", "blockquote", "br", "caption", "cite", "code", "col", "colgroup", "dd", "del", "details", "dfn", "div", "dl", "dt", "em",
    "figcaption", "figure", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "ins", "kbd", "li", "mark", "ol", "p", "pre", "q", "s", "samp",
    "section", "small", "span", "strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "time", "tr", "u", "ul",
    "var", "wbr",
))  # fmt: skip
BREAKING = frozenset((
    "blockquote", "br", "caption", "dd", "details", "div", "dl", "dt", "figcaption", "figure", "h2", "h3", "h4", "h5", "h6", "hr", "img", "li",
    "ol", "p", "pre", "section", "summary", "table", "td", "th", "tr", "ul",
))  # fmt: skip
ATTRIBUTES = frozenset((
    "cite", "class", "colspan", "datetime", "height", "href", "id", "lang", "open", "role", "rowspan", "scope", "src", "start", "tabindex",
    "width", *SPOKEN,
))  # fmt: skip
OWN_CLASSES = frozenset((
    "claim", "fact", "held", "missing", "number", "published", "stated", "verdict",
))  # fmt: skip


@dataclass
class Html:
    """What a piece of HTML says and is made of: words with their line from 0, names of tags, and what is not for pages."""

    said: list[tuple[str, int]] = field(default_factory=list)
    tags: set[str] = field(default_factory=set)
    refused: list[tuple[str, int]] = field(default_factory=list)


class _Reader(HTMLParser):
    """Joins what runs on over tags within a line, and parts what tags part."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found = Html()
        self._words, self._line = "", 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag, with what it says and what is wrong with it."""
        line = self.getpos()[0] - 1
        self.found.tags.add(tag)
        self._part(tag)
        given = {name: value or "" for name, value in attrs}
        self.found.said += [(given[name], line) for name in SPOKEN if given.get(name)]
        self.found.refused += [(wrong, line) for wrong in wrong_with(tag, given)]

    def handle_endtag(self, tag: str) -> None:
        """Part the words where a block ends."""
        self._part(tag)

    def handle_data(self, data: str) -> None:
        """Take words."""
        if not self._words:
            self._line = self.getpos()[0] - 1
        self._words += data

    def _part(self, tag: str) -> None:
        if tag in BREAKING or tag not in ELEMENTS:
            self.close_words()

    def close_words(self) -> None:
        """End a run of words."""
        if self._words.strip():
            self.found.said.append((self._words, self._line))
        self._words = ""


def read_html(text: str) -> Html:
    """Read a piece of HTML, entities included."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    reader.close_words()
    return reader.found


def wrong_with(tag: str, attributes: Mapping[str, str]) -> Iterator[str]:
    """Say what a page may not write: elements and attributes by which it could say a figure past its bindings, or cover theirs."""
    if tag not in ELEMENTS:
        yield f"<{tag}> is not for pages"
    for name, value in attributes.items():
        if name not in ATTRIBUTES:
            yield f"attribute {name!r} is not for pages"
        elif name == "class" and OWN_CLASSES & set(value.split()):
            yield f"class {value!r} is kept for what bindings say"
