"""Everything on a page that a reader is told, by block and line: what its Markdown and HTML say once its expressions are taken out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser

from jinja2 import TemplateSyntaxError
from markdown_it.token import Token

from reportgen.publish.literals import handed
from reportgen.publish.markdown import parser
from reportgen.publish.templates import sandbox

BLANK = "\N{OBJECT REPLACEMENT CHARACTER}"
SPOKEN = ("alt", "title", "aria-label", "aria-description")
# Elements and attributes that cannot change or cover what a binding says.
ELEMENTS = frozenset(
    [
        "a",
        "abbr",
        "b",
        "blockquote",
        "br",
        "caption",
        "cite",
        "code",
        "col",
        "colgroup",
        "dd",
        "del",
        "details",
        "dfn",
        "div",
        "dl",
        "dt",
        "em",
        "figcaption",
        "figure",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "i",
        "img",
        "ins",
        "kbd",
        "li",
        "mark",
        "ol",
        "p",
        "pre",
        "q",
        "s",
        "samp",
        "section",
        "small",
        "span",
        "strong",
        "sub",
        "summary",
        "sup",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "time",
        "tr",
        "u",
        "ul",
        "var",
        "wbr",
    ]
)
BREAKING = frozenset(
    [
        "blockquote",
        "br",
        "caption",
        "dd",
        "details",
        "div",
        "dl",
        "dt",
        "figcaption",
        "figure",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "img",
        "li",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "td",
        "th",
        "tr",
        "ul",
    ]
)
ATTRIBUTES = frozenset(("href", "src", "id", "class", "lang", "width", "height", "colspan", "rowspan", "scope", "role", "tabindex", "open", "start", "datetime", "cite", *SPOKEN))  # fmt: skip
OWN_CLASSES = frozenset(("number", "fact", "claim", "held", "stated", "published", "missing", "verdict"))


@dataclass(frozen=True)
class Text:
    """Words of a page with the line that they begin on; ``code`` marks a name set in fixed width.

    ``bound`` tells whether bindings can stand there. ``shows`` are the expressions whose places the words hold, in order.
    """

    words: str
    line: int
    code: bool = False
    bound: bool = True
    shows: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reduced:
    """A page without its expressions: each that shows something leaves a mark; ``lines`` number the page's own lines."""

    text: str
    lines: tuple[int, ...]
    shows: tuple[str, ...]

    def line(self, at: int) -> int:
        """Give the page's line of a line of the text, from 0."""
        return self.lines[min(at, len(self.lines) - 1)]


def reduced(body: str) -> Reduced:
    """Leave a mark in place of what an expression shows, and nothing in place of statements and comments, as the page will.

    What stands between ``{% raw %}`` and ``{% endraw %}`` is text. A page that is no template is all text: that is told where it is filled.
    """
    parts, lines, shows, shown = [], [1], [], ""
    try:
        tokens = list(sandbox().lex(body))
    except TemplateSyntaxError:
        return Reduced(body, tuple(range(1, body.count("\n") + 2)), ())
    inside = False
    for line, kind, value in tokens:
        if kind == "data":
            parts.append(value)
            lines += range(line + 1, line + 1 + value.count("\n"))
        elif kind == "variable_begin":
            inside, shown = True, ""
        elif kind == "variable_end":
            inside = False
            parts.append(BLANK + "\n" * shown.count("\n"))
            lines += range(line + 1 - shown.count("\n"), line + 1)
            shows.append(shown.strip())
        elif inside:
            shown += value
    return Reduced("".join(parts), tuple(lines), tuple(shows))


def texts(body: str) -> Iterator[Text]:
    """Give everything on a page that a reader is told; of bindings the words that they are handed."""
    yield from (Text(words, line, code=True) for words, line in handed(body))
    page = reduced(body)
    shows = iter(page.shows)
    for token in parser().parse(page.text):
        for text in _of_token(token, _first(token, page.text)):
            own = tuple(next(shows, "") for _ in range(text.words.count(BLANK)))
            yield Text(text.words, page.line(text.line), code=text.code, shows=own)


def _first(token: Token, text: str) -> int:
    """Give the line, from 0, on which a block begins; a footnote in the middle of a sentence has none of its own."""
    if token.map:
        return token.map[0]
    at = text.find(token.content.split("\n")[0]) if token.content else -1
    return text.count("\n", 0, max(at, 0))


def _of_token(token: Token, first: int) -> Iterator[Text]:
    yield from _attributes(token, first)
    if token.type == "inline":
        yield from _inline(token, first)
    elif token.type == "html_block":
        yield from (Text(words, first + line) for words, line in read_html(token.content).said)
    elif token.type in ("fence", "code_block"):
        opening = token.type == "fence"
        for place, line in enumerate(token.content.splitlines(), start=opening):
            yield Text(line, first + place, code=True)


def _attributes(token: Token, line: int) -> Iterator[Text]:
    yield from (Text(str(value), line) for name, value in token.attrs.items() if name in SPOKEN and value)


def _inline(token: Token, first: int) -> Iterator[Text]:
    """Give the words of a block: what runs on over a line break is read as one, names in code by themselves."""
    words: list[str] = []
    for child in token.children or ():
        line = first + "".join(words).count("\n")
        yield from _attributes(child, line)
        if child.type in ("softbreak", "hardbreak"):
            words.append("\n")
        elif child.type == "code_inline":
            yield Text(child.content, line, code=True)
            words.append(" ")
        elif child.type == "html_inline":
            read = read_html(child.content)
            yield from (Text(said, line) for said, _ in read.said)
            words.append(" " if read.tags & BREAKING else "")
        else:
            words.append(child.content)
    yield Text("".join(words), first)


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


def refused(body: str) -> Iterator[tuple[str, int]]:
    """Say what of a page's HTML and attributes is not for pages, with its line."""
    page = reduced(body)
    for token in parser().parse(page.text):
        line = _first(token, page.text)
        for one in (token, *(token.children or ())):
            if one.type in ("html_block", "html_inline"):
                yield from ((wrong, page.line(line + at)) for wrong, at in read_html(one.content).refused)
            else:
                given = {name: str(value) for name, value in one.attrs.items() if not _of_table(name, str(value))}
                yield from ((wrong, page.line(line)) for wrong in wrong_with("span", given))


def _of_table(name: str, value: str) -> bool:
    return name == "style" and re.fullmatch(r"text-align:(?:left|right|center)", value) is not None
