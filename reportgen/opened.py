"""A record as data frames: what the commands print and pages show, for programs and notebooks.

import reportgen

record = reportgen.open_record("runs/q6k_dot")      # or an attempt's folder, a published record's, or record.zip
record.verdicts()                                   # a row a comparison: what `show --json` prints
record.ratios()                                     # a row a cell
record.batches, record.checks                       # the tables themselves
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from reportgen.analysis.imported import centre_of
from reportgen.analysis.imported_comparisons import compare
from reportgen.archive import layout
from reportgen.archive.importers.assembling import labels
from reportgen.archive.load import Attempt, attempt_folders, load_attempt, read_whole
from reportgen.archive.select import find_record
from reportgen.errors import InputError
from reportgen.model.imported import Measure
from reportgen.model.record import Kind
from reportgen.model.result import Result
from reportgen.publish.imported_words import IMPORTED
from reportgen.publish.unpacking import unpack
from reportgen.scoring import score_attempts, stages_in

VERDICT_COLUMNS = (
    "slice", "arm", "baseline", "headline", "estimate", "low", "high", "verdict", "reason", "promotion",
)  # fmt: skip
RATIO_COLUMNS = (
    "slice", "arm", "baseline", "device", "fixture", "ratio", "low", "high", "n", "arm_ns", "baseline_ns",
)  # fmt: skip
_KEPT = ("slice", "arm", "baseline", "headline", "estimate", "low", "high", "verdict", "reason")


def verdict_rows(scored: Result) -> list[dict[str, Any]]:
    """Give a row a comparison, nulls apart, as ``show --json`` has them: ratios of times, below 1 is less time."""
    promotions = {(one.arm, one.slice): one.outcome for one in scored.promotions}
    return [
        {**{name: getattr(one, name) for name in _KEPT}, "promotion": promotions.get((one.arm, one.slice))}
        for one in scored.comparisons
        if one.role != "null"
    ]


def ratio_rows(scored: Result) -> list[dict[str, Any]]:
    """Give a row a cell of every comparison, nulls included: ratio of times with its order-statistic interval, and both times in ns."""
    return [
        {
            "slice": one.slice,
            "arm": one.arm,
            "baseline": one.baseline,
            "device": cell.device,
            "fixture": cell.fixture,
            "ratio": cell.ratio,
            "low": cell.interval.low,
            "high": cell.interval.high,
            "n": cell.interval.n,
            "arm_ns": cell.candidate_ns,
            "baseline_ns": cell.baseline_ns,
        }
        for one in scored.comparisons
        for cell in one.cells
    ]


IMPORTED_COLUMNS = ("arm", "baseline", "headline", "low", "high", "verdict", "reason", "lacking")
DIRECTION = "Time ratio arm / baseline: below 1 is less time."


@dataclass(frozen=True, eq=False, repr=False)
class OpenRecord:
    """Attempts that speak together, one a device; or one attempt, whatever its kind. Everything is read when it is opened."""

    name: str
    attempts: tuple[Attempt, ...]
    runs: Path | None = None

    @property
    def imported(self) -> bool:
        """Whether another harness measured it."""
        return self.attempts[0].manifest.kind is Kind.IMPORTED

    @cached_property
    def batches(self) -> pd.DataFrame:
        """Every batch, warm-up included, with ``device`` and ``attempt`` in front; columns as in docs/record-format.md."""
        return _joined(self.attempts, [one.batches for one in self.attempts])

    @cached_property
    def checks(self) -> pd.DataFrame:
        """Every check of outputs and inputs, with ``device`` and ``attempt`` in front."""
        return _joined(self.attempts, [one.checks for one in self.attempts])

    @cached_property
    def result(self) -> Result:
        """Everything that the record says.

        Raises
        ------
        InputError
            It was imported, so that the rules of a record do not apply.
        RecordError
            Its rows are no record of its plan.
        """
        if self.imported:
            raise InputError(
                "an imported attempt has no result of a record",
                where=self.name,
                remedy="ask verdicts() and benchmarks()",
            )
        plan = self.attempts[0].plan
        return score_attempts(plan, self.attempts, stages_in(plan, self.runs) if self.runs else ())

    def verdicts(self) -> pd.DataFrame:
        """Give a row a comparison. Of an imported attempt the verdict may be missing; ``lacking`` then says why."""
        if self.imported:
            return pd.DataFrame(imported_verdicts(self.attempts[0]), columns=list(IMPORTED_COLUMNS))
        return pd.DataFrame(verdict_rows(self.result), columns=list(VERDICT_COLUMNS))

    def ratios(self) -> pd.DataFrame:
        """Give a row a cell: device x fixture of every comparison, null arms included."""
        if self.imported:
            return pd.DataFrame(imported_ratios(self.attempts[0]))
        return pd.DataFrame(ratio_rows(self.result), columns=list(RATIO_COLUMNS))

    def benchmarks(self) -> pd.DataFrame:
        """Give a row a benchmark of an imported attempt: its status, its figure and what that is; empty otherwise."""
        found = [one for _, one in self.attempts[0].imported]
        rows: list[dict[str, Any]] = [
            {
                "label": label,
                "arm": one.arm,
                "status": one.status.value,
                "measure": one.measure.value,
                "values": len(one.good),
                "figure": centre_of(one).value,
                "basis": str(centre_of(one).basis),
                "unit": "ns" if one.measure is Measure.TIME else one.unit,
                "source_unit": one.unit,
            }
            for label, one in zip(labels(found), found, strict=True)
        ]
        return pd.DataFrame(rows)

    def __repr__(self) -> str:
        return f"OpenRecord({self.name!r}, {', '.join(one.id for one in self.attempts)})"

    def _repr_html_(self) -> str:
        """Show the verdicts in a notebook, with what a ratio means; of an imported attempt that it is one, and its benchmarks."""
        said = pd.DataFrame({"record": [self.name], "attempts": [", ".join(one.id for one in self.attempts)]})
        tables, told = [said, self.verdicts()], DIRECTION
        if self.imported:
            tables, told = [said, self.benchmarks(), *tables[1:]], IMPORTED
        shown = [one.to_html(index=False, na_rep="") for one in tables if len(one)]
        return f"<p>{told}</p>".join([shown[0], "".join(shown[1:])])


def imported_verdicts(attempt: Attempt) -> list[dict[str, Any]]:
    """Give a row a comparison of imported arms, nulls apart."""
    entry = attempt.manifest.imported
    found = [] if entry is None else compare(attempt.imported, entry.told)
    return [
        {"arm": one.arm, "baseline": one.baseline, "headline": one.headline, "low": one.low, "high": one.high}
        | {"verdict": one.verdict, "reason": one.reason, "lacking": "; ".join(one.lacking)}
        for one in found
        if not one.null
    ]


def imported_ratios(attempt: Attempt) -> list[dict[str, Any]]:
    """Give a row a benchmark that two imported arms share."""
    entry = attempt.manifest.imported
    found = [] if entry is None else compare(attempt.imported, entry.told)
    return [
        {
            "arm": one.arm,
            "baseline": one.baseline,
            "fixture": cell.fixture,
            "params": cell.params,
            "measure": cell.measure.value,
        }
        | {
            "ratio": cell.ratio,
            "basis": cell.basis,
            "pairs": cell.pairs,
            "better": cell.better.value,
            "unit": cell.unit,
        }
        | {"arm_value": cell.arm_value, "baseline_value": cell.baseline_value}
        for one in found
        for cell in one.cells
    ]


def open_record(path: str | Path, name: str = "") -> OpenRecord:
    """Open an attempt's folder, a folder of attempts (``runs/q6k_dot``, a published record) or ``record.zip``.

    Parameters
    ----------
    name:
        Which record of a folder of attempts, as ``q6k_dot@1a2b3c``; the current one by default.

    Raises
    ------
    InputError
        There is nothing there, or nothing that can be opened.
    RecordError, SchemaVersionError
        A file is damaged, or was written by another version.
    """
    where = Path(path)
    if where.is_file():
        with tempfile.TemporaryDirectory() as folder:
            unpack(where, Path(folder))
            inner = list(Path(folder).iterdir())
            return _folder(inner[0] if len(inner) == 1 and inner[0].is_dir() else Path(folder), name)
    return _folder(where, name)


def _folder(folder: Path, name: str) -> OpenRecord:
    if not folder.is_dir():
        raise InputError("no such file or folder", where=str(folder))
    if layout.is_attempt_id(layout.attempt_id_of(folder)):
        attempt = load_attempt(folder)
        read_whole(attempt)
        return OpenRecord(attempt.id, (attempt,), folder.resolve().parent.parent)
    found = [load_attempt(one) for one in attempt_folders(folder)]
    if not found:
        raise InputError(
            "holds no attempt", where=str(folder), remedy="name an attempt, runs/NAME, a published record or its zip"
        )
    for one in found:
        read_whole(one)
    imported = [one for one in found if one.manifest.kind is Kind.IMPORTED]
    if len(imported) == len(found):
        return OpenRecord(imported[-1].id, (imported[-1],))
    record = find_record(found, name or found[0].manifest.experiment)
    return OpenRecord(f"{record.name}@{record.slug}", record.attempts, folder.resolve().parent)


def _joined(attempts: Sequence[Attempt], frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    parts = []
    for attempt, frame in zip(attempts, frames, strict=True):
        told = frame.copy()
        told.insert(0, "attempt", attempt.id)
        told.insert(0, "device", attempt.manifest.device.id)
        parts.append(told)
    return pd.concat(parts, ignore_index=True)
