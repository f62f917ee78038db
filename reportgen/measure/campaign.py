"""An attempt while it is measured: calibration, repetitions, spares, a hash bracket around each, the journal."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from reportgen.archive.journal import Journal, OpenHeader, read_journal
from reportgen.errors import FindingError, ReportgenError
from reportgen.measure.answers import Answer, Runner
from reportgen.measure.completeness import missing, other_inputs, short_batches
from reportgen.measure.draws import schedule_seed
from reportgen.measure.exclusion import broken_rules, highest_clock_mhz, tagged
from reportgen.measure.identity import first_difference
from reportgen.measure.job import Job
from reportgen.measure.jobs import Bench, Frame, layout_facts
from reportgen.measure.ledger import REPLACES, Ledger, Turn, read_ledger
from reportgen.measure.opening import digest_of
from reportgen.measure.order import Schedule, schedule
from reportgen.measure.watching import Watch
from reportgen.model.record import Repetition
from reportgen.units import NS_PER_S


class SourcesChangedError(FindingError):
    """The hash bracket differs: the attempt is invalid."""


class CannotCompleteError(FindingError):
    """Calibration failed, or more repetitions were lost than there are spares: the attempt is aborted."""


@dataclass
class Campaign:
    """One open attempt and everything needed to measure it. ``bracket`` takes the hashes of all that must not change."""

    bench: Bench
    journal: Journal
    header: OpenHeader
    bracket: Callable[[], dict[str, str]]
    runner: Runner
    watch: Watch

    def __post_init__(self) -> None:
        self.repetitions = list(read_journal(self.journal.folder).repetitions)
        self.schedule = self._schedule()
        self._origin_ns = _origin_ns(self.header.started_at)
        self._began_ns = time.monotonic_ns()
        self._measured_here = 0

    @property
    def ledger(self) -> Ledger:
        """What is done and what is next."""
        return read_ledger(
            self.header.repetitions_planned, self.bench.plan.experiment.protocol.spares, self.repetitions
        )

    def measure(self) -> None:
        """Measure until every planned place is filled.

        Raises
        ------
        CannotCompleteError, SourcesChangedError
            It ends early; everything measured is in the journal.
        Interrupted
            The user asked for the end.
        """
        replays = self._calibrated()
        while (turn := self.ledger.next_turn()) is not None:
            self.runner.interruption.check()
            self._repeat(turn, replays)
        if not self.ledger.complete:
            lost = "; ".join(f"repetition {one.repetition}: {one.left_out}" for one in self.repetitions if one.left_out)
            raise CannotCompleteError(f"no spare is left ({lost})")

    def _calibrated(self) -> dict[str, int]:
        done = next((one for one in self.repetitions if one.repetition == 0), None)
        if done is None:
            self.watch.phase("calibration")
            job, layout = self.bench.calibration_job(self._frame())
            answer, changed = self._bracketed(job, "repetition-000")
            if answer.fault is not None:
                self.journal.event("calibration failed", at=answer.at, fault=answer.fault.one_line())
                raise _calibration_failed(answer.fault)
            done = self._archive(
                Repetition(
                    repetition=0,
                    batches=answer.batches,
                    checks=[],
                    facts=answer.facts | {"layout": layout_facts(layout)},
                )
            )
            self.journal.event("calibrated", replays=answer.facts["replays"])
            _refuse_change(changed)
        replays: dict[str, int] = done.facts["replays"]
        return replays

    def _repeat(self, turn: Turn, replays: dict[str, int]) -> None:
        if turn.replaces is not None:
            self.schedule = self.schedule.with_spare(turn.repetition, turn.replaces)
        self.watch.phase(
            "repetition",
            f"{turn.repetition}" if turn.replaces is None else f"{turn.repetition} in place of {turn.replaces}",
        )
        job, layout = self.bench.repetition_job(turn.repetition, self._frame(), replays)
        answer, changed = self._bracketed(job, f"repetition-{turn.repetition:03d}")
        rows = tagged(answer.batches, self.bench.plan.experiment.protocol.exclude, self._highest_clock(answer))
        short = short_batches(job, rows)
        facts = answer.facts | {"layout": layout_facts(layout), "orders": job.orders, "short_batches": short}
        if turn.replaces is not None:
            facts[REPLACES] = turn.replaces
        left_out = self._why_left_out(job, answer) or broken_rules(rows)
        self._archive(
            Repetition(repetition=turn.repetition, batches=rows, checks=answer.checks, facts=facts, left_out=left_out)
        )
        self.journal.event("repetition", number=turn.repetition, replaces=turn.replaces, left_out=left_out)
        if left_out:
            self.watch.warning(f"repetition {turn.repetition} is left out: {left_out}")
        self._warn(turn.repetition, short, answer.facts.get("host_bound_batches") or 0)
        _refuse_change(changed)
        self._tell()

    def _warn(self, repetition: int, short: int, host_bound: int) -> None:
        protocol = self.bench.plan.experiment.protocol
        if short:
            self.watch.warning(
                f"repetition {repetition}: {short} batches are shorter than {protocol.least_batch_ms:g} ms"
            )
        if host_bound:
            self.watch.warning(
                f"repetition {repetition}: {host_bound} batches ran as fast as the host could enqueue them; "
                f"raise protocol.launches_per_graph (now {protocol.launches_per_graph})"
            )

    def _bracketed(self, job: Job, name: str) -> tuple[Answer, str | None]:
        """Run a job between two hash brackets, which its facts keep; the sentence tells what differs from the attempt's first."""
        before = self.bracket()
        _refuse_change(first_difference(self.header.hashes, before))
        logs = self.journal.artifacts / "logs"
        logs.mkdir(exist_ok=True)
        answer = self.runner.run(job, name, logs, self.header.id)
        after = self.bracket()
        answer.facts["hash_bracket"] = {"before": digest_of(before), "after": digest_of(after)}
        return answer, first_difference(self.header.hashes, after)

    def _frame(self) -> Frame:
        return Frame(self.header.id, self.schedule, self._origin_ns)

    def _archive(self, repetition: Repetition) -> Repetition:
        self.journal.append(repetition)
        self.repetitions.append(repetition)
        self._measured_here += 1
        return repetition

    def _why_left_out(self, job: Job, answer: Answer) -> str:
        if answer.fault is not None:
            return answer.fault.one_line()
        lacks = missing(job, answer.batches, answer.checks)
        return lacks or other_inputs(self.bench.described, answer.facts["inputs"])

    def _highest_clock(self, answer: Answer) -> float | None:
        earlier = [row for one in self.repetitions for row in one.batches]
        return highest_clock_mhz([*earlier, *answer.batches])

    def _tell(self) -> None:
        ledger = self.ledger
        spent_s = (time.monotonic_ns() - self._began_ns) / NS_PER_S
        left_s = spent_s / self._measured_here * (ledger.planned - len(ledger.accepted))
        self.watch.repetition_done(len(ledger.accepted), ledger.planned, left_s, self._scored_rows())

    def _scored_rows(self) -> list[dict[str, Any]]:
        accepted = [one for one in self.repetitions if one.repetition in self.ledger.accepted]
        return [row for one in accepted for row in one.batches if not row["warmup"]]

    def _schedule(self) -> Schedule:
        plan = self.bench.plan
        arms = {fixture: plan.arms_by_fixture[fixture] for fixture in self.bench.timed_fixtures()}
        spares = plan.experiment.protocol.spares
        drawn = schedule(arms, self.header.repetitions_planned, spares, schedule_seed(plan.digest, self.header.id))
        for spare, lost in sorted(self.ledger.replaced.items()):
            drawn = drawn.with_spare(spare, lost)
        return drawn


def _calibration_failed(fault: ReportgenError) -> CannotCompleteError:
    """Wrap what ended calibration; bad input stays bad input, since nothing was measured."""
    failed = CannotCompleteError(fault.what, where=fault.where, remedy=fault.remedy)
    failed.exit_status = fault.exit_status
    return failed


def _refuse_change(sentence: str | None) -> None:
    if sentence is not None:
        raise SourcesChangedError(sentence)


def _origin_ns(started_at: str) -> int:
    """When the attempt began on this machine's raw monotonic clock, which starts anew with the machine."""
    since = datetime.now(UTC) - datetime.fromisoformat(started_at)
    return time.clock_gettime_ns(getattr(time, "CLOCK_MONOTONIC_RAW", time.CLOCK_MONOTONIC)) - round(
        since.total_seconds() * NS_PER_S
    )
