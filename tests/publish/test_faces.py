"""Faces of letters in two files each: a page in English fetches the small one, another the rest as well."""

from __future__ import annotations

from playwright.sync_api import Browser, Page

FIRST = {"source-serif-4-400.woff2", "source-sans-3-400.woff2", "source-sans-3-600.woff2"}


def test_letters_of_other_languages_are_fetched_where_a_page_has_them(browser: Browser, address: str) -> None:
    """The report's title has an Å and an ü, the page of unknown addresses has none."""
    with browser.new_context() as context:
        english, other = (fetched(context.new_page(), address + place) for place in ("404.html", "report/"))
    assert english == FIRST
    assert other >= FIRST | {"source-serif-4-400-more.woff2"}


def fetched(page: Page, url: str) -> set[str]:
    """Visit a page and give the names of the font files that it asked for."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(url)
    page.evaluate("document.fonts.ready")
    return {one.rpartition("/")[2] for one in asked if one.endswith(".woff2")}
