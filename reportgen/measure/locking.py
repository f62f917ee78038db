"""One controller a device: a lock that dies with its holder, and the holder's process id beside it."""

from __future__ import annotations

import fcntl
import os
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from reportgen.archive.durable import refused
from reportgen.errors import InputError
from reportgen.model.record import Device

_LOOK_S = 0.1


@contextmanager
def device_lock(device: Device) -> Iterator[None]:
    """Hold the device for this process, whoever else runs on the machine.

    Raises
    ------
    InputError
        Another process holds it (the line names its process id), or the system refuses the lock.
    """
    folder = _folder()
    stem = re.sub(r"[^A-Za-z0-9_.-]", "_", device.id)
    holder = folder / f"{stem}.pid"
    lock = FileLock(folder / f"{stem}.lock", mode=0o666)
    try:
        lock.acquire(timeout=0)
    except Timeout as fault:
        raise InputError(
            f"device {device.id} is being measured by process {_read(holder)}",
            remedy="wait until it ends; two measurements would disturb each other",
        ) from fault
    except OSError as fault:
        raise InputError(
            f"device {device.id} cannot be locked: {fault.strerror or fault}",
            where=str(folder),
            remedy="see who owns it",
        ) from fault
    try:
        with suppress(OSError):  # it serves a sentence only; a stale one may belong to another user
            _write(holder)
        yield
    finally:
        with suppress(OSError):
            holder.unlink(missing_ok=True)
        lock.release()


def wait_until_free(device: Device, patience_s: float) -> None:
    """Wait while another process holds the device, at most ``patience_s``: a killed run takes a moment to end what it started."""
    until_s = time.monotonic() + patience_s
    while True:
        try:
            with device_lock(device):
                return
        except InputError:
            if time.monotonic() > until_s:
                raise
        time.sleep(_LOOK_S)


@contextmanager
def opening_lock(folder: Path) -> Iterator[None]:
    """Hold the archive's ``folder`` of one experiment while an attempt gets its id: two that begin in one second get two.

    Raises
    ------
    RecordError
        The system refuses.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as fault:
        raise refused(folder, fault) from fault
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _folder() -> Path:
    try:
        folder = Path(tempfile.gettempdir()) / "reportgen-locks"
        if not folder.is_dir():
            folder.mkdir(exist_ok=True)
            # Every user of the machine locks here; sticky, the kernel would refuse to open another user's lock.
            folder.chmod(0o777)
    except OSError as fault:
        raise InputError(
            f"no folder for device locks can be made: {fault.strerror or fault}", remedy="make room, or set TMPDIR"
        ) from fault
    return folder


def _write(holder: Path) -> None:
    handle = os.open(holder, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o644)
    try:
        os.write(handle, f"{os.getpid()}\n".encode())
    finally:
        os.close(handle)


def _read(holder: Path) -> str:
    try:
        return holder.read_text(encoding="ascii").strip() or "unknown"
    except OSError:
        return "unknown"
