"""Peers beside the kernel in use, and single fixtures of a comparison over several devices, by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from reportgen.errors import InputError
from reportgen.model.experiment import Role
from reportgen.model.plan import Slice
from reportgen.publish import lookup, peer_tables, tables
from reportgen.publish.bandwidth import Ceiling
from reportgen.publish.view import RecordView

PIECE = Slice(name="cache=hot", values={"cache": "hot"}, fixtures=["n=1", "n=2"])
BOARDS = ("GPU-00000000-aaaa", "GPU-11111111-bbbb")


def a_cell(device: str, fixture: str, ratio: float) -> SimpleNamespace:
    """Make a fixture's part of a comparison; the baseline takes 10 ns."""
    ends = SimpleNamespace(low=ratio - 0.01, high=ratio + 0.01)
    return SimpleNamespace(
        device=device, fixture=fixture, ratio=ratio, interval=ends, candidate_ns=10 * ratio, baseline_ns=10.0
    )


def a_record(boards: tuple[str, ...] = BOARDS) -> RecordView:
    """Give as much of a record as the table reads: an incumbent and a peer, twice as long, on two fixtures."""
    cells = [a_cell(board, f"n={n}", 2 + n / 10 + at / 100) for at, board in enumerate(boards) for n in (2, 1)]
    comparison = SimpleNamespace(
        arm="library", role=Role.PEER.value, baseline="base", slice="cache=hot", where={}, cells=cells
    )
    arms = [
        SimpleNamespace(name="base", role=Role.INCUMBENT, control=None, incumbent=None),
        SimpleNamespace(name="library", role=Role.PEER, control=None, incumbent=None),
    ]
    fixtures = [SimpleNamespace(name=f"n={n}", values={"n": n}) for n in (1, 2)]
    attempts = [
        SimpleNamespace(moved_bytes={"n=1": 8000}, manifest=SimpleNamespace(device=SimpleNamespace(id=one, model="B")))
        for one in boards
    ]
    times = [
        SimpleNamespace(device=one, fixture="n=1", arm="base", median_ns=9.0 + at) for at, one in enumerate(boards)
    ]
    view = SimpleNamespace(
        name="sample@1a2b3c",
        address="records/sample/1a2b3c/",
        plan=SimpleNamespace(
            name="sample", experiment=SimpleNamespace(arms=arms, axes={"n": [1, 2]}), fixtures=fixtures
        ),
        result=SimpleNamespace(comparisons=[comparison], times=times),
        attempts=attempts,
    )
    return cast("RecordView", cast("Any", view))


def test_a_row_is_a_fixture_peer_and_device_in_the_order_of_the_plan() -> None:
    """With several devices each is named, as shortly as tells them apart."""
    table = peer_tables.table(a_record(), PIECE, "", "w1")
    assert ["n=1", "n=1", "n=2", "n=2"] == [row.head.text for row in table.rows]
    assert ["library", "GPU-00000000", "21.00 ns", "10.00 ns", "2.10"] == [cell.text for cell in table.rows[0].cells]
    assert "2.09 to 2.11" == table.rows[0].cells[-1].note


def test_with_a_ceiling_the_floor_stands_beside() -> None:
    """8,000 bytes at 4 TB/s are 2 ns, of which the kernel in use takes 5 times as many; no bytes, no floor."""
    table = peer_tables.table(a_record(BOARDS[:1]), PIECE, "", "w1", Ceiling(4e12, "other@1a2b3c", "kernel=stream"))
    assert ["2.000 ns", "5.0"] == [cell.text for cell in table.rows[0].cells][-2:]
    assert [tables.NOTHING] * 2 == list(table.rows[1].cells)[-2:]
    assert "device" not in [column.text for column in table.columns]


def test_one_fixture_of_a_comparison_is_found_on_every_device() -> None:
    """The least ratio first."""
    found, cells = lookup.cells_of(a_record(), "library", "incumbent", {"n": 1})
    assert ("library", [2.1, 2.11]) == (found.arm, [round(cell.ratio, 2) for cell in cells])


@pytest.mark.parametrize("at", [{}, {"n": 3}])
def test_several_fixtures_or_none_are_refused(at: dict[str, int]) -> None:
    """One sentence can speak of one."""
    with pytest.raises(InputError, match="on one fixture where"):
        lookup.cells_of(a_record(), "library", "base", at)


def test_times_of_several_devices_are_given_together_and_asked_singly_refused() -> None:
    """``time`` speaks of one, ``times`` of all."""
    record = a_record()
    assert [9.0, 10.0] == [one.median_ns for one in lookup.times_of(record, "base", {"n": 1})]
    assert 10.0 == lookup.time_of(record, "base", {"n": 1}, BOARDS[1]).median_ns
    with pytest.raises(InputError, match="has 2 times of 'base'"):
        lookup.time_of(record, "base", {"n": 1}, None)
