"""The files that a plan's digest covers: found, and hashed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from reportgen.errors import InputError
from reportgen.model.experiment import Experiment
from reportgen.model.plan import PYTHON, PlanFile
from reportgen.project import ExperimentFolder

EXPERIMENT_PROGRAM = "experiment.py"
OWN_HEADERS = frozenset({"reportgen_native.h", "reportgen_philox.h"})  # part of the program, not of the plan

_QUOTED_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


def covered_files(folder: ExperimentFolder, experiment: Experiment, *, needs_program: bool = True) -> list[Path]:
    """Every file of the plan: the TOML, ``experiment.py``, the sources of all arms, the declared headers, the files of an outside program.

    Parameters
    ----------
    needs_program:
        Whether a missing ``experiment.py`` is a fault (the ``fake`` backend does without).

    Returns
    -------
    list of Path
        Absolute, distinct, sorted.

    Raises
    ------
    InputError
        A file is missing, lies outside the kernels folder, or a source includes a header that is not declared.
    """
    files = {folder.toml.resolve()}
    program = folder.folder / EXPERIMENT_PROGRAM
    if program.is_file():
        files.add(program.resolve())
    elif needs_program:
        raise InputError(
            f"the experiment has no {EXPERIMENT_PROGRAM}",
            where=str(program),
            remedy="write its functions (`reportgen manual writing-experiments`)",
        )
    sources = {*_sources(folder, experiment), *_headers(folder, experiment)}
    _check_includes(folder, sources)
    return sorted({*files, *sources, *_command_files(folder, experiment)})


def plan_files(folder: ExperimentFolder, files: list[Path]) -> list[PlanFile]:
    """Hash the files; paths are relative to the kernels folder, sorted."""
    kernels = folder.folder.resolve().parent
    hashed = [
        PlanFile(path=path.relative_to(kernels).as_posix(), sha256=hashlib.sha256(path.read_bytes()).hexdigest())
        for path in files
    ]
    return sorted(hashed, key=lambda file: file.path)


def _sources(folder: ExperimentFolder, experiment: Experiment) -> Iterator[Path]:
    for arm in experiment.arms:
        if arm.file is None:
            continue
        path = folder.folder / arm.file
        if not path.is_file():
            raise InputError(
                f"source {arm.file!r} of arm {arm.name!r} is missing",
                where=str(path),
                remedy=f"write it, or correct the arm's `file` in {folder.toml.name}",
            )
        yield _within(folder, path, f"arm {arm.name!r}: file")


def _headers(folder: ExperimentFolder, experiment: Experiment) -> Iterator[Path]:
    for header in experiment.compile.headers:
        yield _within(folder, find_header(folder, header), f"compile.headers: {header!r}")


def _command_files(folder: ExperimentFolder, experiment: Experiment) -> Iterator[Path]:
    for name in experiment.command.files if experiment.command else ():
        path = folder.folder / name
        if not path.is_file():
            raise InputError(
                f"command.files names {name!r}, which is missing",
                where=str(folder.toml),
                remedy=f"put it into {folder.folder}",
            )
        yield _within(folder, path, f"command.files: {name!r}")


def find_header(folder: ExperimentFolder, header: str) -> Path:
    """Find a declared header: beside the sources, or (as ``common/NAME``) in a folder that operations share.

    Raises
    ------
    InputError
        It is in neither place, or its name leads out of them.
    """
    parts = PurePosixPath(header).parts
    places = [folder.folder / header, folder.folder.parent / header]
    found = next((place for place in places if place.is_file()), None)
    if found is None or ".." in parts or header.startswith("/"):
        raise InputError(
            f"compile.headers names {header!r}, which is missing",
            where=str(folder.toml),
            remedy=f"put it into {folder.folder} (or, as common/NAME, into {folder.folder.parent / 'common'})",
        )
    return found


def _within(folder: ExperimentFolder, path: Path, what: str) -> Path:
    resolved = path.resolve()
    if not resolved.is_relative_to(folder.folder.resolve().parent):
        raise InputError(
            f"{what} leads out of the kernels folder", where=str(folder.toml), remedy="keep a copy of it inside"
        )
    return resolved


def _check_includes(folder: ExperimentFolder, sources: set[Path]) -> None:
    """Refuse headers that sources include by name but the plan does not cover: they could change unseen."""
    for source in sorted(path for path in sources if path.suffix != PYTHON):
        for name in _QUOTED_INCLUDE.findall(source.read_text(encoding="utf-8", errors="replace")):
            near = [source.parent / name, folder.folder / name, folder.folder.parent / name]
            if name not in OWN_HEADERS and not any(place.resolve() in sources for place in near):
                raise InputError(
                    f"includes {name!r}, which the plan does not cover",
                    where=str(source),
                    remedy=f"add it to compile.headers in {folder.toml.name}",
                )
