"""Sealing: the same rows give the same bytes, nothing is overwritten, and no fault at any step costs a row."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import msgspec
import pytest

from reportgen.archive import layout
from reportgen.archive.counting import count
from reportgen.archive.journal import read_journal
from reportgen.archive.load import load_attempt
from reportgen.archive.seal import seal
from reportgen.archive.sums import check_sums, files_under
from reportgen.errors import InputError
from reportgen.model.record import Counts, Status
from tests.factories import STARTED, make_header, make_manifest, make_plan, make_rows, open_attempt, sealed_attempt

PLAN = make_plan()
ROWS = make_rows(PLAN, repetitions=3)
HEADER = make_header(PLAN)
MANIFEST = make_manifest(HEADER, count(ROWS))

SEALER = """
    import os, signal, sys
    from pathlib import Path
    import pyarrow.parquet
    from reportgen.archive.counting import count
    from reportgen.archive.journal import read_journal
    from reportgen.archive.seal import seal
    from reportgen.errors import RecordError
    from tests.factories import make_manifest

    def seal_it(folder):
        contents = read_journal(folder)
        return seal(folder, make_manifest(contents.header, count(contents.repetitions)))
"""


def run_sealer(body: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run ``body`` after the imports that sealing needs, in a process of its own."""
    script = textwrap.dedent(SEALER) + textwrap.dedent(body)
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True)


def opened(runs: Path) -> Path:
    """Leave an attempt of three repetitions open under ``runs``."""
    with open_attempt(runs, PLAN, ROWS, HEADER) as journal:
        return journal.folder


def test_a_sealed_attempt_holds_its_files_and_their_sums(tmp_path: Path) -> None:
    """The files of the record format and nothing else; the open folder is gone."""
    sealed = seal(opened(tmp_path), MANIFEST)
    expected = [
        "SHA256SUMS",
        "artifacts/binaries/candidate.bin",
        "artifacts/binaries/control.bin",
        "artifacts/binaries/floor.bin",
        "artifacts/binaries/incumbent.bin",
        "artifacts/binaries/null_control.bin",
        "artifacts/binaries/null_incumbent.bin",
        "artifacts/fixtures.json",
        "artifacts/sources/sample/experiment.py",
        "artifacts/sources/sample/experiment.toml",
        "artifacts/sources/sample/sample.c",
        "batches.parquet",
        "checks.parquet",
        "events.jsonl",
        "manifest.json",
        "plan.toml",
        "repetitions.jsonl",
    ]
    assert expected == files_under(sealed)
    assert [sealed.name] == [path.name for path in sealed.parent.iterdir()]
    assert check_sums(sealed) == []


def test_sha256sum_agrees(tmp_path: Path) -> None:
    """The listing is one that the usual tool reads."""
    sealed = seal(opened(tmp_path), MANIFEST)
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=sealed, check=True, capture_output=True)


def test_the_same_rows_give_the_same_bytes(tmp_path: Path) -> None:
    """Parquet too: two seals of one journal's rows differ in nothing but the events' times of day."""
    one, two = seal(opened(tmp_path / "one"), MANIFEST), seal(opened(tmp_path / "two"), MANIFEST)
    for name in files_under(one):
        if name not in (layout.EVENTS, layout.SUMS):
            assert (one / name).read_bytes() == (two / name).read_bytes(), name


def test_rows_are_sorted_by_repetition_then_as_measured(tmp_path: Path) -> None:
    """A spare that was journaled late stands where its number belongs; within a process time runs on."""
    journal = open_attempt(tmp_path, PLAN, [ROWS[0], ROWS[3], ROWS[1], ROWS[2]], HEADER)
    frame = load_attempt(seal(journal, MANIFEST)).batches
    assert frame["repetition"].is_monotonic_increasing
    assert all(rows["started_ns"].is_monotonic_increasing for _, rows in frame.groupby("repetition"))


def test_what_was_journaled_is_what_is_sealed(tmp_path: Path) -> None:
    """Every value of every row, facts and events."""
    folder = opened(tmp_path)
    before = load_attempt(folder)
    batches, checks, facts = before.batches, before.checks, before.repetitions
    after = load_attempt(seal(folder, MANIFEST))
    assert batches.equals(after.batches)
    assert checks.equals(after.checks)
    assert facts == after.repetitions
    assert before.events == after.events
    assert before.plan == after.plan
    assert Status.SCORED is after.status


def test_a_sealed_attempt_is_never_overwritten(tmp_path: Path) -> None:
    """Even if an open folder of the same id turns up again."""
    sealed = seal(opened(tmp_path), MANIFEST)
    before = (sealed / layout.SUMS).read_bytes()
    folder = layout.open_dir(tmp_path, HEADER.experiment, HEADER.id)
    opened(tmp_path / "elsewhere").rename(folder)
    with pytest.raises(InputError, match="is sealed already"):
        seal(folder, MANIFEST)
    assert before == (sealed / layout.SUMS).read_bytes()
    assert folder.is_dir()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": "20260301T120001Z-fake-1a2b3c"}, "the manifest's id is not that of the header"),
        ({"status": Status.INVALID, "reason": " "}, "a status other than scored needs a reason"),
        ({"reason": "because"}, "scored has none"),
        ({"plan": "0" * 64}, "the manifest's plan is not that of the header"),
        (
            {"counts": Counts(repetitions=3, batches=1, warmup_batches=0, checks=0, failed_checks=0)},
            "the manifest counts other rows",
        ),
    ],
)
def test_a_manifest_of_something_else_is_refused(tmp_path: Path, change: dict[str, object], message: str) -> None:
    """A manifest that speaks of another attempt or counts other rows seals nothing."""
    folder = opened(tmp_path)
    with pytest.raises(InputError, match=message):
        seal(folder, msgspec.structs.replace(MANIFEST, **change))
    assert [folder.name] == [path.name for path in folder.parent.iterdir()]


def test_killed_at_any_step_the_attempt_is_either_open_and_whole_or_sealed(tmp_path: Path) -> None:
    """A real process is killed at its first, second ... change to the disk until one survives."""
    body = """
        folder = Path(sys.argv[1])
        CHANGES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "shutil.rmtree", "os.truncate"}

        def kill_at(step):
            seen = 0
            def watch(event, arguments):
                nonlocal seen
                writes = event == "open" and str(folder.parent) in str(arguments[0]) and arguments[2] & os.O_ACCMODE
                if event in CHANGES or writes:
                    seen += 1
                    if seen == step:
                        os.kill(os.getpid(), signal.SIGKILL)
            sys.addaudithook(watch)

        step = 0
        while True:
            step += 1
            runs = folder.with_name(f"{folder.name}-{step}") / "sample"
            os.makedirs(runs)
            import shutil
            here = runs / sys.argv[2]
            shutil.copytree(folder, here)
            folder_of_child = here
            child = os.fork()
            if child == 0:
                folder = runs
                kill_at(step)
                seal_it(here)
                os._exit(0)
            if os.waitpid(child, 0)[1] == 0:
                break
        print(step)
    """
    source = opened(tmp_path / "source")
    steps = int(run_sealer(body, source, source.name).stdout)
    assert steps > 20
    whole = read_journal(source)
    outcomes = []
    for step in range(1, steps + 1):
        runs = source.with_name(f"{source.name}-{step}") / "sample"
        sealed, folder = runs / HEADER.id, runs / source.name
        if sealed.exists():
            assert check_sums(sealed) == []
            assert count(ROWS) == load_attempt(sealed).manifest.counts
        else:
            assert whole == read_journal(folder)
            assert Status.ABORTED is load_attempt(folder).status
            assert check_sums(seal(folder, MANIFEST)) == []
        outcomes.append(sealed.exists() and not folder.exists())
    assert outcomes[-1]


def test_a_full_disk_at_any_file_leaves_the_journal_whole(tmp_path: Path) -> None:
    """A real limit on file size refuses one file after the other; with room again the same folder is sealed."""
    body = """
        import resource
        for limit in (0, 500, 1500, 2500, 6000):
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
            try:
                seal_it(Path(sys.argv[1]))
            except RecordError as fault:
                resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
                print(fault)
    """
    folder = opened(tmp_path)
    whole = read_journal(folder)
    told = run_sealer(body, folder).stdout.splitlines()
    assert len(told) == 5
    assert all("cannot be written: File too large; make room" in line for line in told)
    assert [folder.name] == [path.name for path in folder.parent.iterdir()]
    assert whole == read_journal(folder)
    assert check_sums(seal(folder, MANIFEST)) == []


def test_the_default_factory_attempt_is_scored(tmp_path: Path) -> None:
    """Six arms, six fixtures, twelve repetitions, two passes."""
    attempt = sealed_attempt(tmp_path)
    assert Status.SCORED is attempt.status
    assert attempt.manifest.counts.batches == 6 * 6 * 12 * 2
    assert f"{STARTED:%Y%m%dT%H%M%SZ}-fake-{attempt.plan.digest[:6]}" == attempt.id
