"""A profile attempt: one process checks every arm, then the profiler counts each in processes of its own. Nothing is timed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from reportgen.analysis.counters import lines, rotations
from reportgen.archive import layout
from reportgen.archive.journal import Journal, OpenHeader
from reportgen.archive.rows import check_rows, to_parquet, to_table
from reportgen.errors import EXIT_INTERRUPTED, FindingError
from reportgen.measure.answers import Answer, Row, Runner
from reportgen.measure.campaign import CannotCompleteError, SourcesChangedError
from reportgen.measure.draws import schedule_seed
from reportgen.measure.identity import first_difference
from reportgen.measure.interruption import Interrupted
from reportgen.measure.jobs import Bench, Frame, layout_facts
from reportgen.measure.nvidia_tools import Installed
from reportgen.measure.order import Layout, schedule
from reportgen.measure.process import Launcher
from reportgen.measure.profiler import LOG, SLOWER, launcher, read_counters
from reportgen.measure.watching import Watch
from reportgen.model.counters import LEAST_ROTATING_SHARE, Rotation
from reportgen.model.record import Profile, Repetition

CHECKS, COUNTS = "checks", "profile"
_MOST_NAMED = 3


@dataclass
class Profiling:
    """One open profile attempt and everything needed to make it; ``finding`` is what its counters contradict, if anything."""

    bench: Bench
    journal: Journal
    header: OpenHeader
    bracket: Callable[[], dict[str, str]]
    runner: Runner
    watch: Watch
    installed: Installed
    finding: str = field(default="", init=False)

    def measure(self) -> None:
        """Check, then count.

        Raises
        ------
        CannotCompleteError, SourcesChangedError
            A process or the profiler died or refused, the user asked for the end, or sources changed; what was found stays in the artifacts.
        """
        told = self._told
        self.watch.phase(
            "profile", f"{len(told.fixtures)} of {told.of} fixtures, {len(told.arms)} of {told.of_arms} arms"
        )
        try:
            answer, drawn = self._checked()
            counted = self._counted()
        except Interrupted as fault:
            ended = CannotCompleteError("interrupted")
            ended.exit_status = EXIT_INTERRUPTED
            raise ended from fault
        rows = self._rows(counted)
        self._archive(answer, counted, drawn, rows)
        changed = first_difference(self.header.hashes, self.bracket())
        if changed is not None:
            raise SourcesChangedError(changed)

    @property
    def _told(self) -> Profile:
        if self.header.profile is None:
            raise ValueError("the header of a profile attempt names its profiler")
        return self.header.profile

    @property
    def _logs(self) -> Path:
        return self.journal.artifacts / "logs"

    def _frame(self) -> Frame:
        plan = self.bench.plan
        drawn = schedule(plan.arms_by_fixture, 1, 0, schedule_seed(plan.digest, self.header.id))
        return Frame(self.header.id, drawn, 0)

    def _checked(self) -> tuple[Answer, Layout]:
        self._logs.mkdir(exist_ok=True)
        job, drawn = self.bench.sanitizer_job(self._frame())
        answer = self.runner.run(job, CHECKS, self._logs)
        if answer.fault is not None:
            raise _ended(answer.fault)
        return answer, drawn

    def _counted(self) -> Answer:
        job, _ = self.bench.profile_job(self._frame())
        limits = self.runner.deadlines
        slower = replace(
            limits, start_s=SLOWER * limits.start_s, silence_s=SLOWER * limits.silence_s, end_s=SLOWER * limits.end_s
        )
        words = tuple(launcher(self.installed, self._logs / LOG))
        return replace(self.runner, deadlines=slower, launcher=Launcher(words, repeats=True)).run(
            job, COUNTS, self._logs
        )

    def _rows(self, answer: Answer) -> list[Row]:
        """Read what was counted; why the process ended, if it did, comes before what its profiler then says."""
        if answer.fault is not None:
            raise _ended(answer.fault)
        try:
            return read_counters(self._logs / LOG, answer.facts["counted"])
        except FindingError as fault:
            raise _ended(fault) from fault

    def _archive(self, checked: Answer, counted: Answer, drawn: Layout, rows: list[Row]) -> None:
        check_rows("counters", rows, layout.COUNTERS)
        self.journal.artifact(layout.COUNTERS, to_parquet(to_table("counters", rows)))
        self.journal.artifact(
            "profile.json", _json({"command": self._command(), "counted": counted.facts.pop("counted")})
        )
        facts: dict[str, Any] = {**checked.facts, "layout": layout_facts(drawn), "profile": counted.facts}
        self.journal.append(Repetition(repetition=1, batches=[], checks=checked.checks, facts=facts))
        footprints = {name: described.bytes for name, described in self.bench.described.items()}
        short = [one for one in rotations(lines(rows), self.bench.plan, footprints) if not one.holds]
        self.finding = not_rotating(short)
        self.journal.event(
            "counted", kernels=len(rows), passes=counted.passes, **({"finding": self.finding} if short else {})
        )

    def _command(self) -> list[str]:
        """Words of the profiler, without where it lies here."""
        return [
            Path(word).name if Path(word).is_absolute() else word for word in launcher(self.installed, self._logs / LOG)
        ]


def not_rotating(short: list[Rotation]) -> str:
    """Say which fixtures may not be called rotating; empty for none."""
    if not short:
        return ""
    named = [f"{one.fixture} ({100 * one.share:.1f} % in arm {one.arm})" for one in short[:_MOST_NAMED]]
    more = f" and {len(short) - _MOST_NAMED} more" if len(short) > _MOST_NAMED else ""
    return f"not rotating, since less than {100 * LEAST_ROTATING_SHARE:.0f} % of the footprint is moved: {'; '.join(named)}{more}"


def _json(facts: dict[str, Any]) -> bytes:
    return json.dumps(facts, indent=1, sort_keys=True).encode() + b"\n"


def _ended(fault: Exception) -> CannotCompleteError:
    said = fault.one_line() if isinstance(fault, FindingError) else str(fault)
    return CannotCompleteError(f"the profiler could not finish: {said}")
