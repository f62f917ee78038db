"""What tells an attempt from every other, for the cache: the hashes of its files; quick to find, with no library loaded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from reportgen.archive import layout
from reportgen.publish.hashes import Hashes, digest

SOUND = "sound"


def identity_of(hashes: Hashes, folder: Path) -> list[str]:
    """Give everything that an attempt's pages come from, as hashes: its folder's files and its notes."""
    notes = layout.notes_file(folder)
    return [folder.name, hashes.tree(folder), hashes.of(notes) if notes.is_file() else ""]


def sound_key(code: str, identity: Iterable[str]) -> str:
    """Give the key under which it is kept whether an attempt can be read: the first thing that a build makes of it."""
    return digest([code, *identity])


def folders_of_attempts(runs: Path) -> Iterator[Path]:
    """List every folder of the archive that is named as an attempt."""
    for folder in sorted(runs.glob("*/*")):
        if layout.is_attempt_id(layout.attempt_id_of(folder)):
            yield folder


def bytes_of(folder: Path) -> int:
    """Add up what an attempt's own tables and lists take; what lies deeper is not read for pages."""
    return sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
