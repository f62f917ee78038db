"""What an attempt leaves behind: its manifest, rows, checks, notes and events."""

from __future__ import annotations

import enum
from datetime import datetime
from typing import Any

import msgspec

from reportgen.model.imported import Import

SCHEMA_VERSION = 1
PEER = "peer"  # mode and group of the processes that time peers


def check_moment(name: str, text: str) -> None:
    """Refuse a time that is not ISO 8601 (ValueError)."""
    try:
        datetime.fromisoformat(text)
    except ValueError as fault:
        raise ValueError(f"{name} {text[:40]!r} is no time in ISO 8601") from fault


def check_name(name: str, text: str) -> None:
    """Refuse an experiment's name that could not be that of a folder (ValueError)."""
    if text in ("", ".", "..") or "/" in text or not text.isprintable():
        raise ValueError(f"{name} {text[:40]!r} cannot be the name of a folder")


class Kind(enum.StrEnum):
    """What an attempt was made for."""

    TIMING = "timing"
    QUICK = "quick"
    SANITIZER = "sanitizer"
    PROFILE = "profile"
    IMPORTED = "imported"


TIMES_NOTHING = frozenset({Kind.SANITIZER, Kind.PROFILE})


class Status(enum.StrEnum):
    """How an attempt ended; anything but ``scored`` carries a reason."""

    SCORED = "scored"
    COMPLETE = "complete"
    ABORTED = "aborted"
    INVALID = "invalid"
    EXCLUDED = "excluded"


class Device(msgspec.Struct, frozen=True, kw_only=True):
    """The device measured. ``id`` is a GPU's UUID, or ``cpu-`` and 12 hexadecimal digits."""

    id: str
    model: str
    kind: str
    facts: dict[str, Any] = {}


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """Where the measured sources come from, and how that is known: ``observed``, ``declared`` or ``absent``.

    ``frozen_at`` is when the last commit that touches a file of the plan was made, in UTC; null, with the ``reason`` in
    words, where no commit holds the files as they were measured or none can be read.
    """

    known: str
    commit: str | None = None
    dirty: bool | None = None
    frozen_at: str | None = None
    reason: str = ""

    def __post_init__(self) -> None:
        if self.frozen_at:
            check_moment("frozen_at", self.frozen_at)


class Counts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How much an attempt holds; ``batches`` counts scored rows, not warm-up.

    ``repetitions`` are those of mode process; those of other modes, peers and harnesses stand in ``series`` by name.
    """

    repetitions: int
    batches: int
    warmup_batches: int
    checks: int
    failed_checks: int
    series: dict[str, int] = {}


class Sanitizer(msgspec.Struct, frozen=True, kw_only=True):
    """What a sanitizer attempt looked with, and at what: the tool, its version, and ``fixtures``, out of ``of`` in the plan."""

    tool: str
    version: str
    fixtures: list[str]
    of: int


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """What a profile attempt counted with, and of what: the tool, its version, ``fixtures`` out of ``of``, ``arms`` out of ``of_arms``."""

    tool: str
    version: str
    fixtures: list[str]
    of: int
    arms: list[str]
    of_arms: int


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """``manifest.json``. Times are ISO 8601 in UTC; hashes are lower-case hexadecimal SHA-256.

    ``binaries`` maps each arm to the hash of its code; ``binaries_digest`` names the whole set and, with the
    plan's digest, the record that the attempt belongs to. ``hashes`` is the bracket taken before the first repetition.
    ``refused`` lists, as ``arm``, ``fixture`` and ``reason``, where a peer could not run, and so was not measured.
    """

    schema_version: int
    id: str
    experiment: str
    kind: Kind
    status: Status
    reason: str
    backend: str
    plan: str
    provenance: Provenance
    device: Device
    started_at: str
    ended_at: str
    repetitions_planned: int
    counts: Counts
    failed_arms: list[str]
    left_out: list[dict[str, Any]]
    binaries: dict[str, str]
    binaries_digest: str
    hashes: dict[str, str]
    versions: dict[str, str]
    environment: dict[str, Any]
    reportgen: str
    sanitizer: Sanitizer | None = None
    imported: Import | None = None
    refused: list[dict[str, str]] = []
    profile: Profile | None = None

    def __post_init__(self) -> None:
        check_moment("started_at", self.started_at)
        check_moment("ended_at", self.ended_at)
        check_name("experiment", self.experiment)
        for entry in self.left_out:
            if not isinstance(entry.get("repetition"), int):
                raise ValueError("left_out: an entry names no repetition by its number")  # noqa: TRY004 - as a decoder reports it
        for entry in self.refused:
            if set(entry) != {"arm", "fixture", "reason"} or not all(entry.values()):
                raise ValueError("refused: an entry does not say arm, fixture and reason")


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """A line of ``<attempt>.notes.jsonl``: ``kind`` is ``exclusion`` or ``erratum``."""

    schema_version: int
    at: str
    kind: str
    text: str


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """A line of ``events.jsonl``: what the controller did, in order."""

    at: str
    event: str
    facts: dict[str, Any] = {}
    schema_version: int = SCHEMA_VERSION


class Repetition(msgspec.Struct, frozen=True, kw_only=True):
    """What one process answered: the unit that the journal keeps. Row keys are those of ``model.columns``.

    ``mode`` is a ``Mode``, ``peer`` or the name of an outer harness; repetitions are numbered from 1 within it.
    """

    repetition: int
    batches: list[dict[str, Any]]
    checks: list[dict[str, Any]]
    facts: dict[str, Any]
    left_out: str = ""
    mode: str = "process"


class RepetitionFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A line of ``repetitions.jsonl``: what a process drew and saw, and how many rows of the tables are its own."""

    schema_version: int
    repetition: int
    left_out: str
    batches: int
    checks: int
    facts: dict[str, Any]
    mode: str = "process"
