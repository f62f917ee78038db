"""A run's guard: it writes down who guards what, closes the services that share the device, and cleans up at the end.

The controller holds one while it measures; its watchdog, and ``recover`` after both, read what it wrote and do the same.
"""

from __future__ import annotations

import dataclasses
import os
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from msgspec import structs

from reportgen.archive import layout
from reportgen.errors import EXIT_FINDING, FindingError, InputError, ReportgenError, WorkerError
from reportgen.measure.admission import Holder, Reopening, Say, close, refuse_closed, reopen
from reportgen.measure.backends.contexts import contexts_on
from reportgen.measure.guard_files import GuardFile, guard_file, guard_files, state_file, state_files
from reportgen.measure.marks import Liveness, liveness, own_mark
from reportgen.measure.ownership import Owned, Ownership
from reportgen.measure.watching import RunOutcome
from reportgen.model.admission import GuardRecord, ProcessMark
from reportgen.model.record import Device
from reportgen.model.service import Service

LINUX = sys.platform.startswith("linux")


@dataclass(frozen=True)
class Cleaned:
    """What cleaning up came to: what outlives SIGKILL, and how it went with each service."""

    left: list[Owned]
    reopenings: list[Reopening]

    @property
    def sentences(self) -> list[str]:
        """One line for each thing that someone must see to."""
        lines = [f"{one} outlives SIGKILL; see what it hangs on, then run `reportgen recover`" for one in self.left]
        return lines + [one.sentence for one in self.reopenings if one.closed_because]


class ServiceChangedError(FindingError):
    """A service is no longer who it was when it was measured beside: the attempt is invalid."""


def clean(
    guarding: Path, record: GuardRecord, ownership: Ownership, say: Say, accept: frozenset[str] = frozenset()
) -> Cleaned:
    """End all that the run owns, look that it is gone, and reopen what it closed, the last first.

    ``accept`` are services for which the operator vouches though they are no longer who they were.
    """
    files = reversed(state_files(guarding))
    done = [reopen(file, record.token, ownership.end_all, say, accept=file.path.stem in accept) for file in files]
    left = ownership.end_all()
    if not left and not ownership.contexts_told:
        _said(say, "nothing owned left", contexts="the driver does not tell")
    elif not left:
        _said(say, "nothing owned left")
    return Cleaned(left, done)


def ownership_of(record: GuardRecord, root: int | None) -> Ownership:
    """Tell what the run owns, as a guard that is ``root`` sees it, or as anyone does (``None``)."""
    return Ownership(
        marks=frozenset({record.token}),
        root=root,
        spared=frozenset({os.getpid(), *(guard.pid for guard in record.guards if liveness(guard) is Liveness.ALIVE)}),
        contexts=lambda: contexts_on(record.backend, record.device),
        contexts_before=frozenset(record.contexts),
    )


@dataclass
class Guard:
    """The controller's own guard. Use as a context manager: at its end everything owned is gone, or :attr:`sentences` says what is not.

    ``watchdog`` is the other guard, ``None`` where the run has none: then only what carries its mark is known to be its own.
    ``changed`` tells of services that were not who they had been when the measurement beside them ended.
    """

    guarding: Path
    record: GuardRecord
    watchdog: ProcessMark | None = None
    sentences: list[str] = field(default_factory=list)
    changed: list[ServiceChangedError] = field(default_factory=list)
    _worth_repeating: bool = False

    @classmethod
    def alone(cls, guarding: Path, experiment: str) -> Self:
        """Guard a run without a watchdog."""
        return cls(guarding, new_record(experiment))

    @property
    def token(self) -> str:
        """Mark of whatever is started; drawn at random, since two labs may begin attempts of one id."""
        return self.record.token

    @property
    def watchdog_died(self) -> bool:
        """Whether this guard is the only one that is left."""
        return self.watchdog is not None and liveness(self.watchdog) is not Liveness.ALIVE

    @property
    def watchdog_pid(self) -> int | None:
        """Process id of the other guard."""
        return None if self.watchdog is None else self.watchdog.pid

    def amended(self, outcome: RunOutcome) -> RunOutcome:
        """Say, beside how the run ended, what someone must see to; no success then."""
        if not self.sentences:
            return outcome
        self._write(told=True)
        said = "; ".join([*([outcome.sentence] if outcome.sentence else []), *self.sentences])
        return dataclasses.replace(outcome, exit_status=EXIT_FINDING, sentence=said)

    def begin(self, backend: str, device: Device) -> None:
        """Write down, before anything is started, what is to be measured on what."""
        contexts = contexts_on(backend, device.id) or []
        self._write(backend=backend, device=device.id, contexts=contexts)

    def name(self, attempt_id: str) -> None:
        """Write down the attempt's id once it has one."""
        self._write(attempt=attempt_id)

    def refuse_changed(self) -> None:
        """Raise :class:`ServiceChangedError` if a service was not who it had been when the measurement beside it ended."""
        if self.changed:
            raise self.changed[0]

    def sweep(self, staying: Iterable[int] = (), ended: Iterable[int] = ()) -> list[Owned]:
        """End what the run started and what should have ended by now, and see that the device holds no context of it.

        Parameters
        ----------
        staying:
            Process groups that go on.
        ended:
            Ids of timed processes that have ended.

        Returns
        -------
        list of Owned
            What was alive; nothing of it is any more.

        Raises
        ------
        WorkerError
            Something outlives SIGKILL, or the device's driver still lists a context of what has ended: the next process would
            share the device with it.
        """
        if not LINUX:
            return []
        ownership = dataclasses.replace(
            ownership_of(self.record, self._root),
            ended=frozenset(ended) - frozenset(staying),
            # One that cannot be seen from here may go on, or be somebody else's: those are looked for at the end of the attempt.
            takes_unknown=False,
            staying=frozenset(staying),
            since_ticks=self.record.guards[0].started_ticks,
        )
        found = ownership.alive()
        if (found or ownership.contexts_left()) and (left := ownership.end_all()):
            raise WorkerError(
                f"{left[0]} outlives SIGKILL", remedy="see what it hangs on, then run `reportgen recover`"
            )
        return found

    @contextmanager
    def window(self, services: Sequence[Service], say: Say, check: Callable[[], None]) -> Iterator[None]:
        """Keep the services closed and idle meanwhile; afterwards they are reopened, or :attr:`sentences` says why not.

        Raises
        ------
        InputError, FindingError, RecordError
            One cannot be closed; those closed before it are reopened.
        """
        record = self.record
        holder = Holder(record.token, record.attempt, record.experiment, record.guards)
        try:
            for service in services:
                close(state_file(self.guarding, service.name), service, holder, say, check)
            yield
        finally:
            self._clean(say)
            if self._worth_repeating:  # once more while the attempt takes events: a service may have been slow
                self._clean(say)

    def __enter__(self) -> Self:
        self._write()
        return self

    def __exit__(self, *_: object) -> None:
        if not self.sentences:
            self._clean(_nothing)
        if not self.sentences:
            self._file.clear()

    @property
    def _file(self) -> GuardFile:
        return guard_file(self.guarding, self.record.token)

    @property
    def _root(self) -> int | None:
        return os.getpid() if self.watchdog is not None else None

    def _write(self, **changes: Any) -> None:
        self.record = structs.replace(self.record, **changes)
        if LINUX:
            self._file.write(self.record)

    def _clean(self, say: Say) -> None:
        if not LINUX:
            return  # what stands for it there is each process's own end (measure/process.py)
        cleaned = clean(self.guarding, self.record, ownership_of(self.record, self._root), say)
        self.sentences = cleaned.sentences
        self._worth_repeating = any(one.closed_because and not one.needs_word for one in cleaned.reopenings)
        self.changed += [changed_error(one.service, one.changed) for one in cleaned.reopenings if one.changed]


def changed_error(service: str, difference: str) -> ServiceChangedError:
    """Error that tells what differs of a service."""
    return ServiceChangedError(f"changed while it was measured beside: {difference}", where=f"service {service}")


def new_record(experiment: str) -> GuardRecord:
    """Begin the record of a run that this process guards."""
    guards = [own_mark()] if LINUX else []
    return GuardRecord(token=f"run-{secrets.token_hex(8)}", guards=guards, experiment=experiment)


def refuse_left(guarding: Path) -> None:
    """Refuse to begin beside what an earlier run started and whose guards, both dead, did not end.

    Raises
    ------
    InputError
        The line names it; it may share the device with whatever is timed next.
    """
    for file in guard_files(guarding):
        try:
            record = file.read()
        except ReportgenError:
            continue  # ``recover`` names it
        if record is None or any(liveness(guard) is not Liveness.GONE for guard in record.guards):
            continue
        if found := ownership_of(record, None).find():
            raise InputError(
                f"{found[0]} of attempt {record.attempt or record.token} goes on, whose guards are gone",
                where=record.experiment,
                remedy="run `reportgen recover` first",
            )


def services_on(device: Device, services: Sequence[Service], guarding: Path) -> list[Service]:
    """List those that share the device; each can be found and asked, and is open.

    Raises
    ------
    InputError
        One is closed already, or this is no Linux.
    FindingError
        One cannot be found or asked.
    """
    sharing = [service for service in services if service.shares(device.id)]
    if sharing and not LINUX:
        raise InputError("live services can be guarded on Linux only", where=f"service {sharing[0].name}")
    for service in sharing:
        refuse_closed(state_file(guarding, service.name), service)
    return sharing


@contextmanager
def events_of(runs: Path, record: GuardRecord) -> Iterator[Say]:
    """Write events to the dead run's attempt, if it has one that is open and can be written."""
    from reportgen.archive.journal import Journal  # noqa: PLC0415 - a watchdog that has nothing to clean stays small

    folder = layout.open_dir(runs, record.experiment, record.attempt)
    try:
        journal = Journal.resume(folder) if record.attempt else None
    except ReportgenError:
        journal = None
    if journal is None:
        yield _nothing
        return
    with journal:
        yield journal.event


def _said(say: Say, name: str, **facts: Any) -> None:
    try:
        say(name, **facts)
    except (ReportgenError, OSError):
        return


def _nothing(name: str, /, **facts: Any) -> None:
    """Write nothing: there is no attempt to write to."""
