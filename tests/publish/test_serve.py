"""Writing with the site open: a saved file shows in the browser, what is wrong is said there, and nothing that can be saved ends it."""

from __future__ import annotations

import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from reportgen.project import Project
from reportgen.publish.build import build
from reportgen.publish.rebuild import Rebuilder
from reportgen.publish.serve import serve
from tests.publish.site_lab import HOME, REPORT, make_lab
from tests.publish.test_build import tree

PANEL = "#reportgen-problems"
SOON = 60_000  # ms: machines that run tests are busy


@dataclass
class Serving:
    """A lab that is being served, with what was said on the terminal."""

    project: Project
    said: list[str] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)

    def wait(self, holds: Callable[[str], bool]) -> str:
        """Wait for a line."""
        deadline = time.monotonic() + SOON / 1000
        while time.monotonic() < deadline:
            found = next((line for line in self.said if holds(line)), None)
            if found is not None:
                return found
            time.sleep(0.02)
        raise AssertionError(self.said)

    @property
    def address(self) -> str:
        """Where it is served."""
        return self.wait(lambda line: line.startswith("serving ")).split()[1]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Serve a small lab from a thread, on a free port."""
    project = make_lab(tmp_path_factory.mktemp("serve") / "lab")
    serving = Serving(project)
    thread = threading.Thread(target=serve, args=(project, 0, serving.said.append), kwargs={"stop": serving.stop})
    thread.start()
    yield serving
    serving.stop.set()
    thread.join(20)
    assert not thread.is_alive()


@pytest.fixture
def page(browser: Browser, served: Serving) -> Iterator[Page]:
    """Open the report, with every fault that the browser reports."""
    with browser.new_context() as context:
        opened = context.new_page()
        wrong: list[str] = []
        opened.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        opened.goto(f"{served.address}report/")
        yield opened
        assert [] == [line for line in wrong if "Content Security Policy" in line]


def save(path: Path, text: str) -> None:
    """Save as many editors do: another file takes the place of the old one."""
    draft = path.with_suffix(".swp")
    draft.write_text(text, "utf-8")
    draft.replace(path)


def test_a_saved_page_shows_in_the_browser(page: Page, served: Serving) -> None:
    """By itself, and only what changed is made anew."""
    source = served.project.site / "report.md"
    save(source, REPORT.replace("Everything else.", "Everything, as ever."))
    expect(page.get_by_text("Everything, as ever.")).to_be_visible(timeout=SOON)
    expect(page.locator(PANEL)).to_have_count(0)
    source.write_text(REPORT, "utf-8")
    expect(page.get_by_text("Everything else.")).to_be_visible(timeout=SOON)


def test_what_is_saved_while_a_page_loads_shows_too(page: Page, served: Serving) -> None:
    """A build that ends between the page and its ear for builds."""
    source = served.project.site / "report.md"

    def built_meanwhile(route: Route) -> None:
        save(source, REPORT.replace("Everything else.", "Everything, as ever."))
        while "Everything, as ever." not in urllib.request.urlopen(page.url).read().decode():
            time.sleep(0.05)
        route.continue_()

    page.route("**/events", built_meanwhile, times=1)
    page.reload()
    expect(page.get_by_text("Everything, as ever.")).to_be_visible(timeout=SOON)
    source.write_text(REPORT, "utf-8")
    expect(page.get_by_text("Everything else.")).to_be_visible(timeout=SOON)


def test_what_lint_and_claims_find_is_shown_in_the_page(page: Page, served: Serving) -> None:
    """With file and line, until it is mended."""
    source = served.project.site / "report.md"
    claimed = REPORT.replace(
        '["sample"]\n', '["sample"]\n\n[[claims]]\nsays = "No."\nholds = "verdicts() == [\'slower\']"\n', 1
    )
    save(source, claimed.replace("Everything else.", "Everything else took 3.1 ms."))
    panel = page.locator(PANEL)
    expect(panel).to_contain_text("site/report.md", timeout=SOON)
    expect(panel).to_contain_text("'3.1 ms' reads like a measured time")
    expect(panel).to_contain_text("does not hold")
    source.write_text(REPORT, "utf-8")
    expect(panel).to_have_count(0, timeout=SOON)


def test_what_breaks_a_build_is_shown_and_the_next_save_mends_it(page: Page, served: Serving) -> None:
    """A template that is no template, settings that are none, a page without front matter, one that is gone; the site stays as it was."""
    root, panel = served.project.root, page.locator(PANEL)
    (root / "templates").mkdir()
    for path, text, said in (
        (root / "templates" / "404.html", "{% block", "templates/404.html"),
        (root / "templates" / "404.html", "{{ page.frame.nothing }}", "nothing"),
        (root / "reportgen.toml", "title = ", "reportgen.toml"),
        (root / "site" / "new.md", "+++\ntitle = ", "site/new.md"),
    ):
        before = path.read_bytes() if path.exists() else None
        path.write_text(text, "utf-8")
        expect(panel).to_contain_text(said, timeout=SOON)
        assert page.get_by_text("Everything else.").is_visible()
        path.unlink() if before is None else path.write_bytes(before)
        expect(panel).to_have_count(0, timeout=SOON)
    (root / "site" / "made-up.md").rename(root / "made-up.md")
    expect(panel).to_contain_text("dead link: made-up/", timeout=SOON)
    (root / "made-up.md").rename(root / "site" / "made-up.md")
    expect(panel).to_have_count(0, timeout=SOON)


def test_a_half_written_attempt_is_named_and_stops_nothing(page: Page, served: Serving) -> None:
    """As while something is copied into the archive."""
    attempt = next((served.project.runs / "sample").glob("*/manifest.json"))
    whole = attempt.read_bytes()
    attempt.write_bytes(whole[: len(whole) // 2])
    expect(page.locator(PANEL)).to_contain_text(f"runs/sample/{attempt.parent.name}", timeout=SOON)
    attempt.write_bytes(whole)
    expect(page.locator(PANEL)).to_have_count(0, timeout=SOON)


def test_only_this_machine_is_answered(served: Serving) -> None:
    """Not even by another name that leads here."""
    asked = urllib.request.Request(served.address, headers={"Host": "reader.example.org"})
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(asked)
    assert served.address.startswith("http://127.0.0.1:")


def test_an_unknown_address_gets_the_sites_own_page(page: Page, served: Serving) -> None:
    """With the status that a host sends."""
    answer = page.goto(f"{served.address}nowhere/at/all/")
    assert answer is not None
    assert 404 == answer.status
    assert "No such page" in page.inner_text("h1")


def test_what_is_built_again_and_again_is_what_one_build_makes(tmp_path: Path) -> None:
    """Byte for byte, after pages and an attempt came, changed and went; a build that finds all as it was makes no page."""
    project = make_lab(tmp_path / "lab")
    keeper = Rebuilder(project.root, tmp_path / "again")
    report, made_up, home = (project.site / name for name in ("report.md", "made-up.md", "index.md"))
    keeper.build()
    whole = made_up.read_text("utf-8")
    report.write_text(REPORT.replace('{{ chart("fixtures", vs="incumbent") }}', ""), "utf-8")
    made_up.unlink()
    keeper.build()
    home.write_text(HOME.replace("first page", "the page"), "utf-8")
    made_up.write_text(whole, "utf-8")
    keeper.build()
    report.write_text(REPORT, "utf-8")
    found = keeper.build()
    build(project, tmp_path / "once", strict=False)
    assert tree(tmp_path / "once") == tree(tmp_path / "again")
    assert found.written > 0
    before = keeper.made
    assert (0, 0) == (keeper.build().written, keeper.made - before)
