"""Timing programs of others in a process of the attempt: what is asked of them, what comes back, and whether they are there.

They carry no verdict. Each times the very kernels, buffers and arguments of the timed graphs, as its own documentation has it, so that a
reader sees what it would have reported of the same arms.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from reportgen.errors import InputError, ReportgenError, WorkerError
from reportgen.measure.backends.session import Readings
from reportgen.measure.environment import worker_environment
from reportgen.measure.job import JobHarness
from reportgen.measure.rig import Rig
from reportgen.measure.timers.catalogue import checked_settings, entry, open_timer
from reportgen.measure.timers.interface import Figure, Place
from reportgen.measure.timing import block_readings, clock_ns, now_s

GROUP = "harness"
_LOOK_DEADLINE_S = 60
_LOOK = """
import importlib.util, sys
for name in sys.argv[1:]:
    try:
        found = importlib.util.find_spec(name)
    except ImportError:
        found = None
    if found is None:
        print(name)
"""


class Planned(Protocol):
    """What a plan says of a harness."""

    @property
    def name(self) -> str:
        """Its name in the catalogue."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What it is told."""


def check_planned(harnesses: Iterable[Planned], backend: str, where: str) -> None:
    """See that every harness of a plan is known, takes its settings and can time this backend's kernels.

    Raises
    ------
    InputError
        One is not or does not; the line names what is known.
    """
    for harness in harnesses:
        checked_settings(harness.name, harness.settings, where)
        if entry(harness.name).modules and backend != "cuda":
            raise InputError(
                f"harness {harness.name!r} times CUDA kernels, and the backend is {backend!r}",
                where=where,
                remedy="leave it out, or use single_launches, which runs with every backend",
            )


def lacking(names: Iterable[str]) -> dict[str, list[str]]:
    """Per harness the distributions that a timed process of this machine would not find; harnesses that lack none are left out.

    A process with a timed process's environment looks the packages up, importing none.
    """
    wanted = {name: entry(name).modules for name in names}
    absent = _absent({module for modules in wanted.values() for module in modules.values()})
    found = {name: [title for title, module in modules.items() if module in absent] for name, modules in wanted.items()}
    return {name: titles for name, titles in found.items() if titles}


def missing(names: Iterable[str]) -> list[str]:
    """Say, one line each, which of these harnesses a timed process of this machine could not load."""
    return [
        f"harness {name!r} needs {', '.join(titles)}, which a timed process does not find"
        for name, titles in lacking(names).items()
    ]


def require(names: Iterable[str]) -> None:
    """Refuse to begin a run whose harnesses are not all there.

    Raises
    ------
    InputError
        Some are missing; the line names them all.
    """
    lines = missing(names)
    if lines:
        raise InputError("; ".join(lines), remedy="install it for this Python, or leave the harness out")


def _absent(modules: set[str]) -> set[str]:
    if not modules:
        return set()
    command = [sys.executable, "-P", "-c", _LOOK, *sorted(modules)]
    try:
        answer = subprocess.run(  # noqa: S603 - this interpreter, a fixed program
            command,
            env=worker_environment("", {}),
            capture_output=True,
            timeout=_LOOK_DEADLINE_S,
            check=False,
            text=True,
        )
    except (OSError, subprocess.SubprocessError):
        return modules
    return set(answer.stdout.split()) if answer.returncode == 0 else modules


def time_harness(rig: Rig) -> dict[str, Any]:
    """Ask the job's harness once for each arm of each fixture, in the drawn order, send the rows, and return the facts.

    Raises
    ------
    InputError
        The harness is unknown, or cannot be loaded here.
    WorkerError
        It failed at a figure.
    """
    harness = rig.job.harness
    if harness is None:
        raise InputError("the job names no harness", where="time_harness")
    began_s = now_s()
    timer = open_timer(rig, harness.name, harness.settings)
    loaded_s = now_s() - began_s
    log = _Log(rig)
    places = [Place(fixture, arm) for fixture in rig.job.block_order for arm in rig.job.orders[fixture]]
    with _told(harness, log):
        figures = timer.figures(places, log.around)
    rig.channel.send("batches", rows=[log.row(place, figure) for place, figure in zip(places, figures, strict=True)])
    return {
        "harness": {
            "name": harness.name,
            **timer.about,
            "settings": checked_settings(harness.name, harness.settings),
            "loaded_s": loaded_s,
            "figures": [log.figure_facts(place, figure) for place, figure in zip(places, figures, strict=True)],
        },
        "blocks": log.block_facts(),
    }


@contextmanager
def _told(harness: JobHarness, log: _Log) -> Iterator[None]:
    """Make one line of what a library says when it fails."""
    try:
        yield
    except (ReportgenError, OSError, MemoryError):
        raise
    except Exception as fault:
        said = str(fault).strip().splitlines() or [""]
        at = f"at arm {log.now.arm!r} on {log.now.fixture}" if log.now else "before its first figure"
        raise WorkerError(f"harness {harness.name!r} failed {at}: {type(fault).__name__}: {said[0]}") from fault


@dataclass
class _Log:
    """When each figure was taken, and the device's state around each block."""

    rig: Rig
    now: Place | None = None
    started_ns: dict[Place, int] = field(default_factory=dict)
    seconds: dict[Place, float] = field(default_factory=dict)
    before: dict[str, Readings] = field(default_factory=dict)
    after: dict[str, Readings] = field(default_factory=dict)

    @contextmanager
    def around(self, place: Place) -> Iterator[None]:
        """Note what surrounds one figure; readings are taken before a block's first and after its last."""
        order = self.rig.job.orders[place.fixture]
        if place.arm == order[0]:
            self.rig.channel.at("time", place.fixture)
            self.before[place.fixture] = self.rig.session.readings()
        self.now = place
        self.rig.channel.beat()
        self.started_ns[place], began_s = clock_ns(), now_s()
        yield
        self.seconds[place] = now_s() - began_s
        if place.arm == order[-1]:
            self.after[place.fixture] = self.rig.session.readings()

    def row(self, place: Place, figure: Figure) -> dict[str, Any]:
        """Row of one figure."""
        job = self.rig.job
        started_ns = figure.started_ns if figure.started_ns is not None else self.started_ns[place]
        return {
            "mode": job.mode,
            "group": GROUP,
            "fixture": place.fixture,
            "arm": place.arm,
            "repetition": job.repetition,
            "pass": 1,
            "position": job.orders[place.fixture].index(place.arm) + 1,
            "block": job.block_order.index(place.fixture) + 1,
            "launches": figure.executions,
            "elapsed_ns": round(figure.time_ns * figure.executions),
            "started_ns": started_ns - job.origin_ns,
            "warmup": False,
            "lead_in": 0,
            "tag": "",
            **block_readings(self.before[place.fixture], self.after[place.fixture]),
        }

    def figure_facts(self, place: Place, figure: Figure) -> dict[str, Any]:
        """Tell what the harness told of one figure, and how long that took."""
        return {
            "fixture": place.fixture,
            "arm": place.arm,
            "time_ns": figure.time_ns,
            "executions": figure.executions,
            "seconds": self.seconds[place],
            "told": figure.told,
        }

    def block_facts(self) -> list[dict[str, Any]]:
        """State of the device around each block."""
        return [
            {"block": number, "fixture": name, "before": asdict(self.before[name]), "after": asdict(self.after[name])}
            for number, name in enumerate(self.rig.job.block_order, start=1)
        ]
