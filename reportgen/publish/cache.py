"""What is dear to compute, kept outside the site under the hash of everything it came from.

An entry is never changed, only found or not; deleting the folder loses nothing.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

import msgspec

T = TypeVar("T")
FOLDER = ".cache"


def digest(parts: Iterable[bytes | str]) -> str:
    """Hash parts with their lengths, so that no two lists of parts agree by accident."""
    total = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        total.update(len(data).to_bytes(8, "big"))
        total.update(data)
    return total.hexdigest()


class Cache:
    """Entries in one folder, by kind and key."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def text(self, kind: str, key: str, make: Callable[[], str]) -> str:
        """Return the entry, made and kept if it is not there."""
        return self._bytes(kind, key, lambda: make().encode()).decode()

    def data(self, kind: str, key: str, make: Callable[[], bytes]) -> bytes:
        """Return the entry as bytes, made and kept if it is not there."""
        return self._bytes(kind, key, make)

    def struct(self, kind: str, key: str, of: type[T], make: Callable[[], T]) -> T:
        """Return the entry as a struct; one that cannot be read is made again."""
        try:
            data = self._bytes(kind, key, lambda: msgspec.json.encode(make()))
            return msgspec.json.decode(data, type=of)
        except msgspec.MsgspecError:
            return make()

    def _bytes(self, kind: str, key: str, make: Callable[[], bytes]) -> bytes:
        path = self._folder / kind / key
        if path.is_file():
            return path.read_bytes()
        data = make()
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(draft).replace(path)
        return data

    def folder(self, kind: str, key: str, fill: Callable[[Path], object]) -> Path:
        """Return a folder of files, filled and kept if it is not there."""
        path = self._folder / kind / key
        if not path.is_dir():
            path.parent.mkdir(parents=True, exist_ok=True)
            draft = Path(tempfile.mkdtemp(dir=path.parent))
            fill(draft)
            draft.replace(path)
        return path
