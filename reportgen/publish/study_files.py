"""The tables of an A/A study as CSV: one row a comparison, a planted comparison, a figure of another harness, a shown repetition."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from reportgen.analysis.harness_study import harness_figures
from reportgen.analysis.pairing import DeviceRows
from reportgen.model.null_study import NullComparison, NullStudy, PlantedComparison
from reportgen.model.plan import Plan

NULLS = "null_comparisons.csv"
PLANTED = "planted_comparisons.csv"
HARNESSES = "harness_figures.csv"
SHOWN = "one_placement.csv"
HOLDS = {
    NULLS: "every null comparison of every mode: estimate, interval, false alarm, and the same by bootstrap",
    PLANTED: "every comparison of planted work: what it should cost, estimate, interval, found or not",
    HARNESSES: "every figure of every other harness, with the null ratio that it enters",
    SHOWN: "the placement comparison whose interval lies farthest from no change, repetition by repetition, in every mode",
}
COLUMNS = {
    "mode": "what a repetition redraws",
    "device": "id of the device",
    "slice": "slice of the plan: the kernel",
    "null": "the null arm",
    "of": "the arm that it repeats",
    "block": "block of consecutive repetitions, from 1",
    "n": "process values in the block",
    "estimate": "median of the process values, a time ratio",
    "low": "lower end of the decision interval",
    "high": "upper end of the decision interval",
    "alarm": "whether the interval excludes 1",
    "bootstrap_low": "lower end of the percentile interval of the exact bootstrap law of the median",
    "bootstrap_high": "its upper end",
    "bootstrap_alarm": "whether that interval excludes 1",
    "arm": "the arm timed",
    "baseline": "the incumbent that it is compared with",
    "planted": "share of work done again",
    "expected": "time ratio that this should give; empty where no arm does all of its work twice",
    "found": "whether the whole interval says more time",
    "harness": "the other harness",
    "fixture": "the input setting",
    "repetition": "number of the process, from 1 (in one_placement.csv the planned place, in the order of time)",
    "time_ns": "the harness's time per execution, in ns",
    "ratio": "time ratio: of a harness, null over the arm that it repeats in the same process; empty for other arms",
}
_HARNESS_COLUMNS = ("harness", "device", "fixture", "arm", "repetition", "time_ns", "of", "ratio")
_SHOWN_COLUMNS = ("mode", "device", "slice", "null", "of", "block", "repetition", "ratio")


def names(study: NullStudy | None) -> tuple[str, ...]:
    """Name the files that a study has; one without rows is not written."""
    if study is None:
        return ()
    has = {NULLS: study.nulls, PLANTED: study.planted, HARNESSES: study.harness_kernels, SHOWN: study.shown}
    return tuple(name for name, rows in has.items() if rows)


def study_files(study: NullStudy | None, plan: Plan, rows: Sequence[DeviceRows]) -> dict[str, bytes]:
    """Write every file of a study; ``rows`` are the scored rows of the record, of which the harnesses' figures are taken."""
    if study is None:
        return {}
    tables = {
        NULLS: (NullComparison.__struct_fields__, map(msgspec.structs.asdict, study.nulls)),
        PLANTED: (PlantedComparison.__struct_fields__, map(msgspec.structs.asdict, study.planted)),
        HARNESSES: (_HARNESS_COLUMNS, _harness_rows(study, plan, rows)),
        SHOWN: (_SHOWN_COLUMNS, _shown_rows(study)),
    }
    return {name: _csv(*tables[name]) for name in names(study)}


def _harness_rows(study: NullStudy, plan: Plan, rows: Sequence[DeviceRows]) -> Iterator[dict[str, Any]]:
    ratios = {(one.harness, one.device, one.fixture, one.null, one.repetition): one for one in study.harness_ratios}
    for one in harness_figures(plan, rows):
        ratio = ratios.get((one.harness, one.device, one.fixture, one.arm, one.repetition))
        paired = {"of": ratio.of, "ratio": ratio.ratio} if ratio else {"of": "", "ratio": None}
        yield {name: getattr(one, name) for name in _HARNESS_COLUMNS[:6]} | paired


def _shown_rows(study: NullStudy) -> Iterator[dict[str, Any]]:
    for series in study.shown:
        own = {name: getattr(series, name) for name in _SHOWN_COLUMNS[:6]}
        first = (series.block - 1) * study.block_repetitions
        yield from (own | {"repetition": first + at, "ratio": value} for at, value in enumerate(series.h, start=1))


def _csv(columns: Sequence[str], rows: Iterator[Mapping[str, Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_text(row[name]) for name in columns] for row in rows)
    return text.getvalue().encode()


def _text(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
