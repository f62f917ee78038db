"""Finished pages, kept beside the lab under a hash of everything that they came from.

What a page comes from is known in two steps. Before it is made: the program and its libraries, the theme, the settings, and the parts that it is made of.
While it is made: the questions that it asks of the library (:mod:`reportgen.publish.library`). So the questions are kept under the first, and the page under
the first with every question and the hash of its answer. Questions kept earlier only say where to look: other answers, or other questions, are
another key.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import msgspec
from markupsafe import Markup

from reportgen.publish.cache import ASKED, PAGES, Cache
from reportgen.publish.claims import Judged
from reportgen.publish.hashes import digest
from reportgen.publish.library import Question
from reportgen.publish.links import Found
from reportgen.publish.preview import Picture
from reportgen.publish.problems import Problem
from reportgen.publish.search import Indexed


class Drawing(msgspec.Struct, frozen=True):
    """A chart by the id it has on a page: as inline SVG, and what it shows as CSV, where that is a table."""

    anchor: str
    svg: str
    numbers: bytes | None


class Grown(msgspec.Struct, array_like=True):
    """What making a page adds to a site: files of HTML, each with its source, and all that was noted on the way.

    ``asked`` is what the page asked of the library.
    """

    made: list[tuple[str, str, bytes]] = []
    found: list[tuple[str, Found]] = []
    indexed: list[Indexed] = []
    pictures: list[tuple[str, Picture]] = []
    problems: list[Problem] = []
    claims: list[Judged] = []
    drawn: list[Drawing] = []
    asked: list[Question] = []

    def add(self, more: Grown) -> None:
        """Add what another page added."""
        for name in self.__struct_fields__:
            getattr(self, name).extend(getattr(more, name))


class Shelf:
    """Finds and keeps pages that come from ``common`` besides their own parts; ``answered`` hashes the answer to a question."""

    def __init__(self, cache: Cache, common: Iterable[bytes | str], answered: Callable[[Question], str]) -> None:
        self._cache, self._common, self._answered = cache, digest(common), answered

    def find(self, name: Hashable, parts: tuple[Any, ...]) -> Grown | None:
        """Give what making the page would add; nothing where it must be made."""
        own = self._own(name, parts)
        try:
            asked = msgspec.json.decode(self._cache.find(ASKED, own), type=list[Question])
            kept = self._cache.find(PAGES, self._key(own, asked))
            return msgspec.msgpack.decode(kept, type=Grown, dec_hook=_marked)
        except msgspec.MsgspecError:
            return None

    def keep(self, name: Hashable, parts: tuple[Any, ...], made: Grown) -> None:
        """Keep what making the page added."""
        own = self._own(name, parts)
        self._cache.keep(PAGES, self._key(own, made.asked), msgspec.msgpack.encode(made, enc_hook=str))
        self._cache.keep(ASKED, own, msgspec.json.encode(made.asked))

    def _own(self, name: Hashable, parts: tuple[Any, ...]) -> str:
        return digest([self._common, msgspec.json.encode((name, parts), enc_hook=str)])

    def _key(self, own: str, asked: Sequence[Question]) -> str:
        return digest([own, *(part for one in asked for part in (*one, self._answered(one)))])


def _marked(kind: type, text: str) -> Markup:
    if kind is not Markup:
        raise NotImplementedError(kind)
    return Markup(text)  # noqa: S704 - as the page had it
