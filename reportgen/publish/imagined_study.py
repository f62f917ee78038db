"""What an A/A study could have come to: other alarms, errors, shares found, each within what the others allow."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

import msgspec

from reportgen.model.null_study import (
    BarPart,
    HarnessKernel,
    HarnessSummary,
    KernelBias,
    ModeSummary,
    NullComparison,
    NullStudy,
    PowerSummary,
)

Draws = Callable[..., Random]
ERRORS = ("error_median", "error_p95", "error_widest")


def changed(study: NullStudy | None, draws: Draws) -> NullStudy | None:
    """Draw every figure of a study that a claim can ask for."""
    if study is None:
        return None
    modes = [_mode(one, draws("mode", one.mode)) for one in study.modes]
    process = next((one for one in modes if one.mode == "process"), None)
    return msgspec.structs.replace(
        study,
        block_repetitions=draws("block").choice((6, 12, 24)),
        layout_covers=None if study.layout_covers is None else draws("layout").uniform(-1, 1),
        modes=modes,
        kernels=[_kernel(one, draws("kernel", one.mode, one.slice)) for one in study.kernels],
        bar=[_bar(one, process, draws("bar", one.name)) for one in study.bar],
        power=[_power(one, draws("power", one.mode, repr(one.planted), str(one.slice))) for one in study.power],
        harnesses=[_harness(one, draws("harness", one.harness)) for one in study.harnesses],
        harness_kernels=[_read(one, draws("read", one.harness, one.slice)) for one in study.harness_kernels],
        nulls=[_null(one, draws("null", one.mode, one.slice, one.null, str(one.block))) for one in study.nulls],
    )


def _number(draws: Random) -> tuple[int, int]:
    """Draw how many of how many: none, some or all."""
    total = draws.choice((1, 40, 4_000))
    return draws.choice((0, draws.randint(0, total), total)), total


def _errors(line: Any, draws: Random) -> dict[str, float | None]:
    """Draw median, 95th percentile and farthest, in that order."""
    drawn = sorted(math.exp(draws.uniform(-9, 1)) for _ in ERRORS)
    known = zip((name for name in ERRORS if hasattr(line, name)), drawn, strict=False)
    return {name: None if getattr(line, name) is None else value for name, value in known}


def _mode(line: ModeSummary, draws: Random) -> ModeSummary:
    (alarms, total), kernels = _number(draws), max(1, line.kernels)
    share, bootstrap = alarms / total, draws.choice((0, draws.randint(0, total), total))
    more = {name: math.exp(draws.uniform(-9, 0)) for name in ("offset_rms", "width_median", "between_sd", "within_sd")}
    return msgspec.structs.replace(
        line, comparisons=total, alarms=alarms, alarm_share=share, share_low=share * draws.random(),
        share_high=share + (1 - share) * draws.random(), nominal_share=draws.uniform(0.02, 0.05), bootstrap_alarms=bootstrap,
        bootstrap_share=bootstrap / total, kernels=kernels, kernels_beyond=draws.choice((0, draws.randint(0, kernels))),
        **_errors(line, draws), **more,
    )  # fmt: skip


def _kernel(line: KernelBias, draws: Random) -> KernelBias:
    (alarms, total), mean, error = _number(draws), draws.uniform(-0.1, 0.1), math.exp(draws.uniform(-9, -1))
    return msgspec.structs.replace(
        line, comparisons=total, alarms=alarms, mean_error=mean, standard_error=error, quotient=mean / error,
        time_ns=line.time_ns * math.exp(draws.uniform(-6, 6)),
    )  # fmt: skip


def _bar(part: BarPart, process: ModeSummary | None, draws: Random) -> BarPart:
    """Judge the parts that follow from mode process by its figures; the others by themselves."""
    limit = float(draws.choice((1, 25, 400)))
    if process is None or part.name not in ("comparisons", "false_alarms", "kernels_beyond"):
        return msgspec.structs.replace(part, passes=draws.random() < 0.8)  # noqa: PLR2004 - mostly
    found = {
        "comparisons": process.comparisons,
        "false_alarms": process.alarms,
        "kernels_beyond": process.kernels_beyond,
    }
    passes = {
        "comparisons": process.comparisons >= limit,
        "false_alarms": process.alarms <= limit,
        "kernels_beyond": process.kernels_beyond == 0,
    }
    return msgspec.structs.replace(part, limit=limit, found=float(found[part.name]), passes=passes[part.name])


def _power(line: PowerSummary, draws: Random) -> PowerSummary:
    (found, total), estimate = _number(draws), math.exp(draws.uniform(-0.5, 0.5))
    expected = None if line.expected is None else 1 + line.planted * draws.uniform(0, 1)
    return msgspec.structs.replace(
        line, comparisons=total, found=found, found_share=found / total, estimate=estimate, expected=expected,
        error=None if expected is None else estimate - expected,
    )  # fmt: skip


def _harness(line: HarnessSummary, draws: Random) -> HarnessSummary:
    return msgspec.structs.replace(line, ratios=draws.choice((1, 50, 5_000)), **_errors(line, draws))


def _read(line: HarnessKernel, draws: Random) -> HarnessKernel:
    widest = math.exp(draws.uniform(-9, 0))
    return msgspec.structs.replace(
        line, ratios=draws.choice((1, 50)), time_ns=line.time_ns * math.exp(draws.uniform(-6, 6)),
        reads=None if line.reads is None else math.exp(draws.uniform(-3, 6)),
        mean_error=None if line.mean_error is None else draws.uniform(-widest, widest),
        error_widest=None if line.error_widest is None else widest,
    )  # fmt: skip


def _null(line: NullComparison, draws: Random) -> NullComparison:
    low, estimate, high = sorted(1 + draws.uniform(-0.05, 0.05) for _ in range(3))
    return msgspec.structs.replace(line, estimate=estimate, low=low, high=high, alarm=low > 1 or high < 1)
