"""The page of one record: everything that was measured, found and archived."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reportgen.model.plan import Slice
from reportgen.publish import (
    checking,
    citing,
    claim_tables,
    counter_tables,
    counters,
    croissant,
    derivations,
    gate_tables,
    history,
    lookup,
    patch_tables,
    record_facts,
    record_figures,
    record_files,
    remarks,
    study_charts,
    study_figures,
    study_formulas,
    study_lookup,
    study_tables,
    tables,
    wording,
)
from reportgen.publish.attempt_tables import groups, hashes, readings, status_cell
from reportgen.publish.claims import Judged
from reportgen.publish.context import Column, Figure, Frame, Link, RecordPage, Row, Table
from reportgen.publish.figures import figures
from reportgen.publish.frames import CATALOGUE, Subject
from reportgen.publish.library import Library, root_of
from reportgen.publish.markdown import SourcePage
from reportgen.publish.replications import replications
from reportgen.publish.tables import code, figure, word
from reportgen.publish.view import RecordView

FIXTURES = "Every fixture and every process"


def subject(record: RecordView, report: SourcePage | None = None) -> Subject:
    """Say what the page is; it stands below the ``report`` that speaks of it, or else below the catalogue."""
    above = ("Data", CATALOGUE) if report is None else (report.front.title, report.front.address)
    return Subject(
        address=record.address,
        title=f"Record {record.name}",
        summary=f"{record.title}: complete record with environment, checks, derivations and downloads.",
        kind="record",
        date=record.date,
        source=f"runs/{record.experiment}",
        banner=wording.SIMULATED if record.simulated else "",
        above=(above,),
    )


def build(
    record: RecordView, frame: Frame, report: Link | None, library: Library, claims: Sequence[Judged] = ()
) -> RecordPage:
    """Build the page's context; ``claims`` are those of all pages."""
    slices = lookup.slices(record)
    outcome = [build(record, piece, "") for build in (tables.answer, tables.changes, tables.holm) for piece in slices]
    left_out = [derivations.left_out(record, piece) for piece in slices]
    positions = [derivations.positions(record, piece) for piece in slices]
    place = (library, root_of(record.address))
    return RecordPage(
        frame=frame,
        question=record.plan.experiment.question,
        standing=_standing(record),
        report=report,
        facts=(*record_facts.groups(record), *(group for one in record.attempts for group in groups(one.manifest))),
        arms=_arms(record),
        checks=tables.checks(record),
        outcome=tuple(table for table in (*outcome, *_gates(slices, record)) if table.rows),
        claims=claim_tables.claims_of(record, claims),
        figures=tuple(figures("processes", record, slices, None, place)),
        derivations=_derivations(record, slices),
        formulas=derivations.FORMULAS,
        fixtures=Link(FIXTURES, lookup.FIXTURES),
        position_figures=tuple(record_figures.positions(record, slices, place)) if record.result.positions else (),
        timelines=tuple(record_figures.timelines(record, slices, place)),
        positions=tuple(table for table in positions if table.rows),
        left_out=tuple(table for table in left_out if table.rows),
        left_out_words=_left_out_words(record),
        remarks=remarks.remarks(record, library, root_of(record.address)),
        telemetry=tuple(readings(attempt) for attempt in record.attempts),
        hashes=hashes([attempt.manifest for attempt in record.attempts]),
        attempts=_attempts(record),
        replications=replications(record, library),
        downloads=record_files.downloads(record, "", everything=True),
        patches=patch_tables.table(record, ""),
        checking=checking.checking(record),
        history=history.history(record, library),
        citation=citing.of_record(record, library.settings),
        dataset=croissant.markup(croissant.dataset(record, library.settings)),
        study=study_tables.for_record(record),
        study_figures=_study_figures(record, library),
        study_formulas=study_formulas.FORMULAS,
        counters=counter_tables.of_record(record),
    )


def _derivations(record: RecordView, slices: list[Slice]) -> tuple[Table, ...]:
    found = (
        (derivations.comparisons(record, piece), derivations.noise(record, piece), tables.times(record, piece, ""))
        for piece in slices
    )
    return tuple(table for of_slice in found for table in of_slice if table.rows)


def _gates(slices: list[Slice], record: RecordView) -> list[Table]:
    return [build(record, piece) for build in gate_tables.KINDS.values() for piece in slices]


def _standing(record: RecordView) -> str:
    modes = study_lookup.modes_said(record.plan.experiment)
    said = f"A record beside the current one of {record.experiment}, under its own name {record.name}."
    if record.current:
        said = f"The name {record.experiment} means this record; {record.name} means it for good."
    false = [
        f"{name} is called rotating and is not: {counters.said_of(one)}."
        for name, one in counters.refused(record).items()
    ]
    return " ".join([said, *([modes] if modes else []), *false])


def _study_figures(record: RecordView, library: Library) -> tuple[Figure, ...]:
    study, place = record.result.null_study, (library, root_of(record.address))
    if study is None:
        return ()
    has = {
        "errors": study.nulls or study.harness_ratios,
        "intervals": study.nulls,
        "one_placement": study.shown,
        "power": study.power,
    }
    below = {table.caption for table in study_tables.for_record(record)}
    drawn = (study_figures.figure_of(kind, record, place) for kind in study_charts.KINDS if has[kind])
    return tuple(replace(one, table=None) if one.table and one.table.caption in below else one for one in drawn)


def _arms(record: RecordView) -> Table:
    binaries = record.attempts[0].manifest.binaries
    rows = tuple(
        Row(
            code(arm.name),
            (
                word(arm.role.value, note=wording.ROLES[arm.role.value], tone="told"),
                word(arm.idea, tone="told"),
                code(arm.of or arm.control or wording.NOT_COMPUTED),
                code(arm.symbol or wording.NOT_COMPUTED),
                code(binaries.get(arm.name, wording.NOT_COMPUTED)),
            ),
        )
        for arm in record.plan.experiment.arms
    )
    columns = ("role", "idea", "repeats, or is judged against", "symbol", "SHA-256 of the code")
    return Table(caption="Arms", stub="Arm", columns=tuple(Column(name) for name in columns), rows=rows)


def _left_out_words(record: RecordView) -> str:
    number = sum(len(attempt.manifest.left_out) for attempt in record.attempts)
    if not number:
        return "No repetition was left out."
    facts = [
        ", ".join(f"{key} {value}" for key, value in sorted(one.items()))
        for attempt in record.attempts
        for one in attempt.manifest.left_out
    ]
    return f"{wording.plural(number, 'repetition')} left out whole and replaced, by a rule of the plan: {'; '.join(facts)}."


def _attempts(record: RecordView) -> Table:
    roles = [
        *(("speaks", one) for one in record.attempts),
        *(("replication", one) for one in record.replications),
        *(("beside it", one) for one in record.others),
    ]
    rows = tuple(
        Row(
            code(one.manifest.id, href=root_of(record.address) + one.address),
            (
                word(standing),
                word(wording.kind(one.manifest)),
                status_cell(one),
                word(one.manifest.device.model),
                word(wording.moment(one.manifest.started_at), tone="when"),
                figure(wording.count(one.manifest.counts.batches), one.manifest.counts.batches),
            ),
        )
        for standing, one in roles
    )
    columns = ("standing", "kind", "status and reason", "device", "began", "batches")
    return Table(
        caption="Attempts of this plan",
        stub="Attempt",
        columns=tuple(Column(name, figure=name == "batches") for name in columns),
        rows=rows,
        note="In a record each device speaks through its earliest scored attempt; later ones are shown, never chosen among.",
    )
