"""A complete matrix of made batches, of any size, as benchmarks of the analysis need it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reportgen.analysis.pairing import DeviceRows
from reportgen.model.experiment import Arm, Comparison, Experiment, Role
from reportgen.model.plan import Plan, PlanFixture, Slice

REPETITIONS = 12
CANDIDATES = 10
FIXTURES = 107  # with 12 comparisons each: 1,284 cells


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
    fixture_names = np.array([one.name for one in plan.fixtures], dtype=object)
    return DeviceRows(
        device="made",
        model="board",
        batches=pd.DataFrame(
            {
                "mode": _constant("process", len(arm)),
                "group": _constant("main", len(arm)),
                "fixture": pd.Categorical.from_codes(fixture, fixture_names),
                "arm": pd.Categorical.from_codes(arm, names),
                "repetition": repetition + np.int32(1),
                "pass": half + np.int32(1),
                "position": np.where(half == 0, arm + 1, len(names) - arm).astype(np.int32),
                "launches": np.full(len(arm), 200, dtype=np.int64),
                "elapsed_ns": elapsed_ns,
                "warmup": np.zeros(len(arm), dtype=bool),
                "tag": _constant("", len(arm)),
            }
        ),
    )


def _constant(text: str, rows: int) -> pd.Categorical:
    return pd.Categorical.from_codes(np.zeros(rows, dtype=np.int8), [text])
