"""Writing a site: only bytes that differ, and nothing stale stays."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from reportgen.errors import InputError

MARKER = ".reportgen-site"
_MARKED = b"Built by reportgen. Files here are replaced and removed by the next build.\n"


def write_site(out: Path, files: Mapping[str, bytes | Path]) -> tuple[int, int]:
    """Make ``out`` hold exactly ``files`` (content, or a file to copy, by address); return counts written and removed.

    Raises
    ------
    InputError
        ``out`` is a file, holds something that was not built here, or cannot be written.
    """
    if out.exists() and not out.is_dir():
        raise InputError("is no folder", where=str(out), remedy="name another with --out")
    if out.is_dir() and any(out.iterdir()) and not (out / MARKER).is_file():
        raise InputError("holds files that are no built site", where=str(out), remedy="name another folder with --out")
    wanted = {MARKER: _MARKED, **files}
    try:
        out.mkdir(parents=True, exist_ok=True)
        removed = _prune(out, wanted)
        written = sum(_write(out / address, wanted[address]) for address in sorted(wanted))
    except OSError as fault:
        where = str(fault.filename or out)
        raise InputError(f"cannot be written: {fault.strerror}", where=where, remedy="free the place") from fault
    return written, removed


def _write(path: Path, content: bytes | Path) -> bool:
    data = content.read_bytes() if isinstance(content, Path) else content
    if path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.draft")
    draft.write_bytes(data)
    draft.replace(path)
    return True


def _prune(out: Path, wanted: Mapping[str, object]) -> int:
    """Remove what is not wanted, folders that then are empty, and what stands in the way of a wanted folder."""
    removed = 0
    for folder, names, files in os.walk(out, topdown=False):
        here = Path(folder)
        for name in files:
            if (here / name).relative_to(out).as_posix() not in wanted:
                (here / name).unlink()
                removed += 1
        for name in names:
            inner = here / name
            if inner.is_symlink():
                inner.unlink()
            elif not any(inner.iterdir()):
                inner.rmdir()
    return removed
