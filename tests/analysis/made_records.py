"""Small records to compute with: a plan and its rows from times by device, fixture, arm, repetition and half."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from reportgen.analysis.pairing import DeviceRows
from reportgen.model.experiment import Arm, Comparison, Experiment, Gate, Role
from reportgen.model.plan import Plan, PlanFixture, Slice

DIGEST = "0123456789abcdef" * 4
Times = Mapping[str, Mapping[str, Mapping[str, Sequence[Sequence[float | None] | None]]]]


def make_plan(  # noqa: PLR0913 - a factory: every test names only what it is about
    arms: Sequence[Arm],
    fixtures: Sequence[str],
    comparisons: Sequence[Comparison],
    *,
    smallest_effect: float = 0.005,
    gates: Sequence[Gate] = (),
    slices: Mapping[str, Sequence[str]] | None = None,
    timed: Mapping[str, Sequence[str]] | None = None,
    peers: Mapping[str, Sequence[str]] | None = None,
    digest: str = DIGEST,
) -> Plan:
    """Write out a plan over one axis, ``case``, whose values are the fixtures."""
    experiment = Experiment(
        schema_version=1,
        title="made",
        question="none",
        backend="fake",
        arms=list(arms),
        axes={"case": list(fixtures)},
        gates=list(gates),
        smallest_effect=smallest_effect,
    )
    parts = slices or {"all": fixtures}
    everything = {name: [arm.name for arm in arms] for name in fixtures}
    return Plan(
        schema_version=1,
        name="made",
        digest=digest,
        order_method="none",
        backend_options=[],
        files=[],
        experiment=experiment,
        fixtures=[PlanFixture(name=name, values={"case": name}, seed=1) for name in fixtures],
        slices=[Slice(name=name, values={}, fixtures=list(members)) for name, members in parts.items()],
        arms_by_fixture={name: list(names) for name, names in (timed or everything).items()},
        peers_by_fixture={name: list(names) for name, names in (peers or {}).items()},
        comparisons=list(comparisons),
    )


def device_rows(  # noqa: PLR0913 - a factory: every test names only what it is about
    device: str,
    times: Mapping[str, Mapping[str, Sequence[Sequence[float | None] | None]]],
    *,
    launches: Mapping[str, int] | int = 10,
    failed: Sequence[str] = (),
    tags: Mapping[tuple[str, int, str, int], str] | None = None,
    group: str = "main",
    model: str = "board",
) -> DeviceRows:
    """Rows of one device; ``tags`` are by fixture, repetition, arm and half, each counted from 1."""
    rows: list[dict[str, Any]] = []
    for fixture, by_arm in times.items():
        for position, (arm, repetitions) in enumerate(by_arm.items(), start=1):
            for repetition, pair in enumerate(repetitions, start=1):
                for half, elapsed in enumerate(pair or (), start=1):
                    if elapsed is not None:
                        rows.append(
                            {
                                "mode": "peer" if group == "peer" else "process",
                                "group": group,
                                "fixture": fixture,
                                "arm": arm,
                                "repetition": repetition,
                                "pass": half,
                                "position": position if half == 1 else len(by_arm) + 1 - position,
                                "launches": launches if isinstance(launches, int) else launches[fixture],
                                "elapsed_ns": elapsed,
                                "warmup": False,
                                "tag": (tags or {}).get((fixture, repetition, arm, half), ""),
                            }
                        )
    return DeviceRows(device=device, model=model, batches=pd.DataFrame(rows), failed=frozenset(failed))


def vector_plan(case: Mapping[str, Any]) -> Plan:
    """Plan of a golden case: nulls repeat ``incumbent``, or the baseline where there is none of that name."""
    inputs = case["input"]
    baseline, incumbent = inputs["baseline"], inputs.get("incumbent", inputs["baseline"])
    candidates = inputs.get("candidates", [inputs.get("candidate")])
    arms = [Arm(name=incumbent, role=Role.INCUMBENT, idea="in use")]
    if incumbent != baseline:
        arms.append(Arm(name=baseline, role=Role.CONTROL, idea="matched"))
    arms += [Arm(name=name, role=Role.CANDIDATE, idea="an idea", control=baseline) for name in candidates]
    arms += [Arm(name=name, role=Role.NULL, idea="the same", of=incumbent) for name in inputs.get("nulls", [])]
    return make_plan(
        arms,
        list(inputs["launches"]),
        [Comparison(candidate=name, baseline=baseline) for name in candidates],
        smallest_effect=inputs.get("smallest_effect", 0.005),
    )


def vector_rows(case: Mapping[str, Any], *, tagged: bool = True) -> list[DeviceRows]:
    """Rows of a golden case; its left-out rows carry their tag unless ``tagged`` is false."""
    inputs = case["input"]
    return [
        device_rows(
            device,
            times,
            launches=inputs["launches"],
            failed=inputs.get("failed_checks", ()),
            tags={
                (fixture, repetition, arm, half): tag
                for of_device, fixture, repetition, arm, half, tag in inputs.get("left_out", [])
                if of_device == device and tagged
            },
        )
        for device, times in inputs["elapsed_ns"].items()
    ]
