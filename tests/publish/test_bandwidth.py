"""How far from the floor: bytes, the rate of a kernel that reads memory, and times, by hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest

from reportgen.errors import InputError
from reportgen.model.experiment import Role
from reportgen.model.plan import Slice
from reportgen.publish import bandwidth, wording
from reportgen.publish.view import RecordView


@dataclass
class Described:
    """As much of a record as the table reads: two fixtures, an incumbent and an empty launch."""

    moved: dict[str, int]
    times_ns: dict[tuple[str, str], float]
    name: str = "sample@1a2b3c"
    devices: list[str] = field(default_factory=lambda: ["Board"])

    def record(self) -> RecordView:
        """Give it the shape of a view."""
        arms = [SimpleNamespace(name="base", role=Role.INCUMBENT), SimpleNamespace(name="empty", role=Role.FLOOR)]
        fixtures = [SimpleNamespace(name=f"n={n}", values={"n": n}) for n in (1, 2)]
        times = [
            SimpleNamespace(device="GPU-1", fixture=fixture, arm=arm, median_ns=median_ns)
            for (fixture, arm), median_ns in self.times_ns.items()
        ]
        manifest = SimpleNamespace(device=SimpleNamespace(id="GPU-1", model="Board"))
        view = SimpleNamespace(
            name=self.name,
            address="records/sample/1a2b3c/",
            devices=self.devices,
            plan=SimpleNamespace(experiment=SimpleNamespace(arms=arms), fixtures=fixtures),
            result=SimpleNamespace(times=times),
            attempts=[SimpleNamespace(moved_bytes=self.moved, manifest=manifest)],
        )
        return cast("RecordView", cast("Any", view))


PIECE = Slice(name="all", values={}, fixtures=["n=1", "n=2"])


def test_the_ceiling_is_the_rate_at_which_a_fixture_moved_its_bytes() -> None:
    """100,000 bytes in 25 ns are 4 TB/s."""
    record = Described({"n=1": 100_000, "n=2": 1}, {("n=1", "base"): 25.0}).record()
    ceiling = bandwidth.ceiling_of(record, {"n": 1}, ["Board"])
    assert 4e12 == ceiling.bytes_per_s
    assert "4.00 TB/s, which is what fixture n=1 of sample@1a2b3c reached" in ceiling.words("../").striptags()
    assert 'href="../records/sample/1a2b3c/#t-n-1-GPU-1"><data value="4000000000000.0">' in ceiling.words("../")


def test_a_row_sets_time_and_rate_beside_the_floor() -> None:
    """8,000 bytes at 4 TB/s take 2 ns; a launch that takes 5 ns moves 1.6 TB/s, 2.5 times as long."""
    record = Described({"n=1": 8000}, {("n=1", "base"): 5.0, ("n=1", "empty"): 0.5, ("n=2", "base"): 9.0}).record()
    table = bandwidth.table(record, PIECE, bandwidth.Ceiling(4e12, "other@1a2b3c", "kernel=stream"), "../", "w1")
    heads = ["bytes", "floor", "empty launch", "base", "base: rate", "base: times the floor"]
    assert heads == [column.text for column in table.columns]
    assert ["8,000", "2.000 ns", "0.500 ns", "5.000 ns", "1.60 TB/s", "2.5"] == [
        cell.text for cell in table.rows[0].cells
    ]
    unknown = wording.NOT_COMPUTED
    assert [unknown, unknown, unknown, "9.000 ns", unknown, unknown] == [cell.text for cell in table.rows[1].cells]


@pytest.mark.parametrize(
    ("at", "models", "said"),
    [
        ({}, ["Board"], "sample@1a2b3c has 2 such fixtures; name one by its axes"),
        ({"n": 1}, ["Other"], "sample@1a2b3c measured no Other; take a record of the same model"),
        ({"n": 2}, ["Board"], "no rate is known of n=2 in sample@1a2b3c"),
    ],
)
def test_a_ceiling_that_says_nothing_about_this_record_is_refused(
    at: dict[str, int], models: list[str], said: str
) -> None:
    """No fixture or several, another model, no bytes."""
    record = Described({"n=1": 100_000}, {("n=1", "base"): 25.0}).record()
    with pytest.raises(InputError) as caught:
        bandwidth.ceiling_of(record, at, models)
    assert said in caught.value.one_line()


def test_rates_are_said_in_decimal_units() -> None:
    """Three digits, as makers of memory count."""
    assert ["4.09 TB/s", "133 GB/s", "1.00 MB/s", "12 B/s"] == [
        wording.rate(value) for value in (4.094e12, 132.8e9, 1e6, 12.0)
    ]
