"""What the controller asks of one timed process: a value that travels as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from reportgen.calls import Arm, Fixture

REFERENCE, CALIBRATE, REPETITION, SANITIZE, PROFILE = "reference", "calibrate", "repetition", "sanitize", "profile"
PROCESS, LAYOUT, PLACEMENT = "process", "layout", "placement"
MAIN, PEER, REFUSED = "main", "peer", "refused"
BEFORE, AFTER = "before", "after"
PYTHON = ".py"
GRAPH, CALLS = "graph", "calls"


@dataclass(frozen=True)
class JobArm:
    """An arm: how the experiment knows it, the file of its code and the arm that it must equal bit for bit, if any.

    An arm in Python has its source there, and ``symbol`` is a function in it. A ceiling or floor is not ``checked``: its work is deleted by design. A floor does not bound the ``calibrated`` length.
    """

    name: str
    role: str
    symbol: str
    of: str | None = None
    file: str = ""
    equals: str | None = None
    checked: bool = True
    calibrated: bool = True

    @property
    def in_python(self) -> bool:
        """Whether the arm is a function in Python, and no compiled code."""
        return self.file.endswith(PYTHON)

    @property
    def called(self) -> bool:
        """Whether a callable makes its launches: that of an arm in Python, or a peer's."""
        return self.in_python or self.role == PEER

    def seen(self) -> Arm:
        """Return the arm as the experiment's functions see it."""
        return Arm(self.name, self.role, self.symbol, self.of)


@dataclass(frozen=True)
class JobFixture:
    """A fixture with its arms in the order of the plan."""

    name: str
    values: dict[str, Any]
    seed: int
    arms: list[str]
    checks_only: bool = False

    def seen(self) -> Fixture:
        """Return the fixture as the experiment's functions see it."""
        return Fixture(self.name, self.values, self.seed, self.checks_only)


@dataclass(frozen=True)
class JobHarness:
    """Another program that times the arms of this process, and what it is told."""

    name: str
    settings: dict[str, Any]


@dataclass(frozen=True)
class Job:
    """One process's work. Lists named ``*_order`` and ``orders`` are drawn by the controller and archived by it.

    ``buffer_order`` holds ``[fixture, set, name, padding_bytes]``, ``graph_order`` and ``check_order`` hold
    ``[fixture, arm]``, ``orders`` the arms of each timed fixture for the first pass. ``origin_ns`` is when the attempt began on
    the session's monotonic clock. ``work`` is the folder of references and inputs, outside the record. ``variables`` are
    environment variables that the backend wants the process to begin with. ``mode`` is a ``model.protocol.Mode``, ``peer`` in processes
    that time peers, or the name of the ``harness``, which then times ``orders`` once, without mirror. ``own_pids`` are the attempt's other processes.
    ``checks`` says when outputs are compared. ``turn`` counts the attempt's processes and repetitions so far. ``process_since``
    and ``placement`` are the repetitions with which this process began and for which its layout was drawn.
    ``once`` makes a graph one execution on one copy of the buffers, whatever the experiment says. ``launching`` is a ``model.protocol.Launching``.
    """

    kind: str
    repetition: int
    backend: str
    options: dict[str, Any]
    experiment_file: str
    work: str
    origin_ns: int
    arms: list[JobArm]
    fixtures: list[JobFixture]
    launches_per_graph: int
    lead_in_replays: int
    least_batch_ns: int
    warm_up_s: float
    module_order: list[str] = field(default_factory=list)
    graph_order: list[list[str]] = field(default_factory=list)
    buffer_order: list[list[Any]] = field(default_factory=list)
    block_order: list[str] = field(default_factory=list)
    check_order: list[list[str]] = field(default_factory=list)
    orders: dict[str, list[str]] = field(default_factory=dict)
    replays: dict[str, int] = field(default_factory=dict)
    hash_inputs: bool = False
    variables: dict[str, str] = field(default_factory=dict)
    mode: str = PROCESS
    harness: JobHarness | None = None
    own_pids: list[int] = field(default_factory=list)
    checks: list[str] = field(default_factory=lambda: [BEFORE, AFTER])
    turn: int = 0
    process_since: int = 0
    placement: int = 0
    once: bool = False
    launching: str = GRAPH

    @property
    def group(self) -> str:
        """Group that the rows of batches belong to."""
        return PEER if self.mode == PEER else MAIN

    @property
    def keeps_checks(self) -> bool:
        """Whether the rows of checks reach the record."""
        return self.mode in (PROCESS, PEER)

    def arm(self, name: str) -> JobArm:
        """Return the arm of that name."""
        return next(arm for arm in self.arms if arm.name == name)

    def fixture(self, name: str) -> JobFixture:
        """Return the fixture of that name."""
        return next(fixture for fixture in self.fixtures if fixture.name == name)

    def save(self, path: Path) -> None:
        """Write the job where the worker is told to find it."""
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")


def read_job(path: Path) -> Job:
    """Read what :meth:`Job.save` wrote."""
    facts = json.loads(path.read_text(encoding="utf-8"))
    facts["arms"] = [JobArm(**arm) for arm in facts["arms"]]
    facts["fixtures"] = [JobFixture(**fixture) for fixture in facts["fixtures"]]
    facts["harness"] = JobHarness(**facts["harness"]) if facts["harness"] else None
    return Job(**facts)
