"""Tables of a record for the pages that people write. Every figure carries its full value and leads to its derivation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from reportgen.errors import InputError
from reportgen.model.experiment import Role
from reportgen.model.plan import Slice
from reportgen.model.result import ArmTime, ComparisonResult, PromotionResult
from reportgen.publish import families, lookup, wording
from reportgen.publish.context import Cell, Column, Row, Table
from reportgen.publish.view import CheckLine, RecordView

JUDGED = (Role.CANDIDATE, Role.CONTROL, Role.CEILING, Role.PROBE)
SMALLEST_SHOWN = (
    "Smallest effect shown: margin plus length of the interval; an effect that large would have put the whole interval "
    "beyond the margin."
)
NOTHING = Cell(wording.NOT_COMPUTED, tone="quiet")


def word(text: str, *, note: str = "", tone: str = "") -> Cell:
    """Make a cell of words."""
    return Cell(text, note=note, tone=tone)


def code(text: str, *, href: str = "") -> Cell:
    """Make a cell of a name or hash."""
    return Cell(text, code=True, href=href)


def figure(text: str, value: float | str | None, *, href: str = "", note: str = "") -> Cell:
    """Make a cell of a figure, with its full value for programs."""
    if value is None:
        return NOTHING
    return Cell(text, value=value if isinstance(value, str) else repr(value), href=href, note=note)


def verdict_cell(comparison: ComparisonResult, reason: str = "") -> Cell:
    """Say a verdict by mark, word and (second line) reason."""
    return Cell(
        wording.VERDICTS[comparison.verdict],
        mark=wording.MARKS[comparison.verdict],
        note=reason,
        tone=comparison.verdict.value,
    )


def reason_of(record: RecordView, comparison: ComparisonResult) -> str:
    """Say why, with the figures of the comparison's slice."""
    line = lookup.noise_of(record, comparison.slice)
    return wording.reason(comparison, record.result.smallest_effect, line.floor if line else None)


def answer(record: RecordView, piece: Slice, page: str) -> Table:
    """Build the short table: each candidate against incumbent and control, with what to do."""
    promotions = [found for found in record.result.promotions if found.slice == piece.name]
    rows = tuple(_answer_row(record, piece, promotion, page) for promotion in promotions)
    return Table(
        caption=f"What came out: {wording.slice_name(piece.name)}",
        stub="Arm and outcome",
        columns=tuple(
            Column(f"against {one}", figure=True, sense=wording.LESS_TIME) for one in ("incumbent", "control")
        ),
        rows=rows,
        lead=families.holm_said(record, piece.name),
        note=f"{wording.DIRECTION.capitalize()}. Second line: interval and verdict.",
    )


def _answer_row(record: RecordView, piece: Slice, promotion: PromotionResult, page: str) -> Row:
    def against(baseline: str | None) -> Cell:
        found = [
            comparison
            for comparison in record.result.comparisons
            if (comparison.arm, comparison.baseline, comparison.slice) == (promotion.arm, baseline, piece.name)
        ]
        return headline_cell(found[0], page, reason_of(record, found[0])) if found else NOTHING

    held = lookup.held_back(record, promotion)
    return Row(
        Cell(promotion.arm, code=True, note=f"{promotion.outcome.value} ({held})" if held else promotion.outcome.value),
        (against(promotion.incumbent), against(promotion.control)),
    )


def headline_cell(comparison: ComparisonResult, page: str, reason: str) -> Cell:
    """Say a headline with interval and verdict below it, or why there is none."""
    ends = wording.interval(comparison.low, comparison.high)
    verdict = wording.verdict(comparison.verdict)
    if comparison.headline is None:
        return Cell(verdict, note=reason, tone=comparison.verdict.value)
    return Cell(
        wording.change(comparison.headline),
        value=repr(comparison.headline),
        href=f"{page}#{lookup.comparison_anchor(comparison)}",
        note=f"{ends}; {verdict}",
        tone=comparison.verdict.value,
    )


def changes(record: RecordView, piece: Slice, page: str) -> Table:
    """Build the full table: headline, estimate, interval, verdict with reason, smallest effect shown."""
    found = lookup.judged(record, piece.name, JUDGED)
    rows = []
    for place, comparison in enumerate(found):
        first = place == 0 or found[place - 1].arm != comparison.arm
        rows.append(Row(code(comparison.arm), _change_cells(record, comparison, page), first=first))
    columns = (
        Column("against"),
        Column("headline", figure=True, sense=wording.LESS_TIME),
        Column("interval", figure=True, sense=wording.LESS_TIME),
        Column("verdict and reason"),
        Column("estimate", figure=True, sense=wording.LESS_TIME),
        Column("smallest effect shown", figure=True),
        Column("promotion and gates"),
    )
    return Table(
        caption=f"Changes in time: {wording.slice_name(piece.name)}",
        stub="Arm",
        columns=columns,
        rows=tuple(rows),
        lead=families.holm_said(record, piece.name),
        note=f"{_comparisons_said(found)} {_margin_said(record, piece.name)} {SMALLEST_SHOWN} {wording.DIRECTION.capitalize()}.",
    )


def _change_cells(record: RecordView, comparison: ComparisonResult, page: str) -> tuple[Cell, ...]:
    href = f"{page}#{lookup.comparison_anchor(comparison)}"
    ends = None if comparison.low is None else f"{comparison.low!r} {comparison.high!r}"
    return (
        word(families.against(comparison)),
        figure(wording.change(comparison.headline), comparison.headline, href=href),
        figure(wording.interval(comparison.low, comparison.high), ends, href=href),
        verdict_cell(comparison, reason_of(record, comparison)),
        figure(wording.change(comparison.estimate), comparison.estimate, href=href),
        figure(wording.share(comparison.smallest_effect_shown), comparison.smallest_effect_shown, href=href),
        _promotion(record, comparison),
    )


def _promotion(record: RecordView, comparison: ComparisonResult) -> Cell:
    """Say what to do with a candidate, beside its incumbent, and how the gates came out that ask of the two arms."""
    key = (comparison.arm, comparison.slice, comparison.baseline)
    promoted = [one.outcome.value for one in record.result.promotions if (one.arm, one.slice, one.incumbent) == key]
    gates = [
        f"{gate.name}: {wording.GATES[gate.outcome]}"
        for gate in record.result.gates
        if (gate.arm, gate.slice, gate.baseline) == key
    ]
    said, *more = [*promoted, *gates] or [wording.NOT_COMPUTED]
    return Cell(said, note="; ".join(more), tone="outcome")


def _comparisons_said(found: Sequence[ComparisonResult]) -> str:
    return f"{wording.plural(len(found), 'comparison')} in this table; each verdict stands by itself (Holm's reading is given apart)."


def _margin_said(record: RecordView, piece: str) -> str:
    line = lookup.noise_of(record, piece)
    if line is None or line.floor is None:
        return "No null arm is valid in this slice."
    smallest = record.result.smallest_effect
    margin = wording.share(max(smallest, line.floor))
    return f"Margin {margin}: the larger of smallest effect of interest {wording.share(smallest)} and noise floor {wording.share(line.floor)}."


def holm(record: RecordView, piece: Slice, page: str) -> Table:
    """Build Holm's reading: shown beside the verdicts, never instead of them."""
    rows = tuple(
        Row(
            code(comparison.arm),
            (
                word(families.against(comparison)),
                _probability(comparison.p_against_1, comparison, page),
                _probability(comparison.p_against_margin, comparison, page),
                _probability(comparison.holm_p, comparison, page),
                figure(wording.count(comparison.holm_rank), comparison.holm_rank),
                figure(wording.count(comparison.family_size), comparison.family_size),
                figure(wording.percent(comparison.outrun_bound), comparison.outrun_bound),
                word(
                    {True: "yes", False: f"not resolvable at n = {comparison.n}", None: wording.NOT_COMPUTED}[
                        comparison.resolvable
                    ]
                ),
            ),
        )
        for comparison in lookup.judged(record, piece.name)
    )
    columns = (
        "against",
        "p against no change",
        "p against the margin",
        "Holm p",
        "rank",
        "family",
        "outruns nulls",
        "resolvable",
    )
    return Table(
        caption=f"Many comparisons at once: {wording.slice_name(piece.name)}",
        stub="Arm",
        columns=tuple(Column(text, figure=text not in ("against", "resolvable")) for text in columns),
        rows=rows,
        lead=families.holm_said(record, piece.name),
        note="Sign test; the family is every candidate of the plan against the same baseline in this slice. Outruns nulls: "
        "how likely at most a candidate without effect is to outrun every null of its baseline, 1 / (k + 1) with k nulls. "
        "Resolvable: whether n repetitions can reach 5% after Holm at all; where not, no effect could, however large.",
    )


def _probability(value: float | None, comparison: ComparisonResult, page: str) -> Cell:
    return figure(wording.probability(value), value, href=f"{page}#{lookup.comparison_anchor(comparison)}")


def noise(record: RecordView, piece: Slice, page: str) -> Table:
    """Build the table of null arms: what identical code showed."""
    rows = tuple(
        Row(
            code(line.null),
            (
                code(line.of),
                figure(
                    wording.interval(line.low, line.high),
                    None if line.low is None else f"{line.low!r} {line.high!r}",
                    href=f"{page}#{lookup.noise_anchor(line)}",
                ),
                figure(wording.share(line.floor), line.floor, href=f"{page}#{lookup.noise_anchor(line)}"),
                figure(wording.share(line.cell_floor), line.cell_floor, href=f"{page}#{lookup.noise_anchor(line)}"),
                word("yes" if line.valid else "no"),
            ),
        )
        for line in record.result.noise
        if line.slice == piece.name
    )
    columns = ("repeats", "interval", "noise floor", "cell floor", "valid")
    return Table(
        caption=f"The same code against itself: {wording.slice_name(piece.name)}",
        stub="Null arm",
        columns=tuple(Column(text, figure=text not in ("repeats", "valid")) for text in columns),
        rows=rows,
        note="Noise floor: the farthest end of all null intervals of the slice. Cell floor: where 95% of single null fixtures lie.",
    )


def fixtures(record: RecordView, piece: Slice, page: str) -> Table:
    """Build the table of ratios by fixture and device."""
    rows = []
    for comparison in lookup.judged(record, piece.name, JUDGED):
        for place, cell in enumerate(comparison.cells):
            href = page + lookup.cell_place(comparison, cell)
            ends = f"{cell.interval.low!r} {cell.interval.high!r}"
            cells = (
                word(families.against(comparison)),
                code(wording.within(cell.fixture, piece.name)),
                figure(wording.change(cell.ratio), cell.ratio, href=href),
                figure(wording.interval(cell.interval.low, cell.interval.high), ends, href=href),
                figure(wording.time(cell.candidate_ns), cell.candidate_ns, href=href),
                figure(wording.time(cell.baseline_ns), cell.baseline_ns, href=href),
            )
            rows.append(Row(code(comparison.arm), cells, first=place == 0))
    columns = {
        "against": "",
        "fixture": "",
        "change": wording.LESS_TIME,
        "interval": wording.LESS_TIME,
        "time a launch": "",
        "baseline's": "",
    }
    return Table(
        caption=f"By fixture: {wording.slice_name(piece.name)}",
        stub="Arm",
        columns=tuple(Column(text, text not in ("against", "fixture"), sense) for text, sense in columns.items()),
        rows=tuple(rows),
        note=f"Time per launch in a back-to-back batch. {wording.DIRECTION.capitalize()}.",
    )


def times(record: RecordView, piece: Slice, page: str) -> Table:
    """Build the table of median times: one row a fixture, one column an arm. On the record's own page rows have anchors."""
    found = [
        time
        for time in record.result.times
        if time.fixture in piece.fixtures and time.device in lookup.devices_in(record, piece)
    ]
    arms = list(dict.fromkeys(time.arm for time in found))
    by_cell: dict[tuple[str, str], dict[str, ArmTime]] = {}
    for time in found:
        by_cell.setdefault((time.device, time.fixture), {})[time.arm] = time
    several = len({device for device, _ in by_cell}) > 1
    rows = tuple(
        Row(
            code(wording.within(fixture, piece.name)),
            ((code(device),) if several else ()) + tuple(_time_cell(cell.get(arm), href) for arm in arms),
            anchor="" if page else anchor,
        )
        for (device, fixture), cell in by_cell.items()
        for anchor in [lookup.time_anchor(fixture, device)]
        for href in [f"{page}#{anchor}" if page else ""]
    )
    device_column = (Column("device"),) if several else ()
    return Table(
        caption=f"Median time per launch: {wording.slice_name(piece.name)}",
        stub="Fixture",
        columns=(*device_column, *(Column(arm, figure=True) for arm in arms)),
        rows=rows,
        note="Time per launch in a back-to-back batch, median over repetitions of the mean of both mirrored batches. Of batches.csv: "
        "mode = process, warmup = false, tag empty, the fixture, device and arm of the cell; in results.json: times.",
    )


def _time_cell(time: ArmTime | None, href: str) -> Cell:
    return NOTHING if time is None else figure(wording.time(time.median_ns), time.median_ns, href=href)


def arms(record: RecordView) -> Table:
    """Build the table of arms with their ideas."""
    rows = tuple(
        Row(
            code(arm.name),
            (word(arm.role.value), code(arm.of or arm.control or wording.NOT_COMPUTED), word(arm.idea, tone="told")),
        )
        for arm in record.plan.experiment.arms
    )
    return Table(
        caption="Arms",
        stub="Arm",
        columns=(Column("role"), Column("repeats, or is judged against"), Column("idea")),
        rows=rows,
    )


def checks(record: RecordView) -> Table:
    """Build the summary of correctness checks over all devices of the record."""
    return checks_table([line for attempt in record.attempts for line in attempt.checks])


def checks_table(lines: Sequence[CheckLine]) -> Table:
    """Build the summary of correctness checks."""
    rows = tuple(
        Row(
            code(line.arm),
            (
                word(f"{line.kind} against {line.against}, {line.when}"),
                figure(wording.count(line.checks), line.checks),
                figure(wording.count(line.elements), line.elements),
                figure(wording.count(line.mismatches), line.mismatches),
                figure(small(line.max_abs), line.max_abs),
                figure(small(line.rel_l2), line.rel_l2),
                word("failed" if line.failed else "passed", tone="slower" if line.failed else ""),
            ),
        )
        for line in lines
    )
    columns = ("check", "checks", "elements", "mismatches", "largest difference", "relative L2", "outcome")
    return Table(
        caption="Checks of every output, before and after timing",
        stub="Arm",
        columns=tuple(Column(text, figure=text not in ("check", "outcome")) for text in columns),
        rows=rows,
        note="Added up over fixtures and repetitions; differences are the largest of all.",
    )


def small(value: float | None) -> str:
    """Say a number that may be tiny with two significant digits."""
    return wording.NOT_COMPUTED if value is None else f"{value:.2g}".replace("-", wording.MINUS)


BY_SLICE: Mapping[str, Callable[[RecordView, Slice, str], Table]] = {
    "answer": answer,
    "changes": changes,
    "holm": holm,
    "noise": noise,
    "fixtures": fixtures,
    "times": times,
}
OF_GATES = ("gates", "savings", "ceilings", "bands")
WHOLE: Mapping[str, Callable[[RecordView], Table]] = {"arms": arms, "checks": checks}


def build(kind: str, record: RecordView, slices: Sequence[Slice], page: str) -> list[Table]:
    """Build the tables of one kind, one a slice, or one for the whole record.

    Raises
    ------
    InputError
        Unknown kind.
    """
    if kind in WHOLE:
        return [WHOLE[kind](record)]
    if kind not in BY_SLICE:
        known = f"{', '.join(sorted([*BY_SLICE, *WHOLE, *OF_GATES]))}; those of an A/A study stand in the guide"
        raise InputError(f"no table of kind {kind!r}", remedy=f"kinds are: {known}")
    return [BY_SLICE[kind](record, piece, page) for piece in slices]
