"""Files that grow by whole lines: a line is on the disk before the next one starts, and an unfinished last one is no line."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Generic, TypeVar

from reportgen.archive.encoding import damaged, read_bytes
from reportgen.errors import RecordError

T = TypeVar("T")


@dataclass(frozen=True)
class Lines(Generic[T]):
    """What a file's whole lines say, how many bytes they take, and whether an unfinished last one was dropped."""

    nouns: tuple[T, ...]
    length_bytes: int
    torn: bool


def append_line(file: FileIO, text: bytes) -> None:
    """Append ``text`` and a newline, and wait until the disk holds it; where it refuses, the file is as before (OSError)."""
    start = file.seek(0, os.SEEK_END)
    rest = memoryview(text + b"\n")
    try:
        while rest:
            rest = rest[file.write(rest) :]
        os.fsync(file.fileno())
    except OSError:
        # Half a line must not stay in front of the next one.
        cut(file, start)
        raise


def cut(file: FileIO, length_bytes: int) -> None:
    """Shorten ``file`` and wait until the disk holds that."""
    os.ftruncate(file.fileno(), length_bytes)
    os.fsync(file.fileno())


def read_growing(path: Path, decode: Callable[[bytes, str], T]) -> Lines[T]:
    """Read a file that may have been torn while its last line was written; ``decode`` gets a line and its place.

    Raises
    ------
    RecordError
        The file is missing, or a line before the last is damaged; it is named.
    """
    lines = read_bytes(path).splitlines(keepends=True)
    nouns: list[T] = []
    length = 0
    for number, line in enumerate(lines, start=1):
        where = f"{path}:{number}"
        try:
            if not line.endswith(b"\n"):
                raise damaged(where, ValueError("the line is unfinished"))
            nouns.append(decode(line, where))
        except RecordError:
            if number < len(lines):
                raise
            return Lines(tuple(nouns), length, torn=True)
        length += len(line)
    return Lines(tuple(nouns), length, torn=False)


def read_finished(path: Path, decode: Callable[[bytes, str], T]) -> tuple[T, ...]:
    """Read a file in which every line must be whole; raises as :func:`read_growing` does, for the last line too."""
    lines = read_bytes(path).splitlines()
    return tuple(decode(line, f"{path}:{number}") for number, line in enumerate(lines, start=1))
