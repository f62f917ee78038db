"""Everything that one process sets up before its first batch: code, buffers, inputs, graphs, in the drawn orders."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from reportgen.calls import Arm, Fixture, KernelCall, Output
from reportgen.measure.backends.session import Allocation, GraphSpec, Launch, Module, Session, Slot
from reportgen.measure.callables import capture_or_refuse, peer_spec, python_spec
from reportgen.measure.channel import Channel
from reportgen.measure.description import Description, Shapes
from reportgen.measure.job import Job
from reportgen.measure.python_arms import Code, PythonArms
from reportgen.measure.references import References, sha256
from reportgen.measure.steps import at_step

# What a callable of the graph-making process runs before it is captured, so do the other arms beside it.
WARM_UPS = 3

Slots = tuple[Slot, ...]


class Rig:
    """Buffers and graphs of every fixture of a job, shared by all arms; of compiled arms alone nothing has been launched yet."""

    def __init__(self, job: Job, session: Session, channel: Channel) -> None:
        self.job, self.session, self.channel = job, session, channel
        self.files = References(job)
        self.description = Description(Path(job.experiment_file), once=job.once)
        self.shapes: dict[str, Shapes] = {}
        self.graphs: dict[tuple[str, str], Any] = {}
        self.refused: list[dict[str, str]] = []
        self.python = PythonArms()
        self._computed: dict[tuple[str, str], dict[str, Output]] = {}
        self._named: dict[tuple[str, tuple[str, ...]], Slots] = {}
        self._input_sums: dict[tuple[str, int], dict[str, str]] = {}
        self._first: dict[tuple[str, int], Slot] = {}  # by the file of a shared input and the set
        self._shared_hashes: dict[str, str] = {}

    def build(self) -> None:
        """Load, allocate, upload, capture. Beside arms in Python, which run before they are captured, all others do, too.

        Raises
        ------
        InputError
            The experiment or its code is at fault.
        """
        for fixture in self.job.fixtures:
            self.shapes[fixture.name] = self.description.shapes(fixture.seen(), self.files.inputs(fixture.name))
        self.channel.at("load")
        ordered = [self.job.arm(name) for name in self.job.module_order]
        self.session.load([Module(arm.name, arm.file) for arm in ordered if not arm.in_python])
        self.python.load(arm for arm in ordered if arm.in_python)
        self.channel.at("allocate")
        self.session.allocate([self._allocation(*entry) for entry in self.job.buffer_order])
        uploaded = set[str | None]()
        for fixture in self.job.fixtures:
            self.channel.at("inputs", fixture.name)
            shared = {self.files.shared_file(fixture.name, name) for name in self.shapes[fixture.name].inputs}
            self.restore_inputs(fixture.name, there=uploaded)
            uploaded |= shared - {None}
        for name, arm in self.job.graph_order:
            self.channel.at("capture", name, arm)
            if self.job.arm(arm).called:
                self._capture_callable(name, arm)
            else:
                self._capture(name, arm)

    def python_code(self) -> Code:
        """Tell what the arms in Python became by now."""
        return self.python.code(Path(self.job.work))

    def adopt(self, job: Job) -> None:
        """Go on with the next repetition on the same code, buffers and graphs."""
        self.job = job
        self.session.adopt(job)

    def close(self) -> None:
        """Free all that :meth:`build` made."""
        self.graphs.clear()
        self.session.close()

    def addresses(self) -> str:
        """SHA-256 over where every buffer lies: equal where nothing has moved."""
        return hashlib.sha256(json.dumps(self.session.addresses()).encode()).hexdigest()

    def order(self, fixture: str) -> list[str]:
        """Arms of a fixture's first pass, less peers that were refused here."""
        return [arm for arm in self.job.orders[fixture] if (fixture, arm) in self.graphs]

    def computed(self, fixture: str, arm: str) -> dict[str, Output]:
        """Give the outputs that an arm computes, with the tolerances that it is held to."""
        return self._computed[fixture, arm]

    def launches(self, fixture: str) -> int:
        """Count the launches of a graph: at least as many as experiment or protocol ask for, and every step on every set equally often."""
        shapes = self.shapes[fixture]
        wanted, turn = shapes.launches or self.job.launches_per_graph, shapes.sets * shapes.steps
        return turn * -(-wanted // turn)

    def input_slots(self, fixture: str) -> Slots:
        """Input buffers of every set of a fixture."""
        return self._slots(fixture, self.shapes[fixture].inputs)

    def output_slots(self, fixture: str) -> Slots:
        """Output buffers of every set of a fixture; those of one name in the order of the sets."""
        return self._slots(fixture, self.shapes[fixture].outputs)

    def written_slots(self, fixture: str) -> Slots:
        """Output and scratch buffers of every set of a fixture."""
        return self._slots(fixture, [*self.shapes[fixture].outputs, *self.shapes[fixture].scratch])

    def restore_inputs(self, fixture: str, case: int = 0, there: Collection[str | None] = ()) -> None:
        """Upload the inputs that are timed, or those of another case, into the first set and copy it to the others.

        Files of shared inputs that are ``there`` already are left as they are.
        """
        inputs = self.files.inputs(fixture, case)
        for name, array in inputs.items():
            if there and self.files.shared_file(fixture, name) in there:
                continue
            first, *others = self._slots(fixture, [name])
            self.session.upload(first, array)
            self.session.copy(first, others)
        if (fixture, case) not in self._input_sums:
            sums = self.session.checksums([Slot(fixture, 0, name) for name in inputs])
            self._input_sums[fixture, case] = dict(zip(inputs, sums, strict=True))

    def changed_inputs(self, fixture: str, case: int = 0) -> list[Slot]:
        """Input buffers of any set whose checksum is not that of the upload."""
        slots, wanted = self.input_slots(fixture), self._input_sums[fixture, case]
        sums = self.session.checksums(slots)
        return [slot for slot, found in zip(slots, sums, strict=True) if found != wanted[slot.name]]

    def input_hashes(self, fixture: str) -> dict[str, str]:
        """SHA-256 of the first set's inputs as they lie on the device."""
        return {name: self._input_hash(fixture, name) for name in self.shapes[fixture].inputs}

    def _input_hash(self, fixture: str, name: str) -> str:
        file = self.files.shared_file(fixture, name)
        if file is None or file not in self._shared_hashes:
            found = sha256(self.session.download(Slot(fixture, 0, name)))
            if file is None:
                return found
            self._shared_hashes[file] = found
        return self._shared_hashes[file]

    def _slots(self, fixture: str, names: Iterable[str]) -> Slots:
        key = fixture, tuple(names)
        if key not in self._named:
            sets = range(self.shapes[fixture].sets)
            self._named[key] = tuple(Slot(fixture, index, name) for name in key[1] for index in sets)
        return self._named[key]

    def _allocation(self, fixture: str, index: int, name: str, padding_bytes: int) -> Allocation:
        slot, file = Slot(fixture, index, name), self.files.shared_file(fixture, name)
        first = slot if file is None else self._first.setdefault((file, index), slot)
        size_bytes = self.shapes[fixture].sizes()[name]
        return Allocation(slot, size_bytes, padding_bytes, of=None if first == slot else first)

    def single(self, fixture: str, arm: str) -> GraphSpec:
        """Tell one execution of the operation on the first set."""
        return GraphSpec(arm, fixture, (Launch(0, at_step(self._calls(fixture, arm), 0)),))

    def spec(self, fixture: str, arm: str) -> GraphSpec:
        """Tell every launch of an arm's graph."""
        shapes, calls = self.shapes[fixture], self._calls(fixture, arm)
        steps = [at_step(calls, step) for step in range(shapes.steps)]
        return GraphSpec(arm, fixture, tuple(Launch(index, steps[step]) for index, step in self._turns(fixture)))

    def _turns(self, fixture: str) -> list[tuple[int, int]]:
        """Set and step of each launch of a graph."""
        sets, steps = self.shapes[fixture].sets, self.shapes[fixture].steps
        return [(index % sets, index // sets % steps) for index in range(self.launches(fixture))]

    def _capture(self, fixture: str, arm: str) -> None:
        graph = self.graphs[fixture, arm] = self.session.capture(self.spec(fixture, arm))
        self._computed[fixture, arm] = self.description.written(*self._seen(fixture, arm))
        if any(one.in_python for one in self.job.arms):
            for _ in range(WARM_UPS):
                self.session.replay(graph)

    def _capture_callable(self, fixture: str, arm: str) -> None:
        shapes, place, turns = self.shapes[fixture], (fixture, arm), self._turns(fixture)
        own = self.job.arm(arm).in_python
        spec = (
            python_spec(self.job, self.python, shapes, place, turns)
            if own
            else peer_spec(self.job, self.description, shapes, place, turns)
        )
        made = capture_or_refuse(self.job, self.session, spec)
        if isinstance(made, str):
            self.refused.append({"arm": arm, "fixture": fixture, "reason": made})
            return
        self.graphs[place] = made.graph
        computed = self.description.python_outputs if own else self.description.peer_outputs
        self._computed[place] = computed(*self._seen(fixture, arm), made.computed)

    def _seen(self, fixture: str, arm: str) -> tuple[Arm, Fixture]:
        return self.job.arm(arm).seen(), self.job.fixture(fixture).seen()

    def _calls(self, fixture: str, arm: str) -> tuple[KernelCall, ...]:
        names = self.shapes[fixture].sizes()
        return self.description.kernels(self.job.arm(arm).seen(), self.job.fixture(fixture).seen(), names)
