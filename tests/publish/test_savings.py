"""What the arms of a gate save, fixture by fixture: in a table, as bars against the gate's line, in sentences and in claims."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast
from xml.etree import ElementTree as ET

import pytest

from reportgen.archive.load import list_attempts
from reportgen.archive.select import records
from reportgen.errors import InputError
from reportgen.model.experiment import Gate, GateKind
from reportgen.publish import gate_charts, gate_drawing, gate_tables, lookup, wording
from reportgen.publish.claim_words import ClaimWords
from reportgen.publish.gate_values import saved_on
from reportgen.publish.library import Library
from reportgen.publish.markdown import SourcePage
from reportgen.publish.view import RecordView
from reportgen.scoring import score
from tests.factories import make_experiment, make_plan, sealed_attempt

EVERY = Gate(
    name="each", kind=GateKind.EVERY_FIXTURE, arms=["candidate", "control"], vs="incumbent", threshold=8_000, quantity="saved_ns",
    required=False,
)  # fmt: skip
SHARE = Gate(name="share", kind=GateKind.EVERY_FIXTURE, arms=["candidate"], vs="incumbent", threshold=0.02)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> RecordView:
    """Score a record without noise: of 200,000 ns the candidate saves 10,000 everywhere, the control nothing."""
    runs = tmp_path_factory.mktemp("runs")
    plan = make_plan(make_experiment(gates=[EVERY, SHARE]))
    sealed_attempt(runs, plan=plan, noise=0.0)
    (record,) = records(list_attempts(runs))
    return RecordView(
        experiment=record.name, slug=record.slug, address="records/sample/", current=True, plan=record.plan, result=score(record, []),
        attempts=[], replications=[],
    )  # fmt: skip


def test_the_table_has_a_row_a_fixture_and_marks_the_one_that_decides(shown: RecordView) -> None:
    """Three fixtures a slice and arm, in the unit that was asked for; one mark an arm."""
    table = gate_tables.savings(shown, lookup.slices(shown)[0], "ms", "each")
    rows = [[cell.text for cell in row.cells] for row in table.rows]

    assert ["256", "512", "1024"] * 2 == [row[0] for row in rows]
    assert [["0.0100"]] * 3 + [["0.0000"]] * 3 == [row[1:] for row in rows]
    assert "0.0100 to 0.0100" == table.rows[0].cells[1].note
    assert ["fixture", "saved, ms"] == [column.text for column in table.columns]
    assert ["decides: passes", "decides: fails"] == [row.cells[0].note for row in table.rows if row.cells[0].note]
    assert ["10.00 µs"] * 3 == [
        row.cells[1].text for row in gate_tables.savings(shown, lookup.slices(shown)[0]).rows[:3]
    ]


def test_a_saving_is_found_by_gate_arm_and_fixture(shown: RecordView) -> None:
    """In the gate's own unit; what picks no fixture or several is refused, and so is a figure that it has not."""
    at = {"cache": "same-set", "rows": 256}
    times, shares = (
        [one for one in shown.result.gates if (one.name, one.arm) == (name, "candidate")] for name in ("each", "share")
    )

    assert 10_000 == saved_on(shown, times, at).figure("low")
    assert 0.05 == pytest.approx(saved_on(shown, shares, at).figure("estimate"))
    with pytest.raises(InputError, match=r"has 2 savings at \{'rows': 256\} there"):
        saved_on(shown, times, {"rows": 256})
    with pytest.raises(InputError, match=r"has no figure 'end'; figures are: estimate, low, high"):
        saved_on(shown, times, at).figure("end")


def test_claims_know_the_word(shown: RecordView) -> None:
    """It gives the plain number, and notes that it was asked."""
    page = cast("SourcePage", SimpleNamespace(front=SimpleNamespace(records=["sample"])))
    words = ClaimWords(page, cast("Library", SimpleNamespace(record=lambda _: shown)))
    saved = words.functions()["saving"]("each", "control", at={"cache": "same-set", "rows": 512})

    assert 0 == saved
    assert 1 == len(words.values)


@pytest.mark.parametrize(("gate", "unit", "line", "said"), [("each", "ms", 0.008, "ms"), ("share", "", 2.0, "%")])
def test_bars_stand_against_the_gates_line(shown: RecordView, gate: str, unit: str, line: float, said: str) -> None:
    """A group an arm, a bar a fixture, one of them deciding; the line is the threshold in the chart's unit."""
    chart = gate_charts.savings(shown, lookup.slices(shown)[0], gate, unit)

    assert said == chart.unit
    assert line == pytest.approx(chart.line)
    assert [1] * len(chart.groups) == [sum(row.decides for row in group.rows) for group in chart.groups]
    assert all(row.low <= row.estimate <= row.high for group in chart.groups for row in group.rows)


def test_the_chart_says_what_is_asked_and_what_came_out(shown: RecordView) -> None:
    """In its texts and in its description."""
    chart = gate_charts.savings(shown, lookup.slices(shown)[0], "each", "ms")
    root = ET.fromstring(gate_drawing.draw(chart))  # noqa: S314 - drawn here
    words: list[Any] = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]

    assert {"candidate", "control", "passes", "fails", "saved, ms", "asked: 0.0080 ms"} <= set(words)
    assert "gate each asks for 0.0080 ms" in chart.description


def test_a_bar_reaches_from_nothing_to_what_is_saved(shown: RecordView) -> None:
    """By hand: 0 to 0.01 ms and 6 % either side are -0.0006 to 0.0106 on pixels 142 to 370; the line of 0.008 ms is broken."""
    drawn = gate_drawing.draw(gate_charts.savings(shown, lookup.slices(shown)[0], "each", "ms"))
    nothing, saved, asked = (f"{142 + (value + 0.0006) / 0.0112 * 228:.1f}" for value in (0, 0.01, 0.008))

    assert f"M{nothing} 55H{saved}V63H{nothing}z" in drawn
    assert f'stroke-dasharray="3 2" d="M{asked} 50V68' in drawn


def test_what_cannot_be_shown_is_told(shown: RecordView) -> None:
    """A gate that does not exist, a unit that is none."""
    piece = lookup.slices(shown)[0]
    with pytest.raises(InputError, match="no savings by fixture of gate 'nowhere'"):
        gate_charts.savings(shown, piece, "nowhere")
    with pytest.raises(InputError, match="no unit 'fortnight' of time"):
        gate_charts.savings(shown, piece, "each", "fortnight")
    assert ("−2.000 ns", "−2.00%") == (wording.saving(-2, in_time=True), wording.saving(-0.02, in_time=False))
