"""Footnotes as HTML: a number that leads to the note and names it, a note that leads back. ``notes.js`` opens them in place."""

from __future__ import annotations

from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict


def dress(reader: MarkdownIt) -> None:
    """Let a reader of Markdown write footnotes so."""
    for rule in (footnote_ref, footnote_block_open, footnote_anchor):
        reader.add_render_rule(rule.__name__, rule)


def are_in(tokens: Sequence[Token]) -> bool:
    """Tell whether a text has any."""
    return any(token.type == "footnote_block_open" for token in tokens)


def footnote_ref(
    renderer: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: EnvType
) -> str:
    """Lead to a footnote; a number by itself says little to those who hear a list of links."""
    label = renderer.rules["footnote_anchor_name"](tokens, place, options, env)
    number = tokens[place].meta["id"] + 1
    return (
        f'<sup class="footnote-ref"><a href="#fn{label}" id="fnref{label}{_again(tokens[place])}" role="doc-noteref" '
        f'aria-label="Footnote {number}">{number}</a></sup>'
    )


def footnote_block_open(
    _self: RendererHTML, _tokens: Sequence[Token], _place: int, _options: OptionsDict, _env: EnvType
) -> str:
    """Open the notes at the foot of a page, by name."""
    return '<section class="footnotes" role="doc-endnotes" aria-label="Footnotes">\n<ol class="footnotes-list">\n'


def footnote_anchor(
    renderer: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: EnvType
) -> str:
    """Lead back from a footnote, in words for those who do not see the arrow."""
    label = renderer.rules["footnote_anchor_name"](tokens, place, options, env)
    href = f"#fnref{label}{_again(tokens[place])}"
    return f' <a href="{href}" class="footnote-backref" aria-label="Back to the text">\N{UPWARDS ARROW}</a>'


def _again(token: Token) -> str:
    """Tell the later references to one note apart."""
    again = token.meta.get("subId", 0)
    return f":{again}" if again > 0 else ""
