"""What is wrong with a lab's pages, without writing any of them."""

from __future__ import annotations

from reportgen.project import Project
from reportgen.publish.build import gather_site
from reportgen.publish.problems import Problem


def check(project: Project) -> tuple[Problem, ...]:
    """Find everything that would fail a strict build, in the order of files and lines.

    Raises
    ------
    InputError
        A file of the lab cannot be read.
    RecordError
        An attempt of the archive is damaged.
    """
    return gather_site(project).problems
