"""The analysis and the plain program that readers get agree to the last digit, on records full of holes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pytest

from reportgen.analysis.analyse import analyse
from reportgen.analysis.pairing import DeviceRows
from reportgen.model.experiment import Arm, Comparison, Gate, GateKind, Role, Stage
from reportgen.model.plan import Plan
from reportgen.model.result import StageCell
from reportgen.publish.verify_numbers import recompute
from tests.analysis.made_records import device_rows, make_plan

FIXTURES = ("a", "b", "c", "d")
KINDS = (GateKind.EVERY_FIXTURE, GateKind.HEADLINE, GateKind.NO_REGRESSION)
ARMS = (
    Arm(name="incumbent", role=Role.INCUMBENT, idea="in use"),
    Arm(name="control", role=Role.CONTROL, idea="matched"),
    Arm(name="x", role=Role.CANDIDATE, idea="new", control="control"),
    Arm(name="y", role=Role.CANDIDATE, idea="newer", control="incumbent"),
    Arm(name="null", role=Role.NULL, idea="again", of="incumbent"),
    Arm(name="null_control", role=Role.NULL, idea="again", of="control"),
)
STAGE = Stage(experiment="other", plan="ab" * 32, arm="deleted", vs="whole", repeats=2)
ASKED = (
    ("x", "incumbent"),
    ("x", "control"),
    ("y", "incumbent"),
    ("control", "incumbent"),
    ("null", "incumbent"),
    ("null_control", "control"),
)
PARTS = ("comparisons", "noise", "gates", "promotions", "positions", "times")


@pytest.mark.parametrize("seed", range(12))
def test_two_programs_give_the_same_digits(seed: int) -> None:
    """One to three boards of up to two models, 1 to 14 repetitions, missing batches, failed arms, filters and gates."""
    random = np.random.default_rng(seed)
    plan = random_plan(random, sliced=bool(seed % 2))
    rows = [random_board(random, device) for device in range(1 + seed % 3)]
    stages = random_stages(random)
    ours = msgspec.to_builtins(analyse(plan, rows, stages=stages))
    theirs = recompute(msgspec.to_builtins(plan), as_facts(rows), stages=msgspec.to_builtins(stages))

    for part in PARTS:
        assert filled(ours[part]) == filled(theirs[part]), part


def random_plan(random: np.random.Generator, *, sliced: bool) -> Plan:
    """Ask every comparison and gate, with a smallest effect of 0, 0.2 or 0.5 %."""
    gates = [
        Gate(name=f"{kind}_{unit}", kind=kind, arms=["x", "y"], vs=vs, threshold=threshold, quantity=unit, repeats=3)
        for kind in KINDS
        for unit, threshold, vs in (("ratio", 0.01, "incumbent"), ("saved_ns", 500.0, "control"))
    ]
    gates.append(Gate(name="band", kind=GateKind.BAND, arms=["x", "y"], vs="incumbent", threshold=0.002, axis="case"))
    gates.append(
        Gate(
            name="top",
            kind=GateKind.CEILING,
            arms=["x", "y"],
            vs="control",
            threshold=1e4,
            quantity="saved_ns",
            stage=STAGE,
        )
    )
    comparisons = [Comparison(candidate=arm, baseline=baseline) for arm, baseline in ASKED]
    comparisons.append(Comparison(candidate="y", baseline="incumbent", where={"case": ["a", "b"]}))
    return make_plan(
        ARMS,
        FIXTURES,
        comparisons,
        gates=gates,
        slices={"part=1": ["a", "b", "c"], "part=2": ["d"]} if sliced else None,
        smallest_effect=float(random.choice([0, 0.002, 0.005])),
        digest=random.bytes(32).hex(),
    )


def random_stages(random: np.random.Generator) -> list[StageCell]:
    """Draw what another record holds on boards of either model: 5 to 12 repetitions with a hole now and then."""
    found = []
    for device, model, fixture in (("p", "one", "wide"), ("q", "one", "narrow"), ("r", "two", "wide")):
        count = int(random.integers(5, 13))
        base = [None if random.random() < 0.05 else float(random.normal(1e5, 100)) for _ in range(count)]
        cell = {"device": device, "model": model, "fixture": fixture, "arm": STAGE.arm, "baseline": STAGE.vs}
        times = [None if time is None else time - float(random.normal(8e3, 500)) for time in base]
        found.append(StageCell(gate="top", plan=STAGE.plan, **cell, arm_ns=times, baseline_ns=base))
    return found


def random_board(random: np.random.Generator, device: int) -> DeviceRows:
    """Draw times around 1 ms with effects, noise and holes."""
    repetitions, missing = int(random.integers(1, 15)), float(random.choice([0, 0.05, 0.3]))
    noise = float(random.choice([0.0005, 0.003]))
    effect = {arm.name: 1 + float(random.normal(0, 0.01)) * (arm.role is not Role.NULL) for arm in ARMS}

    def batch(arm: str) -> int | None:
        elapsed_ns = int(1e6 * effect[arm] * random.normal(1, noise))
        return None if random.random() < missing else elapsed_ns

    times = {
        fixture: {arm.name: [[batch(arm.name), batch(arm.name)] for _ in range(repetitions)] for arm in ARMS}
        for fixture in FIXTURES
    }
    failed = ["y"] if random.random() < 0.2 else []
    return device_rows(f"board{device}", times, launches=7, model="one" if device < 2 else "two", failed=failed)


def as_facts(rows: Sequence[DeviceRows]) -> dict[str, Any]:
    """Say the rows as the second program reads them."""
    facts: dict[str, Any] = {}
    for device in rows:
        halves: dict[tuple[str, str, str, int], dict[int, tuple[float, int]]] = defaultdict(dict)
        for row in device.batches.to_dict("records"):
            place = (row["group"], row["fixture"], row["arm"], row["repetition"])
            halves[place][row["pass"]] = (row["elapsed_ns"] / row["launches"], row["position"])
        facts[device.device] = {
            "id": device.device,
            "model": device.model,
            "failed": set(device.failed),
            "halves": halves,
            "repetitions": {"main": set(device.batches["repetition"]), "peer": set()},
        }
    return facts


def filled(value: Any) -> Any:
    """Leave out what is empty or absent: one program writes null where the other writes nothing."""
    if isinstance(value, dict):
        return {key: filled(part) for key, part in value.items() if part not in (None, [], {})}
    return [filled(part) for part in value] if isinstance(value, list) else value
