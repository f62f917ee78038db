"""The whole analysis at seed scale and a hundredfold, beside plain pandas medians: ``python benchmarks/analysis_speed.py``.

Each size runs in a process of its own, whose peak memory is read before and after. The peer computes, with pandas
alone, the medians of pair ratios over repetitions and cells: no interval, no bootstrap, no verdict. The program runs on
one core; budgets are held against its processor seconds, which a busy machine stretches less than the wall clock.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

import numpy as np
import numpy.typing as npt
import pandas as pd

from reportgen.analysis.analyse import analyse
from reportgen.analysis.pairing import DeviceRows
from reportgen.model.experiment import Arm, Comparison, Experiment, Role
from reportgen.model.plan import Plan, PlanFixture, Slice

REPETITIONS = 12
CANDIDATES = 10
FIXTURES = 107  # with 12 comparisons each: 1,284 cells

SCALES = (1, 10, 100)
BUDGET_S = {1: 0.3, 100: 15.0}
BUDGET_MIB = 1024
KIB_PER_MIB = 1024


def arms() -> list[Arm]:
    """Incumbent, ten candidates and two nulls: twelve comparisons against one baseline."""
    candidates = [
        Arm(name=f"candidate_{at}", role=Role.CANDIDATE, idea="made", control="incumbent") for at in range(CANDIDATES)
    ]
    nulls = [Arm(name=f"null_{at}", role=Role.NULL, idea="the same", of="incumbent") for at in range(2)]
    return [Arm(name="incumbent", role=Role.INCUMBENT, idea="in use"), *candidates, *nulls]


def made_plan(scale: int) -> Plan:
    """Plan of 107 x ``scale`` fixtures in two slices."""
    names = [f"case={at}" for at in range(FIXTURES * scale)]
    made_arms = arms()
    return Plan(
        schema_version=1,
        name="made",
        digest="0123456789abcdef" * 4,
        order_method="none",
        backend_options=[],
        files=[],
        experiment=Experiment(
            schema_version=1, title="made", question="speed", backend="fake", arms=made_arms, axes={"case": [0]}
        ),
        fixtures=[PlanFixture(name=name, values={"case": at}, seed=at) for at, name in enumerate(names)],
        slices=[Slice(name=f"part={part}", values={}, fixtures=names[part::2]) for part in range(2)],
        arms_by_fixture={name: [arm.name for arm in made_arms] for name in names},
        peers_by_fixture={},
        comparisons=[Comparison(candidate=arm.name, baseline="incumbent") for arm in made_arms[1:]],
    )


def made_rows(plan: Plan) -> DeviceRows:
    """Batches of one device: a process effect of 0.1 %, noise of 0.15 % a batch, one tenth of a percent an arm."""
    names = [arm.name for arm in plan.experiment.arms]
    shape = (REPETITIONS, len(plan.fixtures), 2, len(names))
    random = np.random.default_rng(7)
    repetition, fixture, half, arm = (axis.reshape(-1) for axis in np.indices(shape, dtype=np.int32))
    process = random.normal(0, 0.001, (REPETITIONS, len(names)))[repetition, arm]
    noise = random.normal(0, 0.0015, len(arm))
    elapsed_ns = np.rint(2e6 * (1 + process + noise - 0.001 * arm)).astype(np.int64)
    fixture_names = [one.name for one in plan.fixtures]
    same = np.zeros_like(arm)
    return DeviceRows(
        device="made",
        model="board",
        batches=pd.DataFrame(
            {
                "mode": _named(same, ["process"]),
                "group": _named(same, ["main"]),
                "fixture": _named(fixture, fixture_names),
                "arm": _named(arm, names),
                "repetition": repetition + np.int32(1),
                "pass": half + np.int32(1),
                "position": np.where(half == 0, arm + 1, len(names) - arm).astype(np.int32),
                "launches": np.full(len(arm), 200, dtype=np.int64),
                "elapsed_ns": elapsed_ns,
                "warmup": np.zeros(len(arm), dtype=bool),
                "tag": _named(same, [""]),
            }
        ),
    )


def _named(codes: npt.NDArray[np.int32], names: list[str]) -> pd.Categorical[str]:
    return pd.Categorical.from_codes(codes.tolist(), categories=pd.Index(names))


def pandas_medians(batches: pd.DataFrame) -> pd.Series:
    """Headline of every comparison by plain groupby: mean of both passes, ratio, median over repetitions, then cells."""
    times = batches.assign(time=batches["elapsed_ns"] / batches["launches"])
    cells = times.groupby(["fixture", "arm", "repetition"], observed=True)["time"].mean().unstack("arm")  # noqa: PD010 - pivot_table would aggregate twice
    ratios = cells.div(cells["incumbent"], axis=0)
    return ratios.groupby("fixture", observed=True).median().median()


def peak_mib() -> float:
    """Peak resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / KIB_PER_MIB


def measure(scale: int) -> dict[str, float]:
    """Analyse a made record of one scale; seconds of wall clock and of processor, peak memory, and the peer's time."""
    plan = made_plan(scale)
    rows = made_rows(plan)
    loaded_mib, taken = peak_mib(), []
    for _ in range(5 if scale == 1 else 1):
        wall, processor = time.perf_counter(), time.process_time()
        result = analyse(plan, [rows])
        taken.append((time.process_time() - processor, time.perf_counter() - wall))
    peak = peak_mib()
    began = time.process_time()
    pandas_medians(rows.batches)
    return {
        "scale": scale,
        "cells": sum(len(comparison.cells) for comparison in result.comparisons),
        "rows": len(rows.batches),
        "processor_s": min(taken)[0],
        "wall_s": min(taken)[1],
        "pandas_s": time.process_time() - began,
        "loaded_mib": loaded_mib,
        "peak_mib": peak,
    }


def main() -> int:
    """Run every scale and print the table; 1 if a budget is missed."""
    print(f"{FIXTURES} fixtures x {CANDIDATES + 2} comparisons x scale, 12 repetitions")
    print("| cells | rows | wall, s | processor, s | pandas medians, s | ratio | peak MiB (of it loaded) | budget |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    found = []
    for scale in SCALES:
        answer = subprocess.run([sys.executable, __file__, str(scale)], check=True, capture_output=True, text=True)
        found.append(json.loads(answer.stdout))
        one = found[-1]
        budget = f"{BUDGET_S[scale]} s" if scale in BUDGET_S else ""
        print(
            f"| {one['cells']:,} | {one['rows']:,} | {one['wall_s']:.2f} | {one['processor_s']:.2f} | {one['pandas_s']:.2f}"
            f" | {one['processor_s'] / one['pandas_s']:.1f} | {one['peak_mib']:.0f} ({one['loaded_mib']:.0f}) | {budget} |"
        )
    growth = found[-1]["processor_s"] / found[1]["processor_s"]
    print(f"tenfold the cells take {growth:.1f} times as long")
    missed = [one for one in found if one["processor_s"] > BUDGET_S.get(int(one["scale"]), float("inf"))]
    return 1 if missed or found[-1]["peak_mib"] > BUDGET_MIB else 0


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measure(int(sys.argv[1]))))
    else:
        sys.exit(main())
