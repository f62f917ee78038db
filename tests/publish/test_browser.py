"""The built site in a real browser: nothing from elsewhere, nothing wrong, readable on a phone, in the dark, without scripts."""

from __future__ import annotations

import gzip
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.publish.conftest import Built

ADDRESSES = ["", "report/", "made-up/", "attempts/", "data/", "404.html"]
IN_THE_DARK = ["", "report/", "attempts/"]


@pytest.fixture(scope="module")
def addresses(built: Built) -> list[str]:
    """Give the pages to visit: written ones, a record and each kind of attempt."""
    found = [path.parent.relative_to(built.out).as_posix() + "/" for path in built.out.glob("records/**/index.html")]
    return [*ADDRESSES, *sorted(found)]


def opened(context: BrowserContext, url: str) -> tuple[Page, list[str], list[str]]:
    """Open a page; return it with the addresses it asked for and everything that went wrong."""
    page = context.new_page()
    asked: list[str] = []
    wrong: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda fault: wrong.append(str(fault)))
    page.on("requestfailed", lambda request: wrong.append(f"failed: {request.url}"))
    page.on("response", lambda answer: wrong.append(f"{answer.status}: {answer.url}") if answer.status >= 400 else None)
    page.goto(url)
    page.evaluate("document.fonts.ready")
    return page, asked, wrong


LOOK = """() => ({
  widths: [document.documentElement.scrollWidth, document.documentElement.clientWidth],
  counts: ['h1', 'main', 'a.skip', 'header.site', 'footer.site'].map(name => document.querySelectorAll(name).length),
  navigation: document.querySelectorAll('nav[aria-label]').length,
  headings: [...document.querySelectorAll('h1,h2,h3,h4')].map(one => Number(one.tagName[1])),
  ragged: [...document.querySelectorAll('table')].filter(table => [...table.rows].some(
    row => row.cells.length !== table.rows[0].cells.length)).length,
})"""


@pytest.fixture(scope="module", params=["light", "dark"])
def seen(
    request: pytest.FixtureRequest, browser: Browser, address: str, addresses: list[str]
) -> dict[str, dict[str, Any]]:
    """Visit every page once at 390 pixels, and note what it asked for, what went wrong and how it is built."""
    found = {}
    visited = addresses if request.param == "light" else IN_THE_DARK
    with browser.new_context(viewport={"width": 390, "height": 844}, color_scheme=request.param) as context:
        for place in visited:
            page, asked, wrong = opened(context, address + place)
            found[place] = {"asked": asked, "wrong": wrong, **page.evaluate(LOOK)}
            page.close()
    return found


def test_no_page_asks_elsewhere_or_complains(seen: dict[str, dict[str, Any]], address: str) -> None:
    """Under a policy that allows no inline script or style."""
    for place, page in seen.items():
        assert [] == page["wrong"], place
        assert all(url.startswith(address) for url in page["asked"]), place


def test_no_page_scrolls_sideways_on_a_phone(seen: dict[str, dict[str, Any]]) -> None:
    """Wide tables scroll in containers of their own."""
    for place, page in seen.items():
        assert page["widths"][0] <= page["widths"][1], f"{place} is {page['widths'][0]} pixels wide"


def test_every_page_has_one_h1_landmarks_and_headings_in_steps(seen: dict[str, dict[str, Any]]) -> None:
    """What assistive technology goes by."""
    for place, page in seen.items():
        assert [1, 1, 1, 1, 1] == page["counts"], place
        assert page["navigation"] >= 1
        assert all(after <= before + 1 for before, after in pairwise(page["headings"])), place


def test_tables_have_a_cell_for_every_column(seen: dict[str, dict[str, Any]]) -> None:
    """No row is shorter or longer than its head."""
    assert {} == {place: page["ragged"] for place, page in seen.items() if page["ragged"]}


def test_the_report_reads_without_scripts(browser: Browser, address: str) -> None:
    """Answer, tables and charts are in the page itself."""
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(address + "report/")
        assert page.get_by_text("adopt").count() > 0
        assert "−5.00%" in page.inner_text("table")
        assert page.locator("svg.chart").count() == 6
        assert page.locator("svg.chart").first.bounding_box() is not None


def test_dark_and_light_differ(browser: Browser, address: str) -> None:
    """Paper and charts follow the reader's scheme."""
    seen = {}
    for scheme in ("light", "dark"):
        with browser.new_context(color_scheme=scheme) as context:
            page, _, _ = opened(context, address + "report/")
            seen[scheme] = page.evaluate(COLOURS)
    assert seen["light"]["body"] != seen["dark"]["body"]
    assert seen["light"]["chart"] != seen["dark"]["chart"]


COLOURS = """() => ({
  body: getComputedStyle(document.body).backgroundColor,
  chart: getComputedStyle(document.querySelector('svg.chart text')).fill,
})"""


def test_a_figure_leads_to_its_row_on_the_records_page(browser: Browser, address: str) -> None:
    """Whoever distrusts a number opens it, without scripts too."""
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(address + "report/")
        page.locator("p a.number", has_text="−5.00%").first.click()
        page.wait_for_url("**/records/sample/**")
        target = page.locator(":target")
        target.wait_for(state="attached")
        assert target.count() == 1
        assert "candidate" in target.inner_text()
        assert "3 and 10" in target.inner_text()


def test_a_page_is_light(browser: Browser, built: Built, address: str) -> None:
    """A report with its charts, style and fonts stays under 100 KB as it travels compressed."""
    with browser.new_context() as context:
        _, asked, _ = opened(context, address + "report/")
    paths = [built.out / url.removeprefix(address) for url in asked]
    travelled = {path.name: len(gzip.compress(_file(path).read_bytes())) for path in paths}
    assert sum(travelled.values()) < 100_000, travelled


def _file(path: Path) -> Path:
    return path / "index.html" if path.is_dir() else path


def test_a_figure_opens_a_card_by_keyboard_and_escape_closes_it(browser: Browser, address: str) -> None:
    """Its row, device, formulas, rounding and place in the downloads; the focus comes back; a page as narrow as a phone stays so."""
    with browser.new_context(viewport={"width": 390, "height": 844}) as context:
        page, asked, wrong = opened(context, address + "report/")
        link = page.locator("p a.number", has_text="−5.00%").first
        link.focus()
        page.keyboard.press("Enter")
        card = page.get_by_role("dialog", name="−5.00%")
        card.wait_for()
        text = card.inner_text()
        for part in ("3 and 10 of 12", "batches.csv: mode = process", "device in {cpu-0123456789ab}", "results.json"):
            assert part in text
        assert "median over fixtures (and devices)" in text
        assert "rounded to two decimals" in text
        assert ["headline", "0.950000 −5.00%"] == card.locator(".asked").first.locator("dt, dd").all_inner_texts()
        page.keyboard.press("Escape")
        assert 0 == page.locator("dialog[open]").count()
        assert link.evaluate("one => one === document.activeElement")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert [] == wrong
        assert all(url.startswith(address) for url in asked)


def test_a_sum_opens_a_card_with_its_lines(browser: Browser, address: str) -> None:
    """-5 % once and twice again."""
    with browser.new_context() as context:
        page, _, _ = opened(context, address + "report/")
        page.get_by_role("link", name="−15.00%").first.click()
        card = page.get_by_role("dialog", name="−15.00%")
        card.wait_for()
        assert "rotating\n−5.00% times 2 makes −10.00%" in card.inner_text()
        card.get_by_role("button", name="Close").click()
        assert 0 == page.locator("dialog[open]").count()
        assert page.locator("#sum-1 tbody tr").count() == 3
