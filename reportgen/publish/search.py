"""The index that a reader searches: which words stand in which sections of which pages, fetched when first needed."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

ADDRESS = "search.json"
_WORD = re.compile(r"\w\w+")
# Words that stand everywhere and tell nothing apart; the page leaves them out of a question too.
_EVERYWHERE = (
    "an and are as at be been but by can do does each for from had has have if in into is it its more no not of on one "
    "only or other than that the their them then there these they this those to was were what when where which who with"
)
_REMEMBERED = 8192  # passages: those of a site that is built again and again
LEFT_OUT = frozenset(_EVERYWHERE.split())


@dataclass(frozen=True)
class Passage:
    """A section of a page: its anchor and heading (both empty for the beginning), and all its words."""

    anchor: str
    heading: str
    text: str


@dataclass(frozen=True)
class Indexed:
    """A page as search and the list of all pages know it; ``group`` names the kind of page that it is listed under."""

    title: str
    address: str
    group: str
    summary: str
    date: str
    passages: tuple[Passage, ...] = ()


class _Index(msgspec.Struct, frozen=True):
    """Pages as (title, address, group); sections as (number of the page, anchor, heading); a line a word, with the numbers of its sections."""

    pages: list[tuple[str, str, str]]
    sections: list[tuple[int, str, str]]
    words: str
    left_out: list[str]


@functools.lru_cache(maxsize=_REMEMBERED)
def words_of(text: str) -> frozenset[str]:
    """Give the words of a text in small letters; a name of several parts counts as the name and as its parts."""
    found = set(_WORD.findall(text.lower()))
    found |= {part for word in found if "_" in word for part in word.split("_") if len(part) > 1}
    return frozenset(found - LEFT_OUT)


def index(pages: Sequence[Indexed]) -> bytes:
    """Write the index as JSON, the same bytes for the same pages in the same order."""
    sections: list[tuple[int, str, str]] = []
    places: dict[str, list[int]] = {}
    for number, page in enumerate(pages):
        for passage in _passages(page):
            for word in words_of(f"{passage.heading} {passage.text}"):
                places.setdefault(word, []).append(len(sections))
            sections.append((number, passage.anchor, passage.heading))
    words = "\n".join(f"{word} {_steps(places[word])}" for word in sorted(places))
    found = _Index([(page.title, page.address, page.group) for page in pages], sections, words, sorted(LEFT_OUT))
    return msgspec.json.encode(found)


def _passages(page: Indexed) -> Iterable[Passage]:
    """Give the page's sections, the first of them with title and summary; a page without any has that one."""
    first, *rest = (
        page.passages if page.passages and not page.passages[0].anchor else (Passage("", "", ""), *page.passages)
    )
    return Passage("", "", f"{page.title} {page.summary} {first.text}"), *rest


def _steps(numbers: Sequence[int]) -> str:
    """Write rising numbers as the first and the steps between them, which are short."""
    return " ".join(str(number - before) for before, number in zip((0, *numbers), numbers, strict=False))
