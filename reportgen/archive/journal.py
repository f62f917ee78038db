"""The journal of an open attempt: what is measured reaches the disk repetition by repetition.

``<id>.partial/`` holds ``header.json`` and ``plan.toml`` from the first moment on, ``journal.jsonl`` (one line a
repetition, with the SHA-256 of its own text), ``events.jsonl`` and ``artifacts/``. Killing the writer at any point
loses at most the line in flight.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path, PurePosixPath
from typing import Any, Self

import msgspec

from reportgen.archive import layout
from reportgen.archive.durable import refused, sync_folder, sync_tree, write_durable, write_whole
from reportgen.archive.encoding import (
    UNREADABLE,
    check_version,
    damaged,
    decode_json,
    decode_toml,
    encode_json,
    encode_json_pretty,
    encode_toml,
    read_bytes,
)
from reportgen.archive.lines import append_line, cut, read_growing
from reportgen.archive.rows import check_rows, check_types
from reportgen.errors import InputError, RecordError
from reportgen.model import plan as plan_model
from reportgen.model.plan import Plan
from reportgen.model.record import (
    SCHEMA_VERSION,
    Device,
    Event,
    Kind,
    Profile,
    Provenance,
    Repetition,
    Sanitizer,
    check_moment,
    check_name,
)


class OpenHeader(msgspec.Struct, frozen=True, kw_only=True):
    """``header.json``: the fields of the manifest that are known before the first batch."""

    schema_version: int
    id: str
    experiment: str
    kind: Kind
    backend: str
    plan: str
    provenance: Provenance
    device: Device
    started_at: str
    repetitions_planned: int
    binaries: dict[str, str]
    binaries_digest: str
    hashes: dict[str, str]
    versions: dict[str, str]
    environment: dict[str, Any]
    reportgen: str
    sanitizer: Sanitizer | None = None
    profile: Profile | None = None

    def __post_init__(self) -> None:
        check_moment("started_at", self.started_at)
        check_name("experiment", self.experiment)


class JournalLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of ``journal.jsonl``; ``sha256`` is that of the text of ``repetition`` as it stands in the line."""

    schema_version: int
    sha256: str
    repetition: msgspec.Raw


@dataclass(frozen=True)
class JournalContents:
    """What a journal holds; ``torn`` tells that an unfinished last line was dropped, ``*_bytes`` where whole lines end."""

    header: OpenHeader
    plan: Plan
    repetitions: tuple[Repetition, ...]
    events: tuple[Event, ...]
    torn: bool
    journal_bytes: int
    events_bytes: int


class Journal:
    """The one writer of an open attempt. Use as a context manager, or call :meth:`close`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._journal = _open_locked(folder / layout.JOURNAL)
        self._events = (folder / layout.EVENTS).open("ab", buffering=0)

    @classmethod
    def create(cls, folder: Path, header: OpenHeader, plan: Plan) -> Self:
        """Open an attempt at ``folder`` (``<id>.partial``); it appears with header and plan in it, or not at all.

        Raises
        ------
        InputError
            ``folder`` is not named after the header's id, or an attempt of this id exists.
        RecordError
            The disk refuses (full, read-only).
        """
        if not layout.is_open(folder) or layout.attempt_id_of(folder) != header.id:
            raise InputError(f"an open attempt's folder is named {header.id}{layout.OPEN_SUFFIX}", where=str(folder))
        if folder.exists() or layout.sealed_dir_of(folder).exists():
            raise InputError("an attempt of this id exists", where=str(folder), remedy="start again for a new id")
        staging = layout.staging_dir(folder, "opening")
        try:
            shutil.rmtree(staging, ignore_errors=True)
            staging.mkdir(parents=True)
            write_durable(staging / layout.HEADER, encode_json_pretty(header))
            write_durable(staging / layout.PLAN, encode_toml(plan))
            write_durable(staging / layout.JOURNAL, b"")
            write_durable(staging / layout.EVENTS, b"")
            (staging / layout.ARTIFACTS).mkdir()
            sync_tree(staging)
            staging.rename(folder)
            sync_folder(folder.parent)
        except OSError as fault:
            shutil.rmtree(staging, ignore_errors=True)
            raise refused(folder, fault) from fault
        return cls(folder)

    @classmethod
    def resume(cls, folder: Path) -> Self:
        """Continue an interrupted attempt: an unfinished last line is cut off, the rest stays as it is.

        Raises
        ------
        InputError
            ``folder`` is no open attempt, or another process writes to it.
        RecordError
            An earlier line is damaged.
        """
        if not layout.is_open(folder) or not folder.is_dir():
            raise InputError("is no open attempt", where=str(folder), remedy="see `reportgen attempts`")
        journal = cls(folder)
        try:
            journal._cut_unfinished()
        except BaseException:
            journal.close()
            raise
        return journal

    @property
    def artifacts(self) -> Path:
        """Folder for sources, binaries, counts and logs."""
        return layout.artifacts_dir(self.folder)

    def append(self, repetition: Repetition) -> None:
        """Archive one repetition; when this returns, it is on the disk.

        Raises
        ------
        RecordError
            A row does not fit the registry of columns, or the disk refuses; the journal keeps its earlier lines.
        """
        where = f"{self.folder}: repetition {repetition.repetition}"
        check_rows("batches", repetition.batches, where)
        check_rows("checks", repetition.checks, where)
        text = encode_json(repetition)
        line = JournalLine(
            schema_version=SCHEMA_VERSION, sha256=hashlib.sha256(text).hexdigest(), repetition=msgspec.Raw(text)
        )
        self._write_line(self._journal, msgspec.json.encode(line))

    def event(self, name: str, /, **facts: Any) -> None:
        """Archive what was done, with the time of day; when this returns, it is on the disk.

        Raises
        ------
        RecordError
            The disk refuses.
        """
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self._write_line(self._events, encode_json(Event(at=now, event=name, facts=facts)))

    def relay(self, event: Event) -> None:
        """Archive what was done elsewhere, at the time of day that it was done there; raises as :meth:`event` does."""
        self._write_line(self._events, encode_json(event))

    def artifact(self, name: str, data: bytes) -> Path:
        """Archive a file under ``artifacts/``; ``name`` may hold folders.

        Raises
        ------
        InputError
            ``name`` leads out of the folder.
        RecordError
            Another content lies there already, or the disk refuses.
        """
        relative = PurePosixPath(name)
        if relative.is_absolute() or ".." in relative.parts or not relative.parts or not name.isprintable():
            raise InputError(f"artifact name {name!r} leads out of the folder", where=str(self.artifacts))
        path = self.artifacts / relative
        try:
            if path.exists():
                if path.read_bytes() != data:
                    raise RecordError("another content was archived before", where=str(path))
                return path
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, data)
        except OSError as fault:
            raise refused(path, fault) from fault
        return path

    def close(self) -> None:
        """Let go of the files and of the lock."""
        self._events.close()
        self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _cut_unfinished(self) -> None:
        contents = read_journal(self.folder)
        cut(self._journal, contents.journal_bytes)
        cut(self._events, contents.events_bytes)

    def _write_line(self, file: FileIO, text: bytes) -> None:
        try:
            append_line(file, text)
        except OSError as fault:
            raise refused(self.folder, fault) from fault


def read_journal(folder: Path) -> JournalContents:
    """Read the open attempt in ``folder``.

    Raises
    ------
    RecordError
        A file is missing, or a line before the last is damaged (the line is named).
    SchemaVersionError
        It was written by a newer or older version.
    """
    header = decode_json(read_bytes(folder / layout.HEADER), OpenHeader, SCHEMA_VERSION, str(folder / layout.HEADER))
    plan = decode_toml(read_bytes(folder / layout.PLAN), Plan, plan_model.SCHEMA_VERSION, str(folder / layout.PLAN))
    repetitions = read_growing(folder / layout.JOURNAL, decode_repetition)
    events = read_growing(folder / layout.EVENTS, decode_event)
    return JournalContents(
        header, plan, repetitions.nouns, events.nouns, repetitions.torn, repetitions.length_bytes, events.length_bytes
    )


def decode_event(line: bytes, where: str) -> Event:
    """Event out of a line of ``events.jsonl``; raises as :func:`reportgen.archive.encoding.decode_json` does."""
    return decode_json(line, Event, SCHEMA_VERSION, where)


def decode_repetition(line: bytes, where: str) -> Repetition:
    """Repetition out of a line of ``journal.jsonl``, whose SHA-256 must fit; raises as :func:`decode_event` does."""
    try:
        kept = msgspec.json.decode(line, type=JournalLine)
    except UNREADABLE as fault:
        raise damaged(where, fault) from fault
    check_version(kept.schema_version, SCHEMA_VERSION, where)
    text = bytes(kept.repetition)
    if hashlib.sha256(text).hexdigest() != kept.sha256:
        raise damaged(where, ValueError("its text does not have the SHA-256 noted in it"))
    try:
        repetition = msgspec.json.decode(text, type=Repetition)
        check_types("batches", repetition.batches)
        check_types("checks", repetition.checks)
    except UNREADABLE as fault:
        raise damaged(where, fault) from fault
    return repetition


def _open_locked(path: Path) -> FileIO:
    try:
        file = path.open("ab", buffering=0)
    except OSError as fault:
        raise refused(path, fault) from fault
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as fault:
        file.close()
        raise InputError("another process is writing to it", where=str(path), remedy="wait until it ends") from fault
    return file
