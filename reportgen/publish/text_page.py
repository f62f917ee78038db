"""A page that people write, from its source to the context of its template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from markupsafe import Markup

from reportgen.publish import answers, citing, glossary, lookup, preview, remarks, study_lookup, wording
from reportgen.publish.bindings import Bindings
from reportgen.publish.claims import Judged
from reportgen.publish.context import HomePage, RecordLine, Study, TextPage
from reportgen.publish.frames import Framer, Subject
from reportgen.publish.library import Library, root_of
from reportgen.publish.lint import STRICT_KINDS
from reportgen.publish.markdown import SourcePage, fill
from reportgen.publish.preview import Picture
from reportgen.publish.problems import Problem
from reportgen.publish.search import Passage
from reportgen.publish.sections import to_body
from reportgen.publish.templates import Theme
from reportgen.publish.view import RecordView

Surroundings = tuple[Framer, Mapping[str, SourcePage]]


@dataclass(frozen=True)
class Rendered:
    """A page's template and context, the problems met on the way, the claims it makes and what it is searched by."""

    template: str
    context: Any
    problems: list[Problem]
    claims: tuple[Judged, ...]
    passages: tuple[Passage, ...]
    picture: Picture | None = None


def render(page: SourcePage, library: Library, theme: Theme, surroundings: Surroundings) -> Rendered:
    """Turn a page into the context of its template.

    ``surroundings`` are the framer and, by record name, the report that speaks of each record.
    """
    framer, reports = surroundings
    bindings = Bindings(page, library, theme)
    text, faults = fill(page, bindings.functions())
    known = framer.terms if page.front.kind != "home" else {}
    body = to_body(text, partial(glossary.link, known=known, root=root_of(page.front.address)))
    records = list(bindings.used.values())
    for name in page.front.records:
        if all(name not in (record.name, record.experiment) for record in records):
            faults += _missing(page, library, name)
    pictured = page.front.kind in STRICT_KINDS and records
    frame = framer.frame(
        Subject(
            address=page.front.address,
            title=page.front.title,
            summary=page.front.summary,
            kind=page.front.kind,
            date=page.front.date.isoformat(),
            source=page.source,
            banner=_banner(records),
            above=framer.pages_above(page.front.address),
            picture=preview.address(page.front.address) if pictured else "",
        )
    )
    problems, made = [*bindings.claims.problems, *bindings.problems, *faults], bindings.claims.judged
    if page.front.kind == "home":
        home = HomePage(frame, body.html, studies(library, reports, frame.root))
        return Rendered("home.html", home, problems, made, body.passages)
    lines = tuple(record_line(record, library, frame.root) for record in records)
    citation = citing.of_page(page.front, framer.settings, records)
    text_page = TextPage(frame, body.html, body.contents, lines, citation, bindings.sums, body.notes)
    shown = preview.picture(page.front.title, framer.settings.title, records[0]) if pictured else None
    return Rendered("text.html", text_page, problems, made, body.passages, shown)


def default_home(sources: Sequence[SourcePage], library: Library, surroundings: Surroundings) -> HomePage:
    """Make the first page of a lab that has written none: its studies, and whatever else is written there."""
    framer, reports = surroundings
    date = max((page.front.date.isoformat() for page in sources), default="")
    summary = "Every study of this lab, with its answer."
    frame = framer.frame(Subject("", framer.settings.title, summary, "home", date, "site"))
    listed = studies(library, reports, frame.root)
    known = {frame.root + page.front.address: page.front.title for page in sources if page.front.kind != "method"}
    others = [(href, title) for href, title in known.items() if href not in {study.href for study in listed}]
    links = Markup("\n").join(Markup('<li><a href="{}">{}</a></li>').format(href, title) for href, title in others)
    return HomePage(frame, Markup("<ul>\n{}\n</ul>").format(links) if others else Markup(""), listed)


def _missing(page: SourcePage, library: Library, name: str) -> list[Problem]:
    """Report a record that the front matter names and nobody has."""
    there = library.known()
    known = {record.name for record in there} | {one.experiment for one in there if one.current}
    line = next((place for place, text in enumerate(page.head, start=1) if name in text), 1)
    return [] if name in known else [Problem(f"{page.source}:{line}", f"no record {name!r}")]


def _banner(records: list[RecordView]) -> str:
    """Say loudly that a page shows made-up times: all of them, or those of the records named."""
    made_up = [record.name for record in records if record.simulated]
    if len(made_up) in (0, len(records)):
        return wording.SIMULATED if made_up else ""
    return f"{wording.names(made_up)}: {wording.SIMULATED}"


def record_line(record: RecordView, library: Library, root: str) -> RecordLine:
    """Say in one line what a record is, and below it what must be read beside it."""
    has_zip = any(file.path == "record.zip" for file in record.downloads)
    return RecordLine(
        href=root + record.address,
        name=record.name,
        device=wording.names(record.devices),
        date=record.date,
        batches=f"{wording.count(record.batches)} scored batches",
        zip_href=f"{root}{record.address}record.zip" if has_zip else "",
        fixtures_href=root + record.address + lookup.FIXTURES,
        modes=study_lookup.modes_said(record.plan.experiment),
        remarks=remarks.remarks(record, library, root),
    )


def studies(library: Library, reports: Mapping[str, SourcePage], root: str) -> tuple[Study, ...]:
    """List the studies for the first page, the latest first; simulated records never stand among them."""
    shown = [record for record in library.records if record.current and not record.simulated]
    shown.sort(key=lambda record: (record.date, record.experiment), reverse=True)
    return tuple(_study(record_line(record, library, root), record, reports.get(record.name), root) for record in shown)


def _study(line: RecordLine, record: RecordView, report: SourcePage | None, root: str) -> Study:
    return Study(
        title=report.front.title if report else record.title,
        href=root + (report.front.address if report else record.address),
        question=record.plan.experiment.question,
        answer=answers.lead(record),
        slices=answers.slices(record),
        device=line.device,
        date=line.date,
        batches=line.batches,
        record_href=root + record.address,
    )
