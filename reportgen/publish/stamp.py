"""Knowing that nothing changed: a hash over everything that a site comes from, and one over the site itself.

Looking at those files takes a fraction of the time that it takes to load the libraries that build pages.
"""

from __future__ import annotations

import sys
import uuid
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import TypeVar

import msgspec

from reportgen.project import SETTINGS_FILE, Project
from reportgen.publish.cache import FOLDER
from reportgen.publish.hashes import Hashes, digest
from reportgen.publish.theme_folders import theme_folders

LIBRARIES = (
    "jinja2",
    "markdown-it-py",
    "markupsafe",
    "mdit-py-plugins",
    "msgspec",
    "numpy",
    "pandas",
    "pyarrow",
    "scipy",
)
T = TypeVar("T")
_LOADED: list[str] = []


class _Kept(msgspec.Struct, frozen=True):
    """What a finished build came from, what it wrote, and what it said."""

    inputs: str
    outputs: str
    places: dict[str, str]
    said: msgspec.Raw


class Stamp:
    """The stamp of a lab's site in one folder."""

    def __init__(self, project: Project, out: Path, hashes: Hashes) -> None:
        self._project, self._out, self._hashes = project, out, hashes
        self._file = project.root / FOLDER / "stamps" / digest([str(out.resolve())])
        self._inputs = digest(_inputs(project, hashes))

    def read(self, of: type[T]) -> T | None:
        """Return what the last build said, if neither its inputs nor its files changed since."""
        try:
            kept = msgspec.json.decode(self._file.read_bytes(), type=_Kept)
            if (kept.inputs, kept.outputs) != (self._inputs, self._hashes.tree(self._out)):
                return None
            if any(place_of(self._project, name) != found for name, found in kept.places.items()):
                return None
            return msgspec.json.decode(kept.said, type=of)
        except (OSError, msgspec.MsgspecError):
            return None

    def write(self, said: object, places: Mapping[str, str]) -> None:
        """Keep what a build said that just wrote the site; its pages tell apart what stands at ``places`` of the lab."""
        kept = _Kept(self._inputs, self._hashes.tree(self._out), dict(places), msgspec.Raw(msgspec.json.encode(said)))
        self._file.parent.mkdir(parents=True, exist_ok=True)
        draft = self._file.with_suffix(".draft")
        draft.write_bytes(msgspec.json.encode(kept))
        draft.replace(self._file)


def code_digest(hashes: Hashes) -> str:
    """Hash this program and its libraries: a changed one finds nothing that another has kept.

    A process whose program changed on the disk runs the one that it has loaded: from then on it finds nothing, and nobody finds what it keeps.
    """
    versions = (f"{name} {metadata.version(name)}" for name in LIBRARIES)
    found = digest([hashes.tree(Path(__file__).resolve().parents[1]), sys.version, *versions])
    _LOADED.append(found)
    return found if found == _LOADED[0] else f"{found} {uuid.uuid4()}"


def place_of(project: Project, name: str) -> str:
    """Tell whether a path of the lab is a ``folder``, a ``file``, or not there (empty)."""
    path = project.root / name
    return "folder" if path.is_dir() else "file" if path.exists() else ""


def _inputs(project: Project, hashes: Hashes) -> Iterator[bytes | str]:
    yield code_digest(hashes)
    yield msgspec.json.encode(project.settings)  # a command may have said another address than the file does
    yield hashes.tree(
        project.site, project.runs, *([project.docs] if project.docs else []), *theme_folders(project.templates)
    )
    declared = sorted(project.kernels.glob("*/experiment*.toml"))
    yield from hashes.files(project.root, [*declared, project.root / SETTINGS_FILE])
