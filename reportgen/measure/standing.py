"""From what an attempt has measured to the job of its next turn: orders, draws in force, checks due. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reportgen.measure.draws import schedule_seed
from reportgen.measure.harness_turns import cells_of, harness_schedule
from reportgen.measure.job import AFTER, BEFORE, LAYOUT, PLACEMENT, PROCESS, Job
from reportgen.measure.jobs import Bench, Frame, Standing, layout_facts
from reportgen.measure.ledger import Turn
from reportgen.measure.order import Layout, Schedule, schedule
from reportgen.measure.series import Book, Series


@dataclass
class Drawer:
    """Makes the jobs of one attempt."""

    bench: Bench
    attempt_id: str
    origin_ns: int
    series: Sequence[Series]

    def __post_init__(self) -> None:
        self._schedules = {one.name: self._schedule(one) for one in self.series}

    def calibration(self) -> tuple[Job, Layout]:
        """Job of repetition 0, which all series share, and what was drawn for it."""
        return self.bench.calibration_job(Frame(self.attempt_id, self._schedules[PROCESS], self.origin_ns))

    def repetition(
        self, book: Book, turn: Turn, replays: dict[str, int], since: int | None, own_pids: tuple[int, ...]
    ) -> tuple[Job, dict[str, Any]]:
        """Job of a turn, and what its repetition's facts keep of it.

        ``since`` is the repetition with which the living process of its block began, if there is one.
        """
        began = turn.repetition if since is None else since
        standing = Standing(
            mode=turn.mode,
            turn=len(book.repetitions),
            process_since=began,
            placement=began if turn.mode == PLACEMENT else turn.repetition,
            checks=self._checks(book, turn, fresh=since is None),
            own_pids=own_pids,
        )
        drawn = self._schedules[turn.mode]
        for spare, lost in sorted(book.ledgers[turn.mode].replaced.items()):
            drawn = drawn.with_spare(spare, lost)
        if turn.replaces is not None:
            drawn = drawn.with_spare(turn.repetition, turn.replaces)
        job, layout = self.bench.repetition_job(
            turn.repetition, Frame(self.attempt_id, drawn, self.origin_ns), replays, standing
        )
        facts: dict[str, Any] = {"layout": layout_facts(layout)}
        if book.stays(turn):
            facts |= {"block": book.block(turn), "process_since": began, "placement": standing.placement}
        return job, facts

    def _checks(self, book: Book, turn: Turn, *, fresh: bool) -> tuple[str, ...]:
        """When outputs are compared: around every process, after every redraw, at both ends of a placement."""
        if turn.mode == PROCESS:
            return BEFORE, AFTER
        if turn.mode == PLACEMENT:
            return (*([BEFORE] if fresh else []), *([AFTER] if book.ends_block(turn) else []))
        return (BEFORE,) if turn.mode == LAYOUT else (BEFORE, AFTER)

    def _schedule(self, series: Series) -> Schedule:
        plan = self.bench.plan
        if not series.is_mode:
            harness = next(one for one in plan.experiment.harnesses if one.name == series.name)
            seed = schedule_seed(plan.digest, self.attempt_id, series.name)
            return harness_schedule(cells_of(plan, harness), series.planned, series.spares, seed)
        arms = {fixture: plan.arms_by_fixture[fixture] for fixture in self.bench.timed_fixtures()}
        return schedule(arms, series.planned, series.spares, schedule_seed(plan.digest, self.attempt_id))
