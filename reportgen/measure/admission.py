"""A live service's window: closed to new requests and idle while a run measures, reopened only when that is safe.

lock -> identity -> close -> wait until idle -> measure -> verify cleanup -> identity, compare -> reopen. Each step is
written down before it is taken, so that any guard, or ``recover``, can go on from wherever another was killed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Protocol

from msgspec import structs

from reportgen.errors import FindingError, InputError, RecordError, ReportgenError
from reportgen.measure.asking import ask, perform
from reportgen.measure.guard_files import StateFile
from reportgen.measure.marks import Liveness, liveness
from reportgen.measure.ownership import Owned
from reportgen.measure.service_identity import first_difference, identify, identity_facts
from reportgen.model.admission import Identity, ProcessMark, Step, WindowState
from reportgen.model.service import Question, Service

SERVICE_CHANGED = "service changed"
_MOST_NAMED = 3


class Say(Protocol):
    """Writes down what was done, in order (``Journal.event``)."""

    def __call__(self, name: str, /, **facts: Any) -> None:
        """Write one event."""


@dataclass(frozen=True)
class Holder:
    """The run for which a service is closed, and its guards."""

    token: str
    attempt: str
    experiment: str
    guards: list[ProcessMark]


@dataclass(frozen=True)
class Reopening:
    """How an attempt to reopen ended.

    ``closed_because`` is empty where the service is open or was never closed for that run. ``needs_word`` tells that it is
    no longer who it was, so that only its operator can vouch for it. ``changed`` says what differs if it was measured beside.
    """

    service: str
    closed_because: str = ""
    reopened: bool = False
    needs_word: bool = False
    changed: str = ""

    @property
    def sentence(self) -> str:
        """One line for whoever must act, with the one command to run."""
        command = f"reportgen recover --reopen {self.service}" if self.needs_word else "reportgen recover"
        remedy = f"see to it, then run `{command}`" if self.needs_word else f"run `{command}`"
        return f"service {self.service} stays closed to new requests: {self.closed_because}; {remedy}"


def refuse_closed(file: StateFile, service: Service) -> None:
    """Refuse, before anything is built, a service that cannot be closed as declared or is closed already.

    Raises
    ------
    InputError
        It is closed, by another run or by someone else: whoever closed it reopens it.
    FindingError
        It cannot be found or asked.
    """
    _refuse_held(file.read(), service)
    identify(service)
    _refuse_already_closed(service)


def close(file: StateFile, service: Service, holder: Holder, say: Say, check: Callable[[], None]) -> Identity:
    """Close the service to new requests and wait until it is idle. ``check`` may raise while it waits.

    Whatever is raised here, :func:`reopen` afterwards tells from the file what was done.

    Raises
    ------
    InputError
        It is closed already, by another run or by someone else; nothing was done to it.
    FindingError
        It cannot be found, refuses to close, or does not become idle in time.
    RecordError
        The disk does not take what must be written down first; nothing was done to it.
    """
    with file.locked():
        _refuse_held(file.read(), service)
        state = _begun(service, holder)
        file.write(state)
        say("service identifying", service=service.name)
        identity = identify(service)
        _refuse_already_closed(service)
        say("service identified", service=service.name, **identity_facts(identity))
        state = _advance(file, structs.replace(state, identity=identity), Step.CLOSING)
        say("service closing", service=service.name)
        perform(service.close, _at(service, "close"))
        state = _advance(file, state, Step.WAITING)
    _wait(service, service.closed, "closed", service.close_deadline_s, check)
    say("service closed", service=service.name)
    _wait(service, service.idle, "idle", service.idle_deadline_s, check)
    with file.locked():
        _advance(file, structs.replace(state, measured=True), Step.MEASURING)
    say("service idle", service=service.name)
    return identity


def reopen(
    file: StateFile, token: str, owned: Callable[[], Sequence[Owned]], say: Say, *, accept: bool = False
) -> Reopening:
    """Let requests in again, if that is safe: nothing owned is left and the service is who it was.

    Harmless where it is done twice, or by two guards at once: the second finds nothing of that run.

    Parameters
    ----------
    token:
        The run for which it was closed; a window of another run is left alone.
    owned:
        Ends what the run started and lists what is left of it.
    accept:
        Whether the operator vouches for a service that is no longer who it was.
    """
    name = file.path.stem
    try:
        if not _is_of(file.read(), token):
            return Reopening(name)  # without waiting for the guards of another run
        with file.locked():
            state = file.read()
            if state is None or not _is_of(state, token):
                return Reopening(name)
            return _reopen(file, state, owned, _Teller(say, file), accept=accept)
    except ReportgenError as fault:
        return Reopening(name, closed_because=fault.one_line())


def _reopen(
    file: StateFile, state: WindowState, owned: Callable[[], Sequence[Owned]], say: _Teller, *, accept: bool
) -> Reopening:
    service, before = state.service, state.identity
    if state.step is Step.IDENTIFYING or before is None:  # closing never began
        file.clear()
        return Reopening(service.name)
    say.at(state, Step.CLEANING, "service cleaning")
    if left := owned():
        return _stays(say, service, _still_there(left))
    say.at(state, Step.COMPARING, "service comparing")
    difference = _changed(service, before)
    if difference is not None and state.measured:
        say(SERVICE_CHANGED, service=service.name, difference=difference)
    if difference is not None and not accept:
        changed = difference if state.measured else ""
        return replace(_stays(say, service, difference), needs_word=True, changed=changed)
    compared = structs.replace(state, measured=False)  # what it becomes from now on, it was not measured beside
    say.at(compared, Step.REOPENING, "service reopening", accepted=difference)
    try:
        perform(service.open, _at(service, "open"))
        _wait(service, service.closed, "open", service.open_deadline_s, lambda: None)
    except FindingError as fault:
        return _stays(say, service, fault.one_line())
    file.clear()
    say("service reopened", service=service.name)
    return Reopening(service.name, reopened=True)


def _is_of(state: WindowState | None, token: str) -> bool:
    return state is not None and state.token == token


def _changed(service: Service, before: Identity) -> str | None:
    try:
        return first_difference(before, identify(service))
    except FindingError as fault:
        return fault.what


def _stays(say: _Teller, service: Service, because: str) -> Reopening:
    say("service stays closed", service=service.name, because=because)
    return Reopening(service.name, closed_because=because)


def _still_there(left: Sequence[Owned]) -> str:
    named = ", ".join(map(str, left[:_MOST_NAMED]))
    more = f" and {len(left) - _MOST_NAMED} more" if len(left) > _MOST_NAMED else ""
    return f"{named}{more} of the run outlives SIGKILL"


@dataclass(frozen=True)
class _Teller:
    """Writes down what is done on the way to reopening; a full disk must not keep a service closed that is safe to open."""

    say: Say
    file: StateFile

    def __call__(self, name: str, **facts: Any) -> None:
        try:
            self.say(name, **facts)
        except (RecordError, OSError):
            return

    def at(self, state: WindowState, step: Step, name: str, **facts: Any) -> None:
        """Write the step, then the event."""
        try:
            _advance(self.file, state, step)
        except RecordError as fault:
            self("state not written", step=step.value, why=fault.what)
        self(name, service=state.service.name, **{key: value for key, value in facts.items() if value is not None})


def _begun(service: Service, holder: Holder) -> WindowState:
    return WindowState(
        token=holder.token,
        attempt=holder.attempt,
        experiment=holder.experiment,
        guards=holder.guards,
        step=Step.IDENTIFYING,
        at=_now(),
        service=service,
    )


def _advance(file: StateFile, state: WindowState, step: Step) -> WindowState:
    advanced = structs.replace(state, step=step, at=_now())
    file.write(advanced)
    return advanced


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _refuse_held(state: WindowState | None, service: Service) -> None:
    if state is None:
        return
    found = [liveness(guard) for guard in state.guards]
    if Liveness.ALIVE in found:
        pids = ", ".join(str(guard.pid) for guard in state.guards)
        raise InputError(
            f"is in the window of attempt {state.attempt or state.token} (process {pids})",
            where=f"service {service.name}",
            remedy="wait until it ends",
        )
    raise InputError(
        f"was left at step {state.step.value!r} by attempt {state.attempt or state.token}, whose guards are gone",
        where=f"service {service.name}",
        remedy="run `reportgen recover` first",
    )


def _refuse_already_closed(service: Service) -> None:
    if ask(service.closed, _at(service, "closed")):
        raise InputError(
            "is closed to new requests already, and not by a run",
            where=f"service {service.name}",
            remedy="whoever closed it reopens it; then repeat",
        )


def _wait(service: Service, question: Question, wanted: str, deadline_s: float, check: Callable[[], None]) -> None:
    """Poll until the answer is as wanted (``open`` is a no to ``closed``); ``check`` may raise in between."""
    yes = wanted != "open"
    until_s = time.monotonic() + deadline_s
    while ask(question, _at(service, wanted)) is not yes:
        check()
        if time.monotonic() > until_s:
            raise FindingError(f"did not become {wanted} within {deadline_s:g} s", where=f"service {service.name}")
        time.sleep(service.poll_s)


def _at(service: Service, step: str) -> str:
    return f"service {service.name}: {step}"
