"""A callable (a peer, an arm in Python) on the simulated backend: it really runs, on NumPy arrays; only its time is made up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reportgen.measure.backends.session import Array, Bytes, CallableSpec, Slot

NO_STREAM = 0


@dataclass
class FakeCallable:
    """What a callable's graph stands for: its runs, one a set, the arrays over the buffers, and what each set and step returned last."""

    spec: CallableSpec
    runs: list[Callable[[int], Any]]
    arrays: list[dict[str, Array]]
    returned: dict[tuple[int, int], Mapping[str, Any] | None] = field(default_factory=dict)

    @classmethod
    def of(cls, spec: CallableSpec, memory: Mapping[Slot, Bytes]) -> FakeCallable:
        """Prepare the callable on every set, and let it run once."""
        arrays = [
            {
                name: memory[Slot(spec.fixture, index, name)].view(dtype).reshape(shape)
                for name, (shape, dtype) in spec.arrays.items()
            }
            for index in range(spec.sets)
        ]
        runs = [spec.prepare(one, NO_STREAM) for one in arrays]
        made = cls(spec, runs, arrays)
        made.replay()
        return made

    @property
    def arm(self) -> str:
        """Name of the arm."""
        return self.spec.arm

    @property
    def fixture(self) -> str:
        """Name of the fixture."""
        return self.spec.fixture

    @property
    def launches(self) -> tuple[tuple[int, int], ...]:
        """Set and step of each execution."""
        return self.spec.launches

    @property
    def computed(self) -> tuple[str, ...] | None:
        """Outputs that the callable returned; ``None`` where it wrote all of them in place."""
        first = next(iter(self.returned.values()))
        return None if first is None else tuple(first)

    def replay(self) -> None:
        """Run every set's every step once."""
        self.returned = {(index, step): self.runs[index](step) for index, step in sorted(set(self.launches))}

    def deliver(self) -> None:
        """Copy what was returned into the buffers."""
        for (index, step), results in self.returned.items():
            buffers = self.spec.part(self.arrays[index], step)
            for name, result in (results or {}).items():
                buffers[name][...] = np.asarray(result).reshape(buffers[name].shape)
