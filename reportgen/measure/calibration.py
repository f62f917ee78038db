"""Repetition 0: how many replays make every arm's batch long enough, found by treating all arms alike."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from reportgen.errors import WorkerError
from reportgen.measure.rig import Rig
from reportgen.measure.timing import block_readings, time_batch

ACCEPTED, AIMED = 1.1, 1.3  # multiples of the least length: later processes may run a little faster
MOST_GROWTH = 1000
MOST_STEPS = 60
ROUNDS = 3


def next_replays(replays: int, shortest_ns: int, least_ns: int) -> int:
    """Replays to try after ``replays`` lasted only ``shortest_ns``: at least twice as many, at most a thousand times."""
    solved = math.ceil(replays * AIMED * least_ns / max(shortest_ns, 1))
    return min(max(solved, 2 * replays), MOST_GROWTH * replays)


def calibrate(rig: Rig) -> dict[str, int]:
    """Replays of a batch by timed fixture; every step times all arms of the fixture the same number of times.

    Raises
    ------
    WorkerError
        No number of replays makes the shortest arm long enough.
    """
    return {fixture: _calibrate(rig, number, fixture) for number, fixture in enumerate(rig.job.block_order, start=1)}


def _calibrate(rig: Rig, block: int, fixture: str) -> int:
    replays, step = 1, 1
    _step(rig, block, fixture, replays, step)  # cold code and memory: long for reasons that will be gone
    while step < MOST_STEPS:
        rounds = [_step(rig, block, fixture, replays, step := step + 1) for _ in range(ROUNDS)]
        shortest_ns = shortest(rounds)
        if shortest_ns >= ACCEPTED * rig.job.least_batch_ns:
            return replays
        replays = next_replays(replays, shortest_ns, rig.job.least_batch_ns)
    raise WorkerError(
        f"no batch of {replays} replays is long enough",
        where=fixture,
        remedy="see that every arm but the floor does work",
    )


def shortest(rounds: Sequence[Mapping[str, int]]) -> int:
    """Nanoseconds of the quickest arm; of an arm's rounds the quickest counts, since a disturbance only lengthens."""
    return min(min(one[arm] for one in rounds) for arm in rounds[0])


def _step(rig: Rig, block: int, fixture: str, replays: int, step: int) -> dict[str, int]:
    """Time every arm once; nanoseconds of the batches that must be long enough, by arm."""
    rows: list[dict[str, Any]] = []
    before = rig.session.readings()
    for position, arm in enumerate(rig.order(fixture), start=1):
        rig.channel.at("calibrate", fixture, arm)
        row = time_batch(rig, fixture, arm, replays)[1]
        rows.append(row | {"pass": step, "position": position, "warmup": True, "block": block})
    state = block_readings(before, rig.session.readings())
    rig.channel.send("batches", rows=[row | state for row in rows])
    took_ns = {row["arm"]: int(row["elapsed_ns"]) for row in rows}
    counted = {arm: ns for arm, ns in took_ns.items() if rig.job.arm(arm).calibrated}
    return counted or took_ns
