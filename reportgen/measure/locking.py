"""One controller a device: a lock that dies with its holder, and the holder's process id beside it."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from reportgen.errors import InputError
from reportgen.model.record import Device


@contextmanager
def device_lock(device: Device) -> Iterator[None]:
    """Hold the device for this process, whoever else runs on the machine.

    Raises
    ------
    InputError
        Another process holds it; the line names its process id.
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
    try:
        holder.write_text(f"{os.getpid()}\n", encoding="ascii")
        yield
    finally:
        holder.unlink(missing_ok=True)
        lock.release()


def _folder() -> Path:
    folder = Path(tempfile.gettempdir()) / "reportgen-locks"
    if not folder.is_dir():
        folder.mkdir(exist_ok=True)
        folder.chmod(0o1777)  # every user of the machine locks here
    return folder


def _read(holder: Path) -> str:
    try:
        return holder.read_text(encoding="ascii").strip() or "unknown"
    except OSError:
        return "unknown"
