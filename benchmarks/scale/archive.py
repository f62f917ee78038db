"""A large archive in little time: one attempt is measured, the others are sealed from it with other times.

The backend ``fake`` measures one attempt by the whole protocol, which takes a process a repetition. Each further one gets its own
id, moments and device readings of the clock, and times of its own (every process and every batch of it moved by a draw), and is
written by the functions with which the archive seals: same tables, same encodings, sums over what lies there. Whether they are
sound is not assumed: :func:`verified` asks ``reportgen verify``, which recomputes plan digests, sums, counts and the whole matrix.

Each repetition's readings by fixture block are left out of ``repetitions.jsonl`` (they stand in the rows, too): with them an
attempt of the fake backend weighs 1.6 MB, without them 1.0 MB, as one of 7,020 batches on a processor does.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.scale.measured import reportgen
from reportgen.archive import layout
from reportgen.archive.encoding import encode_json, encode_json_pretty, encode_toml
from reportgen.archive.load import Attempt, load_attempt
from reportgen.archive.notes import exclude
from reportgen.archive.rows import read_table, to_parquet
from reportgen.archive.sums import files_under, sums_of
from reportgen.measure.controller import plan_of
from reportgen.model.plan import Plan
from reportgen.model.record import Status
from reportgen.project import open_project

LEFT_OUT = "blocks"
SPREAD = 0.001
FIRST = datetime(2026, 1, 1, 22, tzinfo=UTC)


@dataclass(frozen=True)
class Fate:
    """What became of a made attempt: its status, and why; one that is excluded gets a note."""

    status: Status = Status.SCORED
    reason: str = ""


@dataclass(frozen=True)
class Study:
    """A declared experiment of the lab: its name, its plan, and that plan as the archive writes it."""

    name: str
    plan: Plan
    toml: bytes


class Maker:
    """Measures one attempt of the first study, and seals as many as wanted of any."""

    def __init__(self, lab: Path, names: Sequence[str], declaration: Callable[[str], str]) -> None:
        self._lab = lab
        for name in names:
            folder = lab / "kernels" / name
            folder.mkdir(parents=True)
            (folder / "experiment.toml").write_text(declaration(name), encoding="utf-8")
        project = open_project(lab)
        plans = [plan_of(project, name, "fake") for name in names]
        self.studies = [Study(plan.name, plan, encode_toml(plan)) for plan in plans]
        self._measured = self._measure(lab, names[0])
        path = self._measured.path
        self._batches = read_table("batches", path / layout.BATCHES)
        self._facts = b"".join(_slim(line) for line in (path / layout.REPETITIONS).read_bytes().splitlines())
        shutil.rmtree(project.runs)  # it served as the model; what it holds is in memory
        self._random = np.random.default_rng(11)

    def _measure(self, lab: Path, name: str) -> Attempt:
        """Measure by the command, and take everything that is read later into memory."""
        reportgen("run", name, "--backend", "fake", lab=lab)
        (path,) = (lab / "runs" / name).iterdir()
        attempt = load_attempt(path)
        self._checks = (path / layout.CHECKS).read_bytes()
        folder = layout.artifacts_dir(path)
        self._artifacts = {at: (folder / at).read_bytes() for at in files_under(folder) if layout.SOURCES not in at}
        return attempt

    def seal(self, study: Study, at: datetime, fate: Fate | None = None) -> Path:
        """Seal one more attempt of a study, begun at ``at``."""
        fate = fate or Fate()
        runs, measured = self._lab / "runs", self._measured.manifest
        name = layout.new_attempt_id(runs, study.name, "fake", study.plan.digest, at)
        moved = at - datetime.fromisoformat(measured.started_at)
        excluded = fate.status is Status.EXCLUDED
        manifest = msgspec.structs.replace(
            measured,
            id=name,
            experiment=study.name,
            plan=study.plan.digest,
            status=Status.SCORED if excluded else fate.status,
            reason="" if excluded else fate.reason,
            started_at=_later(measured.started_at, moved),
            ended_at=_later(measured.ended_at, moved),
        )
        events = [encode_json(msgspec.structs.replace(one, at=_later(one.at, moved))) for one in self._measured.events]
        files = {
            layout.MANIFEST: encode_json_pretty(manifest),
            layout.PLAN: study.toml,
            layout.BATCHES: to_parquet(self._redrawn()),
            layout.CHECKS: self._checks,
            layout.REPETITIONS: self._facts,
            layout.EVENTS: b"".join(line + b"\n" for line in events),
            **{f"{layout.ARTIFACTS}/{at}": data for at, data in self._artifacts.items()},
            **self._sources(study),
        }
        folder = layout.attempt_dir(runs, study.name, name)
        for address, data in files.items():
            (folder / address).parent.mkdir(parents=True, exist_ok=True)
            (folder / address).write_bytes(data)
        (folder / layout.SUMS).write_bytes(sums_of(folder))
        if excluded:
            exclude(folder, fate.reason)
        return folder

    def _sources(self, study: Study) -> dict[str, bytes]:
        sources = f"{layout.ARTIFACTS}/{layout.SOURCES}"
        kernels = self._lab / "kernels"
        return {f"{sources}/{one.path}": (kernels / one.path).read_bytes() for one in study.plan.files}

    def _redrawn(self) -> pa.Table:
        """Give the measured batches with other times: one draw a repetition and arm, one a batch."""
        table = self._batches
        repetition = table["repetition"].to_numpy()
        arm = table["arm"].combine_chunks().dictionary_encode().indices.to_numpy()
        process = self._random.normal(0, SPREAD, (int(repetition.max()) + 1, int(arm.max()) + 1))[repetition, arm]
        noise = self._random.normal(0, SPREAD, len(arm))
        elapsed: npt.NDArray[np.int64] = np.rint(table["elapsed_ns"].to_numpy() * (1 + process + noise)).astype(
            np.int64
        )
        place = table.schema.get_field_index("elapsed_ns")
        return table.set_column(place, table.schema.field(place), pa.array(elapsed))


def verified(folders: Sequence[Path]) -> None:
    """Ask the program whether these attempts are sound; if one is not, the benchmark ends with what it said."""
    command = [sys.executable, "-m", "reportgen", "verify", *map(str, folders)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"a made attempt is not sound:\n{done.stdout}{done.stderr}")


def night(number: int) -> datetime:
    """Give the moment of the night of that number."""
    return FIRST + timedelta(days=number)


def _later(moment: str, by: timedelta) -> str:
    return (datetime.fromisoformat(moment) + by).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _slim(line: bytes) -> bytes:
    said = msgspec.json.decode(line)
    said["facts"].pop(LEFT_OUT, None)
    return encode_json(said) + b"\n"
