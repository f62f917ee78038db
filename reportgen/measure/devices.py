"""``--device 0,1``, ``--sanitize a,b``: an attempt a device and tool, each in a process of its own with guards, window and lock of its own.

The process that the user started measures nothing: it forks one child an attempt, passes signals on, and sums up.
"""

from __future__ import annotations

import ctypes
import json
import multiprocessing
import os
import selectors
import signal
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from reportgen.errors import EXIT_FINDING, EXIT_INTERRUPTED, InputError
from reportgen.measure.interruption import Interrupted, Interruption
from reportgen.measure.places import Place, check_apart, next_place
from reportgen.measure.watching import RunOptions
from reportgen.project import Project, find_experiment, read_experiment

PR_SET_PDEATHSIG = 1
_READ_BYTES = 1 << 16
_LOOK_S = 0.1


@dataclass(frozen=True)
class Survey:
    """What is known of a run on several devices before anything is started."""

    places: list[Place]
    side_by_side: bool


@dataclass(frozen=True)
class Share:
    """What a child has to do: measure on ``selector`` (look with ``tool``), then ``report`` the outcome to the process that sums up."""

    selector: str
    tool: str
    descriptor: int

    def report(self, outcome: dict[str, Any]) -> None:
        """Hand the outcome over."""
        with os.fdopen(self.descriptor, "wb") as pipe:
            pipe.write(json.dumps(outcome).encode())


@dataclass(frozen=True)
class Ended:
    """How the attempt on one device, with one ``tool``, ended; ``outcome`` is as ``machine.outcome`` has it, empty if none was reported."""

    selector: str
    exit_status: int
    outcome: dict[str, Any]
    tool: str = ""

    @property
    def sentence(self) -> str:
        """One line: device and tool, status, attempt or reason."""
        label = label_of(self.selector, self.tool)
        if not self.outcome:
            return f"{label}: ended with status {self.exit_status} before it could report; see `reportgen attempts`"
        told = (self.outcome["status"], self.outcome["attempt"] or "no attempt", self.outcome["reason"])
        return f"{label}: {', '.join(str(one) for one in told if one)}"


def label_of(selector: str, tool: str) -> str:
    """Name an attempt of several by its device and tool, whichever were named."""
    return ", ".join([*([f"device {selector}"] if selector else []), *([tool] if tool else [])])


def survey(project: Project, name: str, backend: str, chosen: Sequence[str]) -> Survey:
    """Ask which devices are meant and what shares them.

    It is asked in a process of its own: a driver that was opened before a fork is of no use after it.

    Raises
    ------
    InputError
        There is no such experiment, backend or device, or two names are one device.
    """
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as apart:
        found = apart.submit(_survey, project, name, backend, list(chosen)).result()
    check_apart(found.places)
    return found


def _survey(project: Project, name: str, backend: str, chosen: list[str]) -> Survey:
    from reportgen.measure.backends.builders import open_builder  # noqa: PLC0415 - in the process that asks only

    experiment = read_experiment(find_experiment(project, name))
    builder = open_builder(backend or experiment.backend)
    devices = [(one, builder.device(one or None)) for one in chosen]
    services = project.settings.services
    places = [
        Place(one, device.id, device.kind, "", frozenset(each.name for each in services if each.shares(device.id)))
        for one, device in devices
    ]
    return Survey(places, experiment.protocol.side_by_side)


def spread(
    project: Project, name: str, options: RunOptions, tools: Sequence[str], say: Callable[[str], None]
) -> Share | list[Ended] | None:
    """Where several devices or tools are named, fork as :func:`spread_over` does; ``None`` where it is one attempt.

    Raises
    ------
    InputError
        As :func:`survey`, or the devices cannot be told, or one attempt is to be resumed on several.
    """
    chosen = parsed(options.device or "")
    if len(chosen) == 1 and len(tools) <= 1:
        return None
    if options.resume:
        raise InputError("--resume completes one attempt", where=f"--device {options.device}", remedy="leave it out")
    surveyed = survey(project, name, options.backend or "", chosen)
    if not tools:
        return spread_over(surveyed, say)
    turns = [replace(place, tool=tool) for place in surveyed.places for tool in tools]
    return spread_over(Survey(turns, side_by_side=False), say)


def spread_over(surveyed: Survey, say: Callable[[str], None]) -> Share | list[Ended]:
    """Fork: each child returns its share, the parent how all of them ended, in the order in which the devices were named.

    Call it while this process has one thread. After an interruption no further attempt is begun. ``say`` prints a child's line
    where several are under way at the same time, and so none may write to the terminal by itself.
    """
    waiting, busy, ended = list(surveyed.places), dict[int, _Child](), dict[Place, Ended]()
    with ExitStack() as stack:
        asked = stack.enter_context(Interruption())
        stopped = False
        while busy or (waiting and not stopped):
            under_way = [child.place for child in busy.values()]
            place = None if stopped else next_place(waiting, under_way, side_by_side=surveyed.side_by_side)
            if place is not None:
                waiting.remove(place)
                child = _fork(place, stack, quiet=surveyed.side_by_side)
                if isinstance(child, Share):
                    return child
                busy[child.pid] = child
                continue
            stopped = _look(busy, asked, say, stopped=stopped)
            for done in [child for child in busy.values() if child.has_ended()]:
                del busy[done.pid]
                ended[done.place] = done.collected(say)
    not_begun: dict[str, Any] = {
        "status": "not begun",
        "attempt": None,
        "path": None,
        "reason": "interrupted",
        "failed_arms": [],
    }
    left = {place: Ended(place.name, EXIT_INTERRUPTED, not_begun, place.tool) for place in waiting}
    return [(ended | left)[place] for place in surveyed.places]


def parsed(text: str) -> list[str]:
    """Devices out of ``--device 0,1``.

    Raises
    ------
    InputError
        One is empty.
    """
    names = [part.strip() for part in text.split(",")]
    if len(names) > 1 and not all(names):
        raise InputError(f"--device {text!r} names an empty device", remedy="write it as in --device 0,1")
    return names


def end_with_parent(number: int, parent: int) -> None:
    """Ask Linux for a signal when the parent ends; raise it at once if it has ended by now."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(number), 0, 0, 0)
        if os.getppid() != parent:
            os.kill(os.getpid(), number)


@dataclass
class _Child:
    place: Place
    pid: int
    report: int
    text: int | None
    told: dict[int, bytes] = field(default_factory=dict)
    status: int | None = None
    shut: set[int] = field(default_factory=set)

    @property
    def pipes(self) -> list[int]:
        """Ends from which something may still come."""
        return [end for end in (self.report, self.text) if end is not None and end not in self.shut]

    def read(self, pipe: int, say: Callable[[str], None]) -> bool:
        """Take what there is to read, if anything; whole lines are said, with the device before them."""
        try:
            data = os.read(pipe, _READ_BYTES)
        except BlockingIOError:
            return False
        if not data:
            self.shut.add(pipe)
        held = self.told.get(pipe, b"") + data
        if pipe == self.text:
            *lines, held = held.split(b"\n")
            for line in lines:
                say(f"{label_of(self.place.name, self.place.tool)}: {line.decode(errors='replace')}")
        self.told[pipe] = held
        return bool(data)

    def has_ended(self) -> bool:
        """Whether the child is gone; it is collected then."""
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.status = status if pid else None
        return self.status is not None

    def collected(self, say: Callable[[str], None]) -> Ended:
        """Read the rest, and say how it ended; a death by a signal is a finding."""
        for pipe in self.pipes:
            while self.read(pipe, say):
                pass
        for end in (self.report, self.text):
            if end is not None:
                os.close(end)
        code = os.waitstatus_to_exitcode(self.status or 0)
        try:
            outcome = json.loads(self.told.get(self.report, b""))
        except ValueError:
            outcome = {}
        return Ended(self.place.name, code if code >= 0 else EXIT_FINDING, outcome, self.place.tool)


def _fork(place: Place, stack: ExitStack, *, quiet: bool) -> Share | _Child:
    report, told = os.pipe()
    text, said = os.pipe() if quiet else (None, None)
    sys.stdout.flush()
    sys.stderr.flush()
    parent = os.getpid()
    pid = os.fork()
    if pid:
        for end in (told, said):
            if end is not None:
                os.close(end)
        for end in (report, text):
            if end is not None:
                os.set_blocking(end, False)
        return _Child(place, pid, report, text)
    stack.close()  # signals mean what they meant
    end_with_parent(signal.SIGTERM, parent)
    if said is not None:
        for stream in (1, 2):
            os.dup2(said, stream)
    return Share(place.name, place.tool, told)


def _look(busy: dict[int, _Child], asked: Interruption, say: Callable[[str], None], *, stopped: bool) -> bool:
    """Wait a moment for something to read or a signal, which is passed on once."""
    with selectors.DefaultSelector() as ready:
        if not stopped:
            ready.register(asked.descriptor, selectors.EVENT_READ)
        for child in busy.values():
            for pipe in child.pipes:
                ready.register(pipe, selectors.EVENT_READ, child)
        for key, _ in ready.select(_LOOK_S):
            if key.data is not None:
                key.data.read(key.fd, say)
    try:
        asked.check()
    except Interrupted:
        if not stopped:
            for child in busy.values():
                with suppress(ProcessLookupError):
                    os.kill(child.pid, signal.SIGTERM)
        return True
    return stopped
