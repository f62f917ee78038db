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

    ``asked`` is what the page asked of the library, with the hash of each answer.
    """

    made: list[tuple[str, str, bytes]] = []
    found: list[tuple[str, Found]] = []
    indexed: list[Indexed] = []
    pictures: list[tuple[str, Picture]] = []
    problems: list[Problem] = []
    claims: list[Judged] = []
    drawn: list[Drawing] = []
    asked: list[tuple[Question, str]] = []

    def add(self, more: Grown) -> None:
        """Add what another page added."""
        for name in self.__struct_fields__:
            getattr(self, name).extend(getattr(more, name))


class Shelf:
    """Finds and keeps pages that come from ``common`` besides their own parts; ``answered`` hashes the answer to a question.

    Nothing is kept once what is common is not ``steady``: a template that was saved meanwhile may have been read before or after.
    """

    def __init__(
        self,
        cache: Cache,
        common: Iterable[bytes | str],
        answered: Callable[[Question], str],
        steady: Callable[[], bool] = lambda: True,
    ) -> None:
        self._cache, self._common, self._answered, self._steady = cache, digest(common), answered, steady

    def find(self, name: Hashable, parts: tuple[Any, ...]) -> Grown | None:
        """Give what making the page would add; nothing where it must be made."""
        own = self._own(name, parts)
        try:
            asked = msgspec.json.decode(self._cache.find(ASKED, own), type=list[Question])
            kept = self._cache.find(PAGES, _key(own, [(one, self._answered(one)) for one in asked]))
            return msgspec.msgpack.decode(kept, type=Grown, dec_hook=_marked)
        except msgspec.MsgspecError:
            return None

    def keep(self, name: Hashable, parts: tuple[Any, ...], made: Grown) -> None:
        """Keep what making the page added."""
        if self._steady():
            own = self._own(name, parts)
            self._cache.keep(PAGES, _key(own, made.asked), msgspec.msgpack.encode(made, enc_hook=str))
            self._cache.keep(ASKED, own, msgspec.json.encode([question for question, _ in made.asked]))

    def _own(self, name: Hashable, parts: tuple[Any, ...]) -> str:
        return digest([self._common, msgspec.json.encode((name, parts), enc_hook=str)])


def _key(own: str, asked: Sequence[tuple[Question, str]]) -> str:
    return digest([own, *(part for question, answer in asked for part in (*question, answer))])


def _marked(kind: type, text: str) -> Markup:
    if kind is not Markup:
        raise NotImplementedError(kind)
    return Markup(text)  # noqa: S704 - as the page had it
