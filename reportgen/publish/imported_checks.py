"""What an imported attempt must agree on: its copies are read again and give the very rows of its tables."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from reportgen.archive import layout
from reportgen.archive.importers.arranging import arranged
from reportgen.archive.importers.content import Content
from reportgen.archive.load import Attempt
from reportgen.archive.taking import again
from reportgen.errors import ReportgenError
from reportgen.model.imported import Benchmark, Import, ImportedSource, Source


def imported_findings(attempt: Attempt) -> Iterator[str]:
    """Yield a line for each thing that the archived copies say otherwise than the tables and the manifest."""
    entry = attempt.manifest.imported
    if entry is None:
        yield f"{layout.MANIFEST}: an attempt of kind imported does not say what it was imported from"
        return
    counted = {"benchmarks": len(attempt.imported), "samples": sum(len(one.samples) for _, one in attempt.imported)}
    for name, number in counted.items():
        if number != getattr(entry, name):
            yield f"{layout.MANIFEST}: counts {getattr(entry, name)} imported {name}, the tables hold {number}"
    try:
        sources = [_again(attempt, number, source) for number, source in enumerate(entry.sources, start=1)]
        due = arranged(sources, entry.told)
    except ReportgenError as fault:
        yield f"{layout.ARTIFACTS}/{layout.SOURCES}: cannot be read again: {fault.one_line()}"
        return
    yield from _differences(attempt, entry, sources, due)


def _again(attempt: Attempt, number: int, entry: ImportedSource) -> Source:
    files = [Content(file.name, (layout.sources_dir(attempt.path) / file.path).read_bytes()) for file in entry.files]
    own = tuple(one for source, one in attempt.imported if source == number)
    known = Source(name=entry.name, format=entry.format, version=entry.version, benchmarks=own)
    return again(known, files)


def _differences(
    attempt: Attempt, entry: Import, sources: list[Source], due: list[tuple[int, Benchmark]]
) -> Iterator[str]:
    for said, read in zip(entry.sources, sources, strict=True):
        for field in ("format", "version", "context", "kind"):
            if _plain(getattr(said, field)) != _plain(getattr(read, field)):
                yield f"{layout.MANIFEST}: source {said.name[:80]!r}: {field} is not what the archived file says"
    if len(due) != len(attempt.imported):
        yield f"{layout.IMPORTED_BENCHMARKS}: holds {len(attempt.imported)} benchmarks, the archived files {len(due)}"
        return
    for number, (held, read_again) in enumerate(zip(attempt.imported, due, strict=True), start=1):
        if _plain(held) != _plain(read_again):
            yield f"{layout.IMPORTED_BENCHMARKS}: benchmark {number}, {held[1].name[:80]!r}, is not what the archived file says"


def _plain(value: object) -> bytes:
    return msgspec.json.encode(value, order="deterministic")
