"""Gates of all kinds from the archive to a page: two records, one of which rests on the other."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from reportgen import machine
from reportgen.archive.load import list_attempts
from reportgen.archive.select import Record, records
from reportgen.model.experiment import Experiment, Gate, GateKind, Stage
from reportgen.model.record import Provenance
from reportgen.publish import gate_tables, lookup, wording
from reportgen.publish.context import Table
from reportgen.publish.downloads import RESULTS, write_record
from reportgen.publish.verify import check_folder
from reportgen.publish.view import RecordView
from reportgen.scoring import score, stages_in, stages_of
from tests.factories import STARTED, make_experiment, make_plan, sealed_attempt

LATER = STARTED + timedelta(hours=1)
BAND = Gate(
    name="sizes", kind=GateKind.BAND, arms=["candidate"], vs="incumbent", threshold=0.01, axis="rows", required=False
)  # fmt: skip


def asking(digest: str) -> Experiment:
    """Ask whether 5 % of 200,000 ns, saved twice, are still 15,000 ns once the floor's launch is paid for."""
    stage = Stage(experiment="sample", plan=digest, arm="candidate", vs="incumbent", repeats=2, where={"rows": [256]})
    top = Gate(
        name="remains", kind=GateKind.CEILING, arms=["control"], vs="incumbent", threshold=15_000, quantity="saved_ns",
        stage=stage,
    )  # fmt: skip
    return make_experiment(gates=[top, BAND], title="Second")


@pytest.fixture
def second(tmp_path: Path) -> Record:
    """Measure two stages without noise; the plan of the second was changed after it began."""
    first = make_plan()
    sealed_attempt(tmp_path, plan=first, noise=0.0)
    plan = make_plan(asking(first.digest), name="second")
    provenance = Provenance(known="declared", commit="0" * 40, dirty=False, frozen_at=f"{LATER:%Y-%m-%dT%H:%M:%SZ}")
    sealed_attempt(tmp_path, plan=plan, noise=0.0, header={"provenance": provenance})
    return next(one for one in records(list_attempts(tmp_path)) if one.name == "second")


def view(record: Record, runs: Path) -> RecordView:
    """Score a record beside the archive."""
    result = score(record, stages_in(record.plan, runs))
    return RecordView(
        experiment=record.name, slug=record.slug, address="records/second/", current=True, plan=record.plan, result=result,
        attempts=[], replications=[],
    )  # fmt: skip


def texts(table: Table) -> list[list[str]]:
    """Give the words of a table."""
    return [[row.head.text, *(cell.text for cell in row.cells)] for row in table.rows]


def test_the_sum_of_a_ceiling_stands_line_by_line(second: Record, tmp_path: Path) -> None:
    """10,000 ns saved by a launch there, twice; the control costs nothing here."""
    shown = view(second, tmp_path)
    table = gate_tables.build("ceilings", shown, lookup.slices(shown))[0]

    lines = [row[1:4] for row in texts(table)]
    assert ["saved by candidate against incumbent in sample, times 2", "20.00 µs", "20.00 µs"] == lines[0]
    assert ["less the cost of control against incumbent, times 1", "0.000 ns", "0.000 ns"] == lines[1]
    assert [["what remains", "20.00 µs", "20.00 µs"], ["what was asked", "15.00 µs", ""]] == lines[2:]


def test_a_band_is_said_and_shown_point_by_point(second: Record, tmp_path: Path) -> None:
    """The candidate saves 5 % on all three sizes."""
    shown = view(second, tmp_path)
    table = gate_tables.build("bands", shown, lookup.slices(shown))[0]

    assert table.lead == "sizes, candidate: pays from rows = 256 to 1024 (3 points)."
    assert [["256", "−5.00%", "pays"], ["512", "−5.00%", "pays"], ["1024", "−5.00%", "pays"]] == [
        [row[1], row[2], row[6]] for row in texts(table)
    ]


def test_a_gate_younger_than_its_data_is_called_so(second: Record, tmp_path: Path) -> None:
    """In the note under the table, beside the gate, in the terminal's caption and for programs."""
    shown = view(second, tmp_path)
    table = gate_tables.build("gates", shown, lookup.slices(shown))[0]

    assert "YOUNGER THAN ITS DATA: remains and sizes was changed after the first batch." in table.note
    assert "last changed 2026-03-01 13:00 UTC; its first attempt began 2026-03-01 12:00 UTC" in table.note
    assert ["younger than its data"] * 2 == [row.head.note for row in table.rows]
    assert [True] * 4 == [gate["younger"] for gate in machine.result(shown.result)["gates"]]
    frozen = msgspec.structs.replace(shown.result.gates[0], frozen_at="2026-02-28T09:00:00Z")
    assert "YOUNGER" not in wording.freezing([frozen], "0" * 64)


def test_a_plan_without_such_a_gate_has_nothing_to_list(tmp_path: Path) -> None:
    """A table for each slice that says so."""
    sealed_attempt(tmp_path, noise=0.0)
    shown = view(records(list_attempts(tmp_path))[0], tmp_path)

    assert [(), ()] == [table.rows for table in gate_tables.build("bands", shown, lookup.slices(shown))]


def test_the_published_record_carries_what_a_ceiling_rests_on(second: Record, tmp_path: Path) -> None:
    """Without the other record at hand the program that readers get finds the same sum, and an altered time."""
    folder = tmp_path / "published"
    write_record(second, score(second, stages_of(second.plan, records(list_attempts(tmp_path)))), folder)
    results = json.loads((folder / RESULTS).read_text("utf-8"))

    assert [] == check_folder(folder)
    for cell in results["stages"]:
        cell["arm_ns"] = [value + 1_000 for value in cell["arm_ns"]]
    (folder / RESULTS).write_text(json.dumps(results), "utf-8")
    assert any("ceiling, saved" in line for line in check_folder(folder))


@pytest.mark.parametrize("kind", ["gates", "savings", "ceilings", "bands"])
def test_on_another_page_every_figure_of_a_gate_leads_to_its_row(second: Record, tmp_path: Path, kind: str) -> None:
    """The record's own page holds the anchors, other pages the links."""
    shown = view(second, tmp_path)
    pieces = lookup.slices(shown)
    own = {row.anchor for table in gate_tables.build(kind, shown, pieces) for row in table.rows if row.anchor}
    rows = [row for table in gate_tables.build(kind, shown, pieces, page="../r/") for row in table.rows]
    links = {cell.href for row in rows for cell in row.cells if cell.value}

    assert {""} >= {row.anchor for row in rows}
    assert links <= {f"../r/#{anchor}" for anchor in own}
    assert bool(links) == bool(rows)
