"""Numbers typed by hand, and words of outcome outside a claim: both found in a page's source, with line and remedy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from markdown_it.token import Token

from reportgen.publish.literals import handed, typed
from reportgen.publish.markdown import SourcePage, parser
from reportgen.publish.numerals import OUTCOMES, measured
from reportgen.publish.problems import Problem

STRICT_KINDS = ("report", "finding", "gate", "sweep")
_BINDING = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_SPOKEN = re.compile(r"""\b(?:alt|title|aria-label)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
STATED = 'say why it is none with {{ stated("…", because="…") }}'
TYPED = "is typed within an expression, where nothing holds it to a record: ask a binding for it, or write it as text"
UNBOUND = "title and summary take no bindings, so leave it to the text"
BLANK = "\N{OBJECT REPLACEMENT CHARACTER}"


@dataclass(frozen=True)
class Text:
    """Words of a page with the line that they begin on; ``code`` marks a name set in fixed width.

    ``bound`` tells whether bindings can stand there.
    """

    words: str
    line: int
    code: bool = False
    bound: bool = True


def lint(page: SourcePage) -> list[Problem]:
    """Find bare figures everywhere on a page, and words of outcome wherever no claim says them.

    Words of outcome are grave in reports; elsewhere they are worth a warning.
    """
    problems = [Problem(f"{page.source}:{line}", f"{said!r} {TYPED}") for said, line in typed(page.body)]
    told = list(texts(page.body))
    for text in [*_head(page), *told]:
        problems += _figures(page, text)
    for text in told:
        problems += [] if text.code else _outcomes(page, text)
    for text in _head(page, claims=False):
        problems += _outcomes(page, text)
    return list(dict.fromkeys(problems))


def texts(body: str) -> Iterator[Text]:
    """Give everything on a page that a reader is told, by block and line; of bindings the words that they are handed."""
    yield from (Text(words, line, code=True) for words, line in handed(body))
    for token in parser().parse(_BINDING.sub(_blanked, body)):
        first = token.map[0] + 1 if token.map else 1
        if token.type == "inline":
            yield from _inline(token, first)
        elif token.type == "html_block":
            for place, line in enumerate(token.content.splitlines()):
                yield from (Text(words, first + place) for words in _of_html(line))
        elif token.type in ("fence", "code_block"):
            opening = token.type == "fence"
            for place, line in enumerate(token.content.splitlines(), start=opening):
                yield Text(line, first + place, code=True)


def _blanked(match: re.Match[str]) -> str:
    """Leave a mark and the line breaks in place of a binding, so that lines keep their numbers."""
    return BLANK + "\n" * match.group().count("\n")


def _inline(token: Token, first: int) -> Iterator[Text]:
    """Give the words of a block: what runs on over a line break is read as one, names in code by themselves."""
    words: list[str] = []
    for child in token.children or ():
        if child.type in ("softbreak", "hardbreak"):
            words.append("\n")
        elif child.type == "code_inline":
            yield Text(child.content, first + "".join(words).count("\n"), code=True)
            words.append(BLANK)
        elif child.type == "link_open":
            yield Text(str(child.attrGet("title") or ""), first + "".join(words).count("\n"))
        elif child.type == "html_inline":
            yield from (Text(said, first + "".join(words).count("\n")) for said in _spoken(child.content))
        else:
            words.append(child.content)
    yield Text("".join(words), first)


def _of_html(line: str) -> list[str]:
    return [*_spoken(line), _TAG.sub(" ", line)]


def _spoken(tag: str) -> list[str]:
    """Give what a tag says to those who do not see it."""
    return [one or other for one, other in _SPOKEN.findall(tag)]


def _head(page: SourcePage, *, claims: bool = True) -> Iterator[Text]:
    """Give what the front matter says, with its lines."""
    said = [("title", page.front.title), ("summary", page.front.summary)]
    said += [("says", claim.says) for claim in page.front.claims] if claims else []
    lines = {
        key: [place for place, text in enumerate(page.head, 1) if re.match(rf"\s*{key}\s*=", text)] for key, _ in said
    }
    for key, words in said:
        line = lines[key].pop(0) if lines[key] else 1
        yield Text(_BINDING.sub(BLANK, words), line, bound=key == "says")


def _figures(page: SourcePage, text: Text) -> Iterator[Problem]:
    for seen in measured(text.words):
        yield Problem(
            f"{page.source}:{text.line + text.words[: seen.start].count(chr(10))}",
            f"{seen.text!r} reads like a measured {seen.kind}: "
            + (f"ask for it with {seen.binding}, or {STATED}" if text.bound else UNBOUND),
        )


def _outcomes(page: SourcePage, text: Text) -> Iterator[Problem]:
    for match in OUTCOMES.finditer(text.words):
        yield Problem(
            f"{page.source}:{text.line + text.words[: match.start()].count(chr(10))}",
            f"{match.group()!r} says how something came out: "
            + (f"make it a claim and quote it with {{{{ claim(1) }}}}, or {STATED}" if text.bound else UNBOUND),
            grave=page.front.kind in STRICT_KINDS,
        )
