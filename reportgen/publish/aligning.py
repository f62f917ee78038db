"""What a table's cells need to stand in line: figures on their decimal point, and on a phone each under its column's words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from markupsafe import Markup

from reportgen.publish.context import Cell, Table

MOST_DIGITS = 4  # more is another kind of figure, not a ragged one
_FIGURE = re.compile(r"[±+−-]?[\d,]+(?:\.(\d+))?(\D*)")


def figure_tones(table: Table) -> list[list[str]]:
    """Give, row by row, the class names by which each figure ends as far right of its decimal point as the longest of its column.

    ``d2`` stands for two decimals fewer, ``w2`` for two fewer and no point. A column whose units differ is left as it is.
    """
    columns = [
        _tones([row.cells[place] for row in table.rows]) if column.figure else [""] * len(table.rows)
        for place, column in enumerate(table.columns)
    ]
    return [list(row) for row in zip(*columns, strict=True)] if columns else [[] for _ in table.rows]


def _tones(cells: Sequence[Cell]) -> list[str]:
    found = [_FIGURE.fullmatch(cell.text) for cell in cells]
    decimals = [len(match[1] or "") if match else 0 for match in found]
    most = max(decimals, default=0)
    units = {match[2] for match in found if match}
    if not 0 < most <= MOST_DIGITS or len(units) > 1:
        return [""] * len(cells)
    return [
        "" if match is None or own == most else f" {'d' if own else 'w'}{most - own}"
        for match, own in zip(found, decimals, strict=True)
    ]


def column_labels(table: Table) -> list[Markup]:
    """Give the attribute by which each column's cells name it where they stand below each other.

    A narrow table needs none, and a long one scrolls in its window on a phone too: one below the other, its rows would fill fifty screens.
    """
    if len(table.columns) == 1 or table.long:
        return [Markup()] * len(table.columns)
    return [Markup(' data-label="{}"').format(column.text) for column in table.columns]
