"""The charts of an A/A study with their numbers and files beside them, ready for a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from reportgen.model.null_study import HarnessSummary, ModeSummary, NullStudy
from reportgen.publish import study_charts, study_files, study_lookup, study_tables, wording
from reportgen.publish.context import Column, Figure, Link, Row, Table
from reportgen.publish.library import Library, svg_markup
from reportgen.publish.study_lookup import way_name
from reportgen.publish.tables import figure, word
from reportgen.publish.view import RecordView

CAPTIONS = {
    "errors": "One mark a comparison, by how far its estimate is off. Dot: its interval holds no change, or it has none. Upright stroke: "
    "its interval excludes no change, a false alarm. The scale is logarithmic away from zero.",
    "intervals": "One stroke an interval, sorted by its estimate. Bold strokes do not hold no change, the line: false alarms.",
    "one_placement": "One dot a repetition, the first at the left. Band: decision interval. Coloured line: estimate.",
    "power": "Shape and height in the row tell the modes apart. Read each mode beside its first row: what it says where nothing was planted.",
}
FILES: Mapping[str, Sequence[str]] = {
    "errors": (study_files.NULLS, study_files.HARNESSES),
    "intervals": (study_files.NULLS,),
    "one_placement": (study_files.SHOWN,),
    "power": (study_files.PLANTED,),
}


def figure_of(kind: str, record: RecordView, place: tuple[Library, str]) -> Figure:
    """Build the chart of one kind. ``place``: the library that draws, and the way from the page to the site's first page.

    Raises
    ------
    InputError
        The record holds no A/A study, or nothing of that kind.
    """
    chart, (library, root) = study_charts.KINDS[kind](record), place
    page = f"{root}{record.address}"
    study = study_lookup.study_of(record)
    published = study_files.names(study)
    return Figure(
        anchor=chart.anchor,
        caption=f"{chart.title}. {CAPTIONS[kind]}",
        svg=svg_markup(library.draw(chart)),
        href=f"{root}figures/{chart.anchor}.svg",
        table=TABLES[kind](record, study, page),
        data=tuple(Link(name, page + name) for name in FILES[kind] if name in published),
    )


def _numbers(_record: RecordView, study: NullStudy, page: str) -> Table:
    ways: list[tuple[str, str, ModeSummary | HarnessSummary]] = [
        (way_name(one.mode), study_lookup.mode_anchor(one.mode), one) for one in study.modes
    ]
    ways += [(one.harness, study_lookup.harness_anchor(one.harness), one) for one in study.harnesses]
    rows = tuple(
        Row(
            word(name),
            tuple(
                figure(wording.error(value), value, href=f"{page}#{anchor}")
                for value in (line.error_median, line.error_p95, line.error_widest)
            ),
        )
        for name, anchor, line in ways
    )
    columns = tuple(Column(text, figure=True) for text in ("median error", "95% within", "widest"))
    return Table(caption="The same errors in numbers", stub="Way of measuring", columns=columns, rows=rows)


def _shown(record: RecordView, _study: NullStudy, page: str) -> Table:
    return study_tables.shown(record, page)


def _power(record: RecordView, _study: NullStudy, page: str) -> Table:
    return study_tables.planted(record, page)


def _alarms(_record: RecordView, study: NullStudy, page: str) -> Table:
    rows = tuple(
        Row(
            word(way_name(line.mode)),
            (
                figure(wording.count(line.comparisons), line.comparisons, href=href),
                figure(wording.count(line.alarms), line.alarms, href=href),
                figure(wording.percent(line.alarm_share), line.alarm_share, href=href),
            ),
        )
        for line in study.modes
        for href in [f"{page}#{study_lookup.mode_anchor(line.mode)}"]
    )
    columns = tuple(Column(text, figure=True) for text in ("intervals", "exclude no change", "share"))
    return Table(caption="The same in numbers", stub="Way of measuring", columns=columns, rows=rows)


TABLES: Mapping[str, Callable[[RecordView, NullStudy, str], Table]] = {
    "errors": _numbers,
    "intervals": _alarms,
    "one_placement": _shown,
    "power": _power,
}
