"""What is dear to compute, kept outside the site under the hash of everything it came from.

An entry is never changed, only found or not; deleting the folder loses nothing.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from reportgen.publish.hashes import Hashes

T = TypeVar("T")
FOLDER = ".cache"
HASHES = "hashes"
KEPT_PAGES = ASKED, PAGES = ("asked", "pages")
_DIGEST_BYTES = 32


class Cache:
    """Entries in one folder, by kind and key; ``hashes`` are those of files, kept there too."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.hashes = Hashes(folder / HASHES)
        self._looked_at: set[tuple[str, str]] = set()

    def holds(self, kind: str, key: str) -> bool:
        """Tell whether there is an entry."""
        return (self._folder / kind / key).exists()

    def find(self, kind: str, key: str) -> bytes:
        """Return what was kept; nothing where it is not there, or not as it was."""
        self._looked_at.add((kind, key))
        try:
            data = (self._folder / kind / key).read_bytes()
        except OSError:
            return b""
        said, kept = data[:_DIGEST_BYTES], data[_DIGEST_BYTES:]
        return kept if said == hashlib.sha256(kept).digest() else b""

    def keep(self, kind: str, key: str, data: bytes) -> None:
        """Keep an entry, in place of the one that was there."""
        self._looked_at.add((kind, key))
        self._write(self._folder / kind / key, hashlib.sha256(data).digest() + data)

    def prune(self, kinds: Iterable[str]) -> None:
        """Remove the entries of these kinds, found by :meth:`find`, that nobody looked for since this cache was opened."""
        for kind in kinds:
            folder = self._folder / kind
            for path in folder.iterdir() if folder.is_dir() else ():
                if (
                    len(path.name) == 2 * _DIGEST_BYTES and (kind, path.name) not in self._looked_at
                ):  # another is a draft
                    path.unlink(missing_ok=True)

    def text(self, kind: str, key: str, make: Callable[[], str]) -> str:
        """Return the entry, made and kept if it is not there."""
        return self._bytes(kind, key, lambda: make().encode()).decode()

    def data(self, kind: str, key: str, make: Callable[[], bytes]) -> bytes:
        """Return the entry as bytes, made and kept if it is not there."""
        return self._bytes(kind, key, make)

    def struct(self, kind: str, key: str, of: Any, make: Callable[[], T]) -> T:
        """Return the entry as a struct; one that cannot be read is made again."""
        try:
            data = self._bytes(kind, key, lambda: msgspec.json.encode(make()))
            found: T = msgspec.json.decode(data, type=of)
        except msgspec.MsgspecError:
            return make()
        return found

    def _bytes(self, kind: str, key: str, make: Callable[[], bytes]) -> bytes:
        path = self._folder / kind / key
        if path.is_file():
            return path.read_bytes()
        data = make()
        self._write(path, data)
        return data

    def _write(self, path: Path, data: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(draft).replace(path)

    def folder(self, kind: str, key: str, fill: Callable[[Path], object]) -> Path:
        """Return a folder of files, filled and kept if it is not there."""
        path = self._folder / kind / key
        if not path.is_dir():
            path.parent.mkdir(parents=True, exist_ok=True)
            draft = Path(tempfile.mkdtemp(dir=path.parent))
            fill(draft)
            try:
                draft.replace(path)
            except OSError:
                if not path.is_dir():
                    raise
                shutil.rmtree(draft)  # another process was first, with the same
        return path
