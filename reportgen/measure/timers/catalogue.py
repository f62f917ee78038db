"""Timing programs by name: what each needs, which settings it takes, how the timed process opens it.

Nothing here imports a timing library; :func:`open_timer` does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reportgen.errors import InputError
from reportgen.measure.rig import Rig
from reportgen.measure.timers.interface import Timer

Open = Callable[[Rig, dict[str, Any]], Timer]


def _single_launches(rig: Rig, settings: dict[str, Any]) -> Timer:
    from reportgen.measure.timers.single_launches import SingleLaunches  # noqa: PLC0415 - only the one in use is loaded

    return SingleLaunches(rig, settings)


def _triton_do_bench(rig: Rig, settings: dict[str, Any]) -> Timer:
    from reportgen.measure.timers.triton_bench import DoBench  # noqa: PLC0415 - only the one in use is loaded

    return DoBench(rig, settings)


def _triton_do_bench_cudagraph(rig: Rig, settings: dict[str, Any]) -> Timer:
    from reportgen.measure.timers.triton_bench import DoBenchCudagraph  # noqa: PLC0415 - only the one in use is loaded

    return DoBenchCudagraph(rig, settings)


def _torch_blocked_autorange(rig: Rig, settings: dict[str, Any]) -> Timer:
    from reportgen.measure.timers.torch_timer import BlockedAutorange  # noqa: PLC0415 - only the one in use is loaded

    return BlockedAutorange(rig, settings)


def _cupyx_benchmark(rig: Rig, settings: dict[str, Any]) -> Timer:
    from reportgen.measure.timers.cupyx_profiler import CupyxBenchmark  # noqa: PLC0415 - only the one in use is loaded

    return CupyxBenchmark(rig, settings)


def _nvbench(rig: Rig, settings: dict[str, Any]) -> Timer:
    from reportgen.measure.timers.nvbench import NvBench  # noqa: PLC0415 - only the one in use is loaded

    return NvBench(rig, settings)


@dataclass(frozen=True)
class Entry:
    """One timing program.

    Parameters
    ----------
    open:
        Loads it in the timed process.
    modules:
        What it imports there, by the name of the distribution that brings it.
    settings:
        Names of the settings that it takes, and the type of each; what is not set is the library's own default.
    defaults:
        Values of settings that no library has a default for.
    """

    open: Open
    modules: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, type] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)


_TORCH = {"torch": "torch"}
_TRITON = {"torch": "torch", "triton": "triton"}
CATALOGUE: Mapping[str, Entry] = {
    "single_launches": Entry(
        _single_launches,
        settings={"warm_up": int, "executions": int},
        defaults={"warm_up": 10, "executions": 100},
    ),
    "triton_do_bench": Entry(_triton_do_bench, _TRITON, {"warmup": int, "rep": int}),
    "triton_do_bench_cudagraph": Entry(_triton_do_bench_cudagraph, _TRITON, {"rep": int}),
    "torch_blocked_autorange": Entry(_torch_blocked_autorange, _TORCH, {"min_run_time": float}),
    "cupyx_benchmark": Entry(
        _cupyx_benchmark, {"cupy-cuda13x": "cupyx"}, {"n_repeat": int, "n_warmup": int, "max_duration": float}
    ),
    "nvbench": Entry(
        _nvbench,
        {"cuda-bench": "cuda.bench", "cuda-bindings": "cuda.bindings"},
        {
            "timeout": float,
            "min_samples": int,
            "stopping_criterion": str,
            "min_time": float,
            "max_noise": float,
            "target_samples": int,
            "batch_target_time": float,
            "cold_warmup_runs": int,
        },
    ),
}


def entry(name: str, where: str = "") -> Entry:
    """Return the timing program of that name.

    Raises
    ------
    InputError
        There is none; the line lists those that are known.
    """
    if name not in CATALOGUE:
        raise InputError(f"no harness named {name!r}", where=where, remedy=f"known are: {', '.join(sorted(CATALOGUE))}")
    return CATALOGUE[name]


def checked_settings(name: str, settings: Mapping[str, Any], where: str = "") -> dict[str, Any]:
    """Return the settings that were made, of the types that the program takes, over the defaults that no library has.

    Raises
    ------
    InputError
        A setting that it does not take, of another type or not above 0.
    """
    known = entry(name, where)
    found = dict(known.defaults)
    for key, value in settings.items():
        kind = known.settings.get(key)
        if kind is None:
            remedy = f"it takes: {', '.join(sorted(known.settings))}"
            raise InputError(f"harness {name!r}: no setting {key!r}", where=where, remedy=remedy)
        if not _fits(value, kind):
            wanted = {int: "a whole number above 0", float: "a number above 0", str: "a text"}[kind]
            raise InputError(f"harness {name!r}: {key} = {value!r} is not {wanted}", where=where, remedy="correct it")
        found[key] = kind(value)
    return found


def _fits(value: Any, kind: type) -> bool:
    if kind is str:
        return isinstance(value, str) and value != ""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return value > 0 and (kind is float or isinstance(value, int))


def open_timer(rig: Rig, name: str, settings: Mapping[str, Any]) -> Timer:
    """Load a timing program in the timed process.

    Raises
    ------
    InputError
        It is unknown, its library cannot be imported, or the settings are not its own.
    """
    known, checked = entry(name), checked_settings(name, settings)
    try:
        return known.open(rig, checked)
    except ImportError as fault:
        remedy = f"pip install {' '.join(known.modules)}, or leave the harness out"
        raise InputError(f"harness {name!r} cannot be loaded: {fault}", remedy=remedy) from fault
