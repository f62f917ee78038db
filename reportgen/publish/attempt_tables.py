"""Tables and facts of attempts: status, device, readings, hashes, files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from reportgen.model.protocol import Mode
from reportgen.model.record import Manifest, Status
from reportgen.publish import lookup, wording
from reportgen.publish.context import Cell, Column, Fact, FactGroup, Row, Table
from reportgen.publish.library import root_of
from reportgen.publish.tables import NOTHING, both, code, figure, word
from reportgen.publish.view import AttemptView, ReadingLine

LONG_NUMBER = 10_000


def status_cell(attempt: AttemptView, *, reason: bool = True) -> Cell:
    """Say how an attempt ended, with its reason below."""
    tone = "" if attempt.status in (Status.SCORED, Status.COMPLETE) else "slower"
    return Cell(attempt.status.value, note=attempt.reason if reason else "", tone=tone)


def groups(manifest: Manifest) -> tuple[FactGroup, ...]:
    """List device, versions and environment as archived."""
    device, provenance = manifest.device, manifest.provenance
    known = [
        Fact("device", device.model),
        Fact("device id", device.id, code=True),
        Fact("kind of device", device.kind),
        *_flat("", {key: value for key, value in device.facts.items() if value != device.model}),
    ]
    versions = _flat("", manifest.versions)
    versions.append(Fact("commit", f"{provenance.commit or 'not known'} ({provenance.known})", code=True))
    if provenance.dirty is not None:
        versions.append(Fact("uncommitted changes", "yes" if provenance.dirty else "no"))
    return (
        FactGroup(f"Device: {device.model}", tuple(known)),
        FactGroup("Versions", tuple(versions)),
        FactGroup("Environment", tuple(_flat("", manifest.environment))),
    )


def _flat(prefix: str, values: Mapping[str, Any]) -> list[Fact]:
    facts: list[Fact] = []
    for key in sorted(values):
        value = values[key]
        if isinstance(value, dict):
            facts += _flat(f"{prefix}{key} ", value)
        else:
            facts.append(Fact(f"{prefix}{key}", _said(value), code=isinstance(value, str), name=True))
    return facts


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and abs(value) >= LONG_NUMBER:
        return wording.count(value)
    if isinstance(value, list | tuple):
        return ", ".join(_said(one) for one in value)
    return "not known" if value is None else str(value)


def readings(attempt: AttemptView) -> Table:
    """Show the readings of each repetition: lowest, median and highest over its blocks."""
    kinds = list(dict.fromkeys((line.reading, line.unit) for line in attempt.readings))
    modes = {one.mode: place for place, one in enumerate(attempt.modes)}
    by_repetition: dict[tuple[str, int], dict[str, ReadingLine]] = {}
    for line in attempt.readings:
        by_repetition.setdefault((line.mode, line.repetition), {})[line.reading] = line
    ordered = sorted(by_repetition.items(), key=lambda item: (modes.get(item[0][0], len(modes)), item[0][1]))
    rows = tuple(
        Row(
            word(f"{repetition}" if mode == Mode.PROCESS else f"{mode} {repetition}"),
            tuple(_reading(lines.get(kind)) for kind, _ in kinds),
        )
        for (mode, repetition), lines in ordered
    )
    throttled = wording.names(attempt.throttled)
    return Table(
        anchor=f"readings-{lookup.slug(attempt.manifest.id)}",
        caption=f"Readings of {attempt.manifest.device.model}",
        stub="Repetition",
        columns=tuple(Column(f"{kind}, {unit}" if unit else kind, figure=True) for kind, unit in kinds),
        rows=rows,
        note=f"Median over the fixture blocks, with the range; in batches.parquet every row carries its block's. Throttling: {throttled or 'none seen'}.",
    )


def _reading(line: ReadingLine | None) -> Cell:
    if line is None:
        return NOTHING
    decimals = 0 if line.most >= 1000 else 1  # noqa: PLR2004 - four digits are enough to read
    low, high = (wording.number(value, decimals=decimals) for value in (line.least, line.most))
    said = wording.number(line.median, decimals=decimals)
    if low == high:
        return figure(said, line.median)
    return figure(said, line.median, note=f"{low} to {high}", below=both(line.least, line.most))


def modes(attempt: AttemptView) -> Table:
    """Count an attempt by mode and harness; without rows where there is one mode."""
    rows = tuple(
        Row(
            Cell(wording.WAYS.get(one.mode, "another harness"), note=one.mode),
            tuple(
                figure(wording.count(value), value)
                for value in (one.repetitions, one.left_out, one.batches, one.warmup_batches)
            ),
        )
        for one in attempt.modes
    )
    names = ("repetitions that count", "left out", "scored rows", "warm-up rows")
    return Table(
        anchor="counts-by-mode",
        caption="Measured by mode",
        stub="Way of measuring",
        columns=tuple(Column(name, figure=True) for name in names),
        rows=rows if len(rows) > 1 else (),
        note=f"{attempt.modes_said} In manifest.json: counts." if attempt.modes_said else "In manifest.json: counts.",
    )


def hashes(manifests: Sequence[Manifest]) -> Table:
    """List the hashes taken around every repetition, of sources, binaries and tools."""
    found: dict[str, str] = {}
    for manifest in manifests:
        found.update({f"code of {arm}": digest for arm, digest in manifest.binaries.items()})
        found.update(manifest.hashes)
        found["all binaries"] = manifest.binaries_digest
    rows = tuple(Row(code(name), (code(found[name]),)) for name in sorted(found))
    return Table(caption="Hashes", stub="What", columns=(Column("SHA-256"),), rows=rows)


def files(attempt: AttemptView) -> Table:
    """List the archived files of an attempt."""
    rows = tuple(
        Row(
            code(file.path, href=root_of(attempt.address) + quote(attempt.published + file.path)),
            (figure(wording.count(file.length_bytes), file.length_bytes), code(file.sha256)),
        )
        for file in attempt.files
    )
    columns = (Column("bytes", figure=True), Column("SHA-256"))
    note = "As they lie in the archive; SHA256SUMS lists them too."
    return Table(caption="Files", stub="File", columns=columns, rows=rows, note=note, anchor="archived-files")


def events(attempt: AttemptView) -> Table:
    """List what the controller did, in order."""
    rows = tuple(
        Row(word(wording.moment(event.at)), (code(event.event), word("; ".join(_facts_said(event.facts)))))
        for event in attempt.events
    )
    return Table(caption="Events", stub="When", columns=(Column("event"), Column("facts")), rows=rows)


COUNTS = ("repetitions", "batches", "checks")


def count_cell(attempt: AttemptView, what: str, root: str) -> Cell:
    """Say how many repetitions, batches or checks an attempt has; the figure leads to its page. What was imported has none of them."""
    if attempt.manifest.imported is not None:
        return NOTHING
    value: int = getattr(attempt.manifest.counts, what)
    return figure(wording.count(value), value, href=f"{root}{attempt.address}#count-{what}")


def _facts_said(facts: Mapping[str, Any]) -> list[str]:
    """Say the facts of an event; what is empty or absent is left out."""
    known = {key: value for key, value in facts.items() if value not in (None, "", [], {})}
    return [f"{fact.term}: {fact.text}" for fact in _flat("", known)]


def resumed(attempt: AttemptView) -> str:
    """Say how often an attempt was taken up again, and after how many whole repetitions; empty for never."""
    done, places = 0, []
    for event in attempt.events:
        counts = event.event == "repetition" and event.facts.get("mode", Mode.PROCESS) == Mode.PROCESS
        done += counts and not event.facts.get("left_out")
        places += [wording.count(done)] if event.event == "resumed" else []
    if not places:
        return ""
    times = "once" if len(places) == 1 else f"{wording.count(len(places))} times"
    return (
        f"{times}, after {wording.names(places)} of {wording.count(attempt.manifest.repetitions_planned)} repetitions"
    )


def notes(attempt: AttemptView) -> Table:
    """List exclusions and errata written after sealing."""
    rows = tuple(Row(word(wording.moment(note.at)), (word(note.kind), word(note.text))) for note in attempt.notes)
    return Table(caption="Notes", stub="When", columns=(Column("kind"), Column("text")), rows=rows)
