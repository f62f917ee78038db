"""Building the site: gather everything, then write. What is unchanged is not written again, what is stale goes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reportgen.project import Project
from reportgen.publish.cache import FOLDER, Cache
from reportgen.publish.output import write_site
from reportgen.publish.problems import Problem
from reportgen.publish.site import Site, make_site


@dataclass(frozen=True)
class BuildReport:
    """What a build did.

    ``pages`` counts the HTML pages of the site, ``written`` and ``removed`` the files changed in ``out``. What is wrong
    stands in ``problems`` of a strict build, which then wrote nothing, and in ``warnings`` of any other.
    """

    pages: int
    written: int
    removed: int
    warnings: tuple[Problem, ...]
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        """Whether the site was written."""
        return not self.problems


def build(project: Project, out: Path, *, strict: bool) -> BuildReport:
    """Build the site of a lab into the folder ``out``.

    Raises
    ------
    InputError
        ``out`` holds something that is no site of ours, or a file cannot be read.
    RecordError
        An attempt of the archive is damaged.
    """
    site = gather_site(project)
    if strict and site.problems:
        return BuildReport(site.pages, 0, 0, (), site.problems)
    written, removed = write_site(out, site.files)
    return BuildReport(site.pages, written, removed, site.problems, ())


def gather_site(project: Project) -> Site:
    """Make every file of the site without writing any of them, but for the cache beside the lab's sources."""
    return make_site(project, Cache(project.root / FOLDER))
