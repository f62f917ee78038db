"""Tables of an A/A study, for written pages (each figure leads to the record's page) and for the record's page itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from markupsafe import Markup

from reportgen.model.null_study import (
    BarPart,
    HarnessKernel,
    HarnessSummary,
    KernelBias,
    ModeSummary,
    NullComparison,
    PowerSummary,
)
from reportgen.publish import study_lookup, wording
from reportgen.publish.context import Cell, Column, Row, Table
from reportgen.publish.linked import linked, valued
from reportgen.publish.study_lookup import kernel_name, study_of, way_name
from reportgen.publish.tables import NOTHING, both, code, figure, word
from reportgen.publish.view import RecordView


def _whole(value: float) -> str:
    return wording.count(int(value))


PARTS: Mapping[str, tuple[str, Callable[[float], str]]] = {
    "comparisons": ("null comparisons, at least", _whole),
    "nulls_a_baseline": ("nulls that repeat one arm, at most", _whole),
    "false_alarms": ("false alarms, at most", _whole),
    "error_p95": ("95% of the errors, at most", lambda value: wording.percent(value, decimals=3)),
    "kernels_beyond": ("kernels whose mean error lies beyond 3 standard errors, at most", _whole),
}
NO_INTERVAL = word("no interval", tone="quiet")
KEPT = "In results.json: null_study."


class _Place:
    """Where a table stands: at the record (``page`` None) rows carry anchors, elsewhere their figures lead to them."""

    def __init__(self, page: str | None) -> None:
        self._page = page

    def row(self, head: Cell, cells: tuple[Cell, ...], anchor: str, *, first: bool = False) -> Row:
        return Row(head, cells, first=first, anchor=anchor if self._page is None else "")

    def say(self, text: str, value: float | str | None, anchor: str, note: str = "", below: str = "") -> Cell:
        return figure(text, value, href="" if self._page is None else f"{self._page}#{anchor}", note=note, below=below)

    def told(self, text: str, value: float, anchor: str) -> Markup:
        return valued(text, value) if self._page is None else linked(text, value, f"{self._page}#{anchor}")


CHANGES = ("estimate", "interval", "mean error", "mean estimate")


def _columns(*names: str, words: tuple[str, ...] = ()) -> tuple[Column, ...]:
    return tuple(Column(name, name not in words, wording.LESS_TIME if name in CHANGES else "") for name in names)


def ways(record: RecordView, page: str | None) -> Table:
    """Build the table of ways of measuring: false alarms and errors on identical code, modes first, then harnesses."""
    study, place = study_of(record), _Place(page)
    rows = [_mode_row(place, line) for line in study.modes] + [_harness_row(place, line) for line in study.harnesses]
    size = place.told(wording.count(study.block_repetitions), study.block_repetitions, study_lookup.BLOCK_ANCHOR)
    return Table(
        caption="Identical code against itself, by way of measuring",
        stub="Way of measuring",
        columns=_columns(
            "comparisons", "false alarms", "share", "nominal", "by bootstrap", "median error", "95% within", "widest"
        ),
        rows=tuple(rows),
        note=Markup(
            "A comparison: {} repetitions of a null against the arm it repeats (for another harness: one figure over another, "
            "in one process); second line: kernels, and how many of them lie beyond 3 standard errors. False alarm: the interval excludes no change; second line: exact 95% interval of the share as if comparisons "
            "were independent. By bootstrap: what the usual percentile interval would have said. Error: estimate less 1, either way. {}"
        ).format(size, KEPT),
        anchor=study_lookup.BLOCK_ANCHOR if page is None else "",
    )


def _mode_row(place: _Place, line: ModeSummary) -> Row:
    anchor = study_lookup.mode_anchor(line.mode)
    ends = "" if line.share_low is None else f"{wording.percent(line.share_low)} to {wording.percent(line.share_high)}"
    of_kernels = f"{wording.plural(line.kernels, 'kernel')}, {wording.count(line.kernels_beyond)} beyond"
    by_bootstrap = wording.percent(line.bootstrap_share)
    cells = (
        place.say(
            wording.count(line.comparisons),
            line.comparisons,
            anchor,
            of_kernels,
            f"{line.kernels} {line.kernels_beyond}",
        ),
        place.say(wording.count(line.alarms), line.alarms, anchor),
        place.say(
            wording.percent(line.alarm_share), line.alarm_share, anchor, ends, both(line.share_low, line.share_high)
        ),
        place.say(wording.percent(line.nominal_share), line.nominal_share, anchor),
        place.say(
            wording.count(line.bootstrap_alarms),
            line.bootstrap_alarms,
            anchor,
            by_bootstrap,
            repr(line.bootstrap_share),
        ),
        *_errors(place, line, anchor),
    )
    return place.row(Cell(way_name(line.mode), note=f"mode {line.mode}"), cells, anchor)


def _harness_row(place: _Place, line: HarnessSummary) -> Row:
    anchor = study_lookup.harness_anchor(line.harness)
    cells = (
        place.say(wording.count(line.ratios), line.ratios, anchor),
        NO_INTERVAL,
        NOTHING,
        NOTHING,
        NOTHING,
        *_errors(place, line, anchor),
    )
    return place.row(code(line.harness), cells, anchor)


def _errors(place: _Place, line: ModeSummary | HarnessSummary, anchor: str) -> tuple[Cell, ...]:
    values = (line.error_median, line.error_p95, line.error_widest)
    return tuple(place.say(wording.error(value), value, anchor) for value in values)


def spreads(record: RecordView, page: str | None) -> Table:
    """Build the table of what false alarms are made of: what a block has in common against what varies within it."""
    study, place = study_of(record), _Place(page)
    rows = tuple(_spread_row(place, line) for line in study.modes)
    covers = study.layout_covers
    said = Markup("")
    if covers is not None:
        share = place.told(wording.percent(covers, decimals=0), covers, study_lookup.LAYOUT_ANCHOR)
        said = Markup(" A fresh layout within one process covers {} of the variance between placements.").format(share)
    return Table(
        caption="What the errors are made of",
        stub="Way of measuring",
        columns=_columns("rms offset", "between blocks", "within blocks", "length of an interval"),
        rows=rows,
        note=Markup(
            "Rms offset: of estimate less 1. Between and within: standard deviations of the log ratio. Where a block has an offset of its own "
            "that is not small against the spread within it, its interval is sure of the offset.{} {}"
        ).format(said, KEPT),
        anchor=study_lookup.LAYOUT_ANCHOR if page is None else "",
    )


def _spread_row(place: _Place, line: ModeSummary) -> Row:
    anchor = study_lookup.spread_anchor(line.mode)
    values = (line.offset_rms, line.between_sd, line.within_sd, line.width_median)
    cells = tuple(place.say(wording.error(value), value, anchor) for value in values)
    return place.row(Cell(way_name(line.mode), note=f"mode {line.mode}"), cells, anchor)


def kernels(record: RecordView, page: str | None) -> Table:
    """Build the table of kernels: time, mean error with its standard error, false alarms, by mode."""
    study, place = study_of(record), _Place(page)
    slices = list(dict.fromkeys(line.slice for line in study.kernels))
    rows = [
        _kernel_row(place, line, first=at == 0)
        for piece in slices
        for at, line in enumerate(one for one in study.kernels if one.slice == piece)
    ]
    return Table(
        caption="Identical code against itself, by kernel",
        stub="Kernel",
        columns=_columns("mode", "time a launch", "mean error", "in standard errors", "false alarms", words=("mode",)),
        rows=tuple(rows),
        note="Mean error with its standard error over independent units: all nulls of one arm in one block are one unit. Beyond 3 standard "
        f"errors a kernel counts as biased. Time a launch: median of the arms that are repeated. {KEPT}",
    )


def _kernel_row(place: _Place, line: KernelBias, *, first: bool) -> Row:
    anchor = study_lookup.kernel_anchor(line.mode, line.slice)
    spread = f"{wording.share(line.standard_error, decimals=3)} over {wording.plural(line.units, 'unit')}"
    quotient = wording.NOT_COMPUTED if line.quotient is None else wording.signed(line.quotient, decimals=1)
    cells = (
        word(line.mode),
        place.say(wording.time(line.time_ns), line.time_ns, anchor),
        place.say(
            wording.signed_error(line.mean_error),
            line.mean_error,
            anchor,
            spread,
            f"{line.standard_error!r} {line.units}",
        ),
        place.say(quotient, line.quotient, anchor, note="beyond 3" if line.beyond else ""),
        place.say(wording.of_total(line.alarms, line.comparisons), f"{line.alarms} {line.comparisons}", anchor),
    )
    return place.row(code(kernel_name(line.slice)), cells, anchor, first=first)


def harnesses(record: RecordView, page: str | None) -> Table:
    """Build the table of other harnesses by kernel: what they read, and how far identical code was apart."""
    study, place = study_of(record), _Place(page)
    names = [line.harness for line in study.harnesses]
    lines = [line for name in names for line in study.harness_kernels if line.harness == name]
    rows = [
        _harness_kernel_row(place, line, first=at == 0 or lines[at - 1].harness != line.harness)
        for at, line in enumerate(lines)
    ]
    return Table(
        caption="Other harnesses on the same kernels, in the same attempt",
        stub="Harness",
        columns=_columns(
            "kernel", "time it reads", "against mode process", "ratios", "mean error", "widest", words=("kernel",)
        ),
        rows=tuple(rows),
        note="Against mode process: its figures over the median time per launch in a back-to-back batch of the same arm. Error: figure of a null "
        f"over that of the arm it repeats, in one process, less 1. {KEPT}",
    )


def _harness_kernel_row(place: _Place, line: HarnessKernel, *, first: bool) -> Row:
    anchor = study_lookup.harness_kernel_anchor(line.harness, line.slice)
    cells = (
        code(kernel_name(line.slice)),
        place.say(wording.time(line.time_ns), line.time_ns, anchor),
        place.say(wording.change(line.reads, decimals=1), line.reads, anchor),
        place.say(wording.count(line.ratios), line.ratios, anchor),
        place.say(wording.signed_error(line.mean_error), line.mean_error, anchor),
        place.say(wording.error(line.error_widest), line.error_widest, anchor),
    )
    return place.row(code(line.harness), cells, anchor, first=first)


def planted(record: RecordView, page: str | None) -> Table:
    """Build the table of power: planted work over all kernels, by mode."""
    lines = [line for line in study_of(record).power if line.slice is None]
    return _power_table("Planted work: what is found", "Planted", lines, _Place(page))


def planted_kernels(record: RecordView, page: str | None) -> Table:
    """Build the table of power kernel by kernel."""
    lines = [line for line in study_of(record).power if line.slice is not None]
    return _power_table("Planted work, by kernel", "Planted", lines, _Place(page))


def _power_table(caption: str, stub: str, found: list[PowerSummary], place: _Place) -> Table:
    lines = sorted(found, key=lambda line: line.planted)
    by_kernel = bool(lines and lines[0].slice)
    rows = [
        _power_row(place, line, first=at == 0 or lines[at - 1].planted != line.planted) for at, line in enumerate(lines)
    ]
    names = (*(("kernel",) if by_kernel else ()), "mode", "expected", "mean estimate", "error", "found")
    return Table(
        caption=caption,
        stub=stub,
        columns=_columns(*names, words=("kernel", "mode")),
        rows=tuple(rows),
        note="Expected: from what all the work again costs in the same mode. Found: the whole interval says more time. Comparisons of one planted "
        f"arm share its batches. A mode with many false alarms finds much that is planted, too: read its power beside them. {KEPT}",
    )


def _power_row(place: _Place, line: PowerSummary, *, first: bool) -> Row:
    anchor = study_lookup.power_anchor(line)
    share = wording.percent(line.found_share, decimals=0)
    cells = (
        *((code(kernel_name(line.slice)),) if line.slice else ()),
        word(line.mode),
        place.say(wording.change(line.expected), line.expected, anchor),
        place.say(wording.change(line.estimate), line.estimate, anchor),
        place.say(wording.signed_error(line.error), line.error, anchor),
        place.say(
            wording.of_total(line.found, line.comparisons),
            f"{line.found} {line.comparisons}",
            anchor,
            share,
            repr(line.found_share),
        ),
    )
    head = place.say(study_lookup.planted_name(line.planted), line.planted, anchor)
    return place.row(head, cells, anchor, first=first)


def bar(record: RecordView, page: str | None) -> Table:
    """Build the table of the bar: what mode process was asked to show, part by part."""
    place = _Place(page)
    rows = tuple(_bar_row(place, part) for part in study_of(record).bar)
    return Table(
        anchor=study_lookup.BAR_ANCHOR if page is None else "",
        caption="The bar, fixed beforehand, for mode process",
        stub="What was asked",
        columns=_columns("limit", "found", "outcome", words=("outcome",)),
        rows=rows,
        note=f"A part that cannot be computed is missed. {KEPT}",
    )


def _bar_row(place: _Place, part: BarPart) -> Row:
    words, say = PARTS[part.name]
    anchor = study_lookup.bar_anchor(part.name)
    outcome = word("passes" if part.passes else "missed", tone="" if part.passes else "slower")
    found = NOTHING if part.found is None else place.say(say(part.found), part.found, anchor)
    return place.row(word(words), (place.say(say(part.limit), part.limit, anchor), found, outcome), anchor)


def shown(record: RecordView, page: str | None) -> Table:
    """Build the table of the placement comparison whose interval lies farthest from no change, beside the same one in the other modes."""
    study, place = study_of(record), _Place(page)
    rows = tuple(_shown_row(place, study_lookup.shown_line(study, series.mode)) for series in study.shown)
    first = study.shown[0] if study.shown else None
    which = (
        ""
        if first is None
        else f": {first.null} against {first.of}, kernel {kernel_name(first.slice)}, block {first.block}"
    )
    return Table(
        caption=f"One comparison of identical code in every mode{which}",
        stub="Way of measuring",
        columns=_columns("estimate", "interval", "says", words=("says",)),
        rows=rows,
        note=f"Chosen by rule: of all comparisons in mode placement the one whose interval lies farthest from no change. {KEPT}",
    )


def _shown_row(place: _Place, line: NullComparison) -> Row:
    anchor = study_lookup.shown_anchor(line.mode)
    ends = f"{line.low!r} {line.high!r}"
    cells = (
        place.say(wording.change(line.estimate), line.estimate, anchor),
        place.say(wording.interval(line.low, line.high), ends, anchor),
        word("false alarm" if line.alarm else "holds no change", tone="slower" if line.alarm else ""),
    )
    which = f"mode {line.mode}: {line.null}, {line.slice}, block {line.block}"
    return place.row(Cell(way_name(line.mode), note=which), cells, anchor)


KINDS: Mapping[str, Callable[[RecordView, str | None], Table]] = {
    "ways": ways,
    "spreads": spreads,
    "kernels": kernels,
    "harnesses": harnesses,
    "planted": planted,
    "planted_kernels": planted_kernels,
    "bar": bar,
    "shown": shown,
}


def for_record(record: RecordView) -> tuple[Table, ...]:
    """Build every table of a record's study, rows anchored; none where it has no study."""
    if record.result.null_study is None:
        return ()
    return tuple(table for build in KINDS.values() if (table := build(record, None)).rows)
