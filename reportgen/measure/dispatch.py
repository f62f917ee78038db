"""The sending side of a fleet: which attempt goes to which worker, what becomes of it, and what of one whose worker is lost.

An attempt is resumed on the board on which it was begun and by the same binaries, or not at all; another board begins a new one.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from reportgen.archive import layout
from reportgen.archive.journal import read_journal
from reportgen.errors import EXIT_FINDING, EXIT_INTERRUPTED, FindingError, InputError, ReportgenError
from reportgen.measure.closing import INTERRUPTED
from reportgen.measure.controller import plan_of
from reportgen.measure.fleet import LEASE_S, SCHEDULER_LOST, Crew, Task, connected
from reportgen.measure.interruption import Interrupted, Interruption
from reportgen.measure.mirror import LOST, Mirror
from reportgen.measure.opening import open_header
from reportgen.measure.parcel import pack
from reportgen.measure.places import Place, next_place
from reportgen.measure.provenance import find_provenance
from reportgen.measure.watching import RunOptions, RunOutcome, Watch
from reportgen.model.record import Status
from reportgen.project import Project, find_experiment

PATIENCE_S = 300.0
_LOOK_S = 0.2
_STOPPING_S = 30.0


@dataclass(frozen=True)
class Dispatched:
    """How the attempt of one device ended."""

    device: str
    outcome: RunOutcome


@dataclass
class _Errand:
    """One device's attempt: waiting (no task), under way, lost since a moment, or over."""

    device: str
    attempt: str
    mirror: Mirror | None = None
    task: Task | None = None
    place: Place | None = None
    lost_s: float | None = None
    outcome: RunOutcome | None = None


@dataclass
class Dispatch:
    """A run on a fleet. ``patience_s``: how long a lost worker's board is waited for; ``lease_s``: how long a worker goes on unheard."""

    project: Project
    name: str
    options: RunOptions
    watch: Watch
    patience_s: float = PATIENCE_S
    lease_s: float = LEASE_S
    errands: dict[str, _Errand] = field(default_factory=dict)

    def run(self, address: str) -> list[Dispatched]:
        """Measure on every device of the fleet, or complete the one attempt that is to be resumed.

        Raises
        ------
        InputError
            No scheduler or no fit worker is there, or the experiment cannot be measured as declared.
        """
        self._prepare()
        with Interruption() as asked, connected(address) as client:
            self._crew = Crew(client, self._backend)
            self._places()
            if not self._here:
                raise InputError(
                    f"no worker with the resource {self._crew.resource} can measure this",
                    where=address,
                    remedy=f"start one a device: dask worker {address} --resources {self._crew.resource}=1",
                )
            try:
                while not self._over():
                    asked.check()
                    self._step()
                    time.sleep(_LOOK_S)
            except Interrupted:
                self._stop()
            except SCHEDULER_LOST as fault:
                self._give_up(f"the scheduler was lost ({fault})")
        return [
            Dispatched(one.device, one.outcome or self._unfinished(one, LOST, EXIT_FINDING))
            for one in self.errands.values()
        ]

    def _prepare(self) -> None:
        options = self.options
        if options.device is not None or options.sanitizer is not None or options.profile:
            raise InputError(
                "workers of a fleet own their devices and only time",
                remedy="leave --device, --sanitize and --profile out",
            )
        experiment = find_experiment(self.project, self.name)
        header = open_header(self.project, experiment, options.resume) if options.resume else None
        self._plan = plan_of(self.project, self.name, header.backend if header else options.backend)
        self._backend = self._plan.backend_options[0].removeprefix("backend=")
        self._provenance = find_provenance(self.project.kernels, self._plan.files, options.provenance)
        self._here: dict[str, Place] = {}
        self._looked_s = 0.0
        if header is not None:
            self.errands[header.device.id] = _Errand(header.device.id, header.id)

    def _places(self) -> None:
        """Look who is there; a device that was not seen before gets an attempt."""
        self._here, wrong = self._crew.look()
        self._looked_s = time.monotonic()
        for sentence in wrong:
            self.watch.warning(sentence)
        for place in self._here.values():
            if place.device not in self.errands and not self.options.resume:
                self.errands[place.device] = _Errand(place.device, self._new_id())

    def _new_id(self) -> str:
        """First id that neither the archive nor another errand has."""
        moment, taken = datetime.now(UTC), {one.attempt for one in self.errands.values()}
        while True:
            found = layout.new_attempt_id(self.project.runs, self.name, self._backend, self._plan.digest, moment)
            if found not in taken:
                return found
            moment += timedelta(seconds=1)

    def _over(self) -> bool:
        waited_s = [time.monotonic() - one.lost_s for one in self.errands.values() if one.lost_s is not None]
        under_way = any(one.outcome is None and one.lost_s is None for one in self.errands.values())
        return not under_way and all(one >= self.patience_s for one in waited_s)

    def _step(self) -> None:
        if time.monotonic() - self._looked_s > 1:
            self._places()
        for errand in self.errands.values():
            if errand.task is not None:
                self._attend(errand, errand.task)
        for errand in (one for one in self.errands.values() if one.task is None and one.outcome is None):
            missing = all(place.device != errand.device for place in self._here.values())
            errand.lost_s = (errand.lost_s or time.monotonic()) if missing else None
        self._begin_next()

    def _begin_next(self) -> None:
        busy = [one.place for one in self.errands.values() if one.task is not None and one.place is not None]
        wanted = {one.device for one in self.errands.values() if one.task is None and one.outcome is None}
        by_place = {place: worker for worker, place in self._here.items() if place.device in wanted}
        side_by_side = self._plan.experiment.protocol.side_by_side
        place = next_place(by_place, busy, side_by_side=side_by_side)
        if place is not None:
            self._begin(self.errands[place.device], place, by_place[place])

    def _begin(self, errand: _Errand, place: Place, worker_id: str) -> None:
        parcel = pack(self.project, self._plan, self._backend, errand.attempt, quick=self.options.quick)
        errand.place = place
        errand.mirror = Mirror(
            self.project.runs, self._plan, errand.attempt, self._provenance, self.watch, f"device {errand.device}"
        )
        errand.task = Task(self._crew, parcel, place.name, worker_id, self.lease_s)

    def _attend(self, errand: _Errand, task: Task) -> None:
        """Archive what has arrived; see whether the attempt is over, or its worker gone."""
        told = task.told()  # first: everything that it sent is on the queue by then
        try:
            self._archive(errand, task)
        except ReportgenError as fault:
            task.stop()
            told = {"error": fault.one_line(), "exit_status": fault.exit_status}
        task.renew()
        if task.worker_id not in self._here:
            self._lose(errand, task)
        elif told is not None and errand.mirror is not None:
            errand.outcome, errand.task = errand.mirror.finish(told), None
            task.forget()

    def _archive(self, errand: _Errand, task: Task) -> None:
        for message in task.messages():
            if errand.mirror is not None:
                errand.mirror.take(message)

    def _lose(self, errand: _Errand, task: Task) -> None:
        self.watch.warning(f"device {errand.device}: {LOST}; waiting for its board to come back")
        if errand.mirror is not None:
            errand.mirror.lose()
        errand.mirror = errand.task = errand.place = None
        task.forget()

    def _stop(self) -> None:
        """Ask what is under way to end, and take what still comes."""
        with suppress(*SCHEDULER_LOST):  # a scheduler that is gone tells nothing more; what came is archived
            self._wind_down([(one, one.task) for one in self.errands.values() if one.task is not None])
        for errand in self.errands.values():
            if errand.task is not None and errand.mirror is not None:
                errand.outcome = errand.mirror.leave(FindingError(INTERRUPTED), EXIT_INTERRUPTED)
                with suppress(*SCHEDULER_LOST):
                    errand.task.forget()
            errand.outcome = errand.outcome or self._unfinished(errand, INTERRUPTED, EXIT_INTERRUPTED)

    def _wind_down(self, busy: list[tuple[_Errand, Task]]) -> None:
        for _, task in busy:
            task.stop()
        until_s = time.monotonic() + _STOPPING_S
        while any(one.task is not None for one, _ in busy) and time.monotonic() < until_s:
            self._places()
            for errand, task in busy:
                if errand.task is not None:
                    self._attend(errand, task)
            time.sleep(_LOOK_S)

    def _give_up(self, reason: str) -> None:
        """Leave open, to be resumed, whatever is not over."""
        for errand in self.errands.values():
            if errand.task is not None and errand.mirror is not None:
                errand.mirror.lose()
                with suppress(*SCHEDULER_LOST):
                    errand.task.forget()
            errand.outcome = errand.outcome or self._unfinished(errand, reason, EXIT_FINDING)

    def _unfinished(self, errand: _Errand, reason: str, exit_status: int) -> RunOutcome:
        folder = layout.open_dir(self.project.runs, self.name, errand.attempt)
        if not folder.is_dir():
            return RunOutcome(None, Status.ABORTED, reason, [], exit_status, reason)
        done = len([one for one in read_journal(folder).repetitions if one.repetition])
        said = f"{reason} after {done} repetitions; continue on the same board with --resume {errand.attempt}"
        return RunOutcome(folder, Status.ABORTED, said, [], exit_status, said, left_open=True)
