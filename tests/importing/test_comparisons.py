"""Imported arms against each other: pairs only where the source proves them, a verdict only where the data can carry one."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from reportgen.analysis import imported_comparisons as lacks
from reportgen.analysis.imported import middle
from reportgen.analysis.imported_comparisons import compare
from reportgen.archive.importers import registry
from reportgen.archive.importers.arranging import arranged
from reportgen.archive.importers.content import Content
from reportgen.archive.importers.gathering import gather
from reportgen.model.imported import Better, ImportedComparison, Told

FOLDER = Path(__file__).resolve().parent.parent / "data" / "importing"
NULL = {"base2": "base"}


def compared(text: str, told: Told | None = None) -> list[ImportedComparison]:
    """Compare the arms of a generic table."""
    told = told or Told()
    return compare(arranged([registry.read(Content("t.csv", text.encode()))], told), told)


def table(rows: Sequence[tuple[str, str, int, object]], column: str = "time_us") -> str:
    """Write a generic table."""
    lines = [f"{arm},{fixture},{repetition},{value}" for arm, fixture, repetition, value in rows]
    return "\n".join([f"arm,fixture,repetition,{column}", *lines])


def in_turn(repetitions: int, *, share: float = 0.9, seed: int = 1) -> str:
    """Write arms in turn: a candidate that takes ``share`` of the time, the baseline, and the baseline again."""
    draw = random.Random(seed)  # noqa: S311 - repeatable test data
    rows = []
    for repetition in range(1, repetitions + 1):
        arms = draw.sample(["base", "cand", "base2"], 3)
        for fixture in ("s", "t"):
            rows += [
                (arm, fixture, repetition, (share if arm == "cand" else 1.0) * 100 * draw.gauss(1.0, 0.001))
                for arm in arms
            ]
    return table(rows)


def test_pairs_of_an_interleaved_run_give_the_ratio() -> None:
    """The median of the five pair ratios, which is not the ratio of medians."""
    found = compare(
        [(1, one) for one in gather([FOLDER / "generic/made-up-ab.csv"]).found[0].source.benchmarks], Told()
    )
    sort, hashed = found[0].cells
    assert ("cand", "base", 5, 5) == (found[0].arm, found[0].baseline, sort.pairs, hashed.pairs)
    assert 39.5 / 41.5 == sort.ratio
    assert 1.0 == hashed.ratio
    assert sort.interval is None
    assert (None, [lacks.FEW_PAIRS, lacks.NO_NULL, lacks.NOT_FRESH]) == (found[0].verdict, found[0].lacking)


def test_a_verdict_stands_where_everything_is_there() -> None:
    """Twelve repetitions in turn, a null arm, and the word that they were fresh processes."""
    found = compared(in_turn(12), Told(baseline="base", nulls=NULL, fresh_processes=True))
    cand, null = sorted(found, key=lambda one: one.null)
    assert ("faster", "beyond_margin", []) == (cand.verdict, cand.reason, cand.lacking)
    assert (True, None) == (null.null, null.verdict)
    assert cand.low is not None
    assert cand.high is not None
    assert cand.low < 0.9 < cand.high < 0.91


@pytest.mark.parametrize(
    ("repetitions", "told", "lacking"),
    [
        (12, Told(baseline="base", nulls=NULL), lacks.NOT_FRESH),
        (12, Told(baseline="base", fresh_processes=True), lacks.NO_NULL),
        (5, Told(baseline="base", nulls=NULL, fresh_processes=True), lacks.FEW_PAIRS),
    ],
)
def test_whatever_is_lacking_takes_the_verdict(repetitions: int, told: Told, lacking: str) -> None:
    """One thing missing is enough, and it is named."""
    cand = next(one for one in compared(in_turn(repetitions), told) if one.arm == "cand")
    assert cand.verdict is None
    assert lacking in cand.lacking


def test_arms_one_after_the_other_give_no_pairs() -> None:
    """Their repetition numbers are the same, but the file shows that one arm ran first; the user may know better."""
    rows = [
        (arm, "f", repetition, value) for arm, value in (("base", 10.0), ("cand", 9.0)) for repetition in range(1, 9)
    ]
    apart = compared(table(rows))[0]
    assert (0, lacks.NOT_INTERLEAVED, 0.9) == (apart.cells[0].pairs, apart.cells[0].lacking, apart.cells[0].ratio)
    told = compared(table(rows), Told(paired=True))[0]
    assert 8 == told.cells[0].pairs


def test_two_files_are_two_arms_without_pairs() -> None:
    """Equal places in two files prove nothing."""
    sources = [
        one.source for one in gather([FOLDER / "pyperf/pair-a-py36.json", FOLDER / "pyperf/pair-b-py38.json"]).found
    ]
    found = compare(arranged(sources, Told()), Told())
    assert ("pair-b-py38", "pair-a-py36", 3) == (found[0].arm, found[0].baseline, len(found[0].cells))
    assert {lacks.NO_PAIRS} == {cell.lacking for cell in found[0].cells}
    assert found[0].cells[0].ratio == pytest.approx(2122.053215369846 / 2113.2025755932204, rel=1e-12)
    assert found[0].verdict is None


def test_one_value_and_aggregates_say_so() -> None:
    """No spread, no pairs; a ratio of what is there."""
    one = compared(table([("a", "f", 1, 10.0), ("b", "f", 1, 9.0)]))[0]
    assert (lacks.ONE_SAMPLE, 0.9) == (one.cells[0].lacking, one.cells[0].ratio)
    sources = [gather([FOLDER / "own/nsys-kern-sum.csv"]).found[0].source] * 2
    both = compare(arranged(sources, Told()), Told())
    assert {lacks.AGGREGATES} == {cell.lacking for cell in both[0].cells}
    assert {"reported"} == {cell.basis for cell in both[0].cells}


def test_rates_are_compared_as_rates() -> None:
    """Higher is better, the unit stays, and no verdict about time is made of them."""
    text = (
        "arm,fixture,repetition,rate,unit\na,copy,1,100,GB/s\nb,copy,1,110,GB/s\na,copy,2,100,GB/s\nb,copy,2,120,GB/s\n"
    )
    found = compared(text)[0]
    cell = found.cells[0]
    assert (Better.HIGHER, "GB/s", 1.15, 2) == (cell.better, cell.unit, cell.ratio, cell.pairs)
    assert lacks.RATES in found.lacking


def test_rates_of_other_units_and_times_are_not_compared() -> None:
    """GB/s against GiB/s has no ratio."""
    text = "arm,fixture,repetition,rate,unit\na,copy,1,100,GB/s\nb,copy,1,110,GiB/s\n"
    assert compared(text) == []


def test_zero_failed_and_infinite_times_have_no_ratio() -> None:
    """A failed row's short time is never the fastest; zero is no divisor; a mean is not set against a median."""
    zero = compared(table([("a", "f", 1, 0), ("b", "f", 1, 9.0)]))[0]
    assert (None, lacks.NO_VALUE) == (zero.cells[0].ratio, zero.cells[0].lacking)
    text = "arm,fixture,repetition,time_us,status\na,f,1,10,ok\nb,f,1,0.01,failed\na,f,2,10,ok\nb,f,2,9,ok\n"
    failed = compared(text)[0]
    assert (0.9, lacks.FAILED in failed.lacking) == (failed.cells[0].ratio, True)
    infinite = compared(table([("a", "f", 1, 10), ("b", "f", 1, "inf")]))[0]
    assert infinite.cells[0].ratio is None
    files = [FOLDER / "llama-bench/made-up.csv", FOLDER / "llama-bench/keys-28.json"]
    assert compare(arranged([one.source for one in gather(files).found], Told()), Told()) == []


def test_arms_may_be_the_values_of_a_parameter_or_the_names() -> None:
    """The mapping is the user's; without a baseline three arms are not compared."""
    text = "fixture,lib,repetition,time_us\nf,x,1,10\nf,y,1,9\nf,z,1,8\n"
    told = Told(arm_from="lib", baseline="x")
    assert [("y", 0.9), ("z", 0.8)] == [(one.arm, one.cells[0].ratio) for one in compared(text, told)]
    assert compared(text, Told(arm_from="lib")) == []
    found = [(1, one) for one in gather([FOLDER / "own/hyperfine-two.json"]).found[0].source.benchmarks]
    assert compare(found, Told()) == []
    named = Told(arm_from="name", baseline="sleep 0.1")
    sleeps = compare(arranged([gather([FOLDER / "own/hyperfine-two.json"]).found[0].source], named), named)
    assert [0.205 / 0.11] == [pytest.approx(one.cells[0].ratio, rel=1e-12) for one in sleeps]


def test_the_middle_is_the_mean_of_two_for_an_even_count() -> None:
    """And none of none."""
    assert [None, 2.0, 2.5] == [middle(values) for values in ([], [3.0, 1.0, 2.0], [4.0, 1.0, 3.0, 2.0])]


def test_a_command_line_that_spells_its_arm_out_meets_its_counterpart() -> None:
    """What hyperfine substitutes for a parameter stands in the name too; only that word is taken for the arm, and what is alike beyond it is one fixture."""
    rows = [
        {
            "command": f"{tool} --level {level} {tool}.txt",
            "parameters": {"tool": tool, "level": str(level)},
            "times": [at, at + 1.0],
        }
        for tool, at in (("a", 1.0), ("b", 3.0))
        for level in (1, 2)
    ]
    text = json.dumps({"results": rows})
    (found,) = compared(text, Told(arm_from="tool"))
    assert ["{tool} --level 1 {tool}.txt", "{tool} --level 2 {tool}.txt"] == [cell.fixture for cell in found.cells]
    assert [3.5 / 1.5] * 2 == [cell.ratio for cell in found.cells]
    assert compared(text.replace("a.txt", "other.txt"), Told(arm_from="tool")) == []
