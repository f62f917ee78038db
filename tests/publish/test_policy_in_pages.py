"""Pages that a host serves without any header keep the site's policy, and everything on them works under it."""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Browser, Page

from reportgen.publish.policy import IN_PAGE, POLICY
from tests.publish.conftest import Built
from tests.publish.page_kinds import pages_of


class _Bare(SimpleHTTPRequestHandler):
    """Sends files as a host does that nobody can tell anything."""

    def log_message(self, *_arguments: object) -> None:
        """Stay silent."""


@pytest.fixture(scope="module")
def bare(built: Built) -> Iterator[str]:
    """Serve the built site without headers of its own."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Bare, directory=str(built.out)))
    thread = threading.Thread(target=functools.partial(server.serve_forever, poll_interval=0.05), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Open an empty page on which nothing may be refused."""
    said: list[str] = []
    with browser.new_context() as context:
        opened = context.new_page()
        opened.on(
            "console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None
        )
        opened.on("pageerror", lambda fault: said.append(str(fault)))
        yield opened
    assert [] == said


def test_a_page_says_what_hosts_are_told_but_for_what_a_page_may_not_say() -> None:
    """One source; browsers take the ancestors of a frame from a header alone."""
    assert POLICY == f"{IN_PAGE}; frame-ancestors 'none'"
    assert "default-src 'none'" in IN_PAGE
    assert "unsafe" not in IN_PAGE


def test_every_page_says_it_before_anything_is_loaded(built: Built) -> None:
    """A policy holds from where it stands on."""
    for address, html in pages_of(built.out).items():
        head = re.sub(r"&#39;", "'", html.partition("<title>")[0])
        assert f'<meta http-equiv="Content-Security-Policy" content="{IN_PAGE}">' in head, address
        assert not re.search("<link|<script|<style", head), address


def test_a_strange_script_is_refused(browser: Browser, bare: str) -> None:
    """And so are a style on the page and a picture from elsewhere."""
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(bare)
        refused = page.evaluate(
            """async () => {
              const found = new Set();
              document.addEventListener('securitypolicyviolation', event => found.add(event.effectiveDirective));
              document.body.insertAdjacentHTML('beforeend', '<p style="color:red">x</p><img src="https://example.org/x.png">');
              document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.ran = 1'}));
              while (found.size < 3) await new Promise(go => setTimeout(go, 20));
              return [...found].sort();
            }"""
        )
        assert ["img-src", "script-src-elem", "style-src-attr"] == refused
        assert page.evaluate("window.ran") is None


def test_search_cards_explore_and_checker_work_under_it(page: Page, bare: str, built: Built) -> None:
    """What fetches the site's own files, and what opens in place."""
    record = next((built.out / "records" / "sample").glob("*/index.html")).parent.relative_to(built.out).as_posix()
    page.goto(f"{bare}report/")
    page.get_by_role("searchbox").fill("loads")
    page.locator(".found li a").first.wait_for()
    page.keyboard.press("Escape")
    page.locator("p a.number").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Footnote 1").click()
    page.get_by_role("note", name="Footnote 1").wait_for()
    page.locator("a.explore").first.click()
    page.locator("section.explore .shown").wait_for()
    page.goto(f"{bare}{record}/")
    page.get_by_role("button", name="Check this record").click()
    page.get_by_text("Every file and every figure agrees").wait_for()
