"""The words of the glossary: an anchor for each in the documentation, and a link from where a page first uses it.

The glossary is the page ``glossary.md`` of the documentation; the first cell of each row of its tables is a term.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from markdown_it.token import Token
from markupsafe import escape

from reportgen.publish.manual import Manual, ManualPage, reader
from reportgen.publish.sections import plain

FILE = "glossary.md"
_OPENS, _CLOSES = re.compile(r"<a\b"), re.compile(r"</a\b")


def is_glossary(page: ManualPage) -> bool:
    """Tell whether a page of the documentation is the glossary."""
    return page.source.rpartition("/")[2] == FILE


def terms(manual: Manual) -> dict[str, str]:
    """Give the address of every term's row by the term in small letters; nothing where there is no glossary."""
    found = {}
    for page in manual.pages.values():
        if is_glossary(page):
            found.update({term.lower(): f"{page.address}#{anchor}" for term, anchor in mark(reader().parse(page.body))})
    return found


def mark(tokens: Sequence[Token]) -> list[tuple[str, str]]:
    """Set an anchor on every row that defines a term, and give the terms with their anchors."""
    found = []
    row: Token | None = None
    for token, words in pairwise(tokens):
        if token.type == "tr_open":
            row = token
        elif token.type == "td_open" and row is not None:
            term = plain(words)
            anchor = f"term-{re.sub(r'[^a-z0-9]+', '-', term.lower()).strip('-')}"
            row.attrSet("id", anchor)
            row = None
            found.append((term, anchor))
    return found


def link(tokens: Sequence[Token], known: Mapping[str, str], root: str) -> None:
    """Link the first use of each term in paragraphs and lists to its row; a plural counts as a use."""
    if not known:
        return
    left = dict(known)
    longest_first = "|".join(re.escape(term) for term in sorted(known, key=lambda term: (-len(term), term)))
    pattern = re.compile(rf"\b({longest_first})(s?)\b", re.IGNORECASE)
    for before, token in pairwise(tokens):
        if before.type == "paragraph_open" and token.children:
            token.children = [
                piece for child in _outside_links(token.children) for piece in _linked(child, pattern, left, root)
            ]


def _outside_links(children: Sequence[Token]) -> Iterator[tuple[Token, bool]]:
    """Give each piece of a paragraph, and whether a link may begin in it."""
    depth = 0
    for child in children:
        if child.type == "html_inline":
            depth += len(_OPENS.findall(child.content)) - len(_CLOSES.findall(child.content))
        elif child.type in ("link_open", "link_close"):
            depth += child.nesting
        yield child, depth == 0 and child.type == "text"


def _linked(found: tuple[Token, bool], pattern: re.Pattern[str], left: dict[str, str], root: str) -> Iterator[Token]:
    child, free = found
    if not free:
        yield child
        return
    end = 0
    for match in pattern.finditer(child.content):
        address = left.pop(match[1].lower(), None)
        if address is not None:
            yield _text(child.content[end : match.start()])
            yield Token(
                "html_inline", "", 0, content=f'<a class="term" href="{escape(root + address)}">{escape(match[0])}</a>'
            )
            end = match.end()
    yield _text(child.content[end:])


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)
