"""Tables and facts of an imported attempt: where it comes from, what is in it, how its arms compare, why no verdict stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reportgen.analysis.imported import centre_of
from reportgen.analysis.imported_comparisons import compare, without_baseline
from reportgen.archive.importers.assembling import labels
from reportgen.model.imported import (
    Benchmark,
    Import,
    ImportedCell,
    ImportedComparison,
    ImportedSource,
    RowStatus,
    Told,
)
from reportgen.publish import wording
from reportgen.publish.context import Cell, Column, Fact, Row, Table
from reportgen.publish.imported_words import amount, direction, fixtures_said, rests_on, said_of, shown_name
from reportgen.publish.tables import code, figure, word
from reportgen.publish.view import AttemptView

MOST_ROWS = 400
MOST_FACTS = 60
_NO_CHECKS = "No outputs were checked here, no readings were taken, and no process of it was started by this program."


def sentences(attempt: AttemptView) -> tuple[str, ...]:
    """Say what holds of the whole attempt; empty for one that was measured here."""
    entry = attempt.manifest.imported
    if entry is None:
        return ()
    replaced = sum(file.replaced for source in entry.sources for file in source.files)
    identity = "Names of hosts and people were kept on request." if entry.identity_kept else ""
    if replaced:
        identity = (
            "Names of hosts and people were replaced in the copies here; the SHA-256 below are those of the files as they "
            "were given."
        )
    lack = without_baseline(attempt.imported, entry.told)
    told = _told(entry.told)
    return tuple(one for one in (_NO_CHECKS, identity, told, f"Not compared: {lack}." if lack else "") if one)


def _told(told: Told) -> str:
    said = [
        *([f"the baseline is {told.baseline}"] if told.baseline else []),
        *(f"{arm} is the same code as {of}" for arm, of in told.nulls.items()),
        *([f"arms are the values of {told.arm_from}"] if told.arm_from else []),
        *(["equal repetitions of two arms were measured together"] if told.paired else []),
        *(["each repetition was a fresh process"] if told.fresh_processes else []),
    ]
    return f"Whoever imported it said: {'; '.join(said)}." if said else ""


def facts(attempt: AttemptView) -> tuple[Fact, ...]:
    """Say what was imported, when and how much."""
    manifest = attempt.manifest
    entry = manifest.imported
    if entry is None:
        return ()
    return (
        Fact("experiment", manifest.experiment, code=True),
        Fact("kind", wording.kind(manifest)),
        Fact("imported", wording.moment(manifest.started_at)),
        Fact("benchmarks", wording.count(entry.benchmarks)),
        Fact("single values", wording.count(entry.samples)),
        Fact("SHA-256 of files and what was told of them", manifest.plan, code=True),
        Fact("imported with reportgen", manifest.reportgen),
    )


def tables_of(attempt: AttemptView) -> tuple[Table, ...]:
    """Build every table of an imported attempt; none of one that was measured here."""
    entry = attempt.manifest.imported
    if entry is None:
        return ()
    context = (_context(one, number) for number, one in enumerate(entry.sources, start=1) if one.context)
    built = by_kind(attempt)
    return (*built["imported_sources"], *context, *built["imported_benchmarks"], *built["imported_comparisons"])


def by_kind(attempt: AttemptView, page: str = "") -> dict[str, list[Table]]:
    """Build the tables of an imported attempt for its own page, whose rows have anchors, or for another, whose figures lead to that ``page``."""
    entry = attempt.manifest.imported
    if entry is None:
        return {}
    found = enumerate(compare(attempt.imported, entry.told), start=1)
    return {
        "imported_sources": [_sources(entry)],
        "imported_benchmarks": _benchmarks(attempt, page),
        "imported_comparisons": [_comparison(one, number, page) for number, one in found],
    }


def benchmark_anchor(place: int) -> str:
    """Name the row of a benchmark on its attempt's page; those beyond the table stand for all."""
    return f"imported-benchmark-{place}" if place <= MOST_ROWS else "imported"


def cell_anchor(comparison: int, place: int) -> str:
    """Name the row of a comparison's benchmark on its attempt's page."""
    return f"imported-ratio-{comparison}-{place}" if place <= MOST_ROWS else "imported"


def _sources(entry: Import) -> Table:
    rows = tuple(
        Row(
            word(f"{number}: {shown_name(source.name)}"),
            (
                word(source.format, note=source.kind),
                word("not stated" if source.version is None else str(source.version)),
                Cell(source.files[0].original_sha256, code=True, note=_further(source)),
                word("; ".join(source.unrecorded)),
                word("; ".join(_notes(source)) or "nothing"),
            ),
        )
        for number, source in enumerate(entry.sources, start=1)
    )
    names = ("format", "version", "SHA-256 of the file as given", "not recorded by it", "noted")
    return Table(caption="Sources", stub="Source", columns=tuple(Column(name) for name in names), rows=rows)


def _further(source: ImportedSource) -> str:
    return "; ".join(f"{file.name}: {file.original_sha256}" for file in source.files[1:])


def _notes(source: ImportedSource) -> list[str]:
    left = wording.names([shown_name(name) for name in source.not_time])
    return [*source.notes, *([f"no times, left out: {left}"] if left else [])]


def _context(source: ImportedSource, number: int) -> Table:
    told = list(_flat("", source.context))
    rows = tuple(Row(code(shown_name(key)), (word(shown_name(value)),)) for key, value in told[:MOST_FACTS])
    more = len(told) - len(rows)
    note = f"{wording.count(more)} more stand in manifest.json." if more else ""
    return Table(
        caption=f"What source {number} says of machine and run",
        stub="What",
        columns=(Column("as it says"),),
        rows=rows,
        note=note,
    )


def _flat(prefix: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key in sorted(value, key=str):
            yield from _flat(f"{prefix}{key} ", value[key])
    elif value not in (None, "", []):
        yield prefix.strip() or "it", ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _benchmarks(attempt: AttemptView, page: str) -> list[Table]:
    found = [one for _, one in attempt.imported]
    rows = tuple(
        Row(
            word(f"{number}: {shown_name(label)}"),
            _cells(source, one, f"{page}#{benchmark_anchor(number)}" if page else ""),
            anchor="" if page else benchmark_anchor(number),
        )
        for number, (label, (source, one)) in enumerate(zip(labels(found), attempt.imported, strict=True), start=1)
    )
    more = len(rows) - MOST_ROWS
    note = f"{wording.count(more)} more stand in benchmarks.parquet." if more > 0 else ""
    names = ("source", "arm", "status", "values", "figure", "what it is")
    columns = tuple(Column(name, figure=name in ("source", "values", "figure")) for name in names)
    return [Table(caption="Benchmarks", stub="Benchmark", columns=columns, rows=rows[:MOST_ROWS], note=note)]


def _cells(source: int, one: Benchmark, href: str) -> tuple[Cell, ...]:
    middle = centre_of(one)
    bad = one.status is not RowStatus.OK
    return (
        figure(str(source), source),
        word(shown_name(one.arm or "")),
        Cell(one.status.value, note=shown_name(one.reason), tone="slower" if bad else ""),
        figure(wording.count(len(one.good)), len(one.good)),
        _leading(amount(middle.value, one), middle.value, href),
        word(said_of(one, middle), note="; ".join(shown_name(note) for note in one.notes)),
    )


def _leading(text: str, value: float | None, href: str) -> Cell:
    """Give a figure that leads to its row, where there is one and it is elsewhere."""
    return Cell(text) if value is None else Cell(text, value=repr(value), href=href)


def _comparison(one: ImportedComparison, number: int, page: str) -> Table:
    rows = tuple(
        Row(
            word(f"{at}: {shown_name(name)}"),
            _compared(cell, f"{page}#{cell_anchor(number, at)}" if page else ""),
            anchor="" if page else cell_anchor(number, at),
        )
        for at, (name, cell) in enumerate(zip(fixtures_said(one.cells), one.cells, strict=True), start=1)
    )
    names = ("arm", "baseline", "arm / baseline", "interval of pairs", "what the ratio rests on")
    columns = tuple(Column(name, figure=name != "what the ratio rests on") for name in names)
    lead = "The same code twice, as whoever imported it said." if one.null else ""
    verdict = (
        f"{one.verdict.value}, {one.reason}".replace("_", " ") if one.verdict else f"none: {'; '.join(one.lacking)}"
    )
    return Table(
        caption=f"{shown_name(one.arm)} / {shown_name(one.baseline)}",
        stub="Benchmark",
        columns=columns,
        rows=rows[:MOST_ROWS],
        lead=lead,
        note="" if one.null and not one.lacking else f"Verdict: {verdict}.",
    )


def _compared(cell: ImportedCell, href: str) -> tuple[Cell, ...]:
    interval = "" if cell.interval is None else wording.interval(cell.interval.low, cell.interval.high)
    ratio = _leading(direction(cell, plain=False), cell.ratio, href)
    return (
        figure(amount(cell.arm_value, cell), cell.arm_value or 0.0),
        figure(amount(cell.baseline_value, cell), cell.baseline_value or 0.0),
        ratio,
        word(interval),
        word(rests_on(cell), note=cell.lacking if cell.ratio is not None else ""),
    )
