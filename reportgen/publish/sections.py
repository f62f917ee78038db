"""The text of a page that people write as HTML: headings in numbered sections that can be linked to, tables that scroll by themselves."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup, escape

from reportgen.publish import footnotes
from reportgen.publish.aligning import are_figures, tones
from reportgen.publish.context import Entry
from reportgen.publish.markdown import parser
from reportgen.publish.search import Passage

FEWEST = 3  # sections that make a page one with contents
TOLD = 40  # characters that make a cell one of words, which takes a line's whole width on a phone
UNNUMBERED = "\N{SECTION SIGN}"
_LETTERED = re.compile(r"(?:[A-Z]|\d+)\.\s")
_REACHED = '<pre tabindex="0">'
_Held = tuple[Token, str]
_BREAKS = ("softbreak", "hardbreak")


@dataclass(frozen=True)
class Body:
    """A page's text, its sections where there are enough of them to be listed, the words of each for search, and whether it has footnotes."""

    html: Markup
    contents: tuple[Entry, ...]
    passages: tuple[Passage, ...]
    notes: bool = False


def to_body(text: str, dress: Callable[[Sequence[Token]], None] | None = None) -> Body:
    """Turn Markdown into HTML, after ``dress`` had its way with what was read.

    Of a page with several sections each heading leads to itself and has a number, unless its author has lettered any.
    """
    reader = parser()
    reader.add_render_rule("heading_open", heading_open)
    footnotes.dress(reader)
    environment: dict[str, object] = {}
    tokens = reader.parse(text, environment)
    frame_wide(reader, tokens)
    contents, spoken = tuple(_number(tokens)), tuple(passages(tokens))
    if dress is not None:
        dress(tokens)
    html = Markup(reader.renderer.render(tokens, reader.options, environment))  # noqa: S704 - values were escaped where they were put in
    return Body(html, contents, spoken, footnotes.are_in(tokens))


def _number(tokens: Sequence[Token]) -> Iterator[Entry]:
    """Mark the headings of the second and third level, and list those of the second."""
    heads = [(token, words) for token, words in pairwise(tokens) if _is_section(token)]
    if sum(token.tag == "h2" for token, _ in heads) < FEWEST:
        return
    lettered = any(_LETTERED.match(words.content) for _, words in heads)
    chapter = part = 0
    for token, words in heads:
        chapter, part = (chapter + 1, 0) if token.tag == "h2" else (chapter, part + 1)
        number = "" if lettered else f"{chapter}.{part}" if part else str(chapter)
        token.meta = {**token.meta, "number": number or UNNUMBERED}
        if token.tag == "h2":
            yield Entry(number, plain(words), f"#{token.attrGet('id')}")


def frame_wide(reader: MarkdownIt, tokens: Sequence[Token]) -> None:
    """Let tables and code scroll by themselves, and give every cell the words of its column, under which it stands on a phone."""
    for rule in (table_open, table_close, fence, code_block):
        reader.add_render_rule(rule.__name__, rule)
    column = number = 0
    columns: dict[int, list[_Held]] = {}
    for token, words in pairwise(tokens):
        if token.type == "table_open":
            columns, number = {}, number + 1
            token.meta = {**token.meta, "number": number, "columns": columns}
        elif token.type == "tr_open":
            column = 0
        elif token.type in ("th_open", "td_open"):
            _class_for_style(token)
            columns.setdefault(column, []).append((token, plain(words)))
            column += 1
        if words.type == "table_close":
            for place, held in columns.items():
                _dress_column(held, labelled=place > 0)


def _dress_column(held: Sequence[_Held], *, labelled: bool) -> None:
    """Set figures in line on their decimal point, let long words take a phone's whole width, name every cell by its column."""
    (head, name), *cells = held
    texts = [text for _, text in cells]
    if labelled and are_figures(texts):
        head.attrSet("class", "n")
        for (token, _), tone in zip(cells, tones(texts), strict=True):
            token.attrSet("class", f"n{tone}")
    for token, text in cells if labelled else ():
        if len(text) > TOLD:
            token.attrSet("class", "told")
        if name:
            token.attrSet("data-label", name)


def _class_for_style(cell: Token) -> None:
    """Align a cell by class: a strict policy allows no style of its own."""
    if cell.attrs.pop("style", "") == "text-align:right":
        cell.attrSet("class", "n")


def _is_section(token: Token) -> bool:
    return token.type == "heading_open" and token.tag in ("h2", "h3") and token.attrGet("id") is not None


def passages(tokens: Sequence[Token]) -> Iterator[Passage]:
    """Give the words of each section, and of what stands before the first."""
    anchor = heading = ""
    words: list[str] = []
    for before, token in pairwise(tokens):
        if _is_section(before):
            yield Passage(anchor, heading, " ".join(words))
            anchor, heading, words = str(before.attrGet("id")), plain(token), []
        elif token.type == "inline":
            words.append(plain(token))
    yield Passage(anchor, heading, " ".join(words))


def plain(inline: Token) -> str:
    """Give the words of a heading without what marks them."""
    words = (
        "\n" if child.type in _BREAKS else child.content for child in inline.children or () if "html" not in child.type
    )
    return " ".join("".join(words).split())


def heading_open(
    renderer: RendererHTML, tokens: Sequence[Token], place: int, _options: OptionsDict, _env: EnvType
) -> str:
    """Open a heading; that of a section begins with its number, which leads to it."""
    token = tokens[place]
    number = token.meta.get("number", "")
    opened = f"<{token.tag}{renderer.renderAttrs(token)}>"
    named = f"Section {number}" if number != UNNUMBERED else "This section"
    return opened + (
        f'<a class="here" href="#{token.attrGet("id")}" aria-label="{named}">{number}</a> ' if number else ""
    )


def table_open(_self: RendererHTML, tokens: Sequence[Token], place: int, _options: OptionsDict, _env: EnvType) -> str:
    """Open a table within a container that it scrolls in, which is named by its headings."""
    said = tokens[place].meta
    heads = [held[0][1] for held in said["columns"].values()]
    label = escape(f"Table {said['number']}: {', '.join(head for head in heads if head)}")
    return f'<div class="scroll stack" tabindex="0" role="region" aria-label="{label}"><table>\n'


def table_close(
    _self: RendererHTML, _tokens: Sequence[Token], _place: int, _options: OptionsDict, _env: EnvType
) -> str:
    """Close a table and its container."""
    return "</table></div>\n"


def fence(renderer: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: EnvType) -> str:
    """Write fenced code, which the keyboard can scroll where it is wider than the page."""
    return RendererHTML.fence(renderer, tokens, place, options, env).replace("<pre>", _REACHED, 1)


def code_block(renderer: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: EnvType) -> str:
    """Write indented code in the same way."""
    return RendererHTML.code_block(renderer, tokens, place, options, env).replace("<pre>", _REACHED, 1)
