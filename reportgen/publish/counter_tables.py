"""Tables of what profile attempts counted, and the file of all of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reportgen.analysis.counters import DRAM
from reportgen.model.columns import STALLS
from reportgen.model.counters import CounterLine, Rotation
from reportgen.publish import counters, wording
from reportgen.publish.context import Cell, Column, Row, Table
from reportgen.publish.tables import NOTHING, code, figure, word
from reportgen.publish.view import AttemptView

CSV = "counters.csv"
_MOST_WAITS = 3
_HEADS = (
    "fixture", "kernel", "DRAM read", "DRAM written", "of the footprint", "L2 hits", "occupancy", "cycles that issue", "instructions",
    "registers", "length under the profiler",
)  # fmt: skip


def standing(rotations: Sequence[Rotation]) -> str:
    """Say of the fixtures that are called rotating whether they are; empty where none was counted."""
    short = [one for one in rotations if not one.holds]
    if short:
        return "Not rotating: " + "; ".join(f"{one.fixture} ({counters.said_of(one)})" for one in short) + "."
    if not rotations:
        return ""
    least = min(rotations, key=lambda one: one.share)
    return (
        f"Every fixture here that is called rotating is so: the least of {len(rotations)} moved "
        f"{wording.percent(least.share)} of its footprint ({least.fixture}, arm {least.arm})."
    )


def table(
    attempt: AttemptView, page: str, fixtures: Sequence[str] | None = None, arms: Sequence[str] | None = None
) -> Table:
    """Build the table of an attempt's counters, or of some fixtures and arms; the rows are those of ``page``, empty for this one."""
    looked = attempt.manifest.profile
    lines = [
        line
        for line in attempt.counters
        if (fixtures is None or line.fixture in fixtures) and (arms is None or line.arm in arms)
    ]
    several = {line.kernel for line in lines if line.call > 1}
    rows = []
    for place, line in enumerate(lines):
        first = place == 0 or lines[place - 1].fixture != line.fixture
        rows.append(
            Row(code(line.arm), _cells(attempt, line, page), first=first, anchor="" if page else counters.anchor(line))
        )
    tool = "" if looked is None else f" by {looked.tool} ({looked.version})"
    return Table(
        caption=f"Counters of {attempt.manifest.device.model}",
        stub="Arm",
        columns=(*(Column(head, figure=head not in ("fixture", "kernel")) for head in _HEADS), Column("waits most")),
        rows=tuple(rows),
        lead=standing(attempt.rotations),
        note=(
            f"Means over {_launches(lines)} of each arm, counted{tool} after the lead-in of a timed batch, clocks and caches left alone; nothing "
            "here is a measurement of time. Occupancy: of the most warps that a multiprocessor takes, with what registers and shared memory "
            "allow below. Waits: warps that wait, on average at each issued instruction. Footprint: bytes that a launch must move at least."
            + (" The footprint is that of an execution, in its first kernel's row." if several else "")
        ),
    )


def _launches(lines: Sequence[CounterLine]) -> str:
    counts = sorted({line.launches for line in lines})
    return "1 launch" if counts == [1] else f"{counts[0]} launches" if len(counts) == 1 else "the launches"


def _cells(attempt: AttemptView, line: CounterLine, page: str) -> tuple[Cell, ...]:
    values = line.values
    href = f"{page}#{counters.anchor(line)}" if page else ""
    limit = values.get("occupancy_limit_pct")
    own = [one for one in attempt.counters if (one.fixture, one.arm) == (line.fixture, line.arm)]
    share = counters.footprint_share(attempt, own) if line.call == own[0].call else None
    return (
        code(line.fixture),
        code(line.kernel),
        *(_cell(values, name, href) for name in DRAM),
        figure(wording.percent(share), share, href=href),
        _cell(values, "l2_hit_pct", href),
        _cell(
            values,
            "occupancy_pct",
            href,
            note="" if limit is None else f"of {counters.text('occupancy_limit_pct', limit)}",
        ),
        *(_cell(values, name, href) for name in ("issue_pct", "instructions", "registers", "kernel_ns")),
        word(_waits(values)),
    )


def _cell(values: Mapping[str, float], name: str, href: str, note: str = "") -> Cell:
    value = values.get(name)
    return NOTHING if value is None else figure(counters.text(name, value), value, href=href, note=note)


def _waits(values: Mapping[str, float]) -> str:
    found = [(values[f"stall_{name}"], name) for name in STALLS if name != "selected" and f"stall_{name}" in values]
    most = sorted(found, key=lambda one: (-one[0], one[1]))[:_MOST_WAITS]
    return ", ".join(f"{name} {wording.number(value)}" for value, name in most if value > 0)
