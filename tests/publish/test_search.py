"""Search in a real browser over an index fetched when first needed, the list of all pages, feed, sitemap, unknown addresses."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from playwright.sync_api import Browser, Page

from reportgen.project import Settings
from reportgen.publish.announcing import files
from reportgen.publish.build import build
from reportgen.publish.frames import Framer, Subject, root_path
from reportgen.publish.links import target_of
from reportgen.publish.search import Indexed, Passage, index, words_of
from reportgen.publish.server import serving
from tests.publish.conftest import Built
from tests.publish.page_kinds import pages_of
from tests.publish.site_lab import HOME, make_lab

PAGES = (
    Indexed("Two & more", "two/", "Studies", "About loads.", "2026-03-02", (Passage("a", "Noise", "of the floor"),)),
    Indexed("Lists", "lists/", "Lists", "", ""),
)
SOMEWHERE = Settings(title="A lab", address="https://example.org/lab/")
ATOM = "{http://www.w3.org/2005/Atom}"


def test_names_are_found_whole_and_by_their_parts() -> None:
    """What stands everywhere is left out."""
    assert {"fp16_root_reductions", "fp16", "root", "reductions", "rows"} == words_of(
        "The rows of FP16_root_reductions"
    )


def test_the_index_says_which_sections_hold_a_word() -> None:
    """The beginning of a page holds its title and summary; numbers are steps from the one before."""
    made = json.loads(index(PAGES))
    assert [["Two & more", "two/", "Studies"], ["Lists", "lists/", "Lists"]] == made["pages"]
    assert [[0, "", ""], [0, "a", "Noise"], [1, "", ""]] == made["sections"]
    assert ["about 0", "floor 1", "lists 2", "loads 0", "noise 1", "two 0"] == made["words"].split("\n")


@pytest.fixture(scope="module")
def below(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lay the built site below a path, as a host of many projects does."""
    top = tmp_path_factory.mktemp("host")
    (top / "lab").symlink_to(built.out)
    return top


def test_a_reader_finds_a_section_by_keyboard_below_a_path(browser: Browser, below: Path) -> None:
    """The index is asked for on focus and not before; what is found is counted; Enter opens the first; Escape closes."""
    with serving(below, port=0) as host, browser.new_context() as context:
        page, asked = context.new_page(), []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{host}lab/attempts/")
        assert not any("search.json" in url for url in asked)
        field = page.get_by_role("searchbox", name="Search this site")
        field.focus()
        page.wait_for_load_state("networkidle")
        assert [f"{host}lab/search.json"] == [url for url in asked if "search" in url]
        field.fill("changed not-a-word-of-any-page")
        page.get_by_text("No places").wait_for()
        field.fill("what was chang")
        link = page.locator(".found a").first
        link.wait_for()
        assert "What was not changed" == link.inner_text()
        page.keyboard.press("ArrowDown")
        assert link.evaluate("one => one === document.activeElement")
        page.keyboard.press("Escape")
        assert page.locator(".found").is_hidden()
        field.fill("what was chang ")
        link.wait_for()
        page.keyboard.press("Enter")
        page.wait_for_url(f"{host}lab/*/#what-was-not-changed")


def test_without_scripts_the_list_of_pages_stands_in_its_place(browser: Browser, built: Built, address: str) -> None:
    """And it names every page but the one for unknown addresses."""
    with browser.new_context(java_script_enabled=False) as context:
        page: Page = context.new_page()
        page.goto(f"{address}report/")
        page.locator("header").get_by_role("link", name="All pages").click()
        listed = page.locator(".listed li a").evaluate_all("all => all.map(one => one.href)")
    assert sorted(address + place for place in pages_of(built.out) if place != "404.html") == sorted(listed)


def test_feed_and_sitemap_need_to_know_where_the_site_lies() -> None:
    """Without an address there is neither; with one each names whole addresses."""
    assert {} == files(PAGES, Settings(title="A lab"))
    made = files(PAGES, SOMEWHERE)
    feed = ET.fromstring(made["feed.xml"])  # noqa: S314 - written a line above
    for element in (feed, *feed.findall(f"{ATOM}entry")):
        for needed in ("id", "title", "updated"):
            assert element.findtext(f"{ATOM}{needed}")
        assert datetime.fromisoformat(str(element.findtext(f"{ATOM}updated"))).tzinfo is not None
    assert ["A lab"] == [name.text for name in feed.findall(f"{ATOM}author/{ATOM}name")]
    assert ["https://example.org/lab/two/"] == [one.text for one in feed.findall(f"{ATOM}entry/{ATOM}id")]
    assert "https://example.org/lab/feed.xml" in [one.get("href") for one in feed.findall(f"{ATOM}link[@rel='self']")]
    places = ET.fromstring(made["sitemap.xml"])  # noqa: S314 - written above
    assert ["https://example.org/lab/lists/", "https://example.org/lab/two/"] == [one[0].text for one in places]
    assert [None, "2026-03-02"] == [one[1].text if len(one) > 1 else None for one in places]


def test_a_site_that_knows_where_it_lies_is_announced(tmp_path: Path) -> None:
    """Strictly built: feed, sitemap, tags of link previews, and a page for unknown addresses that finds its way."""
    project = make_lab(tmp_path / "lab", {"index.md": HOME.split("Read the")[0]}, measured=False)
    project = replace(project, settings=SOMEWHERE)
    assert () == build(project, tmp_path / "out", strict=True).problems
    assert {"feed.xml", "sitemap.xml"} <= {path.name for path in (tmp_path / "out").iterdir()}
    home, lost = ((tmp_path / "out" / name).read_text("utf-8") for name in ("index.html", "404.html"))
    assert '<link rel="canonical" href="https://example.org/lab/">' in home
    assert '<meta property="og:title" content="First page">' in home
    assert 'type="application/atom+xml" title="A lab" href="./feed.xml"' in home
    assert 'href="/lab/static/style.css"' in lost


def test_an_unknown_address_leads_back_from_any_depth_below_a_path() -> None:
    """By the path that the settings give; a link past it is dead."""
    subject = Subject("404.html", "Lost", "", "404", "", "x", root=root_path(SOMEWHERE))
    frame = Framer(SOMEWHERE, ()).frame(subject)
    assert "/lab/" == frame.root
    assert ("index.html", "") == target_of("404.html", "/lab/", "/lab/")
    assert ("static/style.css", "") == target_of("404.html", "/lab/static/style.css", "/lab/")
    assert ("/report/", "") == target_of("404.html", "/report/", "/lab/")
    assert "/" == root_path(Settings(title="A lab"))
