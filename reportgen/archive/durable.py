"""Writing that survives a power cut: contents first, then the folder that names them."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from pathlib import Path

from reportgen.errors import RecordError, shortened


def write_durable(path: Path, data: bytes) -> None:
    """Create ``path`` with ``data`` and wait until the disk holds both (FileExistsError if it exists)."""
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def write_whole(path: Path, data: bytes) -> None:
    """As :func:`write_durable`, over nothing or over what is there, but killed or refused at any moment ``path`` is as before or has all of ``data``."""
    fresh = path.with_name(f".{path.name}.new")
    try:
        fresh.unlink(missing_ok=True)
        write_durable(fresh, data)
        fresh.replace(path)
        sync_folder(path.parent)
    except OSError:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise


def sync_file(path: Path) -> None:
    """Wait until the disk holds the contents of ``path``."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_folder(folder: Path) -> None:
    """Wait until the disk holds the names in ``folder``."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_tree(folder: Path) -> None:
    """Wait until the disk holds every file and name under ``folder``."""
    for root, _folders, files in os.walk(folder):
        for name in files:
            sync_file(Path(root, name))
        sync_folder(Path(root))


def refused(where: Path, fault: OSError) -> RecordError:
    """Error for a disk that takes no more."""
    return RecordError(
        f"cannot be written: {why(fault)}",
        where=str(where),
        remedy="make room or correct the permissions; what was archived before is intact",
    )


def why(fault: OSError) -> str:
    """Say in words why the system refuses; of the many refusals of a folder that is copied, the first."""
    if isinstance(fault, shutil.Error) and (number := re.search(r"\[Errno (\d+)\]", str(fault))):
        return os.strerror(int(number[1]))
    return fault.strerror or shortened(str(fault))
