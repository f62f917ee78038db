"""What is kept from one build to the next: never anything that a cold build would not make, whoever makes it."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reportgen.archive.notes import exclude
from reportgen.project import Project, at_address, open_project
from reportgen.publish import stamp
from reportgen.publish.assistant import Desk
from reportgen.publish.build import build
from reportgen.publish.cache import FOLDER, Cache
from reportgen.publish.crew import Crew, Job, crew_of
from reportgen.publish.gather import Gathered
from reportgen.publish.hashes import Hashes
from reportgen.publish.remembering import Memory
from reportgen.publish.site import make_site
from reportgen.publish.theme_folders import theme_folders
from tests.publish.conftest import Built
from tests.publish.site_lab import PRETEND
from tests.publish.test_build import tree

PATIENCE_S = 300.0
DOCS = {
    "README.md": "# Docs\n\nAll of it.\n\n## Here\n\n- [Page](page.md)\n",
    "page.md": "# Page\n\nSee [the sources](../kernels/here.cu).\n",
}
SETTINGS = 'title = "A lab"\nrepository = "https://example.org/lab"\n[site]\ndocs = "docs"\n'


@pytest.fixture(scope="module")
def lab(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Copy the small lab with what was kept of it, and give it documentation that leads to a file of the lab."""
    root = tmp_path_factory.mktemp("kept") / "lab"
    shutil.copytree(built.project.root, root)
    for name, text in DOCS.items():
        (root / "docs").mkdir(exist_ok=True)
        (root / "docs" / name).write_text(text, "utf-8")
    (root / "kernels").mkdir()
    (root / "kernels" / "here.cu").write_text("", "utf-8")
    (root / "reportgen.toml").write_text(SETTINGS, "utf-8")
    project = open_project(root)
    assert not build(project, root / "public", strict=True).failed
    return project


def made(project: Project) -> int:
    """Count the pages that must be made when the lab is built from what is kept."""
    cache, memory = Cache(project.root / FOLDER), Memory()
    make_site(project, Gathered(project, cache), memory, cache)
    return memory.made


def cold(project: Project, folder: Path) -> dict[str, str]:
    """Build a lab of which nothing was kept, and hash its site."""
    shutil.copytree(project.root, folder, ignore=shutil.ignore_patterns("public", FOLDER))
    build(open_project(folder), folder / "public", strict=False)
    return tree(folder / "public")


def of_page(project: Project) -> None:
    """Change what somebody wrote."""
    page = project.site / "report.md"
    page.write_text(page.read_text("utf-8").replace("Everything else.", "All the rest."), "utf-8")


def of_template(project: Project) -> None:
    """Put a template of the lab's own in place of the theme's."""
    own = (theme_folders(project.templates)[-1] / "attempt.html").read_text("utf-8")
    (project.root / "templates").mkdir()
    changed = own.replace("{% endblock %}", "<!-- another template -->{% endblock %}")
    (project.root / "templates" / "attempt.html").write_text(changed, "utf-8")


def of_note(project: Project) -> None:
    """Exclude the simulated attempt."""
    exclude(next((project.runs / PRETEND).glob("2*Z-*-??????")), "a reason to tell")


def of_settings(project: Project) -> None:
    """Call the lab something else."""
    (project.root / "reportgen.toml").write_text(SETTINGS.replace("A lab", "Another lab"), "utf-8")


def of_place(project: Project) -> None:
    """Take away a file that no page holds, and that the documentation leads to."""
    (project.root / "kernels" / "here.cu").unlink()


# What is changed, a page that says it and what it then says, and a page that has nothing to do with it.
CHANGES: dict[str, tuple[Callable[[Project], None], str, str, str]] = {
    "page": (of_page, "report", "All the rest.", "made-up"),
    "template": (of_template, "runs", "another template", "report"),
    "note": (of_note, "attempts", "a reason to tell", "report"),
    "settings": (of_settings, "report", "Another lab", ""),
    "place": (of_place, "docs/page", "docs/page", "report"),
}


def test_each_change_shows_where_it_must_and_all_is_as_a_cold_build_makes_it(lab: Project, tmp_path: Path) -> None:
    """A page, a template, a note beside an attempt, a setting, and a file of the lab that documentation leads to."""
    out = lab.root / "public"
    shutil.copytree(lab.root, tmp_path / "lab")
    lab, out = open_project(tmp_path / "lab"), tmp_path / "lab" / "public"
    for name, (change, page, says, other) in CHANGES.items():
        html = {path: path.read_bytes() for path in out.rglob("*.html")}
        change(lab)
        report = build(open_project(lab.root), out, strict=False)
        assert report.written > 0, name
        if name == "place":
            assert "docs/page.md:3" in [one.where for one in report.warnings]
        elif page != "runs":
            assert says in (out / page / "index.html").read_text("utf-8"), name
        else:
            assert all(says in path.read_text("utf-8") for path in out.rglob("attempts/2*/index.html"))
        if other:
            assert html[out / other / "index.html"] == (out / other / "index.html").read_bytes(), name
    assert cold(lab, tmp_path / "cold") == tree(out)


def test_a_build_that_finds_all_kept_makes_no_page_and_another_program_or_address_makes_all(
    lab: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key holds the program, its libraries, and what a command says in place of the settings."""
    assert 0 == made(lab)
    every = made(at_address(lab, "https://example.org/there"))
    assert every > len(DOCS)
    monkeypatch.setattr(stamp, "LIBRARIES", (*stamp.LIBRARIES, "typer"))
    assert every == made(lab)


def test_a_page_kept_damaged_is_made_again(lab: Project) -> None:
    """One flipped bit is no other page."""
    for path in (lab.root / FOLDER / "pages").iterdir():
        data = bytearray(path.read_bytes())
        data[-1] ^= 1
        path.write_bytes(bytes(data))
    shutil.rmtree(lab.root / FOLDER / "stamps")
    before = tree(lab.root / "public")
    assert 0 == build(lab, lab.root / "public", strict=True).written
    assert before == tree(lab.root / "public")
    assert 0 == made(lab)


def test_a_file_is_read_again_once_it_changed_whatever_its_times_say(tmp_path: Path) -> None:
    """Another content of the same length, under the old time of change; and at once after it was first read."""
    page, kept = tmp_path / "page", Hashes(tmp_path / "hashes")
    page.write_text("one", "utf-8")
    first = kept.of(page)
    page.write_text("two", "utf-8")
    second = kept.of(page)
    assert first != second
    time.sleep(0.2)  # until it is old enough for its hash to be kept
    assert second == kept.of(page)
    kept.save()
    again = Hashes(tmp_path / "hashes")
    assert second == again.of(page)
    times = page.stat()
    page.write_text("six", "utf-8")
    os.utime(page, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert again.of(page) not in (first, second)
    (tmp_path / "hashes").write_bytes(b"\x00nothing")
    assert Hashes(tmp_path / "hashes").of(page) == again.of(page)


@contextmanager
def helped(project: Project) -> Iterator[Crew]:
    """Give a crew of this process and one helper."""
    with crew_of(project, Cache(project.root / FOLDER), 1) as crew:
        yield crew


def waiting_for(folder: Path) -> Callable[[], None]:
    """Give something to do that ends when the folder holds an entry that somebody else made."""

    def wait() -> None:
        until = time.monotonic() + PATIENCE_S
        while not (folder.is_dir() and any(folder.iterdir())) and time.monotonic() < until:
            time.sleep(0.01)

    return wait


def test_a_helper_makes_what_it_is_told_and_ends_with_its_crew(built: Built, tmp_path: Path) -> None:
    """While this process waits for it; one that is killed takes nothing along but time."""
    shutil.copytree(built.project.root, tmp_path / "lab", ignore=shutil.ignore_patterns("public", FOLDER))
    project = open_project(tmp_path / "lab")
    attempt = next((project.runs / PRETEND).glob("2*Z-*-??????"))
    told = f"record {PRETEND}@{attempt.name[-6:]}"
    done: list[str] = []
    with helped(project) as crew:
        helper = crew.helpers[0]
        waiting = Job("unknown", 2, waiting_for(project.root / FOLDER / "downloads"))
        crew.share([waiting, Job(told, 1, lambda: done.append("here"))])
        assert [] == done
        helper.kill()
        crew.share([Job("one", 2, lambda: done.append("one")), Job("two", 1, lambda: done.append("two"))])
    assert helper.returncode is not None
    assert done
    assert 1 == len(list((project.root / FOLDER / "downloads").iterdir()))
    desk = Desk(project, Cache(project.root / FOLDER))
    for name in [*desk.names(), "page site/report.md"]:
        desk.do(name)
    assert made(project) < made(at_address(project, "https://example.org/there"))
    report = build(project, project.root / "public", strict=True)
    assert not report.failed
    assert tree(built.out) == tree(project.root / "public")


def test_what_stops_a_job_is_said_by_whoever_asks_for_what_it_should_have_made(built: Built, tmp_path: Path) -> None:
    """In one line, with the attempt, as without helpers."""
    shutil.copytree(built.project.root, tmp_path / "lab", ignore=shutil.ignore_patterns("public", FOLDER))
    project = open_project(tmp_path / "lab")
    attempt = next((project.runs / PRETEND).glob("2*Z-*-??????"))
    (attempt / "batches.parquet").write_bytes(b"no table")
    found = [str(problem) for problem in build(project, tmp_path / "out", strict=True).problems]
    assert any(line.startswith(f"runs/{PRETEND}/{attempt.name}: batches.parquet: ") for line in found)
