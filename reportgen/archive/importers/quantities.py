"""Numbers and units of other harnesses: read only where the reading is certain, converted to ns, and judged."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

from reportgen.errors import InputError
from reportgen.model.imported import RowStatus, Sample
from reportgen.units import NS_PER_MS, NS_PER_S, NS_PER_US

_S_PER_MINUTE = 60
_S_PER_HOUR = 3600
_S_PER_DAY = 86_400
NS = {
    **dict.fromkeys(("ns", "nsec", "nsecond", "nanosecond", "nanoseconds"), 1),
    **dict.fromkeys(("us", "usec", "usecond", "µs", "μs", "microsecond", "microseconds"), NS_PER_US),
    **dict.fromkeys(("ms", "msec", "msecond", "millisecond", "milliseconds"), NS_PER_MS),
    **dict.fromkeys(("s", "sec", "second", "seconds"), NS_PER_S),
    **dict.fromkeys(("min", "minute", "minutes"), _S_PER_MINUTE * NS_PER_S),
    **dict.fromkeys(("hr", "h", "hour", "hours"), _S_PER_HOUR * NS_PER_S),
    **dict.fromkeys(("day", "days"), _S_PER_DAY * NS_PER_S),
}
ABSURD_NS = 2.0**63 - 1
_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)
_NUMERAL = re.compile(r"[+-]?\d[\d.,]*")
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
_GROUPED_BY_POINT = re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d+)?")
_COMMA_DECIMAL = re.compile(r"[+-]?\d+,\d+")
_AMBIGUOUS = re.compile(r"[+-]?\d{1,3},\d{3}")


def factor_of(unit: str, where: str) -> int:
    """Nanoseconds in one ``unit``.

    Raises
    ------
    InputError
        It is no unit of time.
    """
    if unit not in NS:
        raise InputError(f"unit {unit!r} is none of time", where=where, remedy="known are ns, us, ms and s")
    return NS[unit]


def number(value: Any) -> float | None:
    """Give a JSON number, or a text that is one, as float; None for anything else. NaN and infinities are numbers here."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    if isinstance(value, str) and (_PLAIN.fullmatch(value.strip()) or _NOT_FINITE.fullmatch(value.strip())):
        return float(value)
    return None


def finite(value: Any) -> float | None:
    """As :func:`number`, and None for what is not finite."""
    found = number(value)
    return found if found is not None and math.isfinite(found) else None


def whole(value: Any) -> int | None:
    """Give a number that is whole and fits 64 bits, as int; None for anything else."""
    found = finite(value)
    return int(found) if found is not None and found == int(found) and abs(found) < ABSURD_NS else None


class Signs:
    """How a table writes numbers: ``decimal`` is ``.`` or ``,``, or empty where nothing in the table tells.

    Evidence is any cell in which both signs stand, thousands that repeat, or a comma that cannot group thousands.
    """

    def __init__(self, cells: Iterable[str]) -> None:
        found = {kind for cell in cells if "," in cell and (kind := self._evidence(cell.strip()))}
        self.mixed = len(found) > 1
        self.decimal = found.pop() if len(found) == 1 else ""

    @staticmethod
    def _evidence(cell: str) -> str:
        if not _NUMERAL.fullmatch(cell) or _AMBIGUOUS.fullmatch(cell):
            return ""
        if _GROUPED.fullmatch(cell):
            return "."
        return "," if _COMMA_DECIMAL.fullmatch(cell) or _GROUPED_BY_POINT.fullmatch(cell) else ""

    def read(self, cell: str, where: str) -> float | None:
        """Read a cell; None where it is empty or no number.

        Raises
        ------
        InputError
            It is a number that can be read in two ways.
        """
        text = cell.strip()
        if self.decimal != "," and (_PLAIN.fullmatch(text) or _NOT_FINITE.fullmatch(text)):
            return float(text)
        if not _NUMERAL.fullmatch(text):
            return number(text)
        if self.mixed or ("," in text and not self.decimal):
            raise InputError(
                f"{text!r} may be read with a decimal or a thousands comma",
                where=where,
                remedy="write numbers with a point and without separators",
            )
        return self._signed(text, where)

    def _signed(self, text: str, where: str) -> float:
        if self.decimal == ".":
            plain = text.replace(",", "") if _GROUPED.fullmatch(text) else text
        elif _GROUPED_BY_POINT.fullmatch(text) or "." not in text:
            plain = text.replace(".", "").replace(",", ".")
        else:
            plain = ""
        if not _PLAIN.fullmatch(plain):
            raise InputError(f"{text!r} is written unlike the numbers around it", where=where)
        return float(plain)


def timed(told: Any, unit: str, order: int, place: str, **facts: Any) -> Sample:
    """Make a sample out of a time as the source has it.

    A time that is missing, negative, not finite or beyond 64 bits of nanoseconds is an error; zero stays, as less than the clock can tell.

    Raises
    ------
    InputError
        ``unit`` is none of time.
    """
    factor = factor_of(unit, place)
    value = told if isinstance(told, float) else number(told)
    return _judged(value, factor, unit, order, place, facts)


def rated(told: Any, unit: str, order: int, place: str, **facts: Any) -> Sample:
    """Make a sample out of a rate; judged as :func:`timed` judges times, kept in its own unit."""
    value = told if isinstance(told, float) else number(told)
    return _judged(value, 1, unit, order, place, facts)


def _judged(value: float | None, factor: int, unit: str, order: int, place: str, facts: dict[str, Any]) -> Sample:  # noqa: PLR0913, PLR0917 - the parts of one sample
    fault = fault_of(value, factor)
    status = facts.pop("status", RowStatus.OK)
    reason = facts.pop("reason", "")
    if fault and status is RowStatus.OK:
        status, reason = RowStatus.ERROR, fault
    shown = None if fault or value is None else value * factor
    told = "" if value is None else repr(value)
    return Sample(value=shown, told=told, unit=unit, order=order, place=place, status=status, reason=reason, **facts)


def fault_of(value: float | None, factor: int = 1) -> str:
    """Say why a value is no time (or rate); empty where it is one."""
    if value is None:
        return "there is no time"
    if not math.isfinite(value):
        return "the time is not a number" if math.isnan(value) else "the time is not finite"
    if value < 0:
        return "the time is negative"
    return "the time is beyond 64 bits of nanoseconds" if max(value, value * factor) >= ABSURD_NS else ""


def reported_ns(value: Any, unit: str, place: str) -> float | None:
    """Give a figure that the source states, in ns; None where it is none that a time can be."""
    found, factor = number(value), factor_of(unit, place)
    return None if fault_of(found, factor) or found is None else found * factor
