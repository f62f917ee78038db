"""What a person, and a program, reads of imported files and attempts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from reportgen.analysis.imported import centre_of, median_of
from reportgen.analysis.imported_comparisons import compare, without_baseline
from reportgen.archive.importers.assembling import labels
from reportgen.errors import RecordError
from reportgen.model.imported import Benchmark, Import, ImportedComparison, Measure, RowStatus, Source
from reportgen.publish import wording
from reportgen.publish.imported_words import IMPORTED, amount, direction, fixtures_said, rests_on, said_of, shown_name

if TYPE_CHECKING:
    from reportgen.archive.importers.gathering import Gathered
    from reportgen.archive.load import Attempt
    from reportgen.archive.taking import Taken

_MOST_ROWS = 200


def files(gathered: Gathered, taken: Taken | None) -> dict[str, Any]:
    """Sum up what was read: one source as itself, several as a list, with what of a folder was left out; and where it lies now."""
    sources = [imported_source(one.source) for one in gathered.found]
    where = None if taken is None else {"id": taken.path.name, "path": str(taken.path), "present": taken.present}
    left_out = [{"path": one.path, "reason": one.reason} for one in gathered.left_out]
    if len(sources) == 1 and not left_out:
        return {**sources[0], "attempt": where}
    return {"sources": sources, "left_out": left_out, "attempt": where}


def imported_source(source: Source) -> dict[str, Any]:
    """Sum up what a file of another harness holds; names are kept letter for letter, and told apart where they repeat."""
    benchmarks = source.benchmarks
    named = list(zip(labels(benchmarks), benchmarks, strict=True))
    statuses = Counter(one.status.value for one in benchmarks)
    times = [one for one in benchmarks if one.measure is Measure.TIME]
    rates = [one for one in benchmarks if one.measure is Measure.RATE]
    return {
        "source": source.name,
        "format": source.format,
        "version": source.version,
        "names": len({one.name for one in benchmarks}),
        "benchmarks": len(benchmarks),
        "raw_samples": sum(len(one.good) for one in times),
        "raw_samples_with_failed": sum(bool(one.told) for each in times for one in each.samples),
        "rate_samples": sum(len(one.good) for one in rates),
        "status": {status.value: statuses[status.value] for status in RowStatus},
        "medians_ns": {label: median_of(one).value for label, one in named if one.measure is Measure.TIME},
        "rates": {label: centre_of(one).value for label, one in named if one.measure is Measure.RATE},
        "context": source.context,
        "not_time": list(source.not_time),
        "notes": list(source.notes),
        "unrecorded": list(source.unrecorded),
        "rows": [_benchmark(label, one) for label, one in named],
    }


def _benchmark(label: str, one: Benchmark) -> dict[str, Any]:
    found = median_of(one)
    time = one.measure is Measure.TIME
    return {
        "label": label,
        "name": one.name,
        "arm": one.arm,
        "params": one.params,
        "status": one.status,
        "reason": one.reason,
        "measure": one.measure,
        "unit": one.unit,
        "better": one.better,
        "samples": len(one.good) if time else 0,
        "rate_samples": 0 if time else len(one.good),
        "bad_samples": [at for at, each in enumerate(one.samples) if each.status is not RowStatus.OK],
        "median_ns": found.value if time else None,
        "median_rate": None if time else found.value,
        "median_from": found.basis,
        "iterations": _iterations(one),
        "repetitions": one.repetitions,
        "reported": one.reported,
        "notes": list(one.notes),
    }


def _iterations(one: Benchmark) -> float | dict[str, float | None] | None:
    """Give iterations of a sample: one number where all are equal, else those of the first and last."""
    found = [each.iterations for each in one.samples]
    if not found:
        return one.iterations
    return found[0] if len(set(found)) == 1 else {"first": found[0], "last": found[-1]}


def attempt(one: Attempt) -> dict[str, Any]:
    """Say of an imported attempt what it came from, what is in it, and how its arms compare; no verdict the data cannot carry."""
    manifest = imported_manifest(one)
    found = [benchmark for _, benchmark in one.imported]
    named = zip(labels(found), one.imported, strict=True)
    return {
        "id": one.id,
        "experiment": one.manifest.experiment,
        "kind": one.manifest.kind,
        "status": one.status,
        "reason": one.reason,
        "sources": msgspec.to_builtins(manifest.sources),
        "told": msgspec.to_builtins(manifest.told),
        "identity_kept": manifest.identity_kept,
        "rows": [{"source": source, **_benchmark(label, benchmark)} for label, (source, benchmark) in named],
        "comparisons": msgspec.to_builtins(compare(one.imported, manifest.told)),
    }


def imported_manifest(one: Attempt) -> Import:
    """Give what an imported attempt says of itself.

    Raises
    ------
    RecordError
        It was not imported.
    """
    if one.manifest.imported is None:
        raise RecordError("is no imported attempt", where=str(one.path))
    return one.manifest.imported


def read_text(gathered: Gathered, taken: Taken | None) -> RenderableType:
    """Say what was read, source by source, what was left out, and where it lies."""
    parts: list[RenderableType] = [part for one in gathered.found for part in _source(one.source, one.where)]
    parts += [Text(f"left out: {one.path}: {one.reason}", style="yellow") for one in gathered.left_out]
    if taken is not None:
        parts.append(Text(f"{'archived already' if taken.present else 'archived'}: {taken.path}"))
    return Group(*parts)


def _source(source: Source, where: str) -> list[RenderableType]:
    version = "" if source.version is None else f" {source.version}"
    counts = Counter(one.status for one in source.benchmarks)
    said = ", ".join(f"{counts[status]} {status}" for status in RowStatus if counts[status])
    head = Text.assemble(
        (f"{where}: {source.format}{version}", "bold"),
        f", {wording.plural(len(source.benchmarks), 'benchmark')}: {said}",
    )
    notes = [Text(f"note: {note}") for note in source.notes]
    left = [Text(f"no times, left out: {', '.join(source.not_time)}")] if source.not_time else []
    return [head, _benchmarks([(0, one) for one in source.benchmarks]), *left, *notes]


def _benchmarks(found: Sequence[tuple[int, Benchmark]]) -> Table:
    table = _table("benchmark", "arm", "status", "values", "figure", "what it is")
    for column in table.columns[3:5]:
        column.justify, column.no_wrap = "right", True
    benchmarks = [one for _, one in found]
    for label, one in list(zip(labels(benchmarks), benchmarks, strict=True))[:_MOST_ROWS]:
        middle = centre_of(one)
        status = Text(one.status, style="" if one.status is RowStatus.OK else "red")
        said = one.reason if one.status is not RowStatus.OK and middle.value is None else said_of(one, middle)
        if middle.value == 0 and one.measure is Measure.TIME:
            said = f"{said}; less than its clock can tell, no ratio rests on it"
        table.add_row(
            shown_name(label), one.arm or "", status, str(len(one.good) or ""), amount(middle.value, one), said
        )
    if len(found) > _MOST_ROWS:
        table.caption = f"{wording.count(len(found) - _MOST_ROWS)} more: --json lists all"
    return table


def attempt_text(one: Attempt) -> RenderableType:
    """Lay out an imported attempt: where it is from, its benchmarks, its comparisons and why no verdict stands."""
    manifest = imported_manifest(one)
    head = [Text.assemble((f"{one.manifest.experiment}, {one.id}", "bold")), Text(IMPORTED, style="bold red")]
    for number, source in enumerate(manifest.sources, start=1):
        version = "" if source.version is None else f" {source.version}"
        head.append(
            Text(f"source {number}: {source.name}, {source.format}{version}, SHA-256 {source.files[0].original_sha256}")
        )
        head.append(Text(f"  not recorded: {'; '.join(source.unrecorded)}", style="dim"))
    comparisons = compare(one.imported, manifest.told)
    lack = without_baseline(one.imported, manifest.told)
    tables = [_comparison(each) for each in comparisons]
    return Group(*head, _benchmarks(one.imported), *tables, *([Text(f"not compared: {lack}")] if lack else []))


def _comparison(one: ImportedComparison) -> Table:
    table = _table("benchmark", "arm", "baseline", "arm / baseline", "interval", "rests on")
    table.title = f"{one.arm} / {one.baseline}" + (" (null)" if one.null else "")
    for name, cell in list(zip(fixtures_said(one.cells), one.cells, strict=True))[:_MOST_ROWS]:
        interval = "" if cell.interval is None else wording.interval(cell.interval.low, cell.interval.high, plain=True)
        values = [amount(value, cell) for value in (cell.arm_value, cell.baseline_value)]
        table.add_row(
            shown_name(name),
            *values,
            direction(cell),
            interval,
            rests_on(cell),
        )
    verdict = f"verdict: {one.verdict}, {one.reason}" if one.verdict else f"no verdict: {'; '.join(one.lacking)}"
    table.caption = "null arm" if one.null and not one.lacking else verdict
    table.caption_justify = "left"
    return table


def _table(*headers: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", title_style="bold", title_justify="left")
    for header in headers:
        table.add_column(header, overflow="fold")
    return table
