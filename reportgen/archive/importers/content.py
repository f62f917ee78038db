"""A file of another harness as text, JSON or table: decoded strictly, and every fault named with its line."""

from __future__ import annotations

import csv
import io
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from reportgen.errors import InputError
from reportgen.units import BYTES_PER_MIB

GZIP_MAGIC = b"\x1f\x8b"
_MOST_BYTES = 256 * BYTES_PER_MIB
# Results shrink tenfold, tables of one number a hundredfold; what shrinks further is made to fill a memory.
_MOST_EXPANDED, _UNASKED_BYTES = 128, 16 * BYTES_PER_MIB
_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_DELIMITERS = (",", ";", "\t")
_SHOWN = 60
_LONGEST_PATH = 400
_HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]")
_LARGEST_CELL = 1 << 24


@dataclass(frozen=True)
class Line:
    """A row of a table with the line of the file where it ends."""

    number: int
    cells: list[str]


@dataclass(frozen=True)
class Table:
    """A delimited table: names of the columns as they stand, and rows of just as many cells."""

    where: str
    header: list[str]
    lines: list[Line]

    def has(self, *names: str) -> bool:
        """Whether every one of ``names`` is a column."""
        return set(names) <= set(self.header)

    def column(self, name: str) -> int:
        """Place of the first column called ``name``.

        Raises
        ------
        InputError
            There is none.
        """
        if name not in self.header:
            raise InputError(f"has no column {name!r}", where=self.where)
        return self.header.index(name)

    def rows(self) -> Iterator[tuple[int, dict[str, str]]]:
        """Each row by column, with its line; of columns of one name the first counts."""
        places = {name: self.header.index(name) for name in self.header}
        for line in self.lines:
            yield line.number, {name: line.cells[at] for name, at in places.items()}


@dataclass(frozen=True)
class Content:
    """A file's bytes and what can be read of them. ``where`` is its path as the user gave it, ``name`` the last part of it."""

    where: str
    data: bytes
    path: Path | None = None

    @property
    def name(self) -> str:
        """Name of the file without its folders."""
        return Path(self.where).name

    @cached_property
    def packed(self) -> bool:
        """Whether the bytes are compressed with gzip."""
        return self.data.startswith(GZIP_MAGIC)

    @cached_property
    def text(self) -> str:
        """Text of the file, unpacked, without its byte order mark.

        Raises
        ------
        InputError
            It is empty, broken gzip, neither UTF-8 nor UTF-16 with a mark, or holds a NUL; the line is named.
        """
        data = self._unpacked()
        encoding = "utf-8"
        for mark, name in _BOMS:
            if data.startswith(mark):
                data, encoding = data[len(mark) :], name
                break
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError as fault:
            line = data[: fault.start].count(b"\n") + 1
            raise InputError("is not UTF-8, nor UTF-16 with a mark", where=f"{self.where}: line {line}") from fault
        if not text or text.isspace():
            raise InputError("is empty", where=self.where)
        if "\0" in text:
            line = text[: text.index("\0")].count("\n") + 1
            raise InputError("holds a NUL, which no text does", where=f"{self.where}: line {line}")
        return text

    def _unpacked(self) -> bytes:
        if not self.packed:
            return self.data
        left_bytes = min(_MOST_BYTES, max(_UNASKED_BYTES, _MOST_EXPANDED * len(self.data)))
        parts, rest = [], self.data
        while rest.strip(b"\0"):
            reader = zlib.decompressobj(wbits=31)
            try:
                parts.append(reader.decompress(rest, left_bytes))
            except zlib.error as fault:
                what = "has bytes behind its gzip" if parts else f"is damaged gzip: {fault}"
                raise InputError(what, where=self.where) from fault
            if not reader.eof:
                what = "expands beyond measure" if reader.unconsumed_tail else "is gzip that was cut off"
                raise InputError(what, where=self.where)
            left_bytes, rest = max(1, left_bytes - len(parts[-1])), reader.unused_data
        return b"".join(parts)

    @cached_property
    def begins(self) -> str:
        """First character that is no white space."""
        return self.text.lstrip()[:1]

    @cached_property
    def json(self) -> Any:
        """The one JSON value that the file is, ``NaN`` and ``Infinity`` included; lines of objects become a list.

        Raises
        ------
        InputError
            It is no JSON; the line is named.
        """
        return self.records if self.by_line else decode(self.text, self.where)

    @cached_property
    def by_line(self) -> bool:
        """Whether the file holds one JSON object a line, whatever its name, perhaps between lines of a log."""
        first = next((line for line in self.text.splitlines() if line.startswith("{")), "")
        if not first or _is_json(self.text):
            return False
        return _is_json(first) and first.rstrip().endswith("}")

    @cached_property
    def records(self) -> list[Any]:
        """JSON object of each line that is one.

        Raises
        ------
        InputError
            A line begins as an object and is none.
        """
        return [record for _, record in self.numbered]

    @cached_property
    def numbered(self) -> list[tuple[int, Any]]:
        """As :attr:`records`, with the number of the line."""
        found = []
        for number, line in enumerate(self.text.splitlines(), start=1):
            if line.lstrip().startswith("{"):
                found.append((number, decode(line, f"{self.where}: line {number}", by_line=True)))
        return found

    @cached_property
    def noise(self) -> int:
        """Lines between those of JSON that are none."""
        written = [line for line in self.text.splitlines() if line.strip()]
        return len(written) - len(self.numbered)

    @cached_property
    def looks_json(self) -> bool:
        """Whether the file is meant as JSON."""
        return self.begins in ("{", "[") or self.by_line

    @cached_property
    def table(self) -> Table:
        """The delimited table that the file is, whatever stands before its header in lines that begin with ``==``.

        Raises
        ------
        InputError
            A row has more or fewer cells than there are columns; the line is named.
        """
        lines = self.text.splitlines(keepends=True)
        skipped = next((at for at, line in enumerate(lines) if line.strip() and not line.startswith("==")), len(lines))
        body = "".join("\n" if line.startswith("==") else line for line in lines[skipped:])
        head = lines[skipped] if skipped < len(lines) else ""
        with _long_cells():
            delimiter = max(_DELIMITERS, key=lambda one: _columns(head, one))
            return _table(self.where, body, delimiter, skipped)


@contextmanager
def _long_cells() -> Iterator[None]:
    """Let cells be as long as names of other harnesses are; the limit is the process's, and records keep the usual one."""
    usual = csv.field_size_limit(_LARGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(usual)


def _columns(head: str, delimiter: str) -> int:
    try:
        return len(next(csv.reader([head], delimiter=delimiter), []))
    except csv.Error:
        return 0


def _table(where: str, body: str, delimiter: str, before: int) -> Table:
    reader = csv.reader(io.StringIO(body, newline=""), delimiter=delimiter, strict=True)
    lines = []
    try:
        lines = [Line(reader.line_num + before, cells) for cells in reader if cells]
    except csv.Error as fault:
        raise InputError(f"is no table: {fault}", where=f"{where}: line {reader.line_num + before}") from fault
    if not lines:
        raise InputError("is empty", where=where)
    header = [name.strip() for name in lines[0].cells]
    for line in lines[1:]:
        if len(line.cells) != len(header):
            raise InputError(
                f"has {len(line.cells)} cells under {len(header)} names", where=f"{where}: line {line.number}"
            )
    return Table(where, header, lines[1:])


def decode(text: str, where: str, *, by_line: bool = False) -> Any:
    """Decode JSON text; bare ``NaN`` and ``Infinity`` are read, a key that stands twice in one object is not.

    Raises
    ------
    InputError
        It is no JSON; the line is named, unless ``where`` names it already (``by_line``).
    """
    try:
        return _loaded(text)
    except json.JSONDecodeError as fault:
        place = where if by_line else f"{where}: line {fault.lineno}"
        raise InputError(f"is no JSON: {fault.msg} in column {fault.colno}", where=place) from fault
    except (ValueError, RecursionError) as fault:  # UnicodeEncodeError, a ValueError: half a surrogate pair is no text
        raise InputError(f"is no JSON that can be read: {str(fault)[:_SHOWN]}", where=where) from fault


def _loaded(text: str) -> Any:
    found = json.loads(text, object_pairs_hook=_once)
    if _HALF_PAIR.search(text):
        json.dumps(found, ensure_ascii=False).encode()
    return found


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = next(key for at, (key, _) in enumerate(pairs) if any(key == other for other, _ in pairs[:at]))
        raise ValueError(f"the key {twice[:_SHOWN]!r} stands twice in one object")
    return found


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def read_content(path: Path) -> Content:
    """Read a file that is to be imported.

    Raises
    ------
    InputError
        It is not there, no plain file, too large, or the system refuses.
    """
    where = str(path)
    with readable(path):
        if not path.exists():
            raise InputError("no such file", where=where)
        if not path.is_file():
            raise InputError("is no plain file", where=where)
        if path.stat().st_size > _MOST_BYTES:
            raise InputError(f"is larger than {_MOST_BYTES // BYTES_PER_MIB} MiB", where=where)
        return Content(where, path.read_bytes(), path)


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Make one line of what the system says of a path: no permission, a name too long, a disk that fails.

    Raises
    ------
    InputError
        It said something.
    """
    try:
        yield
    except OSError as fault:
        raise InputError(f"cannot be read: {fault.strerror}", where=str(path)[:_LONGEST_PATH]) from fault
