"""From a record to what it says: the one place where archive and analysis meet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from reportgen.analysis.analyse import analyse
from reportgen.analysis.pairing import DeviceRows
from reportgen.archive.load import Attempt
from reportgen.archive.select import Record
from reportgen.model.experiment import Mode
from reportgen.model.plan import Plan
from reportgen.model.result import Result

INTERIM_DEVICE = "this device"


def score(record: Record) -> Result:
    """Compute everything that a record says.

    Raises
    ------
    RecordError
        A file of an attempt is damaged, or its rows are no record of the plan.
    InputError
        A gate of a kind that this version does not compute.
    """
    return score_attempts(record.plan, record.attempts)


def score_attempts(plan: Plan, attempts: Sequence[Attempt]) -> Result:
    """Compute what ``attempts`` of one plan say together, one a device. Raises as :func:`score`."""
    rows = [device_rows(attempt, left_out=False) for attempt in attempts]
    left_out = [device_rows(attempt, left_out=True) for attempt in attempts]
    frozen = [attempt.manifest.provenance.frozen_at for attempt in attempts]
    return analyse(
        plan,
        rows,
        left_out=[device for device in left_out if (device.batches["mode"] == Mode.PROCESS).any()],
        frozen_at=min((moment for moment in frozen if moment), default=None),
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
