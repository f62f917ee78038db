"""Numbers typed by hand, and words of outcome outside a claim: both found in a page's source, with line and remedy."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reportgen.publish.literals import barred, typed
from reportgen.publish.markdown import SourcePage
from reportgen.publish.numerals import OUTCOMES, UNIT, measured, plain
from reportgen.publish.page_text import BLANK, Text, reduced, refused, texts
from reportgen.publish.problems import Problem

STRICT_KINDS = ("report", "finding", "gate", "sweep")
STATED = 'say why it is none with {{ stated("…", because="…") }}'
TYPED = "is typed within an expression, or worked out there, where nothing holds it to a record: ask a binding for it, or write it as text"
UNBOUND = "title, summary and address take no bindings, so leave it to the text"
WORDED = "a binding says its figure whole, with sign, unit and direction"
_MARK = re.compile(rf"(?:[+\-−±]|\d[.,]?|{BLANK})\s*$")
_MORE = re.compile(rf"[.,]?\d|{BLANK}|\s+(?:percent|less|more|longer|shorter|faster|slower|quicker)\b")
_DIRECTED = ("change", "interval", "change_on")
_UNITS = {"ms": r"\s*ms\b", "s": r"\s*(?:s|seconds?)\b", "mib": r"\s*MiB\b"}
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")


def lint(page: SourcePage) -> list[Problem]:
    """Find bare figures everywhere on a page, words of outcome wherever no claim says them, and what could alter a binding's figure.

    Words of outcome are grave in reports; elsewhere they are worth a warning.
    """
    problems = [Problem(f"{page.source}:{line}", f"{said!r} {TYPED}") for said, line in typed(page.body)]
    problems += [Problem(f"{page.source}:{line}", said) for said, line in [*barred(page.body), *refused(page.body)]]
    said = list(texts(page.body))
    for text in [*_head(page), *said]:
        problems += [*_figures(page, text), *_around(page, text)]
    for text in said:
        problems += [] if text.code else _outcomes(page, text)
    for text in _head(page, claims=False):
        problems += _outcomes(page, text)
    return list(dict.fromkeys(problems))


def _head(page: SourcePage, *, claims: bool = True) -> Iterator[Text]:
    """Give what the front matter says, with its lines."""
    said = [
        ("title", page.front.title),
        ("short", page.front.short),
        ("summary", page.front.summary),
        ("address", re.sub("[-/._]", " ", page.front.address)),
    ]
    said += [("says", claim.says) for claim in page.front.claims] if claims else []
    lines = {
        key: [place for place, text in enumerate(page.head, 1) if re.match(rf"\s*{key}\s*=", text)] for key, _ in said
    }
    for key, words in said:
        line = lines[key].pop(0) if lines[key] else 1
        told = reduced(words)
        yield Text(told.text, line, bound=key == "says", shows=told.shows)


def _figures(page: SourcePage, text: Text) -> Iterator[Problem]:
    words = plain(text.words)
    if _BIDI.search(text.words):
        yield Problem(f"{page.source}:{text.line}", "a mark that turns the direction of writing is not for pages")
    for seen in measured(words):
        yield Problem(
            f"{page.source}:{text.line + words[: seen.start].count(chr(10))}",
            f"{seen.text!r} reads like a measured {seen.kind}: "
            + (f"ask for it with {seen.binding}, or {STATED}" if text.bound else UNBOUND),
        )


def _around(page: SourcePage, text: Text) -> Iterator[Problem]:
    """Look at what stands right before and after a figure that a binding says: a digit, sign, unit or direction would change it."""
    words = plain(text.words)
    for match, shown in zip(re.finditer(BLANK, words), text.shows, strict=False):
        before, after = _MARK.search(words[: match.start()]), _altering(words[match.end() :], shown)
        if after or (before and (before.group().strip() == before.group())):
            near = words[max(0, match.start() - 12) : match.end() + 12].replace(BLANK, "…").strip()
            line = text.line + words[: match.start()].count("\n")
            yield Problem(f"{page.source}:{line}", f"{near!r} changes what {shown} says: {WORDED}")


def _altering(rest: str, shown: str) -> bool:
    name, field = re.match(r"\w*", shown), re.search(r"\)\.(\w+)$", shown)
    said = "" if name is None else name.group()
    if said in ("stated", "published", "link", "patch", "claim", "table", "chart", "answer", "downloads", "fact"):
        return False
    if field is not None:
        unit = _UNITS.get(field.group(1).rpartition("_")[2])
        if unit is not None:
            return re.match(unit, rest) is None and UNIT.match(rest) is not None
    more = _MORE.match(rest)
    directed = more is not None and more.group()[:1].isspace()
    return UNIT.match(rest) is not None or (more is not None and (not directed or said in _DIRECTED))


def _outcomes(page: SourcePage, text: Text) -> Iterator[Problem]:
    words = plain(text.words)
    for match in OUTCOMES.finditer(words):
        yield Problem(
            f"{page.source}:{text.line + words[: match.start()].count(chr(10))}",
            f"{match.group()!r} says how something came out: "
            + (f"make it a claim and quote it with {{{{ claim(1) }}}}, or {STATED}" if text.bound else UNBOUND),
            grave=page.front.kind in STRICT_KINDS,
        )
