"""Footnotes in a real browser: in place with scripts, by keyboard and by ear; without scripts there and back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from reportgen.publish.sections import to_body
from tests.publish.test_accessibility import AXE, RUN, WCAG

WORDS = "Of the median over fixtures, as everywhere."


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """Open the report on a phone; nothing may go wrong on it."""
    wrong: list[str] = []
    with browser.new_context(viewport={"width": 390, "height": 844}) as context:
        opened = context.new_page()
        opened.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        opened.on("pageerror", lambda fault: wrong.append(str(fault)))
        opened.goto(f"{address}report/")
        yield opened
    assert [] == wrong


def test_a_footnote_opens_below_its_lines_and_escape_closes_it(page: Page) -> None:
    """Focus goes into the note and comes back; the note is named, holds its words and no id of its own."""
    link = page.get_by_role("button", name="Footnote 1")
    assert "false" == link.get_attribute("aria-expanded")
    link.focus()
    page.keyboard.press("Enter")
    note = page.get_by_role("note", name="Footnote 1")
    assert note.evaluate("one => one === document.activeElement")
    assert WORDS in note.inner_text()
    assert "true" == link.get_attribute("aria-expanded")
    below = "one => one.getBoundingClientRect().top"
    assert 0 < note.evaluate(below) - link.evaluate(below) < 400
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.evaluate(AXE)
    assert [] == page.evaluate(RUN, WCAG)
    page.keyboard.press("Escape")
    assert 0 == note.count()
    assert link.evaluate("one => one === document.activeElement")


def test_a_footnote_is_closed_by_its_button_and_by_a_second_press(page: Page) -> None:
    """With the space bar too, which buttons hear."""
    link, note = page.get_by_role("button", name="Footnote 1"), page.get_by_role("note", name="Footnote 1")
    link.click()
    note.get_by_role("button", name="Close").click()
    assert 0 == note.count()
    for seen in (1, 0):
        link.focus()
        page.keyboard.press(" ")
        assert seen == note.count()


def test_without_scripts_a_footnote_leads_there_and_back(browser: Browser, address: str) -> None:
    """To the note at the foot, and to the place that referred to it."""
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{address}report/")
        page.get_by_label("Footnote 1").click()
        assert WORDS in page.locator(":target").inner_text()
        page.get_by_label("Back to the text").click()
        assert page.url.endswith("#fnref1")


def test_a_page_without_footnotes_loads_no_script_for_them(browser: Browser, address: str) -> None:
    """Scripts are for what is there."""
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(address)
        assert 0 == page.locator("script[src$='notes.js']").count()


def test_each_reference_has_an_id_of_its_own() -> None:
    """Two to one note, which is named by its number in both."""
    html = to_body("One[^a], again[^a], other[^b].\n\n[^a]: A.\n[^b]: B.\n").html
    for part in ('id="fnref1"', 'id="fnref1:1"', 'id="fnref2"'):
        assert part in html
    assert 2 == html.count('aria-label="Footnote 1">1</a>')
