"""From a record to what it says: the one place where archive and analysis meet."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reportgen.analysis.analyse import analyse
from reportgen.analysis.ceiling import stage_cells
from reportgen.analysis.differing import Side
from reportgen.analysis.gates import Moments
from reportgen.analysis.pairing import DeviceRows
from reportgen.archive.load import Attempt, load_attempt, sound_attempts
from reportgen.archive.select import Record, find_shown, records
from reportgen.errors import InputError
from reportgen.model.plan import Plan
from reportgen.model.protocol import Mode
from reportgen.model.record import PEER
from reportgen.model.result import Result, StageCell

INTERIM_DEVICE = "this device"
DECIDING = (Mode.PROCESS.value, PEER)


def score(record: Record, stages: Sequence[StageCell] = ()) -> Result:
    """Compute everything that a record says; ``stages`` is what its ceiling gates rest on (:func:`stages_of`).

    Raises
    ------
    RecordError
        A file of an attempt is damaged, or its rows are no record of the plan.
    """
    return score_attempts(record.plan, record.attempts, stages)


def stages_of(plan: Plan, others: Sequence[Record]) -> list[StageCell]:
    """Take what the ceiling gates of a plan rest on from the records that they name; nothing of one that is not there.

    Of several records with one plan the one that began first speaks. Raises as :func:`score`.
    """
    found: list[StageCell] = []
    for gate in plan.experiment.gates:
        for record in stage_records(plan, others, gate.name):
            rows = [device_rows(attempt, left_out=False) for attempt in record.attempts]
            found += stage_cells(gate, record.plan, rows)
    return found


def stage_records(plan: Plan, others: Sequence[Record], gate_name: str | None = None) -> list[Record]:
    """List the records that ceiling gates of a plan rest on: of all of them, or of one."""
    stages = [gate.stage for gate in plan.experiment.gates if gate.stage and gate_name in (None, gate.name)]
    found = []
    for stage in stages:
        named = [record for record in others if (record.name, record.digest) == (stage.experiment, stage.plan)]
        found += sorted(named, key=lambda record: min(one.manifest.started_at for one in record.attempts))[:1]
    return found


def stages_in(plan: Plan, runs: Path) -> list[StageCell]:
    """Take what the ceiling gates of a plan rest on from the archive. Raises as :func:`score`."""
    names = sorted({gate.stage.experiment for gate in plan.experiment.gates if gate.stage})
    return stages_of(plan, [record for name in names for record in records(sound_attempts(runs, name)[0])])


def side_of(runs: Path, name: str) -> Side:
    """Load and score what ``name`` means: a record by name (``sample``, ``sample@1a2b3c``), an attempt by id, or a folder of one.

    Raises
    ------
    InputError
        There is no such record or attempt, or it was not timed.
    RecordError
        As :func:`score`.
    """
    if Path(name).is_dir():
        attempt = load_attempt(Path(name).resolve())
        shown, said = ([attempt] if attempt.manifest.sanitizer is None else []), attempt.id
    else:
        shown, _, faults = find_shown(runs, name)
        if faults and not shown:
            raise faults[0]
        said = name
        if shown and name == shown[0].manifest.experiment:
            said = f"{name}@{shown[0].manifest.plan[:6]}"
    if not shown or not shown[0].manifest.counts.batches:
        raise InputError("holds no timing batch", where=name, remedy="name a record or a timing attempt")
    plan = shown[0].plan
    result = score_attempts(plan, shown, stages_in(plan, runs))
    return Side(said, plan, result, [attempt.manifest for attempt in shown])


def score_attempts(plan: Plan, attempts: Sequence[Attempt], stages: Sequence[StageCell] = ()) -> Result:
    """Compute what ``attempts`` of one plan say together, one a device. Raises as :func:`score`."""
    rows = [device_rows(attempt, left_out=False) for attempt in attempts]
    left_out = [device_rows(attempt, left_out=True) for attempt in attempts]
    frozen = [attempt.manifest.provenance.frozen_at for attempt in attempts]
    return analyse(
        plan,
        rows,
        left_out=[device for device in left_out if device.batches["mode"].isin(DECIDING).any()],
        moments=Moments(
            frozen_at=min((moment for moment in frozen if moment), default=None),
            began_at=min(attempt.manifest.started_at for attempt in attempts),
        ),
        stages=stages,
    )


def device_rows(attempt: Attempt, *, left_out: bool) -> DeviceRows:
    """Take the scored batches of an attempt, or those of the repetitions that were left out of it, in every mode."""
    lost = {(_mode(entry), int(entry["repetition"])) for entry in attempt.manifest.left_out}
    batches = attempt.batches
    was_lost = np.zeros(len(batches), dtype=bool)
    for mode, repetition in lost:
        was_lost |= (batches["mode"] == mode).to_numpy() & (batches["repetition"] == repetition).to_numpy()
    checks = attempt.checks
    return DeviceRows(
        device=attempt.manifest.device.id,
        model=attempt.manifest.device.model,
        batches=batches[~batches["warmup"] & (was_lost == left_out)],
        failed=frozenset(checks.loc[~checks["passed"], "arm"]),
        places=_places(attempt.manifest.left_out),
    )


def _mode(entry: dict[str, Any]) -> str:
    """Mode of a repetition that was left out; records of one mode do not say it."""
    return str(entry.get("mode", Mode.PROCESS.value))


def _places(left_out: Sequence[dict[str, Any]]) -> dict[str, dict[int, int]]:
    """By mode, the planned place that each spare took; a spare of a spare took the first one's."""
    stands_for = {(_mode(one), one["replaced_by"]): one["repetition"] for one in left_out if one.get("replaced_by")}
    places: dict[str, dict[int, int]] = {}
    for mode, spare in stands_for:
        place = spare
        while (mode, place) in stands_for:
            place = stands_for[mode, place]
        places.setdefault(mode, {})[spare] = place
    return places


def interim(plan: Plan, rows: Sequence[dict[str, Any]]) -> Result:
    """Compute what the repetitions so far say, while an attempt is still measuring; checks are not heeded yet."""
    return analyse(plan, [DeviceRows(INTERIM_DEVICE, INTERIM_DEVICE, pd.DataFrame(list(rows)))])
