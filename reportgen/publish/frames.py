"""What stands around every page: title, navigation, source, date, banner."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from reportgen.project import Settings
from reportgen.publish.context import Frame, Link
from reportgen.publish.library import root_of

LEDGER = "attempts/"
CATALOGUE = "data/"


@dataclass(frozen=True)
class Subject:
    """What a page says of itself; ``source`` is the file or folder it comes from.

    ``banner`` is the loud line of a page that shows simulated records.
    """

    address: str
    title: str
    summary: str
    kind: str
    date: str
    source: str
    banner: str = ""
    root: str = ""


@dataclass(frozen=True)
class Framer:
    """Frames pages of one lab; ``written`` are the pages to navigate to, as (title, address)."""

    settings: Settings
    written: tuple[tuple[str, str], ...]

    def frame(self, subject: Subject) -> Frame:
        """Build the frame of one page."""
        root = subject.root or root_of(subject.address)
        repository = self.settings.repository.rstrip("/")
        written = subject.source.endswith((".md", ".html"))
        place = f"{'blob' if written else 'tree'}/main/{quote(subject.source)}"
        improve = f"edit/main/{quote(subject.source)}" if written else "issues/new"
        return Frame(
            site_title=self.settings.title,
            tagline=self.settings.tagline,
            title=subject.title,
            summary=subject.summary,
            kind=subject.kind,
            root=root,
            navigation=self._navigation(subject.address, root),
            banner=subject.banner,
            date=subject.date,
            source=subject.source,
            source_href=f"{repository}/{place}" if repository else "",
            improve_href=f"{repository}/{improve}" if repository else "",
            data_licence=self.settings.data_licence,
            code_licence=self.settings.code_licence,
        )

    def _navigation(self, address: str, root: str) -> tuple[Link, ...]:
        places = [("Studies", ""), *self.written, ("Attempts", LEDGER), ("Data", CATALOGUE)]
        return tuple(Link(text, root + to, current=to == address) for text, to in places)
