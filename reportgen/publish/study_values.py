"""The figures of an A/A study that a sentence may ask for by name: of a mode, a harness, a kernel, a planted share, the whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from reportgen.errors import InputError
from reportgen.model.null_study import BarPart, HarnessKernel, NullStudy
from reportgen.publish import study_lookup, wording
from reportgen.publish.view import RecordView

Say = Callable[[Any], str]
Names = Mapping[str, tuple[str, Say]]


@dataclass(frozen=True)
class Said:
    """A figure at full precision, in words, and the anchor of its derivation on the record's page."""

    value: float | str
    text: str
    anchor: str


@dataclass(frozen=True)
class Selection:
    """What a figure is asked of; ``effect`` is a planted share such as 0.005."""

    mode: str | None = None
    kernel: str | None = None
    effect: float | None = None
    harness: str | None = None


def _rounded_share(value: float) -> str:
    return wording.percent(value, decimals=0)


def _thousandths(value: float) -> str:
    return wording.percent(value, decimals=3)


MODE: Names = {
    "comparisons": ("comparisons", wording.count),
    "false_alarms": ("alarms", wording.count),
    "false_alarm_share": ("alarm_share", wording.percent),
    "false_alarm_low": ("share_low", wording.percent),
    "false_alarm_high": ("share_high", wording.percent),
    "nominal_share": ("nominal_share", wording.percent),
    "bootstrap_alarms": ("bootstrap_alarms", wording.count),
    "bootstrap_share": ("bootstrap_share", wording.percent),
    "error_median": ("error_median", wording.error),
    "error_p95": ("error_p95", wording.error),
    "error_widest": ("error_widest", wording.error),
    "offset_rms": ("offset_rms", wording.error),
    "interval_width": ("width_median", wording.error),
    "between_sd": ("between_sd", wording.error),
    "within_sd": ("within_sd", wording.error),
    "kernels": ("kernels", wording.count),
    "kernels_biased": ("kernels_beyond", wording.count),
}
SPREAD = ("offset_rms", "interval_width", "between_sd", "within_sd")
SHOWN: Names = {
    "shown_estimate": ("estimate", wording.change),
    "shown_low": ("low", wording.change),
    "shown_high": ("high", wording.change),
    "shown_kernel": ("slice", study_lookup.kernel_name),
    "shown_null": ("null", str),
    "shown_block": ("block", wording.count),
}
KERNEL: Names = {
    "comparisons": ("comparisons", wording.count),
    "false_alarms": ("alarms", wording.count),
    "time": ("time_ns", wording.time),
    "bias": ("mean_error", wording.signed_error),
    "bias_se": ("standard_error", _thousandths),
    "bias_z": ("quotient", lambda value: wording.signed(value, decimals=1)),
}
POWER: Names = {
    "power": ("found_share", _rounded_share),
    "found": ("found", wording.count),
    "comparisons": ("comparisons", wording.count),
    "expected": ("expected", wording.change),
    "estimate": ("estimate", wording.change),
    "error": ("error", wording.signed_error),
}
HARNESS: Names = {
    "ratios": ("ratios", wording.count),
    "error_median": ("error_median", wording.error),
    "error_p95": ("error_p95", wording.error),
    "error_widest": ("error_widest", wording.error),
}
HARNESS_KERNEL: Names = {
    "ratios": ("ratios", wording.count),
    "time": ("time_ns", wording.time),
    "reads": ("reads", lambda value: wording.change(value, decimals=1)),
    "bias": ("mean_error", wording.signed_error),
    "error_widest": ("error_widest", wording.error),
}
READS: Mapping[str, Callable[..., HarnessKernel]] = {"reads_least": min, "reads_most": max}
WHOLE = ("bar", "alarms_allowed", "comparisons_due", "layout_covers", "block_repetitions")


def said(record: RecordView, what: str, asked: Selection) -> Said:
    """Find a figure of the record's A/A study.

    Raises
    ------
    InputError
        There is no study, no such figure of what was selected, or nothing was computed.
    """
    study = study_lookup.study_of(record)
    piece = None if asked.kernel is None else study_lookup.kernel_named(record, asked.kernel)
    if asked.effect is not None:
        planted = study_lookup.power_line(study, _mode(asked), asked.effect, piece)
        return _figure("a planted effect", POWER, what, planted, study_lookup.power_anchor(planted))
    if asked.harness is not None:
        return _of_harness(study, what, asked.harness, piece)
    if piece is not None:
        kernel = study_lookup.kernel_line(study, _mode(asked), piece)
        return _figure("a kernel", KERNEL, what, kernel, study_lookup.kernel_anchor(kernel.mode, piece))
    if asked.mode is not None:
        return _of_mode(study, what, asked.mode)
    return _of_whole(study, what)


def _mode(asked: Selection) -> str:
    if asked.mode is None:
        raise InputError("a figure of a kernel or planted effect needs a mode", remedy='say mode="process"')
    return asked.mode


def _of_mode(study: NullStudy, what: str, mode: str) -> Said:
    if what in SHOWN:
        shown = study_lookup.shown_line(study, mode)
        return _figure("a mode", SHOWN, what, shown, study_lookup.shown_anchor(mode))
    names, line = {**MODE, **SHOWN}, study_lookup.mode_line(study, mode)
    anchor = study_lookup.spread_anchor(mode) if what in SPREAD else study_lookup.mode_anchor(mode)
    return _figure("a mode", names, what, line, anchor)


def _of_harness(study: NullStudy, what: str, harness: str, piece: str | None) -> Said:
    if piece is not None:
        kernel = study_lookup.harness_kernel_line(study, harness, piece)
        anchor = study_lookup.harness_kernel_anchor(harness, piece)
        return _figure("a kernel of a harness", HARNESS_KERNEL, what, kernel, anchor)
    if what in READS:
        read = [one for one in study.harness_kernels if one.harness == harness and one.reads is not None]
        if not read:
            raise InputError(f"harness {harness!r} read no kernel that mode process timed")
        kernel = READS[what](read, key=lambda one: one.reads)
        anchor = study_lookup.harness_kernel_anchor(harness, kernel.slice)
        return _figure("a harness", {what: HARNESS_KERNEL["reads"]}, what, kernel, anchor)
    names = {**HARNESS, **dict.fromkeys(READS, HARNESS_KERNEL["reads"])}
    line = study_lookup.harness_line(study, harness)
    return _figure("a harness", names, what, line, study_lookup.harness_anchor(harness))


def _of_whole(study: NullStudy, what: str) -> Said:
    if what == "bar":
        passes = all(part.passes for part in study.bar)
        word = "passes" if passes else "missed"
        return Said(word, word, study_lookup.BAR_ANCHOR)
    if what in ("alarms_allowed", "comparisons_due"):
        part = _part(study, "false_alarms" if what == "alarms_allowed" else "comparisons")
        return Said(int(part.limit), wording.count(int(part.limit)), study_lookup.bar_anchor(part.name))
    if what == "layout_covers" and study.layout_covers is not None:
        return Said(study.layout_covers, _rounded_share(study.layout_covers), study_lookup.LAYOUT_ANCHOR)
    if what == "block_repetitions":
        return Said(study.block_repetitions, wording.count(study.block_repetitions), study_lookup.BLOCK_ANCHOR)
    if what in WHOLE:
        raise InputError(f"the study has no {what!r}", remedy="it needs the modes layout and placement")
    known = ", ".join(WHOLE)
    raise InputError(
        f"no figure {what!r} of a whole study", remedy=f"they are: {known}; others need mode=, harness= or effect="
    )


def _part(study: NullStudy, name: str) -> BarPart:
    return next(part for part in study.bar if part.name == name)


def _figure(of: str, names: Names, what: str, line: Any, anchor: str) -> Said:
    if what not in names:
        raise InputError(f"no figure {what!r} of {of}", remedy=f"they are: {', '.join(names)}")
    attribute, say = names[what]
    value = getattr(line, attribute)
    if value is None:
        raise InputError(f"{what!r} of {of} was not computed", remedy="it needs data that this record lacks")
    return Said(value, say(value), anchor)
