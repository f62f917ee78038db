"""An attempt while it is measured: calibration, the turns of its series, a hash bracket around each, the journal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reportgen.archive.counting import refusal_sentences
from reportgen.archive.journal import Journal, OpenHeader, read_journal
from reportgen.errors import FindingError, ReportgenError
from reportgen.measure.answers import Answer, Runner
from reportgen.measure.completeness import missing, other_inputs, short_batches
from reportgen.measure.exclusion import broken_rules, highest_clock_mhz, tagged
from reportgen.measure.identity import first_difference
from reportgen.measure.job import PEER, PROCESS, REFUSED, Job
from reportgen.measure.jobs import Bench, layout_facts
from reportgen.measure.ledger import REPLACES, Turn
from reportgen.measure.opening import digest_of
from reportgen.measure.ownership import Owned
from reportgen.measure.peer_cells import peer_cells
from reportgen.measure.python_code import CODE, archive_code, other_code
from reportgen.measure.residents import Residents
from reportgen.measure.series import Book, series_of
from reportgen.measure.standing import Drawer
from reportgen.measure.watching import Watch
from reportgen.model.record import Kind, Repetition
from reportgen.units import NS_PER_S

LEFT_ALIVE = "left alive"


class SourcesChangedError(FindingError):
    """The hash bracket differs: the attempt is invalid."""


class CannotCompleteError(FindingError):
    """Calibration failed, or more repetitions were lost than there are spares: the attempt is aborted."""


Sweep = Callable[[Iterable[int], Iterable[int]], list[Owned]]


def _nothing_alive(staying: Iterable[int], ended: Iterable[int]) -> list[Owned]:
    del staying, ended
    return []


@dataclass
class Campaign:
    """One open attempt and everything needed to measure it.

    ``bracket`` takes the hashes of all that must not change; ``sweep`` ends what a timed process left alive (``Guard.sweep``). What is measured
    contradicts nothing: there is no ``finding``.
    """

    finding = ""

    bench: Bench
    journal: Journal
    header: OpenHeader
    bracket: Callable[[], dict[str, str]]
    runner: Runner
    watch: Watch
    sweep: Sweep = _nothing_alive

    def __post_init__(self) -> None:
        plan = self.bench.plan
        self.repetitions = list(read_journal(self.journal.folder).repetitions)
        quick = self.header.kind is Kind.QUICK
        self._series = series_of(plan.experiment, self.header.repetitions_planned, quick=quick)
        self._residents = Residents(self.runner, self._note_lost)
        self._drawer = Drawer(self.bench, self.header.id, _origin_ns(self.header.started_at), self._series)
        self._began_ns = time.monotonic_ns()
        self._measured_here = 0

    @property
    def book(self) -> Book:
        """What is done and what is next."""
        return Book(self._series, tuple(self.repetitions))

    def measure(self) -> None:
        """Measure until every planned place is filled.

        Raises
        ------
        CannotCompleteError, SourcesChangedError
            It ends early; everything measured is in the journal.
        Interrupted
            The user asked for the end.
        """
        replays = self._calibrated(PROCESS)
        of_peers = self._calibrated_peers()
        try:
            while (turn := self.book.next_turn()) is not None:
                self.runner.interruption.check()
                self._repeat(turn, of_peers if turn.mode == PEER else replays)
        finally:
            self._residents.end_all()
        if not self.book.complete:
            lost = "; ".join(f"{_said(one)}: {one.left_out}" for one in self.repetitions if one.left_out)
            raise CannotCompleteError(f"no spare is left ({lost})")

    def _calibrated_peers(self) -> dict[str, int]:
        """Calibrate the peer group, and leave out what cannot run here; without peers there is nothing to do."""
        if not any(one.name == PEER for one in self._series):
            return {}
        replays = self._calibrated(PEER)
        done = next(one for one in self.repetitions if one.repetition == 0 and one.mode == PEER)
        for sentence in refusal_sentences(done.facts[REFUSED]):
            self.watch.warning(sentence)
        self._drawer.refuse(done.facts[REFUSED])
        if not peer_cells(self.bench.plan, done.facts[REFUSED]):
            self._series = tuple(one for one in self._series if one.name != PEER)
        return replays

    def _calibrated(self, mode: str) -> dict[str, int]:
        done = next((one for one in self.repetitions if one.repetition == 0 and one.mode == mode), None)
        if done is None:
            self.watch.phase("calibration", "" if mode == PROCESS else mode)
            job, layout = self._drawer.calibration(mode)
            name = "repetition" if mode == PROCESS else mode
            answer, changed = self._bracketed(lambda logs: self.runner.run(job, f"{name}-000", logs))
            if answer.fault is not None:
                self.journal.event("calibration failed", at=answer.at, fault=answer.fault.one_line())
                raise _calibration_failed(answer.fault)
            done = self._archive(
                Repetition(
                    repetition=0,
                    batches=answer.batches,
                    checks=[],
                    facts=answer.facts | {"layout": layout_facts(layout)},
                    mode=mode,
                )
            )
            archive_code(self.journal, self.bench.work, answer.facts)
            told = {"mode": mode, REFUSED: refusal_sentences(answer.facts[REFUSED])} if mode == PEER else {}
            self.journal.event("calibrated", replays=answer.facts["replays"], **told)
            _refuse_change(changed)
        replays: dict[str, int] = done.facts["replays"]
        return replays

    def _repeat(self, turn: Turn, replays: dict[str, int]) -> None:
        book = self.book
        number = f"{turn.repetition}" if turn.replaces is None else f"{turn.repetition} in place of {turn.replaces}"
        self.watch.phase("repetition", number if turn.mode == PROCESS else f"{turn.mode} {number}")
        since = self._residents.since(turn.mode, book.block(turn)) if book.stays(turn) else None
        job, facts = self._drawer.repetition(book, turn, replays, since, self._residents.pids(turn.mode))
        answer, changed = self._bracketed(lambda logs: self._run(book, turn, job, logs))
        self._take(turn, job, answer, facts)
        _refuse_change(changed)
        if book.stays(turn) and not self.book.remains_in_block(turn):
            self._residents.end(turn.mode, patient=True)
        self._tell(turn.mode)

    def _run(self, book: Book, turn: Turn, job: Job, logs: Path) -> Answer:
        if book.stays(turn):
            return self._residents.run(job, book.block(turn), logs)
        name = "repetition" if turn.mode == PROCESS else turn.mode
        return self.runner.run(job, f"{name}-{turn.repetition:03d}", logs)

    def _take(self, turn: Turn, job: Job, answer: Answer, facts: dict[str, Any]) -> None:
        """Tag what came back, decide whether it counts, and archive it."""
        rows = tagged(answer.batches, self.bench.plan.experiment.protocol.exclude, self._highest_clock(answer))
        short = short_batches(job, rows)
        facts = answer.facts | facts | {"orders": job.orders, "short_batches": short}
        if turn.replaces is not None:
            facts[REPLACES] = turn.replaces
        done = Repetition(
            repetition=turn.repetition,
            batches=rows,
            checks=answer.checks,
            facts=facts,
            left_out=self._why_left_out(job, answer) or broken_rules(rows),
            mode=turn.mode,
        )
        self._archive(done)
        mode = {} if turn.mode == PROCESS else {"mode": turn.mode}
        self.journal.event("repetition", number=turn.repetition, replaces=turn.replaces, left_out=done.left_out, **mode)
        if done.left_out:
            self.watch.warning(f"{_said(done)} is left out: {done.left_out}")
        self._warn(_said(done), short, answer.facts.get("host_bound_batches") or 0)

    def _warn(self, which: str, short: int, host_bound: int) -> None:
        protocol = self.bench.plan.experiment.protocol
        if short:
            self.watch.warning(f"{which}: {short} batches are shorter than {protocol.least_batch_ms:g} ms")
        if host_bound:
            self.watch.warning(
                f"{which}: {host_bound} batches ran as fast as the host could enqueue them; "
                f"raise protocol.launches_per_graph (now {protocol.launches_per_graph}), or what launches() returns"
            )

    def _bracketed(self, run: Callable[[Path], Answer]) -> tuple[Answer, str | None]:
        """Run a job between two hash brackets, which its facts keep; the sentence tells what differs from the attempt's first."""
        before = self.bracket()
        _refuse_change(first_difference(self.header.hashes, before))
        logs = self.journal.artifacts / "logs"
        logs.mkdir(exist_ok=True)
        answer = run(logs)
        ended = [answer.facts["pid"]] if "pid" in answer.facts else []
        answer.left_alive = self.sweep(self._residents.pids(), ended)
        if answer.left_alive:
            self.journal.event(LEFT_ALIVE, processes=[str(one) for one in answer.left_alive])
        after = self.bracket()
        answer.facts["hash_bracket"] = {"before": digest_of(before), "after": digest_of(after)}
        return answer, first_difference(self.header.hashes, after)

    def _archive(self, repetition: Repetition) -> Repetition:
        self.journal.append(repetition)
        self.repetitions.append(repetition)
        self._measured_here += 1
        return repetition

    def _why_left_out(self, job: Job, answer: Answer) -> str:
        if answer.fault is not None:
            return answer.fault.one_line()
        if answer.left_alive:
            return f"left {', '.join(map(str, answer.left_alive))} alive, which may have shared the device; ended"
        lacks = missing(job, answer.batches, answer.checks)
        return lacks or other_inputs(self.bench.described, answer.facts["inputs"]) or self._other_code(answer)

    def _other_code(self, answer: Answer) -> str:
        first = next(one for one in self.repetitions if one.repetition == 0 and one.mode == PROCESS)
        return other_code(first.facts, answer.facts) if CODE in answer.facts else ""

    def _highest_clock(self, answer: Answer) -> float | None:
        earlier = [row for one in self.repetitions for row in one.batches]
        return highest_clock_mhz([*earlier, *answer.batches])

    def _tell(self, mode: str) -> None:
        book = self.book
        spent_s = (time.monotonic_ns() - self._began_ns) / NS_PER_S
        left_s = spent_s / self._measured_here * book.left
        ledger = book.ledgers[mode]
        self.watch.repetition_done(len(ledger.accepted), ledger.planned, left_s, self._scored_rows(book), mode)

    def _scored_rows(self, book: Book) -> list[dict[str, Any]]:
        accepted = book.ledgers[PROCESS].accepted
        counted = [one for one in self.repetitions if one.mode == PROCESS and one.repetition in accepted]
        return [row for one in counted for row in one.batches if not row["warmup"]]

    def _note_lost(self, mode: str, pid: int) -> None:
        self.journal.event("process lost", mode=mode, pid=pid)
        self.watch.warning(f"the process of mode {mode} ended while it waited; a new one goes on with its block")


def _said(repetition: Repetition) -> str:
    mode = "" if repetition.mode == PROCESS else f"{repetition.mode} "
    return f"{mode}repetition {repetition.repetition}"


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
