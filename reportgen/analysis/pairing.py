"""From rows of batches to the time cube: one time per fixture, arm and repetition.

A time is the mean over both mirrored batches of elapsed / launches, and missing where either batch is missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd

from reportgen.analysis.median import FloatArray, IntArray
from reportgen.errors import RecordError

GROUPS = ("main", "peer")
PASSES = 2
_NEEDED = (
    "mode", "group", "fixture", "arm", "repetition", "pass", "position", "launches", "elapsed_ns", "warmup", "tag",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class DeviceRows:
    """What one device contributes to a record.

    ``batches`` holds the columns of ``model.columns.BATCHES`` (warm-up is not read; verdicts read mode ``process`` alone);
    ``failed`` names the arms that failed a check on this device; ``places`` maps, by mode, a spare to the repetition whose
    place it took.
    """

    device: str
    model: str
    batches: pd.DataFrame
    failed: frozenset[str] = frozenset()
    places: Mapping[str, Mapping[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class TimeCube:
    """Times of one device and group by fixture, arm and repetition, in ns a launch; NaN where missing.

    ``half_ns`` and ``slot`` (position within the pass, from 1; 0 where missing) have the pass as a fourth axis, ``time_ns``
    is the mean over it. ``fixtures`` and ``arms`` give the index of a name, ``repetitions`` the numbers of the processes
    in the order of time; ``left_out`` counts the tagged batches that were treated as missing.
    """

    device: str
    model: str
    failed: frozenset[str]
    fixtures: dict[str, int]
    arms: dict[str, int]
    repetitions: tuple[int, ...]
    half_ns: FloatArray
    slot: npt.NDArray[np.int32]
    time_ns: FloatArray
    left_out: int

    def times(self, fixtures: Sequence[str], arm: str) -> FloatArray:
        """Take the times of ``arm`` on ``fixtures``: fixtures x repetitions, in ns a launch."""
        return self.time_ns[[self.fixtures[name] for name in fixtures], self.arms[arm]]


def time_cubes(
    rows: DeviceRows, fixtures: Sequence[str], arms: Sequence[str], *, tagged: bool = False, mode: str = "process"
) -> dict[str, TimeCube]:
    """Build one device's cubes over the plan's ``fixtures`` and ``arms``, by group of processes.

    Parameters
    ----------
    tagged:
        Use the batches that a rule of the plan has tagged too; without it each of them counts as missing.
    mode:
        The mode whose batches are taken: ``process`` for everything that decides. Peers are of mode and group ``peer``.

    Raises
    ------
    RecordError
        A column is missing, a row names what the plan does not have, stands twice, or has a time or a number of
        launches that is not positive.
    """
    missing = [name for name in _NEEDED if name not in rows.batches.columns]
    if missing:
        raise RecordError(f"batches lack the column {missing[0]!r}", where=f"device {rows.device}")
    counted = ~rows.batches["warmup"].to_numpy(dtype=bool)
    scored = {"main": counted & _is(rows.batches["mode"], mode), "peer": counted & _is(rows.batches["mode"], "peer")}
    by_group = {group: scored[group] & _is(rows.batches["group"], group) for group in GROUPS}
    if any((scored[group] & ~by_group[group]).any() for group in GROUPS):
        raise RecordError("the group of a batch is neither main nor peer", where=f"device {rows.device}")
    return {
        group: _time_cube(rows, rows.batches if wanted.all() else rows.batches[wanted], fixtures, arms, tagged=tagged)
        for group, wanted in by_group.items()
    }


def _time_cube(
    rows: DeviceRows, table: pd.DataFrame, fixtures: Sequence[str], arms: Sequence[str], *, tagged: bool
) -> TimeCube:
    time_ns = _times(rows.device, table)
    repetitions, flat = _places(rows.device, table, fixtures, arms)
    used = np.ones(len(table), dtype=bool) if tagged else _is(table["tag"], "") | table["tag"].isna().to_numpy()
    shape = (len(fixtures), len(arms), len(repetitions), PASSES)
    half_ns = np.full(shape, np.nan)
    half_ns.reshape(-1)[flat[used]] = time_ns[used]
    slot = np.zeros(shape, dtype=np.int32)
    slot.reshape(-1)[flat[used]] = table["position"].to_numpy(dtype=np.int32)[used]
    return TimeCube(
        device=rows.device,
        model=rows.model,
        failed=rows.failed,
        fixtures={name: at for at, name in enumerate(fixtures)},
        arms={name: at for at, name in enumerate(arms)},
        repetitions=tuple(int(number) for number in repetitions),
        half_ns=half_ns,
        slot=slot,
        time_ns=(half_ns[..., 0] + half_ns[..., 1]) / 2,
        left_out=int(np.count_nonzero(~used)),
    )


def _is(column: pd.Series, text: str) -> npt.NDArray[np.bool_]:
    """Where a column of names is ``text``; compared once a distinct name, not once a row (a missing one is not)."""
    codes, found = pd.factorize(column)
    return np.append(np.asarray(found == text, dtype=bool), False)[codes]


def _codes(column: pd.Series, names: Sequence[str], what: str, device: str) -> IntArray:
    """Index of each value in ``names``; the values are looked up once a distinct one, not once a row."""
    codes, found = pd.factorize(column)
    at = {name: index for index, name in enumerate(names)}
    unknown = [str(name) for name in found if name not in at]
    if unknown or (codes < 0).any():
        name = unknown[0] if unknown else ""
        raise RecordError(f"a batch names {what} {name!r}, which the plan does not time", where=f"device {device}")
    return np.array([at[name] for name in found], dtype=np.int64)[codes]


def _times(device: str, table: pd.DataFrame) -> FloatArray:
    """Elapsed / launches of every row, in ns.

    Raises
    ------
    RecordError
        Either is not positive.
    """
    for column, rule in (
        ("launches", "launches must be a positive integer"),
        ("elapsed_ns", "elapsed_ns must be positive"),
    ):
        _refuse(~(table[column].to_numpy() > 0), table, device, rule)
    elapsed_ns = table["elapsed_ns"].to_numpy(dtype=np.float64)
    return np.asarray(elapsed_ns / table["launches"].to_numpy(dtype=np.float64), dtype=np.float64)


def _places(
    device: str, table: pd.DataFrame, fixtures: Sequence[str], arms: Sequence[str]
) -> tuple[IntArray, IntArray]:
    """Numbers of the repetitions, and the flat index of every row in fixtures x arms x repetitions x passes.

    Raises
    ------
    RecordError
        A pass is neither 1 nor 2, or two rows are one batch.
    """
    half = table["pass"].to_numpy(dtype=np.int64) - 1
    _refuse((half < 0) | (half >= PASSES), table, device, "the pass of a batch is neither 1 nor 2")
    repetitions, flat = np.unique(table["repetition"].to_numpy(dtype=np.int64), return_inverse=True)
    arm = _codes(table["arm"], arms, "arm", device)
    flat += len(repetitions) * (arm + len(arms) * _codes(table["fixture"], fixtures, "fixture", device))
    flat = flat * PASSES + half
    often = np.bincount(flat, minlength=1)
    if often.max() > 1:
        _refuse(often[flat] > 1, table, device, "two rows are one batch")
    return repetitions, flat


def _refuse(wrong: npt.NDArray[np.bool_], table: pd.DataFrame, device: str, what: str) -> None:
    """Refuse the record if a row is wrong, and name the first.

    Raises
    ------
    RecordError
        Any is.
    """
    if wrong.any():
        row = table.iloc[int(np.argmax(wrong))]
        place = f"device {device}, fixture {row['fixture']}, arm {row['arm']}, repetition {row['repetition']}"
        raise RecordError(what, where=f"{place}, pass {row['pass']}", remedy="the record is refused")
