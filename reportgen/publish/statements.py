"""Figures that no record of ours holds: stated with a reason and held against the plan, or published elsewhere with their source."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping

from markupsafe import Markup

from reportgen.errors import InputError
from reportgen.model.experiment import Experiment
from reportgen.publish import plan_figures, wording
from reportgen.publish.library import PUBLISHED

FEWEST_WORDS = 2
_SOURCE = re.compile(r"#\s*source:\s*(\S.*)", re.IGNORECASE)
_UNITS = {"_pct": "%", "_percent": "%", "_ns": " ns", "_us": " µs", "_ms": " ms", "_s": " s", "_kib": " KiB"}


def stated(text: str, because: str, plans: Mapping[str, Experiment], plan: str | None = None) -> Markup:
    """Say a figure that is no measurement, with the reason; where the plan knows it, it must be the plan's.

    ``plan`` names the field of a plan that the figure is (``protocol.repetitions``, or ``sample:axes.rows``); without it the words of text and reason tell
    (``publish.plan_figures``); an empty one says that they speak of something else.

    Raises
    ------
    InputError
        No reason; a figure that differs from the plan's; or a reason that names the plan where nothing tells which field is meant.
    """
    if len(because.split()) < FEWEST_WORDS:
        raise InputError(f"{text!r} is stated without a reason", remedy='say because="…" in some words')
    if plan != "":
        plan_figures.held(text, f"{text} {because}", plans, plan)
    return Markup('<span class="stated" title="{}">{}</span>').format(because, text)


def published(
    held: bytes | None, dataset: str, row: str | Mapping[str, str], column: str, *, again: bool = False
) -> Markup:
    """Say a figure that others published, apart from ours and with its source.

    ``held`` is what the CSV file ``dataset`` under ``site/published/`` holds, if it is there; its first line reads ``# source: ...``; ``row`` is the value of its
    first column, or several columns with their values. ``again`` leads to the place where the page named the source before.

    Raises
    ------
    InputError
        There is no such file, source, row, column or figure.
    """
    source, rows = _table(held, dataset)
    wanted = row if isinstance(row, Mapping) else {next(iter(rows[0])): row}
    found = [one for one in rows if all(one.get(key) == str(value) for key, value in wanted.items())]
    if len(found) != 1:
        raise InputError(f"{dataset} has {len(found)} rows where {dict(wanted)}", remedy="name exactly one")
    if not found[0].get(column):
        raise InputError(f"{dataset} has no {column!r} there", remedy=f"its columns are: {', '.join(rows[0])}")
    figure = Markup('<data value="{}">{}</data>').format(found[0][column], _worded(found[0][column], column))
    if again:
        said = Markup('<a href="#published-{}" title="{}">elsewhere</a>').format(dataset, source)
        return Markup('<span class="published">{} <cite>{}</cite></span>').format(figure, said)
    return Markup('<span class="published" id="published-{}">{} <cite>(published elsewhere: {})</cite></span>').format(
        dataset, figure, source
    )


def _table(held: bytes | None, dataset: str) -> tuple[str, list[dict[str, str]]]:
    if held is None:
        raise InputError(
            f"no figures published elsewhere as {dataset!r}", remedy=f"put {dataset}.csv into site/{PUBLISHED}/"
        )
    lines = held.decode("utf-8").splitlines()
    source = _SOURCE.fullmatch(lines[0]) if lines else None
    rows = list(csv.DictReader(lines[1:]))
    if source is None or not rows:
        raise InputError(f"{PUBLISHED}/{dataset}.csv names no source", remedy="begin it with a line `# source: …`")
    return source[1], rows


def _worded(value: str, column: str) -> str:
    """Say a figure as it was published, digit for digit, with the sign and unit that its column's name tells."""
    unit = next((said for ending, said in _UNITS.items() if column.endswith(ending)), "")
    sign = "+" if unit == "%" and value[:1].isdigit() and float(value) else ""
    return sign + value.replace("-", wording.MINUS) + unit
