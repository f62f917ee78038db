"""What hosts are told: one table of headers for netlify.toml and serve, redirects that lead somewhere, workflows that are well-formed."""

from __future__ import annotations

import re
import tomllib
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from playwright.sync_api import Browser

from reportgen.errors import InputError
from reportgen.project import at_address
from reportgen.publish import hosting
from reportgen.publish.build import build
from tests.publish.conftest import Built
from tests.publish.site_lab import HOME, make_lab

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def netlify() -> Any:
    """Read the settings of one host."""
    return tomllib.loads((ROOT / "netlify.toml").read_text("utf-8"))


def test_netlify_sends_what_serve_sends(netlify: Any) -> None:
    """Policy, types and how long copies live: one table."""
    said = {one["for"]: one["values"] for one in netlify["headers"]}
    wanted = {place: {"Cache-Control": kept} for place, kept in hosting.CACHED.items()}
    wanted["/*"] |= hosting.HEADERS
    wanted |= {f"/*{ending}": {"Content-Type": kind} for ending, kind in hosting.TYPES.items()}
    assert wanted == said


def test_netlify_builds_with_the_command_that_everybody_uses(netlify: Any) -> None:
    """Strictly, into the folder that it publishes."""
    assert netlify["build"]["command"].startswith("make site ")
    assert "public" == netlify["build"]["publish"]
    assert "build --strict" in (ROOT / "Makefile").read_text("utf-8")


def test_a_workflow_is_well_formed_and_pins_its_actions() -> None:
    """Each step runs or uses something; actions by their major version; nothing may write but what must."""
    files = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    assert files
    for path in files:
        said = yaml.safe_load(path.read_text("utf-8"))
        assert {"contents": "read"} == said["permissions"], path
        for job in said["jobs"].values():
            assert job["timeout-minutes"] <= 30
            for step in job["steps"]:
                assert ("run" in step) != ("uses" in step)
                assert re.fullmatch(r"[\w.-]+/[\w.-]+@v\d+", step.get("uses", "a/b@v1"))
                assert "${{" not in step.get("run", "")  # values reach a shell by its environment


def test_serve_sends_headers_and_types(built: Built, address: str) -> None:
    """Of a page and of Parquet."""
    rows = next(built.out.glob("records/sample/*/batches.parquet")).relative_to(built.out)
    with urllib.request.urlopen(f"{address}{rows}") as answer:
        assert "application/vnd.apache.parquet" == answer.headers["Content-Type"]
        assert hosting.HEADERS.items() <= dict(answer.headers).items()


def test_a_chart_of_its_own_keeps_its_colours_under_the_policy(browser: Browser, built: Built, address: str) -> None:
    """Its style is allowed by hash; nothing is refused, and dark is not light."""
    chart = next(built.out.glob("figures/*.svg")).name
    papers: list[str] = []
    said: list[str] = []
    for scheme in ("light", "dark"):
        with browser.new_context(color_scheme=scheme) as context:
            page = context.new_page()
            page.on("console", lambda message: said.append(message.text))
            page.goto(f"{address}figures/{chart}")
            papers.append(page.evaluate("getComputedStyle(document.documentElement).backgroundColor"))
    assert [] == [one for one in said if "Content Security Policy" in one]
    assert papers[0] != papers[1]


def test_a_name_leads_to_its_record_and_an_id_to_its_attempt(built: Built) -> None:
    """From addresses that have no page to some that have one."""
    lines = [line.split() for line in (built.out / "_redirects").read_text("utf-8").splitlines()]
    told = {place: to for place, to, status in lines if status == "302"}
    assert len(lines) == len(told) == 7
    assert re.fullmatch(r"/records/sample/[0-9a-f]{6}/", told["/records/sample/"])
    for place, to in told.items():
        assert (built.out / to[1:] / "index.html").is_file()
        assert not (built.out / place[1:] / "index.html").exists()


def test_a_command_may_say_where_the_site_will_lie(tmp_path: Path) -> None:
    """The next build without it says so no more."""
    home = HOME.split("Read the")[0]
    report = home.replace('address = ""', 'address = "r/"').replace('"home"', '"note"')
    project = make_lab(tmp_path / "lab", {"index.md": home + "[r](r/)", "r.md": report}, measured=False)
    build(at_address(project, "https://example.org/lab/"), tmp_path / "out", strict=True)
    assert "https://example.org/lab/r/" in (tmp_path / "out" / "r" / "index.html").read_text("utf-8")
    build(project, tmp_path / "out", strict=True)
    assert "https://example.org/lab/r/" not in (tmp_path / "out" / "r" / "index.html").read_text("utf-8")
    with pytest.raises(InputError, match="must begin with https://"):
        at_address(project, "example.org")
