"""Verdicts as tables for other places (a pull request, a paper, a spreadsheet), and which verdicts fail a check."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from reportgen import latex_tables
from reportgen.errors import InputError
from reportgen.model.result import Verdict
from reportgen.publish import wording

FORMATS = ("markdown", "latex", "csv", "json")
_RATIOS = ("headline", "estimate")

Rows = Sequence[Mapping[str, Any]]


def written(rows: Rows, form: str, title: str) -> str:
    """Write rows of verdicts in ``form``; ratios become percent changes for people, and stay ratios in CSV.

    Raises
    ------
    InputError
        There is no such form.
    """
    if form == "csv":
        return _csv(rows)
    if form not in FORMATS:
        raise InputError(f"there is no format {form!r}", remedy=f"there are {', '.join(FORMATS)}")
    told = [_told(row) for row in rows]
    return _markdown(told, title) if form == "markdown" else latex_tables.table(told, title)


def _told(row: Mapping[str, Any]) -> dict[str, str]:
    """Say a row in words, with the digits of its record's page: headline and interval as percent changes of time, verdict, reason."""
    verdict = row.get("verdict")
    why = row.get("reason") or row.get("lacking") or ""
    said = {
        "slice": wording.slice_name(str(row["slice"])) if "slice" in row else "",
        "arm": str(row["arm"]),
        "against": str(row["baseline"]),
        "change of time": wording.change(row.get("headline"), plain=True),
        "interval": wording.interval(row.get("low"), row.get("high"), plain=True),
        "verdict": str(verdict) if verdict else "none",
        "because": str(why).replace("_", " "),
        "promotion": str(row.get("promotion") or ""),
    }
    return {key: text for key, text in said.items() if text or key not in ("slice", "promotion")}


def _markdown(rows: Sequence[Mapping[str, str]], title: str) -> str:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    lines = [f"**{_cell(title)}** (below 0 % is less time)", ""]
    if not rows:
        return "\n".join([*lines, "No candidate was judged.", ""])
    lines += [f"| {' | '.join(columns)} |", f"| {' | '.join('---' for _ in columns)} |"]
    lines += [f"| {' | '.join(_cell(row.get(key, '')) for key in columns)} |" for row in rows]
    return "\n".join([*lines, ""])


def _cell(text: str) -> str:
    """Keep a text in its cell: no bar, line break, tag or emphasis of Markdown."""
    visible = "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)
    for sign in "\\`*_|<>[]":
        visible = visible.replace(sign, f"\\{sign}")
    return visible


def _csv(rows: Rows) -> str:
    out = io.StringIO()
    columns = list(dict.fromkeys(key for row in rows for key in row))
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {key: "" if value is None else repr(value) if isinstance(value, float) else value for key, value in row.items()}
        for row in rows
    )
    return out.getvalue()


def wanted_failures(text: str) -> frozenset[str]:
    """Read ``slower,invalid``.

    Raises
    ------
    InputError
        A word is no verdict.
    """
    words = [word.strip() for word in text.split(",") if word.strip()]
    unknown = next((word for word in words if word not in set(Verdict)), None)
    if unknown is not None:
        raise InputError(f"--fail-on {unknown!r} is no verdict", remedy=f"verdicts are {', '.join(Verdict)}")
    return frozenset(words)


def failures(rows: Rows, wanted: frozenset[str]) -> list[str]:
    """Say each comparison whose verdict is one of those that fail."""
    return [
        f"{row['arm']} against {row['baseline']}{' on ' + wording.slice_name(str(row['slice'])) if 'slice' in row else ''} is {row['verdict']}"
        for row in rows
        if row.get("verdict") in wanted
    ]
