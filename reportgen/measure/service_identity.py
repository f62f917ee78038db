"""By what a service is recognised: its process, its command line, its code, what it tells of itself. Never a variable's value."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import psutil

from reportgen.errors import FindingError, ReportgenError
from reportgen.measure.asking import fetch, headers_of, pointer_parts, value_at
from reportgen.measure.finding import find_process
from reportgen.measure.marks import PROC, mark_of, read_stat
from reportgen.model.admission import FileFact, Identity, ProcessMark
from reportgen.model.service import Fact, Service, StatusDocument

T = TypeVar("T")

DELETED = " (deleted)"
GONE = "deleted since it was loaded"
REPLACED = "replaced since it was loaded"
_MAPPING = re.compile(r"[0-9a-f]+-[0-9a-f]+ (?P<rights>\S{4}) [0-9a-f]+ \S+ (?P<inode>\d+) +(?P<path>/.*)")
_OCTAL = re.compile(r"\\([0-7]{3})")
_SHORT = 12


def identify(service: Service) -> Identity:
    """Take the identity of the service as it runs now.

    Raises
    ------
    FindingError
        It cannot be found, or was started anew meanwhile. A fact that cannot be read is no error but noted as such.
    """
    where = f"service {service.name}"
    mark = find_process(service.find, where)
    reader = _Reader(mark.pid)
    identity = reader.identity(mark, service)
    if mark_of(mark.pid) != mark:
        raise FindingError("was started anew while it was looked at", where=where, remedy="repeat")
    return identity


def identity_facts(identity: Identity) -> dict[str, Any]:
    """Say who it is, as the record may tell everyone: no path, no word of the command line, no variable."""
    digest = hashlib.sha256(msgspec.json.encode(identity, order="sorted")).hexdigest()
    return {
        "pid": identity.process.pid,
        "started_ticks": identity.process.started_ticks,
        "identity_sha256": digest,
        "executable_sha256": identity.executable.sha256 if identity.executable else None,
        "libraries": None if identity.libraries is None else len(identity.libraries),
        "unreadable": dict(sorted(identity.unreadable.items())),
    }


def first_difference(before: Identity, after: Identity) -> str | None:
    """Say in words what differs first between two identities; ``None`` if nothing does.

    A fact that could not be read either time is not compared; both identities say so.
    """
    if before.process != after.process:
        return _process_difference(before.process, after.process)
    for fact in (*(fact.value for fact in Fact), "status"):
        was, is_now = before.unreadable.get(fact), after.unreadable.get(fact)
        if was != is_now:
            named = fact.replace("_", " ")
            return f"its {named} {_readable(was)} before and {_readable(is_now)} now"
    for difference in (
        _words_difference(before.command_line, after.command_line),
        _names_difference(before.environment, after.environment),
        _file_difference("its executable", before.executable, after.executable),
        _libraries_difference(before.libraries or {}, after.libraries or {}),
        _children_difference(before.children, after.children),
        "its status document changed" if before.status != after.status else None,
    ):
        if difference is not None:
            return difference
    return None


@dataclass
class _Reader:
    """Reads one process; a file that is mapped several times is hashed once."""

    pid: int
    hashes: dict[tuple[int, int, int, int], str] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)

    def identity(self, mark: ProcessMark, service: Service) -> Identity:
        """Read what the profile asks."""
        asked, status = set(service.profile.facts), service.profile.status

        def fact(name: Fact, read: Callable[[], T]) -> T | None:
            return self._tried(name.value, read) if name in asked else None

        return Identity(
            process=mark,
            command_line=fact(Fact.COMMAND_LINE, lambda: self._words("cmdline")),
            environment=fact(Fact.ENVIRONMENT, self._variables),
            executable=fact(Fact.EXECUTABLE, self._executable),
            libraries=fact(Fact.LIBRARIES, self._libraries),
            children=fact(Fact.CHILDREN, self._children),
            status=None if status is None else self._tried("status", lambda: _status_hash(status, service.name)),
            unreadable=self.unreadable,
        )

    def _tried(self, name: str, read: Callable[[], T]) -> T | None:
        try:
            return read()
        except OSError as fault:
            self.unreadable[name] = fault.strerror or type(fault).__name__
        except ReportgenError as fault:
            self.unreadable[name] = fault.what
        return None

    def _words(self, name: str) -> list[str]:
        text = (PROC / str(self.pid) / name).read_bytes().decode("utf-8", "backslashreplace")
        return text.removesuffix("\0").split("\0") if text else []

    def _variables(self) -> list[str]:
        return sorted(word.partition("=")[0] for word in self._words("environ"))

    def _executable(self) -> FileFact:
        link = PROC / str(self.pid) / "exe"
        deleted = str(link.readlink()).endswith(DELETED)
        return FileFact(sha256=self._hash(link), note=GONE if deleted else "")

    def _libraries(self) -> dict[str, FileFact]:
        """Hash every file mapped as code, as its own root folder shows it; what lies there may have been replaced."""
        found: dict[str, FileFact] = {}
        for line in (PROC / str(self.pid) / "maps").read_text("utf-8", "backslashreplace").splitlines():
            mapping = _MAPPING.fullmatch(line)
            if mapping is None or "x" not in mapping["rights"]:
                continue
            path = _OCTAL.sub(lambda code: chr(int(code[1], 8)), mapping["path"])
            if path.removesuffix(DELETED) not in found:
                found[path.removesuffix(DELETED)] = self._library(path, int(mapping["inode"]))
        return found

    def _library(self, path: str, inode: int) -> FileFact:
        if path.endswith(DELETED):
            return FileFact(sha256="", note=GONE)
        seen = Path(f"{PROC}/{self.pid}/root{path}")
        try:
            note = "" if seen.stat().st_ino == inode else REPLACED
            return FileFact(sha256=self._hash(seen), note=note)
        except OSError as fault:
            return FileFact(sha256="", note=f"cannot be read: {fault.strerror}")

    def _hash(self, path: Path) -> str:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            key = (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size)
            if key not in self.hashes:
                self.hashes[key] = hashlib.file_digest(file, "sha256").hexdigest()
        return self.hashes[key]

    def _children(self) -> list[tuple[int, int]]:
        children = [read_stat(child.pid) for child in psutil.Process(self.pid).children(recursive=True)]
        return sorted((stat.pid, stat.started_ticks) for stat in children if stat is not None and not stat.ended)


def _status_hash(status: StatusDocument, name: str) -> str:
    where = f"service {name}: status document"
    headers = headers_of(status.headers, status.header_variables, where)
    body = fetch(status.url, headers, status.deadline_s, where)
    try:
        document = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as fault:
        raise FindingError("is no JSON", where=where) from fault
    for pointer in status.leave_out:
        _drop(document, pointer)
    return hashlib.sha256(msgspec.json.encode(document, order="sorted")).hexdigest()


def _drop(document: Any, pointer: str) -> None:
    *way, last = pointer_parts(pointer)
    try:
        holder = (
            value_at(document, "".join(f"/{part.replace('~', '~0').replace('/', '~1')}" for part in way))
            if way
            else document
        )
    except LookupError:
        return
    if isinstance(holder, dict):
        holder.pop(last, None)


def _process_difference(before: ProcessMark, after: ProcessMark) -> str:
    if (before.boot, before.host) != (after.boot, after.host):
        return "the machine was started anew, or is another one"
    if before.pid != after.pid:
        return f"its process id was {before.pid} and is {after.pid}"
    return f"process {after.pid} was started anew"


def _readable(reason: str | None) -> str:
    return "could be read" if reason is None else f"could not be read ({reason})"


def _words_difference(before: list[str] | None, after: list[str] | None) -> str | None:
    if before == after:
        return None
    was, is_now = before or [], after or []
    if len(was) != len(is_now):
        return f"its command line had {len(was)} words and has {len(is_now)}"
    place = next(place for place, (one, other) in enumerate(zip(was, is_now, strict=True), 1) if one != other)
    return f"word {place} of its command line changed"


def _names_difference(before: list[str] | None, after: list[str] | None) -> str | None:
    was, is_now = set(before or []), set(after or [])
    if came := sorted(is_now - was):
        return f"its environment has a variable {came[0]} that it had not"
    if went := sorted(was - is_now):
        return f"its environment has lost variable {went[0]}"
    return None


def _file_difference(named: str, before: FileFact | None, after: FileFact | None) -> str | None:
    if before == after:
        return None
    return f"{named} was {_file(before)} and is {_file(after)}"


def _file(fact: FileFact | None) -> str:
    if fact is None:
        return "absent"
    return " ".join(part for part in (fact.sha256[:_SHORT], fact.note and f"({fact.note})") if part)


def _libraries_difference(before: dict[str, FileFact], after: dict[str, FileFact]) -> str | None:
    for path in sorted({*before, *after}):
        if path not in after:
            return f"its library {path} is no longer loaded"
        if path not in before:
            return f"it has loaded library {path} meanwhile"
        if (difference := _file_difference(f"its library {path}", before[path], after[path])) is not None:
            return difference
    return None


def _children_difference(before: list[tuple[int, int]] | None, after: list[tuple[int, int]] | None) -> str | None:
    if before == after:
        return None
    was, is_now = set(map(tuple, before or [])), set(map(tuple, after or []))
    if went := sorted(was - is_now):
        return f"its child process {went[0][0]} is gone or was started anew"
    return f"it has started child process {min(is_now - was)[0]} meanwhile"
