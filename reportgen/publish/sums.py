"""Figures that know their value, and sums and products of them, each derived line by line on the page that says it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from reportgen.errors import InputError
from reportgen.publish import wording
from reportgen.publish.context import Column, Row, Table
from reportgen.publish.linked import linked
from reportgen.publish.tables import figure, word

RATIO, TIME, SAVED, COUNT = "ratio", "ns", "saved", "count"
SAY: Mapping[str, Callable[[float], str]] = {
    RATIO: wording.change,
    TIME: wording.signed_time,
    SAVED: lambda value: wording.percent(value, decimals=2),
    COUNT: wording.plain_number,
}
LINE_PARTS = (2, 3)


@dataclass(frozen=True)
class Amount:
    """What a figure is: its full ``value`` in a ``unit`` (empty where it cannot be added up), its ``text`` and where it leads."""

    value: float
    unit: str
    text: str
    href: str


class Figure(Markup):
    """A figure with its link, ready for a page, that still knows its value."""

    amount: Amount | None = None


def figure_of(amount: Amount, shown: float | str | None = None) -> Figure:
    """Make a figure that leads to its derivation; ``shown`` is its value where that is no number."""
    made = Figure(linked(amount.text, amount.value if shown is None else shown, amount.href))
    made.amount = amount
    return made


def unlinked(amount: Amount) -> Figure:
    """Make a figure that is declared and not measured, so that no record derives it."""
    made = Figure(Markup('<data value="{}">{}</data>').format(repr(amount.value), amount.text))
    made.amount = amount
    return made


@dataclass(frozen=True)
class Line:
    """A line of a sum or product: words, the figure (or plain number), and how often it is taken."""

    words: str
    amount: Amount
    factor: float


class Sums:
    """The sums and products of one page, in the order in which they were asked for; ``tables`` derive them."""

    def __init__(self) -> None:
        self.tables: list[Table] = []

    def sum_of(self, title: str, lines: Sequence[Any]) -> Figure:
        """Add figures of one unit, each times its factor; of changes the changes are added, not the ratios.

        Raises
        ------
        InputError
            A line is none, or units differ.
        """
        read = [_line(one) for one in lines]
        unit = _only_unit(read)
        start = 1.0 if unit == RATIO else 0.0
        parts = [one.factor * (one.amount.value - start) for one in read]
        total = start + math.fsum(parts)
        cells = [(SAY[unit](one.amount.value), start + part) for one, part in zip(read, parts, strict=True)]
        return self._derived(
            title, unit, total, [_row(one, *cell, unit) for one, cell in zip(read, cells, strict=True)]
        )

    def product_of(self, title: str, lines: Sequence[Any]) -> Figure:
        """Multiply figures: ratios with each other, or one figure with counts and plain numbers.

        Raises
        ------
        InputError
            A line is none, or several have a unit that cannot be multiplied.
        """
        read = [_line(one) for one in lines]
        units = [one.amount.unit for one in read if one.amount.unit != COUNT]
        if len(units) > 1 and set(units) != {RATIO}:
            raise InputError(f"{title!r} multiplies {wording.names(units)}", remedy="multiply one of them with counts")
        unit = units[0] if units else COUNT
        total = math.prod(one.amount.value * one.factor for one in read)
        rows = [
            _row(one, SAY[one.amount.unit](one.amount.value), one.amount.value * one.factor, one.amount.unit)
            for one in read
        ]
        return self._derived(title, unit, total, rows)

    def _derived(self, title: str, unit: str, total: float, rows: Sequence[Row]) -> Figure:
        text = SAY[unit](total)
        last = Row(word(title), (word(""), word(""), figure(text, total)), first=True)
        for table in self.tables:
            if table.rows == (*rows, last):
                return figure_of(Amount(total, unit, text, f"#{table.anchor}"))
        anchor = f"sum-{len(self.tables) + 1}"
        self.tables.append(
            Table(
                caption=title,
                stub="Line",
                columns=tuple(Column(name, figure=True) for name in ("figure", "times", "amount")),
                rows=(*rows, last),
                anchor=anchor,
                note="From the full values of the figures, rounded once, at the end. Each figure leads to its own derivation.",
            )
        )
        return figure_of(Amount(total, unit, text, f"#{anchor}"))


def _line(given: Any) -> Line:
    """Read ``(words, figure)`` or ``(words, figure, factor)``; a plain number may stand in a figure's place."""
    if not isinstance(given, list | tuple) or len(given) not in LINE_PARTS or not isinstance(given[0], str):
        raise InputError("a line is (words, figure) or (words, figure, factor)", remedy="write it so")
    amount, factor = getattr(given[1], "amount", None), given[2] if len(given) > LINE_PARTS[0] else 1
    if _is_number(given[1]):
        amount = Amount(float(given[1]), COUNT, wording.plain_number(given[1]), "")
    if not isinstance(amount, Amount) or not amount.unit:
        raise InputError(f"{given[0]!r} is no figure that can be added up", remedy="use change, time, gate, count ...")
    if not _is_number(factor):
        raise InputError(f"{given[0]!r} is taken {factor!r} times, which is no number", remedy="write a number")
    return Line(given[0], amount, float(factor))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _only_unit(lines: Sequence[Line]) -> str:
    units = list(dict.fromkeys(one.amount.unit for one in lines))
    if len(units) != 1:
        raise InputError(f"a sum of {wording.names(units) or 'nothing'}", remedy="add figures of one unit")
    return units[0]


def _row(line: Line, said: str, amount: float, unit: str) -> Row:
    times = word("") if line.factor == 1 else figure(wording.plain_number(line.factor), line.factor)
    shown = figure(said, line.amount.value, href=line.amount.href)
    return Row(word(line.words), (shown, times, figure(SAY[unit](amount), amount)))
