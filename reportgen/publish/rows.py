"""The rows of tables as HTML. Most of a site's bytes are cells, and a template takes ten times as long over each."""

from __future__ import annotations

import re

from markupsafe import Markup

from reportgen.publish.aligning import column_labels, figure_tones, in_one_unit
from reportgen.publish.context import Cell, Row, Table

# As autoescaping templates write them.
_ESCAPED = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;"}
_MARKED = re.compile("[&<>\"']")


def table_rows(table: Table) -> Markup:
    """Write the rows of a table, a line each."""
    table = in_one_unit(table)
    labels = [str(label) for label in column_labels(table)]
    heads = ["n" if column.figure else "" for column in table.columns]
    lines = [
        _row(row, list(zip(heads, tones, labels, strict=True)))
        for row, tones in zip(table.rows, figure_tones(table), strict=True)
    ]
    return Markup("".join(lines))  # noqa: S704 - every text in it was escaped


def _row(row: Row, columns: list[tuple[str, str, str]]) -> str:
    anchor = f' id="{_text(row.anchor)}"' if row.anchor else ""
    first = ' class="first"' if row.first else ""
    cells = "".join(
        f'<td class="{f"{head}{tone} " if head else ""}{_text(cell.tone)}"{label}>{_cell(cell)}</td>'
        for cell, (head, tone, label) in zip(row.cells, columns, strict=True)
    )
    return f'<tr{anchor}{first}><th scope="row">{_cell(row.head)}</th>{cells}</tr>\n'


def _cell(cell: Cell) -> str:
    said = _text(cell.text)
    if cell.value:
        said = f'<data value="{_text(cell.value)}">{said}</data>'
    elif cell.code:
        said = f"<code>{said}</code>"
    if cell.href:
        said = f'<a href="{_text(cell.href)}">{said}</a>'
    if cell.mark:
        said = f'<span class="mark" aria-hidden="true">{_text(cell.mark)}</span> {said}'
    return f'{said}<span class="second">{_text(cell.note)}</span>' if cell.note else said


def _text(text: str) -> str:
    if not _MARKED.search(text) or isinstance(text, Markup):
        return text
    return _MARKED.sub(lambda found: _ESCAPED[found[0]], text)
