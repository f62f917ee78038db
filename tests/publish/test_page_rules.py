"""The page's own road through the golden cases: all of them, from CSV text to verdicts, in a real browser."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from reportgen.analysis.analyse import analyse
from reportgen.analysis.bootstrap import headline_bootstrap
from reportgen.analysis.median import Samples, order_rank
from reportgen.analysis.median import median_law as exact_law
from reportgen.analysis.views import slice_views
from reportgen.publish.verify_intervals import median_law, percentile_ends, rank_of
from tests.analysis.made_records import vector_plan, vector_rows
from tests.analysis.test_golden_cases import fields_of
from tests.publish.test_verify_cases import CASES, Facts, cases, check_record, close, computed, plan_of, rows_of

RUN = """async ({name, given}) => {
  const rules = await import("/static/check-rules.js"), record = {};
  for (const row of rules.read(given.csv)) rules.gather(record, given.manifests, row, given.whole);
  for (const device of Object.values(record)) device.failed = given.failed;
  const found = await rules.recompute(given.results, record, () => null);
  return found.map(one => ({...one.result, floor: one.floor}));
}"""

ENDS = """async ({x, levels}) => {
  const {ends, law} = await import("/static/check-rules.js");
  return ends(law(x.length).map(([i, j, ways]) => [(x[i - 1] + x[j - 1]) / 2, ways]), levels);
}"""


@pytest.fixture(scope="module")
def page(browser: Browser, address: str) -> Iterator[Page]:
    """Open a page of the site, under its policy, from which the rules can be imported."""
    with browser.new_context() as context:
        opened = context.new_page()
        opened.goto(address)
        yield opened


ANSWERS: dict[tuple[str, bool], Facts] = {}


def asked_of(page: Page, given: Facts, *, whole: bool = False) -> Facts:
    """Send a case down the page's road, once."""
    key = (json.dumps(given, sort_keys=True), whole)
    if key not in ANSWERS:
        ANSWERS[key] = _asked_of(page, given, whole=whole)
    return ANSWERS[key]


def _asked_of(page: Page, given: Facts, *, whole: bool) -> Facts:
    plan, rows = plan_of(given), rows_of(given)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    roles = {arm["name"]: arm for arm in plan["experiment"]["arm"]}
    nulls = [{"null": name, "of": arm["of"]} for name, arm in roles.items() if arm["role"] == "null"]
    asked = [*plan["comparisons"], *({"candidate": one["null"], "baseline": one["of"]} for one in nulls)]
    comparisons = [
        {"arm": one["candidate"], "baseline": one["baseline"], "role": roles[one["candidate"]]["role"]} for one in asked
    ]
    shared = {"slice": "all", "fixtures": list(given["launches"])}
    results = {
        "plan": plan["digest"],
        "smallest_effect": plan["experiment"]["smallest_effect"],
        "comparisons": [one | shared for one in comparisons],
        "noise": nulls,
    }
    devices = list(given["elapsed_ns"])
    manifests = {name: {"device": {"id": name, "model": "one model"}, "left_out": []} for name in devices}
    sent = {"csv": text.getvalue(), "manifests": manifests, "failed": given.get("failed_checks", []), "whole": whole}
    found = page.evaluate(RUN, {"name": "record", "given": sent | {"results": results}})
    named = [one | result for one, result in zip(comparisons, found, strict=True)]
    return {"comparisons": named, "noise": [{"floor": found[0]["floor"]}]}


def called(page: Page, name: str, *values: Any) -> Any:
    """Call one rule; whole numbers beyond a double come as text."""
    program = """async ({name, values}) => {
      const found = (await import("/static/check-rules.js"))[name](...values);
      return JSON.parse(JSON.stringify(found ?? null, (_, v) => typeof v === "bigint" ? String(v) : v));
    }"""
    return page.evaluate(program, {"name": name, "values": list(values)})


@pytest.mark.parametrize("case", cases("record"))
def test_a_record_gives_its_verdicts(page: Page, case: Facts) -> None:
    """Ratios, intervals, p, Holm, verdicts and reasons."""
    check_record(case["expected"], asked_of(page, case["input"]))


@pytest.mark.parametrize("case", cases("left_out"))
def test_tagged_rows_count_or_do_not(page: Page, case: Facts) -> None:
    """The line with and the line without."""
    check_record(case["expected"]["without_left_out_rows"], asked_of(page, case["input"]))
    check_record(case["expected"]["with_all_rows"], asked_of(page, case["input"], whole=True))


@pytest.mark.parametrize("case", cases("refused"))
def test_an_impossible_record_is_refused(page: Page, case: Facts) -> None:
    """Nothing is computed; the sentence names device, fixture, arm and repetition."""
    with pytest.raises(Exception, match=case["expected"]["error"].split(" ")[0]) as refusal:
        asked_of(page, case["input"])
    for name in case["expected"]["names"]:
        assert name in str(refusal.value)


@pytest.mark.parametrize("case", cases("joint_bootstrap"))
def test_the_headline_is_resampled_jointly(page: Page, case: Facts) -> None:
    """The ends are among those that an honest draw can give."""
    found = asked_of(page, case["input"])["comparisons"][0]["bootstrap"]
    assert any(close(end, found["low"]) for end in case["expected"]["low_of_2000_draws_is_one_of"])
    assert any(close(end, found["high"]) for end in case["expected"]["high_of_2000_draws_is_one_of"])


@pytest.mark.parametrize("case", cases("ranks"))
def test_ranks_and_coverage_are_exact(page: Page, case: Facts) -> None:
    """At 90, 95 and 99 %."""
    n = case["input"]["n"]
    for level, expected in case["expected"].items():
        assert called(page, "rankOf", n, 200 // (100 - int(level))) == expected["rank"]
    at = called(page, "order", [float(value) for value in range(1, n + 1)])
    expected = case["expected"]["95"]
    assert (expected["low_index"], expected["high_index"]) == (at["low"], at["high"])
    assert close(expected["coverage"], at["coverage"])


@pytest.mark.parametrize("case", cases("median_law"))
def test_the_law_of_the_median_is_exact(page: Page, case: Facts) -> None:
    """Whole numbers where they are listed, shares for the larger entries."""
    n = case["input"]["n"]
    law = {(i, j): int(ways) for i, j, ways in called(page, "law", n) if int(ways)}
    assert sum(law.values()) == n**n
    for i, j, ways in case["expected"].get("numerators", []):
        assert law[i, j] == ways
    for i, j, share in case["expected"].get("pmf", []):
        assert close(share, float(Fraction(law[i, j], n**n)))
    assert len(law) == case["expected"].get("entries", len(law))


@pytest.mark.parametrize("case", cases("percentile"))
def test_percentile_ends_of_a_sample_are_exact(page: Page, case: Facts) -> None:
    """Ties, equal values, an outlier."""
    given, expected = case["input"], case["expected"]
    levels = [round(40 * given["low_level"]), round(40 * given["high_level"])]
    ends = page.evaluate(ENDS, {"x": sorted(given["sample"]), "levels": levels})
    assert close([expected["low"], expected["high"]], [ends["low"], ends["high"]])
    assert close(expected["median"], called(page, "median", given["sample"]))


def told_by(comparison: Facts) -> Facts:
    """Say a result of the page or of verify.py in the words of the golden cases."""
    cells = {f"{cell['device']}/{cell['fixture']}": cell for cell in comparison["cells"]}
    devices = {device["device"]: device for device in comparison.get("devices", [])}
    pooled = comparison.get("order_interval")
    return comparison | {
        "pair_ratio": {name: cell["pair_ratio"] for name, cell in cells.items()},
        "cell_ratio": {name: cell["ratio"] for name, cell in cells.items()},
        "h": {name: device["h"] for name, device in devices.items()},
        "device_intervals": {name: [one["interval"]["low"], one["interval"]["high"]] for name, one in devices.items()},
        "order_interval": pooled and [pooled["low"], pooled["high"]],
    }


def of_records(page: Page, case: Facts) -> tuple[Facts, list[Facts]]:
    """Give what is expected of each arm, and what the analysis, verify.py and the page say of it."""
    given = case["input"]
    result = analyse(vector_plan(case), vector_rows(case))
    first = {one.arm: fields_of(one) for one in result.comparisons}
    second = {one["arm"]: told_by(one) for one in computed(given)["comparisons"]}
    third = {one["arm"]: told_by(one) for one in asked_of(page, given)["comparisons"]}
    expected = case["expected"].get("without_left_out_rows", case["expected"])["comparisons"]
    return expected, [first, second, third]


def refusals(page: Page, case: Facts) -> list[str]:
    """Give the sentence by which each road refuses a case."""
    roads: list[Callable[[], Any]] = [
        lambda: analyse(vector_plan(case), vector_rows(case)),
        lambda: computed(case["input"]),
        lambda: asked_of(page, case["input"]),
    ]
    said = []
    for road in roads:
        with pytest.raises(Exception, match="must be ") as refusal:
            road()
        said.append(str(refusal.value))
    return said


def joint_ends(page: Page, case: Facts) -> list[list[float]]:
    """Give the ends of the joint bootstrap on each road, drawn from the same digest."""
    given = case["input"]
    (view,) = slice_views(vector_plan(case), vector_rows(case))
    paired = view.paired(given["candidate"], given["baseline"], view.fixtures)
    first = headline_bootstrap([times.ratios().values for times in paired], plan_of(given)["digest"])
    assert first is not None
    others = [road(given)["comparisons"][0]["bootstrap"] for road in (computed, lambda given: asked_of(page, given))]
    return [[first.low, first.high], *([one["low"], one["high"]] for one in others)]


def small_answers(page: Page, case: Facts) -> list[Any]:
    """Give what each road says of ranks, of the law of a median, and of the ends of a sample."""
    given = case["input"]
    if case["kind"] == "ranks":
        levels = [int(level) for level in case["expected"]]
        sides = [200 // (100 - level) for level in levels]
        first = [order_rank(given["n"], Fraction(level, 100)) for level in levels]
        return [
            first,
            [rank_of(given["n"], sides=one) for one in sides],
            [called(page, "rankOf", given["n"], one) for one in sides],
        ]
    if case["kind"] == "median_law":
        exact = exact_law(given["n"])
        places = [(int(i) + 1, int(j) + 1) for i, j in zip(exact.lower, exact.upper, strict=True)]
        laws = [
            [(place, int(ways)) for place, ways in zip(places, exact.numerators, strict=True)],
            [((i, j), int(ways)) for i, j, ways in median_law(given["n"])],
            [((i, j), int(ways)) for i, j, ways in called(page, "law", given["n"])],
        ]
        return [{place: ways for place, ways in law if ways} for law in laws]
    low, high = Samples.of(np.array([given["sample"]])).bootstrap_ends(
        (Fraction(str(given["low_level"])), Fraction(str(given["high_level"])))
    )
    ordered, fortieths = sorted(given["sample"]), [round(40 * given["low_level"]), round(40 * given["high_level"])]
    law = median_law(len(ordered))
    second = percentile_ends(
        [(ordered[i - 1] + ordered[j - 1]) / 2 for i, j, _ in law], [ways for *_, ways in law], tuple(fortieths)
    )
    third = page.evaluate(ENDS, {"x": ordered, "levels": fortieths})
    return [[float(low[0]), float(high[0])], *([one["low"], one["high"]] for one in (second, third))]


def test_all_three_roads_say_the_same_of_every_case(page: Page) -> None:
    """The analysis behind `reportgen verify`, the published program and the page: sixty cases, one page, one browser."""
    seen = 0
    for case in CASES:
        seen += 1
        if case["kind"] == "refused":
            assert all(name in said for said in refusals(page, case) for name in case["expected"]["names"]), case["id"]
        elif case["kind"] == "joint_bootstrap":
            first, *others = joint_ends(page, case)
            assert all(close(first, other) for other in others), case["id"]
        elif case["kind"] in ("record", "left_out"):
            expected, roads = of_records(page, case)
            for arm, fields in expected.items():
                for name, value in fields.items():
                    told = [road[arm].get(name) for road in roads]
                    assert all(close(value, one) for one in told), f"{case['id']}, {arm}, {name}: {value}, {told}"
        else:
            first, *others = small_answers(page, case)
            assert all(close(first, other) for other in others), case["id"]
    assert 60 == seen
