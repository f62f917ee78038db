"""Ctrl-C, SIGTERM, resuming, changed files, a second controller, a full disk."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from reportgen.archive.journal import read_journal
from reportgen.archive.load import load_attempt
from reportgen.errors import InputError
from reportgen.measure.watching import RunOutcome
from reportgen.model.record import Kind, Status
from reportgen.project import open_project
from tests.measure.conftest import lab_in
from tests.measure.lab import RIGHT, Lab
from tests.measure.test_faults import fault, no_process_is_left, when_worker_runs

AtPhase = Callable[[str, str], None]


def signal_at(phase: str, detail: str = "", number: int = signal.SIGINT) -> AtPhase:
    """Send this very process a signal when a phase begins."""

    def at_phase(name: str, seen: str) -> None:
        if name == phase and detail in ("", seen):
            os.kill(os.getpid(), number)

    return at_phase


def at(phase: str, detail: str, act: Callable[[], object]) -> AtPhase:
    """Act when a phase begins."""

    def at_phase(name: str, seen: str) -> None:
        if (name, seen) == (phase, detail):
            act()

    return at_phase


@pytest.mark.parametrize("phase", ["build", "references"])
def test_ctrl_c_before_anything_is_measured_leaves_nothing(lab: Lab, phase: str) -> None:
    """No attempt is opened, the exit status is 130, and signals mean what they meant before."""
    lab.write(backend="fake")
    before = signal.getsignal(signal.SIGINT)
    outcome = lab.run(at_phase=signal_at(phase))
    assert (None, 130) == (outcome.path, outcome.exit_status)
    assert not lab.project.runs.exists()
    assert before == signal.getsignal(signal.SIGINT)
    assert no_process_is_left()


@pytest.fixture(scope="module")
def interrupted_lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """Leave an attempt open that SIGTERM ended before its second repetition; for all tests, which go on with copies."""
    with pytest.MonkeyPatch.context() as patch:
        made = lab_in(tmp_path_factory.mktemp("interrupted"), patch)
        made.write(backend="fake")
        outcome = made.run(device="3", at_phase=signal_at("repetition", "2", signal.SIGTERM))
    assert (Status.ABORTED, "interrupted", 130) == (outcome.status, outcome.reason, outcome.exit_status)
    return made


@pytest.fixture
def interrupted(interrupted_lab: Lab, lab: Lab) -> tuple[Lab, Path]:
    """Copy that lab: with it the folder of its open attempt."""
    shutil.rmtree(lab.root)
    shutil.copytree(interrupted_lab.root, lab.root)
    (folder,) = (lab.project.runs / "doubling").glob("*.partial")
    return lab, folder


def check_completed(lab: Lab, resumed: RunOutcome, attempt_id: str, repetitions: list[int]) -> None:
    """See that it was completed under its own id, and that its events tell the whole story in order."""
    attempt = lab.load(resumed)
    assert (Status.SCORED, 0, attempt_id) == (resumed.status, resumed.exit_status, attempt.id)
    assert repetitions == [one.repetition for one in attempt.repetitions]
    events = [event.event for event in attempt.events if event.event not in ("calibrated", "repetition")]
    gone = "nothing owned left"
    assert ["opened", gone, "interrupted", "resumed", gone, "sealed"] == events
    assert (attempt.batches["started_ns"] >= 0).all()


def test_an_attempt_interrupted_in_calibration_stays_open_and_is_completed_by_resuming(lab: Lab) -> None:
    """Nothing is lost but what was in flight; resumed, the attempt is scored under the same id."""
    lab.write(backend="fake", repetitions=1)
    outcome = lab.run(at_phase=signal_at("calibration"))
    assert (Status.ABORTED, "interrupted", 130) == (outcome.status, outcome.reason, outcome.exit_status)
    assert outcome.path is not None
    assert () == read_journal(outcome.path).repetitions
    assert no_process_is_left()
    attempt_id = outcome.path.name.removesuffix(".partial")
    check_completed(lab, lab.run(resume=attempt_id), attempt_id, [0, 1])


def test_an_attempt_interrupted_later_is_completed_on_its_own_device_once(interrupted: tuple[Lab, Path]) -> None:
    """At most the repetition in flight is lost. Left out, the device is the one that it began on; sealed, it is never written again."""
    lab, folder = interrupted
    attempt_id = folder.name.removesuffix(".partial")
    assert [0, 1] == [one.repetition for one in read_journal(folder).repetitions]
    assert Status.ABORTED == load_attempt(folder).status
    with pytest.raises(InputError, match="device was fake-3 and is fake-0"):
        lab.run(resume=attempt_id, device="0")
    check_completed(lab, lab.run(resume=attempt_id), attempt_id, [0, 1, 2])
    with pytest.raises(InputError, match="is sealed"):
        lab.run(resume=attempt_id)
    with pytest.raises(InputError, match="no open attempt"):
        lab.run(resume="20200101T000000Z-fake-000000")
    assert no_process_is_left()


def test_ctrl_c_in_the_middle_of_a_batch_stops_the_timed_process(lab: Lab) -> None:
    """The worker sleeps in a batch when the signal comes; it is gone when the run returns."""
    lab.write(backend="fake", more=fault("hang", arm="idea", repetition=1))
    seen: list[int] = []

    def note_and_interrupt(worker: psutil.Process) -> None:
        seen.append(worker.pid)
        os.kill(os.getpid(), signal.SIGINT)

    outcome = lab.run(at_phase=when_worker_runs(note_and_interrupt))
    assert 130 == outcome.exit_status
    assert 1 == len(seen)
    assert not psutil.pid_exists(seen[0])


def test_ctrl_c_while_a_compiler_is_slow_ends_the_compiler_too(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for a compiler that nobody needs any more."""
    slow = lab.root / "slow-cc"
    slow.write_text("#!/bin/sh\nsleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("CC", str(slow))
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    assert 130 == lab.run().exit_status
    assert no_process_is_left()


def test_a_compiler_that_is_too_slow_is_stopped(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line says what took too long."""
    slow = lab.root / "slow-cc"
    slow.write_text("#!/bin/sh\nsleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("CC", str(slow))
    lab.write()
    toml = lab.folder / "experiment.toml"
    toml.write_text(toml.read_text().replace("compile_deadline_s = 30", "compile_deadline_s = 0.3"))
    with pytest.raises(InputError, match=r"compiling the batch loop takes longer than 0\.3 s"):
        lab.run()
    assert no_process_is_left()


def killed_at(lab: Lab, phase: str) -> list[psutil.Process]:
    """Run a controller of its own, kill it once a phase has begun and the worker of it runs; its workers until then."""
    program = (
        "import sys, pathlib\n"
        "from reportgen.measure import controller\nfrom reportgen.measure.watching import RunOptions\n"
        "from reportgen.project import open_project\nfrom tests.measure.lab import Seen\n"
        "say = lambda name, detail: print(name, detail, flush=True)\n"
        "controller.run(open_project(pathlib.Path(sys.argv[1])), 'doubling', RunOptions(), Seen(at_phase=say))\n"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(lab.root)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert any(line == phase for line in process.stdout)
        before = psutil.Process(process.pid).children()
        while len(found := psutil.Process(process.pid).children()) <= len(before):
            threading.Event().wait(0.01)
        process.kill()
        process.wait()
    return found


def test_a_worker_dies_with_its_controller(lab: Lab) -> None:
    """SIGKILL leaves the controller no time to clean up; the kernel ends the worker, the journal is readable and resumable."""
    lab.write(backend="fake", more=fault("hang", arm="idea", repetition=1))
    (worker,) = killed_at(lab, "repetition 1\n")
    worker.wait(timeout=10)
    (folder,) = (lab.project.runs / "doubling").glob("*.partial")
    assert [0] == [one.repetition for one in read_journal(folder).repetitions]
    assert Status.ABORTED == load_attempt(folder).status


def work_file(name: str) -> Path:
    """Find a file of the run's work folder."""
    (found,) = Path(os.environ["TMPDIR"]).glob(f"reportgen-*/{name}")
    return found


def test_what_a_killed_run_left_in_the_temporary_folder_is_removed_by_the_next(lab: Lab) -> None:
    """Only folders of processes that are gone; the run's own goes with it."""
    lab.write(backend="fake", repetitions=1)
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    temporary = Path(os.environ["TMPDIR"])
    dead, alive = temporary / f"reportgen-{gone.pid}-x", temporary / f"reportgen-{os.getppid()}-x"
    (dead / "inputs").mkdir(parents=True)
    alive.mkdir()
    assert 130 == lab.run(at_phase=signal_at("references")).exit_status
    assert {alive, temporary / "reportgen-locks"} == set(temporary.glob("reportgen-*"))


def test_a_temporary_folder_that_cannot_be_used_is_one_line(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the locks it is bad input; nothing was measured."""
    lab.write(backend="fake")
    monkeypatch.setattr(tempfile, "tempdir", str(lab.folder / "experiment.toml"))
    with pytest.raises(InputError, match="no folder for device locks can be made: Not a directory"):
        lab.run()


def append_a_byte(path: Path) -> None:
    """Change a file."""
    with path.open("ab") as file:
        file.write(b"\n")


def test_a_binary_that_changes_during_the_run_makes_the_attempt_invalid(lab: Lab) -> None:
    """The hash bracket names it; what was measured is sealed with the reason."""
    outcome = lab.run(at_phase=at("repetition", "1", lambda: append_a_byte(work_file("idea.so"))))
    attempt = lab.load(outcome)
    assert (Status.INVALID, 1) == (outcome.status, outcome.exit_status)
    assert "binary/idea changed while it was measured" in outcome.reason
    assert [0] == [one.repetition for one in attempt.repetitions]


def test_a_source_that_changes_during_a_repetition_makes_the_attempt_invalid(lab: Lab) -> None:
    """The bracket after the repetition finds it; its rows are kept."""
    lab.write(backend="fake")
    source = lab.folder / "experiment.py"
    outcome = lab.run(at_phase=when_worker_runs(lambda _: append_a_byte(source)))
    assert Status.INVALID == outcome.status
    assert "source/doubling/experiment.py changed" in outcome.reason


def test_resuming_with_other_sources_is_refused_and_changes_nothing(interrupted: tuple[Lab, Path]) -> None:
    """The line names what differs."""
    lab, folder = interrupted
    before = {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    append_a_byte(lab.folder / "idea.c")
    with pytest.raises(InputError, match="cannot be resumed: plan was"):
        lab.run(resume=folder.name.removesuffix(".partial"))
    assert before == {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_resuming_with_another_compiler_is_refused(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same plan with other machine code is another record; the line names the arm."""
    lab.write(base=RIGHT + "\n#ifdef OTHER\n    y[1] = 2.0f * x[1];\n#endif\n")
    outcome = lab.run(at_phase=signal_at("calibration"))
    assert outcome.path is not None
    monkeypatch.setenv("CC", "cc -DOTHER")
    with pytest.raises(InputError, match="cannot be resumed: code of arm again was"):
        lab.run(resume=outcome.path.name.removesuffix(".partial"))


def test_a_quick_run_is_complete_but_never_scored(lab: Lab) -> None:
    """Two repetitions unless told otherwise, kind quick."""
    lab.write(backend="fake", repetitions=4)
    attempt = lab.load(lab.run(quick=True))
    assert (Kind.QUICK, Status.COMPLETE, 2) == (
        attempt.manifest.kind,
        attempt.status,
        attempt.manifest.counts.repetitions,
    )
    with pytest.raises(InputError, match="goes with --quick"):
        lab.run(repetitions=3)


def test_a_full_disk_is_one_line_and_the_journal_stays_readable_and_resumable(lab: Lab) -> None:
    """The system refuses a write in the middle of a line; the repetitions before it are intact."""
    lab.write(backend="fake", repetitions=1)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill_the_disk() -> None:
        (journal,) = open_project(lab.root).runs.glob("doubling/*.partial/journal.jsonl")
        resource.setrlimit(resource.RLIMIT_FSIZE, (journal.stat().st_size + 100, before[1]))

    try:
        outcome = lab.run(at_phase=at("repetition", "1", fill_the_disk))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (Status.ABORTED, 1) == (outcome.status, outcome.exit_status)
    assert "cannot be written" in outcome.sentence
    assert outcome.path is not None
    assert [0] == [one.repetition for one in read_journal(outcome.path).repetitions]
    assert Status.SCORED == lab.run(resume=outcome.path.name.removesuffix(".partial")).status
