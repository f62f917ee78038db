"""What another harness left in its files: benchmarks with their samples or aggregates, nothing added and nothing rounded away."""

from __future__ import annotations

import enum
from typing import Any

import msgspec

from reportgen.model.result import OrderInterval, Reason, Verdict


class RowStatus(enum.StrEnum):
    """How a benchmark, or one value of it, came out; a benchmark has the worst status of its rows."""

    OK = "ok"
    SKIPPED = "skipped"
    ERROR = "error"


class Measure(enum.StrEnum):
    """What the values are: times in ns, or rates in the source's unit. A rate is never turned into a time."""

    TIME = "time"
    RATE = "rate"


class Better(enum.StrEnum):
    """Which direction is good."""

    LOWER = "lower"
    HIGHER = "higher"


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """One value that the source holds by itself.

    ``value`` is in ns (a rate: in ``unit``) and null where the source has no number; ``told`` and ``unit`` are as the source has
    them. ``iterations`` are those that the value was averaged over; ``repetition`` is the source's own number of it, ``order`` its place
    in the file from 1, ``place`` its line or key there. ``beside`` holds what the source says of it in further numbers.
    """

    value: float | None
    told: str
    unit: str
    order: int
    place: str = ""
    status: RowStatus = RowStatus.OK
    reason: str = ""
    iterations: float | None = None
    repetition: int | None = None
    beside: dict[str, float] = {}


class Benchmark(msgspec.Struct, frozen=True, kw_only=True):
    """One benchmark: a name with its parameters, and its arm where the source has arms.

    ``reported`` are figures that the source states itself, times as ``*_ns``; ``median_word`` says in words what its ``median_ns`` is where
    that is not simply a median. ``repetitions`` and ``iterations`` are what the source states where the values are missing.
    """

    name: str
    params: dict[str, Any] = {}
    arm: str | None = None
    status: RowStatus = RowStatus.OK
    reason: str = ""
    measure: Measure = Measure.TIME
    better: Better = Better.LOWER
    unit: str = "ns"
    samples: tuple[Sample, ...] = ()
    reported: dict[str, float] = {}
    median_word: str = ""
    repetitions: int | None = None
    iterations: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def good(self) -> tuple[float, ...]:
        """Values of good rows, in the order of the file: all that any figure may rest on."""
        return tuple(one.value for one in self.samples if one.status is RowStatus.OK and one.value is not None)


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """What one file, or one folder of a benchmark, holds.

    ``version`` is the format's or the harness's as the file states it. ``context`` is what the harness noted of machine and run.
    ``not_time`` names entries that are no times (bytes, counts), ``unrecorded`` says what this harness does not write down.
    """

    name: str
    format: str
    version: str | int | None
    benchmarks: tuple[Benchmark, ...]
    context: dict[str, Any] = {}
    not_time: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unrecorded: tuple[str, ...] = ()
    kind: str = ""


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What whoever imported said of the files beyond what stands in them; everything that rests on it says so.

    ``arm_from`` is the parameter (or ``name``) whose values are the arms; ``nulls`` maps an arm to the one that it repeats. ``paired``: values
    of one repetition (or place) of two arms were measured together; ``fresh_processes``: each repetition was a process of its own.
    """

    baseline: str | None = None
    nulls: dict[str, str] = {}
    arm_from: str | None = None
    paired: bool = False
    fresh_processes: bool = False


class ImportedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that was imported: its ``name``, where the archive keeps it, and its hash as it was given.

    ``replaced`` counts names of hosts and people that were replaced in the copy; where it is 0 the copy has the ``original_sha256``.
    """

    path: str
    name: str
    original_sha256: str
    original_bytes: int
    replaced: int = 0


class ImportedSource(msgspec.Struct, frozen=True, kw_only=True):
    """One source of an imported attempt, without its benchmarks; the first of its ``files`` is the main one."""

    name: str
    format: str
    version: str | int | None
    files: list[ImportedFile]
    kind: str = ""
    context: dict[str, Any] = {}
    not_time: list[str] = []
    notes: list[str] = []
    unrecorded: list[str] = []


class Import(msgspec.Struct, frozen=True, kw_only=True):
    """What an imported attempt came from, and how much of it there is."""

    sources: list[ImportedSource]
    told: Told
    identity_kept: bool
    benchmarks: int
    samples: int


class ImportedCell(msgspec.Struct, frozen=True, kw_only=True):
    """Two arms on one fixture: their middles (ns, or the rate's unit) and arm / baseline, with what the ratio rests on.

    ``interval`` is the order-statistic interval of the pair ratios, where there are enough; ``lacking`` says why there are no pairs.
    """

    fixture: str
    params: dict[str, Any]
    measure: Measure
    better: Better
    unit: str
    arm_value: float | None
    baseline_value: float | None
    ratio: float | None
    basis: str
    pairs: int
    interval: OrderInterval | None
    lacking: str
    failed: bool


class ImportedComparison(msgspec.Struct, frozen=True, kw_only=True):
    """An imported arm against its baseline.

    ``headline`` is the median over fixtures of their ratios; ``low`` to ``high`` the decision interval of process values. ``verdict``
    is null wherever the data cannot carry one, and ``lacking`` lists why.
    """

    arm: str
    baseline: str
    null: bool
    cells: list[ImportedCell]
    headline: float | None
    low: float | None
    high: float | None
    repetitions: int
    noise_floor: float | None
    verdict: Verdict | None
    reason: Reason | None
    lacking: list[str]
