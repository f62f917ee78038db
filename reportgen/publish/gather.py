"""Everything that pages speak of, taken up once: attempts, records with their results, declared experiments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from reportgen.archive.load import Attempt
from reportgen.archive.select import Record, records
from reportgen.errors import InputError, ReportgenError
from reportgen.model.experiment import Experiment
from reportgen.model.result import Result
from reportgen.project import Project, experiment_folders, read_experiment
from reportgen.publish import chart_files, counter_tables, drawing
from reportgen.publish.by_themselves import ByThemselves
from reportgen.publish.cache import Cache
from reportgen.publish.crew import Crew
from reportgen.publish.drawing import AnyChart
from reportgen.publish.entries import (
    Entries,
    Placed,
    address_of,
    all_attempts,
    beside,
    missing,
    spoken_by,
)
from reportgen.publish.hashes import digest
from reportgen.publish.library import Holdings, Library
from reportgen.publish.problems import Problem
from reportgen.publish.shelf import Drawing
from reportgen.publish.view import AttemptView, FileFact, RecordView


class Drawer:
    """Draws charts, each once; ``asked`` lists those that were asked for."""

    def __init__(self, cache: Cache, code: str) -> None:
        self._cache, self._code = cache, code
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


class Gathered:
    """What a project holds: ``library`` for pages, ``files`` to publish by address, ``problems`` on the way.

    ``entries`` are what was computed; ``known`` holds by address what is known of files that this program wrote into its cache.
    """

    def __init__(self, project: Project, cache: Cache, crew: Crew | None = None) -> None:
        self.entries = Entries(project, cache)
        self.files: dict[str, Path] = {}
        self.known: dict[str, FileFact] = {}
        self.problems: list[Problem] = []
        self.alone = ByThemselves(self.entries.alone)
        self.drawer = Drawer(cache, self.entries.code)
        attempts = self._sound(project, crew or Crew())
        formed = records(attempts)
        scored = [(record, result) for record in formed if (result := self._scored(record, formed))]
        views = tuple(self._record(record, result) for record, result in scored)
        taken = {attempt.path for record, _ in scored for attempt in all_attempts(record)}
        rest = tuple(self._beside(beside([one for one in attempts if one.path not in taken], "")))
        self.library = Library(
            Holdings(views, rest, self._experiments(project), self.drawer, self.alone, project, project.site)
        )

    def _sound(self, project: Project, crew: Crew) -> list[Attempt]:
        """Take the attempts that can be read whole; each of the others is a problem, and stops none."""
        found, faults = self.entries.scan()
        crew.share(missing(self.entries, found))
        for fault in faults:
            self.problems.append(Problem(fault.where.replace(f"{project.root}/", ""), _unplaced(fault)))
        sound = []
        for attempt in found:
            said = self.entries.damage(attempt)
            if said:
                self.problems.append(Problem(_place(attempt), said))
            else:
                sound.append(attempt)
        return sound

    def _scored(self, record: Record, formed: Sequence[Record]) -> Result | None:
        """Compute what a record says; one whose rows refuse is a problem, and its attempts are listed by themselves."""
        try:
            return self.entries.result(record, formed)
        except ReportgenError as fault:
            self.problems.append(Problem(f"record {record.name}@{record.slug}", fault.one_line()))
            return None

    def _experiments(self, project: Project) -> dict[str, Experiment]:
        declared = {}
        for name, folder in experiment_folders(project).items():
            try:
                declared[name] = read_experiment(folder)
            except InputError as fault:
                self.problems.append(Problem(folder.toml.relative_to(project.root).as_posix(), fault.what))
        return declared

    def _attempt(self, placed: Placed) -> AttemptView:
        view = self.entries.view(placed)
        self.problems += [Problem(_place(placed.attempt), damage) for damage in view.damage]
        return view

    def _record(self, record: Record, result: Result) -> RecordView:
        address = address_of(record)
        spoken = list(map(self._attempt, spoken_by(record)))
        replications, others = beside(record.replications, address), beside(record.others, address)
        found = self.entries.downloads(record, result)
        self.files.update({address + file.path: found.folder / file.path for file in found.files})
        self.known.update({address + file.path: file for file in found.files})
        return RecordView(
            experiment=record.name,
            slug=record.slug,
            address=address,
            current=record.current,
            plan=record.plan,
            result=result,
            attempts=spoken,
            replications=self._beside(replications),
            others=self._beside(others),
            downloads=found.files,
        )

    def _beside(self, attempts: Iterable[Placed]) -> list[AttemptView]:
        """Take attempts that no record speaks through, with their files."""
        views = []
        for placed in attempts:
            view = self._attempt(placed)
            self.files.update({placed.published + file.path: placed.attempt.path / file.path for file in view.files})
            if view.counters:
                self.files[view.address + counter_tables.CSV] = (
                    self.entries.counters(placed.attempt) / counter_tables.CSV
                )
            self.alone.add(placed.attempt, view)
            views.append(view)
        return views


def _place(attempt: Attempt) -> str:
    return f"runs/{attempt.manifest.experiment}/{attempt.path.name}"


def _unplaced(fault: ReportgenError) -> str:
    """Say a fault without its place."""
    return fault.one_line().removeprefix(f"{fault.where}: ")
