"""How the matrix is measured: repetitions, modes, batches, deadlines, and what makes a batch not count."""

from __future__ import annotations

import enum
import math

import msgspec

_MOST_BATCH_MS = 10_000
_MOST_PADDING_MIB = 1024


class Mode(enum.StrEnum):
    """What a repetition redraws: everything in a fresh process (the only mode that carries verdicts), the layout, or nothing."""

    PROCESS = "process"
    LAYOUT = "layout"
    PLACEMENT = "placement"


class Launching(enum.StrEnum):
    """How the launches of a batch reach a GPU, the same for every arm: as a graph, or one call after the other."""

    GRAPH = "graph"
    CALLS = "calls"


class Exclusion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rules by which a batch is tagged and its repetition left out and replaced, before any analysis.

    ``least_clock_share``: tag a batch whose clock reads under this share of the highest clock of the attempt.
    """

    throttled: bool = True
    foreign_process: bool = True
    least_clock_share: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.least_clock_share <= 1:
            raise ValueError("protocol.exclude.least_clock_share must lie in [0, 1]")


class Protocol(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the matrix is measured. Times carry their unit in the name.

    ``clock_warm_up_s`` bounds the time in which a process waits for a stable clock before its first batch. Each of the
    ``modes`` has ``repetitions`` of its own, interleaved in time. ``layout`` and ``placement`` begin a new process every
    ``block_repetitions``, over which an A/A study forms one interval; it divides ``repetitions`` where there are several modes.
    ``peer_repetitions`` are those of peers, ``repetitions`` at most. ``side_by_side`` allows attempts on several devices at a time.
    ``launching`` is how a GPU gets every arm's launches: recorded into a graph, or called one by one from the host.
    """

    repetitions: int = 12
    peer_repetitions: int | None = None
    spares: int = 2
    quick_repetitions: int = 2
    modes: list[Mode] = msgspec.field(default_factory=lambda: [Mode.PROCESS])
    block_repetitions: int = 12
    side_by_side: bool = False
    launching: Launching = Launching.GRAPH
    least_batch_ms: float = 1.0
    launches_per_graph: int = 1
    lead_in_replays: int = 1
    most_padding_mib: float = 64.0
    clock_warm_up_s: float = 2.0
    compile_deadline_s: float = 120.0
    start_deadline_s: float = 120.0
    silence_deadline_s: float = 120.0
    exclude: Exclusion = msgspec.field(default_factory=Exclusion)

    def __post_init__(self) -> None:
        counts = (self.repetitions, self.quick_repetitions, self.launches_per_graph, self.lead_in_replays)
        if min(*counts, self.peer_repetitions or counts[0]) < 1 or self.peer_repetitions == 0 or self.spares < 0:
            raise ValueError("protocol counts must be at least 1, spares at least 0")
        self._check_modes()
        if not 0 < self.least_batch_ms <= _MOST_BATCH_MS:
            raise ValueError("protocol.least_batch_ms must lie in (0, 10000]")
        if not 0 <= self.most_padding_mib <= _MOST_PADDING_MIB:
            raise ValueError("protocol.most_padding_mib must lie in [0, 1024]")
        if not 0 <= self.clock_warm_up_s < math.inf:
            raise ValueError("protocol.clock_warm_up_s must be a finite number of seconds, at least 0")
        for name in ("compile_deadline_s", "start_deadline_s", "silence_deadline_s"):
            if not 0 < getattr(self, name) < math.inf:
                raise ValueError(f"protocol.{name} must be a finite number of seconds above 0")

    def _check_modes(self) -> None:
        if Mode.PROCESS not in self.modes or len(set(self.modes)) != len(self.modes):
            raise ValueError("protocol.modes must name process, and none twice")
        if self.block_repetitions < 1 or (len(self.modes) > 1 and self.repetitions % self.block_repetitions):
            raise ValueError("protocol.block_repetitions must divide protocol.repetitions if there are several modes")
