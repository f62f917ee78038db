"""Every golden case of docs/verdict-cases.json comes out as it must."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reportgen.analysis.analyse import analyse
from reportgen.analysis.bootstrap import headline_bootstrap
from reportgen.analysis.median import Samples, median_law, order_coverage, order_rank, outside_each_side
from reportgen.analysis.views import slice_views
from reportgen.errors import RecordError
from reportgen.model.result import ComparisonResult, NoiseResult
from tests.analysis.made_records import vector_plan, vector_rows
from tests.make_verdict_cases import GOLDEN, verdict_cases

CASES: list[dict[str, Any]] = json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"]
Case = dict[str, Any]


def of_kind(*kinds: str) -> pytest.MarkDecorator:
    """Parametrise a test by the golden cases of some kinds."""
    cases = [case for case in CASES if case["kind"] in kinds]
    return pytest.mark.parametrize("case", cases, ids=[case["id"] for case in cases])


def test_the_golden_file_is_what_the_vectors_give() -> None:
    """docs/verdict-cases.json is made, not edited."""
    assert verdict_cases() == GOLDEN.read_text(encoding="utf-8")


def test_all_sixty_vectors_are_golden_cases() -> None:
    """No vector is left behind on the way."""
    files = (Path(__file__).parents[1] / "data" / "vectors").glob("*.json")
    assert 60 == len(CASES) == sum(len(json.loads(file.read_text())["cases"]) for file in files)


@of_kind("record")
def test_a_record_gets_its_figures_verdict_and_reason(case: Case) -> None:
    """Ratios, intervals, p values, Holm, verdict and reason of whole small records."""
    result = analyse(vector_plan(case), vector_rows(case))

    _agree(case["expected"], result.comparisons, result.noise)


@of_kind("left_out")
def test_left_out_rows_are_missing_and_shown_both_ways(case: Case) -> None:
    """A tagged batch takes its pair with it; the comparison with all rows stands beside it."""
    plan = vector_plan(case)
    result = analyse(plan, vector_rows(case))
    untagged = analyse(plan, vector_rows(case, tagged=False))

    _agree(case["expected"]["without_left_out_rows"], result.comparisons, result.noise)
    _agree(case["expected"]["with_all_rows"], result.with_left_out, untagged.noise)
    assert untagged.comparisons == result.with_left_out


@of_kind("refused")
def test_a_record_that_cannot_be_is_refused_by_name(case: Case) -> None:
    """A time or a number of launches that is not positive refuses the record and names the batch."""
    with pytest.raises(RecordError) as refusal:
        analyse(vector_plan(case), vector_rows(case))

    assert case["expected"]["error"] in str(refusal.value)
    for name in case["expected"]["names"]:
        assert name in str(refusal.value)


@of_kind("joint_bootstrap")
@pytest.mark.parametrize("digest", ["00" * 32, "0123456789abcdef" * 4, "ff" * 32])
def test_the_joint_bootstrap_ends_where_enumeration_says(case: Case, digest: str) -> None:
    """2,000 draws of whole repetitions end at one of the admissible values, whatever the seed."""
    expected = case["expected"]
    (view,) = slice_views(vector_plan(case), vector_rows(case))
    pairs = [
        times.ratios().values
        for times in view.paired(case["input"]["candidate"], case["input"]["baseline"], view.fixtures)
    ]

    interval = headline_bootstrap(pairs, digest)

    assert interval is not None
    assert any(abs(interval.low - end) <= 1e-12 for end in expected["low_of_2000_draws_is_one_of"])
    assert any(abs(interval.high - end) <= 1e-12 for end in expected["high_of_2000_draws_is_one_of"])


@of_kind("median_law")
def test_the_law_of_the_median_is_exact(case: Case) -> None:
    """Counts over n^n resamples, by enumeration."""
    law = median_law(case["input"]["n"])
    entries = {
        (int(i) + 1, int(j) + 1): numerator
        for i, j, numerator in zip(law.lower, law.upper, law.numerators, strict=True)
    }
    expected = case["expected"]

    assert law.n**law.n == sum(entries.values())
    if "numerators" in expected:
        assert expected["denominator"] == law.n**law.n
        assert {(i, j): numerator for i, j, numerator in expected["numerators"]} == entries
    else:
        assert expected["entries"] == len(entries)
        for i, j, probability in expected["pmf"]:
            assert probability == pytest.approx(entries[i, j] / law.n**law.n, abs=1e-12)


@of_kind("percentile")
def test_percentile_ends_of_a_sample_are_those_of_the_exact_law(case: Case) -> None:
    """Ties are one atom; an end is the smallest value whose cumulative share reaches the level."""
    inputs, expected = case["input"], case["expected"]
    samples = Samples.of(np.array([inputs["sample"]]))
    low, high = samples.bootstrap_ends((_level(inputs["low_level"]), _level(inputs["high_level"])))

    assert expected["low"] == pytest.approx(low[0], abs=1e-12)
    assert expected["high"] == pytest.approx(high[0], abs=1e-12)
    assert expected["median"] == pytest.approx(samples.median()[0], abs=1e-12)


@of_kind("ranks")
def test_order_statistic_ranks_and_coverages_are_exact(case: Case) -> None:
    """Ranks at 90, 95 and 99 %; where none exists the range with its own coverage."""
    n = case["input"]["n"]
    for percent, expected in case["expected"].items():
        confidence = Fraction(int(percent), 100)
        rank = order_rank(n, confidence)

        assert expected["rank"] == rank
        assert (expected["low_index"], expected["high_index"]) == (rank or 1, n + 1 - (rank or 1))
        assert expected["coverage"] == pytest.approx(order_coverage(n, confidence), abs=1e-12)
        assert expected["outside_each_side"] == outside_each_side(n, rank or 1)


def _level(level: float) -> Fraction:
    return Fraction(str(level))


def _agree(expected: Case, comparisons: list[ComparisonResult], noise: list[NoiseResult]) -> None:
    floors = {line.floor for line in noise}
    assert {expected["noise_floor"]} == floors or expected["noise_floor"] == pytest.approx(floors.pop(), abs=1e-12)
    by_arm = {result.arm: result for result in comparisons}
    for arm, fields in expected["comparisons"].items():
        actual = fields_of(by_arm[arm])
        for name, value in fields.items():
            assert _approximately(value) == actual[name], f"{arm}: {name}"


def fields_of(result: ComparisonResult) -> Case:
    """Say the result in the words of the golden cases."""
    order = result.order_interval
    by_name: Case = {name: getattr(result, name) for name in result.__struct_fields__}
    return by_name | {
        "verdict": result.verdict.value,
        "reason": result.reason.value,
        "order_interval": None if order is None else [order.low, order.high],
        "pair_ratio": {f"{cell.device}/{cell.fixture}": cell.pair_ratio for cell in result.cells},
        "cell_ratio": {f"{cell.device}/{cell.fixture}": cell.ratio for cell in result.cells},
        "h": {device.device: device.h for device in result.devices},
        "device_intervals": {
            device.device: [device.interval.low, device.interval.high]
            for device in result.devices
            if device.interval is not None
        },
    }


def _approximately(value: Any) -> Any:
    """Compare floats of the value to 1e-12; everything else exact."""
    if isinstance(value, dict):
        return {key: _approximately(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_approximately(part) for part in value]
    return pytest.approx(value, abs=1e-12, rel=0) if isinstance(value, float) else value
