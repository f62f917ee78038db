"""A build gathers everything, then writes; the same sources give the same bytes anywhere."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from reportgen.archive.notes import exclude
from reportgen.errors import InputError
from reportgen.project import open_project
from reportgen.publish.build import build
from reportgen.publish.check import check
from tests.publish.conftest import Built
from tests.publish.site_lab import HOME, PRETEND, REPORT, make_lab

BUILD = """
import os, sys
scan, names = os.scandir, os.listdir
class Backwards:
    def __init__(self, path="."):
        with scan(path) as found:
            self.entries = iter(sorted(found, key=lambda one: one.name, reverse=True))
    def __iter__(self): return self.entries
    def __next__(self): return next(self.entries)
    def __enter__(self): return self
    def __exit__(self, *_): pass
    def close(self): pass
os.scandir, os.listdir = Backwards, lambda path=".": sorted(names(path), reverse=True)
from pathlib import Path
from reportgen.project import open_project
from reportgen.publish.build import build
project = open_project(Path(sys.argv[1]))
sys.exit(build(project, Path(sys.argv[2]), strict=True).failed)
"""


def tree(folder: Path) -> dict[str, str]:
    """Hash every file under ``folder``."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_build_elsewhere_gives_the_same_bytes(built: Built, tmp_path: Path) -> None:
    """Another folder, time zone, locale, hash seed and order of directories, without any cache."""
    lab = tmp_path / "other place"
    shutil.copytree(built.project.root, lab, ignore=shutil.ignore_patterns("public", ".cache"))
    elsewhere = os.environ | {"TZ": "Pacific/Kiritimati", "LC_ALL": "C", "LANG": "C", "PYTHONHASHSEED": "77"}
    subprocess.run([sys.executable, "-c", BUILD, str(lab), str(lab / "out")], check=True, env=elsewhere)
    assert tree(built.out) == tree(lab / "out")


def test_an_unchanged_build_writes_nothing_and_a_touched_attempt_only_its_dependants(
    built: Built, tmp_path: Path
) -> None:
    """Excluding the simulated attempt leaves every page of the measured record as it was."""
    lab = tmp_path / "lab"
    shutil.copytree(built.project.root, lab)
    project = open_project(lab)
    again = build(project, lab / "public", strict=True)
    assert (0, 0) == (again.written, again.removed)
    (lab / "public" / "report" / "index.html").write_text("spoilt", "utf-8")
    mended = build(project, lab / "public", strict=True)
    assert (1, 0) == (mended.written, mended.removed)
    assert tree(built.out) == tree(lab / "public")
    before = {path: path.stat().st_mtime_ns for path in (lab / "public" / "records" / "sample").rglob("*")}
    exclude(next((lab / "runs" / PRETEND).iterdir()), "a test of the tools")
    (lab / "site" / "made-up.md").unlink()
    (lab / "site" / "index.md").write_text(HOME.replace(" or the [made-up one](made-up/)", ""), "utf-8")
    touched = build(project, lab / "public", strict=True)
    assert (True, True) == (touched.written > 0, touched.removed > 0)
    assert before == {path: path.stat().st_mtime_ns for path in (lab / "public" / "records" / "sample").rglob("*")}
    assert not (lab / "public" / "made-up").exists()
    assert "a test of the tools" in (lab / "public" / "attempts" / "index.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("\n[gone](nowhere/)\n", "site/index.md:10", "dead link: nowhere/"),
        ("\n[gone](attempts/#nothing)\n", "site/index.md:10", "no anchor 'nothing'"),
        ("\n{{ change('sample:nobody') }}\n", "site/index.md:10", "no record 'sample'"),
        ("\n{{ nothing_such() }}\n", "site/index.md:10", "'nothing_such' is undefined"),
        ('\n<img src="static/icon.svg">\n', "site/index.md:10", "image without alternative text"),
    ],
    ids=["dead link", "missing anchor", "unknown record", "unknown binding", "image without words"],
)
def test_a_strict_build_fails_with_file_and_line_and_writes_nothing(
    tmp_path: Path, text: str, where: str, what: str
) -> None:
    """The same problem is a warning of any other build."""
    project = make_lab(tmp_path / "lab", {"index.md": HOME.split("Read the")[0] + text}, measured=False)
    report = build(project, tmp_path / "out", strict=True)
    assert [where] == [problem.where for problem in report.problems]
    assert what in report.problems[0].what
    assert not (tmp_path / "out").exists()
    lenient = build(project, tmp_path / "out", strict=False)
    assert (report.problems, ()) == (lenient.warnings, lenient.problems)
    assert check(project).problems == report.problems


def test_pages_nobody_leads_to_and_addresses_taken_twice_are_problems(tmp_path: Path) -> None:
    """Orphans and clashes are found before anything is written."""
    lost = HOME.replace('address = ""', 'address = "lost/"').replace('"home"', '"note"').split("Read the")[0]
    pages = {"index.md": HOME.split("Read the")[0], "lost.md": lost, "other.md": lost}
    problems = check(make_lab(tmp_path / "lab", pages, measured=False)).problems
    assert ["address 'lost/' is taken by another page", "no page leads here"] == sorted(one.what for one in problems)


def test_a_folder_that_is_no_site_is_left_alone(tmp_path: Path) -> None:
    """A build never prunes what it did not write."""
    project = make_lab(tmp_path / "lab", {"index.md": HOME.split("Read the")[0]}, measured=False)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter.txt").write_text("dear", "utf-8")
    with pytest.raises(InputError, match="no built site"):
        build(project, tmp_path / "home", strict=False)
    assert "dear" == (tmp_path / "home" / "letter.txt").read_text("utf-8")


def test_what_others_put_into_a_built_site_stays(tmp_path: Path) -> None:
    """The next build removes what the last one wrote and nothing else."""
    page = "+++\ntitle = 'Soon gone'\naddress = 'gone/'\nkind = 'finding'\nsummary = ''\ndate = 2026-01-01\n+++\n\nWords.\n"
    home = HOME.split("Read the")[0]
    project = make_lab(tmp_path / "lab", {"index.md": home, "gone.md": page}, measured=False)
    build(project, tmp_path / "out", strict=False)
    (tmp_path / "out" / "gone" / "thesis.txt").write_text("mine", "utf-8")
    (tmp_path / "out" / ".git").mkdir()
    (tmp_path / "out" / ".git" / "HEAD").write_text("ref", "utf-8")
    (project.site / "gone.md").unlink()
    build(project, tmp_path / "out", strict=False)
    assert not (tmp_path / "out" / "gone" / "index.html").exists()
    assert "mine" == (tmp_path / "out" / "gone" / "thesis.txt").read_text("utf-8")
    assert "ref" == (tmp_path / "out" / ".git" / "HEAD").read_text("utf-8")


class Texts(HTMLParser):
    """Collects tags and text of a page as a browser reads them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, _attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag."""
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        """Note text."""
        self.text += data


@pytest.mark.parametrize("address", ["", "report", "attempts", "data"])
def test_titles_and_reasons_are_text_never_markup(built: Built, address: str) -> None:
    """Quotes, tags and letters beyond ASCII come out as they were written."""
    page = Texts(built.page(address))
    # For tables and search; of the report for card, fixtures and footnotes.
    assert page.tags.count("script") == 2 + 3 * (address == "report")
    assert "b" not in page.tags
    if address != "attempts":
        assert 'Loads & "stores": <script>alert(1)</script> für Ångström' in page.text
    else:
        assert "sources changed: <b>sample.c</b>" in page.text


def test_a_simulated_record_says_so_wherever_it_appears_and_is_no_study(built: Built) -> None:
    """Loudly, and never on the first page."""
    pages = {
        path.parent.relative_to(built.out).as_posix(): path.read_text("utf-8") for path in built.out.rglob("*.html")
    }
    showing = {name for name, html in pages.items() if "Made-up device" in html}
    assert {"made-up", "attempts"} <= showing
    assert all("made up by a program to test the tools" in pages[name] for name in showing)
    assert "Simulated" not in pages["report"]
    assert "pretend" not in pages["."]


def test_a_study_is_led_to_the_page_that_is_about_it(tmp_path: Path) -> None:
    """Not to one of an earlier address that only sets its record beside another."""
    plain = REPORT.partition("{{ answer")[0]
    beside = plain.replace('"report/"', '"a/"').replace('["sample"]', f"['{PRETEND}', 'sample']")
    project = make_lab(tmp_path / "lab", {"index.md": HOME, "report.md": plain, "beside.md": beside})
    build(project, tmp_path / "out", strict=False)
    home = (tmp_path / "out" / "index.html").read_text("utf-8")
    studies = home[home.index('class="studies"') :]
    assert (True, False) == ('href="./report/"' in studies, 'href="./a/"' in studies)


def test_every_attempt_is_in_the_ledger_and_has_a_page(built: Built) -> None:
    """Scored, quick, invalid and open alike, each with its reason."""
    ledger = built.page("attempts")
    for said in ("a quick look", "sources changed", "interrupted after 3 of 12 repetitions", "complete", "aborted"):
        assert said in ledger
    runs = [path for path in (built.project.runs).glob("*/*") if path.is_dir()]
    pages = list(built.out.glob("records/*/*/attempts/*/index.html")) + list(built.out.glob("attempts/*/index.html"))
    assert len(runs) == len(pages) == 5


def test_the_index_lists_every_published_record(built: Built) -> None:
    """Programs find files with bytes and SHA-256."""
    index = json.loads((built.out / "data" / "index.json").read_text("utf-8"))
    assert [PRETEND, "sample"] == [record["experiment"] for record in index["records"]]
    for record in index["records"]:
        for file in record["files"]:
            data = (built.out / file["path"]).read_bytes()
            assert (file["bytes"], file["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())


def test_a_lab_overrides_the_theme_file_by_file(tmp_path: Path) -> None:
    """One template of its own; the rest stays."""
    project = make_lab(tmp_path / "lab", {"index.md": HOME.split("Read the")[0]}, measured=False)
    (project.templates / "static").mkdir(parents=True)
    (project.templates / "404.html").write_text("{{ page.frame.site_title }}: lost", "utf-8")
    (project.templates / "static" / "style.css").write_text("body{}", "utf-8")
    build(project, tmp_path / "out", strict=True)
    assert "A lab: lost" == (tmp_path / "out" / "404.html").read_text("utf-8")
    assert "body{}" == (tmp_path / "out" / "static" / "style.css").read_text("utf-8")
    assert (tmp_path / "out" / "static" / "icon.svg").is_file()
