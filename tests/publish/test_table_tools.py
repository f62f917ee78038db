"""Tables in a real browser: in line on the decimal, sortable and sifted with scripts, below each other on a phone, whole without scripts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from reportgen.publish.aligning import figure_tones, in_one_unit, units_differ
from reportgen.publish.context import Cell, Column, Row, Table
from reportgen.publish.sections import to_body
from tests.publish.conftest import Built

POINTS = """() => [...document.querySelectorAll('main table')].flatMap(table => {
  const found = {};
  for (const cell of table.querySelectorAll('tbody td.n')) {
    const node = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT).nextNode();
    const match = /^[±+−]?[\\d,]+(\\.?)\\d*(\\D*)$/.exec(node?.textContent ?? '');
    if (!match) continue;
    const range = document.createRange(), at = match[1] ? node.textContent.indexOf('.') : node.textContent.length - match[2].length;
    range.setStart(node, at); range.setEnd(node, at);
    (found[cell.cellIndex] ??= []).push([range.getBoundingClientRect().left, match[2]]);
  }
  return Object.values(found).filter(all => new Set(all.map(one => one[1])).size === 1)
    .map(all => all.map(one => one[0])).map(all => Math.max(...all) - Math.min(...all));
})"""


@pytest.fixture(scope="module")
def record(built: Built, address: str) -> str:
    """Give the address of the measured record's page."""
    folder = next((built.out / "records" / "sample").glob("*/index.html")).parent
    return f"{address}{folder.relative_to(built.out).as_posix()}/"


@pytest.fixture(scope="module")
def page(browser: Browser, record: str) -> Iterator[Page]:
    """Open the measured record's page at a desk."""
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        page = context.new_page()
        page.goto(record)
        yield page


def test_figures_stand_in_line_on_their_decimal_point(page: Page) -> None:
    """Within a pixel, also beside whole numbers and fewer decimals; a column of several units is left alone."""
    spreads = page.evaluate(POINTS)
    assert len(spreads) > 40
    assert max(spreads) < 1


def test_what_is_missing_right_of_the_point_is_worked_out_by_column() -> None:
    """Decimals, whole numbers, words between them, and units that differ."""
    texts = [("4.830 µs", "1", "7 ns"), ("12.36 µs", "0.25", "1.5 µs"), ("–", "word", "")]
    rows = tuple(Row(Cell("x"), tuple(map(Cell, line))) for line in texts)
    table = Table("A table", "X", tuple(Column(name, figure=True) for name in "abc"), rows)
    assert [["", " w2", ""], [" d1", "", ""], ["", "", ""]] == figure_tones(table)


def a_column(*texts: str) -> Table:
    """Give a table of one column of figures."""
    rows = tuple(Row(Cell("x"), (Cell(text),)) for text in texts)
    return Table("A table", "X", (Column("a", figure=True),), rows)


def said(table: Table) -> list[str]:
    """Read what its cells say once their units were looked at."""
    return [row.cells[0].text for row in in_one_unit(table).rows]


def test_times_of_a_column_are_said_in_one_unit_by_moving_the_point_alone() -> None:
    """The digits stay those that were said, so that none is made up; where there are too few, and of other units, all stays as it is."""
    assert ["1,877 µs", "970.3 µs", "–"] == said(a_column("1.877 ms", "970.3 µs", "–"))
    assert ["13,680.5 ns", "571 ns"] == said(a_column("13.6805 µs", "571 ns"))
    for texts in (("13.68 µs", "571 ns"), ("1.80 TB/s", "186 GB/s"), ("1.002 s", "3.053 ns"), ("4.830 µs", "12.36 µs")):
        assert list(texts) == said(a_column(*texts))
    assert [[False], [True], [False]] == [
        units_differ(a_column(*texts)) for texts in (("1.877 ms", "970.3 µs"), ("13.68 µs", "571 ns"), ("–", "word"))
    ]


def test_figures_of_a_written_table_stand_in_line_too() -> None:
    """A column of figures alone; one with words among them is words."""
    html = to_body("| a | b | c |\n| - | - | - |\n| x | 1.5 | 1 |\n| y | 12 | no |\n").html
    assert '<th class="n">b</th>' in html
    assert '<td class="n" data-label="b">1.5</td>' in html
    assert '<td class="n w1" data-label="b">12</td>' in html
    assert '<td data-label="c">1</td>' in html


def test_a_column_sorts_by_keyboard_says_so_and_comes_back(page: Page) -> None:
    """By full values; what is not computed stays last; the third press brings the order that the table was made in."""
    table = page.locator("[id^=comparisons-] table").first
    head = table.get_by_role("columnheader", name="headline")
    values = "rows => rows.map(row => row.cells[2].querySelector('data')?.value ?? '')"
    made = table.locator("tbody tr").evaluate_all(values)
    figures = sorted((value for value in made if value), key=float)
    rest = [value for value in made if not value]
    head.get_by_role("button").focus()
    for direction, order in (("ascending", figures), ("descending", figures[::-1])):
        page.keyboard.press("Enter")
        assert direction == head.get_attribute("aria-sort")
        assert order + rest == table.locator("tbody tr").evaluate_all(values)
        assert page.get_by_text(f"Sorted by headline, {direction}.").count() == 1
    page.keyboard.press("Enter")
    assert made == table.locator("tbody tr").evaluate_all(values)
    assert head.get_attribute("aria-sort") is None


def test_rows_are_sifted_by_words_and_counted(page: Page) -> None:
    """A link to a row that is not shown brings all back; the long tables stand on the page of the record's fixtures."""
    page.goto(f"{page.url.partition('#')[0]}fixtures/")
    table = page.locator("figure.table", has=page.locator(".tools + .scroll tr[id]")).first
    rows, tools = table.locator("tbody tr"), table.locator(".tools")
    total, anchored = rows.count(), table.locator("tbody tr[id]").first
    tools.get_by_label("Only rows with").fill("nothing like this")
    assert f"0 of {total} rows" == tools.locator("output").inner_text()
    assert 0 == rows.locator("visible=true").count()
    page.evaluate("hash => location.hash = hash", anchored.get_attribute("id"))
    page.wait_for_function("!document.querySelector('tr[hidden]')")
    assert f"{total} rows" == tools.locator("output").inner_text()


def test_checking_a_record_reads_the_rows_as_they_were_made(page: Page, record: str) -> None:
    """A sorted table must not make the checker compare the wrong lines."""
    page.goto(record)
    page.locator("[id^=comparisons-] th button").first.click()
    page.get_by_role("button", name="Check this record").click()
    page.get_by_text("Every file and every figure agrees").wait_for()


def test_on_a_phone_cells_stand_below_each_other_under_their_columns_words(browser: Browser, record: str) -> None:
    """Nothing but text that cannot break scrolls sideways, and every cell of a record's tables can be read, without scripts too."""
    with browser.new_context(viewport={"width": 390, "height": 844}, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(record)
        wide = (
            "all => all.filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.getAttribute('aria-label'))"
        )
        assert [] == page.locator(".scroll").evaluate_all(wide)
        cell = page.locator("[id^=comparisons-] td[data-label=headline]").first
        assert '"headline"' == cell.evaluate("one => getComputedStyle(one, '::before').content")
        assert page.locator(".tools").first.evaluate("one => one.offsetHeight") == 0
