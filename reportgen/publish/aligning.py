"""What a table's cells need to stand in line: figures on their decimal point, and on a phone each under its column's words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from markupsafe import Markup

from reportgen.publish.context import Table

MOST_DIGITS = 4  # more is another kind of figure, not a ragged one
_FIGURE = re.compile(r"[±+−-]?[\d,]+(?:\.(\d+))?(\D*)")
# Each a thousandth of the one before it.
_TIMES = (" s", " ms", " \N{MICRO SIGN}s", " ns")
_STEP = 3


def figure_tones(table: Table) -> list[list[str]]:
    """Give, row by row, the class names by which each figure ends as far right of its decimal point as the longest of its column.

    ``d2`` stands for two decimals fewer, ``w2`` for two fewer and no point. A column whose units differ is left as it is: figures in line
    on their point would read as if they had one unit. Its heading says so.
    """
    columns = [
        tones(_texts(table, place)) if column.figure else [""] * len(table.rows)
        for place, column in enumerate(table.columns)
    ]
    return [list(row) for row in zip(*columns, strict=True)] if columns else [[] for _ in table.rows]


def are_figures(texts: Sequence[str]) -> bool:
    """Tell whether a column holds figures and nothing else, but for cells left empty."""
    held = [text for text in texts if text.strip("\N{EN DASH} ")]
    return bool(held) and all(_FIGURE.fullmatch(text) for text in held)


def tones(texts: Sequence[str]) -> list[str]:
    """Give the class name of each figure of one column, with a space before it."""
    found = [_FIGURE.fullmatch(text) for text in texts]
    decimals = [len(match[1] or "") if match else 0 for match in found]
    most = max(decimals, default=0)
    if not 0 < most <= MOST_DIGITS or len(_units(texts)) > 1:
        return [""] * len(texts)
    return [
        "" if match is None or own == most else f" {'d' if own else 'w'}{most - own}"
        for match, own in zip(found, decimals, strict=True)
    ]


def in_one_unit(table: Table) -> Table:
    """Say the times of a column in one unit, by moving the decimal point alone; where that would make up digits, they stay as they are."""
    said = {place: _in_one_unit(_texts(table, place)) for place, column in enumerate(table.columns) if column.figure}
    changed = {place: texts for place, texts in said.items() if texts != _texts(table, place)}
    if not changed:
        return table
    rows = []
    for at, row in enumerate(table.rows):
        cells = list(row.cells)
        for place, texts in changed.items():
            cells[place] = replace(cells[place], text=texts[at])
        rows.append(replace(row, cells=tuple(cells)))
    return replace(table, rows=tuple(rows))


def units_differ(table: Table) -> list[bool]:
    """Tell of each column whether its figures have units that differ, so that they do not stand in line."""
    said = in_one_unit(table)
    return [column.figure and len(_units(_texts(said, place))) > 1 for place, column in enumerate(said.columns)]


def _texts(table: Table, place: int) -> list[str]:
    return [row.cells[place].text for row in table.rows]


def _units(texts: Sequence[str]) -> set[str]:
    return {match[2] for text in texts if (match := _FIGURE.fullmatch(text))}


def _in_one_unit(texts: list[str]) -> list[str]:
    units = _units(texts)
    if len(units) < 2 or not units <= set(_TIMES):  # noqa: PLR2004 - one unit alone
        return texts
    least = max(_TIMES.index(unit) for unit in units)
    moved = [_moved(text, least) for text in texts]
    return texts if None in moved else [text for text in moved if text is not None]


def _moved(text: str, least: int) -> str | None:
    """Say a time in a smaller unit; None where it has too few decimals for that."""
    match = _FIGURE.fullmatch(text)
    if match is None:
        return text
    steps = _STEP * (least - _TIMES.index(match[2]))
    whole, _, decimals = text.removesuffix(match[2]).partition(".")
    if steps > len(decimals):
        return None
    if not steps:
        return text
    number = int(whole.replace(",", "") + decimals[:steps])
    return f"{number:,}{f'.{decimals[steps:]}' if decimals[steps:] else ''}{_TIMES[least]}"


def column_labels(table: Table) -> list[Markup]:
    """Give the attribute by which each column's cells name it where they stand below each other.

    A narrow table needs none, and a long one scrolls in its window on a phone too: one below the other, its rows would fill fifty screens.
    """
    if len(table.columns) == 1 or table.long:
        return [Markup()] * len(table.columns)
    return [Markup(' data-label="{}"').format(column.text) for column in table.columns]
