"""Tables of a sweep: a row a slice, a column a value of the axis; what bands found, in one table."""

from __future__ import annotations

import itertools
import re

import msgspec
import pytest

from reportgen.archive.select import find_record
from reportgen.errors import InputError
from reportgen.model.experiment import Gate, GateKind
from reportgen.model.result import Band, BandPoint, PointVerdict
from reportgen.publish import lookup, reading, sweep_tables, wording
from reportgen.publish.bandwidth import Ceiling
from reportgen.publish.context import Table
from reportgen.publish.view import RecordView
from reportgen.scoring import score
from tests.factories import make_experiment, make_plan, sealed_attempt

BAND = Gate(
    name="where", kind=GateKind.BAND, arms=["candidate", "control"], vs="incumbent", threshold=0.01, axis="rows", required=False
)  # fmt: skip
PAGE = "../records/sample/"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> RecordView:
    """Score a record of two slices with three points each, without noise: the candidate takes 5 % less everywhere."""
    plan = make_plan(make_experiment(gates=[BAND]))
    record = find_record([sealed_attempt(tmp_path_factory.mktemp("runs"), plan=plan, noise=0.0)], "sample")
    attempt = reading.view(record.attempts[0], "attempts/one/", "one/")
    return RecordView(
        experiment="sample", slug=record.slug, address="records/sample/", current=True, plan=plan, result=score(record),
        attempts=[attempt], replications=[],
    )  # fmt: skip


def texts(table: Table) -> list[list[str]]:
    """Give the words of a table."""
    return [[row.head.text, *(cell.text for cell in row.cells)] for row in table.rows]


def notes(table: Table) -> list[list[str]]:
    """Give the second lines of a table's cells."""
    return [[cell.note for cell in row.cells] for row in table.rows]


def saying(shown: RecordView, *verdicts: PointVerdict) -> RecordView:
    """Let the first band gate say something else of its points."""
    gate, *rest = shown.result.gates
    points = [msgspec.structs.replace(one, verdict=said) for one, said in zip(gate.points, verdicts, strict=True)]
    changed = msgspec.structs.replace(gate, points=points, bands=bands(points))
    return msgspec.structs.replace(shown, result=msgspec.structs.replace(shown.result, gates=[changed, *rest]))


def bands(points: list[BandPoint]) -> list[Band]:
    """Give the bands of three points, of which at most two adjacent ones agree."""
    return [
        Band(verdict=one.verdict, first=one.value, last=two.value, points=2)
        for one, two in itertools.pairwise(points)
        if one.verdict is two.verdict
    ]


def test_ranges_say_in_one_table_where_each_arm_pays(shown: RecordView) -> None:
    """A row a slice beneath the name of the axis that slices; what to do with the whole of it stands beneath."""
    table = sweep_tables.ranges(shown, lookup.slices(shown), PAGE)
    assert ("Where it pays, by rows", "cache", ["candidate", "control"]) == (
        table.caption, table.stub, [column.text for column in table.columns]
    )  # fmt: skip
    assert [["same-set", "pays 256 to 1024", "neither"], ["rotating", "pays 256 to 1024", "neither"]] == texts(table)
    assert ["over all of it: adopt", ""] == notes(table)[0]
    assert f"{PAGE}#points-of-g-cache-same-set-where-candidate" == table.rows[0].cells[0].href
    assert "1.00%</data></a> of the baseline's time" in table.note


def test_points_outside_of_bands_are_named(shown: RecordView) -> None:
    """One alone is no band; what neither pays nor costs stands beneath what does."""
    pays, costs, neither, undecided = (
        PointVerdict.PAYS, PointVerdict.COSTS, PointVerdict.NEITHER, PointVerdict.UNDECIDED
    )  # fmt: skip
    for verdicts, text, note in (
        ((pays, pays, costs), "pays 256 to 512", "over all of it: adopt; costs 1024"),
        ((costs, neither, neither), "no band", "over all of it: adopt; neither 512 to 1024; costs 256"),
        ((pays, undecided, costs), "no band", "over all of it: adopt; pays 256; undecided 512; costs 1024"),
    ):
        cell = sweep_tables.ranges(saying(shown, *verdicts), lookup.slices(shown), PAGE).rows[0].cells[0]
        assert (text, note) == (cell.text, cell.note)


def test_changes_of_one_arm_lie_along_the_axis(shown: RecordView) -> None:
    """Each with its interval, and leading to where it is derived."""
    table = sweep_tables.along(shown, lookup.slices(shown), PAGE, axis="rows", arm="candidate", vs="control")
    less = wording.change(0.95)
    assert ["256", "512", "1,024"] == [column.text for column in table.columns]
    assert [["same-set", less, less, less], ["rotating", less, less, less]] == texts(table)
    assert "−5.00…−5.00" == notes(table)[0][0]
    assert table.rows[0].cells[0].href.startswith(f"{PAGE}fixtures/#d-cache-same-set-candidate-vs-control-rows-256")


def test_times_of_one_arm_stand_over_their_floor(shown: RecordView) -> None:
    """200 µs for 4,096 bytes are twice what 40.96 MB a second need; one slice alone is named in full."""
    (piece, _) = lookup.slices(shown)
    ceiling = Ceiling(40.96e6, "other@1a2b3c", "all")
    table = sweep_tables.times_along(shown, [piece], PAGE, axis="rows", arm="incumbent", ceiling=ceiling)
    assert [["cache = same-set", "200.0 µs", "200.0 µs", "200.0 µs"]] == texts(table)
    assert ["2.0 × floor"] * 3 == [re.sub("<[^>]+>", "", one) for one in notes(table)[0]]
    assert all(f'href="#{table.rows[0].anchor}"><data value="2.0">' in one for one in notes(table)[0])
    assert "41.0 MB/s" in table.note
    bare = sweep_tables.times_along(shown, [piece], PAGE, axis="rows", arm="incumbent")
    assert [[""] * 3] == notes(bare)


def test_parity_is_shown_slice_by_slice(shown: RecordView) -> None:
    """Of three fixtures, twice in each of twelve processes, 256 elements."""
    table = sweep_tables.KINDS["parity"](shown, lookup.slices(shown), PAGE, arms=["incumbent", "candidate"])
    assert ["0 of 18,432"] * 2 == texts(table)[0][1:]
    assert ("value, reference", "L2 1e−07") == (table.columns[1].sense, notes(table)[0][1])


def test_outputs_that_differ_are_counted(shown: RecordView) -> None:
    """Bit for bit against the arm that must be equalled, where there is one."""
    own = [line for line in shown.attempts[0].parity if line.arm == "candidate"]
    bits = [msgspec.structs.replace(line, kind="bitwise", against="control", mismatches=3, rel_l2=0.0) for line in own]
    attempt = msgspec.structs.replace(shown.attempts[0], parity=[*own, *bits])
    twice = msgspec.structs.replace(shown, attempts=[attempt, attempt])
    table = sweep_tables.KINDS["parity"](twice, lookup.slices(shown), PAGE)
    assert (["candidate"], [["same-set", "6 of 36,864"], ["rotating", "6 of 36,864"]]) == (
        [one.text for one in table.columns],
        texts(table),
    )
    assert ("bitwise, control", "L2 1e−07") == (table.columns[0].sense, notes(table)[0][0])


@pytest.mark.parametrize(
    ("build", "named", "said"),
    [
        (sweep_tables.ranges, {"gate": "pays"}, "has no band pays"),
        (sweep_tables.along, {"axis": "rows", "arm": "faster"}, "has no arm 'faster'"),
        (sweep_tables.along, {"axis": "cache", "arm": "candidate"}, "has no axis of numbers 'cache'"),
        (sweep_tables.along, {"axis": "rows", "arm": "floor"}, "compares 'floor' with 'incumbent' on no fixture"),
        (sweep_tables.times_along, {"axis": "rows", "arm": "faster"}, "has no arm 'faster'"),
    ],
    ids=["gate", "arm", "axis", "never_compared", "never_timed"],
)
def test_what_is_not_there_is_refused(shown: RecordView, build: object, named: dict[str, str], said: str) -> None:
    """With the name that the page gave."""
    assert callable(build)
    with pytest.raises(InputError, match=said):
        build(shown, lookup.slices(shown), PAGE, **named)
