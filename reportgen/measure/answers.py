"""One job in a process of its own, from the file that describes it to the rows that it answered."""

from __future__ import annotations

import errno
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reportgen import errors
from reportgen.errors import InputError, ReportgenError, WorkerError
from reportgen.measure.environment import worker_environment
from reportgen.measure.interruption import Interruption
from reportgen.measure.job import Job
from reportgen.measure.ownership import Owned
from reportgen.measure.process import Deadlines, Launcher, Message, WorkerProcess
from reportgen.units import NS_PER_S

Row = dict[str, Any]


@dataclass
class Answer:
    """What came back; ``fault`` is why it ended early, ``at`` what the process was doing then, ``left_alive`` what outlived it.

    ``passes`` counts how often the job was done: more than once under a launcher that repeats it.
    """

    batches: list[Row] = field(default_factory=list)
    checks: list[Row] = field(default_factory=list)
    described: dict[str, Message] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    fault: ReportgenError | None = None
    at: str = ""
    left_alive: list[Owned] = field(default_factory=list)
    passes: int = 0

    def take(self, message: Message) -> None:
        """Sort one message in."""
        kind = message.pop("message")
        if kind in ("batches", "checks"):
            getattr(self, kind).extend(message["rows"])
        elif kind == "described":
            self.described[message.pop("fixture")] = message
        elif kind == "done":
            self.facts.update(message["facts"])
            self.passes += 1
        elif kind == "fault":
            self.fault = _fault(message)


@dataclass(frozen=True)
class Runner:
    """Runs jobs one after the other, each in a process of its own; ``launcher`` stands before its command.

    ``mark`` is in the environment of each, so that whatever it starts is known to be this run's. Two labs may begin attempts of one
    name in the same second; marks are drawn at random.
    """

    deadlines: Deadlines
    interruption: Interruption
    launcher: Launcher = field(default_factory=Launcher)
    mark: str = ""

    def run(self, job: Job, name: str, folder: Path) -> Answer:
        """Run ``job``; its log is ``folder/<name>.log``, removed if empty.

        A process that dies, hangs or refuses is no exception here but the answer's ``fault``.

        Raises
        ------
        Interrupted
            The user asked for the end; the process is gone.
        WorkerError
            The process cannot be made to end.
        """
        job_file, log_file = folder / f"{name}.json", folder / f"{name}.log"
        job.save(job_file)
        answer, began_ns = Answer(), time.monotonic_ns()
        try:
            environment = worker_environment(self.mark, job.variables)
            with WorkerProcess(job_file, log_file, environment, self.launcher) as process:
                answer.facts["pid"] = process.pid
                self.listen(process, answer)
        finally:
            job_file.unlink(missing_ok=True)
            remove_empty(log_file)
        answer.facts["process_s"] = (time.monotonic_ns() - began_ns) / NS_PER_S
        return answer

    def listen(self, process: WorkerProcess, answer: Answer) -> None:
        """Take what ``process`` says of one job; raises :class:`reportgen.measure.interruption.Interrupted`."""
        try:
            for message in process.messages(self.deadlines, self.interruption):
                answer.take(message)
        except WorkerError as fault:
            answer.fault = fault
        answer.at = process.at


def remove_empty(log_file: Path) -> None:
    """Keep no log in which nothing stands."""
    if log_file.exists() and log_file.stat().st_size == 0:
        log_file.unlink()


def _fault(message: Message) -> ReportgenError:
    if message["kind"] == "system":
        full = message["errno"] == errno.ENOSPC
        return WorkerError(f"the timed process failed: {message['what']}", remedy="make room" if full else "")
    kind = getattr(errors, message["kind"], None)
    known = kind if isinstance(kind, type) and issubclass(kind, ReportgenError) else InputError
    return known(message["what"], where=message["where"], remedy=message["remedy"])
