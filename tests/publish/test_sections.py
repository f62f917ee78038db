"""Long pages: numbered sections that lead to themselves, their contents, footnotes, what stands above a page."""

from __future__ import annotations

from playwright.sync_api import Browser

from reportgen.publish.context import Entry
from reportgen.publish.sections import to_body
from tests.publish.conftest import Built

LONG = "## First\n\n### Its `part`\n\n## Second *one*\n\nText[^1], again[^1].\n\n## Third\n\n[^1]: A note.\n"


def test_sections_of_a_long_page_are_numbered_and_lead_to_themselves() -> None:
    """Chapters and parts; the contents list chapters in plain words."""
    body = to_body(LONG)
    assert (Entry("1", "First", "#first"), Entry("2", "Second one", "#second-one")) == body.contents[:2]
    assert '<h3 id="its-part"><a class="here" href="#its-part" aria-label="Section 1.1">1.1</a> Its' in body.html
    assert '<h2 id="third"><a class="here" href="#third" aria-label="Section 3">3</a> Third</h2>' in body.html


def test_a_page_whose_author_letters_sections_gets_no_numbers_beside_them() -> None:
    """The heading still leads to itself."""
    body = to_body("## A. One\n\n## B. Two\n\n## Three\n")
    assert ["", "", ""] == [entry.number for entry in body.contents]
    assert 'aria-label="This section"' in body.html


def test_a_short_page_is_left_alone() -> None:
    """Two headings are read at a glance."""
    body = to_body("## One\n\n## Two\n")
    assert () == body.contents
    assert "here" not in body.html


def test_cells_of_written_tables_know_their_column_and_have_no_style_of_their_own() -> None:
    """A phone shows them below each other; a strict policy would refuse a style."""
    html = to_body("| a | b `c` |\n| - | -: |\n| 1 | 2 |\n").html
    assert '<td>1</td>\n<td class="n" data-label="b c">2</td>' in html
    assert "style=" not in html


def test_footnotes_lead_there_and_back_in_words() -> None:
    """Each reference has a way back of its own."""
    html = to_body(LONG).html
    for part in ('href="#fn1"', 'id="fnref1"', 'href="#fnref1"', 'href="#fnref1:1"', 'aria-label="Back to the text"'):
        assert part in html


def test_every_page_says_what_is_above_it(built: Built) -> None:
    """An attempt stands below its record, a record below the report that speaks of it, and that below the studies."""
    attempt = next((built.out / "records" / "sample").rglob("attempts/*/index.html")).read_text("utf-8")
    trail = attempt.split('<nav class="trail"')[1].split("</nav>")[0]
    assert 'href="../../../../../">Studies' in trail
    assert trail.index("report/") < trail.index(">Record sample@")
    assert '<nav class="trail"' not in built.page("")
    assert '<nav class="trail"' not in built.page("data")


def test_contents_stand_beside_a_record_where_there_is_room_and_open_where_there_is_none(
    browser: Browser, built: Built, address: str
) -> None:
    """Without scripts, on a desktop and on a phone."""
    place = next((built.out / "records" / "sample").glob("*/index.html")).parent.relative_to(built.out).as_posix()
    for width, seen in ((1280, True), (390, False)):
        with browser.new_context(viewport={"width": width, "height": 800}, java_script_enabled=False) as context:
            page = context.new_page()
            page.goto(f"{address}{place}/")
            link = page.get_by_role("navigation", name="Contents").get_by_role("link", name="Downloads")
            assert seen == link.is_visible()
            if not seen:
                page.get_by_text("Contents", exact=True).click()
            link.click()
            assert page.url.endswith("#downloads")
