"""Opening a zip from anywhere: nothing leads out of the folder, nothing is larger than it may be."""

from __future__ import annotations

import stat
import struct
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from reportgen.errors import InputError
from reportgen.units import BYTES_PER_MIB

MOST_FILES = 100_000
MOST_BYTES = 4096 * BYTES_PER_MIB
MOST_EXPANSION = 300  # deflate reaches about 1,000 on zeros; tables and sources stay below 30
_SMALL_BYTES = BYTES_PER_MIB
_CHUNK_BYTES = 1 << 20
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # LZMA may ask for gigabytes before its first byte
# What the library says of a directory, a name, an offset or a stream that cannot be; NotImplementedError is a RuntimeError.
BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, OverflowError, IndexError, RuntimeError)


def unpack(path: Path, folder: Path) -> list[str]:
    """Unpack the zip at ``path`` into the empty ``folder``; give one line for each member that is damaged.

    Raises
    ------
    InputError
        It is no zip; a member has a name that leads out of the folder, stands twice, is a link or encrypted; or it holds
        more than a record may.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            _check_members(path, members)
            return [line for member in members for line in _extract(archive, member, folder)]
    except BROKEN as fault:
        raise InputError(f"is no whole zip: {fault}", where=str(path), remedy="download it again") from fault
    except OSError as fault:
        raise InputError(f"cannot be unpacked: {fault.strerror or fault}", where=str(path)) from fault


def _check_members(path: Path, members: list[zipfile.ZipInfo]) -> None:
    total = sum(member.file_size for member in members)
    if len(members) > MOST_FILES or total > MOST_BYTES:
        raise InputError("holds more than a record may", where=str(path), remedy="unpack it by hand if you trust it")
    names: set[str] = set()
    for member in members:
        reason = _refusal(member, names)
        if reason:
            raise InputError(f"member {member.filename!r} {reason}", where=str(path), remedy="do not trust this zip")
        names.add(member.filename)
    if total > max(_SMALL_BYTES, MOST_EXPANSION * path.stat().st_size):  # members may share their bytes
        raise InputError("expands to far more than it holds", where=str(path), remedy="do not trust this zip")


def _refusal(member: zipfile.ZipInfo, names: set[str]) -> str:
    """Say what is wrong with a member before a byte of it is written; empty if nothing is."""
    name, parts = member.filename, PurePosixPath(member.filename).parts
    kind = stat.S_IFMT(member.external_attr >> 16)
    reasons = (
        (not parts or name.startswith("/") or "\\" in name or ":" in name, "has an absolute or foreign path"),
        (".." in parts or not name.isprintable(), "has a path that leads out of the folder"),
        (name in names, "stands twice"),
        (kind not in (0, stat.S_IFREG), "is a link or a device, not a file"),
        (bool(member.flag_bits & 1), "is encrypted"),
        (member.compress_type not in _PACKINGS, "is packed by a method that no record uses"),
        (
            member.file_size > max(_SMALL_BYTES, MOST_EXPANSION * member.compress_size),
            "expands to far more than it holds",
        ),
    )
    return next((reason for holds, reason in reasons if holds), "")


def _extract(archive: zipfile.ZipFile, member: zipfile.ZipInfo, folder: Path) -> list[str]:
    target = folder / member.filename
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with archive.open(member) as source, target.open("xb") as file:
            left = member.file_size
            while chunk := source.read(min(_CHUNK_BYTES, left + 1)):
                left -= len(chunk)
                if left < 0:
                    return [f"{member.filename}: is longer than the zip says"]
                file.write(chunk)
    except BROKEN as fault:
        return [f"{member.filename}: is damaged inside the zip: {fault}"]
    return []
