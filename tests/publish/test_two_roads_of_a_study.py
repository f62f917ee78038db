"""An A/A study by the analysis and by the published program, written apart: the same on records full of holes."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import pytest

from reportgen.analysis.analyse import analyse
from reportgen.analysis.pairing import DeviceRows
from reportgen.model.plan import Plan
from reportgen.model.protocol import Mode
from reportgen.publish.verify import differences, results_of
from reportgen.publish.verify_null_study import share_ends
from tests.study_factory import MODES, Truth, study_arms, study_plan, study_rows


def drawn_plan(draw: random.Random) -> Plan:
    """Draw a plan: kernels of their own or one slice of all, with or without harness, planted work and placement."""
    plan = study_plan(
        kernels=["copy", "gather", "tiny"],
        arms=study_arms(draw.choice([1, 2]), planted=draw.choice([(), (0.01,), (0.002, 0.01, 1.0)])),
        modes=draw.choice([MODES, MODES[:2], [Mode.PROCESS, Mode.PLACEMENT]]),
        harness_repetitions=draw.choice([0, 3]),
    )
    if draw.random() < 0.3:
        whole = msgspec.structs.replace(plan.slices[0], name="all", values={}, fixtures=list(plan.arms_by_fixture))
        plan = msgspec.structs.replace(plan, slices=[whole])
    return plan


def drawn_rows(draw: random.Random, plan: Plan) -> pd.DataFrame:
    """Draw rows with gaps in them, an opening batch, and a repetition 2 of mode placement that 25 replaced."""
    truth = Truth(within=0.001, offset=0.002, process=0.001)
    rows = study_rows(plan, truth, seed=draw.randrange(1000))
    keep = np.random.default_rng(draw.randrange(1000)).random(len(rows)) > draw.choice([0.0, 0.0, 0.15])
    rows = rows[keep | (rows["group"] == "harness")]
    spare = rows[(rows["mode"] == "placement") & (rows["repetition"] == 2)].assign(repetition=25, elapsed_ns=70_000_000)
    opening = rows.head(1).assign(warmup=True)
    return pd.concat([opening, rows, spare], ignore_index=True)


@pytest.mark.parametrize("seed", range(10))
def test_both_roads_lead_to_the_same_study(seed: int) -> None:
    """Every field of it, to 1e-12."""
    draw = random.Random(seed)  # noqa: S311 - repeatable test data
    plan = drawn_plan(draw)
    rows, text, checks, manifests = [], [], [], {}
    for number, model in enumerate(draw.choice([["one"], ["one", "one"], ["one", "other"]])):
        name, frame = f"gpu{number}", drawn_rows(draw, plan)
        failed = draw.choice([[], [], ["null_1a"], ["base_1"]])
        lost = (frame["mode"] == "placement") & (frame["repetition"] == 2)
        kept = frame[~lost & ~frame["warmup"]]
        rows.append(DeviceRows(name, model, kept, frozenset(failed), {"placement": {25: 2}}))
        text += [as_text(row, name) for row in frame.to_dict("records")]
        checks += [{"device": name, "arm": arm, "passed": "false"} for arm in failed]
        left_out = [{"repetition": 2, "mode": "placement", "replaced_by": 25}]
        manifests[name] = {"device": {"id": name, "model": model}, "left_out": left_out}
    first = msgspec.json.decode(msgspec.json.encode(analyse(plan, rows)))
    second = results_of(text, checks, msgspec.json.decode(msgspec.json.encode(plan)), manifests)
    assert first["null_study"] is not None
    assert [] == list(differences(first["null_study"], second["null_study"], "study"))
    assert [] == list(differences(second["null_study"], first["null_study"], "study"))


def as_text(row: dict[Any, Any], device: str) -> dict[str, Any]:
    """Write a row as CSV gives it back."""
    text = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in row.items()}
    return text | {"line": 2, "device": device, "attempt": device}


@pytest.mark.parametrize(("count", "total"), [(0, 12), (12, 12), (17, 432), (250, 432), (431, 432)])
def test_the_interval_of_a_share_leaves_a_fortieth_on_either_side(count: int, total: int) -> None:
    """By the definition: the binomial tails at the two ends."""
    from scipy import stats  # noqa: PLC0415 - half a second to load

    low, high = share_ends(count, total)
    assert pytest.approx(0.025 if count else 1.0) == stats.binom.sf(count - 1, total, low)
    assert pytest.approx(0.025 if count < total else 1.0) == stats.binom.cdf(count, total, high)
