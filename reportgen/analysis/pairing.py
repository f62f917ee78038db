"""From rows of batches to the time cube: one time per fixture, arm and repetition.

A time is the mean over both mirrored batches of elapsed / launches, and missing where either batch is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from reportgen.analysis.median import FloatArray, IntArray
from reportgen.errors import RecordError

GROUPS = ("main", "peer")
_PASSES = 2
_NEEDED = (
    "mode", "group", "fixture", "arm", "repetition", "pass", "position", "launches", "elapsed_ns", "warmup", "tag",
)  # fmt: skip

Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, eq=False)
class DeviceRows:
    """What one device contributes to a record.

    ``batches`` holds the columns of ``model.columns.BATCHES`` (of several modes only ``process`` is read, warm-up is not);
    ``failed`` names the arms that failed a check on this device.
    """

    device: str
    model: str
    batches: pd.DataFrame
    failed: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class Rows:
    """Scored batches of one group as codes: ``position`` is the slot, ``half`` the pass from 0; times in ns a launch."""

    fixture: IntArray
    arm: IntArray
    repetition: IntArray
    half: IntArray
    position: IntArray
    time_ns: FloatArray


@dataclass(frozen=True, eq=False)
class TimeCube:
    """Times of one device and group: ``time_ns`` is fixtures x arms x repetitions, NaN where missing.

    ``fixtures`` and ``arms`` give the index of a name, ``repetitions`` the numbers of the processes in the order of time.
    """

    device: str
    model: str
    failed: frozenset[str]
    fixtures: dict[str, int]
    arms: dict[str, int]
    repetitions: tuple[int, ...]
    time_ns: FloatArray
    rows: Rows

    def times(self, fixtures: Sequence[str], arm: str) -> FloatArray:
        """Take the times of ``arm`` on ``fixtures``: fixtures x repetitions, in ns a launch."""
        return self.time_ns[[self.fixtures[name] for name in fixtures], self.arms[arm]]


def time_cube(
    rows: DeviceRows, group: str, fixtures: Sequence[str], arms: Sequence[str], *, tagged: bool = False
) -> TimeCube:
    """Build the cube of one device and ``group`` over the plan's ``fixtures`` and ``arms``.

    Parameters
    ----------
    tagged:
        Use the batches that a rule of the plan has tagged too; without it each of them counts as missing.

    Raises
    ------
    RecordError
        A column is missing, a row names what the plan does not have, stands twice, or has a time or a number of
        launches that is not positive.
    """
    table = _scored(rows, group)
    coded = Rows(
        fixture=_codes(table["fixture"], fixtures, "fixture", rows.device),
        arm=_codes(table["arm"], arms, "arm", rows.device),
        repetition=_integers(table["repetition"]),
        half=_integers(table["pass"]) - 1,
        position=_integers(table["position"]),
        time_ns=_times(rows.device, table),
    )
    repetitions, index = np.unique(coded.repetition, return_inverse=True)
    shape = (len(fixtures), len(arms), len(repetitions), _PASSES)
    flat = _cells(rows.device, table, coded, index, shape)
    used = np.ones(len(table), dtype=bool) if tagged else ~_tagged(table)
    halves = np.full(shape, np.nan).reshape(-1)
    halves[flat[used]] = coded.time_ns[used]
    halves = halves.reshape(shape)
    return TimeCube(
        device=rows.device,
        model=rows.model,
        failed=rows.failed,
        fixtures={name: at for at, name in enumerate(fixtures)},
        arms={name: at for at, name in enumerate(arms)},
        repetitions=tuple(int(number) for number in repetitions),
        time_ns=(halves[..., 0] + halves[..., 1]) / 2,
        rows=_only(coded, used, index),
    )


def has_tagged(rows: DeviceRows) -> bool:
    """Whether a rule of the plan has tagged any scored batch of the device."""
    return any(bool(_tagged(_scored(rows, group)).any()) for group in GROUPS)


def _scored(rows: DeviceRows, group: str) -> pd.DataFrame:
    missing = [name for name in _NEEDED if name not in rows.batches.columns]
    if missing:
        raise RecordError(f"batches lack the column {missing[0]!r}", where=f"device {rows.device}")
    table = rows.batches
    wanted = (table["mode"] == "process") & (table["group"] == group) & ~table["warmup"].astype(bool)
    return table if wanted.all() else table[wanted]


def _tagged(table: pd.DataFrame) -> npt.NDArray[np.bool_]:
    tag = table["tag"]
    return np.asarray(tag.notna() & (tag != ""), dtype=bool)


def _integers(column: pd.Series) -> IntArray:
    return column.to_numpy(dtype=np.int64)


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
        refused = ~(table[column].to_numpy() > 0)
        if refused.any():
            row = table.iloc[int(np.argmax(refused))]
            raise RecordError(f"{rule}, not {row[column]}", where=_place(device, row), remedy="the record is refused")
    elapsed_ns = table["elapsed_ns"].to_numpy(dtype=np.float64)
    return np.asarray(elapsed_ns / table["launches"].to_numpy(dtype=np.float64), dtype=np.float64)


def _cells(device: str, table: pd.DataFrame, coded: Rows, index: IntArray, shape: tuple[int, ...]) -> IntArray:
    """Flat index of every row in the cube of halves.

    Raises
    ------
    RecordError
        A pass is neither 1 nor 2, or two rows are one batch.
    """
    wrong = (coded.half < 0) | (coded.half >= _PASSES)
    if wrong.any():
        row = table.iloc[int(np.argmax(wrong))]
        raise RecordError(f"pass must be 1 or 2, not {row['pass']}", where=_place(device, row))
    flat = np.ravel_multi_index((coded.fixture, coded.arm, index, coded.half), shape) if len(table) else index
    twice = np.bincount(flat, minlength=1)[flat] > 1 if len(table) else np.zeros(0, dtype=bool)
    if twice.any():
        row = table.iloc[int(np.argmax(twice))]
        raise RecordError(f"pass {row['pass']} stands twice", where=_place(device, row))
    return np.asarray(flat, dtype=np.int64)


def _place(device: str, row: pd.Series) -> str:
    return f"device {device}, fixture {row['fixture']}, arm {row['arm']}, repetition {row['repetition']}"


def _only(coded: Rows, used: npt.NDArray[np.bool_], index: IntArray) -> Rows:
    """Keep the rows in use; their repetition becomes an index into the cube."""
    return Rows(
        fixture=coded.fixture[used],
        arm=coded.arm[used],
        repetition=index[used],
        half=coded.half[used],
        position=coded.position[used],
        time_ns=coded.time_ns[used],
    )
