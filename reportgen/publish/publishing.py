"""What publishing would change: every file of a site by length and SHA-256, beside those of a folder or of an address."""

from __future__ import annotations

import hashlib
import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from reportgen.archive.sums import sha256_of
from reportgen.errors import InputError, shortened
from reportgen.publish.output import MARKER

LISTING = "data/files.json"
_PATIENCE_S = 30
_LONGEST_LISTING = 64 * 2**20


class Listed(msgspec.Struct, frozen=True, order=True):
    """A file of a site: its address, length and SHA-256."""

    path: str
    bytes: int
    sha256: str


class Listing(msgspec.Struct, frozen=True):
    """``data/files.json``: every other file of the site."""

    files: list[Listed]


@dataclass(frozen=True)
class Changes:
    """What publishing would add, change and remove; ``same`` counts the files that stay."""

    target: str
    new: tuple[Listed, ...]
    changed: tuple[Listed, ...]
    removed: tuple[Listed, ...]
    same: int

    @property
    def bytes_sent(self) -> int:
        """Length of what would be sent."""
        return sum(file.bytes for file in (*self.new, *self.changed))


def listed(address: str, content: bytes | Path) -> Listed:
    """List one file."""
    if isinstance(content, Path):
        return Listed(address, content.stat().st_size, sha256_of(content))
    return Listed(address, len(content), hashlib.sha256(content).hexdigest())


def listing(files: Iterable[Listed]) -> bytes:
    """Write ``data/files.json``."""
    return msgspec.json.format(msgspec.json.encode(Listing(sorted(files))), indent=1) + b"\n"


def compare(files: Mapping[str, bytes | Path], target: str) -> Changes:
    """Hold the files of a site against what is published at ``target``, a folder or an address.

    Raises
    ------
    InputError
        ``target`` is no folder, does not answer, or lists no files.
    """
    ours = {address: listed(address, content) for address, content in files.items() if address != LISTING}
    known = _at(target) if target.startswith(("https://", "http://")) else _in(Path(target))
    theirs = {file.path: file for file in known if file.path != LISTING}
    changed = tuple(ours[path] for path in sorted(ours.keys() & theirs.keys()) if ours[path] != theirs[path])
    return Changes(
        target=target,
        new=tuple(ours[path] for path in sorted(ours.keys() - theirs.keys())),
        changed=changed,
        removed=tuple(theirs[path] for path in sorted(theirs.keys() - ours.keys())),
        same=len(ours.keys() & theirs.keys()) - len(changed),
    )


def _in(folder: Path) -> list[Listed]:
    """List what a folder holds; what begins with a dot is no page's."""
    if not folder.is_dir():
        raise InputError("no such folder", where=str(folder), remedy="name a published folder, or an address")
    places = [(path.relative_to(folder), path) for path in sorted(folder.rglob("*")) if path.is_file()]
    shown = [(place, path) for place, path in places if not any(part.startswith(".") for part in place.parts)]
    return [listed(place.as_posix(), path) for place, path in shown if place.name != MARKER]


def _at(address: str) -> list[Listed]:
    """Read the listing that the site at an address publishes of itself."""
    url = f"{address.rstrip('/')}/{LISTING}"
    try:
        with urllib.request.urlopen(url, timeout=_PATIENCE_S) as answer:  # noqa: S310 - the scheme was looked at
            return msgspec.json.decode(answer.read(_LONGEST_LISTING), type=Listing).files
    except (OSError, ValueError, msgspec.MsgspecError) as fault:
        why = f"answers {fault.code}" if isinstance(fault, urllib.error.HTTPError) else shortened(str(fault))
        raise InputError(
            f"cannot be read: {why}", where=url, remedy="a site that this version built lists its files there"
        ) from fault
