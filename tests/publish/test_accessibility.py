"""What people get who do not see the page as it was drawn: axe on every kind of page, contrast in both schemes, all words without scripts."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, ViewportSize

from reportgen.publish.server import serving
from tests.publish.conftest import Built
from tests.publish.page_kinds import kinds

AXE = (resources.files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"]
SIZES: dict[str, ViewportSize] = {"phone": {"width": 390, "height": 844}, "desktop": {"width": 1280, "height": 900}}
# Rows of one table are alike, and axe takes its time over each; contrast is measured over all of them below.
# What waits to be opened is looked at as well.
THIN = """() => {
  document.querySelectorAll('tbody tr:nth-child(n+4)').forEach(row => row.remove());
  document.querySelectorAll('details').forEach(one => one.open = true);
}"""
# Rules whose answer depends on how a page is laid out; the others are asked once.
LAID_OUT = [
    "target-size",
    "scrollable-region-focusable",
    "link-in-text-block",
    "css-orientation-lock",
    "label-content-name-mismatch",
]
RUN = """async asked => (await axe.run({
  runOnly: asked, rules: {'color-contrast': {enabled: false}}, resultTypes: ['violations'],
})).violations.map(one => `${one.id}: ${one.nodes.map(node => node.html.slice(0, 200)).join(' and ')}`)"""
# Every text of the page that is drawn, as ink on the nearest background behind it, by the formula of WCAG.
CONTRAST = """() => {
  const parse = text => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const light = text => parse(text).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
  const clear = 'rgba(0, 0, 0, 0)', paper = getComputedStyle(document.documentElement).backgroundColor, low = {};
  for (const one of document.querySelectorAll('body, body *')) {
    if (![...one.childNodes].some(node => node.nodeType === 3 && node.textContent.trim())) continue;
    if (one.closest('title, desc, script, .skip') || !one.getClientRects().length) continue;
    const style = getComputedStyle(one), ink = one instanceof SVGElement ? style.fill : style.color;
    let behind = one, ground = clear;
    while (behind && ground === clear) { ground = getComputedStyle(behind).backgroundColor; behind = behind.parentElement; }
    const [a, b] = [light(ink), light(ground === clear ? paper : ground)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) low[`${ink} on ${ground}`] = `${ratio.toFixed(2)}: ${one.textContent.trim().slice(0, 60)}`;
  }
  return low;
}"""
# What only scripts can use, they bring along; a heading that sorts is a button around its words, and search stands in the place of a link.
CONTROLS = (
    "button, label, input, select, output, dialog, menu, [role=status], [role=search], [role=alert], #checker, .find"
)
WITHOUT_CONTROLS = f"""() => {{
  document.querySelectorAll('th > button').forEach(one => one.replaceWith(...one.childNodes));
  document.querySelectorAll('{CONTROLS}').forEach(one => one.remove());
}}"""


@pytest.fixture(scope="module")
def served(built: Built, built_study: Built) -> Iterator[dict[str, str]]:
    """Serve both sites; give the address of one page of each kind by its name."""
    with serving(built.out, port=0) as one, serving(built_study.out, port=0) as other:
        found = {kind: one + address for kind, address in kinds(built.out).items()}
        found["study"] = other + kinds(built_study.out)["report"]
        yield found


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Open an empty page."""
    with browser.new_context() as context:
        yield context.new_page()


def test_there_is_a_page_of_each_kind(served: dict[str, str]) -> None:
    """So that none is left out below."""
    assert {"home", "report", "record", "attempt", "ledger", "data", "404", "study"} <= set(served)


def test_axe_would_find_what_is_wrong(page: Page) -> None:
    """A picture without words, a field without a name, a page without a title."""
    page.set_content('<html lang="en"><body><img src="x.png"><input></body></html>')
    page.evaluate(AXE)
    assert {"document-title", "image-alt", "label"} <= {said.partition(":")[0] for said in page.evaluate(RUN, WCAG)}


def test_axe_finds_nothing_on_any_kind_of_page(page: Page, served: dict[str, str]) -> None:
    """By the rules of WCAG 2.2, A and AA, and by those of good practice, on a phone and on a desk."""
    found: dict[tuple[str, str], Any] = {}
    for kind, address in served.items():
        page.goto(address)
        page.evaluate(THIN)
        page.evaluate(AXE)
        for size, pixels in SIZES.items():
            page.set_viewport_size(pixels)
            found[kind, size] = page.evaluate(RUN, WCAG if size == "phone" else LAID_OUT)
    assert {} == {place: said for place, said in found.items() if said}


def test_every_text_stands_out_from_what_is_behind_it(page: Page, served: dict[str, str]) -> None:
    """4.5 to 1 or more, light and dark, words in drawings included."""
    found = {}
    for kind, address in served.items():
        page.goto(address)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            found[kind, scheme] = page.evaluate(CONTRAST)
    assert {} == {place: low for place, low in found.items() if low}


def test_every_word_is_there_without_scripts(browser: Browser, page: Page, served: dict[str, str]) -> None:
    """What scripts add is controls and nothing else; and the words come in the same order."""
    with browser.new_context(java_script_enabled=False) as context:
        bare = context.new_page()
        for kind, address in served.items():
            page.goto(address)
            page.evaluate(WITHOUT_CONTROLS)
            bare.goto(address)
            bare.locator(".find").evaluate("one => one.remove()")
            assert bare.inner_text("body").split() == page.inner_text("body").split(), kind
