"""The link "Explore" opens a record's fixtures in place, with the values of the record; without scripts it leads to their tables."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route

from reportgen.publish import wording
from tests.publish.conftest import Built

SHOWN = "section.explore .shown"
ROWS = "section.explore tbody tr"


@pytest.fixture(scope="module")
def record(built: Built) -> str:
    """Address of the measured record's page."""
    (found,) = (path.parent for path in built.out.glob("records/sample/*/index.html"))
    return found.relative_to(built.out).as_posix() + "/"


@pytest.fixture(scope="module")
def results(built: Built, record: str) -> dict[str, Any]:
    """Read what the record publishes."""
    found: dict[str, Any] = json.loads((built.out / record / "results.json").read_text("utf-8"))
    return found


def cells_of(results: dict[str, Any], arm: str, baseline: str) -> list[dict[str, Any]]:
    """Every cell of one comparison, slice after slice."""
    same = [one for one in results["comparisons"] if (one["arm"], one["baseline"]) == (arm, baseline)]
    return [cell for one in same for cell in one["cells"]]


def with_others(results: dict[str, Any]) -> dict[str, Any]:
    """Give the same results, in which what was left out doubles every ratio."""
    doubled = json.loads(json.dumps(results["comparisons"]))
    for one in doubled:
        for cell in one["cells"]:
            cell["ratio"] *= 2
    return results | {"with_left_out": doubled}


@pytest.fixture
def page(browser: Browser, address: str, record: str) -> Iterator[Page]:
    """Open the record's page; nothing may go wrong on it."""
    wrong: list[str] = []
    with browser.new_context(viewport={"width": 390, "height": 844}) as context:
        opened = context.new_page()
        opened.on("pageerror", lambda fault: wrong.append(str(fault)))
        opened.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        opened.goto(address + record)
        yield opened
    assert [] == wrong


def test_filters_show_the_values_of_the_record(page: Page, results: dict[str, Any]) -> None:
    """All fixtures first, then those of one cache state and size; the keyboard alone is enough."""
    page.locator("a.explore").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(ROWS)
    page.locator("section.explore").get_by_label("comparison").select_option("candidate against incumbent")
    cells = cells_of(results, "candidate", "incumbent")
    assert [wording.change(cell["ratio"]) for cell in cells] == page.locator(f"{ROWS} data").all_inner_texts()
    assert f"{len(cells)} of {len(cells)} fixtures" in page.inner_text(SHOWN)

    page.locator("section.explore").get_by_label("cache").select_option("rotating")
    page.locator("section.explore").get_by_label("rows").select_option("512")
    (cell,) = [one for one in cells if one["fixture"] == "rows=512,cache=rotating"]
    said = f"{wording.change(cell['interval']['low'])} to {wording.change(cell['interval']['high'])}"
    assert [cell["fixture"], wording.change(cell["ratio"]), said] == page.locator(f"{ROWS} > *").all_inner_texts()
    assert str(cell["ratio"]) == page.locator(f"{ROWS} data").get_attribute("value")
    assert f"1 of {len(cells)} fixtures, median change {wording.change(cell['ratio'])}" in page.inner_text(SHOWN)
    assert page.locator("section.explore svg path").count() == 3
    assert page.locator("section.explore").get_by_label("what was left out").is_disabled()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")

    page.locator("a.explore").press(" ")
    assert "false" == page.locator("a.explore").get_attribute("aria-expanded")
    assert not page.locator("section.explore").is_visible()


def test_what_was_left_out_can_be_taken_in(page: Page, results: dict[str, Any]) -> None:
    """With it the figures are those that results.json computes with it; values that no fixture has all of show none."""

    def answer(route: Route) -> None:
        route.fulfill(json=with_others(results))

    page.route("**/results.json", answer)
    page.click("a.explore")
    page.locator("section.explore").get_by_label("what was left out").check()
    cells = cells_of(
        results, *page.locator("section.explore").get_by_label("comparison").input_value().split(" against ")
    )
    assert [wording.change(2 * cell["ratio"]) for cell in cells] == page.locator(f"{ROWS} data").all_inner_texts()
    page.locator("section.explore").get_by_label("device").select_option(cells[0]["device"])
    assert len(cells) == page.locator(ROWS).count()


def test_a_report_opens_its_record_and_without_scripts_the_link_leads_to_the_tables(
    browser: Browser, address: str, record: str
) -> None:
    """The same link, the same fixtures."""
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(address + "report/")
        page.click("a.explore")
        page.wait_for_selector(ROWS)
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(address + "report/")
        page.click("a.explore")
        assert page.url == f"{address}{record}fixtures/"
        assert "−5.00%" in page.inner_text("main")
