"""Outside programs inside the timed process: each batch is one question to a fresh process of the arm's program, or to the one that lives."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reportgen.calls import Output
from reportgen.errors import InputError
from reportgen.measure.backends.command_asking import CHECK, Answer, Program, Question, written
from reportgen.measure.backends.session import (
    Allocation,
    Array,
    BatchTime,
    Bytes,
    CallableGraph,
    CallableSpec,
    GraphSpec,
    Module,
    Readings,
    Slot,
)
from reportgen.measure.description import Description
from reportgen.measure.job import Job
from reportgen.measure.timing import clock_ns


class CommandSession:
    """See :class:`reportgen.measure.backends.session.Session`; the only buffers are those of checks."""

    def __init__(self, job: Job) -> None:
        self._job, self._program = job, Program.of(Path(job.options["commands"]))
        self._description = Description(Path(job.experiment_file))
        self._memory: dict[Slot, Bytes] = {}
        self._outputs: dict[str, dict[str, Output]] = {}

    def load(self, modules: Sequence[Module]) -> None:
        """Load nothing: a program is started for each question, a resident one with its first graph."""

    def allocate(self, allocations: Sequence[Allocation]) -> None:
        """Allocate without paddings: no program sees these buffers."""
        self._memory = {each.slot: np.zeros(each.size_bytes, np.uint8) for each in allocations}

    def upload(self, slot: Slot, array: Array) -> None:
        """Copy an array's bytes."""
        raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        self._memory[slot][: raw.size] = raw

    def download(self, slot: Slot) -> Bytes:
        """Copy of a buffer."""
        return self._memory[slot].copy()

    def copy(self, source: Slot, targets: Sequence[Slot]) -> None:
        """Copy one after the other."""
        for target in targets:
            self._memory[target][:] = self._memory[source]

    def fill(self, slots: Sequence[Slot], byte: int) -> None:
        """Set every byte."""
        for slot in slots:
            self._memory[slot][:] = byte

    def checksums(self, slots: Sequence[Slot]) -> list[str]:
        """BLAKE2b of each buffer."""
        return [hashlib.blake2b(self._memory[slot].data, digest_size=16).hexdigest() for slot in slots]

    def capture(self, spec: GraphSpec) -> GraphSpec:
        """Remember what is asked; a resident program is started, in the drawn order of the graphs."""
        self._program.start(spec.arm)
        if spec.fixture not in self._outputs:
            self._outputs[spec.fixture] = self._description.outputs(self._job.fixture(spec.fixture).seen())
        return spec

    def capture_callable(self, spec: CallableSpec) -> CallableGraph:
        """Refuse: an outside program is an arm of its own, whoever wrote it."""
        raise InputError(f"arm {spec.arm!r}: backend command measures no peers", remedy="make it a candidate")

    def poison(self, graph: GraphSpec, byte: int) -> None:
        """There is nothing to poison: a program's memory is its own."""

    def deliver(self, graph: GraphSpec) -> None:
        """There is nothing to deliver."""

    def count(self, lead: GraphSpec, counted: GraphSpec, *, lead_in: int) -> None:  # noqa: ARG002 - the protocol's names
        """Refuse: no profiler runs programs of others here."""
        raise InputError(
            "backend command counts nothing", remedy="run the profiler on the program itself, and import its table"
        )

    def replay(self, graph: GraphSpec) -> None:
        """Ask for one graph and write down its check."""
        answer = self._ask(graph, 1, 0)
        output = self._outputs[graph.fixture][CHECK]
        for launch in graph.launches:
            slot = Slot(graph.fixture, launch.set, CHECK)
            self.upload(slot, written(answer.check, output, f"arm {graph.arm!r}, fixture {graph.fixture}"))

    def batch(self, graph: GraphSpec, *, lead_in: int, replays: int) -> BatchTime:
        """Ask for a batch; it is placed at the end of the program's life, where the answer came."""
        began_ns = clock_ns()
        elapsed_ns = max(1, round(self._ask(graph, replays, lead_in).elapsed_ns))
        started_ns = max(began_ns, clock_ns() - elapsed_ns)
        return BatchTime(started_ns, elapsed_ns, started_ns - began_ns)

    def _ask(self, graph: GraphSpec, replays: int, lead_in: int) -> Answer:
        launches = len(graph.launches)
        values = self._job.fixture(graph.fixture).values
        return self._program.ask(Question(graph.arm, graph.fixture, values, launches * replays, launches * lead_in))

    def stabilise(self, most_s: float) -> dict[str, Any]:
        """There is no clock here to wait for: programs warm up by themselves."""
        return {"stable": None, "pieces": 0, "most_s": most_s}

    def readings(self) -> Readings:
        """Read the machine's load."""
        return Readings(load_1min=os.getloadavg()[0])

    def facts(self) -> dict[str, Any]:
        """Say what a batch is."""
        one = "one question to the arm's program, which lives for the repetition"
        return {"batch": one if self._program.resident else "one fresh process of the arm's program"}

    def addresses(self) -> list[int]:
        """Nothing that a program would see lies anywhere here."""
        return []

    def adopt(self, job: Job) -> None:
        """Go on with another job."""
        self._job = job

    def close(self) -> None:
        """Let resident programs end, and forget everything."""
        self._program.end()
        self._memory.clear()
        self._outputs.clear()
