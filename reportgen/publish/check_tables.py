"""Correctness checks added up, for the record's and the attempt's own page and for those that people write."""

from __future__ import annotations

from collections.abc import Sequence

from reportgen.publish import lookup, wording
from reportgen.publish.context import Cell, Column, Row, Table
from reportgen.publish.tables import figure, small, word
from reportgen.publish.view import CheckLine, RecordView


def checks(record: RecordView, page: str) -> Table:
    """Build the summary of correctness checks over all devices of the record."""
    several = len(record.attempts) > 1
    found = [
        (attempt.manifest.device.id if several else "", line) for attempt in record.attempts for line in attempt.checks
    ]
    return checks_table(found, page)


def checks_table(lines: Sequence[tuple[str, CheckLine]], page: str = "") -> Table:
    """Build the summary of correctness checks, each with its device where there are several. On the record's or attempt's own page rows have anchors."""
    rows = tuple(
        Row(
            Cell(line.arm, code=True, note=device),
            _check_cells(line, f"{page}#{lookup.check_anchor(line, device)}" if page else ""),
            anchor="" if page else lookup.check_anchor(line, device),
        )
        for device, line in lines
    )
    columns = ("check", "checks", "elements", "mismatches", "largest difference", "relative L2", "outcome")
    return Table(
        caption="Checks of every output, before and after timing",
        stub="Arm",
        columns=tuple(Column(text, figure=text not in ("check", "outcome")) for text in columns),
        rows=rows,
        note="Added up over fixtures and repetitions; differences are the largest of all. Of checks.csv: the rows of the arm, kind, "
        "reference and moment.",
    )


def _check_cells(line: CheckLine, href: str) -> tuple[Cell, ...]:
    return (
        word(f"{line.kind} against {line.against}, {line.when}"),
        *(figure(wording.count(value), value, href=href) for value in (line.checks, line.elements, line.mismatches)),
        *(figure(small(value), value, href=href) for value in (line.max_abs, line.rel_l2)),
        word("failed" if line.failed else "passed", tone="slower" if line.failed else ""),
    )
