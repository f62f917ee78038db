"""The page of one attempt, the ledger of all of them, and the catalogue of published records."""

from __future__ import annotations

from collections.abc import Sequence

from reportgen.archive.counting import refusal_sentences
from reportgen.model.record import Kind, Status
from reportgen.project import Settings
from reportgen.publish import (
    attempt_tables,
    code_tables,
    counter_tables,
    derivations,
    imported_tables,
    lookup,
    record_files,
    snippets,
    tables,
    wording,
)
from reportgen.publish.attempt_tables import status_cell
from reportgen.publish.context import AttemptPage, Cell, Column, Fact, FactGroup, Frame, Link, Row, Table
from reportgen.publish.frames import LEDGER, Subject
from reportgen.publish.imported_words import IMPORTED, IMPORTED_ROWS
from reportgen.publish.library import Library, root_of
from reportgen.publish.list_context import CatalogueEntry, CataloguePage, LedgerPage
from reportgen.publish.tables import checks_table, figure, word
from reportgen.publish.view import SIMULATED, AttemptView, RecordView

BESIDE = (
    "What the rows of this attempt say by themselves. No record and no report uses these figures: they are here so that "
    "its status and the reason for it can be checked."
)
REPLICATION = (
    "What the rows of this attempt say by themselves. A record speaks through the earliest scored attempt of each device; "
    "this one came later and stands beside it, so no report uses these figures."
)


def subject(attempt: AttemptView, record: Subject | None = None) -> Subject:
    """Say what the page is; it stands below the page of its ``record``, or else below the ledger."""
    manifest = attempt.manifest
    return Subject(
        address=attempt.address,
        title=f"Attempt {manifest.id}",
        summary=f"{manifest.kind.value.capitalize()} attempt of {manifest.experiment}: {attempt.status.value}.",
        kind="attempt",
        date=wording.day(manifest.started_at),
        source=f"runs/{manifest.experiment}/{attempt.folder}",
        banner=_banner(attempt),
        above=(("Attempts", LEDGER),) if record is None else (*record.above, (record.title, record.address)),
    )


def _banner(attempt: AttemptView) -> str:
    if attempt.manifest.kind is Kind.IMPORTED:
        return IMPORTED
    return wording.SIMULATED if attempt.manifest.device.kind == SIMULATED else ""


def build(attempt: AttemptView, frame: Frame, record: RecordView | None, library: Library) -> AttemptPage:
    """Build the page's context."""
    alone = library.alone(attempt.address)
    leads = None if record is None else Link(record.name, root_of(attempt.address) + record.address)
    return AttemptPage(
        frame=frame,
        status=attempt.status.value,
        reason=attempt.reason,
        resumed=attempt_tables.resumed(attempt),
        record=leads,
        facts=(
            FactGroup("What happened", _facts(attempt)),
            *(
                group
                for group in attempt_tables.groups(attempt.manifest)
                if attempt.manifest.imported is None or group.title.startswith("Device")
            ),
        ),
        modes=attempt_tables.modes(attempt),
        alone_words=REPLICATION if attempt.status is Status.SCORED else BESIDE,
        alone=() if alone is None else _alone(alone),
        imported=imported_tables.tables_of(attempt),
        imported_words=imported_tables.sentences(attempt),
        checks=checks_table(attempt.checks),
        telemetry=attempt_tables.readings(attempt),
        notes=attempt_tables.notes(attempt),
        events=attempt_tables.events(attempt),
        files=attempt_tables.files(attempt),
        code=code_tables.of_attempt(attempt),
        counters=counter_tables.tables(attempt, ""),
        counters_file=Link(counter_tables.CSV, counter_tables.CSV) if attempt.counters else None,
    )


def _alone(record: RecordView) -> tuple[Table, ...]:
    """Show noise and verdicts of one attempt's rows, each figure with its derivation on the same page."""
    return tuple(
        table
        for piece in lookup.slices(record)
        for table in (
            tables.noise(record, piece, ""),
            tables.changes(record, piece, ""),
            derivations.noise(record, piece),
            derivations.comparisons(record, piece),
        )
        if table.rows
    )


def _facts(attempt: AttemptView) -> tuple[Fact, ...]:
    manifest, counts = attempt.manifest, attempt.manifest.counts
    if manifest.imported is not None:
        return imported_tables.facts(attempt)
    others = "".join(f"; {name} {wording.count(number)}" for name, number in sorted(counts.series.items()))
    done = f"{wording.count(counts.repetitions)} of {wording.count(manifest.repetitions_planned)} planned{others}"
    return (
        Fact("experiment", manifest.experiment, code=True),
        Fact("kind", wording.kind(manifest)),
        Fact("backend", manifest.backend, code=True),
        Fact("plan", manifest.plan, code=True),
        Fact("binaries", manifest.binaries_digest, code=True),
        Fact("began", wording.moment(manifest.started_at)),
        Fact("ended", wording.moment(manifest.ended_at)),
        Fact("repetitions", done),
        Fact("scored batches", wording.count(counts.batches)),
        Fact("warm-up batches", wording.count(counts.warmup_batches)),
        Fact("checks", f"{wording.count(counts.checks)}, of which {wording.count(counts.failed_checks)} failed"),
        Fact("arms that failed a check", wording.names(manifest.failed_arms) or "none"),
        *(Fact("refused", sentence) for sentence in refusal_sentences(manifest.refused)),
        Fact("sealed", "yes" if attempt.sealed else "no: the folder is still open"),
    )


def ledger_subject(attempts: Sequence[AttemptView]) -> Subject:
    """Say what the ledger is."""
    return Subject(
        address=LEDGER,
        title="Attempts",
        summary="Every attempt of every kind and status, with its reason. Nothing is deleted.",
        kind="ledger",
        date=max((wording.day(attempt.manifest.started_at) for attempt in attempts), default=""),
        source="runs",
        banner=_rows_banner(attempts),
    )


def _rows_banner(attempts: Sequence[AttemptView]) -> str:
    simulated = SIMULATED in [one.manifest.device.kind for one in attempts]
    imported = Kind.IMPORTED in [one.manifest.kind for one in attempts]
    return " ".join([*([wording.SIMULATED_ROWS] if simulated else []), *([IMPORTED_ROWS] if imported else [])])


def ledger(attempts: Sequence[AttemptView], frame: Frame) -> LedgerPage:
    """Build the ledger, one table an experiment."""
    by_experiment: dict[str, list[AttemptView]] = {}
    for attempt in attempts:
        by_experiment.setdefault(attempt.manifest.experiment, []).append(attempt)
    return LedgerPage(frame, tuple(_ledger_table(name, found) for name, found in by_experiment.items()))


def _ledger_table(experiment: str, attempts: Sequence[AttemptView]) -> Table:
    columns = ("status", "kind", "device", "began", "repetitions", "batches", "checks")
    return Table(
        caption=experiment,
        stub="Attempt, and the reason for its status",
        columns=tuple(Column(name, figure=name in ("repetitions", "batches", "checks")) for name in columns),
        rows=tuple(_ledger_row(attempt) for attempt in attempts),
        anchor=f"attempts-{lookup.slug(experiment)}",
    )


def _ledger_row(attempt: AttemptView) -> Row:
    manifest, counts = attempt.manifest, attempt.manifest.counts
    marks = {SIMULATED: "SIMULATED", "imported": "IMPORTED"}
    return Row(
        Cell(manifest.id, code=True, href=root_of(LEDGER) + attempt.address, note=attempt.reason),
        (
            status_cell(attempt, reason=False),
            word(wording.kind(manifest)),
            word(manifest.device.model, note=marks.get(manifest.device.kind, ""), tone="device"),
            word(wording.moment(manifest.started_at), tone="when"),
            figure(wording.count(counts.repetitions), counts.repetitions),
            figure(wording.count(counts.batches), counts.batches),
            figure(wording.count(counts.checks), counts.checks),
        ),
    )


def catalogue(records: Sequence[RecordView], frame: Frame, settings: Settings) -> CataloguePage:
    """Build the list of every published record with its files."""
    entries = tuple(
        CatalogueEntry(
            title=record.title,
            name=record.name,
            href=frame.root + record.address,
            banner=wording.SIMULATED if record.simulated else "",
            downloads=record_files.downloads(record, frame.root + record.address),
        )
        for record in records
    )
    shown = next((record for record in records if record.current and not record.simulated), None)
    return CataloguePage(frame, entries, snippets.snippets(shown, settings), snippets.words(settings))
