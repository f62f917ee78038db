"""The bindings that show what was imported: never without its harness, what the figure is, and what that harness does not record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from markupsafe import Markup, escape

from reportgen.analysis.imported import centre_of
from reportgen.analysis.imported_comparisons import compare
from reportgen.archive.importers.assembling import labels
from reportgen.errors import InputError
from reportgen.model.imported import Benchmark, Import, ImportedCell, ImportedSource
from reportgen.model.record import Status
from reportgen.publish import imported_tables, sums, wording
from reportgen.publish.context import Table
from reportgen.publish.fixture_bindings import FixtureBindings
from reportgen.publish.imported_words import IMPORTED, amount, direction, rests_on, said_of, shown_name
from reportgen.publish.library import Library
from reportgen.publish.view import AttemptView

KINDS = ("imported", "imported_sources", "imported_benchmarks", "imported_comparisons")
# Imported figures stand by themselves: no unit, so that no sum takes them beside measured ones.
ALONE = ""
_MOST_NAMED = 12

Params = Mapping[str, Any]


class ImportedBindings(FixtureBindings):
    """Figures and tables of imported attempts, for one page."""

    def imported(  # noqa: PLR0913 - each a keyword that a page may say
        self,
        experiment: str,
        benchmark: str,
        arm: str | None = None,
        *,
        vs: str | None = None,
        params: Params | None = None,
        attempt: str | None = None,
    ) -> Markup:
        """Say an imported figure of one benchmark, or with ``vs`` an arm's change against that arm; both with where they come from."""
        view = attempt_of(self._library, experiment, attempt)
        if vs is not None:
            return self._change(view, benchmark, (arm, vs), params or {})
        place, source, one = _benchmark(view, benchmark, arm, params or {})
        middle = centre_of(one)
        if middle.value is None:
            why = one.reason or said_of(one, middle)
            raise InputError(f"{benchmark!r} of {view.manifest.id} is {one.status.value} and has no figure: {why}")
        anchor = imported_tables.benchmark_anchor(place)
        said = said_of(one, middle)
        return self._told(
            view, anchor, (middle.value, amount(middle.value, one)), (_entry(view).sources[source - 1],), said
        )

    def imported_tables(self, kind: str, experiment: str | None, attempt: str | None = None) -> list[Table]:
        """Build the tables of an imported attempt for a page."""
        view = attempt_of(self._library, self._named(experiment), attempt)
        built = imported_tables.by_kind(view, self._root + view.address)
        chosen = [table for name, tables in built.items() if kind in (KINDS[0], name) for table in tables]
        if not chosen:
            raise InputError(f"{view.manifest.id} has nothing for table({kind!r})", remedy="see its attempt's page")
        origin = _origin(_entry(view).sources)
        return [replace(table, lead=" ".join(one for one in (IMPORTED, origin, table.lead) if one)) for table in chosen]

    def _change(self, view: AttemptView, benchmark: str, arms: tuple[str | None, str], params: Params) -> Markup:
        entry = _entry(view)
        for number, found in enumerate(compare(view.imported, entry.told), start=1):
            if (found.arm, found.baseline) != arms:
                continue
            for at, cell in enumerate(found.cells, start=1):
                if cell.fixture == benchmark and _has(cell.params, params):
                    return self._ratio(view, imported_tables.cell_anchor(number, at), cell)
        known = [f"{one.arm!r} against {one.baseline!r}" for one in compare(view.imported, entry.told)]
        raise InputError(
            f"{view.manifest.id} does not compare {arms[0]!r} with {arms[1]!r} on {benchmark!r}",
            remedy=f"it compares {wording.names(known) if known else 'nothing'}",
        )

    def _ratio(self, view: AttemptView, anchor: str, cell: ImportedCell) -> Markup:
        if cell.ratio is None:
            raise InputError(f"{cell.fixture!r} of {view.manifest.id} has no ratio: {rests_on(cell)}")
        said = f"ratio of {rests_on(cell)}; {cell.lacking}" if cell.lacking else rests_on(cell)
        return self._told(view, anchor, (cell.ratio, direction(cell, plain=False)), _entry(view).sources, said)

    def _told(
        self,
        view: AttemptView,
        anchor: str,
        shown: tuple[float, str],
        sources: Sequence[ImportedSource],
        said: str,
    ) -> Markup:
        value, text = shown
        figure = sums.figure_of(sums.Amount(value, ALONE, text, f"{self._root}{view.address}#{anchor}"))
        return figure + escape(f" (imported, {harnesses(sources)}: {said})")


def attempt_of(library: Library, experiment: str, attempt: str | None) -> AttemptView:
    """Find the imported attempt of an experiment, or the one of that id.

    Raises
    ------
    InputError
        There is none, there are several, or it was excluded.
    """
    here = library.imported(experiment)
    found = [one for one in here if attempt in (None, one.manifest.id)]
    counting = [one for one in found if one.status is not Status.EXCLUDED]
    if len(counting) == 1:
        return counting[0]
    if found and not counting:
        raise InputError(f"{found[0].manifest.id} is excluded: {found[0].reason}", remedy="show another")
    ids = wording.names([one.manifest.id for one in here][:_MOST_NAMED]) if here else "none"
    which = f" {attempt!r}" if attempt else ""
    raise InputError(
        f"{len(counting)} imported attempts{which} of {experiment!r}", remedy=f"name one: attempt=...; there are {ids}"
    )


def harnesses(sources: Sequence[ImportedSource]) -> str:
    """Name the harnesses with their versions, as far as they state any."""
    named = dict.fromkeys(f"{one.format} {one.version}" if one.version is not None else one.format for one in sources)
    return ", ".join(shown_name(name) for name in named)


def _origin(sources: Sequence[ImportedSource]) -> str:
    lacks = dict.fromkeys(part for one in sources for part in one.unrecorded)
    told = f"From {harnesses(sources)}"
    return f"{told}, which does not record {'; '.join(lacks)}." if lacks else f"{told}."


def _entry(view: AttemptView) -> Import:
    entry = view.manifest.imported
    if entry is None:
        raise InputError(f"{view.manifest.id} is not imported")
    return entry


def _benchmark(view: AttemptView, name: str, arm: str | None, params: Params) -> tuple[int, int, Benchmark]:
    """Find one benchmark: its place on the attempt's page, its source, itself."""
    found = [
        (place, source, one)
        for place, (source, one) in enumerate(view.imported, start=1)
        if one.name == name and arm in (None, one.arm) and _has(one.params, params)
    ]
    if len(found) == 1:
        return found[0]
    same = [one for _, one in view.imported if one.name == name] if found else [one for _, one in view.imported]
    known = wording.names([shown_name(label) for label in labels(same)][:_MOST_NAMED])
    raise InputError(
        f"{len(found)} benchmarks of {view.manifest.id} are {shown_name(name)!r} there",
        remedy=f"say arm and params of one; there are {known}" if same else "it has none",
    )


def _has(params: Params, wanted: Params) -> bool:
    return all(key in params and params[key] == value for key, value in wanted.items())
