"""A/A studies with known answers: plans of several modes, planted work and another harness, and what was timed under them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from reportgen.model.experiment import Arm, Experiment, Harness, Role
from reportgen.model.plan import Plan
from reportgen.model.protocol import Mode, Protocol
from reportgen.model.record import Repetition
from tests.factories import make_experiment, make_plan, make_rows

MODES = [Mode.PROCESS, Mode.LAYOUT, Mode.PLACEMENT]
KERNELS = ("copy", "gather", "tiny")
HARNESS = "stopwatch"
PLANTED = (0.002, 0.03, 1.0)
BASE_NS = {"copy": 33_000.0, "gather": 12_000.0, "tiny": 1_500.0}
LAUNCHES = 40


def study_arms(bases: int = 1, planted: Sequence[float] = PLANTED) -> list[Arm]:
    """Give ``bases`` incumbents with two nulls each, and a probe for each planted share."""
    arms = [Arm(name=f"base_{at}", role=Role.INCUMBENT, idea="the kernel", symbol="k") for at in range(1, bases + 1)]
    for at, which in product(range(1, bases + 1), "ab"):
        arms.append(Arm(name=f"null_{at}{which}", role=Role.NULL, idea="the kernel again", of=f"base_{at}"))
    for share in planted:
        name = f"planted_{round(share * 1000)}"
        arms.append(Arm(name=name, role=Role.PROBE, idea="more work", incumbent="base_1", planted=share))
    return arms


def study_experiment(  # noqa: PLR0913 - a factory's named defaults
    *,
    kernels: Sequence[str] = KERNELS,
    arms: Sequence[Arm] | None = None,
    repetitions: int = 24,
    modes: Sequence[Mode] = tuple(MODES),
    block_repetitions: int = 12,
    harness_repetitions: int = 4,
    **changes: Any,
) -> Experiment:
    """Give an A/A study of one fixture a kernel, a kernel a slice."""
    arms = list(arms or study_arms())
    timed = [arm.name for arm in arms if arm.name in ("base_1", "null_1a", "null_1b")]
    harnesses = [Harness(name=HARNESS, arms=timed, repetitions=harness_repetitions)] if harness_repetitions else []
    return make_experiment(
        title="What a repetition must be",
        question="How wrong is each way of measuring about identical code?",
        arms=arms,
        axes={"kernel": list(kernels)},
        slicing=["kernel"],
        protocol=Protocol(repetitions=repetitions, modes=list(modes), block_repetitions=block_repetitions),
        harnesses=harnesses,
        **changes,
    )


@dataclass
class Truth:
    """What a simulated device does, as shares of a time.

    ``within`` is noise of a repetition; ``offset`` is what one placement does to an arm, drawn anew a block in mode placement,
    a repetition in the others; ``process`` is what only a new process draws anew. ``offsets`` fixes an arm's offset in mode
    placement. ``work`` is the share of a kernel's time that planted work adds to; ``harness`` the noise of the other harness,
    which reads ``reads`` times the time.
    """

    within: float = 0.0004
    offset: float = 0.0
    process: float = 0.0
    offsets: Mapping[str, float] = field(default_factory=dict)
    work: float = 0.8
    harness: float = 0.02
    reads: float = 1.25


def study_rows(plan: Plan, truth: Truth, seed: int = 1) -> pd.DataFrame:
    """Give the scored rows of all modes and harnesses, with the columns that the analysis needs."""
    random = np.random.default_rng(seed)
    parts = [_mode_rows(plan, mode.value, truth, random) for mode in plan.experiment.protocol.modes]
    parts += [_harness_rows(plan, harness, truth, random) for harness in plan.experiment.harnesses]
    return pd.concat(parts, ignore_index=True)


def _times(plan: Plan, truth: Truth) -> npt.NDArray[np.float64]:
    """Give the true time of every arm on every fixture, fixtures x arms, in ns."""
    base = [BASE_NS.get(fixture.name.removeprefix("kernel="), 10_000.0) for fixture in plan.fixtures]
    arms = [1 + (arm.planted or 0) * truth.work for arm in plan.experiment.arms]
    return np.outer(base, arms)


def _mode_rows(plan: Plan, mode: str, truth: Truth, random: np.random.Generator) -> pd.DataFrame:
    protocol, arms = plan.experiment.protocol, plan.experiment.arms
    count, size = protocol.repetitions, protocol.block_repetitions
    shape = (count, len(plan.fixtures), len(arms))
    blocks = np.arange(count) // size

    def drawn(spread: float, *, a_block: bool) -> npt.NDArray[np.float64]:
        values = random.normal(0, spread, shape)
        return values[blocks * size] if a_block else values

    offset = drawn(truth.offset, a_block=mode == "placement") + drawn(truth.process, a_block=mode != "process")
    if mode == "placement":
        offset += np.array([truth.offsets.get(arm.name, 0.0) for arm in arms])
    times = _times(plan, truth) * (1 + offset) * (1 + random.normal(0, truth.within, shape))
    frames = []
    for number in (1, 2):
        at = np.indices(shape).reshape(3, -1)
        frames.append(
            pd.DataFrame(
                {
                    "mode": mode,
                    "group": "main",
                    "fixture": np.array([fixture.name for fixture in plan.fixtures])[at[1]],
                    "arm": np.array([arm.name for arm in arms])[at[2]],
                    "repetition": at[0] + 1,
                    "pass": number,
                    "position": at[2] + 1 if number == 1 else len(arms) - at[2],
                    "launches": LAUNCHES,
                    "elapsed_ns": np.rint(times.ravel() * LAUNCHES * 1000).astype(np.int64) // 1000,
                    "warmup": False,
                    "tag": "",
                }
            )
        )
    return pd.concat(frames, ignore_index=True)


def _harness_rows(plan: Plan, harness: Harness, truth: Truth, random: np.random.Generator) -> pd.DataFrame:
    times = _times(plan, truth)
    arms = [arm.name for arm in plan.experiment.arms]
    rows = [
        {
            "mode": harness.name, "group": "harness", "fixture": fixture.name, "arm": arm, "repetition": repetition,
            "pass": 1, "position": position, "launches": 100, "warmup": False, "tag": "",
            "elapsed_ns": round(
                100 * truth.reads * times[at, arms.index(arm)] * (1 + random.normal(0, truth.harness))
            ),
        }
        for repetition in range(1, harness.repetitions + 1)
        for at, fixture in enumerate(plan.fixtures)
        for position, arm in enumerate(harness.arms, start=1)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def study_repetitions(plan: Plan, truth: Truth, seed: int = 1) -> list[Repetition]:
    """Give what the processes of a study answered, as the journal takes it: checks ride in mode process alone."""
    rows = study_rows(plan, truth, seed)
    answered = make_rows(plan, repetitions=plan.experiment.protocol.repetitions)
    process = {one.repetition: one for one in answered}
    found = [process[0]]
    for (mode, repetition), own in rows.groupby(["mode", "repetition"], sort=False):
        batches = list(_whole(own))
        known = process[int(str(repetition))] if mode == "process" else None
        found.append(
            Repetition(
                repetition=int(str(repetition)),
                batches=batches,
                checks=known.checks if known else [],
                facts={"orders": _orders(batches)},
                mode=str(mode),
            )
        )
    return found


def _whole(rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Give every column that a backend fills in, in the order of measuring within a repetition."""
    own = rows.sort_values(["fixture", "pass", "position"], kind="stable")
    for at, row in enumerate(own.to_dict("records")):
        harness = row["group"] == "harness"
        yield {str(name): value for name, value in row.items()} | {
            "started_ns": at * 1_000_000, "lead_in": 0 if harness else 1, "block": 1, "load_1min": 0.25,
        }  # fmt: skip


def _orders(batches: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in batches:
        if row["pass"] == 1:
            found.setdefault(row["fixture"], []).append(row["arm"])
    return found


def study_plan(**changes: Any) -> Plan:
    """Give the frozen plan of :func:`study_experiment`."""
    return make_plan(study_experiment(**changes), name="null_study")
