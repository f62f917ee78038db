"""Tables of what profile attempts counted, and the file of all of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup

from reportgen.analysis.counters import DRAM
from reportgen.model.columns import STALLS
from reportgen.model.counters import CounterLine, Rotation
from reportgen.publish import counters, wording
from reportgen.publish.context import Cell, Column, Row, Table
from reportgen.publish.library import root_of
from reportgen.publish.linked import linked
from reportgen.publish.tables import NOTHING, figure
from reportgen.publish.view import AttemptView, RecordView

CSV = "counters.csv"
_MOST_WAITS = 2
_HEADS = (
    "bytes from memory", "of the footprint", "L2 hits", "occupancy", "issue", "instructions", "registers", "waits most",
)  # fmt: skip


def standing(rotations: Sequence[Rotation], page: str = "") -> str:
    """Say of the fixtures that are called rotating whether they are; empty where none was counted. Figures lead to their rows on the attempt's ``page``."""
    short = [one for one in rotations if not one.holds]
    if short:
        said = [
            Markup("{}, of whose footprint arm {} moved {}").format(one.fixture, one.arm, _share(one, page))
            for one in short
        ]
        return Markup("Not rotating: {}.").format(Markup("; ").join(said))
    if not rotations:
        return ""
    least = min(rotations, key=lambda one: one.share)
    return Markup(
        "Every fixture here that is called rotating is so: the least of {} moved {} of its footprint ({}, arm {})."
    ).format(len(rotations), _share(least, page), least.fixture, least.arm)


def _share(rotation: Rotation, page: str) -> Markup:
    place = f"{page}#{counters.anchor_of(rotation.fixture, rotation.arm)}"
    return linked(wording.percent(rotation.share), rotation.share, place)


def tables(
    attempt: AttemptView, page: str, fixtures: Sequence[str] | None = None, arms: Sequence[str] | None = None
) -> tuple[Table, ...]:
    """Build the tables of an attempt's counters, one a fixture, or of some fixtures and arms; their rows are those of ``page``, empty for this one."""
    lines = [
        line
        for line in attempt.counters
        if (fixtures is None or line.fixture in fixtures) and (arms is None or line.arm in arms)
    ]
    names = list(dict.fromkeys(line.fixture for line in lines))
    return tuple(
        Table(
            caption=f"Counters: {wording.slice_name(name)}",
            stub="Arm",
            columns=tuple(Column(head, figure=True) for head in _HEADS),
            rows=tuple(_rows(attempt, [line for line in lines if line.fixture == name], page)),
            lead=standing(attempt.rotations, page) if name == names[0] else "",
            note=_note(attempt, lines) if name == names[-1] else f"Each in {CSV}.",
        )
        for name in names
    )


def of_record(record: RecordView) -> tuple[Table, ...]:
    """Build the tables of every profile of a record for the record's own page."""
    root = root_of(record.address)
    return tuple(table for one in counters.profiles(record) for table in tables(one, root + one.address))


def _note(attempt: AttemptView, lines: Sequence[CounterLine]) -> str:
    looked, counts = attempt.manifest.profile, sorted({line.launches for line in lines})
    tool = "" if looked is None else f" by {looked.tool} ({looked.version})"
    launches = wording.plural(counts[0], "execution") if len(counts) == 1 else "the executions"
    several = " The footprint is that of an execution, in its first kernel's row." if _is_several(lines) else ""
    return (
        f"Means over {launches} of each arm on {attempt.manifest.device.model}, counted{tool} after the lead-in of a timed batch, clocks and "
        "caches left alone; nothing here is a measurement of time. Footprint: bytes that a launch must move at least. Occupancy: of the most warps "
        "that a multiprocessor takes; below, what registers and shared memory allow. Issue: cycles in which a scheduler issued an instruction. Waits most: warps that wait for the reason named, on average at "
        f"each issued instruction.{several} Each in {CSV}."
    )


def _is_several(lines: Sequence[CounterLine]) -> bool:
    return any(line.call > 1 for line in lines)


def _rows(attempt: AttemptView, lines: Sequence[CounterLine], page: str) -> Iterator[Row]:
    for place, line in enumerate(lines):
        first = place > 0 and _is_several(lines) and lines[place - 1].arm != line.arm
        head = Cell(line.arm, code=True, note=line.kernel if _is_several(lines) else "")
        yield Row(head, _cells(attempt, line, page), first=first, anchor="" if page else counters.anchor(line))


def _cells(attempt: AttemptView, line: CounterLine, page: str) -> tuple[Cell, ...]:
    values, href = line.values, f"{page}#{counters.anchor(line)}" if page else ""
    limit = values.get("occupancy_limit_pct")
    allowed = (
        {} if limit is None else {"note": f"of {counters.text('occupancy_limit_pct', limit)}", "below": repr(limit)}
    )
    own = [one for one in attempt.counters if (one.fixture, one.arm) == (line.fixture, line.arm)]
    share = counters.footprint_share(attempt, own) if line.call == own[0].call else None
    return (
        _bytes(values, href),
        figure(wording.percent(share), share, href=href),
        _cell(values, "l2_hit_pct", href),
        _cell(values, "occupancy_pct", href, **allowed),
        *(_cell(values, name, href) for name in ("issue_pct", "instructions", "registers")),
        _waits(values, href),
    )


def _bytes(values: Mapping[str, float], href: str) -> Cell:
    """Say what was read from the device's memory, and below what was written to it."""
    read, written = (values.get(name) for name in DRAM)
    if read is None or written is None:
        return NOTHING
    said = f"written {wording.count(round(written))}"
    return figure(wording.count(round(read)), read, href=href, note=said, below=repr(written))


def _cell(values: Mapping[str, float], name: str, href: str, **second: str) -> Cell:
    value = values.get(name)
    return NOTHING if value is None else figure(counters.text(name, value), value, href=href, **second)


def _waits(values: Mapping[str, float], href: str) -> Cell:
    """Name what warps waited for most, and what came next."""
    found = [(values[f"stall_{name}"], name) for name in STALLS if name != "selected" and f"stall_{name}" in values]
    most = sorted(found, key=lambda one: (-one[0], one[1]))[:_MOST_WAITS]
    if not most or most[0][0] <= 0:
        return NOTHING
    waited = [(f"{name} {wording.number(value)}", value) for value, name in most if value > 0]
    (first, longest), rest = waited[0], waited[1:]
    said, values_below = ", ".join(text for text, _ in rest), " ".join(repr(value) for _, value in rest)
    return figure(first, longest, href=href, note=said, below=values_below)
