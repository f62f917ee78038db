"""One built site for every test that only reads it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from reportgen.project import Project
from reportgen.publish.build import build
from reportgen.publish.server import serving
from tests.publish.site_lab import make_lab
from tests.publish.study_lab import make_study_lab

NAMES = ("chromium", "chromium-browser", "google-chrome")


@dataclass(frozen=True)
class Built:
    """A lab and the folder of its site."""

    project: Project
    out: Path

    def page(self, address: str) -> str:
        """Read the HTML of the page at ``address``."""
        return (self.out / address / "index.html").read_text("utf-8")


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Build the small lab strictly."""
    project = make_lab(tmp_path_factory.mktemp("lab"))
    report = build(project, project.root / "public", strict=True)
    assert (report.problems, report.warnings) == ((), ())
    return Built(project, project.root / "public")


@pytest.fixture(scope="session")
def built_study(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Build a lab with an A/A study strictly."""
    project = make_study_lab(tmp_path_factory.mktemp("study"))
    report = build(project, project.root / "public", strict=True)
    assert (report.problems, report.warnings) == ((), ())
    return Built(project, project.root / "public")


@pytest.fixture(scope="session")
def address(built: Built) -> Iterator[str]:
    """Serve the built site under the policy that a published one should have."""
    with serving(built.out, port=0) as served:
        yield served


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start the machine's Chromium; without one these tests fail, since nothing else shows what a reader sees."""
    named = os.environ.get("CHROMIUM") or next((path for name in NAMES if (path := shutil.which(name))), None)
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=named or "/usr/bin/chromium", args=["--no-sandbox"])
        yield started
        started.close()
