"""The watchdog: parent of the controller, and adoptive parent of whatever it leaves behind.

It measures nothing and holds next to nothing. It waits for the controller's end; if that was not the end of all that the
controller owned, it ends the rest, sees that it is gone, and reopens what was closed. Linux, without root.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from msgspec import structs

from reportgen.archive import layout
from reportgen.errors import EXIT_FINDING, EXIT_INTERRUPTED, InputError
from reportgen.measure.guard_files import guard_file
from reportgen.measure.guarding import Guard, clean, events_of, new_record, ownership_of
from reportgen.measure.inherited import bear
from reportgen.measure.interruption import heeded
from reportgen.measure.marks import own_mark
from reportgen.model.admission import GuardRecord

PR_SET_CHILD_SUBREAPER = 36
_FORWARDED = {signal.SIGINT: signal.SIGINT, signal.SIGTERM: signal.SIGTERM, signal.SIGHUP: signal.SIGTERM}
_LOOK_S = 1.0


@dataclass(frozen=True)
class Watched:
    """How the controller ended, as its parent reports it; ``sentences`` are what someone must know."""

    exit_status: int
    sentences: list[str]


def split(runs: Path, guarding: Path, experiment: str) -> Guard | Watched:
    """Fork: the child goes on as the controller with its guard, the parent returns once everything is over.

    Call it while this process has one thread and has measured nothing.

    Raises
    ------
    RecordError
        What must be written down first cannot be.
    """
    become_subreaper()
    record = new_record(experiment)
    polite = heeded(_FORWARDED)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {*polite, signal.SIGCHLD})
    guard_file(guarding, record.token).write(record)
    bear(record.token)
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        return _controller(guarding, record, before)
    ended = _waited(child, {*polite, signal.SIGCHLD})
    for number in polite:
        signal.signal(number, _go_on)  # nothing but SIGKILL keeps it from cleaning up
    signal.pthread_sigmask(signal.SIG_SETMASK, before)  # what it starts to reopen a service takes signals as ever
    return _watched(ended, runs, guarding, record)


def become_subreaper() -> None:
    """Ask Linux to hand this process whatever its descendants leave behind, rather than to init."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise InputError(f"cannot adopt what a run leaves behind: {os.strerror(ctypes.get_errno())}", where="watchdog")


def _controller(guarding: Path, record: GuardRecord, mask: set[signal.Signals | int]) -> Guard:
    """Go on as the child: it adopts orphans itself, in case that the watchdog dies first."""
    become_subreaper()
    (watchdog,) = record.guards
    guarded = structs.replace(record, guards=[watchdog, own_mark()])
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    return Guard(guarding, guarded, watchdog)


def _go_on(number: int, frame: FrameType | None) -> None:
    """Take a signal and go on."""


def _waited(child: int, awaited: set[signal.Signals]) -> os.waitid_result:
    descriptor = os.pidfd_open(child)
    try:
        ended = _wait(child, descriptor, awaited)
    finally:
        os.close(descriptor)
    os.waitpid(child, 0)
    return ended


def _watched(ended: os.waitid_result, runs: Path, guarding: Path, record: GuardRecord) -> Watched:
    """Report how the controller ended, and do what it could not."""
    killed = ended.si_code != os.CLD_EXITED
    written = guard_file(guarding, record.token).read()
    if not killed and (written is None or written.told):
        return Watched(ended.si_status, [])
    sentences = _clean(runs, guarding, written or record)
    if not killed:
        return Watched(EXIT_FINDING if sentences else ended.si_status, sentences)
    asked = ended.si_status in _FORWARDED and not sentences
    sentences.insert(0, _death(ended.si_status, runs, written or record))
    return Watched(EXIT_INTERRUPTED if asked else EXIT_FINDING, sentences)


def _wait(child: int, descriptor: int, awaited: set[signal.Signals]) -> os.waitid_result:
    """Wait for the controller, pass on the first signal that only this process got, and collect orphans."""
    forwarded = False
    while (ended := os.waitid(os.P_PIDFD, descriptor, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is None:
        told = signal.sigtimedwait(awaited, _LOOK_S)
        if told is not None and told.si_signo in _FORWARDED and not forwarded and not _reaches_both(told):
            forwarded = True
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(descriptor, _FORWARDED[signal.Signals(told.si_signo)])
        _collect_orphans(child)
    return ended


def _reaches_both(told: signal.struct_siginfo) -> bool:
    """Whether the controller has got the signal too: what a terminal's keys send (the kernel's: code above 0) does; its closing tells the session's leader alone."""
    return told.si_code > 0 and told.si_signo != signal.SIGHUP


def _collect_orphans(child: int) -> None:
    while True:
        found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if found is None or found.si_pid == child:
            return
        os.waitpid(found.si_pid, os.WNOHANG)


def _clean(runs: Path, guarding: Path, record: GuardRecord) -> list[str]:
    """Do what the controller could not."""
    with events_of(runs, record) as say:
        sentences = clean(guarding, record, ownership_of(record, os.getpid()), say).sentences
    if not sentences:
        guard_file(guarding, record.token).clear()
    return sentences


def _death(number: int, runs: Path, record: GuardRecord) -> str:
    """Say what ended the controller, if it was no polite request before it listened or after it was done, and what became of the attempt."""
    try:
        how = signal.Signals(number).name
    except ValueError:
        how = f"signal {number}"
    said = "interrupted" if number in _FORWARDED else f"the controller was killed by {how}"
    return f"{said}; {_goes_on(runs, record)}"


def _goes_on(runs: Path, record: GuardRecord) -> str:
    if not record.attempt:
        return "nothing was measured; run it again"
    if layout.attempt_dir(runs, record.experiment, record.attempt).is_dir():
        return f"attempt {record.attempt} was sealed before"
    return f"continue with: reportgen run {record.experiment} --resume {record.attempt}"
