"""A service's window: every rule, with a real service and real processes."""

from __future__ import annotations

import resource
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reportgen.errors import FindingError, InputError, RecordError
from reportgen.measure.admission import Reopening, close, refuse_closed, reopen
from reportgen.measure.interruption import Interrupted
from reportgen.measure.ownership import Owned
from reportgen.model.admission import Step
from tests.measure.serving import LiveService, Window

WHOLE = ["identifying", "identified", "closing", "closed", "idle", "cleaning", "comparing", "reopening", "reopened"]


@pytest.fixture
def service(tmp_path: Path) -> Iterator[LiveService]:
    """Serve for real, on a port that the system chose."""
    folder = tmp_path / "service"
    folder.mkdir()
    live = LiveService(folder)
    live.start()
    yield live
    live.end()


@pytest.fixture
def window(tmp_path: Path) -> Window:
    """Keep state in a folder of the test's own."""
    return Window(tmp_path / ".reportgen")


def nothing() -> None:
    """Let it go on."""


def nobody() -> list[Owned]:
    """Nothing is left of the run."""
    return []


def closed(service: LiveService, window: Window) -> None:
    """Close as a run does."""
    close(window.file, service.declared(), window.holder, window.say, nothing)


def reopened(window: Window) -> Reopening:
    """Reopen as a run does that left nothing."""
    return reopen(window.file, window.token, nobody, window.say)


def test_a_window_closes_waits_and_reopens_in_order(service: LiveService, window: Window) -> None:
    """While it stands the service is closed; afterwards it is open and nothing is written down any more."""
    closed(service, window)
    state = window.file.read()
    assert state is not None
    assert (Step.MEASURING, True) == (state.step, service.status()["closed"])
    assert Reopening("inference", reopened=True) == reopened(window)
    assert (False, None, WHOLE) == (service.status()["closed"], window.file.read(), window.events)
    assert ["/close", "/open"] == service.status()["calls"]


def test_a_request_under_way_ends_before_the_measurement_begins(service: LiveService, window: Window) -> None:
    """It was let in before the window; the window waits for it."""
    service.leave_a_request_under_way()
    seen: list[int] = []

    def look() -> None:
        seen.append(service.status()["requests"])
        service.release()

    close(window.file, service.declared(), window.holder, window.say, look)
    assert (1, 0) == (seen[0], service.status()["requests"])
    assert reopened(window).reopened


def test_a_service_that_never_becomes_idle_is_reopened_and_the_run_refused(
    service: LiveService, window: Window
) -> None:
    """The deadline is the declaration's."""
    service.control(requests=1)
    with pytest.raises(FindingError, match=r"service inference: did not become idle within 0\.1 s"):
        close(window.file, service.declared(idle_deadline_s=0.1), window.holder, window.say, nothing)
    assert reopened(window).reopened
    assert not service.status()["closed"]


def test_a_service_that_refuses_to_close_is_left_open(service: LiveService, window: Window) -> None:
    """The line names service, step and answer."""
    service.control(refuse_close=True)
    with pytest.raises(FindingError, match=r"service inference: close: POST http\S+/close answered with status 503"):
        closed(service, window)
    assert (Reopening("inference", reopened=True), False) == (reopened(window), service.status()["closed"])


def test_a_service_that_says_yes_and_stays_open_is_found_out(service: LiveService, window: Window) -> None:
    """What counts is what it tells of itself afterwards."""
    service.control(ignore=True)
    with pytest.raises(FindingError, match="did not become closed within 1 s"):
        closed(service, window)


def test_a_service_that_does_not_answer_is_given_up_at_the_deadline(service: LiveService, window: Window) -> None:
    """Nothing was done to it, and nothing is written down."""
    service.control(hang=True)
    with pytest.raises(FindingError, match=r"GET http\S+/status did not answer within 0\.3 s"):
        close(window.file, service.declared(deadline_s=0.3), window.holder, window.say, nothing)
    service.control()
    assert (Reopening("inference"), None) == (reopened(window), window.file.read())
    assert [] == service.status()["calls"]


def test_a_service_that_someone_else_closed_is_refused_and_never_reopened(service: LiveService, window: Window) -> None:
    """Misuse: nothing was measured."""
    service.post("/close")
    with pytest.raises(InputError, match="service inference: is closed to new requests already"):
        refuse_closed(window.file, service.declared())
    with pytest.raises(InputError, match="service inference: is closed to new requests already") as caught:
        closed(service, window)
    assert 2 == caught.value.exit_status
    assert (Reopening("inference"), True, ["/close"]) == (
        reopened(window),
        service.status()["closed"],
        service.status()["calls"],
    )


def test_two_windows_at_once_are_refused_with_the_holder(service: LiveService, window: Window) -> None:
    """The second touches nothing, and cannot reopen what the first closed."""
    closed(service, window)
    second = Window(window.guarding, "t2")
    with pytest.raises(InputError, match=r"is in the window of attempt 20260101T000000Z-fake-000000 \(process \d+\)"):
        closed(service, second)
    assert (Reopening("inference"), True) == (reopened(second), service.status()["closed"])
    assert reopened(window).reopened


def test_reopening_twice_is_harmless_one_after_the_other_and_at_once(service: LiveService, window: Window) -> None:
    """One of them does it, whoever comes first."""
    closed(service, window)
    found: list[Reopening] = []
    guards = [threading.Thread(target=lambda: found.append(reopened(window))) for _ in range(4)]
    for guard in guards:
        guard.start()
    for guard in guards:
        guard.join()
    assert [False, False, False, True] == sorted(one.reopened for one in found)
    assert ([""] * 4, Reopening("inference")) == ([one.closed_because for one in found], reopened(window))
    assert ["/close", "/open"] == service.status()["calls"]


def test_it_stays_closed_while_something_of_the_run_is_left(service: LiveService, window: Window) -> None:
    """The line names it and the one command; once it is gone the service is reopened."""
    closed(service, window)
    stays = reopen(window.file, window.token, lambda: [Owned(4711, 1, "mark")], window.say)
    assert (
        "service inference stays closed to new requests: process 4711 (mark) of the run outlives SIGKILL; "
        "run `reportgen recover`"
    ) == stays.sentence
    assert (True, "stays closed") == (service.status()["closed"], window.events[-1])
    assert reopened(window).reopened


def test_a_service_that_died_stays_closed(service: LiveService, window: Window) -> None:
    """There is nobody to let requests in."""
    closed(service, window)
    service.kill()
    assert "its process" in reopened(window).closed_because
    assert "run `reportgen recover --reopen inference`" in reopened(window).sentence


def test_what_becomes_of_a_service_after_it_was_found_unchanged_was_not_measured_beside(
    service: LiveService, window: Window
) -> None:
    """It refuses to open, then dies: the second try finds another service, and the measurement is as good as before."""
    closed(service, window)
    service.control(refuse_open=True)
    assert "answered with status 500" in reopened(window).closed_because
    service.kill()
    found = reopened(window)
    assert ("", True, False) == (found.changed, found.needs_word, "changed" in window.events)


def test_a_service_that_was_started_anew_stays_closed_until_its_operator_vouches(
    service: LiveService, window: Window
) -> None:
    """The new one was never closed by this run; its operator's word is kept in the events."""
    closed(service, window)
    service.kill()
    service.start()
    service.post("/close")
    stays = reopened(window)
    assert ("its process id was", True) == (stays.closed_because[:18], service.status()["closed"])
    assert reopen(window.file, window.token, nobody, window.say, accept=True).reopened
    assert (False, stays.closed_because) == (service.status()["closed"], window.facts[-2]["accepted"])


def test_a_service_that_tells_something_else_of_itself_stays_closed(service: LiveService, window: Window) -> None:
    """Here it serves another model; fields that are left out, as its uptime, may change."""
    closed(service, window)
    service.control(model="second")
    assert "its status document changed" == reopened(window).closed_because
    service.control(model="first")
    assert reopened(window).reopened


def test_a_service_that_does_not_open_stays_closed_loudly(service: LiveService, window: Window) -> None:
    """It answers 200 and lets nobody in; later it does."""
    closed(service, window)
    service.control(ignore=True)
    assert "service inference: did not become open within 1 s" == reopened(window).closed_because
    service.control()
    assert reopened(window).reopened


def test_an_interruption_while_it_waits_leaves_a_window_to_reopen(service: LiveService, window: Window) -> None:
    """The wish is asked for between two questions."""
    service.control(requests=1)

    def interrupt() -> None:
        raise Interrupted

    with pytest.raises(Interrupted):
        close(window.file, service.declared(), window.holder, window.say, interrupt)
    assert reopened(window).reopened


@contextmanager
def full_disk() -> Iterator[None]:
    """Let the system refuse every byte that this process would write to a file."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_closes_nothing(service: LiveService, window: Window) -> None:
    """What cannot be written down first is not done."""
    with full_disk(), pytest.raises(RecordError, match="cannot be written: File too large"):
        closed(service, window)
    assert ([], None) == (service.status()["calls"], window.file.read())


def test_a_disk_that_fills_meanwhile_keeps_no_service_closed(service: LiveService, window: Window) -> None:
    """Steps that cannot be written are passed over on the way to reopening, and said."""
    closed(service, window)
    with full_disk():
        assert reopened(window).reopened
    assert [
        *WHOLE[:5],
        *(name for step in WHOLE[5:8] for name in ("state not written", step)),
        "reopened",
    ] == window.events
