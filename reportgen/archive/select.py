"""Which attempts form a record: decided by the archive's own order, never by what was measured.

Scored attempts of one plan and one set of binaries are a group. The record *by name* is the group whose plan was
frozen last; of several groups with one plan, the one that began first. In a group each device speaks through its
earliest scored attempt; its later ones are replications.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from reportgen.archive import layout
from reportgen.archive.load import Attempt, load_attempt, sound_attempts
from reportgen.errors import InputError, ReportgenError
from reportgen.model.plan import Plan
from reportgen.model.record import TIMES_NOTHING, Kind, Status

_SLUG_DIGITS = 6
_SCORED_KINDS = (Kind.TIMING, Kind.IMPORTED)


@dataclass(frozen=True)
class Record:
    """Attempts that speak together.

    ``attempts``: the earliest scored attempt of each device, by device id. ``replications``: later scored attempts of
    the group. ``others``: attempts of the same plan that no record chooses from (quick, aborted, invalid, excluded,
    complete). ``current``: this is the record by name. ``slug``: first 6 digits of the plan's digest; a group that
    is not the first of its plan has those of its binaries appended.
    """

    name: str
    digest: str
    binaries_digest: str
    slug: str
    plan: Plan
    attempts: tuple[Attempt, ...]
    replications: tuple[Attempt, ...]
    others: tuple[Attempt, ...]
    current: bool

    @property
    def devices(self) -> tuple[str, ...]:
        """Ids of the devices that speak, sorted."""
        return tuple(attempt.manifest.device.id for attempt in self.attempts)


def records(attempts: Iterable[Attempt]) -> list[Record]:
    """Form every record, by experiment; there the current one first, then the others, latest frozen plan first."""
    by_experiment: dict[str, list[Attempt]] = defaultdict(list)
    for attempt in sorted(attempts, key=_began):
        by_experiment[attempt.manifest.experiment].append(attempt)
    return [record for name in sorted(by_experiment) for record in _records_of(name, by_experiment[name])]


def find_record(attempts: Iterable[Attempt], name: str) -> Record:
    """Find the record named ``q6k_dot`` (the current one) or ``q6k_dot@1a2b3c`` (by slug, or by a longer part of the digest).

    Raises
    ------
    InputError
        There is none.
    """
    experiment, _, slug = name.partition("@")
    found = [record for record in records(attempts) if record.name == experiment]
    if not found:
        raise InputError(f"no scored attempt of {experiment!r}", remedy=f"measure it: reportgen run {experiment}")
    if not slug:
        return found[0]
    for record in found:
        if slug == record.slug or (len(slug) >= _SLUG_DIGITS and record.digest.startswith(slug)):
            return record
    known = ", ".join(f"{record.name}@{record.slug}" for record in found)
    raise InputError(f"no record {name!r}", remedy=f"there are: {known}")


def find_sound_record(runs: Path, name: str) -> tuple[Record, list[ReportgenError]]:
    """Find the record named ``name`` among the attempts under ``runs`` that can be read, and say why others cannot.

    Raises
    ------
    InputError
        There is none.
    RecordError, SchemaVersionError
        There is none, and an attempt of the experiment is damaged or of another version.
    """
    found, faults = sound_attempts(runs, name.partition("@")[0])
    try:
        return find_record(found, name), faults
    except InputError:
        if faults:
            raise faults[0] from None
        raise


def find_shown(runs: Path, name: str) -> tuple[list[Attempt], list[Attempt], list[ReportgenError]]:
    """Find what ``name`` (of a record, or an attempt's id) shows: attempts to score, attempts that time nothing, and why others cannot be read.

    Raises
    ------
    InputError, RecordError, SchemaVersionError
        As :func:`find_sound_record`, or there is no such attempt.
    """
    if layout.is_attempt_id(name):
        alone = load_attempt(layout.find_attempt(runs, name))
        return ([], [alone], []) if alone.manifest.kind in TIMES_NOTHING else ([alone], [], [])
    record, faults = find_sound_record(runs, name)
    return [*record.attempts], [one for one in record.others if one.manifest.kind in TIMES_NOTHING], faults


def find_imported(runs: Path, name: str) -> Attempt | None:
    """Find the imported attempt named ``name``; of an experiment that has no record, the latest that was imported and not excluded.

    Raises
    ------
    RecordError, SchemaVersionError
        The attempt named is damaged or of another version.
    """
    if layout.is_attempt_id(name):
        folder = layout.find_attempt(runs, name)
        found = [load_attempt(folder)]
    else:
        found = [] if "@" in name else sound_attempts(runs, name)[0]
        if any(map(is_scored, found)):
            return None
    imported = [
        one for one in found if one.manifest.kind is Kind.IMPORTED and (len(found) == 1 or one.exclusion is None)
    ]
    return max(imported, key=_began, default=None)


def standings(found: Iterable[Record]) -> dict[str, str]:
    """Say, by id, what attempts are to the records: ``speaks in q6k_dot@1a2b3c``, ``replicates <id> in ...``; the others are not there."""
    said: dict[str, str] = {}
    for record in found:
        name = f"{record.name}@{record.slug}"
        speaking = {attempt.manifest.device.id: attempt.id for attempt in record.attempts}
        replicas = {one.id: f"replicates {speaking[one.manifest.device.id]} in {name}" for one in record.replications}
        said |= dict.fromkeys(speaking.values(), f"speaks in {name}") | replicas
    return said


def is_scored(attempt: Attempt) -> bool:
    """Whether a record may speak through this attempt."""
    return attempt.sealed and attempt.status is Status.SCORED and attempt.manifest.kind in _SCORED_KINDS


def _records_of(name: str, attempts: Sequence[Attempt]) -> list[Record]:
    """Form the records of one experiment; ``attempts`` in the order in which they began."""
    groups: dict[str, dict[str, list[Attempt]]] = defaultdict(dict)
    for attempt in filter(is_scored, attempts):
        groups[attempt.manifest.plan].setdefault(attempt.manifest.binaries_digest, []).append(attempt)
    plans = sorted(groups, key=lambda digest: _frozen(groups[digest]), reverse=True)
    found: list[Record] = []
    for digest in plans:
        for index, (binaries, scored) in enumerate(groups[digest].items()):
            others = [
                attempt
                for attempt in attempts
                if attempt.manifest.plan == digest
                and not is_scored(attempt)
                and _home(attempt, list(groups[digest])) == binaries
            ]
            found.append(_record(name, scored, others, first=index == 0, current=not found))
    return found


def _record(name: str, scored: list[Attempt], others: list[Attempt], *, first: bool, current: bool) -> Record:
    """Make a record out of the scored attempts of one group, in the order in which they began."""
    earliest: dict[str, Attempt] = {}
    for attempt in scored:
        earliest.setdefault(attempt.manifest.device.id, attempt)
    chosen = tuple(earliest[device] for device in sorted(earliest))
    manifest = scored[0].manifest
    slug = manifest.plan[:_SLUG_DIGITS]
    return Record(
        name=name,
        digest=manifest.plan,
        binaries_digest=manifest.binaries_digest,
        slug=slug if first else f"{slug}-{manifest.binaries_digest[:_SLUG_DIGITS]}",
        plan=scored[0].plan,
        attempts=chosen,
        replications=tuple(attempt for attempt in scored if attempt not in chosen),
        others=tuple(others),
        current=current,
    )


def _home(attempt: Attempt, binaries: list[str]) -> str:
    """Binaries of the group beside which an unscored attempt is shown: its own, else the first group of its plan."""
    own = attempt.manifest.binaries_digest
    return own if own in binaries else binaries[0]


def _frozen(groups: dict[str, list[Attempt]]) -> tuple[datetime, datetime, str]:
    """When a plan was frozen, as its attempts know it; without provenance, when its first scored attempt began."""
    scored = [attempt for group in groups.values() for attempt in group]
    began = min(_moment(attempt.manifest.started_at) for attempt in scored)
    known = [_moment(a.manifest.provenance.frozen_at) for a in scored if a.manifest.provenance.frozen_at]
    return min(known, default=began), began, scored[0].manifest.plan


def _began(attempt: Attempt) -> tuple[datetime, str]:
    return _moment(attempt.manifest.started_at), attempt.id


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
