"""Simulated times of equal standing: the whole protocol runs, the outputs are real, the times are made by a formula."""

from __future__ import annotations

import hashlib
import math
import os
import signal
import statistics
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from reportgen.calls import Output
from reportgen.measure.backends.fake_callable import FakeCallable
from reportgen.measure.backends.session import (
    Allocation,
    Array,
    BatchTime,
    Bytes,
    CallableGraph,
    CallableRefusedError,
    CallableSpec,
    GraphSpec,
    Module,
    Readings,
    Slot,
)
from reportgen.measure.description import Description
from reportgen.measure.job import PROCESS, Job
from reportgen.measure.references import References
from reportgen.units import NS_PER_S

_NORMAL = statistics.NormalDist()
_HASHED_BITS = 64
_GAP_NS = 20_000


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong on purpose; an empty ``arm``, ``fixture`` or ``mode`` and a missing repetition mean any."""

    kind: str
    arm: str = ""
    fixture: str = ""
    repetition: int | None = None
    mode: str = ""
    seconds: float = 0.0

    def strikes(self, kind: str, arm: str, fixture: str, job: Job) -> bool:
        """Whether this fault is of that kind and meant for that place."""
        return (
            self.kind == kind
            and self.arm in ("", arm)
            and self.fixture in ("", fixture)
            and self.repetition in (None, job.repetition)
            and self.mode in ("", job.mode)
        )


@dataclass(frozen=True)
class Moment:
    """What a simulated time depends on beside arm and fixture: repetition, process, layout, and the slot in the block.

    ``process`` and ``layout`` are the repetitions with which the process began and for which the layout was drawn.
    """

    repetition: int
    pass_: int
    position: int
    mode: str = PROCESS
    process: int = 0
    layout: int = 0


@dataclass(frozen=True)
class Times:
    """The ``[fake]`` table of an experiment: nanoseconds of a launch, ratios by arm and fixture, spreads as shares."""

    base_ns: float = 1000.0
    seed: int = 1
    ratio: dict[str, float] = field(default_factory=dict)
    fixture_ratio: dict[str, float] = field(default_factory=dict)
    process_sd: float = 0.0
    layout_sd: float = 0.0
    cell_sd: float = 0.0
    position_effect: float = 0.0
    faults: tuple[Fault, ...] = ()

    @classmethod
    def of(cls, table: dict[str, Any]) -> Times:
        """Read the table.

        Raises
        ------
        TypeError
            It has a key that nothing here reads.
        """
        faults = tuple(Fault(**fault) for fault in table.get("fault", []))
        return cls(**{key: value for key, value in table.items() if key != "fault"}, faults=faults)

    def launch_ns(self, fixture: str, arm: str, at: Moment) -> float:
        """Time of one launch: a function of its arguments and the table alone."""
        ratio = self.ratio.get(arm, 1.0) * self.fixture_ratio.get(fixture, 1.0)
        series = [] if at.mode == PROCESS else [at.mode]
        process = self.process_sd * self._normal("process", arm, at.process, *series)
        layout = self.layout_sd * self._normal("layout", fixture, arm, at.layout, *series)
        cell = self.cell_sd * self._normal("cell", fixture, arm, at.repetition, at.pass_, *series)
        return self.base_ns * ratio * math.exp(process + layout + cell) * (1 + self.position_effect * (at.position - 1))

    def _normal(self, *counters: object) -> float:
        key = "\0".join(str(counter) for counter in (self.seed, *counters)).encode()
        word = int.from_bytes(hashlib.sha256(key).digest()[: _HASHED_BITS // 8], "big")
        return _NORMAL.inv_cdf((word + 0.5) / 2**_HASHED_BITS)


class FakeSession:
    """See :class:`reportgen.measure.backends.session.Session`; code is never loaded and nothing is measured."""

    def __init__(self, job: Job) -> None:
        self._job, self._times, self._files = job, Times.of(job.options["table"]), References(job)
        self._description = Description(Path(job.experiment_file))
        self._memory: dict[Slot, Bytes] = {}
        self._allocations: list[Allocation] = []
        self._outputs: dict[str, dict[str, Output]] = {}
        self._arms: Counter[str] = Counter()
        self._batches: Counter[str] = Counter()
        self._now_ns = job.origin_ns + job.turn * NS_PER_S
        self._readings = 0

    def load(self, modules: Sequence[Module]) -> None:
        """Make the noise that a careless library makes, where asked to."""
        if modules and self._struck("noise", "", ""):
            os.write(1, b'{"message": "done"}\nnoise on standard output\n')

    def allocate(self, allocations: Sequence[Allocation]) -> None:
        """Allocate without paddings."""
        self._allocations = list(allocations)
        self._memory = {}
        for each in allocations:
            self._memory[each.slot] = np.zeros(each.size_bytes, np.uint8) if each.of is None else self._memory[each.of]

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
        """Remember what the graph stands for."""
        if spec.fixture not in self._outputs:
            self._outputs[spec.fixture] = self._description.outputs(self._job.fixture(spec.fixture).seen())
        self._arms[spec.fixture] += 1
        return spec

    def capture_callable(self, spec: CallableSpec) -> CallableGraph:
        """Let the callable run once on every set, in NumPy arrays over the buffers; refuse where the faults ask for it."""
        if self._struck("refuse", spec.arm, spec.fixture):
            raise CallableRefusedError("a refusal that the experiment asked for", where=spec.fixture)
        self._arms[spec.fixture] += 1
        called = FakeCallable.of(spec, self._memory)
        return CallableGraph(called, called.computed)

    def poison(self, graph: GraphSpec | FakeCallable, byte: int) -> None:
        """There is nothing to poison: a callable's results are made anew."""

    def deliver(self, graph: GraphSpec | FakeCallable) -> None:
        """Copy what a callable's last replay returned."""
        if isinstance(graph, FakeCallable):
            graph.deliver()

    def replay(self, graph: GraphSpec | FakeCallable) -> None:
        """Run a callable; for any other arm write the reference, rounded to the outputs' types, into every set, then do what the faults ask for."""
        if isinstance(graph, FakeCallable):
            graph.replay()
            return
        for name, output in self._outputs[graph.fixture].items():
            rounded = _rounded(self._files.reference(graph.fixture, name), output)
            self._spoil(graph, rounded)
            for launch in graph.launches:
                self.upload(Slot(graph.fixture, launch.set, name), rounded)
        if self._struck("mutate", graph.arm, graph.fixture):
            slot = next(
                slot
                for slot in self._memory
                if slot.fixture == graph.fixture and slot.name not in self._outputs[graph.fixture]
            )
            self._memory[slot][0] ^= 1

    def count(self, lead: GraphSpec, counted: GraphSpec, *, lead_in: int) -> None:
        """Replay as often as asked."""
        for graph in (*[lead] * lead_in, counted):
            self.replay(graph)

    def batch(self, graph: GraphSpec | FakeCallable, *, lead_in: int, replays: int) -> BatchTime:
        """Compute the time of a batch from its place in the block; the simulated clock moves on."""
        self._misbehave(graph)
        pass_, index = divmod(self._batches[graph.fixture], self._arms[graph.fixture])
        self._batches[graph.fixture] += 1
        job = self._job
        moment = Moment(job.repetition, pass_, index + 1, job.mode, job.process_since, job.placement)
        one_ns = self._times.launch_ns(graph.fixture, graph.arm, moment) * len(graph.launches)
        lead_in_ns, elapsed_ns = round(one_ns * lead_in), max(1, round(one_ns * replays))
        started_ns = self._now_ns + lead_in_ns
        self._now_ns = started_ns + elapsed_ns + _GAP_NS
        return BatchTime(started_ns, elapsed_ns, lead_in_ns)

    def stabilise(self, most_s: float) -> dict[str, Any]:
        """There is no clock to wait for."""
        return {"stable": True, "pieces": 0, "most_s": most_s}

    def readings(self) -> Readings:
        """Tell a constant clock; throttling where the faults ask for it."""
        self._readings += 1
        throttled = self._struck("throttle", "", "")
        return Readings(clock_mhz=1000.0, throttle_counts={"simulated": self._readings if throttled else 0})

    def facts(self) -> dict[str, Any]:
        """Say plainly what this is."""
        return {"simulated": True}

    def addresses(self) -> list[int]:
        """Where the buffers would lie, had their paddings been left free."""
        places, end = [], 0
        for each in self._allocations:
            places.append(end + each.padding_bytes)
            end = places[-1] + each.size_bytes
        return places

    def adopt(self, job: Job) -> None:
        """Go on at the time of another job."""
        self._job = job
        self._batches.clear()
        self._now_ns = max(self._now_ns, job.origin_ns + job.turn * NS_PER_S)

    def close(self) -> None:
        """Forget everything."""
        self._memory.clear()
        self._outputs.clear()
        self._arms.clear()

    def _struck(self, kind: str, arm: str, fixture: str) -> Fault | None:
        return next((fault for fault in self._times.faults if fault.strikes(kind, arm, fixture, self._job)), None)

    def _spoil(self, graph: GraphSpec, rounded: Array) -> None:
        if self._struck("nan", graph.arm, graph.fixture):
            rounded.flat[0] = math.nan
        if self._struck("head_offset", graph.arm, graph.fixture):
            rounded[-1] = rounded[0]

    def _misbehave(self, graph: GraphSpec | FakeCallable) -> None:
        place = (graph.arm, graph.fixture)
        if slow := self._struck("slow", *place):
            time.sleep(slow.seconds)
        if self._struck("crash", *place):
            os.kill(os.getpid(), signal.SIGSEGV)
        if self._struck("hang", *place):
            time.sleep(3600)
        if self._struck("raise", *place):
            raise RuntimeError("a fault that the experiment asked for")


def _rounded(reference: Array, output: Output) -> Array:
    dtype = np.dtype(output.dtype)
    exact = np.rint(reference) if dtype.kind in "iub" else reference
    if output.rows is not None:
        whole = np.zeros(output.shape, np.float64)
        whole[list(output.rows)] = exact
        exact = whole
    return exact.astype(dtype)
