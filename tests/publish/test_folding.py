"""Evidence waits behind a line of its own: on a phone more than at a desk, never on paper, never where a link leads into it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, ViewportSize

from reportgen.publish import folding
from tests.publish.conftest import Built

PHONE: ViewportSize = {"width": 390, "height": 844}
DESK: ViewportSize = {"width": 1280, "height": 900}


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Open an empty page, without scripts."""
    with browser.new_context(java_script_enabled=False) as context:
        yield context.new_page()


@pytest.fixture(scope="module")
def record(built: Built) -> str:
    """Give the address of the measured record's page."""
    return next((built.out / "records" / "sample").glob("*/index.html")).parent.relative_to(built.out).as_posix() + "/"


def shown(page: Page, name: str) -> bool:
    """Tell whether the rows of the first table of that caption are in sight."""
    rows = page.locator("figure.table", has=page.locator("figcaption", has_text=name)).first.locator("tbody th")
    return bool(rows.first.evaluate("one => one.checkVisibility()"))


def test_kinds_say_what_waits_and_a_page_may_say_otherwise() -> None:
    """The answer stands open; a page that is about a table opens it."""
    assert ["", folding.NARROW, folding.ALWAYS] == [
        folding.of(kind, folded=None) for kind in ("answer", "changes", "times")
    ]
    assert ["", folding.ALWAYS] == [folding.of("times", folded=asked) for asked in (False, True)]


def test_on_a_phone_tables_wait_at_a_desk_those_beside_charts_do_not(page: Page, address: str) -> None:
    """The answer is in sight on both; how many rows wait is said, and a press shows them."""
    for size, beside in ((PHONE, False), (DESK, True)):
        page.set_viewport_size(size)
        page.goto(f"{address}report/")
        assert (True, beside, beside, False) == tuple(
            shown(page, name) for name in ("What came out", "The same numbers", "Changes in time", "By fixture")
        )
    line = page.locator("figure.table", has_text="By fixture").first.locator("summary")
    assert re.fullmatch(r"\d+ rows: By fixture: .+", line.text_content() or "")
    line.click()
    assert shown(page, "By fixture")


def test_nothing_waits_on_paper(page: Page, address: str) -> None:
    """And the lines that would show it are gone."""
    page.emulate_media(media="print")
    page.goto(f"{address}report/")
    assert shown(page, "By fixture")
    assert shown(page, "Changes in time")
    assert 0 == page.locator(".fold > summary").locator("visible=true").count()


def test_a_link_into_a_folded_table_shows_its_row(page: Page, address: str, record: str) -> None:
    """From a figure in the text to its derivation, on a phone."""
    page.set_viewport_size(PHONE)
    page.goto(f"{address}report/")
    page.locator("p a.number").first.click()
    page.wait_for_url(f"**/{record}#*")
    row = page.locator("tr:target")
    assert row.evaluate("one => one.checkVisibility()")
    top = row.evaluate("one => one.getBoundingClientRect().top")
    assert 0 <= top < 844


def test_single_files_wait_behind_the_one_that_holds_them_all(page: Page, address: str) -> None:
    """In the catalogue and where a report offers its record."""
    for place in ("report/", "data/"):
        page.goto(address + place)
        assert page.locator(".files a", has_text="record.zip").first.is_visible()
        assert not page.locator(".files a", has_text="plan.toml").first.is_visible()
