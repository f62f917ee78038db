"""Rows of tables are written as an autoescaping template would write them, every field of row and cell in its place."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from markupsafe import escape

from reportgen.publish.context import Cell, Column, Row, Table
from reportgen.publish.rows import table_rows

MARKED = """<b>"O'Neill" & co</b>"""


def written(*cells: Cell, figure: bool = False) -> str:
    """Write one row of cells beneath a head."""
    columns = tuple(Column(f"column {place}", figure=figure) for place, _ in enumerate(cells))
    return str(table_rows(Table("caption", "stub", columns, (Row(Cell("head"), cells),))))


def test_a_row_has_its_head_its_cells_and_its_anchor() -> None:
    """By hand."""
    row = Row(Cell("a", code=True), (Cell("1.50", "1.5", tone="faster"),), first=True, anchor="d-a")
    assert (
        '<tr id="d-a" class="first"><th scope="row"><code>a</code></th><td class="n faster"><data value="1.5">1.50</data></td></tr>\n'
        == str(table_rows(Table("caption", "stub", (Column("time", figure=True),), (row,))))
    )


def test_a_cell_holds_mark_link_value_and_note_in_their_order() -> None:
    """By hand."""
    cell = Cell("faster", value="0.95", href="x/#d", mark="v", note="second", tone="faster")
    assert (
        '<td class="faster"><span class="mark" aria-hidden="true">v</span> <a href="x/#d"><data value="0.95">faster</data></a>'
        '<span class="second">second</span></td></tr>\n'
    ) == written(cell).partition("</th>")[2]


def test_cells_of_several_columns_are_labelled_and_stand_in_line() -> None:
    """A phone shows them below each other, and figures end as far right as the longest of their column."""
    cells = (Cell("1.50"), Cell("2"))
    table = Table(
        "caption",
        "stub",
        (Column("a & b", figure=True), Column("c")),
        (Row(Cell("x"), cells), Row(Cell("y"), (Cell("7"), Cell("z")))),
    )
    assert '<td class="n " data-label="a &amp; b">1.50</td><td class="" data-label="c">2</td>' in table_rows(table)
    assert '<td class="n w2 " data-label="a &amp; b">7</td>' in table_rows(table)


@pytest.mark.parametrize("field", [one.name for one in dataclasses.fields(Cell) if one.name != "code"])
def test_every_text_of_a_cell_is_escaped(field: str) -> None:
    """No name, figure or reason becomes markup."""
    marked: dict[str, Any] = {"text": "text", "note": "note", field: MARKED}
    said = written(Cell(**marked))
    assert MARKED not in said
    assert str(escape(MARKED)) in said
