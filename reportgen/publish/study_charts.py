"""What the charts of an A/A study show, as plain numbers and finished words: taken from a record here, drawn in ``study_drawing``."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from reportgen.errors import InputError
from reportgen.model.null_study import HarnessSummary, ModeSummary, NullStudy
from reportgen.model.protocol import Mode
from reportgen.publish import study_lookup, wording
from reportgen.publish.lookup import slug
from reportgen.publish.study_lookup import kernel_name, way_name
from reportgen.publish.view import RecordView

PROCESS = Mode.PROCESS.value


class ErrorRow(msgspec.Struct, frozen=True):
    """Errors of one way of measuring in percent; ``alarms`` are those whose interval excludes no change."""

    way: str
    label: str
    errors: list[float]
    alarms: list[float]


class ErrorChart(msgspec.Struct, frozen=True, tag=True):
    """Every error on identical code by way of measuring; ``bar`` is a band around none, in percent, with its name."""

    anchor: str
    title: str
    description: str
    rows: list[ErrorRow]
    bar: float
    bar_label: str


class SeriesRow(msgspec.Struct, frozen=True):
    """One comparison in one mode: process values in the order of time as changes in percent, with estimate and interval."""

    way: str
    label: str
    alarm: bool
    estimate: float
    low: float
    high: float
    changes: list[float | None]


class SeriesChart(msgspec.Struct, frozen=True, tag=True):
    """The same comparison of identical code in every mode, on one scale around no change."""

    anchor: str
    title: str
    description: str
    rows: list[SeriesRow]


class IntervalsRow(msgspec.Struct, frozen=True):
    """Every interval of one mode as ``(estimate, low, high)``, changes in percent, sorted by estimate."""

    way: str
    label: str
    intervals: list[tuple[float, float, float]]


class IntervalsChart(msgspec.Struct, frozen=True, tag=True):
    """All intervals around identical code, a row a mode, on one scale around no change."""

    anchor: str
    title: str
    description: str
    rows: list[IntervalsRow]


class PowerRow(msgspec.Struct, frozen=True):
    """One planted share: ``found`` holds a share in percent by mode, in the order of the chart's modes."""

    name: str
    label: str
    found: list[float | None]


class PowerChart(msgspec.Struct, frozen=True, tag=True):
    """What share of comparisons says more time, by planted share and mode."""

    anchor: str
    title: str
    description: str
    modes: list[str]
    rows: list[PowerRow]


StudyChart = ErrorChart | SeriesChart | IntervalsChart | PowerChart


def errors(record: RecordView) -> ErrorChart:
    """Take the error of every null comparison of every mode, and of every null ratio of every harness."""
    study = study_lookup.study_of(record)
    rows = [_mode_row(study, line) for line in study.modes] + [_harness_row(study, line) for line in study.harnesses]
    bar = next(part.limit for part in study.bar if part.name == "error_p95")
    said = [_mode_said(line) for line in study.modes] + [_harness_said(line) for line in study.harnesses]
    return ErrorChart(
        anchor=f"c-errors-{slug(record.name)}",
        title="Errors on identical code, by way of measuring",
        description=f"One mark a comparison; the truth is no change. {'; '.join(said)}.",
        rows=rows,
        bar=100 * bar,
        bar_label=f"bar {wording.share(bar)}",
    )


def _mode_row(study: NullStudy, line: ModeSummary) -> ErrorRow:
    own = [one for one in study.nulls if one.mode == line.mode]
    return ErrorRow(
        way=way_name(line.mode),
        label=f"{wording.of_total(line.alarms, line.comparisons)} false alarms",
        errors=[100 * (one.estimate - 1) for one in own if not one.alarm],
        alarms=[100 * (one.estimate - 1) for one in own if one.alarm],
    )


def _harness_row(study: NullStudy, line: HarnessSummary) -> ErrorRow:
    own = [100 * (one.ratio - 1) for one in study.harness_ratios if one.harness == line.harness]
    return ErrorRow(line.harness, f"median {wording.error(line.error_median)} off, no interval", own, [])


def _mode_said(line: ModeSummary) -> str:
    return (
        f"{way_name(line.mode)}: {wording.of_total(line.alarms, line.comparisons)} false alarms, 95% of the errors within "
        f"{wording.error(line.error_p95)}, the widest {wording.error(line.error_widest)}"
    )


def _harness_said(line: HarnessSummary) -> str:
    return (
        f"{line.harness}: {wording.plural(line.ratios, 'ratio')}, half of them off by more than {wording.error(line.error_median)}, "
        f"the widest {wording.error(line.error_widest)}"
    )


def intervals(record: RecordView) -> IntervalsChart:
    """Take the interval of every null comparison of every mode."""
    study = study_lookup.study_of(record)
    return IntervalsChart(
        anchor=f"c-intervals-{slug(record.name)}",
        title="Every interval around identical code, by mode",
        description=f"One stroke an interval; the truth is no change. {'; '.join(map(_mode_said, study.modes))}.",
        rows=[
            IntervalsRow(
                way=way_name(line.mode),
                label=f"{wording.of_total(line.alarms, line.comparisons)} exclude no change",
                intervals=sorted(
                    (100 * (one.estimate - 1), 100 * (one.low - 1), 100 * (one.high - 1))
                    for one in study.nulls
                    if one.mode == line.mode
                ),
            )
            for line in study.modes
        ],
    )


def one_placement(record: RecordView) -> SeriesChart:
    """Take the placement comparison whose interval lies farthest from no change, and the same one in every other mode.

    Raises
    ------
    InputError
        No comparison was made in mode placement.
    """
    study = study_lookup.study_of(record)
    if not study.shown:
        raise InputError(f"{record.name} made no comparison in mode placement")
    first = study.shown[0]
    rows = []
    for series in study.shown:
        line = study_lookup.shown_line(study, series.mode)
        rows.append(
            SeriesRow(
                way=way_name(series.mode),
                label=f"{wording.change(line.estimate)}, {'false alarm' if line.alarm else 'holds no change'}",
                alarm=line.alarm,
                estimate=100 * (line.estimate - 1),
                low=100 * (line.low - 1),
                high=100 * (line.high - 1),
                changes=[None if value is None else 100 * (value - 1) for value in series.h],
            )
        )
    said = [
        f"{row.way}: estimate {wording.change(1 + row.estimate / 100)}, interval {wording.interval(1 + row.low / 100, 1 + row.high / 100)}"
        for row in rows
    ]
    where = f"{first.null} against {first.of}, kernel {kernel_name(first.slice)}, block {first.block}"
    return SeriesChart(
        anchor=f"c-one-placement-{slug(record.name)}",
        title=f"One comparison of identical code in every mode: {where}",
        description=f"One dot a repetition in the order of time; the truth is no change. {'; '.join(said)}.",
        rows=rows,
    )


def power(record: RecordView) -> PowerChart:
    """Take what share of comparisons says more time, by planted share and mode; nothing planted first.

    Where nothing was planted this is the share of false alarms that say more time.
    """
    study = study_lookup.study_of(record)
    modes = [line.mode for line in study.modes]
    lines = [line for line in study.power if line.slice is None]
    if not lines:
        raise InputError(f"{record.name} planted no work")
    rows = [PowerRow("nothing planted", "false alarms to more time", [_upward(study, mode) for mode in modes])]
    for planted in sorted({line.planted for line in lines}):
        own = {line.mode: line for line in lines if line.planted == planted}
        expected = own[PROCESS].expected if PROCESS in own else None
        label = "" if expected is None else f"expected {wording.change(expected)}"
        found = [100 * own[mode].found_share if mode in own else None for mode in modes]
        rows.append(PowerRow(study_lookup.planted_name(planted), label, found))
    said = [f"{row.name}: {_found_said(modes, row.found)}" for row in rows]
    return PowerChart(
        anchor=f"c-power-{slug(record.name)}",
        title="Share of comparisons that say more time, by planted work",
        description=f"{'; '.join(said)}.",
        modes=modes,
        rows=rows,
    )


def _upward(study: NullStudy, mode: str) -> float | None:
    own = [one for one in study.nulls if one.mode == mode]
    return 100 * sum(one.low > 1 for one in own) / len(own) if own else None


def _found_said(modes: list[str], found: list[float | None]) -> str:
    known = [(mode, share) for mode, share in zip(modes, found, strict=True) if share is not None]
    return wording.names([f"{mode} {wording.number(share, decimals=0)}%" for mode, share in known])


KINDS: Mapping[str, Callable[[RecordView], StudyChart]] = {
    "errors": errors,
    "intervals": intervals,
    "one_placement": one_placement,
    "power": power,
}
