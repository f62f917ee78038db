"""From an older format to the present one, beside the original: a sealed attempt is never written again.

``STEPS`` is the whole history: for a file and a schema version, the function that makes a document of the next version.
"""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import tomli_w

from reportgen.archive import layout
from reportgen.archive.durable import refused
from reportgen.archive.encoding import UNREADABLE, check_version, damaged, encode_json, encode_json_pretty, read_bytes
from reportgen.archive.load import attempt_folders
from reportgen.archive.sums import sums_of
from reportgen.errors import InputError, SchemaVersionError
from reportgen.model import plan as plan_model
from reportgen.model import record as record_model

Document = dict[str, Any]
STEPS: dict[tuple[str, int], Callable[[Document], Document]] = {}
NEWEST = {
    layout.MANIFEST: record_model.SCHEMA_VERSION,
    layout.PLAN: plan_model.SCHEMA_VERSION,
    layout.REPETITIONS: record_model.SCHEMA_VERSION,
    layout.EVENTS: record_model.SCHEMA_VERSION,
}
SUFFIX = ".upgraded"


def upgrade(path: Path) -> str:
    """Upgrade the sealed attempts in ``path`` (an attempt, an experiment's folder or ``runs``); say what was done.

    Where any is older, the whole of ``path`` is copied to ``<path>.upgraded`` and the older files are written anew there,
    with new sums. The original stays as it is.

    Raises
    ------
    InputError
        There is no attempt, or ``<path>.upgraded`` exists.
    SchemaVersionError
        A file is newer than this program, or so old that no step is known.
    RecordError
        A file is damaged, or the disk refuses.
    """
    attempts = _sealed(path)
    if not attempts:
        raise InputError("holds no sealed attempt", where=str(path), remedy="name an attempt or a folder of attempts")
    older = [attempt for attempt in attempts if any(_upgraded(attempt / name)[1] for name in NEWEST)]
    if not older:
        return f"{len(attempts)} attempts, all of the present format: nothing to do"
    target = path.with_name(path.name + SUFFIX)
    if target.exists():
        raise InputError("is there already", where=str(target), remedy="move it away")
    try:
        shutil.copytree(path, target)
        for attempt in older:
            _rewrite(target / attempt.relative_to(path))
    except OSError as fault:
        raise refused(target, fault) from fault
    return f"{len(older)} of {len(attempts)} attempts upgraded in {target}; the original is unchanged"


def _sealed(path: Path) -> list[Path]:
    if layout.is_attempt_id(path.name) and path.is_dir():
        return [path]
    folders = [path, *sorted(each for each in path.iterdir() if each.is_dir())] if path.is_dir() else []
    return [attempt for folder in folders for attempt in attempt_folders(folder) if not layout.is_open(attempt)]


def _rewrite(attempt: Path) -> None:
    for name in NEWEST:
        data, changed = _upgraded(attempt / name)
        if changed:
            (attempt / name).write_bytes(data)
    (attempt / layout.SUMS).unlink(missing_ok=True)
    (attempt / layout.SUMS).write_bytes(sums_of(attempt))


def _upgraded(path: Path) -> tuple[bytes, bool]:
    """Bytes of a file in the present format, and whether they differ from what is there."""
    data = read_bytes(path)
    parts = data.splitlines(keepends=True) if path.suffix == ".jsonl" else [data]
    made = [_step_by_step(path, part) for part in parts]
    return b"".join(text for text, _ in made), any(changed for _, changed in made)


def _step_by_step(path: Path, text: bytes) -> tuple[bytes, bool]:
    newest, document = NEWEST[path.name], _decode(path, text)
    if document.get("schema_version") == newest:
        return text, False
    while (version := document.get("schema_version")) != newest:
        step = STEPS.get((path.name, version)) if isinstance(version, int) else None
        if step is None:
            if not isinstance(version, int) or version > newest:
                check_version(version, newest, str(path))
            raise SchemaVersionError(
                f"no way is known from schema_version {version} to {newest}",
                where=str(path),
                remedy="use the reportgen that wrote it",
            )
        document = step(document)
    return _encode(path, document), True


def _decode(path: Path, text: bytes) -> Document:
    try:
        document = tomllib.loads(text.decode()) if path.suffix == ".toml" else msgspec.json.decode(text)
    except UNREADABLE as fault:
        raise damaged(str(path), fault) from fault
    if not isinstance(document, dict):
        raise damaged(str(path), ValueError("holds no object"))
    return document


def _encode(path: Path, document: Document) -> bytes:
    if path.suffix == ".toml":
        return tomli_w.dumps(document).encode()
    return encode_json(document) + b"\n" if path.suffix == ".jsonl" else encode_json_pretty(document)
