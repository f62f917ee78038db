"""From what an attempt has measured to the job of its next turn: orders, draws in force, checks due. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reportgen.measure.draws import schedule_seed
from reportgen.measure.harness_turns import cells_of, harness_schedule
from reportgen.measure.job import AFTER, BEFORE, LAYOUT, PEER, PLACEMENT, PROCESS, Job
from reportgen.measure.jobs import Bench, Frame, Standing, layout_facts
from reportgen.measure.ledger import Turn
from reportgen.measure.order import Layout, Schedule, schedule
from reportgen.measure.peer_cells import Refusal, peer_cells
from reportgen.measure.series import Book, Series


@dataclass
class Drawer:
    """Makes the jobs of one attempt."""

    bench: Bench
    attempt_id: str
    origin_ns: int
    series: Sequence[Series]

    def __post_init__(self) -> None:
        self._cells = {one.name: self._cells_of(one) for one in self.series}
        self._schedules = {one.name: self._schedule(one) for one in self.series}

    def refuse(self, refused: Iterable[Refusal]) -> None:
        """Leave out what the calibrating process of the peers refused; the schedule is drawn for what is left."""
        peers = next(one for one in self.series if one.name == PEER)
        self._cells[PEER] = peer_cells(self.bench.plan, refused)
        self._schedules[PEER] = self._schedule(peers)

    def calibration(self, mode: str = PROCESS) -> tuple[Job, Layout]:
        """Job of repetition 0, which all modes and harnesses share and peers have for themselves, and what was drawn for it."""
        return self.bench.calibration_job(self._frame(mode, self._schedules[mode]), mode)

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
        job, layout = self.bench.repetition_job(turn.repetition, self._frame(turn.mode, drawn), replays, standing)
        facts: dict[str, Any] = {"layout": layout_facts(layout)}
        if book.stays(turn):
            facts |= {"block": book.block(turn), "process_since": began, "placement": standing.placement}
        return job, facts

    def _checks(self, book: Book, turn: Turn, *, fresh: bool) -> tuple[str, ...]:
        """When outputs are compared: around every process, after every redraw, at both ends of a placement."""
        if turn.mode in (PROCESS, PEER):
            return BEFORE, AFTER
        if turn.mode == PLACEMENT:
            return (*([BEFORE] if fresh else []), *([AFTER] if book.ends_block(turn) else []))
        return (BEFORE,) if turn.mode == LAYOUT else (BEFORE, AFTER)

    def _frame(self, mode: str, drawn: Schedule) -> Frame:
        return Frame(self.attempt_id, drawn, self.origin_ns, self._cells[mode])

    def _cells_of(self, series: Series) -> Mapping[str, Sequence[str]] | None:
        """Arms by fixture, where a series has others than the main group."""
        plan = self.bench.plan
        if series.is_mode:
            return None
        if series.name == PEER:
            return peer_cells(plan)
        return cells_of(plan, next(one for one in plan.experiment.harnesses if one.name == series.name))

    def _schedule(self, series: Series) -> Schedule:
        plan, cells = self.bench.plan, self._cells[series.name]
        seed = schedule_seed(plan.digest, self.attempt_id, PROCESS if series.is_mode else series.name)
        if cells is not None and series.name != PEER:
            return harness_schedule(cells, series.planned, series.spares, seed)
        if cells is None:
            cells = {fixture: plan.arms_by_fixture[fixture] for fixture in self.bench.timed_fixtures()}
        return schedule(cells, series.planned, series.spares, seed)
