"""Tables of a sweep, a row a slice and a column a value of the axis: ranges of bands, changes of one arm, times of one arm."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

from markupsafe import Markup

from reportgen.errors import InputError
from reportgen.model.experiment import AxisValue
from reportgen.model.plan import Slice
from reportgen.model.result import ArmTime, Band, CellResult, ComparisonResult, GateOutcome, GateResult, PointVerdict
from reportgen.publish import bandwidth, gate_tables, lookup, parity_tables, sweep_charts, wording
from reportgen.publish.bandwidth import Ceiling
from reportgen.publish.context import Cell, Column, Row, Table
from reportgen.publish.linked import linked
from reportgen.publish.tables import NOTHING, both, figure, word
from reportgen.publish.view import RecordView
from reportgen.units import NS_PER_S

_SAYING = (PointVerdict.PAYS, PointVerdict.COSTS)


def ranges(record: RecordView, slices: Sequence[Slice], page: str, gate: str | None = None) -> Table:
    """Say in one table what the ``band`` gates (or the one named) found: a row a slice, a column an arm.

    Raises
    ------
    InputError
        No such gate was asked.
    """
    stub, names = sweep_charts.slice_heads(slices)
    found = [
        one for one in record.result.gates if one.kind == "band" and gate in (None, one.name) and one.slice in names
    ]
    if not found:
        raise InputError(f"{record.name} has no band {gate or ''}".rstrip(), remedy="name a gate of kind 'band'")
    columns = list(dict.fromkeys((one.name, one.arm) for one in found))
    asked = {(one.slice, one.name, one.arm): one for one in found}
    several = len({name for name, _ in columns}) > 1
    rows = tuple(
        Row(word(name), tuple(_range(record, asked.get((piece, *key)), page) for key in columns))
        for piece, name in names.items()
    )
    axes = wording.names(list(dict.fromkeys(_axis(record, one) for one in found)))
    return Table(
        caption=f"Where it pays, by {axes}{sweep_charts.alike(slices)}",
        stub=stub,
        columns=tuple(Column(f"{arm} ({name})" if several else arm) for name, arm in columns),
        rows=rows,
        note=Markup(
            "Ranges of {} against {} in which two adjacent points or more say the same, all points of an arm and slice together with at least 95%. "
            "Over all of it: what to do with the arm where nothing chooses by {}. Pays, costs: by more than {}. {}"
        ).format(
            axes, wording.names(sorted({one.baseline for one in found})), axes, _threshold(found, page),
            wording.freezing(found, record.plan.digest),
        ),
    )  # fmt: skip


def _axis(record: RecordView, gate: GateResult) -> str:
    return next((one.axis or "" for one in record.plan.experiment.gates if one.name == gate.name), "")


def _threshold(found: Sequence[GateResult], page: str) -> Markup:
    """Say what was asked, each threshold leading to the first gate that asks it."""
    gates = {one.threshold: one for one in reversed(found)}
    asked = [
        linked(wording.percent(value, decimals=2), value, f"{page}#{gate_tables.gate_anchor(gates[value])}")
        for value in sorted(gates)
    ]
    said = Markup(wording.names(list(asked)))  # noqa: S704 - of figures that were escaped
    return said + Markup(" of the baseline's time, or the cell floor of the slice where that is more")


def _range(record: RecordView, gate: GateResult | None, page: str) -> Cell:
    """Say where an arm pays or costs; beneath it what to do with it over the whole slice, and the other points."""
    if gate is None:
        return NOTHING
    said = [_said(band) for band in gate.bands if band.verdict in _SAYING]
    quiet = [_said(band) for band in gate.bands if band.verdict not in _SAYING]
    whole = [
        f"over all of it: {one.outcome.value}"
        for one in record.result.promotions
        if (one.arm, one.slice, one.incumbent) == (gate.arm, gate.slice, gate.baseline)
    ]
    looked = ["exploratory"] if gate.exploratory else []
    href = f"{page}#points-of-{gate_tables.gate_anchor(gate)}"
    if gate.outcome is GateOutcome.INVALID:
        return word(wording.GATES[gate.outcome])
    text = "; ".join(said) or "neither" * all(one.verdict is PointVerdict.NEITHER for one in gate.points) or "no band"
    rest = [] if text == "neither" else [*quiet, *_lonely(gate)]
    return Cell(text, href=href, note="; ".join([*whole, *rest, *looked]), tone="outcome")


def _said(band: Band) -> str:
    return f"{band.verdict.value} {band.first} to {band.last}"


def _lonely(gate: GateResult) -> list[str]:
    """Name points that say something and stand in no band, since both their neighbours say something else."""
    agreed: dict[AxisValue, set[PointVerdict]] = {}
    for point in gate.points:
        agreed.setdefault(point.value, set()).add(point.verdict)
    said = [next(iter(one)) if len(one) == 1 else PointVerdict.UNDECIDED for one in agreed.values()]
    runs = [list(run) for _, run in groupby(zip(agreed, said, strict=True), key=lambda pair: pair[1])]
    return [f"{run[0][1].value} {run[0][0]}" for run in runs if len(run) == 1]


def along(  # noqa: PLR0913 - each a keyword that a page may say
    record: RecordView, slices: Sequence[Slice], page: str, *, axis: str, arm: str, vs: str = "incumbent"
) -> Table:
    """Show the change of one arm along an axis, with its interval.

    Raises
    ------
    InputError
        An unknown arm or axis, or the two are compared in no slice.
    """
    baseline = lookup.baseline_named(record.plan, lookup.arm_named(record.plan, arm), vs)
    (_, names), values = sweep_charts.slice_heads(slices), sweep_charts.axis_values(record, axis)
    found = {
        (one.slice, values[cell.fixture], cell.device): (one, cell)
        for one in record.result.comparisons
        if (one.arm, one.baseline) == (arm, baseline) and one.slice in names and not one.where
        for cell in one.cells
    }
    if not found:
        raise InputError(f"{record.name} compares {arm!r} with {baseline!r} on no fixture there")
    cells = {key: _change(one, cell, page) for key, (one, cell) in found.items()}
    note = f"Change in time on each fixture, its interval beneath, from end to end in percent. {wording.DIRECTION.capitalize()}."
    return _pivoted(f"{arm} against {baseline}, by {axis}", slices, cells, (wording.LESS_TIME, note))


def _change(one: ComparisonResult, cell: CellResult, page: str) -> Cell:
    ends = [wording.signed(100 * (end - 1)) for end in (cell.interval.low, cell.interval.high)]
    return figure(
        wording.change(cell.ratio),
        cell.ratio,
        href=page + lookup.cell_place(one, cell),
        note="\N{HORIZONTAL ELLIPSIS}".join(ends),
        below=both(cell.interval.low, cell.interval.high),
    )


def times_along(  # noqa: PLR0913 - each a keyword that a page may say
    record: RecordView,
    slices: Sequence[Slice],
    page: str,
    *,
    axis: str,
    arm: str,
    ceiling: Ceiling | None = None,
    mark: str = "times",
) -> Table:
    """Show the median times of one arm along an axis; with a ``ceiling`` how many times the floor each is.

    Times lead to the record's page; times the floor are derived in their own row, whose anchor begins with ``mark``.

    Raises
    ------
    InputError
        An unknown arm or axis, or the arm was timed in no slice.
    """
    lookup.arm_named(record.plan, arm)
    values, moved = sweep_charts.axis_values(record, axis), bandwidth.moved(record)
    within = {name: piece for piece in slices for name in piece.fixtures}
    cells = {
        (within[one.fixture].name, values[one.fixture], one.device): _time(
            one,
            _floors(one, moved.get(one.fixture), ceiling),
            page,
            f"#{_anchor(mark, within[one.fixture].name, one.device)}",
        )
        for one in record.result.times
        if one.arm == arm and one.fixture in within and one.device in lookup.devices_in(record, within[one.fixture])
    }
    if not cells:
        raise InputError(f"{record.name} timed {arm!r} on no fixture there")
    note = Markup("Median time per launch in a back-to-back batch.")
    if ceiling is not None:
        root = page.removesuffix(record.address)
        note += Markup(
            " Beneath: how many times the floor that is: it, of results.json, over the bytes of its fixture at that rate. {}"
        ).format(ceiling.words(root))
    return _pivoted(f"Time of {arm}, by {axis}", slices, cells, ("", note), mark=mark)


def _anchor(mark: str, piece: str, device: str) -> str:
    return f"{mark}-{lookup.slug(piece)}-{lookup.slug(device)}"


def _floors(one: ArmTime, length_bytes: int | None, ceiling: Ceiling | None) -> float | None:
    """Give how many times the floor a time is; None where no floor is known."""
    return one.median_ns * ceiling.bytes_per_s / NS_PER_S / length_bytes if ceiling and length_bytes else None


def _time(one: ArmTime, floors: float | None, page: str, here: str) -> Cell:
    """Say a time, which leads to ``page``, and beneath how many times the floor it is, derived ``here``."""
    said = "" if floors is None else f"{wording.number(floors, decimals=1)} \N{MULTIPLICATION SIGN} floor"
    note = "" if floors is None else linked(said, floors, here)
    href = f"{page}#{lookup.time_anchor(one.fixture, one.device)}"
    return figure(wording.time(one.median_ns), one.median_ns, href=href, note=note)


def _pivoted(
    caption: str,
    slices: Sequence[Slice],
    cells: Mapping[tuple[str, float, str], Cell],
    words: tuple[str, str],
    mark: str = "",
) -> Table:
    """Lay cells out by slice (and device, where there are several) and value; ``words`` are the columns' sense and the note, anchors of rows begin with ``mark``."""
    (stub, names), (sense, note) = sweep_charts.slice_heads(slices), words
    values = sorted({value for _, value, _ in cells})
    devices = list(dict.fromkeys(device for _, _, device in cells))
    rows = tuple(
        Row(
            word(name, note=device if len(devices) > 1 else ""),
            tuple(cells.get((piece, value, device), NOTHING) for value in values),
            anchor=_anchor(mark, piece, device) if mark else "",
        )
        for piece, name in names.items()
        for device in devices
        if any((piece, value, device) in cells for value in values)
    )
    columns = tuple(Column(wording.plain_number(value), figure=True) for value in values)
    return Table(
        caption=caption + sweep_charts.alike(slices),
        stub=stub,
        columns=columns,
        rows=rows,
        lead=sense.capitalize(),
        note=note,
    )


DERIVED_HERE = ("times_along", "parity")  # what of them no page of a record holds is derived in their rows
KINDS: Mapping[str, Callable[..., Table]] = {
    "ranges": ranges,
    "along": along,
    "times_along": times_along,
    "parity": parity_tables.parity,
}
