"""Sentences that a page holds itself to: each with an expression that must be true of the records, and could be false."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from reportgen.errors import InputError
from reportgen.publish import lookup
from reportgen.publish.claim_words import ClaimWords
from reportgen.publish.imagined import NUMBER
from reportgen.publish.library import Library, root_of
from reportgen.publish.markdown import PAGE_FAULTS, Claim, SourcePage
from reportgen.publish.problems import Problem
from reportgen.publish.templates import sandbox
from reportgen.publish.view import RecordView

FAULTS = (InputError, *PAGE_FAULTS)


@dataclass(frozen=True)
class Judged:
    """A claim of a page: what it says, as HTML; whether it holds; the values it rests on; the records they are of."""

    number: int
    says: Markup
    holds: str
    true: bool
    values: tuple[tuple[str, str], ...]
    records: tuple[str, ...]
    address: str
    title: str

    @property
    def anchor(self) -> str:
        """Name the place on a record's page where the claim is listed."""
        return f"claim-{lookup.slug(self.address)}-{self.number}"


class Claims:
    """The claims of one page, judged; what is wrong with them stands in ``problems``."""

    def __init__(self, page: SourcePage, library: Library, bindings: dict[str, Callable[..., Any]]) -> None:
        self._page, self._bindings = page, bindings
        self._words = ClaimWords(page, library)
        self._root = root_of(page.front.address)
        self._quoted: set[int] = set()
        self._addresses = {record.name: record.address for record in library.known()}
        self._current = {record.name for record in library.known() if record.current}
        self.problems: list[Problem] = []
        self.used: dict[str, RecordView] = {}
        self.judged = tuple(self._judge(number, claim) for number, claim in enumerate(page.front.claims, start=1))

    def quote(self, which: int | str) -> Markup:
        """Say a claim in the page's text, by its number from 1 or by its sentence.

        Raises
        ------
        InputError
            The page makes no such claim.
        """
        for claim, written in zip(self.judged, self._page.front.claims, strict=True):
            if which in (claim.number, written.says):
                return self._quotation(claim)
        raise InputError(
            f"no claim {which!r}", remedy=f"the page makes {len(self.judged)}: say [[claims]] in its front matter"
        )

    def _quotation(self, claim: Judged) -> Markup:
        first = claim.number not in self._quoted
        self._quoted.add(claim.number)
        place = Markup(' id="claim-{}"').format(claim.number) if first else Markup("")
        state = "" if claim.true else Markup(' <mark class="missing">does not hold</mark>')
        held = self._leads(claim)
        return Markup('<span class="claim"{}>{}{}{}</span>').format(place, claim.says, state, held)

    def _leads(self, claim: Judged) -> Markup:
        if not claim.records:
            return Markup("")
        href = f"{self._root}{self._addresses[claim.records[0]]}#{claim.anchor}"
        earlier = "" if set(claim.records) <= self._current else ", of an earlier record too"
        return Markup(' <a class="held" href="{}">claim {}{}</a>').format(href, claim.number, earlier)

    def _judge(self, number: int, claim: Claim) -> Judged:
        self._words.begin()
        line = _line(self._page, number)
        value: Any = False
        try:
            asked_of = _expression(claim.holds, self._words)
            value = asked_of()
            wrong = self._wrong(claim, value, asked_of)
        except FAULTS as fault:
            wrong = f"cannot be computed: {_said(fault)}"
        if wrong:
            self.problems.append(Problem(f"{self._page.source}:{line}", f"claim {number}, {claim.says!r}, {wrong}"))
        self.used.update(self._words.used)
        return Judged(
            number=number,
            says=self._filled(claim.says, line),
            holds=claim.holds,
            true=value is True and not wrong,
            values=tuple((text, _shown(found)) for text, found in self._words.values.items()),
            records=tuple(self._words.used),
            address=self._page.front.address,
            title=self._page.front.title,
        )

    def _wrong(self, claim: Claim, value: Any, again: Callable[[], Any]) -> str:
        values = self._words.values
        found = "; ".join(f"{text} is {_shown(value)}" for text, value in values.items())
        if not isinstance(value, bool):
            return f"is neither true nor false but {_shown(value)}: compare it with something"
        if not values:
            return "could not fail: it asks nothing of a record"
        if not value:
            return f"does not hold: {claim.holds}, where {found}"
        if contrary := _contrary(claim):
            return f"says {contrary[0]} and asks whether something is {contrary[1]}: {claim.holds}"
        if not self._could_fail(again):
            return f"could not fail: {claim.holds} is true whatever is measured, where {found}"
        return ""

    def _could_fail(self, again: Callable[[], Any]) -> bool:
        """Whether any record that could have been measured in place of the page's own makes the claim false."""
        return any(self._is_false(again, number) for number in range(NUMBER))

    def _is_false(self, again: Callable[[], Any], number: int) -> bool:
        with self._words.imagining(number):
            try:
                return again() is False
            except FAULTS:
                return False

    def _filled(self, says: str, line: int) -> Markup:
        """Put the bindings' values into a claim's sentence."""
        environment = sandbox()
        environment.globals.update(self._bindings)
        try:
            return Markup(environment.from_string(says).render())  # noqa: S704 - autoescaped
        except FAULTS as fault:
            self.problems.append(
                Problem(f"{self._page.source}:{line}", f"claim {says!r} cannot be said: {_said(fault)}")
            )
            return Markup.escape(says)


def _expression(text: str, words: ClaimWords) -> Callable[[], Any]:
    environment = sandbox()
    environment.globals.update(words.functions())
    return environment.compile_expression(text, undefined_to_none=False)


# Words of a sentence, and the values of an expression that speak of the same; a claim that says one and asks for the other alone is refused.
OPPOSITES = (
    {"faster": r"\bfaster\b", "slower": r"\bslower\b"},
    {"passes": r"\bpass(?:es|ed)?\b", "fails": r"\bfail(?:s|ed)?\b"},
)


def _contrary(claim: Claim) -> tuple[str, str] | None:
    """Give what a sentence says and what its expression asks for, where the two are opposites."""
    for words in OPPOSITES:
        said = [word for word, pattern in words.items() if re.search(pattern, claim.says, re.IGNORECASE)]
        asked = [word for word in words if re.search(rf"""["']{word}["']""", claim.holds)]
        if len(said) == len(asked) == 1 and said != asked:
            return said[0], asked[0]
    return None


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else repr(value)


def _said(fault: Exception) -> str:
    return fault.one_line() if isinstance(fault, InputError) else str(fault)


def _line(page: SourcePage, number: int) -> int:
    """Find the line of the number-th claim in the front matter."""
    found = [place for place, text in enumerate(page.head, start=1) if text.strip() == "[[claims]]"]
    return found[number - 1] if number <= len(found) else 1
