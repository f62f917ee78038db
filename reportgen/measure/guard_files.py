"""What guards write down under ``.reportgen/``: who runs what, and which service stands closed for it.

Each file is replaced whole by an atomic rename and fsynced, so that it tells one step or the other, never half of one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec
from filelock import FileLock, Timeout

from reportgen.archive.durable import refused, sync_folder
from reportgen.archive.encoding import decode_json, encode_json_pretty, read_bytes
from reportgen.errors import FindingError
from reportgen.model.admission import SCHEMA_VERSION, GuardRecord, WindowState

ADMISSION = "admission"
RUNS = "runs"
LOCK_PATIENCE_S = 120.0

T = TypeVar("T", bound=msgspec.Struct)


@dataclass(frozen=True)
class StateFile:
    """The window of one service: present while a run has it closed, or is about to; ``lock`` orders those who change it."""

    path: Path

    def read(self) -> WindowState | None:
        """Read what stands there, if anything.

        Raises
        ------
        RecordError
            It is damaged.
        """
        return _read(self.path, WindowState)

    def write(self, state: WindowState) -> None:
        """Replace it; when this returns, the disk holds it.

        Raises
        ------
        RecordError
            The disk refuses.
        """
        _write(self.path, state)

    def clear(self) -> None:
        """Remove it: nothing is closed any more."""
        _remove(self.path)

    @contextmanager
    def locked(self, patience_s: float = LOCK_PATIENCE_S) -> Iterator[None]:
        """Keep every other guard from changing it, and from closing or reopening the service, meanwhile.

        Raises
        ------
        FindingError
            Another guard holds it for too long.
        RecordError
            The system refuses the lock.
        """
        lock = FileLock(self.path.with_suffix(".lock"))
        try:
            _prepare(self.path.parent)
            lock.acquire(timeout=patience_s)
        except Timeout as fault:
            raise FindingError(
                f"another guard has been at it for {patience_s:g} s", where=str(self.path), remedy="repeat later"
            ) from fault
        except OSError as fault:
            raise refused(self.path, fault) from fault
        try:
            yield
        finally:
            lock.release()


@dataclass(frozen=True)
class GuardFile:
    """A run's own file, there from its first process to its last."""

    path: Path

    def read(self) -> GuardRecord | None:
        """Read what stands there, if anything.

        Raises
        ------
        RecordError
            It is damaged.
        """
        return _read(self.path, GuardRecord)

    def write(self, record: GuardRecord) -> None:
        """Replace it; when this returns, the disk holds it.

        Raises
        ------
        RecordError
            The disk refuses.
        """
        _write(self.path, record)

    def clear(self) -> None:
        """Remove it: nothing of the run is left."""
        _remove(self.path)


def state_file(guarding: Path, service: str) -> StateFile:
    """File of the service of that name."""
    return StateFile(guarding / ADMISSION / f"{service}.json")


def state_files(guarding: Path) -> list[StateFile]:
    """Files of all services that some run has closed, or is about to."""
    return [StateFile(path) for path in sorted((guarding / ADMISSION).glob("*.json"))]


def guard_file(guarding: Path, token: str) -> GuardFile:
    """File of the run with that token."""
    return GuardFile(guarding / RUNS / f"{token}.json")


def guard_files(guarding: Path) -> list[GuardFile]:
    """Files of all runs that go on, or whose guards died."""
    return [GuardFile(path) for path in sorted((guarding / RUNS).glob("*.json"))]


def _read(path: Path, kind: type[T]) -> T | None:
    if not path.exists():
        return None
    return decode_json(read_bytes(path), kind, SCHEMA_VERSION, str(path))


def _write(path: Path, value: msgspec.Struct) -> None:
    fresh = path.with_suffix(f".{os.getpid()}.new")
    try:
        _prepare(path.parent)
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)  # a command line may hold a secret
        with open(handle, "wb") as file:  # noqa: PTH123 - a descriptor
            file.write(encode_json_pretty(value))
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
        sync_folder(path.parent)
    except OSError as fault:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise refused(path, fault) from fault


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
        if path.parent.is_dir():
            sync_folder(path.parent)
    except OSError as fault:
        raise refused(path, fault) from fault


def _prepare(folder: Path) -> None:
    """Make the folder; git is told to leave what lies in it alone."""
    if folder.is_dir():
        return
    folder.mkdir(parents=True, exist_ok=True)
    ignore = folder.parent / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", "ascii")
