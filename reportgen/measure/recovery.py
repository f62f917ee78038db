"""What runs left whose guards are both dead: found, ended, verified, reopened. Runs that go on are left alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from reportgen.archive import layout
from reportgen.errors import InputError, ReportgenError
from reportgen.measure.admission import Reopening
from reportgen.measure.guard_files import GuardFile, StateFile, guard_file, guard_files, state_file, state_files
from reportgen.measure.guarding import Cleaned, clean, events_of, ownership_of
from reportgen.measure.marks import Liveness, liveness
from reportgen.measure.ownership import Owned
from reportgen.model.admission import GuardRecord, ProcessMark
from reportgen.project import Project


@dataclass(frozen=True)
class Left:
    """One thing a dead run left. ``kind`` is attempt, process, service or file; ``mended`` whether nothing is to be done any more."""

    kind: str
    name: str
    mended: bool
    sentence: str


def recover(project: Project, vouched: frozenset[str] = frozenset()) -> list[Left]:
    """Mend what dead runs left, and say what could not be mended.

    Parameters
    ----------
    vouched:
        Services that are no longer who they were and that their operator wants reopened all the same.

    Raises
    ------
    InputError
        A service of ``vouched`` is not closed, or is closed by a run that goes on.
    """
    for name in sorted(vouched):
        _check_vouched(state_file(project.guarding, name), name)
    found: list[Left] = []
    for file in guard_files(project.guarding):
        found += _guarded(project, file, vouched)
    for state in state_files(project.guarding):
        found += _orphaned(project, state, vouched)
    return found


def _guarded(project: Project, file: GuardFile, vouched: frozenset[str]) -> list[Left]:
    """Mend after one run."""
    try:
        record = file.read()
    except ReportgenError as fault:
        return [_unreadable(file.path, fault)]
    return [] if record is None else _mend(project, record, file.path, vouched)


def _orphaned(project: Project, file: StateFile, vouched: frozenset[str]) -> list[Left]:
    """Mend a service whose run has no file of its own any more."""
    try:
        state = file.read()
    except ReportgenError as fault:
        return [_unreadable(file.path, fault)]
    if state is None or guard_file(project.guarding, state.token).path.exists():
        return []
    record = GuardRecord(token=state.token, guards=state.guards, experiment=state.experiment, attempt=state.attempt)
    return _mend(project, record, file.path, vouched)


def _mend(project: Project, record: GuardRecord, path: Path, vouched: frozenset[str]) -> list[Left]:
    found = state_of(record.guards)
    if found is Liveness.ALIVE:
        return []
    if found is Liveness.ELSEWHERE:
        return [_elsewhere(record, path)]
    ownership = ownership_of(record, None)
    owned = ownership.find()
    with events_of(project.runs, record) as say:
        cleaned = clean(project.guarding, record, ownership, say, vouched)
    if not cleaned.sentences:
        guard_file(project.guarding, record.token).clear()
    return [*_attempt(project, record), *_processes(owned, cleaned), *map(_service, _told(cleaned))]


def state_of(guards: Iterable[ProcessMark]) -> Liveness:
    """Tell whether a run goes on: as long as one of its guards lives."""
    found = {liveness(guard) for guard in guards}
    return next((state for state in (Liveness.ALIVE, Liveness.ELSEWHERE) if state in found), Liveness.GONE)


def _check_vouched(file: StateFile, name: str) -> None:
    state = file.read()
    if state is None:
        raise InputError("is not closed by any run", where=f"service {name}", remedy="see `reportgen recover`")
    if state_of(state.guards) is Liveness.ALIVE:
        raise InputError(
            f"is in the window of attempt {state.attempt}, which goes on",
            where=f"service {name}",
            remedy="interrupt that run; it reopens the service",
        )


def _attempt(project: Project, record: GuardRecord) -> list[Left]:
    if not record.attempt or not layout.open_dir(project.runs, record.experiment, record.attempt).is_dir():
        return []
    remedy = f"continue with: reportgen run {record.experiment} --resume {record.attempt}"
    return [Left("attempt", record.attempt, mended=True, sentence=f"attempt {record.attempt} is open; {remedy}")]


def _processes(owned: list[Owned], cleaned: Cleaned) -> list[Left]:
    left = {one.pid for one in cleaned.left}
    ended = [one for one in owned if one.pid not in left]
    return [
        *(Left("process", str(one.pid), mended=True, sentence=f"{one} was ended") for one in ended),
        *(
            Left("process", str(one.pid), mended=False, sentence=f"{one} outlives SIGKILL; see what it hangs on")
            for one in cleaned.left
        ),
    ]


def _told(cleaned: Cleaned) -> list[Reopening]:
    return [one for one in cleaned.reopenings if one.reopened or one.closed_because]


def _service(one: Reopening) -> Left:
    if one.reopened:
        return Left("service", one.service, mended=True, sentence=f"service {one.service} was reopened")
    return Left("service", one.service, mended=False, sentence=one.sentence)


def _elsewhere(record: GuardRecord, path: Path) -> Left:
    host = record.guards[0].host
    return Left(
        "file",
        path.name,
        mended=False,
        sentence=f"{path}: a run of {record.experiment} on {host} cannot be looked into from here; "
        f"run `reportgen recover` there, or remove the file if that machine is gone",
    )


def _unreadable(path: Path, fault: ReportgenError) -> Left:
    return Left("file", path.name, mended=False, sentence=fault.one_line())
