"""The published program's own road through the golden cases: all of them, from CSV rows to verdicts."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from reportgen.publish.verify import RefusedError, collect
from reportgen.publish.verify_intervals import median, median_law, order_interval, percentile_ends, rank_of
from reportgen.publish.verify_numbers import recompute

CASES = json.loads((Path(__file__).parents[2] / "docs" / "verdict-cases.json").read_text())["cases"]
TOLERANCE = 1e-12
Facts = dict[str, Any]


def cases(*kinds: str) -> list[Any]:
    """Give the cases of some kinds, named by their id."""
    return [pytest.param(case, id=case["id"]) for case in CASES if case["kind"] in kinds]


def close(expected: Any, found: Any) -> bool:
    """Compare numbers to the tolerance and all else exactly; of a mapping what is expected."""
    if isinstance(expected, dict):
        return all(close(value, found[key]) for key, value in expected.items())
    if isinstance(expected, list):
        return len(expected) == len(found) and all(map(close, expected, found))
    if isinstance(expected, float):
        return found is not None and abs(expected - found) <= TOLERANCE
    return bool(expected == found)


def plan_of(given: Facts) -> Facts:
    """Write a case as a plan: all fixtures in one slice, every null against the arm it repeats."""
    baseline = given["baseline"]
    original = given.get("incumbent", baseline)
    candidates, nulls = given.get("candidates", [given.get("candidate")]), given.get("nulls", [])
    roles = dict.fromkeys(candidates, "candidate") | dict.fromkeys(nulls, "null")
    roles |= {baseline: "control", original: "incumbent"}
    arms = [{"name": name, "role": role} | ({"of": original} if name in nulls else {}) for name, role in roles.items()]
    fixtures = list(given["launches"])
    return {
        "name": "case",
        "digest": "c0ffee" * 10 + "abcd",
        "experiment": {"arm": arms, "smallest_effect": given.get("smallest_effect", 0.005)},
        "fixtures": [{"name": name, "values": {}} for name in fixtures],
        "slices": [{"name": "all", "values": {}, "fixtures": fixtures}],
        "arms_by_fixture": {name: list(roles) for name in fixtures},
        "peers_by_fixture": {},
        "comparisons": [{"candidate": name, "baseline": baseline} for name in candidates],
    }


def rows_of(given: Facts) -> list[Facts]:
    """Write a case as rows of batches.csv."""
    tags = {tuple(entry[:5]): entry[5] for entry in given.get("left_out", [])}
    batches = [
        (device, fixture, repetition, arm, half, elapsed)
        for device, by_fixture in given["elapsed_ns"].items()
        for fixture, by_arm in by_fixture.items()
        for arm, repetitions in by_arm.items()
        for repetition, pair in enumerate(repetitions, start=1)
        for half, elapsed in enumerate(pair or [], start=1)
        if elapsed is not None
    ]
    return [
        {
            "line": line, "device": device, "attempt": device, "mode": "process", "group": "main", "fixture": fixture,
            "arm": arm, "repetition": str(repetition), "pass": str(half), "position": "1", "warmup": "false",
            "launches": str(given["launches"][fixture]), "elapsed_ns": str(elapsed),
            "tag": tags.get((device, fixture, repetition, arm, half), ""),
        }
        for line, (device, fixture, repetition, arm, half, elapsed) in enumerate(batches, start=2)
    ]  # fmt: skip


def computed(given: Facts, *, everything: bool = False) -> Facts:
    """Send a case down the program's road."""
    devices = list(given["elapsed_ns"])
    manifests = {name: {"device": {"id": name, "model": "one model"}, "left_out": []} for name in devices}
    failed = {name: set(given.get("failed_checks", [])) for name in devices}
    plan = plan_of(given)
    return recompute(plan, collect(rows_of(given), plan, manifests, failed, everything=everything))


def check_record(expected: Facts, found: Facts) -> None:
    """Hold a computed record against a case, field by field."""
    if expected.get("noise_floor") is not None:
        assert close(expected["noise_floor"], found["noise"][0]["floor"])
    by_arm = {result["arm"]: result for result in found["comparisons"]}
    for arm, fields in expected["comparisons"].items():
        result = by_arm[arm]
        cells = {f"{cell['device']}/{cell['fixture']}": cell for cell in result["cells"]}
        devices = {device["device"]: device for device in result.get("devices", [])}
        pooled = result.get("order_interval")
        told = result | {
            "pair_ratio": {name: cell["pair_ratio"] for name, cell in cells.items()},
            "cell_ratio": {name: cell["ratio"] for name, cell in cells.items()},
            "h": {name: device["h"] for name, device in devices.items()},
            "device_intervals": {
                name: [device["interval"]["low"], device["interval"]["high"]] for name, device in devices.items()
            },
            "order_interval": pooled and [pooled["low"], pooled["high"]],
        }
        for field, value in fields.items():
            assert close(value, told.get(field)), f"{arm}, {field}: {value} expected, {told.get(field)} found"


@pytest.mark.parametrize("case", cases("record"))
def test_a_record_gives_its_verdicts(case: Facts) -> None:
    """Ratios, intervals, p, Holm, verdicts and reasons."""
    check_record(case["expected"], computed(case["input"]))


@pytest.mark.parametrize("case", cases("left_out"))
def test_tagged_rows_count_or_do_not(case: Facts) -> None:
    """The line with and the line without."""
    check_record(case["expected"]["without_left_out_rows"], computed(case["input"]))
    check_record(case["expected"]["with_all_rows"], computed(case["input"], everything=True))


@pytest.mark.parametrize("case", cases("refused"))
def test_an_impossible_record_is_refused(case: Facts) -> None:
    """Nothing is computed; the sentence names device, fixture, arm and repetition."""
    with pytest.raises(RefusedError) as refusal:
        computed(case["input"])
    for name in (case["expected"]["error"].split(" ")[0], *case["expected"]["names"]):
        assert name in str(refusal.value)


@pytest.mark.parametrize("case", cases("joint_bootstrap"))
def test_the_headline_is_resampled_jointly(case: Facts) -> None:
    """The ends are among those that an honest draw can give."""
    found = computed(case["input"])["comparisons"][0]["bootstrap"]
    assert any(close(end, found["low"]) for end in case["expected"]["low_of_2000_draws_is_one_of"])
    assert any(close(end, found["high"]) for end in case["expected"]["high_of_2000_draws_is_one_of"])


@pytest.mark.parametrize("case", cases("ranks"))
def test_ranks_and_coverage_are_exact(case: Facts) -> None:
    """At 90, 95 and 99 %."""
    n = case["input"]["n"]
    for level, expected in case["expected"].items():
        assert rank_of(n, sides=200 // (100 - int(level))) == expected["rank"]
    at = order_interval([float(value) for value in range(1, n + 1)])
    expected = case["expected"]["95"]
    assert (expected["low_index"], expected["high_index"]) == (at["low"], at["high"])
    assert close(expected["coverage"], at["coverage"])


@pytest.mark.parametrize("case", cases("median_law"))
def test_the_law_of_the_median_is_exact(case: Facts) -> None:
    """Whole numbers where they are listed, shares for the larger entries."""
    n = case["input"]["n"]
    law = {(i, j): ways for i, j, ways in median_law(n) if ways}
    assert sum(law.values()) == n**n
    for i, j, ways in case["expected"].get("numerators", []):
        assert law[i, j] == ways
    for i, j, share in case["expected"].get("pmf", []):
        assert close(share, float(Fraction(law[i, j], n**n)))
    assert len(law) == case["expected"].get("entries", len(law))


@pytest.mark.parametrize("case", cases("percentile"))
def test_percentile_ends_of_a_sample_are_exact(case: Facts) -> None:
    """Ties, equal values, an outlier."""
    given, expected = case["input"], case["expected"]
    ordered = sorted(given["sample"])
    law = median_law(len(ordered))
    fortieths = (round(40 * given["low_level"]), round(40 * given["high_level"]))
    medians = [(ordered[i - 1] + ordered[j - 1]) / 2 for i, j, _ in law]
    ends = percentile_ends(medians, [ways for *_, ways in law], fortieths)
    assert close([expected["low"], expected["high"]], [ends["low"], ends["high"]])
    assert close(expected["median"], median(ordered))


def test_no_case_was_passed_over() -> None:
    """Every kind has a test above."""
    kinds = ("record", "left_out", "refused", "joint_bootstrap", "ranks", "median_law", "percentile")
    assert len(CASES) == sum(len(cases(kind)) for kind in kinds) == 60
