"""A record as pages need it: what the archive holds and what the scoring found, without tables of rows.

These structs are plain data, so that they can be kept between builds under the hash of what they came from.
"""

from __future__ import annotations

import msgspec

from reportgen.model.code import CodeFacts
from reportgen.model.counters import CounterLine, Rotation
from reportgen.model.imported import Benchmark
from reportgen.model.plan import Plan
from reportgen.model.record import Event, Manifest, Note, Status
from reportgen.model.result import Result

SIMULATED = "simulated"


class FileFact(msgspec.Struct, frozen=True):
    """A file with its length and SHA-256; ``path`` is relative to the folder that holds it."""

    path: str
    length_bytes: int
    sha256: str


class CheckLine(msgspec.Struct, frozen=True):
    """Checks of one arm by kind and moment, added up over fixtures and repetitions."""

    arm: str
    against: str
    kind: str
    when: str
    checks: int
    elements: int
    mismatches: int
    max_abs: float | None
    rel_l2: float | None
    failed: int


class ParityLine(msgspec.Struct, frozen=True):
    """Checks of one arm on the fixtures of a slice, of one kind against one thing, added up over processes and moments; differences are the largest."""

    slice: str
    arm: str
    kind: str
    against: str
    elements: int
    mismatches: int
    rel_l2: float | None


class ReadingLine(msgspec.Struct, frozen=True):
    """Range of one reading over the blocks of a repetition of a mode or harness."""

    repetition: int
    reading: str
    unit: str
    least: float
    median: float
    most: float
    mode: str = "process"


class Moment(msgspec.Struct, frozen=True, array_like=True):
    """A block of batches, or a repetition of a long attempt, at its mean time since the attempt began.

    ``off`` is the median of its batches' times over what they usually take, less 1, ``low`` and ``high`` their quartiles; ``counts`` tells that no rule
    left it out.
    """

    at_s: float
    repetition: int
    off: float | None
    low: float | None
    high: float | None
    clock_mhz: float | None
    temperature_c: float | None
    counts: bool


class ModeCount(msgspec.Struct, frozen=True):
    """How much of an attempt is of one mode or harness; ``batches`` are scored rows, ``left_out`` repetitions that do not count."""

    mode: str
    repetitions: int
    left_out: int
    batches: int
    warmup_batches: int


class AttemptView(msgspec.Struct, frozen=True):
    """One attempt; ``address`` is its page's path, ``damage`` says where its files differ from their archived hashes.

    ``published`` is the folder of the site that holds its archived ``files``; ``modes`` count by mode and harness, and
    ``modes_said`` says what verdicts rest on where there are several. ``moved_bytes`` are, by fixture, those that one launch
    must move at least, as the experiment counts them. ``imported`` are benchmarks of another harness, with the number of their source; ``counters`` are those of a profile attempt, ``rotations`` what they say of its
    fixtures that are called rotating. ``code`` holds, by arm, what was counted in its machine code. ``moments`` are its blocks in the order of time, ``parity`` its checks slice by slice.
    """

    address: str
    folder: str
    sealed: bool
    status: Status
    reason: str
    manifest: Manifest
    notes: list[Note]
    events: list[Event]
    checks: list[CheckLine]
    readings: list[ReadingLine]
    throttled: list[str]
    files: list[FileFact]
    damage: list[str] = []
    published: str = ""
    modes: list[ModeCount] = []
    modes_said: str = ""
    moved_bytes: dict[str, int] = {}
    imported: list[tuple[int, Benchmark]] = []
    counters: list[CounterLine] = []
    rotations: list[Rotation] = []
    code: dict[str, CodeFacts] = {}
    moments: list[Moment] = []
    parity: list[ParityLine] = []


class RecordView(msgspec.Struct, frozen=True):
    """One record.

    ``current`` tells whether its name means this one, ``others`` are attempts of its plan that no record chooses from,
    ``downloads`` the files beside its page.
    """

    experiment: str
    slug: str
    address: str
    current: bool
    plan: Plan
    result: Result
    attempts: list[AttemptView]
    replications: list[AttemptView]
    others: list[AttemptView] = []
    downloads: list[FileFact] = []

    @property
    def name(self) -> str:
        """Name that pins this record whatever is measured later."""
        return f"{self.experiment}@{self.slug}"

    @property
    def title(self) -> str:
        """Title that the plan states."""
        return self.plan.experiment.title

    @property
    def simulated(self) -> bool:
        """Whether any of its times were made up by a program."""
        return any(attempt.manifest.device.kind == SIMULATED for attempt in self.attempts)

    @property
    def devices(self) -> list[str]:
        """Models of the devices measured, each once."""
        return list(dict.fromkeys(attempt.manifest.device.model for attempt in self.attempts))

    def all_attempts(self) -> list[AttemptView]:
        """Every attempt that belongs to it: those that speak, replications and others."""
        return [*self.attempts, *self.replications, *self.others]

    @property
    def batches(self) -> int:
        """Scored batches of the attempts that speak."""
        return sum(attempt.manifest.counts.batches for attempt in self.attempts)

    @property
    def date(self) -> str:
        """Day on which the first of its attempts began."""
        return min(attempt.manifest.started_at for attempt in self.attempts)[:10]
