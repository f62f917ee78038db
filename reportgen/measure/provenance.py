"""When the plan's files were last changed, and how that is known.

Observed: git says which commit last touched any of them. Declared: a machine without the repository is given a file
that :func:`declare` wrote on one that has it; it holds the hashes of the files that it speaks of. Absent: neither.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from reportgen.errors import InputError
from reportgen.model.plan import PlanFile
from reportgen.model.record import Provenance

SCHEMA_VERSION = 1
_GIT_DEADLINE_S = 30


class Declaration(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What ``--provenance FILE`` holds."""

    schema_version: int
    commit: str | None
    dirty: bool | None
    frozen_at: str | None
    reason: str
    files: list[PlanFile]


def find_provenance(kernels: Path, files: Sequence[PlanFile], declared: Path | None = None) -> Provenance:
    """Read the provenance of a plan's files from ``declared`` if given, else from git.

    Parameters
    ----------
    kernels:
        The folder that the files' paths are relative to.

    Raises
    ------
    InputError
        The declaration cannot be read, is of a newer version, or speaks of other files.
    """
    return observe(kernels, files) if declared is None else read_declaration(declared, files)


def observe(kernels: Path, files: Sequence[PlanFile]) -> Provenance:
    """Ask git for the last commit that touches any of the files.

    Files with changes that no commit holds are frozen by the attempt alone: ``dirty`` is true, ``frozen_at`` null.
    """
    paths = [file.path for file in files]
    try:
        status = _git(
            kernels, "status", "--porcelain", "-z", "--no-renames", "--ignored", "--untracked-files=all", "--", *paths
        )
        last = _git(kernels, "log", "-1", "--format=%H %ct", "--", *paths).split()
        shallow = _boundary_of_shallow_history(kernels)
    except (OSError, subprocess.SubprocessError) as fault:
        return Provenance(known="absent", reason=_why_not(fault))
    commit = last[0] if last else None
    changed = sorted(entry[3:] for entry in status.split("\0") if entry[2:3] == " ")
    if changed:
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        reason = f"{changed[0]}{more}: changes that no commit holds; this attempt alone freezes them"
        return Provenance(known="observed", commit=commit, dirty=True, reason=reason)
    if commit is None:
        return Provenance(known="absent", reason="no commit holds any of the plan's files")
    if commit in shallow:
        reason = "the history is cut off at the last commit known to touch these files"
        return Provenance(known="observed", commit=commit, dirty=False, reason=reason)
    frozen_at = datetime.fromtimestamp(int(last[1]), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Provenance(known="observed", commit=commit, dirty=False, frozen_at=frozen_at)


def declare(kernels: Path, files: Sequence[PlanFile], target: Path) -> Provenance:
    """Write what git says here to ``target``, for a machine without the repository.

    Raises
    ------
    InputError
        Git knows nothing of the files, or ``target`` cannot be written.
    """
    found = observe(kernels, files)
    if found.known != "observed":
        raise InputError(
            f"there is nothing to declare: {found.reason}",
            where=str(kernels),
            remedy="run this where the repository is",
        )
    declaration = Declaration(
        schema_version=SCHEMA_VERSION,
        commit=found.commit,
        dirty=found.dirty,
        frozen_at=found.frozen_at,
        reason=found.reason,
        files=sorted(files, key=lambda file: file.path),
    )
    try:
        target.write_bytes(msgspec.json.format(msgspec.json.encode(declaration), indent=2) + b"\n")
    except OSError as fault:
        raise InputError(
            f"cannot be written: {fault.strerror}", where=str(target), remedy="name another file"
        ) from fault
    return found


def read_declaration(path: Path, files: Sequence[PlanFile]) -> Provenance:
    """Read what :func:`declare` wrote, and see that it speaks of these very files.

    Raises
    ------
    InputError
        It cannot be read, is of a newer version, or a file of the plan differs or is not in it.
    """
    remedy = "write it again where the repository is"
    try:
        declared = msgspec.json.decode(path.read_bytes(), type=Declaration)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as fault:
        raise InputError(f"cannot be read as a provenance file: {fault}", where=str(path), remedy=remedy) from fault
    if declared.schema_version > SCHEMA_VERSION:
        what = f"schema_version {declared.schema_version} is newer than this program reads ({SCHEMA_VERSION})"
        raise InputError(what, where=str(path), remedy="use a newer reportgen")
    known = {file.path: file.sha256 for file in declared.files}
    for file in files:
        if known.get(file.path) != file.sha256:
            raise InputError(f"speaks of another {file.path} than the plan's", where=str(path), remedy=remedy)
    return Provenance(
        known="declared",
        commit=declared.commit,
        dirty=declared.dirty,
        frozen_at=declared.frozen_at,
        reason=declared.reason,
    )


def _git(folder: Path, *arguments: str) -> str:
    """Run git as if no setting of the caller's shell named another repository; reads only."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")} | {"LC_ALL": "C"}
    command = ["git", "--no-optional-locks", "--literal-pathspecs", "-c", "core.fsmonitor=false", "-C", str(folder)]
    answer = subprocess.run(  # noqa: S603 - a fixed program; what varies are paths, after `--`
        [*command, *arguments],
        env=environment,
        capture_output=True,
        check=True,
        timeout=_GIT_DEADLINE_S,
    )
    return answer.stdout.decode(errors="replace")


def _boundary_of_shallow_history(folder: Path) -> list[str]:
    boundary = Path(folder, _git(folder, "rev-parse", "--git-path", "shallow").rstrip("\n"))
    return boundary.read_text().split() if boundary.is_file() else []


def _why_not(fault: Exception) -> str:
    if isinstance(fault, FileNotFoundError):
        return "git is not installed"
    said = getattr(fault, "stderr", None) or b""
    first = said.decode(errors="replace").strip().splitlines()[:1]
    return f"git could not say: {first[0]}" if first else f"git could not say: {fault}"
