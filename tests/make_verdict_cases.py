"""Make docs/verdict-cases.json from the test vectors: ``python tests/make_verdict_cases.py``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
VECTORS = HERE / "data" / "vectors"
GOLDEN = HERE.parent / "docs" / "verdict-cases.json"

ABOUT = [
    "Golden cases of the statistics: small inputs with the results that every program of this project must give.",
    "The rules are those of statistics.md. Every case has an id, a kind, an input, what is expected, and a comment on how the expected values were obtained.",
    "record: elapsed_ns[device][fixture][arm] lists repetitions as [first, mirrored] batches, null where missing; launches[fixture] holds for all arms; baseline is that of the comparisons of candidates; nulls repeat the arm `incumbent`, or `baseline` where that key is absent; smallest_effect is s; failed_checks names arms that failed a check. All devices are of one model and all fixtures of one slice. Expected: noise_floor and, by candidate, the fields listed; a field that is absent (device_p of one device, say) is not compared.",
    "left_out: a record with left_out rows [device, fixture, repetition from 1, arm, half from 1, tag]; expected with_all_rows and without_left_out_rows, each as for a record.",
    "refused: a record that must be refused; expected: the error, and the names that its message must hold.",
    "joint_bootstrap: a record with one candidate; the descriptive bootstrap of its headline at 2,000 draws must end at one of the listed values, whatever the plan's digest.",
    "median_law: the bootstrap law of the median of n values: [i, j, numerator] over n^n, or [i, j, probability] for the larger entries; ranks from 1.",
    "percentile: ends of that law for a sample at two levels: the smallest value whose cumulative share is at least the level.",
    "ranks: for n values and 90, 95, 99 %: rank of the order-statistic interval (null: the range is given), both indices from 1, exact coverage.",
    "Tolerance, absolute: 1e-12 for ratios, ends, p values, coverages and probabilities; counts, ranks, n, booleans, verdicts and reasons are exact.",
]


def verdict_cases() -> str:
    """Write out the text of docs/verdict-cases.json: one case a line."""
    cases = [_case(name, case) for name in sorted(_kinds()) for case in _read(name)]
    lines = ",\n".join(f"    {json.dumps(case, sort_keys=True)}" for case in cases)
    about = ",\n".join(f"    {json.dumps(line)}" for line in ABOUT)
    return f'{{\n  "schema_version": 1,\n  "about": [\n{about}\n  ],\n  "tolerance": 1e-12,\n  "cases": [\n{lines}\n  ]\n}}\n'


def _kinds() -> dict[str, str]:
    """Name the kind of each file's cases where a case does not tell."""
    return {
        "exact_median_law": "median_law",
        "headline": "record",
        "odd_cases": "record",
        "order_statistic_ranks": "ranks",
    }


def _read(name: str) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads((VECTORS / f"{name}.json").read_text())["cases"]
    return cases


def _case(name: str, case: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": f"{name}/{case['id']}",
        "kind": _kind(name, case),
        **{key: case[key] for key in ("input", "expected", "comment")},
    }


def _kind(name: str, case: dict[str, Any]) -> str:
    if case.get("kind") in ("percentile", "joint_bootstrap"):
        return str(case["kind"])
    if "error" in case["expected"]:
        return "refused"
    return "left_out" if "left_out" in case["input"] else _kinds()[name]


if __name__ == "__main__":
    GOLDEN.write_text(verdict_cases(), encoding="utf-8")
