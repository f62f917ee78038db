"""Where every figure of a record comes from: its rows, ranks and formula, under the anchor that pages link to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from markupsafe import Markup

from reportgen.model.experiment import Role
from reportgen.model.plan import Slice
from reportgen.model.protocol import Mode
from reportgen.model.record import PEER
from reportgen.model.result import ArmTime, CellResult, ComparisonResult, DeviceResult
from reportgen.publish import bandwidth, lookup, tables, wording
from reportgen.publish.context import Cell, Column, Fact, Row, Table
from reportgen.publish.tables import NOTHING, both, code, figure, margin_said, word
from reportgen.publish.view import RecordView

FORMULAS = (
    Fact("t", "time a launch: mean over a batch and its mirror of elapsed_ns / launches, in one process"),
    Fact("r", "pair ratio: t of the candidate / t of the baseline, in one process and on one fixture"),
    Fact("ratio by fixture", "median of r over the processes, with the order-statistic interval of the ranks shown"),
    Fact("headline", "median over fixtures (and devices) of the ratios by fixture"),
    Fact("h", "process value: median over fixtures of r in one process; one independent value a process"),
    Fact("estimate", "median of all h, devices of one model pooled"),
    Fact(
        "interval",
        "from the h of rank l to that of rank n + 1 - l, l the largest rank whose coverage is at least 95%; "
        "stretched where needed to hold the headline",
    ),
    Fact("margin", "the larger of the smallest effect of interest and the noise floor"),
    Fact("noise floor", "farthest end from no change of the intervals of all valid null arms of the slice"),
    Fact("smallest effect shown", "margin + length of the interval"),
    Fact(
        "p",
        "sign test: twice the chance that of n fair coins at most so many show heads as h are not beyond no change (or the margin), of both directions the "
        "smaller, at most 1; Holm p: of a family of m the k-th smallest p times m + 1 - k, never less than the one before, at most 1",
    ),
    Fact(
        "saved",
        "what an arm saves of its baseline's time, (t of the baseline - t of the arm) / t of the baseline, or in time, times the repeats of the gate",
    ),
    Fact("rounding", "percentages are 100 (ratio - 1), rounded to two decimals; full values stand in results.json"),
)

RANKS = "Ranks: of the ordered process values. Bootstrap: of the headline, over whole processes; it describes these fixtures and decides nothing."

SENSES = {
    **dict.fromkeys(("headline", "estimate", "ratio", "low", "high"), wording.LESS_RATIO),
    **dict.fromkeys(("headline without", "interval without", "headline with", "interval with"), wording.LESS_TIME),
    "median effect": wording.LESS_TIME,
}


def _columns(*names: str, words: tuple[str, ...] = ()) -> tuple[Column, ...]:
    return tuple(Column(name, figure=name not in words, sense=SENSES.get(name, "")) for name in names)


def comparisons(record: RecordView, piece: Slice) -> Table:
    """Derive headline, estimate and interval of every comparison of a slice, nulls included."""
    found = [one for one in record.result.comparisons if one.slice == piece.name]
    names = (
        "against",
        "headline",
        "estimate",
        "low",
        "high",
        "ranks",
        "coverage",
        "smallest effect shown",
        "bootstrap",
        "verdict",
        "made of the rows",
    )
    return Table(
        anchor=f"comparisons-{lookup.slug(piece.name)}",
        caption=f"Comparisons: {wording.slice_name(piece.name)}",
        stub="Arm",
        columns=_columns(*names, words=("against", "verdict", "made of the rows")),
        rows=tuple(
            Row(
                code(one.arm),
                (*_comparison_cells(one), word(rows_of(record, one), tone="rows")),
                anchor=lookup.comparison_anchor(one),
            )
            for one in found
        ),
        note=Markup("{} {}. {}").format(margin_said(record, piece.name, ""), wording.DIRECTION.capitalize(), RANKS),
    )


def rows_of(record: RecordView, one: ComparisonResult) -> str:
    """Say which rows of the published CSV file a comparison is made of."""
    values = [f"{axis}={value}" for axis, value in _piece(record, one).values.items()]
    inside = {fixture.name for fixture in record.plan.fixtures if set(values) <= set(fixture.name.split(","))}
    named = f"with {','.join(values)}" if values else "any"
    if inside != set(one.fixtures):
        named = f"in {{{', '.join(one.fixtures)}}}"
    mode = PEER if one.role == Role.PEER else Mode.PROCESS.value
    lost = [
        f", without repetition {entry['repetition']} of attempt {attempt.manifest.id}"
        for attempt in record.attempts
        for entry in attempt.manifest.left_out
        if entry.get("mode", Mode.PROCESS) == mode
    ]
    arms = f"{{{one.arm}, {one.baseline}}}"
    devices = ", ".join(lookup.devices_in(record, _named_piece(record, one)))
    rows = f"batches.csv: mode = {mode}, warmup = false, tag empty, arm in {arms}, fixture {named}{''.join(lost)}"
    return f"{rows}; device in {{{devices}}}. results.json: comparisons, of this arm, baseline and slice"


def _piece(record: RecordView, one: ComparisonResult) -> Slice:
    name = one.slice.partition(lookup.MODEL_MARK)[0]
    return next(piece for piece in record.plan.slices if piece.name == name)


def _named_piece(record: RecordView, one: ComparisonResult) -> Slice:
    return next(piece for piece in lookup.slices(record) if piece.name == one.slice)


def _comparison_cells(one: ComparisonResult) -> tuple[Cell, ...]:
    return (
        code(one.baseline),
        _ratio(one.headline),
        _ratio(one.estimate),
        _ratio(one.low),
        _ratio(one.high),
        _ranks(one.rank, one.n),
        figure(wording.percent(one.coverage), one.coverage),
        figure(wording.share(one.smallest_effect_shown), one.smallest_effect_shown),
        _bootstrap(one),
        word(wording.verdict(one.verdict), note=_details(one), tone=one.verdict.value),
    )


def _ratio(value: float | None) -> Cell:
    return figure(wording.ratio(value), value, note=wording.change(value)) if value is not None else NOTHING


def _ranks(rank: int | None, n: int | None) -> Cell:
    if n is None:
        return NOTHING
    if rank is None:
        return figure(f"range of {n}", f"1 {n}")
    return figure(f"{rank} and {n + 1 - rank} of {n}", f"{rank} {n + 1 - rank} {n}")


def _details(one: ComparisonResult) -> str:
    said = []
    if one.stretched:
        said.append("stretched to hold the headline")
    if one.devices_agree is not None and len(one.devices) > 1:
        word_said = "agree" if one.devices_agree else "disagree"
        said.append(f"devices {word_said}, p = {wording.probability(one.device_p)}")
    return "; ".join(said)


def _bootstrap(one: ComparisonResult) -> Cell:
    if one.bootstrap is None:
        return NOTHING
    low, high = one.bootstrap.low, one.bootstrap.high
    return figure(wording.interval(low, high), both(low, high))


def cells(record: RecordView, piece: Slice) -> Table:
    """Derive every ratio by fixture of a slice."""
    rows = []
    for one in record.result.comparisons:
        if one.slice == piece.name:
            rows += [_cell_row(one, cell, first=place == 0) for place, cell in enumerate(one.cells)]
    names = ("against", "fixture", "device", "candidate", "baseline", "ratio", "low", "high", "ranks")
    return Table(
        caption=f"Ratios by fixture: {wording.slice_name(piece.name)}",
        stub="Arm",
        columns=_columns(*names, words=("against", "fixture", "device")),
        rows=tuple(rows),
        note="Candidate and baseline: median time per launch in a back-to-back batch. Of batches.csv: mode = process, warmup = false, tag "
        "empty, the fixture and device of the row, both arms; in results.json: cells of the comparison.",
    )


def _cell_row(one: ComparisonResult, cell: CellResult, *, first: bool) -> Row:
    interval = cell.interval
    return Row(
        code(one.arm),
        (
            code(one.baseline),
            code(cell.fixture),
            code(cell.device),
            figure(wording.time(cell.candidate_ns), cell.candidate_ns),
            figure(wording.time(cell.baseline_ns), cell.baseline_ns),
            _ratio(cell.ratio),
            _ratio(interval.low),
            _ratio(interval.high),
            _ranks(interval.rank, interval.n),
        ),
        first=first,
        anchor=lookup.cell_anchor(one, cell),
    )


def times(record: RecordView, piece: Slice) -> Table:
    """Show the median times of a slice, and where the experiment counts them the bytes behind, with the rate of every kernel in use."""
    table, moved = tables.times(record, piece, ""), bandwidth.moved(record)
    if not moved.keys() & set(piece.fixtures):
        return table
    known = {(one.fixture, one.device, one.arm): one for one in record.result.times}
    places = {lookup.time_anchor(fixture, device): (fixture, device) for fixture, device, _ in known}
    incumbents = [arm.name for arm in record.plan.experiment.arms if arm.role is Role.INCUMBENT]
    rows = tuple(
        replace(
            row,
            cells=(*row.cells, *_rates(moved.get(fixture), [known.get((fixture, device, arm)) for arm in incumbents])),
        )
        for row in table.rows
        for fixture, device in [places[row.anchor]]
    )
    heads = ("bytes", *(f"{arm}: bytes over time" for arm in incumbents))
    return replace(
        table,
        columns=(*table.columns, *(Column(head, figure=True) for head in heads)),
        rows=rows,
        note=f"{table.note} Bytes: those that a launch must move at least, as the experiment counts them, in artifacts/fixtures.json of the attempt.",
    )


def _rates(length_bytes: int | None, times: Sequence[ArmTime | None]) -> tuple[Cell, ...]:
    rates = [bandwidth.rate_of(length_bytes, time) for time in times]
    return (
        NOTHING if length_bytes is None else figure(wording.count(length_bytes), length_bytes),
        *(NOTHING if rate is None else figure(wording.rate(rate), rate) for rate in rates),
    )


def noise(record: RecordView, piece: Slice) -> Table:
    """Show every null arm of a slice with its interval."""
    rows = tuple(
        Row(
            code(line.null),
            (
                code(line.of),
                _ratio(line.low),
                _ratio(line.high),
                figure(wording.share(line.floor), line.floor),
                figure(wording.share(line.cell_floor), line.cell_floor),
                word("valid" if line.valid else "not valid"),
            ),
            anchor=lookup.noise_anchor(line),
        )
        for line in record.result.noise
        if line.slice == piece.name
    )
    return Table(
        anchor=f"nulls-{lookup.slug(piece.name)}",
        caption=f"Null arms: {wording.slice_name(piece.name)}",
        stub="Null arm",
        columns=_columns(
            "repeats", "low", "high", "noise floor", "cell floor", "standing", words=("repeats", "standing")
        ),
        rows=rows,
        note="Each null is a comparison above, with its rows. In results.json: noise.",
    )


def processes(record: RecordView, piece: Slice) -> Table:
    """Show the process values h of a slice in the order of time, with their lag-1 correlation."""
    found = [(one, device) for one in record.result.comparisons if one.slice == piece.name for device in one.devices]
    longest = max((device.repetitions for _, device in found), key=len, default=[])
    rows = tuple(_process_row(one, device, len(longest)) for one, device in found)
    numbered = tuple(Column(f"process {place}", figure=True) for place in range(1, len(longest) + 1))
    return Table(
        anchor=f"process-values-{lookup.slug(piece.name)}",
        caption=f"Process values h in the order of time: {wording.slice_name(piece.name)}",
        stub="Arm",
        columns=(Column("against"), Column("device"), Column("lag-1", figure=True), *numbered),
        rows=rows,
        note="Order statistics take the processes as independent; a lag-1 correlation far from zero speaks against it. In results.json: h and "
        "lag1 of the devices of each comparison.",
    )


def _process_row(one: ComparisonResult, device: DeviceResult, length: int) -> Row:
    values = [figure(wording.change(value), value) for value in device.h]
    values += [NOTHING] * (length - len(values))
    lag = figure(wording.signed(device.lag1), device.lag1) if device.lag1 is not None else NOTHING
    return Row(code(one.arm), (code(one.baseline), code(device.device), lag, *values))


def positions(record: RecordView, piece: Slice) -> Table:
    """Show the effect of the place within a process: first and mirrored pass, slot by slot."""
    rows = tuple(
        Row(
            word(f"pass {effect.order_pass}, slot {effect.position}"),
            (
                figure(wording.change(1 + effect.effect), effect.effect),
                figure(wording.count(effect.batches), effect.batches),
            ),
        )
        for effect in record.result.positions
        if effect.slice == piece.name
    )
    return Table(
        anchor=f"slots-{lookup.slug(piece.name)}",
        caption=f"Position effect: {wording.slice_name(piece.name)}",
        stub="Place",
        columns=_columns("median effect", "batches"),
        rows=rows,
        note="Time of a batch over the mean of its arm's two batches, less 1. Mirrored orders cancel a steady drift. In results.json: positions.",
    )


def left_out(record: RecordView, piece: Slice) -> Table:
    """Show each comparison with and without the repetitions that were left out."""
    with_all = {(one.arm, one.baseline): one for one in record.result.with_left_out if one.slice == piece.name}
    rows = []
    for one in record.result.comparisons:
        other = with_all.get((one.arm, one.baseline))
        if one.slice == piece.name and other is not None:
            rows.append(Row(code(one.arm), (code(one.baseline), *_pair(one), *_pair(other))))
    columns = ("against", "headline without", "interval without", "headline with", "interval with")
    return Table(
        anchor=f"with-and-without-{lookup.slug(piece.name)}",
        caption=f"With and without what was left out: {wording.slice_name(piece.name)}",
        stub="Arm",
        columns=_columns(*columns, words=("against",)),
        rows=tuple(rows),
        note="Verdicts rest on the figures without; a repetition is left out whole, by a rule of the plan. In results.json: comparisons and "
        "with_left_out.",
    )


def _pair(one: ComparisonResult) -> tuple[Cell, Cell]:
    ends = both(one.low, one.high) or None
    return figure(wording.change(one.headline), one.headline), figure(wording.interval(one.low, one.high), ends)
