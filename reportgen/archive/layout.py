"""Every path and file name of the archive: ``runs/<experiment>/<attempt>/`` and what lies in and beside it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from reportgen.errors import InputError

MANIFEST = "manifest.json"
PLAN = "plan.toml"
BATCHES = "batches.parquet"
CHECKS = "checks.parquet"
REPETITIONS = "repetitions.jsonl"
EVENTS = "events.jsonl"
ARTIFACTS = "artifacts"
SOURCES = "sources"
BINARIES = "binaries"
COMPILED = "compiled"
SUMS = "SHA256SUMS"
FIXTURES = "fixtures.json"
IMPORTED = "imported"
IMPORTED_BENCHMARKS = "imported/benchmarks.parquet"
IMPORTED_SAMPLES = "imported/samples.parquet"
COUNTERS = "counters.parquet"
CODE = "code.json"

HEADER = "header.json"
JOURNAL = "journal.jsonl"

OPEN_SUFFIX = ".partial"
NOTES_SUFFIX = ".notes.jsonl"

_ID = re.compile(r"(\d{8}T\d{6}Z)-([a-z][a-z0-9_]*)-([0-9a-f]{6})")
_ID_TIME = "%Y%m%dT%H%M%SZ"


def attempt_dir(runs: Path, experiment: str, attempt_id: str) -> Path:
    """Folder of a sealed attempt."""
    return runs / experiment / attempt_id


def open_dir(runs: Path, experiment: str, attempt_id: str) -> Path:
    """Folder of an attempt that is being measured, or was interrupted."""
    return runs / experiment / f"{attempt_id}{OPEN_SUFFIX}"


def is_open(folder: Path) -> bool:
    """Whether ``folder`` is named as an open attempt."""
    return folder.name.endswith(OPEN_SUFFIX)


def attempt_id_of(folder: Path) -> str:
    """Id of the attempt in ``folder``, open or sealed."""
    return folder.name.removesuffix(OPEN_SUFFIX)


def sealed_dir_of(folder: Path) -> Path:
    """Where the attempt in the open ``folder`` will lie once sealed."""
    return folder.with_name(attempt_id_of(folder))


def notes_file(folder: Path) -> Path:
    """File of notes beside the attempt in ``folder``, open or sealed."""
    return folder.with_name(f"{attempt_id_of(folder)}{NOTES_SUFFIX}")


def artifacts_dir(folder: Path) -> Path:
    """Folder of sources, binaries, counts and logs of an attempt."""
    return folder / ARTIFACTS


def sources_dir(folder: Path) -> Path:
    """Files that the plan's digest covers, under their paths relative to the kernels folder."""
    return folder / ARTIFACTS / SOURCES


def binaries_dir(folder: Path) -> Path:
    """Folder of the machine code of every arm, where the backend has any."""
    return folder / ARTIFACTS / BINARIES


def compiled_dir(folder: Path) -> Path:
    """Folder of the machine code that arms in Python became in the timed process."""
    return artifacts_dir(folder) / COMPILED


def staging_dir(folder: Path, step: str) -> Path:
    """Hidden sibling of ``folder`` in which a new folder is put together before one rename shows it."""
    return folder.with_name(f".{attempt_id_of(folder)}.{step}")


def is_attempt_id(name: str) -> bool:
    """Whether ``name`` has the form ``YYYYMMDDThhmmssZ-<backend>-<first 6 of the plan digest>``."""
    return _ID.fullmatch(name) is not None


def new_attempt_id(runs: Path, experiment: str, backend: str, plan_digest: str, at: datetime) -> str:
    """First free id at ``at`` (aware) or the seconds after it; open and sealed attempts both occupy theirs.

    Raises
    ------
    InputError
        The backend's name or the digest cannot stand in an id.
    """
    moment = at.astimezone(UTC)
    while True:
        attempt_id = f"{moment.strftime(_ID_TIME)}-{backend}-{plan_digest[:6]}"
        if not is_attempt_id(attempt_id):
            raise InputError(f"{attempt_id!r} cannot be an attempt's id", remedy="name the backend in lower case")
        taken = (
            attempt_dir(runs, experiment, attempt_id),
            open_dir(runs, experiment, attempt_id),
            notes_file(attempt_dir(runs, experiment, attempt_id)),
        )
        if not any(path.exists() for path in taken):
            return attempt_id
        moment += timedelta(seconds=1)


def find_attempt(runs: Path, attempt_id: str) -> Path:
    """Folder of the attempt named ``attempt_id``, of whichever experiment; the sealed one where both exist.

    Raises
    ------
    InputError
        There is none.
    """
    if is_attempt_id(attempt_id) and runs.is_dir():
        for experiment in sorted(path.name for path in runs.iterdir() if path.is_dir()):
            for folder in (attempt_dir(runs, experiment, attempt_id), open_dir(runs, experiment, attempt_id)):
                if folder.is_dir():
                    return folder
    raise InputError(f"no attempt named {attempt_id!r}", where=str(runs), remedy="see `reportgen attempts`")
