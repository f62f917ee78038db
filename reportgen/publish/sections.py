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
from markupsafe import Markup

from reportgen.publish.context import Entry
from reportgen.publish.markdown import parser
from reportgen.publish.search import Passage

FEWEST = 3  # sections that make a page one with contents
UNNUMBERED = "\N{SECTION SIGN}"
_LETTERED = re.compile(r"(?:[A-Z]|\d+)\.\s")
_BREAKS = ("softbreak", "hardbreak")


@dataclass(frozen=True)
class Body:
    """A page's text, its sections where there are enough of them to be listed, and the words of each for search."""

    html: Markup
    contents: tuple[Entry, ...]
    passages: tuple[Passage, ...]


def to_body(text: str, dress: Callable[[Sequence[Token]], None] | None = None) -> Body:
    """Turn Markdown into HTML, after ``dress`` had its way with what was read.

    Of a page with several sections each heading leads to itself and has a number, unless its author has lettered any.
    """
    reader = parser()
    for rule in (heading_open, footnote_anchor):
        reader.add_render_rule(rule.__name__, rule)
    environment: dict[str, object] = {}
    tokens = reader.parse(text, environment)
    frame_tables(reader, tokens)
    contents, spoken = tuple(_number(tokens)), tuple(passages(tokens))
    if dress is not None:
        dress(tokens)
    html = Markup(reader.renderer.render(tokens, reader.options, environment))  # noqa: S704 - values were escaped where they were put in
    return Body(html, contents, spoken)


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


def frame_tables(reader: MarkdownIt, tokens: Sequence[Token]) -> None:
    """Let tables scroll in containers of their own, and give every cell the words of its column, under which it stands on a phone."""
    reader.add_render_rule("table_open", table_open)
    reader.add_render_rule("table_close", table_close)
    heads: list[str] = []
    column = 0
    for token, words in pairwise(tokens):
        if token.type == "table_open":
            heads = []
        elif token.type == "th_open":
            heads.append(plain(words))
            _class_for_style(token)
        elif token.type == "tr_open":
            column = 0
        elif token.type == "td_open":
            if column and heads[column]:
                token.attrSet("data-label", heads[column])
            column += 1
            _class_for_style(token)


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


def table_open(_self: RendererHTML, _tokens: Sequence[Token], _place: int, _options: OptionsDict, _env: EnvType) -> str:
    """Open a table within a container that it scrolls in."""
    return '<div class="scroll stack" tabindex="0" role="region" aria-label="Table"><table>\n'


def table_close(
    _self: RendererHTML, _tokens: Sequence[Token], _place: int, _options: OptionsDict, _env: EnvType
) -> str:
    """Close a table and its container."""
    return "</table></div>\n"


def footnote_anchor(
    renderer: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: EnvType
) -> str:
    """Lead back from a footnote, in words for those who do not see the arrow."""
    label = renderer.rules["footnote_anchor_name"](tokens, place, options, env)
    again = tokens[place].meta.get("subId", 0)
    href = f"#fnref{label}" + (f":{again}" if again > 0 else "")
    return f' <a href="{href}" class="footnote-backref" aria-label="Back to the text">\N{UPWARDS ARROW}</a>'
