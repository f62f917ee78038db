"""What the guards of a run write down, so that whoever survives them can tell where it stood."""

from __future__ import annotations

import enum

import msgspec

from reportgen.model.service import Service

SCHEMA_VERSION = 1


class Step(enum.StrEnum):
    """What was about to be done with a service; written before it is done."""

    IDENTIFYING = "identifying"
    CLOSING = "closing"
    WAITING = "waiting"
    MEASURING = "measuring"
    CLEANING = "cleaning"
    COMPARING = "comparing"
    REOPENING = "reopening"


class ProcessMark(msgspec.Struct, frozen=True, kw_only=True):
    """One process and no later one of the same id.

    ``started_ticks`` counts clock ticks from the boot named by ``boot`` to the start of the process, which no step of the clock
    changes; ``host`` and ``namespace`` (inode of the pid namespace) say whose process ids these are.
    """

    pid: int
    started_ticks: int
    boot: str
    host: str
    namespace: int


class FileFact(msgspec.Struct, frozen=True, kw_only=True):
    """A file that a process has mapped: hash of its bytes, and a note where the bytes on disk may be others."""

    sha256: str
    note: str = ""


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """A service's process as it was found. ``None`` stands for what was not asked, or for what ``unreadable`` gives the reason of.

    Environment variables are kept by name only. ``libraries`` are all files mapped as code, by path.
    ``children`` are process id and start of every descendant. ``status`` is the hash of its status document.
    """

    process: ProcessMark
    command_line: list[str] | None = None
    environment: list[str] | None = None
    executable: FileFact | None = None
    libraries: dict[str, FileFact] | None = None
    children: list[tuple[int, int]] | None = None
    status: str | None = None
    unreadable: dict[str, str] = {}


class GuardRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A run that is under way, or whose guards died: ``token`` marks what it starts before the attempt has an id.

    ``contexts`` are the processes that the device's driver listed before anything was measured. ``told`` says that the
    controller itself has reported what it could not mend.
    """

    schema_version: int = SCHEMA_VERSION
    token: str
    guards: list[ProcessMark]
    experiment: str
    attempt: str = ""
    backend: str = ""
    device: str = ""
    contexts: list[int] = []
    told: bool = False


class WindowState(msgspec.Struct, frozen=True, kw_only=True):
    """A service that a run closed, or is about to close: who did, how to reopen it, how to recognise it.

    ``service`` is its whole declaration: it is reopened as it was closed, whatever the file says by then. ``measured`` tells that it
    was closed and idle, so that the measurement has begun, and has not been found unchanged since.
    """

    schema_version: int = SCHEMA_VERSION
    token: str
    attempt: str
    experiment: str
    guards: list[ProcessMark]
    step: Step
    at: str
    service: Service
    identity: Identity | None = None
    measured: bool = False
