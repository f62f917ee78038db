"""What is wrong with a lab's pages, without writing any of them."""

from __future__ import annotations

from reportgen.project import Project
from reportgen.publish.build import BuildReport, gather_site, split


def check(project: Project) -> BuildReport:
    """Find everything that would fail a strict build, in the order of files and lines; nothing is written.

    Raises
    ------
    InputError
        A file of the lab cannot be read.
    RecordError
        An attempt of the archive is damaged.
    """
    site = gather_site(project)
    grave, mild = split(site.problems)
    return BuildReport("memory, nothing written", site.pages, 0, 0, warnings=mild, problems=grave, nothing_written=True)
