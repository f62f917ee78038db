"""What imported values say: the middle of samples where there are any, a stated median where there is one, else nothing."""

from __future__ import annotations

import enum
from collections.abc import Sequence

import msgspec

from reportgen.model.imported import Benchmark, Measure, RowStatus


class Basis(enum.StrEnum):
    """What a middle rests on."""

    SAMPLES = "samples"
    GOOD_SAMPLES = "good samples only"
    REPORTED = "reported"
    MEAN = "mean, which is no median"
    NONE = ""


class Middle(msgspec.Struct, frozen=True):
    """A benchmark's middle, in ns or in the unit of its rate, with what it rests on; ``value`` is null where there is none."""

    value: float | None
    basis: str


def middle(values: Sequence[float]) -> float | None:
    """Give the middle of the sorted values, the mean of the two middle ones for an even count; None of none."""
    ordered = sorted(values)
    half = len(ordered) // 2
    if not ordered:
        return None
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def median_of(one: Benchmark) -> Middle:
    """Give the median of a benchmark's good samples, or the one that its harness states; a mean is never called one."""
    good = one.good
    if good:
        return Middle(middle(good), Basis.SAMPLES if one.status is RowStatus.OK else Basis.GOOD_SAMPLES)
    told = one.reported.get("median_ns" if one.measure is Measure.TIME else "median_rate")
    if told is None or one.status is not RowStatus.OK:
        return Middle(None, Basis.NONE)
    return Middle(told, one.median_word or Basis.REPORTED)


def centre_of(one: Benchmark) -> Middle:
    """As :func:`median_of`, and where there is no median the mean that the harness states, called so."""
    found = median_of(one)
    mean = one.reported.get("mean_ns" if one.measure is Measure.TIME else "rate")
    if found.value is None and mean is not None and one.status is RowStatus.OK:
        return Middle(mean, Basis.MEAN)
    return found
