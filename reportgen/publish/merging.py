"""``reportgen merge``: attempts of one plan and equal binaries, measured on other hosts, join this lab's archive."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from reportgen.archive import layout
from reportgen.archive.adopt import adopt, adopt_notes
from reportgen.archive.encoding import decode_json, read_bytes
from reportgen.archive.load import Attempt, load_attempt, scan_attempts
from reportgen.errors import InputError, ReportgenError
from reportgen.model.record import SCHEMA_VERSION, Manifest
from reportgen.publish.attempt_checks import attempt_findings
from reportgen.publish.unpacking import unpack

MERGED, PRESENT, REFUSED = "merged", "present", "refused"
_DEEPEST = 3
_SHOWN = 16


@dataclass(frozen=True)
class Merged:
    """What became of one attempt: ``merged``, ``present`` (it was here already, byte for byte) or ``refused`` with the ``reason``.

    ``field`` is the one that differs, where one does.
    """

    attempt: str
    experiment: str
    device: str
    outcome: str
    reason: str = ""
    field: str = ""


def merge(runs: Path, paths: Sequence[Path]) -> list[Merged]:
    """Take in every attempt that ``paths`` hold: folders of attempts, folders of such folders (two levels deep), or zips of either.

    Each is verified by itself. Those of one experiment must be alike in backend, plan and code of every arm: among each other, and with the
    attempts of the same plan that are here. The measure is the earliest attempt of that plan here, else the earliest given. Hosts,
    users and paths are never compared. A refused attempt stops no other.

    Raises
    ------
    InputError
        A path is not there, is no zip, or holds no attempt.
    """
    with ExitStack() as stack:
        folders = [folder for path in paths for folder in _attempts_in(path, stack)]
        return list(_taken(runs, folders))


def _attempts_in(path: Path, stack: ExitStack) -> list[Path]:
    root = path
    damaged: list[str] = []
    if path.is_file():
        root = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "zip"
        root.mkdir()
        damaged = unpack(path, root)
    elif not path.is_dir():
        raise InputError("no such file or folder", where=str(path))
    if damaged:
        raise InputError(damaged[0], where=str(path), remedy="fetch it again")
    found = sorted(_search(root.resolve(), 0), key=lambda folder: folder.name)
    if not found:
        raise InputError("holds no attempt", where=str(path), remedy="name an attempt, or a folder or zip of attempts")
    return found


def _search(folder: Path, depth: int) -> Iterator[Path]:
    """Yield the folders of attempts; one that is not named by its id (as in a zip of its files alone) is named so, if it is ours to name."""
    if layout.is_attempt_id(layout.attempt_id_of(folder)):
        yield folder
    elif folder.name == "zip" and (folder / layout.MANIFEST).is_file():
        manifest = decode_json(read_bytes(folder / layout.MANIFEST), Manifest, SCHEMA_VERSION, layout.MANIFEST)
        if not layout.is_attempt_id(manifest.id):
            raise InputError(f"{manifest.id[:80]!r} is no attempt's id", where=layout.MANIFEST)
        yield folder.rename(folder.with_name(manifest.id))
    elif depth < _DEEPEST:
        for inner in folder.iterdir():
            if inner.is_dir() and not inner.is_symlink() and not inner.name.startswith("."):
                yield from _search(inner, depth + 1)


def _taken(runs: Path, folders: Sequence[Path]) -> Iterator[Merged]:
    sound: list[Attempt] = []
    for folder in folders:
        reason = _unsound(folder)
        if reason:
            yield Merged(layout.attempt_id_of(folder), "", "", REFUSED, reason)
        else:
            sound.append(load_attempt(folder))
    sound.sort(key=lambda one: (one.manifest.started_at, one.id))
    measures: dict[str, Attempt] = {}
    for attempt in sound:
        name = attempt.manifest.experiment
        if name not in measures:
            measures[name] = _measure_here(runs, attempt) or attempt
        yield _take(runs, attempt, measures[name])


def _unsound(folder: Path) -> str:
    if layout.is_open(folder):
        return "it is open: complete it where it was begun, then merge it"
    findings = attempt_findings(folder)
    return findings[0].replace(f"{folder}/", "") if findings else ""


def _measure_here(runs: Path, attempt: Attempt) -> Attempt | None:
    """Find the earliest attempt of the same plan in the archive."""
    here, _ = scan_attempts(runs, attempt.manifest.experiment)
    same = [one for one in here if one.manifest.plan == attempt.manifest.plan]
    return min(same, key=lambda one: (one.manifest.started_at, one.id), default=None)


def _take(runs: Path, attempt: Attempt, measure: Attempt) -> Merged:
    manifest = attempt.manifest
    told: dict[str, Any] = {"attempt": attempt.id, "experiment": manifest.experiment, "device": manifest.device.id}
    field, reason = _difference(attempt, measure)
    if field:
        return Merged(**told, outcome=REFUSED, reason=reason, field=field)
    try:
        outcome, reason = _adopted(runs, attempt)
    except ReportgenError as fault:
        return Merged(**told, outcome=REFUSED, reason=fault.one_line())
    return Merged(**told, outcome=outcome, reason=reason)


def _adopted(runs: Path, attempt: Attempt) -> tuple[str, str]:
    name = attempt.manifest.experiment
    here = layout.attempt_dir(runs, name, attempt.id)
    if here.resolve() == attempt.path.resolve():
        return PRESENT, "it is the one here"
    if not here.is_dir():
        adopt(attempt.path, runs, name)
        return MERGED, ""
    if read_bytes(here / layout.SUMS) != read_bytes(attempt.path / layout.SUMS):
        return (
            REFUSED,
            "an attempt of this id with other bytes is here: one of the two is not what it says, or two hosts chose one id",
        )
    return PRESENT, "its notes were brought up to date" if adopt_notes(attempt.path, here) else ""


def _difference(attempt: Attempt, measure: Attempt) -> tuple[str, str]:
    """Name the first field in which an attempt is unlike the measure, and say how."""
    theirs, ours = _compared(attempt), _compared(measure)
    for field in (*ours, *theirs):
        if theirs.get(field) != ours.get(field):
            return field, (
                f"{field} is {_short(theirs.get(field))}, and {_short(ours.get(field))} in {measure.id}; "
                "it is a record of its own: merge it apart, into a lab of its own"
            )
    return "", ""


def _compared(attempt: Attempt) -> Mapping[str, str]:
    manifest = attempt.manifest
    return {
        "backend": manifest.backend,
        "plan": manifest.plan,
        "plan.toml": msgspec.json.encode(attempt.plan).decode(),
        **{f"code of arm {arm}": sha256 for arm, sha256 in sorted(manifest.binaries.items())},
    }


def _short(value: str | None) -> str:
    return "absent" if value is None else value[:_SHOWN]
