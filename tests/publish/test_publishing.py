"""What `publish` and `check` say: what would change file by file, and where a problem stands down to the column."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from reportgen.project import Project
from reportgen.publish.build import build
from reportgen.publish.places import place_of
from reportgen.publish.problems import Problem
from reportgen.publish.server import serving
from tests.entry import called
from tests.publish.conftest import Built
from tests.publish.site_lab import HOME, make_lab
from tests.publish.test_build import tree


def run(*words: str) -> tuple[int, str, str]:
    """Run a command; return its status and what it printed."""
    ended = called(words)
    return ended.returncode, ended.stdout, ended.stderr


@pytest.fixture
def lab(tmp_path: Path) -> Project:
    """Make a lab of one page, built into ``published``."""
    project = make_lab(tmp_path / "lab", {"index.md": HOME.split("Read the")[0]}, measured=False)
    build(project, tmp_path / "published", strict=True)
    return project


def test_a_dry_run_lists_what_would_change(lab: Project, tmp_path: Path) -> None:
    """In a folder and at an address alike; nothing is written."""
    (lab.site / "static").mkdir()
    (lab.site / "static" / "new.txt").write_text("new", "utf-8")
    (lab.site / "index.md").write_text(HOME.split("Read the")[0] + "More.\n", "utf-8")
    old = tmp_path / "published" / "static" / "old.txt"
    old.write_text("old!", "utf-8")
    before = tree(tmp_path / "published")
    asked = ["publish", "--dry-run", "--project", str(lab.root), "--json", "--to"]
    status, out, _ = run(*asked, str(tmp_path / "published"))
    told: Any = json.loads(out)
    assert 0 == status
    assert [("static/new.txt", 3)] == [(file["path"], file["bytes"]) for file in told["new"]]
    assert ["static/old.txt"] == [file["path"] for file in told["removed"]]
    changed = {file["path"] for file in told["changed"]}
    assert "index.html" in changed
    assert "static/style.css" not in changed
    assert told["same"] > 0
    assert before == tree(tmp_path / "published")
    with serving(tmp_path / "published", port=0) as address:
        status, out, _ = run(*asked, address)
    at_address = json.loads(out)
    assert (told["new"], told["changed"]) == (at_address["new"], at_address["changed"])
    assert [] == at_address["removed"]  # nobody built that file, so the site does not list it


def test_a_folder_is_published_to_and_then_nothing_would_change(lab: Project, tmp_path: Path) -> None:
    """What is there afterwards is what a build makes."""
    asked = ["publish", "--project", str(lab.root), "--to", str(tmp_path / "new" / "place")]
    assert 0 == run(*asked)[0]
    assert tree(tmp_path / "published") == tree(tmp_path / "new" / "place")
    status, out, _ = run(*asked, "--dry-run")
    assert 0 == status
    assert "0 new, 0 changed, 0 removed" in out


def test_an_address_is_never_written_to(lab: Project) -> None:
    """Nor is anything guessed: each refusal says what to do."""
    asked = ["publish", "--project", str(lab.root)]
    for words, said in (
        (["--to", "https://example.org/"], "published to by its host"),
        ([], "name a published folder or address with --to"),
        (["--dry-run", "--to", str(lab.root / "nowhere")], "no such folder"),
        (["--dry-run", "--to", "http://127.0.0.1:9/"], "127.0.0.1:9/data/files.json: cannot be read"),
    ):
        status, out, err = run(*asked, *words)
        assert (2, "") == (status, out)
        assert said in err


def test_the_listing_names_every_file(built: Built) -> None:
    """With length and SHA-256, but for itself."""
    told = json.loads((built.out / "data" / "files.json").read_text("utf-8"))["files"]
    whole = tree(built.out)
    assert whole.keys() - {".reportgen-site", "data/files.json"} == {file["path"] for file in told}
    assert all(whole[file["path"]] == file["sha256"] for file in told)


def test_check_says_file_line_and_column(tmp_path: Path) -> None:
    """As compilers do, as annotations, and for programs; with 1 where something is wrong and 2 for misuse."""
    text = HOME.split("Read the")[0] + "It took 3.1 ms, as [said](gone/).\n"
    project = make_lab(tmp_path / "lab", {"index.md": text.replace("home", "report", 1)}, measured=False)
    asked = ["check", "--project", str(project.root)]
    status, out, _ = run(*asked)
    assert 1 == status
    assert "site/index.md:9:9: error: '3.1 ms' reads like a measured time" in out
    assert "site/index.md:9:27: error: dead link: gone/" in out
    assert 1 == run(*asked, "--format", "github")[0]
    status, out, _ = run(*asked, "--json")
    told = json.loads(out)
    assert (False, 1) == (told["passed"], status)
    assert ("site/index.md", 9, 9, "error") == tuple(
        told["findings"][0][key] for key in ("file", "line", "column", "severity")
    )
    assert 2 == run(*asked, "--format", "prose")[0]
    (project.site / "index.md").write_text(HOME.split("Read the")[0], "utf-8")
    shutil.rmtree(project.root / ".cache", ignore_errors=True)
    assert (0, "") == run(*asked)[::2]


def test_an_annotation_ends_where_it_should(tmp_path: Path) -> None:
    """A comma in a file's name and a line break in a message end nothing."""
    (tmp_path / "a,b.md").write_text("one\ntwo 50 %\n", "utf-8")
    place = place_of(Problem("a,b.md:2", "'50 %' is\nodd", grave=False), tmp_path)
    assert "::warning file=a%2Cb.md,line=2,col=5::'50 %25' is%0Aodd" == place.annotation()
    assert "error: runs/x: gone" == str(place_of(Problem("runs/x", "gone"), tmp_path))
