"""Merging what other hosts measured: alike joins, unlike is named, nothing is written twice."""

from __future__ import annotations

import hashlib
import json
import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from reportgen.archive import layout
from reportgen.archive.load import Attempt, load_attempt
from reportgen.archive.notes import exclude
from reportgen.archive.select import find_sound_record
from reportgen.archive.sums import sums_of
from reportgen.errors import InputError
from reportgen.model.record import Device, Status
from reportgen.publish.merging import merge
from tests.entry import called
from tests.factories import NAME, SOURCES, STARTED, sealed_attempt

ROOT = Path(__file__).parents[2]
OTHER = Device(id="cpu-ba9876543210", model="Sample CPU", kind="cpu", facts={"cores": 4})


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Archive with one attempt of this host."""
    sealed_attempt(tmp_path / "here" / "runs", repetitions=12)
    return tmp_path / "here" / "runs"


@pytest.fixture
def theirs(tmp_path: Path) -> Attempt:
    """Give an attempt of the same plan on another host's device, later."""
    return sealed_attempt(
        tmp_path / "there" / "runs", header={"device": OTHER, "started": STARTED + timedelta(hours=1)}
    )


def outcomes(runs: Path, *paths: Path) -> list[tuple[str, str]]:
    """Merge; what became of each, and the field that differs."""
    return [(one.outcome, one.field) for one in merge(runs, paths)]


def test_an_attempt_of_another_host_speaks_in_the_record(runs: Path, theirs: Attempt) -> None:
    """Byte for byte the same here and there; two devices speak; a second time it is present."""
    assert [("merged", "")] == outcomes(runs, theirs.path)
    record, _ = find_sound_record(runs, NAME)
    assert sorted(["cpu-0123456789ab", "cpu-ba9876543210"]) == list(record.devices)
    assert sums_of(theirs.path) == sums_of(runs / NAME / theirs.id)
    assert [("present", "")] == outcomes(runs, theirs.path)
    assert [] == [path for path in (runs / NAME).iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("inner", [".", "runs", "id"])
def test_zips_hold_an_attempt_or_whole_archives(runs: Path, theirs: Attempt, tmp_path: Path, inner: str) -> None:
    """The files of an attempt, its folder, or all of runs/."""
    root = {".": theirs.path, "id": theirs.path.parent, "runs": theirs.path.parents[1]}[inner]
    packed = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", root))
    assert [("merged", "")] == outcomes(runs, packed)
    assert load_attempt(runs / NAME / theirs.id).sealed


def test_other_code_of_one_arm_is_refused_and_the_arm_named(runs: Path, theirs: Attempt) -> None:
    """The plan is the same; what was compiled from it is not."""
    rewrite(theirs, "candidate")
    (found,) = merge(runs, [theirs.path])
    assert ("refused", "code of arm candidate") == (found.outcome, found.field)
    assert not (runs / NAME / theirs.id).exists()


def test_another_plan_beside_an_alike_one_is_refused_and_stops_no_other(
    runs: Path, theirs: Attempt, tmp_path: Path
) -> None:
    """The earliest is the measure; the other has one more source."""
    sources = SOURCES | {f"{NAME}/experiment.py": b"# changed"}
    other = sealed_attempt(tmp_path / "other", sources=sources, header={"started": STARTED + timedelta(hours=2)})
    assert [("merged", ""), ("refused", "plan")] == outcomes(runs, other.path, theirs.path)


def test_one_id_with_other_bytes_is_refused(runs: Path, tmp_path: Path) -> None:
    """Two hosts chose one id, or somebody changed one of the two: neither is overwritten."""
    mine = next((runs / NAME).iterdir())
    before = sums_of(mine)
    twin = sealed_attempt(tmp_path / "twin" / "runs", repetitions=12, header={"device": OTHER})
    assert twin.id == mine.name
    (found,) = merge(runs, [twin.path])
    assert ("refused", True) == (found.outcome, "with other bytes is here" in found.reason)
    assert before == sums_of(mine)


def test_damaged_and_open_attempts_are_refused(runs: Path, theirs: Attempt) -> None:
    """The first file that is wrong is named."""
    (theirs.path / layout.BATCHES).write_bytes(b"PAR1")
    (found,) = merge(runs, [theirs.path])
    assert ("refused", True) == (found.outcome, found.reason.startswith("batches.parquet: is damaged"))
    opened = theirs.path.rename(theirs.path.with_name(f"{theirs.id}.partial"))
    assert "it is open" in merge(runs, [opened])[0].reason


def test_notes_come_along_and_later_ones_follow(runs: Path, theirs: Attempt) -> None:
    """An exclusion made there before or after merging holds here."""
    assert [("merged", "")] == outcomes(runs, theirs.path)
    here = runs / NAME / theirs.id
    assert Status.SCORED == load_attempt(here).status
    exclude(theirs.path, "the fan was off")
    assert "its notes were brought up to date" == merge(runs, [theirs.path])[0].reason
    assert Status.EXCLUDED == load_attempt(here).status
    shutil.rmtree(here)
    layout.notes_file(here).unlink()
    assert [("merged", "")] == outcomes(runs, theirs.path)
    assert Status.EXCLUDED == load_attempt(here).status


def test_notes_that_were_written_apart_are_refused(runs: Path, theirs: Attempt) -> None:
    """Neither side's are lost."""
    outcomes(runs, theirs.path)
    exclude(runs / NAME / theirs.id, "seen here")
    exclude(theirs.path, "seen there")
    (found,) = merge(runs, [theirs.path])
    assert ("refused", True) == (found.outcome, "were written apart" in found.reason)
    assert "seen here" == load_attempt(runs / NAME / theirs.id).reason


def test_what_is_no_attempt_is_named(runs: Path, tmp_path: Path) -> None:
    """Misuse, before anything is copied."""
    for path, what in ((tmp_path / "nowhere", "no such file"), (tmp_path, "holds no attempt")):
        folder = path if path != tmp_path else tmp_path / "empty"
        if path == tmp_path:
            folder.mkdir()
        with pytest.raises(InputError, match=what):
            merge(runs, [folder])


def test_the_command_says_what_became_of_each(runs: Path, theirs: Attempt) -> None:
    """JSON for programs; the status tells that one was refused."""
    rewrite(theirs, "control")
    finished = called(["merge", str(theirs.path), "--json", "--project", str(runs.parent)])
    assert 1 == finished.returncode, finished.stderr
    (told,) = json.loads(finished.stdout)
    assert {"attempt": theirs.id, "outcome": "refused", "field": "code of arm control"}.items() <= told.items()


def rewrite(attempt: Attempt, arm: str) -> None:
    """Give an arm other code, and the sums that go with it, as if it had been compiled otherwise."""
    code = b"other code"
    (layout.binaries_dir(attempt.path) / "other.so").write_bytes(code)
    file = attempt.path / layout.MANIFEST
    manifest = json.loads(file.read_bytes())
    manifest["binaries"][arm] = hashlib.sha256(code).hexdigest()
    file.write_text(json.dumps(manifest), "utf-8")
    (attempt.path / layout.SUMS).write_bytes(sums_of(attempt.path))
