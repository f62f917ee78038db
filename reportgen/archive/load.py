"""Attempts as values: sealed or open, whole or interrupted, their tables read when first asked for.

An archive holds far more rows than memory should: tables of the last few attempts are kept, and those of others read again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from operator import attrgetter
from pathlib import Path
from typing import TypeVar

import msgspec
import pandas as pd
import pyarrow as pa

from reportgen.archive import layout
from reportgen.archive.counting import count, facts_of, left_out_entry, refusals
from reportgen.archive.encoding import UNREADABLE, damaged, decode_json, decode_toml, read_bytes
from reportgen.archive.imported_rows import read_imported
from reportgen.archive.journal import JournalContents, decode_event, read_journal
from reportgen.archive.lines import read_finished
from reportgen.archive.notes import EXCLUSION, read_notes
from reportgen.archive.rows import read_table, to_frame, to_table
from reportgen.archive.sums import read_sums
from reportgen.errors import InputError, RecordError, ReportgenError
from reportgen.model import plan as plan_model
from reportgen.model.code import CodeFacts
from reportgen.model.imported import Benchmark
from reportgen.model.plan import Plan
from reportgen.model.record import SCHEMA_VERSION, Event, Manifest, Note, Repetition, RepetitionFacts, Status

T = TypeVar("T")
_TABLES_KEPT = (
    16  # batches and checks of eight attempts, as many as one host has devices; the largest archived so far take 30 MB
)
_FACTS_KEPT = 4
_PLANS_KEPT = 64


class _Said(msgspec.Struct):
    """What the experiment said of a fixture, as far as it is read back."""

    bytes: int


_FILES = {"batches": layout.BATCHES, "checks": layout.CHECKS}


@dataclass(frozen=True, eq=False)
class Attempt:
    """One attempt of the archive. ``batches`` and ``checks`` have the columns of ``model.columns``.

    ``status`` and ``reason`` heed the notes; ``manifest.status`` is what was sealed. Reading a table raises
    ``RecordError`` where its file is damaged, ``SchemaVersionError`` where another version wrote it.
    """

    path: Path
    sealed: bool
    manifest: Manifest
    plan: Plan
    events: tuple[Event, ...]
    notes: tuple[Note, ...]

    @property
    def id(self) -> str:
        """Name of the attempt."""
        return self.manifest.id

    @property
    def exclusion(self) -> Note | None:
        """First note that excludes the attempt."""
        return next((note for note in self.notes if note.kind == EXCLUSION), None)

    @property
    def status(self) -> Status:
        """``excluded`` where a note says so, else as sealed."""
        return self.manifest.status if self.exclusion is None else Status.EXCLUDED

    @property
    def reason(self) -> str:
        """Why the status is not ``scored``; empty where it is."""
        return self.manifest.reason if self.exclusion is None else self.exclusion.text

    @property
    def batches(self) -> pd.DataFrame:
        """Timing batches, warm-up included, in the order of measuring within a repetition."""
        return _frame(self, "batches")

    @property
    def checks(self) -> pd.DataFrame:
        """Checks of outputs and inputs."""
        return _frame(self, "checks")

    @property
    def repetitions(self) -> tuple[RepetitionFacts, ...]:
        """What each process drew and saw."""
        return _repetitions(self)

    @cached_property
    def imported(self) -> tuple[tuple[int, Benchmark], ...]:
        """Benchmarks of another harness, each with the number of its source in the manifest; empty where it was measured here."""
        return () if self.manifest.imported is None else read_imported(self.path)

    @cached_property
    def moved_bytes(self) -> dict[str, int]:
        """Bytes that one launch must move at least, by fixture, as the experiment counted them; empty where it was not asked.

        Raises
        ------
        RecordError
            The file that tells is damaged.
        """
        said = self._artifact(layout.FIXTURES, dict[str, _Said]) or {}
        return {name: one.bytes for name, one in said.items()}

    @cached_property
    def code(self) -> dict[str, CodeFacts]:
        """What was counted in the machine code of every arm when it was built; empty where nothing was.

        Raises
        ------
        RecordError
            The file that tells is damaged.
        """
        return self._artifact(layout.CODE, dict[str, CodeFacts]) or {}

    @cached_property
    def counters(self) -> pd.DataFrame:
        """What a profiler counted, a row a kernel of a counted launch; without rows in an attempt of another kind."""
        path = self.counters_file
        return _no_counters() if path is None else to_frame("counters", read_table("counters", path))

    @property
    def counters_file(self) -> Path | None:
        """File of what a profiler counted, where one did."""
        path = layout.artifacts_dir(self.path) / layout.COUNTERS
        return path if path.exists() else None

    @cached_property
    def _measured(self) -> list[Repetition]:
        """Whole repetitions of an open attempt, in order."""
        return sorted(read_journal(self.path).repetitions, key=attrgetter("repetition"))

    def _artifact(self, name: str, kind: type[T]) -> T | None:
        path = layout.artifacts_dir(self.path) / name
        if not path.exists():
            return None
        try:
            return msgspec.json.decode(read_bytes(path), type=kind)
        except UNREADABLE as fault:
            raise damaged(str(path), fault) from fault

    def table(self, name: str) -> pa.Table:
        """Read table ``batches`` or ``checks``; it is not kept."""
        if self.sealed:
            return read_table(name, self.path / _FILES[name])
        return to_table(name, [row for one in self._measured for row in getattr(one, name)])

    def facts(self) -> tuple[RepetitionFacts, ...]:
        """Read ``repetitions``; they are not kept."""
        if self.sealed:
            return read_finished(self.path / layout.REPETITIONS, _decode_facts)
        return tuple(map(facts_of, self._measured))


@lru_cache(maxsize=_TABLES_KEPT)
def _frame(attempt: Attempt, name: str) -> pd.DataFrame:
    return to_frame(name, attempt.table(name))


@lru_cache(maxsize=_FACTS_KEPT)
def _repetitions(attempt: Attempt) -> tuple[RepetitionFacts, ...]:
    return attempt.facts()


@lru_cache(maxsize=1)
def _no_counters() -> pd.DataFrame:
    return to_frame("counters", to_table("counters", []))


def load_attempt(path: Path) -> Attempt:
    """Load the attempt in folder ``path``; an open one reads as ``aborted`` with its whole repetitions.

    Raises
    ------
    InputError
        There is no such folder.
    RecordError
        A file is missing or damaged; it is named.
    SchemaVersionError
        A file was written by a newer or older version; it is named.
    """
    if not path.is_dir():
        raise InputError("no such attempt", where=str(path), remedy="see `reportgen attempts`")
    return _load_open(path) if layout.is_open(path) else _load_sealed(path)


def list_attempts(runs: Path, experiment: str | None = None) -> list[Attempt]:
    """Every attempt under ``runs``, by experiment and id. Of an attempt both sealed and open the sealed one counts.

    Raises
    ------
    RecordError
        An attempt is damaged.
    SchemaVersionError
        An attempt was written by a newer or older version.
    """
    found, faults = scan_attempts(runs, experiment)
    if faults:
        raise faults[0]
    return found


def scan_attempts(runs: Path, experiment: str | None = None) -> tuple[list[Attempt], list[ReportgenError]]:
    """As :func:`list_attempts`, yet a damaged attempt hides no other: what could be read, and why the rest could not."""
    found, faults = [], []
    folders = [runs / experiment] if experiment is not None else sorted(runs.iterdir()) if runs.is_dir() else []
    for path in (path for folder in folders if folder.is_dir() for path in attempt_folders(folder)):
        try:
            found.append(load_attempt(path))
        except ReportgenError as fault:
            faults.append(fault)
    return found, faults


def sound_attempts(runs: Path, experiment: str | None = None) -> tuple[list[Attempt], list[ReportgenError]]:
    """As :func:`scan_attempts`, with every table read: whatever is given can be scored or shown."""
    found, faults = scan_attempts(runs, experiment)
    sound = []
    for attempt in found:
        try:
            read_whole(attempt)
        except ReportgenError as fault:
            faults.append(fault)
        else:
            sound.append(attempt)
    return sound, faults


def read_whole(attempt: Attempt) -> None:
    """Read everything of an attempt that is otherwise read when first asked for, and keep nothing of it.

    Raises
    ------
    RecordError
        A table, the repetitions or the list of sums is missing or damaged; it is named.
    SchemaVersionError
        One of them was written by a newer or older version.
    """
    passing = replace(attempt)  # what this one keeps goes with it
    for name in _FILES:
        passing.table(name)
    passing.facts()
    if passing.counters_file is not None:
        read_table("counters", passing.counters_file)
    _ = passing.imported
    if attempt.sealed:
        read_sums(attempt.path)


def attempt_folders(folder: Path) -> list[Path]:
    """Folders of attempts in the experiment's ``folder`` of the archive, sorted by id."""
    found = {path.name: path for path in folder.iterdir() if path.is_dir()}
    return [
        found[name]
        for name in sorted(found)
        if layout.is_attempt_id(layout.attempt_id_of(found[name]))
        and not (layout.is_open(found[name]) and layout.attempt_id_of(found[name]) in found)
    ]


def aborted_manifest(contents: JournalContents, reason: str = "") -> Manifest:
    """Manifest of an attempt that ended early, out of what its journal holds."""
    header = contents.header
    counts = count(contents.repetitions)
    others = "".join(f", {number} of {name}" for name, number in counts.series.items())
    done = f"interrupted after {counts.repetitions} of {header.repetitions_planned} repetitions{others}"
    return Manifest(
        schema_version=SCHEMA_VERSION,
        id=header.id,
        experiment=header.experiment,
        kind=header.kind,
        status=Status.ABORTED,
        reason=reason or done,
        backend=header.backend,
        plan=header.plan,
        provenance=header.provenance,
        device=header.device,
        started_at=header.started_at,
        ended_at=contents.events[-1].at if contents.events else header.started_at,
        repetitions_planned=header.repetitions_planned,
        counts=counts,
        failed_arms=sorted({row["arm"] for one in contents.repetitions for row in one.checks if not row["passed"]}),
        left_out=[left_out_entry(one) for one in contents.repetitions if one.left_out],
        refused=refusals(contents.repetitions),
        binaries=header.binaries,
        binaries_digest=header.binaries_digest,
        hashes=header.hashes,
        versions=header.versions,
        environment=header.environment,
        reportgen=header.reportgen,
        sanitizer=header.sanitizer,
        profile=header.profile,
    )


def _load_open(path: Path) -> Attempt:
    contents = read_journal(path)
    _check_id(contents.header.id, path, path / layout.HEADER)
    notes = read_notes(path)
    return Attempt(
        path=path,
        sealed=False,
        manifest=aborted_manifest(contents),
        plan=contents.plan,
        events=contents.events,
        notes=notes,
    )


def _load_sealed(path: Path) -> Attempt:
    manifest_file, plan_file = path / layout.MANIFEST, path / layout.PLAN
    manifest = decode_json(read_bytes(manifest_file), Manifest, SCHEMA_VERSION, str(manifest_file))
    plan = _plan(read_bytes(plan_file), str(plan_file))
    _check_id(manifest.id, path, manifest_file)
    events = read_finished(path / layout.EVENTS, decode_event)
    return Attempt(path=path, sealed=True, manifest=manifest, plan=plan, events=events, notes=read_notes(path))


def _plan(data: bytes, where: str) -> Plan:
    try:
        return _shared_plan(data)
    except ReportgenError:
        return decode_toml(data, Plan, plan_model.SCHEMA_VERSION, where)  # which names the file


@lru_cache(maxsize=_PLANS_KEPT)
def _shared_plan(data: bytes) -> Plan:
    """Read a plan once for all attempts that hold the same text: it is never changed."""
    return decode_toml(data, Plan, plan_model.SCHEMA_VERSION, layout.PLAN)


def _check_id(claimed: str, path: Path, holder: Path) -> None:
    if claimed != layout.attempt_id_of(path):
        raise RecordError(f"belongs to attempt {claimed[:80]!r}", where=str(holder), remedy="name the folder so")


def _decode_facts(line: bytes, where: str) -> RepetitionFacts:
    return decode_json(line, RepetitionFacts, SCHEMA_VERSION, where)
