"""Knowing that nothing changed: a hash over everything that a site comes from, and one over the site itself.

Reading and hashing those bytes takes a fraction of the time that it takes to load the libraries that build pages.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import TypeVar

import msgspec

from reportgen.project import SETTINGS_FILE, Project
from reportgen.publish.cache import FOLDER, digest
from reportgen.publish.theme_folders import theme_folders

LIBRARIES = ("jinja2", "markdown-it-py", "mdit-py-plugins", "msgspec", "numpy", "pandas", "pyarrow", "scipy")
T = TypeVar("T")


class _Kept(msgspec.Struct, frozen=True):
    """What a finished build came from, what it wrote, and what it said."""

    inputs: str
    outputs: str
    said: msgspec.Raw


class Stamp:
    """The stamp of a lab's site in one folder."""

    def __init__(self, project: Project, out: Path) -> None:
        self._out = out
        self._file = project.root / FOLDER / "stamps" / digest([str(out.resolve())])
        self._inputs = digest(_inputs(project))

    def read(self, of: type[T]) -> T | None:
        """Return what the last build said, if neither its inputs nor its files changed since."""
        try:
            kept = msgspec.json.decode(self._file.read_bytes(), type=_Kept)
            if (kept.inputs, kept.outputs) != (self._inputs, tree_digest(self._out)):
                return None
            return msgspec.json.decode(kept.said, type=of)
        except (OSError, msgspec.MsgspecError):
            return None

    def write(self, said: object) -> None:
        """Keep what a build said that just wrote the site."""
        kept = _Kept(self._inputs, tree_digest(self._out), msgspec.Raw(msgspec.json.encode(said)))
        self._file.parent.mkdir(parents=True, exist_ok=True)
        draft = self._file.with_suffix(".draft")
        draft.write_bytes(msgspec.json.encode(kept))
        draft.replace(self._file)


def tree_digest(*folders: Path, pattern: str = "*") -> str:
    """Hash the names and contents of all files under ``folders`` that match ``pattern``."""
    return digest(part for folder in folders for part in _contents(folder, sorted(folder.rglob(pattern))))


def libraries_digest() -> str:
    """Hash the versions of Python and of the libraries that a page's bytes can depend on."""
    return digest([sys.version, *(f"{name} {metadata.version(name)}" for name in LIBRARIES)])


def _inputs(project: Project) -> Iterator[bytes | str]:
    package = Path(__file__).resolve().parents[1]
    yield libraries_digest()
    yield tree_digest(package, pattern="*.py")
    yield msgspec.json.encode(project.settings)  # a command may have said another address than the file does
    yield tree_digest(
        project.site, project.runs, *([project.docs] if project.docs else []), *theme_folders(project.templates)
    )
    declared = sorted(project.kernels.glob("*/experiment*.toml"))
    yield from _contents(project.root, [*declared, project.root / SETTINGS_FILE])


def _contents(folder: Path, paths: Iterable[Path]) -> Iterator[bytes | str]:
    for path in paths:
        if path.is_file():
            yield path.relative_to(folder).as_posix()
            yield path.read_bytes()
