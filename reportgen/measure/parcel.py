"""What travels to another host so that an attempt can be measured there: sources, plan and, for a resumed one, its journal."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from reportgen.archive import layout
from reportgen.archive.sums import files_under
from reportgen.errors import FindingError, InputError
from reportgen.measure.identity import own_sha256
from reportgen.model.plan import Plan
from reportgen.project import SETTINGS_FILE, Project

LAB_VARIABLE = "REPORTGEN_PROJECT"
DEVICE_VARIABLE = "REPORTGEN_DEVICE"
LOGS = "logs/"


@dataclass(frozen=True)
class Parcel:
    """One attempt on its way. ``sources`` are by path under the kernels folder, ``opened`` files of the open attempt by name.

    ``reportgen`` is the hash of the program that sends; ``attempt`` the id that the sender chose.
    """

    experiment: str
    backend: str
    attempt: str
    plan: str
    reportgen: str
    sources: Mapping[str, bytes]
    sums: Mapping[str, str]
    quick: bool = False
    opened: Mapping[str, bytes] = field(default_factory=dict)


def pack(project: Project, plan: Plan, backend: str, attempt: str, *, quick: bool) -> Parcel:
    """Put together what an attempt needs; it is a resumed one if its open folder is here.

    Raises
    ------
    InputError
        A source changed since the plan was made.
    RecordError
        The open attempt is damaged.
    """
    sources = {file.path: (project.kernels / file.path).read_bytes() for file in plan.files}
    sums = {file.path: file.sha256 for file in plan.files}
    _check(sources, sums)
    folder = layout.open_dir(project.runs, plan.name, attempt)
    opened = _opened(folder) if folder.is_dir() else {}
    return Parcel(plan.name, backend, attempt, plan.digest, own_sha256(), sources, sums, quick, opened)


def unpack(parcel: Parcel, root: Path) -> None:
    """Lay a lab out under the empty folder ``root``: sources, open attempt, and this host's own services.

    The services that share this host's devices are those of the lab that ``REPORTGEN_PROJECT`` names, or of the folder in which the
    worker was started; what guards write down goes there too, so that ``recover`` finds it.

    Raises
    ------
    FindingError
        This program is another than the sender's.
    InputError
        A file is not what the plan says, or its path leads out of the folder.
    """
    if parcel.reportgen != (own := own_sha256()):
        raise FindingError(
            f"this host runs another reportgen (SHA-256 of its modules {own[:12]}, the sender's {parcel.reportgen[:12]})",
            remedy="install the same on both",
        )
    _check(parcel.sources, parcel.sums)
    runs = layout.open_dir(root / "runs", parcel.experiment, parcel.attempt)
    for folder, files in ((root / "kernels", parcel.sources), (runs, parcel.opened)):
        for name, data in files.items():
            path = folder / _inside(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    lab = Path(os.environ.get(LAB_VARIABLE) or Path.cwd())
    guarding = lab / ".reportgen"
    if (lab / SETTINGS_FILE).is_file():
        shutil.copyfile(lab / SETTINGS_FILE, root / SETTINGS_FILE)
        guarding.mkdir(exist_ok=True)
        (root / ".reportgen").symlink_to(guarding.resolve())


def _inside(name: str) -> str:
    """Give the path back if it stays in its folder; the sums say what was sent, not by whom."""
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts or not name.isprintable():
        raise InputError(f"path {name!r} leads out of the folder")
    return name


def _check(sources: Mapping[str, bytes], sums: Mapping[str, str]) -> None:
    for path, data in sources.items():
        if hashlib.sha256(data).hexdigest() != sums.get(path):
            raise InputError("is not what the plan lists", where=path, remedy="run it again")


def _opened(folder: Path) -> dict[str, bytes]:
    """Read the files of an open attempt, without unfinished lines and without the logs of its processes."""
    from reportgen.archive.journal import read_journal  # noqa: PLC0415 - a worker unpacks only, and stays small

    whole = read_journal(folder)
    names = [layout.HEADER, layout.PLAN, layout.JOURNAL, layout.EVENTS]
    found = {name: (folder / name).read_bytes() for name in names}
    found[layout.JOURNAL] = found[layout.JOURNAL][: whole.journal_bytes]
    found[layout.EVENTS] = found[layout.EVENTS][: whole.events_bytes]
    artifacts = layout.artifacts_dir(folder)
    for name in files_under(artifacts):
        if not name.startswith(LOGS):
            found[f"{layout.ARTIFACTS}/{name}"] = (artifacts / name).read_bytes()
    return found
