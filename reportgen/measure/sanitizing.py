"""A sanitizer attempt: one process under a tool that replays every arm's graph over poisoned buffers. Nothing is timed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from reportgen.archive.journal import Journal, OpenHeader
from reportgen.errors import EXIT_INTERRUPTED, FindingError
from reportgen.measure.answers import Answer, Runner
from reportgen.measure.campaign import CannotCompleteError, SourcesChangedError
from reportgen.measure.draws import schedule_seed
from reportgen.measure.identity import first_difference
from reportgen.measure.interruption import Interrupted
from reportgen.measure.job import Job
from reportgen.measure.jobs import Bench, Frame, layout_facts
from reportgen.measure.nvidia_tools import Installed
from reportgen.measure.order import Layout, schedule
from reportgen.measure.process import Launcher
from reportgen.measure.sanitizers import SLOWER, Findings, launcher, read_findings
from reportgen.measure.watching import Watch
from reportgen.model.record import Repetition, Sanitizer

NAME = "sanitizer"


class SanitizerFoundError(FindingError):
    """The tool found something: the attempt is invalid."""


@dataclass
class Sanitizing:
    """One open sanitizer attempt and everything needed to make it; a ``finding`` of the tool makes it invalid, so a complete one has none."""

    finding = ""
    bench: Bench
    journal: Journal
    header: OpenHeader
    bracket: Callable[[], dict[str, str]]
    runner: Runner
    watch: Watch
    installed: Installed

    def measure(self) -> None:
        """Run the one process.

        Raises
        ------
        SanitizerFoundError
            The tool counts errors.
        CannotCompleteError, SourcesChangedError
            The process or the tool died, the user asked for the end, or sources changed; what was found stays in the artifacts.
        """
        told = self._told
        self.watch.phase(told.tool, f"{len(told.fixtures)} of {told.of} fixtures")
        job, layout = self._job()
        try:
            answer = self._run(job)
        except Interrupted as fault:
            ended = CannotCompleteError("interrupted")
            ended.exit_status = EXIT_INTERRUPTED
            raise ended from fault
        findings = self._findings(answer)
        self._archive(answer, findings, layout, len(job.graph_order))
        if not findings.clean:
            raise SanitizerFoundError(findings.sentence(told.tool), remedy=f"see artifacts/logs/{told.tool}.log")
        if answer.fault is not None:
            raise _ended(answer.fault.one_line())
        changed = first_difference(self.header.hashes, self.bracket())
        if changed is not None:
            raise SourcesChangedError(changed)

    @property
    def _told(self) -> Sanitizer:
        if self.header.sanitizer is None:
            raise ValueError("the header of a sanitizer attempt names its tool")
        return self.header.sanitizer

    @property
    def _log(self) -> Path:
        return self.journal.artifacts / "logs" / f"{self._told.tool}.log"

    def _job(self) -> tuple[Job, Layout]:
        plan = self.bench.plan
        arms = {name: plan.arms_by_fixture[name] for name in self.bench.timed_fixtures()}
        drawn = schedule(arms, 1, 0, schedule_seed(plan.digest, self.header.id))
        return self.bench.sanitizer_job(Frame(self.header.id, drawn, 0))

    def _run(self, job: Job) -> Answer:
        self._log.parent.mkdir(exist_ok=True)
        limits = self.runner.deadlines
        slower = replace(
            limits, start_s=SLOWER * limits.start_s, silence_s=SLOWER * limits.silence_s, end_s=SLOWER * limits.end_s
        )
        words = tuple(launcher(self.installed, self._told.tool, self._log))
        runner = replace(self.runner, deadlines=slower, launcher=Launcher(words))
        return runner.run(job, NAME, self._log.parent)

    def _findings(self, answer: Answer) -> Findings:
        try:
            return read_findings(self._log, self._told.tool)
        except FindingError as fault:
            words = [fault.one_line(), *([answer.fault.one_line()] if answer.fault else [])]
            raise _ended("; ".join(words)) from fault

    def _archive(self, answer: Answer, findings: Findings, layout: Layout, graphs: int) -> None:
        facts = answer.facts | {"layout": layout_facts(layout), "sanitizer": asdict(findings)}
        left_out = answer.fault.one_line() if answer.fault is not None else ""
        self.journal.append(Repetition(repetition=1, batches=[], checks=answer.checks, facts=facts, left_out=left_out))
        told = {
            "tool": self._told.tool,
            "version": self._told.version,
            "fixtures": self._told.fixtures,
            "graphs": graphs,
            **asdict(findings),
        }
        self.journal.artifact("sanitizer.json", json.dumps(told, indent=2, sort_keys=True).encode() + b"\n")
        self.journal.event("sanitized", tool=self._told.tool, errors=findings.errors, warnings=findings.warnings)


def _ended(why: str) -> CannotCompleteError:
    return CannotCompleteError(f"the sanitizer could not finish: {why}")
