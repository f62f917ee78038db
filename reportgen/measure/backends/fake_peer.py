"""A peer on the simulated backend: it really runs, on NumPy arrays; only its time is made up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reportgen.measure.backends.session import Array, Bytes, PeerSpec, Slot

NO_STREAM = 0


@dataclass
class FakePeer:
    """What a peer's graph stands for: its runs, one a set, the arrays over the buffers, and what each run returned last."""

    arm: str
    fixture: str
    launches: tuple[int, ...]
    runs: list[Callable[[], Any]]
    arrays: list[dict[str, Array]]
    returned: list[Mapping[str, Any] | None] = field(default_factory=list)

    @classmethod
    def of(cls, spec: PeerSpec, memory: Mapping[Slot, Bytes]) -> FakePeer:
        """Prepare a peer on every set, and let it run once."""
        arrays = [
            {
                name: memory[Slot(spec.fixture, index, name)].view(dtype).reshape(shape)
                for name, (shape, dtype) in spec.arrays.items()
            }
            for index in range(spec.sets)
        ]
        runs = [spec.prepare(one, NO_STREAM) for one in arrays]
        made = cls(spec.arm, spec.fixture, spec.launches, runs, arrays)
        made.replay()
        return made

    @property
    def computed(self) -> tuple[str, ...] | None:
        """Outputs that the peer returned; ``None`` where it wrote all of them in place."""
        first = self.returned[0]
        return None if first is None else tuple(first)

    def replay(self) -> None:
        """Run once on every set."""
        self.returned = [run() for run in self.runs]

    def deliver(self) -> None:
        """Copy what was returned into the buffers."""
        for results, buffers in zip(self.returned, self.arrays, strict=True):
            for name, result in (results or {}).items():
                buffers[name][...] = np.asarray(result).reshape(buffers[name].shape)
