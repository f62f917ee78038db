"""The valid files that mutations start from: a small scored attempt, an open one, their lab and a published record."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from reportgen.archive import layout
from reportgen.archive.encoding import encode_toml
from reportgen.archive.load import list_attempts
from reportgen.archive.notes import add_erratum
from reportgen.archive.rows import to_parquet, to_table
from reportgen.archive.select import find_record
from reportgen.archive.sums import sums_of
from reportgen.model.columns import COUNTERS
from reportgen.model.experiment import Arm, Experiment, Gate, GateKind, Harness, Role
from reportgen.publish.downloads import write_record
from reportgen.scoring import score
from tests.factories import NAME, make_experiment, make_header, make_plan, make_rows, open_attempt, sealed_attempt

SETTINGS = b"""title = "A lab"
repository = "https://example.org/lab"

[[service]]
name = "chat"
close = { url = "http://127.0.0.1:8080/close" }
closed = { url = "http://127.0.0.1:8080/status", expect = { "/closed" = true } }
idle = { command = ["service-is-idle"] }
open = { url = "http://127.0.0.1:8080/open", headers = { X-Who = "lab" } }
find = { unit = "chat.service" }
profile = { facts = ["executable", "libraries"] }
"""


@dataclass(frozen=True)
class Samples:
    """Folders of valid files; the sealed attempt has a note beside it."""

    lab: Path
    sealed: Path
    open: Path
    record: Path

    @classmethod
    def under(cls, root: Path) -> Self:
        """Name the folders that :func:`make_samples` filled under ``root``."""
        sealed, opened = (
            next(path for path in sorted((root / runs / NAME).iterdir()) if path.is_dir()) for runs in ("runs", "open")
        )
        return cls(root / "lab", sealed, opened, root / "record")


def make_samples(root: Path) -> Samples:
    """Measure, seal, interrupt and publish under ``root``, all of it small."""
    plan = make_plan(_experiment())
    runs = root / "runs"
    sealed = sealed_attempt(runs, plan=plan, repetitions=6, left_out={2: "throttled"}).path
    _count(sealed)
    record = find_record(list_attempts(runs), NAME)
    write_record(record, score(record), root / "record")
    add_erratum(sealed, "the fan was loud")
    open_attempt(root / "open", plan, make_rows(plan, repetitions=2), make_header(plan)).close()
    lab = root / "lab"
    (lab / "kernels" / NAME).mkdir(parents=True)
    (lab / "kernels" / NAME / "experiment.toml").write_bytes(encode_toml(_experiment()))
    (lab / "reportgen.toml").write_bytes(SETTINGS)
    return Samples.under(root)


def _count(sealed: Path) -> None:
    """Add what a profiler counted, and its line among the sums."""
    numbers = {column.name: 1 for column in COUNTERS if column.nullable}
    place = {"fixture": "rows=256,cache=same-set", "arm": "candidate", "kernel": "candidate", "call": 1}
    rows = [place | {"launch": launch} | numbers for launch in range(4)]
    (layout.artifacts_dir(sealed) / layout.COUNTERS).write_bytes(to_parquet(to_table("counters", rows)))
    (sealed / layout.SUMS).write_bytes(sums_of(sealed))


def notes_of(samples: Samples) -> Path:
    """Name the file of notes beside the sealed attempt."""
    return layout.notes_file(samples.sealed)


def _experiment() -> Experiment:
    arms = [
        Arm(name="incumbent", role=Role.INCUMBENT, idea="in use", file="sample.c", symbol="incumbent"),
        Arm(name="candidate", role=Role.CANDIDATE, idea="less", file="sample.c", symbol="candidate"),
        Arm(name="null_incumbent", role=Role.NULL, idea="again", of="incumbent"),
    ]
    gate = Gate(name="pays", kind=GateKind.HEADLINE, arms=["candidate"], vs="incumbent", threshold=0.02)
    outside = Harness(name="outer", arms=["incumbent", "candidate"], settings={"rounds": 3})
    axes = {"rows": [256], "cache": ["same-set"]}
    return make_experiment(arms=arms, axes=axes, gates=[gate], harnesses=[outside])
