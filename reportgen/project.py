"""A lab's folders, settings and experiments."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import msgspec

from reportgen.errors import InputError, shortened
from reportgen.model.experiment import SCHEMA_VERSION, Experiment, GateKind, Role
from reportgen.model.service import Service

SETTINGS_FILE = "reportgen.toml"

T = TypeVar("T")

_REMEDIES = {
    "].role`": "roles are " + ", ".join(Role),
    "].kind`": "kinds of gates are " + ", ".join(GateKind),
    "unknown field": "remove or correct that key; `reportgen manual writing-experiments` lists them all",
    "missing required field": "add that key; `reportgen manual writing-experiments` lists them all",
}


class _Versioned(msgspec.Struct):
    """The one key that every version of a file has."""

    schema_version: int


class SiteSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Table ``[site]``: ``docs`` is a folder of the lab whose Markdown becomes pages under ``docs/`` of the site; none if empty."""

    docs: str = ""

    def __post_init__(self) -> None:
        if self.docs.startswith("/") or {"..", "."} & {*self.docs.split("/")}:
            raise ValueError(f"site.docs {self.docs!r} must be a folder below the lab's")


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``reportgen.toml``: what the lab says of itself on its pages, and the live services that share its devices.

    ``address`` is where the site is published, ``authors`` who is cited (the lab itself, where it names nobody).
    """

    title: str = "Measured"
    tagline: str = ""
    repository: str = ""
    address: str = ""
    authors: list[str] = []
    data_licence: str = "CC-BY-4.0"
    code_licence: str = "Apache-2.0"
    site: SiteSettings = SiteSettings()
    services: list[Service] = msgspec.field(name="service", default=[])

    def __post_init__(self) -> None:
        if self.address and not self.address.startswith(("https://", "http://")):
            raise ValueError(f"address {self.address!r} must begin with https://")
        names = [service.name for service in self.services]
        if len({*names}) != len(names):
            raise ValueError("two services have the same name")


@dataclass(frozen=True)
class ExperimentFolder:
    """An experiment's name, its folder of sources and the TOML file that declares it."""

    name: str
    folder: Path
    toml: Path


@dataclass(frozen=True)
class Project:
    """The folders of a lab under ``root``."""

    root: Path
    settings: Settings

    @property
    def kernels(self) -> Path:
        """Experiments: one folder an operation."""
        return self.root / "kernels"

    @property
    def runs(self) -> Path:
        """The archive."""
        return self.root / "runs"

    @property
    def site(self) -> Path:
        """What people write."""
        return self.root / "site"

    @property
    def docs(self) -> Path | None:
        """Plain Markdown that becomes pages too, where the settings name a folder for it."""
        return self.root / self.settings.site.docs if self.settings.site.docs else None

    @property
    def guarding(self) -> Path:
        """What the guards of a run write down; no part of the archive."""
        return self.root / ".reportgen"

    @property
    def templates(self) -> Path:
        """The lab's own templates, which override the default theme file by file."""
        return self.root / "templates"


def open_project(root: Path) -> Project:
    """Read the lab at ``root``.

    Raises
    ------
    InputError
        ``root`` is no folder, or its settings cannot be read.
    """
    if not root.is_dir():
        raise InputError("no such folder", where=str(root), remedy="name the lab's folder with --project")
    settings_file = root / SETTINGS_FILE
    settings = _decode(settings_file, Settings) if settings_file.exists() else Settings()
    return Project(root.resolve(), settings)


def at_address(project: Project, address: str) -> Project:
    """Say that the site of ``project`` lies at ``address``, whatever its settings say.

    Raises
    ------
    InputError
        That is no address.
    """
    try:
        settings = msgspec.structs.replace(project.settings, address=address)
    except ValueError as fault:
        raise InputError(str(fault), where="--address") from fault
    return replace(project, settings=settings)


def experiment_folders(project: Project) -> dict[str, ExperimentFolder]:
    """Every declared experiment by name: ``<folder>`` and, for ``experiment-<suffix>.toml``, ``<folder>-<suffix>``."""
    found = {}
    for toml in sorted(project.kernels.glob("*/experiment*.toml")):
        suffix = toml.stem.removeprefix("experiment")
        if suffix and not suffix.startswith("-"):
            continue
        name = toml.parent.name + suffix
        found[name] = ExperimentFolder(name, toml.parent, toml)
    return found


def find_experiment(project: Project, name: str) -> ExperimentFolder:
    """Find one experiment by name.

    Raises
    ------
    InputError
        There is none of that name.
    """
    folders = experiment_folders(project)
    if name not in folders:
        known = ", ".join(folders) or "none"
        raise InputError(f"no experiment named {name!r}", where=str(project.kernels), remedy=f"declared are: {known}")
    return folders[name]


def read_experiment(folder: ExperimentFolder) -> Experiment:
    """Read and check ``experiment.toml``.

    Raises
    ------
    InputError
        Malformed TOML, an unknown key, or a declaration that contradicts itself.
    """
    version = _decode(folder.toml, _Versioned).schema_version  # first: a newer file may have keys unknown here
    if version > SCHEMA_VERSION:
        raise InputError(
            f"schema_version {version} is newer than this program reads ({SCHEMA_VERSION})",
            where=str(folder.toml),
            remedy="use a newer reportgen",
        )
    if version < 1:
        raise InputError(f"schema_version {version} was never one", where=str(folder.toml), remedy="write 1")
    return _decode(folder.toml, Experiment)


def _decode(path: Path, kind: type[T]) -> T:
    try:
        return msgspec.toml.decode(path.read_bytes(), type=kind)
    except (OSError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError) as fault:
        raise InputError(
            f"cannot be read: {shortened(str(fault))}", where=str(path), remedy=_remedy(str(fault))
        ) from fault


def _remedy(fault: str) -> str:
    for sign, remedy in _REMEDIES.items():
        if sign in fault:
            return remedy
    return "correct the file"
