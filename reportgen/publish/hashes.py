"""SHA-256 of files, each read once as long as it is the same file: by device, inode, length, and times of change.

The time of the last change of an inode cannot be set, so a file that was rewritten, however its other times were put back, is read again. One that had changed
only just before it was read may change again within the same tick of the clock: its hash is not kept.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from reportgen.archive.sums import sha256_of

_TICK_NS = 100_000_000
_COARSE_NS = 3_000_000_000  # where times are whole seconds
_SECOND_NS = 1_000_000_000
LEFT_OUT = "__pycache__"


def digest(parts: Iterable[bytes | str]) -> str:
    """Hash parts with their lengths, so that no two lists of parts agree by accident."""
    total = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        total.update(len(data).to_bytes(8, "big"))
        total.update(data)
    return total.hexdigest()


class _Seen(msgspec.Struct, frozen=True, array_like=True):
    """How a file looked when it was read, and the hash of what it held."""

    look: tuple[int, int, int, int, int]
    sha256: str


class Hashes:
    """Hashes of files; what was read before stands in ``file``, which may be absent or damaged: then all is read again."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._changed = False
        try:
            self._known = msgspec.msgpack.decode(file.read_bytes(), type=dict[str, _Seen])
        except (OSError, msgspec.MsgspecError):
            self._known = {}

    def of(self, path: Path) -> str:
        """Hash what a file holds; a link counts as what it leads to. Raises OSError where it cannot be read."""
        return self._of(os.fspath(path), path.stat())

    def _of(self, name: str, status: os.stat_result) -> str:
        look = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        known = self._known.get(name)
        if known is not None and known.look == look:
            return known.sha256
        began = time.time_ns()
        sha256 = sha256_of(Path(name))
        self._changed = True
        if began - status.st_ctime_ns > (_TICK_NS if status.st_ctime_ns % _SECOND_NS else _COARSE_NS):
            self._known[name] = _Seen(look, sha256)
        else:
            self._known.pop(name, None)
        return sha256

    def tree(self, *folders: Path) -> str:
        """Hash the names and contents of all files under ``folders``, but for what Python compiled."""
        return digest(part for folder in folders for part in self._under(os.fspath(folder)))

    def _under(self, folder: str) -> Iterator[str]:
        for name, status in sorted(_files(folder)):
            yield name[len(folder) :]
            yield self._of(name, status)

    def files(self, root: Path, paths: Iterable[Path]) -> Iterator[str]:
        """Give the name below ``root`` and the hash of each file that is there."""
        for path in paths:
            if path.is_file():
                yield path.relative_to(root).as_posix()
                yield self.of(path)

    def save(self) -> None:
        """Keep what is known for the next process; of files that are gone nothing."""
        if not self._changed:
            return
        there = {name: seen for name, seen in self._known.items() if Path(name).exists()}
        self._file.parent.mkdir(parents=True, exist_ok=True)
        draft = self._file.with_name(f"{self._file.name}.{os.getpid()}.draft")
        draft.write_bytes(msgspec.msgpack.encode(there))
        draft.replace(self._file)
        self._changed = False


def _files(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """Give every file with its status; a link counts as what it leads to, and one that leads nowhere is none."""
    if not Path(folder).is_dir():
        return
    with os.scandir(folder) as found:
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                if entry.name != LEFT_OUT:
                    yield from _files(entry.path)
            elif entry.is_file():
                yield entry.path, entry.stat()
