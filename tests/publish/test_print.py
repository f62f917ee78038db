"""Pages on A4: tables whole and no wider than the paper, nothing that only a screen can use, ink on white in the dark too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.publish.conftest import Built

MM = 96 / 25.4
UPRIGHT, ACROSS = int((210 - 32) * MM), int((297 - 32) * MM)  # pixels between the margins of print.css
TABLES = """() => [...document.querySelectorAll('main table')].map(table => ({
  page: getComputedStyle(table.closest('figure') ?? table).page, width: table.getBoundingClientRect().width,
  hidden: table.parentElement.scrollHeight > table.parentElement.clientHeight + 2, name: table.innerText.slice(0, 80),
}))"""
SCREEN_ONLY = "header nav, .find, .trail, .tools, nav.contents, #checker, .skip"


@pytest.fixture
def printed(browser: Browser, built: Built, address: str) -> Iterator[Page]:
    """Open the measured record's page as it is printed from a dark screen."""
    place = next((built.out / "records" / "sample").glob("*/index.html")).parent.relative_to(built.out).as_posix()
    with browser.new_context(color_scheme="dark", viewport={"width": UPRIGHT, "height": 1000}) as context:
        page = context.new_page()
        page.emulate_media(media="print")
        page.goto(f"{address}{place}/")
        yield page


def test_no_table_is_cut_or_wider_than_its_paper(printed: Page) -> None:
    """Wide ones are printed across."""
    upright = [one for one in printed.evaluate(TABLES) if one["page"] != "wide"]
    assert [] == [one["name"] for one in upright if one["width"] > UPRIGHT or one["hidden"]]
    printed.set_viewport_size({"width": ACROSS, "height": 700})
    across = [one for one in printed.evaluate(TABLES) if one["page"] == "wide"]
    assert [] == [one["name"] for one in across if one["width"] > ACROSS or one["hidden"]]
    assert min(len(upright), len(across)) > 3


def test_paper_gets_ink_on_white_and_no_controls(printed: Page) -> None:
    """From a dark screen as well."""
    assert "rgb(255, 255, 255)" == printed.evaluate("getComputedStyle(document.body).backgroundColor")
    assert "rgb(28, 27, 25)" == printed.evaluate("getComputedStyle(document.body).color")
    assert 0 == printed.locator(SCREEN_ONLY).locator("visible=true").count()


def test_a_report_becomes_a_document_of_numbered_pages(browser: Browser, address: str) -> None:
    """Chromium prints what the style asks for."""
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{address}report/")
        document = page.pdf(prefer_css_page_size=True)
    assert document.startswith(b"%PDF")
    assert document.count(b"/Type /Page\n") > 2
