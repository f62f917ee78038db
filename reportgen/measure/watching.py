"""What a run is asked, what it tells while it goes on, and how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from reportgen.model.record import Status


@dataclass(frozen=True)
class RunOptions:
    """What ``run`` was asked; ``None`` means what the experiment says, or the only choice.

    ``resume`` is an open attempt's id. ``provenance`` is a file that ``provenance.declare`` wrote. ``repetitions`` replaces the
    protocol's number under ``quick`` only: what is scored is measured as planned. ``sanitizer`` is a tool of ``looking.Tool``, ``profile``
    stands for the profiler: instead of a clock they look at the fixtures that ``where`` (axis to values) leaves, the profiler at those of
    ``arms`` alone, where any are named. ``attempt`` is the id that a sender on another host chose, who also seals (``seals`` is false then).
    """

    backend: str | None = None
    device: str | None = None
    quick: bool = False
    resume: str | None = None
    provenance: Path | None = None
    repetitions: int | None = None
    sanitizer: str | None = None
    profile: bool = False
    arms: tuple[str, ...] = ()
    where: dict[str, list[str]] = field(default_factory=dict)
    attempt: str | None = None
    seals: bool = True


@dataclass(frozen=True)
class RunOutcome:
    """How an attempt ended. ``path`` is its folder, ``None`` if none was opened; ``sentence`` names what went wrong, if anything.

    ``left_open``: it can be resumed.
    """

    path: Path | None
    status: Status
    reason: str
    failed_arms: list[str]
    exit_status: int
    sentence: str = ""
    left_open: bool = False


class Watch(Protocol):
    """Callbacks of a run; none is called while a batch is timed."""

    def phase(self, name: str, detail: str = "") -> None:
        """Something begins: building, references, calibration, repetition, sealing."""

    def repetition_done(
        self, done: int, planned: int, seconds_left: float, rows: Sequence[dict[str, Any]], series: str
    ) -> None:
        """Take note that a repetition was accepted or lost: ``done`` of ``planned`` in its ``series``.

        ``seconds_left`` are those of the whole attempt, ``rows`` the scored batches of all accepted processes so far.
        """

    def warning(self, sentence: str) -> None:
        """Something that the reader of the record should know and that stops nothing."""
