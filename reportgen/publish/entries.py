"""What is computed of the archive, entry by entry of the cache: each under the hash of the files that it comes from, of the program, and of what else it depends on.

A build first makes the entries that are missing, in any order and by several processes (:func:`missing`), then takes them up one by one
(:mod:`reportgen.publish.gather`). An entry that could not be made is tried again there, where what stops it is said.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from reportgen.archive.load import Attempt, read_whole, scan_attempts
from reportgen.archive.rows import with_origin
from reportgen.archive.select import Record, records
from reportgen.archive.sums import files_under, sha256_of
from reportgen.errors import ReportgenError
from reportgen.model.record import Kind
from reportgen.model.result import Result
from reportgen.project import Project
from reportgen.publish import counter_tables, downloads, lookup, preview, reading
from reportgen.publish.cache import Cache
from reportgen.publish.crew import Job
from reportgen.publish.hashes import digest
from reportgen.publish.identities import SOUND, bytes_of, folders_of_attempts, identity_of, sound_key
from reportgen.publish.stamp import code_digest
from reportgen.publish.view import AttemptView, FileFact
from reportgen.scoring import score, score_attempts, stage_records, stages_of

ARCHIVE = "runs/"


class Placed(NamedTuple):
    """An attempt with the address of its page and of its files on the site."""

    attempt: Attempt
    address: str
    published: str


@dataclass(frozen=True)
class Downloads:
    """The folder that holds a record's files, and the facts of each."""

    folder: Path
    files: list[FileFact]


class Entries:
    """Finds entries in the cache, or makes them; ``code`` is a hash of this program."""

    def __init__(self, project: Project, cache: Cache) -> None:
        self._project, self._cache, self._licence = project, cache, project.settings.data_licence
        self.code = code_digest(cache.hashes)
        self._identities: dict[Path, list[str]] = {}

    def scan(self) -> tuple[list[Attempt], list[ReportgenError]]:
        """Load every attempt, and give why others cannot be.

        Each is known by what its files held before it was loaded: what came since makes another entry, and is never kept under the name of the older.
        """
        for folder in folders_of_attempts(self._project.runs):
            self._identities[folder] = identity_of(self._cache.hashes, folder)
        return scan_attempts(self._project.runs)

    def _key(self, attempts: Iterable[Attempt], *others: str) -> str:
        return digest([self.code, *others, *(part for one in attempts for part in self._identity(one))])

    def _identity(self, attempt: Attempt) -> list[str]:
        if attempt.path not in self._identities:
            self._identities[attempt.path] = identity_of(self._cache.hashes, attempt.path)
        return self._identities[attempt.path]

    def damage(self, attempt: Attempt) -> str:
        """Say why an attempt cannot be read whole, its files by their names in it; empty where it can."""
        return self._cache.text(SOUND, sound_key(self.code, self._identity(attempt)), partial(_damage, attempt))

    def view(self, placed: Placed) -> AttemptView:
        """Take what the pages of an attempt show."""
        key = self._key([placed.attempt], placed.address, placed.published)
        return self._cache.struct("attempts", key, AttemptView, lambda: reading.view(*placed))

    def result(self, record: Record, formed: Sequence[Record]) -> Result:
        """Compute what a record says; ``formed`` are those that its gates may rest on. Raises as :func:`reportgen.scoring.score`."""
        stages = (one for stage in stage_records(record.plan, formed) for one in stage.attempts)
        key = self._key([*all_attempts(record), *stages])
        return self._cache.struct("results", key, Result, lambda: score(record, stages_of(record.plan, formed)))

    def alone(self, attempt: Attempt) -> Result | None:
        """Compute what a timing attempt would say by itself; nothing where its rows are no whole matrix of the plan."""
        if attempt.manifest.kind is not Kind.TIMING or not attempt.manifest.counts.batches:
            return None
        return self._cache.struct("alone", self._key([attempt]), Result | None, lambda: _alone(attempt))

    def counters(self, attempt: Attempt) -> Path:
        """Write what a profiler counted as CSV; give its folder."""
        return self._cache.folder("counters", self._key([attempt]), partial(_write_counters, attempt))

    def downloads(self, record: Record, result: Result) -> Downloads:
        """Write everything that a reader takes home of a record."""
        licence = self._licence
        key = self._key(all_attempts(record), licence, msgspec.json.encode(result.stages).decode())
        told: list[FileFact] = []

        def write(draft: Path) -> None:
            written = downloads.write_record(record, result, draft, licence=licence)
            told.extend(FileFact(one.path, one.length_bytes, one.sha256) for one in written)

        folder = self._cache.folder("downloads", key, write)
        files = self._cache.struct(
            "sums", key, list[FileFact], lambda: told or [_fact(folder, name) for name in files_under(folder)]
        )
        return Downloads(folder, files)

    def preview(self, shown: preview.Picture) -> bytes:
        """Return the picture of a link preview."""
        key = digest([self.code, msgspec.json.encode(shown)])
        return self._cache.data("previews", key, lambda: preview.draw(shown))


def missing(entries: Entries, attempts: Sequence[Attempt]) -> list[Job]:
    """List what there is to compute, as if every attempt could be read; what there is already takes no time."""
    formed = records(attempts)
    spoken = {one.path for record in formed for one in record.attempts}
    addressed = [placed for record in formed for placed in beside_of(record)]
    known = spoken | {placed.attempt.path for placed in addressed}
    addressed += beside([one for one in attempts if one.path not in known], "")
    jobs = [
        Job(
            f"record {one.name}@{one.slug}",
            sum(bytes_of(each.path) for each in one.attempts),
            partial(_record, entries, one, formed),
        )
        for one in formed
    ]
    return jobs + [
        Job(f"attempt {one.attempt.path}", bytes_of(one.attempt.path), partial(_attempt, entries, one))
        for one in addressed
    ]


def _record(entries: Entries, record: Record, formed: Sequence[Record]) -> None:
    # Of a copy: what is read of it for one entry serves the next, and goes with it.
    own, others = _apart(record), [_apart(one) for one in formed]
    damaged = [entries.damage(one) for one in own.attempts]
    if not any(damaged):
        result = entries.result(own, others)
        entries.downloads(own, result)
    for placed in spoken_by(own):
        entries.view(placed)


def _attempt(entries: Entries, placed: Placed) -> None:
    own = placed._replace(attempt=replace(placed.attempt))
    if not entries.damage(own.attempt):
        view = entries.view(own)
        entries.alone(own.attempt)
        if view.counters:
            entries.counters(own.attempt)


def _apart(record: Record) -> Record:
    return replace(record, attempts=tuple(map(replace, record.attempts)))


def address_of(record: Record) -> str:
    """Give the address of a record's page."""
    return f"records/{lookup.slug(record.name)}/{record.slug}/"


def spoken_by(record: Record) -> Iterator[Placed]:
    """Place the attempts that a record speaks through."""
    address = address_of(record)
    return (Placed(one, f"{address}attempts/{one.id}/", f"{address}{one.id}/") for one in record.attempts)


def beside_of(record: Record) -> Iterator[Placed]:
    """Place the other attempts of a record."""
    return beside([*record.replications, *record.others], address_of(record))


def beside(attempts: Iterable[Attempt], address: str) -> Iterator[Placed]:
    """Place attempts that no record speaks through: their files are published as they lie in the archive."""
    for one in attempts:
        published = f"{ARCHIVE}{one.manifest.experiment}/{one.path.name}/"
        yield Placed(one, f"{address}attempts/{one.id}/", published)


def all_attempts(record: Record) -> list[Attempt]:
    """Every attempt of a record."""
    return [*record.attempts, *record.replications, *record.others]


def _alone(attempt: Attempt) -> Result | None:
    with contextlib.suppress(ReportgenError):
        return score_attempts(attempt.plan, [attempt])
    return None


def _write_counters(attempt: Attempt, folder: Path) -> None:
    table = with_origin("counters", [(attempt.manifest.device.id, attempt.id, attempt.counters)])
    (folder / counter_tables.CSV).write_bytes(downloads.to_csv(table))


def _damage(attempt: Attempt) -> str:
    try:
        read_whole(attempt)
    except ReportgenError as fault:
        return fault.one_line().replace(f"{attempt.path}/", "")
    return ""


def _fact(folder: Path, name: str) -> FileFact:
    path = folder / name
    return FileFact(name, path.stat().st_size, sha256_of(path))
