"""The page of a record's fixtures: every ratio by fixture with its derivation, and the process values, beneath the record's page."""

from __future__ import annotations

from reportgen.publish import derivations, lookup, record_page
from reportgen.publish.context import FixturesPage, Frame, Link
from reportgen.publish.figures import figures
from reportgen.publish.frames import Subject
from reportgen.publish.library import Library, root_of
from reportgen.publish.markdown import SourcePage
from reportgen.publish.view import RecordView


def subject(record: RecordView, report: SourcePage | None = None) -> Subject:
    """Say what the page is; it stands below the record's."""
    above = record_page.subject(record, report)
    return Subject(
        address=record.address + lookup.FIXTURES,
        title=f"Fixtures of {record.name}",
        summary=f"{record.title}: ratios by fixture with their intervals, and process by process.",
        kind="fixtures",
        date=record.date,
        source=f"runs/{record.experiment}",
        banner=above.banner,
        above=(*above.above, (above.title, above.address)),
    )


def build(record: RecordView, frame: Frame, library: Library) -> FixturesPage:
    """Build the page's context."""
    slices = lookup.slices(record)
    place = (library, root_of(record.address + lookup.FIXTURES))
    cells = (derivations.cells(record, piece) for piece in slices)
    return FixturesPage(
        frame=frame,
        record=Link(record.name, place[1] + record.address),
        figures=tuple(figures("fixtures", record, slices, None, place)),
        cells=tuple(table for table in cells if table.rows),
        processes=tuple(derivations.processes(record, piece) for piece in slices),
    )
