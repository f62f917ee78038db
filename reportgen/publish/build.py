"""Building the site: gather everything, then write. What is unchanged is not written again, what is stale goes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from reportgen.project import Project
from reportgen.publish.cache import FOLDER, KEPT_PAGES, Cache
from reportgen.publish.crew import crew_of
from reportgen.publish.output import write_site
from reportgen.publish.problems import Problem
from reportgen.publish.remembering import Memory
from reportgen.publish.stamp import Stamp

if TYPE_CHECKING:
    from reportgen.publish.site import Site


@dataclass(frozen=True)
class BuildReport:
    """What a build did.

    ``out`` names the folder, ``pages`` counts the HTML pages of the site, ``written`` and ``removed`` the files changed
    there, ``nothing_written`` tells that the folder was left as it was found. What is wrong stands in ``problems`` of a strict build, which then wrote nothing, and in ``warnings`` of any
    other; what is not grave is a warning in both.
    """

    out: str
    pages: int
    written: int
    removed: int
    warnings: tuple[Problem, ...] = ()
    problems: tuple[Problem, ...] = ()
    nothing_written: bool = False

    @property
    def failed(self) -> bool:
        """Whether a strict build refused to write the site."""
        return bool(self.problems)


def build(project: Project, out: Path, *, strict: bool, helpers: int | None = None) -> BuildReport:
    """Build the site of a lab into the folder ``out``, with so many processes beside this one; with as many as are worth it, if that is left open.

    Raises
    ------
    InputError
        ``out`` holds something that is no site of ours, or a file cannot be read.
    """
    cache = Cache(project.root / FOLDER)
    stamp = Stamp(project, out, cache.hashes)
    known = stamp.read(BuildReport)
    if known is not None and not (strict and any(one.grave for one in known.warnings)):
        cache.hashes.save()
        return replace(known, written=0, removed=0)
    site = gather_site(project, cache, helpers)
    grave, mild = split(site.problems)
    if strict and grave:
        return BuildReport(str(out), site.pages, 0, 0, warnings=mild, problems=grave, nothing_written=True)
    written, removed = write_site(out, site.files)
    report = BuildReport(str(out), site.pages, written, removed, warnings=site.problems)
    stamp.write(report, site.places)
    cache.prune(KEPT_PAGES)
    cache.hashes.save()
    return report


def split(problems: Iterable[Problem]) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
    """Tell what fails a strict build from what is only worth a word."""
    found = list(problems)
    return tuple(one for one in found if one.grave), tuple(one for one in found if not one.grave)


def gather_site(project: Project, cache: Cache | None = None, helpers: int | None = None) -> Site:
    """Make every file of the site without writing any of them, but for the cache beside the lab's sources."""
    cache = cache or Cache(project.root / FOLDER)
    with crew_of(project, cache, helpers) as crew:  # they load what makes pages while this process does
        # Loading what makes pages takes longer than finding that nothing changed.
        from reportgen.publish.gather import Gathered  # noqa: PLC0415
        from reportgen.publish.site import make_site  # noqa: PLC0415

        return make_site(project, Gathered(project, cache, crew), Memory(), cache, crew)
