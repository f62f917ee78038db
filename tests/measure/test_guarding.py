"""What a run does by itself when something goes wrong in its own process, beside a live service."""

from __future__ import annotations

import errno
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from functools import partialmethod
from pathlib import Path

import pytest
from msgspec.structs import replace

from reportgen.archive.load import load_attempt, scan_attempts
from reportgen.errors import FindingError, InputError, RecordError, WorkerError
from reportgen.measure import guarding
from reportgen.measure.admission import close
from reportgen.measure.backends import contexts
from reportgen.measure.guard_files import guard_file, guard_files, state_file
from reportgen.measure.guarding import Guard, new_record, refuse_left
from reportgen.measure.marks import mark_as, own_mark
from reportgen.measure.ownership import Ownership
from reportgen.measure.recovery import recover
from reportgen.model.record import Status
from tests.measure.lab import RIGHT, Lab
from tests.measure.marked import marked_processes
from tests.measure.serving import LiveService, Window
from tests.measure.test_faults import fault, when_worker_runs


@pytest.fixture
def service(lab: Lab, tmp_path: Path) -> Iterator[LiveService]:
    """Serve beside the lab, which declares it."""
    folder = tmp_path / "service"
    folder.mkdir()
    live = LiveService(folder)
    live.start()
    lab.write(backend="fake", repetitions=1)
    declare(lab, live)
    yield live
    live.end()


def declare(lab: Lab, live: LiveService, more: str = "") -> None:
    """Write the lab's settings."""
    (lab.root / "reportgen.toml").write_text(f"[[service]]\n{more}{live.toml(idle_deadline_s=0.1)}", "utf-8")


def nothing_is_written_down(lab: Lab) -> bool:
    """Whether no guard has anything left to do."""
    return not list(lab.project.guarding.rglob("*.json"))


@pytest.mark.parametrize("phase", ["build", "references", "calibration", "repetition", "sealing"])
def test_an_exception_in_the_operator_reopens_the_service(lab: Lab, service: LiveService, phase: str) -> None:
    """Here the program that watches raises; what was measured is readable and says so."""

    def fail(name: str, detail: str) -> None:
        del detail
        if name == phase:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        lab.run(at_phase=fail)
    assert (False, True) == (service.status()["closed"], nothing_is_written_down(lab))
    attempts, faults = scan_attempts(lab.project.runs)
    assert ([], phase in ("calibration", "repetition", "sealing")) == (faults, bool(attempts))
    for attempt in attempts:
        assert Status.ABORTED == attempt.status
        assert {"failed", "service reopened"} <= {event.event for event in attempt.events}
        assert {"calibration": 0, "repetition": 1, "sealing": 2}[phase] == len(attempt.repetitions)


def test_a_service_closed_by_someone_else_is_misuse_before_anything_is_built(lab: Lab, service: LiveService) -> None:
    """Nothing is archived, and it stays as it was."""
    service.post("/close")
    with pytest.raises(InputError, match="is closed to new requests already"):
        lab.run()
    assert ([], False, True) == (lab.seen.phases, lab.project.runs.exists(), service.status()["closed"])
    assert nothing_is_written_down(lab)


def test_a_service_that_never_becomes_idle_leaves_an_attempt_to_resume(lab: Lab, service: LiveService) -> None:
    """Nothing was measured beside its requests; later the attempt is completed."""
    service.control(requests=1)
    outcome = lab.run()
    assert (1, "service inference: did not become idle within 0.1 s") == (outcome.exit_status, outcome.sentence)
    assert (False, True) == (service.status()["closed"], nothing_is_written_down(lab))
    assert outcome.path is not None
    assert Status.ABORTED == load_attempt(outcome.path).status
    service.control()
    assert Status.SCORED == lab.run(resume=outcome.path.name.removesuffix(".partial")).status


def test_a_service_of_other_devices_is_left_alone(lab: Lab, service: LiveService) -> None:
    """It is not even asked."""
    declare(lab, service, 'devices = ["fake-1"]\n')
    assert Status.SCORED == lab.run(device="0").status
    assert [] == service.status()["calls"]
    outcome = lab.run(device="1")
    assert Status.SCORED == outcome.status, outcome.sentence
    assert ["/close", "/open"] == service.status()["calls"]


def test_a_service_that_cannot_be_found_is_one_line(lab: Lab, service: LiveService) -> None:
    """Nothing was measured."""
    service.kill()
    with pytest.raises(FindingError, match=r"service inference: its process \d+ does not run; start the service"):
        lab.run()
    assert [] == lab.seen.phases


def test_a_window_left_by_a_dead_run_is_refused_until_recover(lab: Lab, service: LiveService) -> None:
    """Its guards had process ids that others may have by now: start times tell. A second recover finds nothing."""
    window = Window(lab.project.guarding)
    dead = mark_as(own_mark().pid, own_mark().started_ticks - 1)
    leave_closed(window, service)
    state = window.file.read()
    assert state is not None
    window.file.write(replace(state, guards=[dead]))
    with pytest.raises(InputError, match=r"was left at step 'measuring' by attempt .* run `reportgen recover` first"):
        lab.run()
    assert [("service", True)] == [(one.kind, one.mended) for one in recover(lab.project)]
    assert (False, []) == (service.status()["closed"], recover(lab.project))


def test_nothing_is_timed_beside_what_a_dead_run_left_alive(lab: Lab) -> None:
    """No service tells of it here: its own file does, as long as its guards are gone and something of it is not."""
    lab.write(backend="fake")
    dead = mark_as(own_mark().pid, own_mark().started_ticks - 1)
    record = replace(new_record("doubling"), guards=[dead], attempt="20260101T000000Z-fake-000000")
    guard_file(lab.project.guarding, record.token).write(record)
    variables = {**os.environ, "REPORTGEN_ATTEMPT": record.token}
    with subprocess.Popen(["sleep", "600"], env=variables, start_new_session=True) as left:
        with pytest.raises(
            InputError, match=rf"doubling: process {left.pid} \(mark\) of attempt .* `reportgen recover`"
        ):
            lab.run()
        assert [] == lab.seen.phases
        guard_file(lab.project.guarding, record.token).write(replace(record, guards=[own_mark()]))
        refuse_left(lab.project.guarding)
        guard_file(lab.project.guarding, record.token).write(record)
        assert [("process", True)] == [(one.kind, one.mended) for one in recover(lab.project)]
    refuse_left(lab.project.guarding)


def test_a_run_of_another_machine_is_said_and_left_alone(lab: Lab, service: LiveService) -> None:
    """Its processes cannot be looked into; its service stays closed."""
    window = Window(lab.project.guarding)
    leave_closed(window, service)
    state = window.file.read()
    assert state is not None
    there = replace(own_mark(), host="another")
    window.file.write(replace(state, guards=[there]))
    (found,) = recover(lab.project)
    assert (False, True) == (found.mended, "on another cannot be looked into from here" in found.sentence)
    assert service.status()["closed"]


def test_a_file_of_the_guards_that_is_damaged_is_named(lab: Lab) -> None:
    """It is not passed over."""
    state_file(lab.project.guarding, "inference").write(None)  # type: ignore[arg-type]
    (found,) = recover(lab.project)
    assert ("file", "inference.json", False) == (found.kind, found.name, found.mended)
    assert str(lab.project.guarding / "admission" / "inference.json") in found.sentence


def test_vouching_for_what_is_not_closed_is_misuse(lab: Lab) -> None:
    """The line names the service."""
    with pytest.raises(InputError, match="service inference: is not closed by any run"):
        recover(lab.project, frozenset({"inference"}))


def test_a_guard_that_cannot_write_down_who_guards_starts_nothing(lab: Lab) -> None:
    """Here a file stands where the folder should be."""
    lab.write(backend="fake", repetitions=1)
    lab.project.guarding.write_text("in the way", "utf-8")
    with pytest.raises(RecordError, match="cannot be written"):
        lab.run()
    assert [] == lab.seen.phases


def test_a_guards_file_lasts_as_long_as_the_run(tmp_path: Path) -> None:
    """It is there before anything is started and gone when nothing is left."""
    guard = Guard(tmp_path, new_record("doubling"))
    with guard:
        record = guard_file(tmp_path, guard.token).read()
        assert record is not None
        assert ([own_mark()], "doubling") == (record.guards, record.experiment)
    assert guard_file(tmp_path, guard.token).read() is None


def test_the_kernel_ends_a_worker_first_where_memory_runs_out(lab: Lab) -> None:
    """Neither a guard nor the service beside it: any process may make itself the first choice."""
    program = (lab.folder / "experiment.py").read_text("utf-8")
    seen = lab.root / "score"
    reads = f"    open({str(seen)!r}, 'w').write(open('/proc/self/oom_score_adj').read())\n"
    head = "def reference(fixture, inputs):\n"
    lab.write(backend="fake", repetitions=1, program=program.replace(head, head + reads))
    assert Status.SCORED == lab.run().status
    assert "1000\n" == seen.read_text("ascii")


STUBBORN = "volatile int on = 1; signal(SIGTERM, SIG_IGN); while (on) { } (void)x; (void)y; (void)a;"
DETACHES = """
    static int begun;
    if (!begun++ && !fork()) {
        signal(SIGTERM, SIG_IGN);
        setsid();
        if (fork()) _exit(0);
        for (;;) pause();
    }
"""


@pytest.mark.parametrize(
    ("idea", "alive", "reason"),
    [
        (STUBBORN, [], "said nothing for 2 s"),
        (DETACHES + RIGHT, [0, 0], r"no spare is left \(repetition 1: left process \d+ \(mark\) alive"),
    ],
    ids=["ignores SIGTERM and hangs", "forks twice and detaches"],
)
def test_a_worker_that_will_not_end_is_ended_before_the_service_is_reopened(
    lab: Lab, service: LiveService, idea: str, alive: list[int], reason: str
) -> None:
    """Real machine code does it, in each timed process; what one leaves is gone before the next begins."""
    lab.write(idea=idea, repetitions=1, silence_deadline_s=2)
    source = lab.folder / "idea.c"
    source.write_text(
        f"#define _GNU_SOURCE\n#include <signal.h>\n#include <unistd.h>\n{source.read_text('utf-8')}", "utf-8"
    )
    seen: list[int] = []
    marks: set[str] = set()

    def look(name: str, detail: str) -> None:
        del detail
        if name == "repetition":
            marks.update(file.path.stem for file in guard_files(lab.project.guarding))
            seen.append(sum(len(marked_processes().get(mark, [])) for mark in marks))

    outcome = lab.run(at_phase=look)
    assert alive == seen
    assert (Status.ABORTED, 1) == (outcome.status, outcome.exit_status)
    assert re.search(reason, outcome.reason)
    attempt = lab.load(outcome)
    assert not marks & set(marked_processes())
    assert (False, True) == (service.status()["closed"], nothing_is_written_down(lab))
    events = [event.event for event in attempt.events]
    assert events.index("service cleaning") < events.index("service reopened") < events.index("sealed")


class Driver:
    """A driver's list of contexts: some that stay, some that are gone after as many questions as they are given."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *staying: int) -> None:
        self.left, self.staying, self.asked = dict[int, int](), list(staying), 0
        monkeypatch.setattr(guarding, "contexts_on", lambda *_: self.listed())
        monkeypatch.setattr(Ownership, "end_all", partialmethod(Ownership.end_all, grace_s=0.1, vanish_s=0.3))

    def listed(self) -> list[int]:
        """Answer."""
        self.asked += 1
        self.left = {pid: questions - 1 for pid, questions in self.left.items() if questions}
        return [*self.left, *self.staying]


def test_what_a_timed_process_left_is_gone_from_the_device_too_before_the_next_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real process that detached, in a list of contexts in which others stand that stay."""
    driver, guard = Driver(monkeypatch, os.getpid(), 4194303), Guard.alone(tmp_path, "doubling")
    mark = {**os.environ, "REPORTGEN_ATTEMPT": guard.token}
    with subprocess.Popen(["sleep", "60"], env=mark, start_new_session=True) as stray:
        driver.left = {stray.pid: 3}
        assert [stray.pid] == [one.pid for one in guard.sweep()]
    assert {} == driver.left


def test_a_timed_process_that_has_ended_is_waited_for_on_the_device_and_one_that_goes_on_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No process is found; the driver's list tells. Where it does not get shorter, nothing more is timed."""
    driver, guard = Driver(monkeypatch), Guard.alone(tmp_path, "doubling")
    ended = 4194301
    driver.left = {ended: 3}
    assert ([], {}) == (guard.sweep(ended=[ended]), driver.left)
    driver.staying = [ended]
    asked = driver.asked
    assert ([], asked + 1) == (guard.sweep(staying=[ended], ended=[ended]), driver.asked)
    with pytest.raises(WorkerError, match=f"a context of process {ended} on the device outlives SIGKILL"):
        guard.sweep(ended=[ended])


def test_a_context_that_stays_ends_the_attempt_which_is_completed_once_it_is_gone(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was measured before is in the journal; the next process would have shared the device."""
    driver = Driver(monkeypatch)
    lab.write(backend="fake", repetitions=1, more=fault("slow", repetition=1, seconds=0.3))
    outcome = lab.run(at_phase=when_worker_runs(lambda worker: driver.staying.append(worker.pid)))
    assert (Status.ABORTED, True, 1) == (outcome.status, outcome.left_open, outcome.exit_status)
    assert f"a context of process {driver.staying[0]} on the device" in outcome.reason
    assert outcome.path is not None
    assert [0] == [one.repetition for one in load_attempt(outcome.path).repetitions]
    driver.staying.clear()
    assert Status.SCORED == lab.run(resume=outcome.path.name.removesuffix(".partial")).status


def test_a_service_that_changed_makes_the_attempt_invalid_with_the_difference(lab: Lab, service: LiveService) -> None:
    """It is archived all the same; the service stays closed until its operator vouches."""
    outcome = lab.run(at_phase=becoming_another(service))
    reason = "service inference: changed while it was measured beside: its status document changed"
    assert (Status.INVALID, reason, 1) == (outcome.status, outcome.reason, outcome.exit_status)
    assert "run `reportgen recover --reopen inference`" in outcome.sentence
    attempt = lab.load(outcome)
    assert (True, 2, True) == (attempt.sealed, len(attempt.repetitions), service.status()["closed"])


def test_what_was_interrupted_beside_a_service_that_changed_is_never_completed(lab: Lab, service: LiveService) -> None:
    """Its operator opens the service again; that does not make the attempt valid."""
    with pytest.raises(ZeroDivisionError):
        lab.run(at_phase=becoming_another(service, ZeroDivisionError()))
    (attempt,), _ = scan_attempts(lab.project.runs)
    assert (Status.ABORTED, False) == (attempt.status, attempt.sealed)
    state_file(lab.project.guarding, "inference").clear()  # its operator saw to it
    service.post("/open")
    outcome = lab.run(resume=attempt.id)
    assert (Status.INVALID, 1) == (outcome.status, outcome.exit_status)
    assert "its status document changed" in outcome.reason
    assert ["/close", "/open"] == service.status()["calls"]


def becoming_another(service: LiveService, then: Exception | None = None) -> Callable[[str, str], None]:
    """Let the service tell something else of itself while the first repetition is measured."""

    def become(name: str, detail: str) -> None:
        del detail
        if name == "repetition":
            service.control(model="second")
            if then is not None:
                raise then

    return become


@pytest.mark.parametrize("phase", ["references", "repetition"])
def test_a_second_controller_changes_nothing(lab: Lab, service: LiveService, phase: str) -> None:
    """It is refused by the device's lock, and its own cleaning up does not reopen what the first closed."""
    seen: list[bool] = []

    def run_a_second(name: str, detail: str) -> None:
        del detail
        if name == phase:
            with pytest.raises(InputError, match=f"device fake-0 is being measured by process {os.getpid()}"):
                Lab(lab.root).run()
            seen.append(service.status()["closed"])

    assert Status.SCORED == lab.run(at_phase=run_a_second).status
    assert [phase == "repetition"] == seen
    assert ["/close", "/open"] == service.status()["calls"]


class Library:
    """A driver's library that knows no such device, or cannot be asked."""

    class NVMLError(Exception):
        """What it raises."""

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> None:  # noqa: N802 - the library's name
        """Know nothing."""
        raise self.NVMLError(errno.ENODEV, uuid)


def test_a_driver_that_cannot_be_asked_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """That is something else than that there are no contexts; a CPU has none."""
    monkeypatch.setattr(contexts, "open_nvml", Library)
    assert (None, []) == (contexts.contexts_on("cuda", "GPU-0"), contexts.contexts_on("native", "cpu-0"))


def leave_closed(window: Window, service: LiveService) -> None:
    """Close the service as a run does that then dies."""
    close(window.file, service.declared(), window.holder, window.say, lambda: None)
