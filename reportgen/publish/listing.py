"""All pages of the site in one list, by kind, and what search is told of those that people do not write."""

from __future__ import annotations

from collections.abc import Sequence

from reportgen.publish.context import Frame
from reportgen.publish.frames import PAGES, Subject
from reportgen.publish.list_context import ListedPage, Listing
from reportgen.publish.search import Indexed, Passage
from reportgen.publish.view import AttemptView, RecordView

STUDIES = "Studies"
GROUPS = {
    "home": "First page",
    **dict.fromkeys(("report", "finding", "gate", "sweep", "note"), STUDIES),
    "method": "Method",
    "docs": "Documentation",
    "record": "Records",
    "fixtures": "Records",
    "attempt": "Attempts",
}
LISTS = "Lists"


def indexed(address: str, frame: Frame, passages: tuple[Passage, ...] = ()) -> Indexed:
    """Tell of a page by its frame; ``passages`` are its sections."""
    return Indexed(frame.title, address, GROUPS.get(frame.kind, LISTS), frame.summary, frame.date, passages)


def subject(date: str) -> Subject:
    """Say what the list is."""
    return Subject(PAGES, "All pages", "Every page of this site, by kind.", "pages", date, "site")


def listings(pages: Sequence[Indexed], root: str) -> tuple[Listing, ...]:
    """List the pages by kind, in the order in which kinds are named."""
    groups = {group: [page for page in pages if page.group == group] for group in (*GROUPS.values(), LISTS)}
    return tuple(
        Listing(group, tuple(ListedPage(page.title, root + page.address, page.summary) for page in found))
        for group, found in groups.items()
        if found
    )


def of_record(record: RecordView) -> tuple[Passage, ...]:
    """Give what a record is searched by: its question, devices, and arms with their ideas."""
    experiment = record.plan.experiment
    told = [experiment.question, *record.devices, *(f"{arm.name} {arm.idea}" for arm in experiment.arms)]
    return (Passage("", "", " ".join(told)),)


def of_attempt(attempt: AttemptView) -> tuple[Passage, ...]:
    """Give what an attempt is searched by: experiment, device, backend and what became of it."""
    manifest = attempt.manifest
    told = (manifest.experiment, manifest.device.model, manifest.backend, attempt.status.value, attempt.reason)
    return (Passage("", "", " ".join(told)),)
