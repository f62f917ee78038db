"""Finding the lines of an A/A study by mode, harness, kernel and planted share; and the anchors under which they are derived."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from reportgen.errors import InputError
from reportgen.model.experiment import Experiment
from reportgen.model.null_study import (
    HarnessKernel,
    HarnessSummary,
    KernelBias,
    ModeSummary,
    NullComparison,
    NullStudy,
    PowerSummary,
)
from reportgen.model.protocol import Mode
from reportgen.publish import wording
from reportgen.publish.lookup import slug
from reportgen.publish.view import RecordView

Line = TypeVar("Line")
LAYOUT_ANCHOR = "s-layout-covers"
BLOCK_ANCHOR = "s-block"
BAR_ANCHOR = "s-bar"


def study_of(record: RecordView) -> NullStudy:
    """Return the A/A study of a record.

    Raises
    ------
    InputError
        Its plan has one mode and no other harness.
    """
    study = record.result.null_study
    if study is None:
        raise InputError(
            f"{record.name} holds no A/A study", remedy="its plan needs several protocol.modes or a [[harness]]"
        )
    return study


def mode_line(study: NullStudy, mode: str) -> ModeSummary:
    """Return what a mode came to. Raises ``InputError`` where the study has no such mode."""
    return _only((one for one in study.modes if one.mode == mode), f"mode {mode!r}", [one.mode for one in study.modes])


def harness_line(study: NullStudy, harness: str) -> HarnessSummary:
    """Return what a harness came to. Raises ``InputError`` where the study has no such harness."""
    known = [one.harness for one in study.harnesses]
    return _only((one for one in study.harnesses if one.harness == harness), f"harness {harness!r}", known)


def kernel_named(record: RecordView, kernel: str) -> str:
    """Name the slice that a kernel's name means: the slice itself, or the one with that value of a slicing axis.

    Raises
    ------
    InputError
        None or several are meant.
    """
    named = [
        piece.name
        for piece in record.plan.slices
        if kernel == piece.name or kernel in (str(value) for value in piece.values.values())
    ]
    return _only(named, f"kernel {kernel!r}", [piece.name for piece in record.plan.slices])


def kernel_line(study: NullStudy, mode: str, piece: str) -> KernelBias:
    """Return one kernel in one mode. Raises ``InputError`` where it was not compared there."""
    known = [one.slice for one in study.kernels if one.mode == mode]
    found = (one for one in study.kernels if (one.mode, one.slice) == (mode, piece))
    return _only(found, f"kernel {piece!r} in mode {mode!r}", known)


def harness_kernel_line(study: NullStudy, harness: str, piece: str) -> HarnessKernel:
    """Return one kernel as a harness read it. Raises ``InputError`` where it did not."""
    known = [one.slice for one in study.harness_kernels if one.harness == harness]
    found = (one for one in study.harness_kernels if (one.harness, one.slice) == (harness, piece))
    return _only(found, f"kernel {piece!r} of harness {harness!r}", known)


def power_line(study: NullStudy, mode: str, effect: float, piece: str | None) -> PowerSummary:
    """Return what came of one planted share in one mode, of all kernels or of one. Raises ``InputError`` for an unknown one."""
    known = sorted({f"{one.planted:g}" for one in study.power})
    found = (one for one in study.power if (one.mode, one.planted, one.slice) == (mode, effect, piece))
    return _only(found, f"planted effect {effect!r} in mode {mode!r}", known)


def shown_line(study: NullStudy, mode: str) -> NullComparison:
    """Return the comparison whose series ``shown`` holds for a mode. Raises ``InputError`` where there is none."""
    series = [one for one in study.shown if one.mode == mode]
    found = (
        line
        for line in study.nulls
        for one in series
        if (line.mode, line.device, line.slice, line.null, line.of, line.block)
        == (one.mode, one.device, one.slice, one.null, one.of, one.block)
    )
    return _only(found, f"shown comparison in mode {mode!r}", [one.mode for one in study.shown])


def _only(found: Iterable[Line], what: str, known: list[str]) -> Line:
    lines = list(found)
    if len(lines) != 1:
        raise InputError(
            f"the study has {len(lines) or 'no'} {what}", remedy=f"there are: {', '.join(known) or 'none'}"
        )
    return lines[0]


def way_name(way: str) -> str:
    """Say a way of measuring: a mode in words, a harness by its name."""
    return wording.WAYS.get(way, way)


def kernel_name(piece: str) -> str:
    """Say a kernel: the value alone where one axis slices."""
    return piece.partition("=")[2] if piece.count("=") == 1 else wording.slice_name(piece)


def planted_name(share: float) -> str:
    """Say a planted share of work."""
    return f"{100 * share:g}% more work"


def mode_anchor(mode: str) -> str:
    """Name the place on the record page where a mode is summed up."""
    return f"s-{slug(mode)}"


def spread_anchor(mode: str) -> str:
    """Name the place on the record page where the errors of a mode are taken apart."""
    return f"s-spread-{slug(mode)}"


def harness_anchor(harness: str) -> str:
    """Name the place on the record page where a harness is summed up."""
    return f"s-harness-{slug(harness)}"


def kernel_anchor(way: str, piece: str) -> str:
    """Name the place on the record page where a kernel stands in a mode."""
    return f"s-{slug(way)}-{slug(piece)}"


def harness_kernel_anchor(harness: str, piece: str) -> str:
    """Name the place on the record page where a kernel stands as a harness read it."""
    return f"s-harness-{slug(harness)}-{slug(piece)}"


def power_anchor(line: PowerSummary) -> str:
    """Name the place on the record page where a planted share is summed up."""
    return f"s-planted-{slug(f'{line.planted:g}')}-{slug(line.mode)}" + (f"-{slug(line.slice)}" if line.slice else "")


def shown_anchor(mode: str) -> str:
    """Name the place on the record page where the shown comparison of a mode stands."""
    return f"s-shown-{slug(mode)}"


def bar_anchor(name: str) -> str:
    """Name the place on the record page where a part of the bar stands."""
    return f"s-bar-{slug(name)}"


def modes_said(experiment: Experiment) -> str:
    """Say that verdicts rest on mode process alone, where a plan measured in other ways too; else empty."""
    others = [mode.value for mode in experiment.protocol.modes if mode is not Mode.PROCESS]
    others += [harness.name for harness in experiment.harnesses]
    if not others:
        return ""
    return f"Verdicts, noise floors and times rest on mode process alone; {wording.names(others)} stand beside it in the A/A study."
