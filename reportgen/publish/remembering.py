"""What a process that builds a site again and again need not make anew: a page whose parts are what they were.

A page is remembered by its name with the parts that it was made from, which are compared and not hashed; and with everything that making it added to
the site. A page that is not remembered may still be kept on the disk (:mod:`reportgen.publish.shelf`), by another build.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
Look = tuple[tuple[str, int, int, int], ...]


class Keeping(Protocol):
    """Where things are kept for longer than a process lives."""

    def find(self, name: Hashable, parts: tuple[Any, ...]) -> Any | None:
        """Give what was made; nothing where it must be made."""
        ...

    def keep(self, name: Hashable, parts: tuple[Any, ...], made: Any) -> None:
        """Keep what was made."""
        ...


@dataclass
class Memory:
    """What was made before; ``made`` counts what had to be made."""

    made: int = 0
    _known: dict[Hashable, tuple[tuple[Any, ...], Any]] = field(default_factory=dict)
    _read: dict[Hashable, tuple[Any, Any]] = field(default_factory=dict)

    def forget(self) -> None:
        """Remember nothing: what all pages come from has changed."""
        self._known.clear()

    def once(self, name: Hashable, parts: tuple[Any, ...], make: Callable[[], T], kept: Keeping) -> T:
        """Return what ``make`` makes, or what it made before, here or where it is ``kept``, if that was made from equal ``parts``."""
        known = self._known.get(name)
        if known is None or known[0] != parts:
            found = kept.find(name, parts)
            if found is None:
                self.made += 1
                found = make()
                kept.keep(name, parts, found)
            known = self._known[name] = (parts, found)
        remembered: T = known[1]
        return remembered

    def read(self, name: Hashable, of: Any, make: Callable[[Any], Any]) -> Any:
        """Return what ``make`` makes of ``of``: as it did before, if that is what it was."""
        known = self._read.get(name)
        if known is None or known[0] != of:
            known = self._read[name] = (of, make(of))
        return known[1]


def look_at(paths: Iterable[Path]) -> Look:
    """See which files there are and whether they changed: by name, length, time of change and inode, without reading any."""
    found = []
    for path in paths:
        try:
            seen = path.stat()
        except OSError:
            continue  # gone since it was listed
        found.append((str(path), seen.st_size, seen.st_mtime_ns, seen.st_ino))
    return tuple(found)


def look_under(*folders: Path) -> Look:
    """See every file below some folders; nothing of a folder that is not there."""
    return tuple(sorted(seen for folder in folders for seen in _seen(os.fspath(folder))))


def _seen(folder: str) -> Iterator[tuple[str, int, int, int]]:
    try:
        found = os.scandir(folder)
    except OSError:
        return
    with found:
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                yield from _seen(entry.path)
                continue
            try:
                seen = entry.stat()
            except OSError:
                continue  # gone since it was listed, or a link that leads nowhere
            yield entry.path, seen.st_size, seen.st_mtime_ns, seen.st_ino
