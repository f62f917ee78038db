"""Everything that pages speak of, read once: attempts, records with their results, declared experiments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec

from reportgen.archive import layout
from reportgen.archive.load import Attempt, read_whole, scan_attempts
from reportgen.archive.rows import with_origin
from reportgen.archive.select import Record, records
from reportgen.archive.sums import files_under, sha256_of
from reportgen.errors import InputError, ReportgenError
from reportgen.model.experiment import Experiment
from reportgen.model.record import Kind
from reportgen.model.result import Result
from reportgen.project import Project, experiment_folders, read_experiment
from reportgen.publish import chart_files, counter_tables, downloads, drawing, lookup, preview, reading
from reportgen.publish.cache import Cache, digest
from reportgen.publish.drawing import AnyChart
from reportgen.publish.library import Library
from reportgen.publish.problems import Problem
from reportgen.publish.stamp import libraries_digest, tree_digest
from reportgen.publish.view import AttemptView, FileFact, RecordView
from reportgen.scoring import score, score_attempts, stage_records, stages_of

ARCHIVE = "runs/"


@dataclass(frozen=True)
class Drawing:
    """A chart by the id it has on a page: as inline SVG, and what it shows as CSV, where that is a table."""

    anchor: str
    svg: str
    numbers: bytes | None


class Drawer:
    """Draws charts, each once; ``asked`` lists those that pages asked for, ``drawn`` and ``numbers`` hold them by anchor."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._code = code_digest()
        self._known: dict[str, Drawing] = {}
        self.asked: list[Drawing] = []

    def __call__(self, chart: AnyChart) -> str:
        """Return a chart's inline SVG."""
        key = digest([self._code, msgspec.json.encode(chart)])
        if key not in self._known:
            svg = self._cache.text("charts", key, lambda: drawing.draw(chart))
            self._known[key] = Drawing(chart.anchor, svg, chart_files.to_csv(chart))
        self.asked.append(self._known[key])
        return self._known[key].svg

    @property
    def drawn(self) -> dict[str, str]:
        """The SVG of every chart of the site."""
        return {one.anchor: one.svg for one in reversed(self.asked)}

    @property
    def numbers(self) -> dict[str, bytes]:
        """The CSV of every chart that has one."""
        return {one.anchor: one.numbers for one in reversed(self.asked) if one.numbers is not None}


def code_digest() -> str:
    """Hash this program and its libraries: a changed one finds nothing that another has kept."""
    return digest([tree_digest(Path(__file__).resolve().parents[1], pattern="*.py"), libraries_digest()])


class Gathered:
    """What a project holds: ``library`` for pages, ``files`` to publish by address, ``problems`` on the way."""

    def __init__(self, project: Project, cache: Cache) -> None:
        self._cache, self._licence = cache, project.settings.data_licence
        self._code = code_digest()
        self.files: dict[str, Path] = {}
        self.problems: list[Problem] = []
        self.alone: dict[str, RecordView] = {}
        self.drawer = Drawer(cache)
        self._identities: dict[Path, list[str]] = {}
        attempts = self._sound(project)
        formed = records(attempts)
        scored = [(record, result) for record in formed if (result := self._scored(record, formed))]
        views = tuple(self._record(record, result) for record, result in scored)
        taken = {attempt.path for record, _ in scored for attempt in _all_attempts(record)}
        rest = tuple(self._beside([one for one in attempts if one.path not in taken], ""))
        self.library = Library(
            views, rest, self._experiments(project), self.drawer, self.alone, project.site, project.settings
        )

    def preview(self, shown: preview.Picture) -> bytes:
        """Return the picture of a link preview, drawn where no build drew it before."""
        key = digest([self._code, msgspec.json.encode(shown)])
        return self._cache.data("previews", key, lambda: preview.draw(shown))

    def _sound(self, project: Project) -> list[Attempt]:
        """Take the attempts that can be read whole; each of the others is a problem, and stops none."""
        found, faults = scan_attempts(project.runs)
        for fault in faults:
            self.problems.append(Problem(fault.where.replace(f"{project.root}/", ""), _unplaced(fault)))
        sound = []
        for attempt in found:
            key = digest([self._code, *self._identity(attempt)])
            said = self._cache.text("sound", key, partial(_damage, attempt))
            if said:
                self.problems.append(Problem(_place(attempt), said))
            else:
                sound.append(attempt)
        return sound

    def _scored(self, record: Record, formed: Sequence[Record]) -> Result | None:
        """Compute what a record says; one whose rows refuse is a problem, and its attempts are listed by themselves."""
        read = [
            *_all_attempts(record),
            *(one for stage in stage_records(record.plan, formed) for one in stage.attempts),
        ]
        key = digest([self._code, *(part for one in read for part in self._identity(one))])
        try:
            return self._cache.struct("results", key, Result, lambda: score(record, stages_of(record.plan, formed)))
        except ReportgenError as fault:
            self.problems.append(Problem(f"record {record.name}@{record.slug}", fault.one_line()))
            return None

    def _identity(self, attempt: Attempt) -> list[str]:
        """Everything that an attempt's pages come from, as hashes: its folder's files and its notes, read once a build."""
        known = self._identities.get(attempt.path)
        if known is None:
            notes = layout.notes_file(attempt.path)
            known = [attempt.path.name, tree_digest(attempt.path), sha256_of(notes) if notes.is_file() else ""]
            self._identities[attempt.path] = known
        return known

    def _experiments(self, project: Project) -> dict[str, Experiment]:
        declared = {}
        for name, folder in experiment_folders(project).items():
            try:
                declared[name] = read_experiment(folder)
            except InputError as fault:
                self.problems.append(Problem(folder.toml.relative_to(project.root).as_posix(), fault.what))
        return declared

    def _attempt(self, attempt: Attempt, address: str, published: str) -> AttemptView:
        key = digest([self._code, address, published, *self._identity(attempt)])
        view = self._cache.struct("attempts", key, AttemptView, lambda: reading.view(attempt, address, published))
        self.problems += [Problem(_place(attempt), damage) for damage in view.damage]
        return view

    def _record(self, record: Record, result: Result) -> RecordView:
        address = f"records/{lookup.slug(record.name)}/{record.slug}/"
        key = digest([self._code, *(part for one in _all_attempts(record) for part in self._identity(one))])
        return RecordView(
            experiment=record.name,
            slug=record.slug,
            address=address,
            current=record.current,
            plan=record.plan,
            result=result,
            attempts=[
                self._attempt(one, f"{address}attempts/{one.id}/", f"{address}{one.id}/") for one in record.attempts
            ],
            replications=self._beside(record.replications, address),
            others=self._beside(record.others, address),
            downloads=self._downloads(record, result, address, digest([key, msgspec.json.encode(result.stages)])),
        )

    def _beside(self, attempts: Iterable[Attempt], address: str) -> list[AttemptView]:
        """Take attempts that no record speaks through: their files are published as they lie in the archive."""
        views = []
        for attempt in attempts:
            published = f"{ARCHIVE}{attempt.manifest.experiment}/{attempt.path.name}/"
            view = self._attempt(attempt, f"{address}attempts/{attempt.id}/", published)
            self.files.update({published + file.path: attempt.path / file.path for file in view.files})
            self._count(attempt, view)
            self._score_alone(attempt, view)
            views.append(view)
        return views

    def _count(self, attempt: Attempt, view: AttemptView) -> None:
        """Write what a profiler counted as CSV, beside the attempt's page."""
        if view.counters:
            key = digest([self._code, *self._identity(attempt)])
            folder = self._cache.folder("counters", key, partial(_write_counters, attempt))
            self.files[view.address + counter_tables.CSV] = folder / counter_tables.CSV

    def _score_alone(self, attempt: Attempt, view: AttemptView) -> None:
        """Compute what a timing attempt would say by itself, where its rows allow it."""
        if attempt.manifest.kind is not Kind.TIMING or not attempt.manifest.counts.batches:
            return
        key = digest([self._code, *self._identity(attempt)])
        try:
            result = self._cache.struct("alone", key, Result, lambda: score_attempts(attempt.plan, [attempt]))
        except ReportgenError:
            return  # Rows that are no whole matrix of the plan are listed, and say nothing.
        self.alone[view.address] = RecordView(
            experiment=attempt.manifest.experiment,
            slug=attempt.manifest.plan[:6],
            address=view.address,
            current=False,
            plan=attempt.plan,
            result=result,
            attempts=[view],
            replications=[],
        )

    def _downloads(self, record: Record, result: Result, address: str, key: str) -> list[FileFact]:
        licence = self._licence
        key = digest([key, licence])
        folder = self._cache.folder(
            "downloads", key, lambda draft: downloads.write_record(record, result, draft, licence=licence)
        )
        names = files_under(folder)
        self.files.update({address + name: folder / name for name in names})
        return self._cache.struct("sums", key, list[FileFact], lambda: [_fact(folder, name) for name in names])


def _write_counters(attempt: Attempt, folder: Path) -> None:
    table = with_origin("counters", [(attempt.manifest.device.id, attempt.id, attempt.counters)])
    (folder / counter_tables.CSV).write_bytes(downloads.to_csv(table))


def _place(attempt: Attempt) -> str:
    return f"runs/{attempt.manifest.experiment}/{attempt.path.name}"


def _damage(attempt: Attempt) -> str:
    """Say why an attempt cannot be read whole, its files by their names in it; empty where it can."""
    try:
        read_whole(attempt)
    except ReportgenError as fault:
        return fault.one_line().replace(f"{attempt.path}/", "")
    return ""


def _unplaced(fault: ReportgenError) -> str:
    """Say a fault without its place."""
    return fault.one_line().removeprefix(f"{fault.where}: ")


def _fact(folder: Path, name: str) -> FileFact:
    path = folder / name
    return FileFact(name, path.stat().st_size, sha256_of(path))


def _all_attempts(record: Record) -> list[Attempt]:
    return [*record.attempts, *record.replications, *record.others]
