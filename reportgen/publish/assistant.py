"""A helper of a build: a process that does what it is told by name, line by line on its standard input, and answers when it is done."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from reportgen.project import Project, Settings
from reportgen.publish.cache import FOLDER, Cache
from reportgen.publish.crew import Job, do
from reportgen.publish.stamp import code_digest


class Desk:
    """The jobs of one lab by name: first those of the archive, then, once it is asked for one of them, those of pages, stage by stage."""

    def __init__(self, project: Project, cache: Cache) -> None:
        code_digest(cache.hashes)  # before the rest of the program is loaded: what is then another one is told
        from reportgen.publish.entries import Entries, missing  # noqa: PLC0415

        entries = Entries(project, cache)
        self._jobs = _by_name(missing(entries, entries.scan()[0]))
        self._later = _pages(project, cache)

    def names(self) -> list[str]:
        """Name the jobs that are known so far."""
        return list(self._jobs)

    def do(self, name: str) -> None:
        """Do a job; one that is not known is left to others."""
        while name not in self._jobs and (more := next(self._later, None)):
            self._jobs = _by_name(more)
        if name in self._jobs:
            do(self._jobs[name])


def _pages(project: Project, cache: Cache) -> Iterator[list[Job]]:
    from reportgen.publish.gather import Gathered  # noqa: PLC0415 - as above
    from reportgen.publish.site import page_jobs  # noqa: PLC0415

    yield from page_jobs(project, Gathered(project, cache), cache)


def _by_name(jobs: Iterable[Job]) -> dict[str, Job]:
    return {job.name: job for job in jobs}


def main() -> None:
    """Read the lab's place and settings, then names of jobs, until the input ends."""
    root, settings = msgspec.json.decode(sys.stdin.readline(), type=tuple[str, Settings])
    project = Project(Path(root), settings)
    desk = Desk(project, Cache(project.root / FOLDER))
    _answer()
    for line in sys.stdin:
        desk.do(msgspec.json.decode(line, type=str))
        _answer()


def _answer() -> None:
    sys.stdout.write("\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
