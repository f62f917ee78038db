"""``SHA256SUMS``: one line a file, sorted by path, as ``sha256sum --check`` reads it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection
from pathlib import Path

from reportgen.archive import layout
from reportgen.archive.encoding import read_bytes
from reportgen.errors import RecordError

_LINE = re.compile(r"([0-9a-f]{64})  (\S.*)")
_CHUNK_BYTES = 1 << 20


def sha256_of(path: Path) -> str:
    """Lower-case hexadecimal SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def files_under(folder: Path) -> list[str]:
    """Paths of all files under ``folder``, relative to it, with ``/``, sorted by code point."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


def sums_of(folder: Path) -> bytes:
    """Text of ``SHA256SUMS`` for every file under ``folder`` but itself."""
    names = [name for name in files_under(folder) if name != layout.SUMS]
    return "".join(f"{sha256_of(folder / name)}  {name}\n" for name in names).encode()


def read_sums(folder: Path) -> dict[str, str]:
    """Hash by path out of ``SHA256SUMS``.

    Raises
    ------
    RecordError
        The file is missing or a line is malformed.
    """
    path = folder / layout.SUMS
    sums = {}
    for number, line in enumerate(read_bytes(path).decode(errors="replace").splitlines(), start=1):
        match = _LINE.fullmatch(line)
        if match is None:
            raise RecordError(
                "is no line of `sha256  path`", where=f"{path}:{number}", remedy="restore the record from a copy"
            )
        sums[match[2]] = match[1]
    return sums


def check_sums(folder: Path, beside: Collection[str] = ()) -> list[str]:
    """Compare ``folder`` with its ``SHA256SUMS``: one sentence for each file changed, missing or extra.

    Files named in ``beside`` may lie there unlisted.
    """
    sums = read_sums(folder)
    present = [name for name in files_under(folder) if name != layout.SUMS and (name in sums or name not in beside)]
    findings = [f"{name}: is missing" for name in sorted(set(sums) - set(present))]
    findings += [f"{name}: is not listed in {layout.SUMS}" for name in sorted(set(present) - set(sums))]
    for name in sorted(set(sums) & set(present)):
        if (folder / name).is_symlink():
            findings.append(f"{name}: is a link, not a file")
        elif not (folder / name).is_file():
            findings.append(f"{name}: is a device or a pipe, not a file")
        elif sha256_of(folder / name) != sums[name]:
            findings.append(f"{name}: does not have the SHA-256 listed in {layout.SUMS}")
    return findings
