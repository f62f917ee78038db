"""The page's own road through the golden cases: all of them, from CSV text to verdicts, in a real browser."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.publish.test_verify_cases import Facts, cases, check_record, close, plan_of, rows_of

RUN = """async ({name, given}) => {
  const rules = await import("/static/check-rules.js"), record = {};
  for (const row of rules.read(given.csv)) rules.gather(record, given.manifests, row, given.whole);
  for (const device of Object.values(record)) device.failed = given.failed;
  const found = await rules.recompute(given.results, record, () => null);
  return found.map(one => ({...one.result, floor: one.floor}));
}"""


@pytest.fixture(scope="module")
def page(browser: Browser, address: str) -> Iterator[Page]:
    """Open a page of the site, under its policy, from which the rules can be imported."""
    with browser.new_context() as context:
        opened = context.new_page()
        opened.goto(address)
        yield opened


def asked_of(page: Page, given: Facts, *, whole: bool = False) -> Facts:
    """Send a case down the page's road."""
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
    program = """async ({x, levels}) => {
      const {ends, law} = await import("/static/check-rules.js");
      return ends(law(x.length).map(([i, j, ways]) => [(x[i - 1] + x[j - 1]) / 2, ways]), levels);
    }"""
    levels = [round(40 * given["low_level"]), round(40 * given["high_level"])]
    ends = page.evaluate(program, {"x": sorted(given["sample"]), "levels": levels})
    assert close([expected["low"], expected["high"]], [ends["low"], ends["high"]])
    assert close(expected["median"], called(page, "median", given["sample"]))
