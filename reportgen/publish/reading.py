"""From an attempt of the archive to what its pages show: checks added up, readings by repetition, files."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable

import pandas as pd
import pyarrow as pa

from reportgen.analysis.counters import lines, rotations
from reportgen.archive.load import Attempt
from reportgen.archive.sums import check_sums, files_under, read_sums, sha256_of
from reportgen.model.protocol import Mode
from reportgen.model.record import PEER
from reportgen.publish.attempt_checks import rows_of
from reportgen.publish.moments import moments
from reportgen.publish.study_lookup import modes_said
from reportgen.publish.view import AttemptView, CheckLine, FileFact, ModeCount, ParityLine, ReadingLine

READINGS = (
    ("clock", "MHz", ("clock_mhz_before", "clock_mhz_after")),
    ("temperature", "\N{DEGREE SIGN}C", ("temperature_c_before", "temperature_c_after")),
    ("power", "W", ("power_w_before", "power_w_after")),
    ("load over a minute", "", ("load_1min",)),
    ("processes of others", "", ("foreign_processes",)),
)
CHECKED = ["arm", "against", "kind", "when"]
_COMPARED = ["slice", "arm", "kind", "against"]
_INPUTS = "inputs"
ADDED_UP = {"elements": "sum", "mismatches": "sum", "max_abs": "max", "rel_l2": "max", "passed": "sum"}


def view(attempt: Attempt, address: str, published: str) -> AttemptView:
    """Take what the pages of an attempt show; its files are ``published`` in that folder of the site.

    Raises
    ------
    RecordError
        A file of the attempt is damaged.
    """
    counted = lines(rows_of(attempt.counters))
    scored = attempt.batches[~attempt.batches["warmup"].astype(bool)]
    throttled = scored["throttle"].dropna()
    return AttemptView(
        address=address,
        folder=attempt.path.name,
        sealed=attempt.sealed,
        status=attempt.status,
        reason=attempt.reason,
        manifest=attempt.manifest,
        notes=list(attempt.notes),
        events=list(attempt.events),
        checks=sorted(_checks(attempt.checks), key=_in_order_of([arm.name for arm in attempt.plan.experiment.arms])),
        readings=_readings(scored),
        throttled=sorted({str(reason) for reason in throttled if reason}),
        files=_files(attempt),
        damage=check_sums(attempt.path) if attempt.sealed else [],
        published=published,
        modes=_modes(attempt),
        modes_said=modes_said(attempt.plan.experiment),
        moved_bytes=attempt.moved_bytes,
        imported=list(attempt.imported),
        counters=counted,
        rotations=rotations(counted, attempt.plan, attempt.moved_bytes),
        code=attempt.code,
        moments=moments(scored),
        parity=_parity(attempt),
    )


def _modes(attempt: Attempt) -> list[ModeCount]:
    """Count by mode and harness, in the order of the plan."""
    experiment, batches = attempt.plan.experiment, attempt.batches
    lost = Counter(str(entry.get("mode", Mode.PROCESS.value)) for entry in attempt.manifest.left_out)
    measured = Counter(one.mode for one in attempt.repetitions if one.repetition)
    warmup = Counter(batches.loc[batches["warmup"].astype(bool), "mode"].tolist())
    every = Counter(batches["mode"].tolist())
    names = [
        *(mode.value for mode in experiment.protocol.modes),
        *([PEER] if attempt.plan.peers_by_fixture else []),
        *(harness.name for harness in experiment.harnesses),
    ]
    return [
        ModeCount(name, measured[name] - lost[name], lost[name], every[name] - warmup[name], warmup[name])
        for name in names
    ]


def _parity(attempt: Attempt) -> list[ParityLine]:
    """Add up the checks of outputs slice by slice, in the order of the plan; fixtures that are checked only stand in none."""
    places = {fixture: piece.name for piece in attempt.plan.slices for fixture in piece.fixtures}
    checks = attempt.checks[attempt.checks["kind"] != _INPUTS]
    own = checks.assign(slice=checks["fixture"].astype(str).map(places)).dropna(subset=["slice"])
    table = pa.Table.from_pandas(own[[*_COMPARED, *ADDED_UP]], preserve_index=False)
    found = table.group_by(_COMPARED, use_threads=False).aggregate(list(ADDED_UP.items()))
    lines = [
        ParityLine(
            slice=row["slice"],
            arm=row["arm"],
            kind=row["kind"],
            against=row["against"],
            elements=row["elements_sum"],
            mismatches=row["mismatches_sum"],
            rel_l2=row["rel_l2_max"],
        )
        for row in found.to_pylist()
    ]
    pieces = [piece.name for piece in attempt.plan.slices]
    arms = [arm.name for arm in attempt.plan.experiment.arms]
    return sorted(lines, key=lambda line: (pieces.index(line.slice), arms.index(line.arm), line.kind, line.against))


def _checks(checks: pd.DataFrame) -> list[CheckLine]:
    # Arrow adds up in a tenth of the time that pandas takes to be asked.
    table = pa.Table.from_pandas(checks[[*CHECKED, *ADDED_UP]], preserve_index=False)
    found = table.group_by(CHECKED, use_threads=False).aggregate([([], "count_all"), *ADDED_UP.items()])
    return [
        CheckLine(
            arm=row["arm"],
            against=row["against"],
            kind=row["kind"],
            when=row["when"],
            checks=row["count_all"],
            elements=row["elements_sum"],
            mismatches=row["mismatches_sum"],
            max_abs=row["max_abs_max"],
            rel_l2=row["rel_l2_max"],
            failed=row["count_all"] - row["passed_sum"],
        )
        for row in found.to_pylist()
    ]


def _in_order_of(arms: list[str]) -> Callable[[CheckLine], tuple[int, str, str, str, bool]]:
    """Order checks as the plan orders its arms; the processes drew orders of their own."""
    places = {arm: place for place, arm in enumerate(arms)}
    return lambda line: (places.get(line.arm, len(arms)), line.arm, line.kind, line.against, line.when != "before")


def _readings(batches: pd.DataFrame) -> list[ReadingLine]:
    keys = list(zip(batches["mode"].astype(str), batches["repetition"].astype(int), strict=True))
    places: dict[tuple[str, int], list[int]] = {}
    for place, key in enumerate(keys):
        places.setdefault(key, []).append(place)
    tables = [(name, unit, batches[list(columns)].to_numpy(dtype=float)) for name, unit, columns in READINGS]
    lines = []
    for (mode, repetition), own in places.items():
        for name, unit, table in tables:
            values = sorted(value for value in table[own].ravel().tolist() if not math.isnan(value))
            if values:
                ends = values[0], statistics.median(values), values[-1]
                lines.append(ReadingLine(repetition, name, unit, *ends, mode=mode))
    return lines


def _files(attempt: Attempt) -> list[FileFact]:
    sums = read_sums(attempt.path) if attempt.sealed else {}
    return [
        FileFact(name, (attempt.path / name).stat().st_size, sums.get(name) or sha256_of(attempt.path / name))
        for name in files_under(attempt.path)
    ]
