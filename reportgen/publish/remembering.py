"""What a process that builds a site again and again need not make anew: a page whose parts are what they were.

A page is remembered by its name with the parts that it was made from, which are compared and not hashed; and with everything that making it added to
the site: its HTML, and what was noted of it on the way. A process that builds once remembers to no end, and forgets at its end.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Look = tuple[tuple[str, int, int, int], ...]


@dataclass
class _Made:
    """The parts that something was made from, and what each ledger grew by."""

    parts: tuple[Any, ...]
    grown: tuple[tuple[Any, ...], ...]


@dataclass
class Memory:
    """What was made before; ``made`` counts what had to be made."""

    made: int = 0
    _known: dict[Hashable, _Made] = field(default_factory=dict)
    _read: dict[Hashable, tuple[Any, Any]] = field(default_factory=dict)

    def forget(self) -> None:
        """Remember nothing: what all pages come from has changed."""
        self._known.clear()

    def once(
        self, name: Hashable, parts: tuple[Any, ...], ledgers: tuple[list[Any], ...], make: Callable[[], object]
    ) -> None:
        """Let ``make`` add to the end of the ``ledgers``, or add what it did before if it would be made from equal ``parts``."""
        known = self._known.get(name)
        if known is not None and known.parts == parts:
            for ledger, more in zip(ledgers, known.grown, strict=True):
                ledger.extend(more)
            return
        self.made += 1
        before = [len(ledger) for ledger in ledgers]
        make()
        grown = tuple(tuple(ledger[start:]) for ledger, start in zip(ledgers, before, strict=True))
        self._known[name] = _Made(parts, grown)

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


def under(folder: Path) -> Iterator[Path]:
    """List every file below a folder; none where there is no folder."""
    for place, folders, names in os.walk(folder):
        folders.sort()
        yield from (Path(place, name) for name in sorted(names))
