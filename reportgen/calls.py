"""What ``experiment.py`` and the timed process share: standard-library dataclasses, nothing that acts.

This module stays importable where only the standard library and NumPy are installed, since the timed
process runs there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Fixture:
    """One input setting as the experiment's functions see it.

    ``values`` maps each axis of the plan to this fixture's value; ``fixture["rows"]`` reads one.
    """

    name: str
    values: dict[str, Any]
    seed: int
    checks_only: bool = False

    def __getitem__(self, axis: str) -> Any:
        return self.values[axis]


@dataclass(frozen=True)
class Arm:
    """One version under test as the experiment's functions see it."""

    name: str
    role: str
    symbol: str
    of: str | None = None


@dataclass(frozen=True)
class Output:
    """One output buffer and the tolerance under which it is compared with the float64 reference.

    An element passes where ``|value - reference| <= absolute + relative * |reference|``; NaN never passes.
    ``dtype`` is a NumPy dtype name. With ``rows`` the reference gives these places of the first axis alone, for outputs too large for a dense one;
    what arms are compared with each other bit for bit remains the whole.
    """

    shape: tuple[int, ...]
    dtype: str
    absolute: float
    relative: float
    rows: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Buffer:
    """A named argument of a kernel call: input, output or scratch memory of the set in use."""

    name: str


@dataclass(frozen=True)
class Step:
    """Argument of a kernel call: which of the fixture's ``steps`` a launch of the graph is, a whole number from 0."""


@dataclass(frozen=True)
class KernelCall:
    """One kernel call; an operation is a list of them, run in order.

    ``args`` holds :class:`Buffer` names, numbers and :class:`Step`. A Python integer is an int64, a float a double; on the GPU a NumPy scalar
    (``np.int32(n)``, ``np.float32(x)``) is passed in its own type, which must be the kernel parameter's. ``attributes`` are settings of the
    function before its launch: ``max_dynamic_shared_size_bytes``, ``preferred_shared_memory_carveout``; and one of the launch itself:
    ``programmatic_stream_serialization``, 1 where the kernel may begin before the one ahead of it has ended. Native calls
    leave ``grid``, ``block``, ``shared_bytes`` and ``attributes`` alone.
    """

    symbol: str
    args: tuple[Any, ...]
    grid: tuple[int, int, int] = (1, 1, 1)
    block: tuple[int, int, int] = (1, 1, 1)
    shared_bytes: int = 0
    attributes: dict[str, int] = field(default_factory=dict)
