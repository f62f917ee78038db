"""Several processes that fill one cache: this one, and helpers of the same lab that are told line by line what to do.

Whatever a job makes stands in the cache, so it is all the same who did it, and whether it was done at all: what is missing is made when it is asked for, and
what stops it is said there. A helper that fails, is killed or knows no such job costs time and nothing else. It ends when this process does, since its
standard input then ends.
"""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from reportgen.project import Project
from reportgen.publish.cache import Cache
from reportgen.publish.identities import SOUND, bytes_of, folders_of_attempts, identity_of, sound_key
from reportgen.publish.stamp import code_digest

PROGRAM = "reportgen.publish.assistant"
_PACKAGE_ROOT = Path(__file__).resolve().parents[2]
_MOST = 4
_WORTH_BYTES = 2_000_000  # of the archive: less is computed before a helper has loaded its libraries


@dataclass(frozen=True)
class Job:
    """Something to be done, by the name that every process of the lab knows it by; ``weight`` grows with the time that it takes."""

    name: str
    weight: int
    do: Callable[[], object]


class Crew:
    """A process that builds, and its helpers."""

    def __init__(self, helpers: Iterable[subprocess.Popen[str]] = ()) -> None:
        self.helpers = list(helpers)
        self._jobs: queue.Queue[Job | None] = queue.Queue()
        self._feeding = [threading.Thread(target=self._feed, args=(helper,), daemon=True) for helper in self.helpers]
        for thread in self._feeding:
            thread.start()

    def share(self, jobs: Iterable[Job]) -> None:
        """Do jobs, the heaviest first, each once by whoever is free; return when all are done."""
        for job in sorted(jobs, key=lambda job: (-job.weight, job.name)):
            self._jobs.put(job)
        with contextlib.suppress(queue.Empty):
            while True:
                mine = self._jobs.get_nowait()
                try:
                    do(mine)
                finally:
                    self._jobs.task_done()
        self._jobs.join()

    def end(self) -> None:
        """End the helpers, whatever they do."""
        for helper, thread in zip(self.helpers, self._feeding, strict=True):
            helper.kill()
            helper.wait()
            self._jobs.put(None)
            thread.join()
            _close(helper)

    def _feed(self, helper: subprocess.Popen[str]) -> None:
        """Hand a helper one job after the other; one that is not ready, or gone, gets none."""
        told = _read(helper)
        while told and (job := self._jobs.get()):
            try:
                _write(helper, job.name)
                told = _read(helper)
            finally:
                self._jobs.task_done()


def do(job: Job | None) -> None:
    """Do a job as far as it goes: what stops it stops whoever asks for what it should have made."""
    if job is not None:
        with contextlib.suppress(Exception):
            job.do()


@contextlib.contextmanager
def crew_of(project: Project, cache: Cache, helpers: int | None = None) -> Iterator[Crew]:
    """Give a crew with ``helpers``, or as many as are worth it; they end with the block."""
    number = _worth(project, cache) if helpers is None else helpers
    crew = Crew(_start(project) for _ in range(number))
    try:
        yield crew
    finally:
        crew.end()


def _worth(project: Project, cache: Cache) -> int:
    """Say how many helpers are worth starting: one a core beside this process, where much of the archive is new to the cache."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    code = code_digest(cache.hashes)
    new = (
        bytes_of(folder)
        for folder in folders_of_attempts(project.runs)
        if not cache.holds(SOUND, sound_key(code, identity_of(cache.hashes, folder)))
    )
    return min(cores, _MOST) - 1 if sum(new) > _WORTH_BYTES else 0


def _start(project: Project) -> subprocess.Popen[str]:
    paths = [str(_PACKAGE_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    started = subprocess.Popen(  # noqa: S603 - this interpreter and a module of this package
        [sys.executable, "-P", "-m", PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # what goes wrong here goes wrong in this process too, which says it
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        process_group=0,  # Ctrl-C is for this process, which ends its helpers
    )
    _write(started, (str(project.root), project.settings))
    return started


def _write(helper: subprocess.Popen[str], said: object) -> None:
    """Send a line; whether it arrives shows in the answer."""
    with contextlib.suppress(OSError, ValueError):
        if helper.stdin is not None:
            helper.stdin.write(msgspec.json.encode(said).decode() + "\n")
            helper.stdin.flush()


def _read(helper: subprocess.Popen[str]) -> str:
    """Wait for a line; nothing where the helper is gone."""
    with contextlib.suppress(OSError, ValueError):
        return helper.stdout.readline() if helper.stdout is not None else ""
    return ""


def _close(helper: subprocess.Popen[str]) -> None:
    for stream in (helper.stdin, helper.stdout):
        with contextlib.suppress(OSError):
            if stream is not None:
                stream.close()
