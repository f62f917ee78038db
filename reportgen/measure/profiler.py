"""NVIDIA's profiler ``ncu``: how a timed process runs under it, what it is asked to count, and how its table is read.

It runs the process once for every pass that its counters need (application replay), leaves clocks and caches alone, and counts the
kernels of a graph one by one. Rows come in the order of the launches; which cell each belongs to is what the process said it launched, and a
row whose kernel, grid or block is another than that is refused.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from reportgen.errors import WorkerError
from reportgen.measure.nvidia_tools import Installed, check_backend, find_tool
from reportgen.measure.watching import RunOptions
from reportgen.model.columns import COUNTERS, STALLS

PROGRAM = "ncu"
LOG = "ncu.csv"
METRICS = {
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
    "l2_bytes": "lts__t_bytes.sum",
    "l2_hit_pct": "lts__t_sector_hit_rate.pct",
    "occupancy_pct": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "occupancy_limit_pct": "sm__maximum_warps_per_active_cycle_pct",
    "issue_pct": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "instructions": "smsp__inst_executed.sum",
    "registers": "launch__registers_per_thread",
    "shared_bytes": "launch__shared_mem_per_block",
    "kernel_ns": "gpu__time_duration.sum",
    **{f"stall_{stall}": f"smsp__average_warps_issue_stalled_{stall}_per_issue_active.ratio" for stall in STALLS},
}
WHOLE = {column.name for column in COUNTERS if column.type.startswith("int")}
# A process starts anew for each pass, and the table is made at the end.
SLOWER = 10
_MOST_WORDS = 300
PLACE = ("fixture", "arm", "launch", "call", "kernel")

Row = dict[str, Any]


def profiler_for(options: RunOptions, backend: str) -> Installed | None:
    """Look for the program where a run asks for it; ``None`` where it does not.

    Raises
    ------
    InputError
        The backend has no GPU code, or the program is missing.
    """
    if not options.profile:
        return None
    check_backend(PROGRAM, backend, "use perf instead")
    return find_tool(PROGRAM)


def launcher(installed: Installed, log: Path) -> list[str]:
    """Words that stand before the command of the process that is counted; its table goes to ``log``."""
    return [
        installed.path,
        *("--clock-control", "none", "--cache-control", "none"),
        *("--replay-mode", "application", "--graph-profiling", "node", "--profile-from-start", "off"),
        *("--csv", "--page", "raw", "--print-units", "base"),
        *("--metrics", ",".join(METRICS.values()), "--log-file", str(log)),
    ]


def read_counters(log: Path, counted: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Read the program's table: one row a kernel of a counted launch, with the keys of ``model.columns.COUNTERS``.

    ``counted`` is what the process launched, as ``profiled.profile`` returns it.

    Raises
    ------
    WorkerError
        There is no table (the device refuses, or the program failed), or its rows are not those launches.
    """
    told, words = _table(log)
    due = list(_due(counted))
    if not told:
        raise WorkerError(f"{PROGRAM} counted nothing", remedy=f"it said: {words}" if words else "it said nothing")
    if len(told) != len(due):
        raise WorkerError(f"{PROGRAM} counted {len(told)} kernels where {len(due)} were launched")
    return [
        _row(place, said, where=f"row {number}") for number, (place, said) in enumerate(zip(due, told, strict=True))
    ]


def _due(counted: Sequence[Mapping[str, Any]]) -> Iterator[Row]:
    for cell in counted:
        for launch, kernels in enumerate(cell["launches"]):
            for call, (symbol, grid, block) in enumerate(kernels, start=1):
                place = {
                    "fixture": cell["fixture"],
                    "arm": cell["arm"],
                    "launch": launch,
                    "call": call,
                    "kernel": symbol,
                }
                yield {**place, "Grid Size": _triple(grid), "Block Size": _triple(block)}


def _triple(sizes: Sequence[int]) -> str:
    return f"({', '.join(str(size) for size in sizes)})"


def _table(log: Path) -> tuple[list[dict[str, str]], str]:
    """Rows by column, without that of the units; and the errors, or else the last warning, in words."""
    text = log.read_text("utf-8", "replace") if log.exists() else ""
    lines = text.splitlines()
    rows = list(csv.DictReader(line for line in lines if line and not line.startswith("==")))
    said = [line for line in lines if line.startswith("==ERROR==")] or [line for line in lines if line.startswith("==")]
    return rows[1:], "; ".join(line.rpartition("==")[2].strip() for line in said[-2:])[:_MOST_WORDS]


def _row(place: Row, said: Mapping[str, str], where: str) -> Row:
    for name, due in (("Kernel Name", place["kernel"]), *((name, place[name]) for name in ("Grid Size", "Block Size"))):
        if said.get(name) != due:
            raise WorkerError(f"{PROGRAM}: {name} is {said.get(name)!r} where {due!r} was launched", where=where)
    counts = {name: _number(said.get(metric), whole=name in WHOLE) for name, metric in METRICS.items()}
    return {name: place[name] for name in PLACE} | counts


def _number(text: str | None, *, whole: bool) -> float | int | None:
    """Read a number of the table, ``None`` where the program has none."""
    try:
        value = float((text or "").replace(",", ""))
    except ValueError:
        return None
    return round(value) if whole else value
