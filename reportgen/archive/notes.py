"""Notes beside a sealed attempt: append-only, since the attempt itself is never written again."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from reportgen.archive import layout
from reportgen.archive.durable import refused, sync_folder
from reportgen.archive.encoding import decode_json, encode_json
from reportgen.archive.lines import append_line, cut, read_growing
from reportgen.errors import InputError
from reportgen.model.record import SCHEMA_VERSION, Note

EXCLUSION = "exclusion"
ERRATUM = "erratum"


def exclude(attempt: Path, reason: str) -> Note:
    """Exclude the sealed attempt in folder ``attempt`` from every record, for good, and say why.

    Raises
    ------
    InputError
        There is no sealed attempt, the reason is empty, or the attempt is excluded already.
    RecordError
        The disk refuses.
    """
    for note in read_notes(attempt):
        if note.kind == EXCLUSION:
            raise InputError(f"is excluded already: {note.text}", where=str(attempt))
    return _append(attempt, EXCLUSION, reason)


def add_erratum(attempt: Path, text: str) -> Note:
    """Note something about a sealed attempt that readers should know; its status stays. Raises as :func:`exclude`."""
    return _append(attempt, ERRATUM, text)


def read_notes(attempt: Path) -> tuple[Note, ...]:
    """Read the notes on the attempt in folder ``attempt``, oldest first; none where there is no such file.

    Raises
    ------
    RecordError
        A line is damaged; it is named.
    SchemaVersionError
        A line was written by a newer or older version.
    """
    path = layout.notes_file(attempt)
    if not path.exists():
        return ()
    return read_growing(path, _decode).nouns


def _append(attempt: Path, kind: str, text: str) -> Note:
    if layout.is_open(attempt) or not (attempt / layout.MANIFEST).exists():
        raise InputError("is no sealed attempt", where=str(attempt), remedy="see `reportgen attempts`")
    text = " ".join(text.split())
    if not text.isprintable():
        raise InputError("a note holds control characters", where=str(attempt), remedy="use plain words")
    if not text:
        raise InputError("a note needs a text", where=str(attempt), remedy="say it in words")
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    note = Note(schema_version=SCHEMA_VERSION, at=now, kind=kind, text=text)
    path = layout.notes_file(attempt)
    try:
        with path.open("ab", buffering=0) as file:
            cut(file, read_growing(path, _decode).length_bytes)
            append_line(file, encode_json(note))
        sync_folder(path.parent)
    except OSError as fault:
        raise refused(path, fault) from fault
    return note


def _decode(line: bytes, where: str) -> Note:
    return decode_json(line, Note, SCHEMA_VERSION, where)
