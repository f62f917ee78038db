"""Everything on a page that a reader is told, by block and line: what its Markdown and HTML say once its expressions are taken out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from jinja2 import TemplateSyntaxError
from markdown_it.token import Token

from reportgen.publish.literals import handed
from reportgen.publish.markdown import parser
from reportgen.publish.numerals import HEAD_UNIT, plain
from reportgen.publish.page_html import BREAKING, SPOKEN, read_html, wrong_with
from reportgen.publish.templates import sandbox

BLANK = "\N{OBJECT REPLACEMENT CHARACTER}"


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
    tokens = parser().parse(page.text)
    yield from (Text(text.words, page.line(text.line)) for text in _under_units(tokens))
    for token in tokens:
        for text in _of_token(token, _first(token, page.text)):
            own = tuple(next(shows, "") for _ in range(text.words.count(BLANK)))
            yield Text(text.words, page.line(text.line), code=text.code, shows=own)


def _under_units(tokens: Sequence[Token]) -> Iterator[Text]:
    """Give every bare number of a table with the unit that its column's heading names."""
    heads: list[str] = []
    column = 0
    for before, token in pairwise(tokens):
        if before.type == "thead_open":
            heads = []
        elif before.type == "tr_open":
            column = 0
        elif before.type == "th_open":
            found = HEAD_UNIT.search(plain(token.content))
            heads.append("" if found is None else found[1])
        elif before.type == "td_open":
            if column < len(heads) and heads[column] and re.fullmatch(r"[+\-−±~≈]?\d[\d.,]*", plain(token.content)):
                yield Text(f"{token.content} {heads[column]}", token.map[0] if token.map else 0)
            column += 1


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
            words.append(child.content if re.fullmatch(r"[\d.,]+", child.content) else " ")
        elif child.type == "html_inline":
            read = read_html(child.content)
            yield from (Text(said, line) for said, _ in read.said)
            words.append(" " if read.tags & BREAKING else "")
        else:
            words.append(child.content)
    yield Text("".join(words), first)


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
