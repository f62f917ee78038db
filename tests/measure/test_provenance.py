"""When sources were last changed is read from a real repository, or from a file that speaks of the same sources."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from reportgen.errors import InputError
from reportgen.measure.identity import file_sha256
from reportgen.measure.provenance import declare, find_provenance, observe, read_declaration
from reportgen.model.plan import PlanFile

FIRST, SECOND = "2026-03-01T10:00:00+02:00", "2026-03-02T10:00:00+02:00"


def git(folder: Path, *arguments: str, at: str = FIRST) -> str:
    """Run git with a fixed author and clock, and no setting of the machine."""
    identity = {f"GIT_{who}_{what}": "t@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    dates = {"GIT_AUTHOR_DATE": FIRST, "GIT_COMMITTER_DATE": at, "GIT_CONFIG_GLOBAL": os.devnull}
    environment = {**os.environ, **identity, **dates}
    return subprocess.run(
        ["git", "-C", str(folder), *arguments], env=environment, check=True, capture_output=True, text=True
    ).stdout.strip()


def plan_files(kernels: Path) -> list[PlanFile]:
    """Hash the two files of the plan, one of them with an awkward name."""
    paths = ["adding/experiment.toml", "adding/plain [é].c"]
    return [PlanFile(path=path, sha256=file_sha256(kernels / path)) for path in paths]


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    """Commit the plan's files, then a later change of another file."""
    folder = tmp_path / "lab" / "kernels"
    (folder / "adding").mkdir(parents=True)
    git(folder.parent, "init", "-q")
    (folder / "adding" / "experiment.toml").write_text("a")
    (folder / "adding" / "plain [é].c").write_text("b")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "first")
    (folder / "other.c").write_text("c")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "second", at=SECOND)
    return folder


def test_the_last_commit_that_touches_the_files_froze_them(kernels: Path) -> None:
    """Not the newest commit: its time, in UTC, is that of the committer."""
    found = observe(kernels, plan_files(kernels))
    assert git(kernels, "rev-parse", "HEAD~1") == found.commit
    assert ("observed", False, "2026-03-01T08:00:00Z", "") == (
        found.known,
        found.dirty,
        found.frozen_at,
        found.reason,
    )


def test_a_changed_file_is_frozen_by_nothing_but_the_attempt(kernels: Path) -> None:
    """Dirty, no time, and the reason names the file."""
    (kernels / "adding" / "plain [é].c").write_text("changed")
    found = observe(kernels, plan_files(kernels))
    assert ("observed", True, None) == (found.known, found.dirty, found.frozen_at)
    assert "kernels/adding/plain [é].c: changes that no commit holds" in found.reason


@pytest.mark.parametrize("ignored", [False, True])
def test_a_file_that_git_never_saw_is_dirty(kernels: Path, *, ignored: bool) -> None:
    """Untracked or ignored: no commit holds it."""
    new = kernels / "adding" / "new.c"
    new.write_text("d")
    if ignored:
        (kernels.parent / ".git" / "info" / "exclude").write_text("new.c\n")
    files = [*plan_files(kernels), PlanFile(path="adding/new.c", sha256=file_sha256(new))]
    found = observe(kernels, files)
    assert found.dirty
    assert "kernels/adding/new.c" in found.reason


def test_a_change_elsewhere_is_no_concern(kernels: Path) -> None:
    """Only the plan's own files count."""
    (kernels / "other.c").write_text("changed")
    assert observe(kernels, plan_files(kernels)).dirty is False


def test_a_repository_named_by_the_environment_is_not_asked(kernels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook's GIT_DIR would speak of other sources."""
    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    assert observe(kernels, plan_files(kernels)).known == "observed"


def test_without_a_repository_provenance_is_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With git's own words as the reason; nothing is invented."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    found = observe(tmp_path, [])
    assert ("absent", None, None) == (found.known, found.commit, found.frozen_at)
    assert "not a git repository" in found.reason


def test_without_git_provenance_is_absent(kernels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine may have no git at all."""
    monkeypatch.setenv("PATH", "")
    assert observe(kernels, plan_files(kernels)).reason == "git is not installed"


def test_a_cut_off_history_gives_no_time(kernels: Path, tmp_path: Path) -> None:
    """In a shallow clone the oldest commit seems to have made every file."""
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{kernels.parent}", "shallow")
    found = observe(tmp_path / "shallow" / "kernels", plan_files(kernels))
    assert ("observed", None) == (found.known, found.frozen_at)
    assert "history is cut off" in found.reason


def test_a_declaration_carries_over_to_a_machine_without_the_repository(kernels: Path, tmp_path: Path) -> None:
    """The same facts, marked declared."""
    files = plan_files(kernels)
    target = tmp_path / "provenance.json"
    written = declare(kernels, files, target)
    found = find_provenance(tmp_path, files, declared=target)
    assert ("declared", written.commit, False, written.frozen_at) == (
        found.known,
        found.commit,
        found.dirty,
        found.frozen_at,
    )


def test_a_declaration_of_other_sources_is_refused(kernels: Path, tmp_path: Path) -> None:
    """It names the file that differs."""
    files = plan_files(kernels)
    declare(kernels, files, tmp_path / "provenance.json")
    changed = [files[0], PlanFile(path=files[1].path, sha256="0" * 64)]
    with pytest.raises(InputError, match=r"provenance.json: speaks of another adding/plain \[é\].c than the plan's"):
        read_declaration(tmp_path / "provenance.json", changed)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "cannot be read as a provenance file"),
        ('{"schema_version": 1}', "missing required field"),
        (
            json.dumps(
                {"schema_version": 2, "commit": None, "dirty": None, "frozen_at": None, "reason": "", "files": []}
            ),
            "schema_version 2 is newer",
        ),
    ],
)
def test_a_file_that_is_no_declaration_is_refused(tmp_path: Path, text: str, says: str) -> None:
    """One line with the file's name."""
    path = tmp_path / "provenance.json"
    path.write_text(text)
    with pytest.raises(InputError, match=says) as fault:
        read_declaration(path, [])
    assert str(path) in str(fault.value)


def test_nothing_is_declared_where_git_knows_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A declaration never upgrades ignorance."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(InputError, match="there is nothing to declare"):
        declare(tmp_path, [], tmp_path / "provenance.json")
