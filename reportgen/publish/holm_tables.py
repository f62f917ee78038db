"""Holm's reading of the verdicts of a slice: shown beside them, never instead of them."""

from __future__ import annotations

from reportgen.model.plan import Slice
from reportgen.model.result import ComparisonResult
from reportgen.publish import families, lookup, wording
from reportgen.publish.context import Cell, Column, Row, Table
from reportgen.publish.tables import code, figure, word
from reportgen.publish.view import RecordView


def holm(record: RecordView, piece: Slice, page: str) -> Table:
    """Build Holm's reading: shown beside the verdicts, never instead of them. On the record's own page rows have anchors."""
    rows = tuple(
        Row(
            code(comparison.arm),
            _holm_cells(comparison, f"{page}#{lookup.holm_anchor(comparison)}" if page else ""),
            anchor="" if page else lookup.holm_anchor(comparison),
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
        "Resolvable: whether n repetitions can reach 5% after Holm at all; where not, no effect could, however large. "
        "Of the process values h of the same arms under the derivations; in results.json: comparisons.",
    )


def _holm_cells(one: ComparisonResult, href: str) -> tuple[Cell, ...]:
    resolvable = {True: "yes", False: f"not resolvable at n = {one.n}", None: wording.NOT_COMPUTED}[one.resolvable]
    return (
        word(families.against(one)),
        *(
            figure(wording.probability(value), value, href=href)
            for value in (one.p_against_1, one.p_against_margin, one.holm_p)
        ),
        *(figure(wording.count(value), value, href=href) for value in (one.holm_rank, one.family_size)),
        figure(wording.percent(one.outrun_bound), one.outrun_bound, href=href),
        word(resolvable),
    )
