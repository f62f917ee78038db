"""Writing a site: only bytes that differ, and nothing stale stays.

The marker lists what a build wrote, and the next one removes nothing else: a file that somebody put beside stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reportgen.errors import InputError
from reportgen.publish.remembering import Look, look_at

MARKER = ".reportgen-site"
_HEADING = "Built by reportgen. The files listed here are replaced, or removed, by the next build."


@dataclass
class Written:
    """What this process wrote where, so that it need not read its own files again: content, and how the file then looked."""

    _known: dict[Path, tuple[bytes | Look, Look]] = field(default_factory=dict)

    def holds(self, path: Path, content: bytes | Path) -> bool:
        """Tell whether ``path`` is still the file that was written, with the content that it should have."""
        return self._known.get(path) == (_content(content), look_at([path]))

    def note(self, path: Path, content: bytes | Path) -> None:
        """Note that ``path`` holds the content."""
        self._known[path] = (_content(content), look_at([path]))


def write_site(out: Path, files: Mapping[str, bytes | Path], known: Written | None = None) -> tuple[int, int]:
    """Make ``out`` hold ``files`` (content, or a file to copy, by address) and nothing that an earlier build wrote.

    Returns counts written and removed. ``known`` is what this process wrote there before.

    Raises
    ------
    InputError
        ``out`` is a file, holds something that was not built here, or cannot be written.
    """
    if out.exists() and not out.is_dir():
        raise InputError("is no folder", where=str(out), remedy="name another with --out")
    if out.is_dir() and any(out.iterdir()) and not (out / MARKER).is_file():
        raise InputError("holds files that are no built site", where=str(out), remedy="name another folder with --out")
    marked = "\n".join([_HEADING, *sorted(files), ""]).encode()
    wanted: dict[str, bytes | Path] = {**files, MARKER: marked}
    try:
        out.mkdir(parents=True, exist_ok=True)
        removed = _prune(out, _stale(out, files))
        written = sum(_write(out / address, wanted[address], known) for address in sorted(wanted))
    except OSError as fault:
        where = str(fault.filename or out)
        raise InputError(f"cannot be written: {fault.strerror}", where=where, remedy="free the place") from fault
    return written, removed


def _write(path: Path, content: bytes | Path, known: Written | None) -> bool:
    if known is not None and known.holds(path, content):
        return False
    written = _replace(path, content)
    if known is not None:
        known.note(path, content)
    return written


def _content(content: bytes | Path) -> bytes | Look:
    return look_at([content]) if isinstance(content, Path) else content


def _replace(path: Path, content: bytes | Path) -> bool:
    data = content.read_bytes() if isinstance(content, Path) else content
    if path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.draft")
    draft.write_bytes(data)
    draft.replace(path)
    return True


def _stale(out: Path, files: Mapping[str, object]) -> list[Path]:
    """Files of the last build that this one does not have; an address that leads out of ``out`` is none of them."""
    marker = out / MARKER
    listed = marker.read_text(encoding="utf-8").splitlines()[1:] if marker.is_file() else []
    inside = [address for address in listed if address not in files and ".." not in Path(address).parts]
    return [out / address for address in inside if not Path(address).is_absolute()]


def _prune(out: Path, stale: Sequence[Path]) -> int:
    """Remove stale files, and the folders that then are empty."""
    removed = 0
    for path in stale:
        if path.is_file() or path.is_symlink():
            path.unlink()
            removed += 1
        folder = path.parent
        while folder != out and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
            folder = folder.parent
    return removed
