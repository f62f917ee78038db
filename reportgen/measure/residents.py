"""Timed processes that stay alive between repetitions: one a mode, for a block of its repetitions."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from reportgen.errors import WorkerError
from reportgen.measure.answers import Answer, Runner, remove_empty
from reportgen.measure.environment import worker_environment
from reportgen.measure.job import Job
from reportgen.measure.process import WorkerProcess
from reportgen.units import NS_PER_S


@dataclass
class Resident:
    """A living process: its block, the repetition with which it began, and the worker itself."""

    block: int
    since: int
    worker: WorkerProcess
    log_file: Path


@dataclass
class Residents:
    """Living processes by mode. ``lost`` is told of one that ended while nothing was asked of it."""

    runner: Runner
    lost: Callable[[str, int], None]
    _living: dict[str, Resident] = field(default_factory=dict)

    def pids(self, but: str = "") -> tuple[int, ...]:
        """Process ids of all of them, that of mode ``but`` excepted."""
        return tuple(one.worker.pid for mode, one in sorted(self._living.items()) if mode != but)

    def since(self, mode: str, block: int) -> int | None:
        """Repetition with which the living process of a block began; ``None`` where a new one is due."""
        found = self._living.get(mode)
        if found is not None and not found.worker.alive():
            self.lost(mode, found.worker.pid)
            self.end(mode)
        elif found is not None and found.block != block:
            self.end(mode, patient=True)
        found = self._living.get(mode)
        return None if found is None else found.since

    def run(self, job: Job, block: int, folder: Path) -> Answer:
        """Give a repetition to the process of its block, or begin that; a process that fails is ended at once.

        Raises
        ------
        Interrupted
            The user asked for the end; the process still lives until :meth:`end_all`.
        WorkerError
            The process cannot be made to end.
        """
        job_file = folder / f"{job.mode}-{job.repetition:03d}.json"
        job.save(job_file)
        answer, began_ns = Answer(), time.monotonic_ns()
        try:
            worker = self._given(job, block, job_file, folder)
            answer.facts["pid"] = worker.pid
            self.runner.listen(worker, answer)
        except WorkerError as fault:
            answer.fault = fault
        finally:
            job_file.unlink(missing_ok=True)
        if answer.fault is not None:
            self.end(job.mode)
        answer.facts["process_s"] = (time.monotonic_ns() - began_ns) / NS_PER_S
        return answer

    def end(self, mode: str, *, patient: bool = False) -> None:
        """End the process of a mode, a healthy one by itself (``patient``), and see that its whole group is gone.

        Raises
        ------
        WorkerError
            It outlives SIGKILL.
        """
        found = self._living.pop(mode, None)
        if found is None:
            return
        try:
            if patient:
                found.worker.dismiss(self.runner.deadlines)
        finally:
            found.worker.close()
            remove_empty(found.log_file)

    def end_all(self) -> None:
        """End every process without patience; raises as :meth:`end` does."""
        for mode in list(self._living):
            self.end(mode)

    def _given(self, job: Job, block: int, job_file: Path, folder: Path) -> WorkerProcess:
        found = self._living.get(job.mode)
        if found is not None:
            found.worker.give(job_file)
            return found.worker
        log_file = folder / f"{job.mode}-block-{block:03d}.log"
        environment = worker_environment(self.runner.mark, job.variables)
        worker = WorkerProcess(job_file, log_file, environment, stays=True)
        self._living[job.mode] = Resident(block, job.repetition, worker, log_file)
        return worker
