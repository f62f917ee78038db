"""Every reader of the archive and of records: the valid files it starts from, how they are damaged, its first check, its work.

A reader gets bytes, puts them where the file lies in a lab, an attempt or a record, and does what ``show``, ``attempts`` or
``verify`` would do with it. It returns, or raises a ``ReportgenError``; anything else is a fault of this program.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
import shutil
import tomllib
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import count
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.fuzz import mutations
from benchmarks.fuzz.samples import Samples, notes_of
from reportgen.archive import encoding, journal, layout, load
from reportgen.archive.load import load_attempt, read_whole
from reportgen.archive.rows import read_table
from reportgen.archive.select import records
from reportgen.archive.sums import read_sums, sha256_of
from reportgen.archive.upgrade import upgrade
from reportgen.errors import RecordError
from reportgen.project import find_experiment, open_project, read_experiment
from reportgen.publish import reading, verify
from reportgen.publish.unpacking import unpack
from reportgen.publish.verification import verify_path
from reportgen.scoring import score_attempts
from tests.factories import NAME

DEEP_EVERY = 500
FEW_FINDINGS = 3
# What the program in a record says in one sentence; anything else would reach a reader as a traceback.
REFUSALS = (
    verify.RefusedError,
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
    csv.Error,
)


@dataclass(frozen=True)
class Reader:
    """One reader. ``work`` gets the bytes; ``first_check`` tells whether they get past the door."""

    name: str
    seeds: tuple[bytes, ...]
    mutate: mutations.Mutate
    first_check: Callable[[bytes], bool]
    work: Callable[[bytes], None]


def make_readers(samples: Samples, scratch: Path) -> dict[str, Reader]:
    """Make every reader over ``samples``; what it writes lies under ``scratch``."""
    parse_sound_plans_once()
    made = [*_of_attempts(samples, scratch), *_of_labs(samples, scratch), *_of_records(samples, scratch)]
    return {reader.name: reader for reader in made}


def parse_sound_plans_once() -> None:
    """Keep the plans that were read last: where another file is damaged, the plan beside it is the same every time."""
    kept = lru_cache(maxsize=8)(encoding.decode_toml)
    for module in (load, journal):
        module.decode_toml = kept  # type: ignore[attr-defined]


def _of_attempts(samples: Samples, scratch: Path) -> list[Reader]:
    sealed = _copied(samples.sealed, scratch / "sealed" / NAME)
    notes = layout.notes_file(sealed)
    shutil.copyfile(notes_of(samples), notes)
    opened = _copied(samples.open, scratch / "open" / NAME)
    kinds = (
        (
            "journal.jsonl",
            opened / layout.JOURNAL,
            mutations.journal,
            journal_holds,
            lambda deep: read_attempt(opened, deep=deep, tables=True),
        ),
        (
            "header.json",
            opened / layout.HEADER,
            mutations.json_file,
            json_holds,
            lambda deep: read_attempt(opened, deep=deep),
        ),
        (
            "manifest.json",
            sealed / layout.MANIFEST,
            mutations.json_file,
            json_holds,
            lambda deep: read_attempt(sealed, deep=deep),
        ),
        (
            "plan.toml",
            sealed / layout.PLAN,
            mutations.toml_file,
            toml_holds,
            lambda deep: read_attempt(sealed, deep=deep),
        ),
        (
            "repetitions.jsonl",
            sealed / layout.REPETITIONS,
            mutations.json_lines,
            lines_hold,
            lambda deep: read_attempt(sealed, deep=deep),
        ),
        (
            "events.jsonl",
            sealed / layout.EVENTS,
            mutations.json_lines,
            lines_hold,
            lambda deep: read_attempt(sealed, deep=deep),
        ),
        ("notes.jsonl", notes, mutations.json_lines, lines_hold, lambda deep: read_attempt(sealed, deep=deep)),
        ("SHA256SUMS", sealed / layout.SUMS, mutations.sums, sums_hold, lambda deep: read_attempt(sealed, deep=deep)),
        (
            "batches.parquet",
            sealed / layout.BATCHES,
            mutations.parquet,
            parquet_holds,
            lambda deep: read_attempt(sealed, deep=deep, tables=True),
        ),
        (
            "checks.parquet",
            sealed / layout.CHECKS,
            mutations.parquet,
            parquet_holds,
            lambda deep: read_attempt(sealed, deep=deep, tables=True),
        ),
        (
            "counters.parquet",
            layout.artifacts_dir(sealed) / layout.COUNTERS,
            mutations.parquet,
            parquet_holds,
            lambda deep: read_attempt(sealed, deep=deep, tables=True),
        ),
    )
    return [_in_place(*kind) for kind in kinds]


def _of_labs(samples: Samples, scratch: Path) -> list[Reader]:
    lab = Path(shutil.copytree(samples.lab, scratch / "lab"))

    def declared(_deep: object) -> None:
        read_experiment(find_experiment(open_project(lab), NAME))

    experiment = lab / "kernels" / NAME / "experiment.toml"
    return [
        _in_place("experiment.toml", experiment, mutations.toml_file, toml_holds, declared),
        _in_place("reportgen.toml", lab / "reportgen.toml", mutations.toml_file, toml_holds, declared),
    ]


def _of_records(samples: Samples, scratch: Path) -> list[Reader]:
    record = Path(shutil.copytree(samples.record, scratch / "record"))
    packed = (record / "record.zip").read_bytes()
    (record / "record.zip").unlink()
    files = (
        ("batches.csv", mutations.csv_file, lambda data: _header_holds(data, samples.record / "batches.csv")),
        ("checks.csv", mutations.csv_file, lambda data: _header_holds(data, samples.record / "checks.csv")),
        ("results.json", mutations.json_file, json_holds),
        ("manifest.json of a record", mutations.json_file, json_holds),
        ("plan.toml of a record", mutations.toml_file, toml_holds),
    )
    made = []
    for name, mutate, holds in files:
        path = record / name if " " not in name else next(record.glob(f"*/{name.partition(' ')[0]}"))
        made.append(_in_place(name, path, mutate, holds, partial(_verified, record, path)))
    zip_path, target = scratch / "record.zip", scratch / "unpacked"

    def unpacked(_deep: object) -> None:
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        unpack(zip_path, target)

    made.append(_in_place("record.zip", zip_path, mutations.zip_file, zip_holds, unpacked, seed=_lean(packed)))
    return made


def read_attempt(folder: Path, *, deep: bool, tables: bool = False) -> None:
    """Load an attempt and place it among records; ``deep`` adds what ``verify``, ``build``, ``upgrade`` and ``show`` do."""
    attempt = load_attempt(folder)
    _ = attempt.repetitions, records([attempt])
    if attempt.sealed:
        read_sums(folder)
    if tables:
        for name, file in (("batches", layout.BATCHES), ("checks", layout.CHECKS)):
            read_table(name, folder / file) if attempt.sealed else read_whole(attempt)
        _ = attempt.counters
    if deep:
        verify_path(folder)
        read_whole(attempt)
        if attempt.sealed:
            upgrade(folder)
        reading.view(attempt, "a/", "b/")
        score_attempts(attempt.plan, [attempt])


def _verified(record: Path, path: Path, deep: object) -> None:
    """Read a file of a record as its own verifier does; ``deep`` runs both verifiers on the whole, with sums written anew."""
    if deep:
        for folder in dict.fromkeys((path.parent, record)):
            (folder / layout.SUMS).write_bytes(_sums_with(folder, path))
        verify.check_folder(record)
        verify_path(record)
    try:
        verify.read_rows(path) if path.suffix == ".csv" else verify.read_facts(path, path.name)
    except REFUSALS as refusal:
        raise RecordError(str(refusal)[:300], where=path.name) from refusal


def _sums_with(folder: Path, path: Path) -> bytes:
    """Write the hashes of ``path`` and of the list beside it into a list of sums that stands otherwise."""
    lines = []
    for line in (folder / layout.SUMS).read_text("utf-8").splitlines():
        sha256, _, name = line.partition("  ")
        fresh = folder / name in (path, path.parent / layout.SUMS)
        lines.append(f"{sha256_of(folder / name) if fresh else sha256}  {name}\n")
    return "".join(lines).encode()


def _in_place(  # noqa: PLR0913 - a reader is these six things
    name: str,
    path: Path,
    mutate: mutations.Mutate,
    holds: Callable[[bytes], bool],
    work: Callable[[bool], None],
    *,
    seed: bytes | None = None,
) -> Reader:
    """Make a reader of one file of a folder whose other files are sound."""
    whole, number = path.read_bytes() if seed is None else seed, count(1)

    def run(data: bytes) -> None:
        path.write_bytes(data)
        try:
            work(next(number) % DEEP_EVERY == 0)
        finally:
            path.write_bytes(whole)

    return Reader(name, (whole,), mutate, holds, run)


def _copied(folder: Path, into: Path) -> Path:
    return Path(shutil.copytree(folder, into / folder.name))


def _lean(packed: bytes) -> bytes:
    """Leave the small members of a zip: an input is to be small."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(packed)) as archive, zipfile.ZipFile(made, "w") as lean:
        for member in archive.infolist():
            if member.file_size < 3_000:
                lean.writestr(member, archive.read(member))
    return made.getvalue()


# ---- first checks ----------------------------------------------------------------------------------------------------


def json_holds(data: bytes) -> bool:
    """JSON: it parses to an object."""
    try:
        return isinstance(msgspec.json.decode(data), dict)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False


@lru_cache(maxsize=64)
def toml_holds(data: bytes) -> bool:
    """TOML: it parses."""
    try:
        tomllib.loads(data.decode())
    except (ValueError, RecursionError):
        return False
    return True


def lines_hold(data: bytes) -> bool:
    """Lines of JSON: each parses to an object."""
    return all(map(json_holds, data.splitlines()))


def journal_holds(data: bytes) -> bool:
    """Journal: in every whole line the repetition has the SHA-256 that stands there."""
    whole = [line for line in data.splitlines(keepends=True) if line.endswith(b"\n")]
    return all(map(_hash_holds, whole)) and bool(whole)


def _hash_holds(line: bytes) -> bool:
    match = re.fullmatch(rb'\{"schema_version":1,"sha256":"([0-9a-f]{64})","repetition":(.*)\}\n', line, re.DOTALL)
    return match is not None and hashlib.sha256(match[2]).hexdigest().encode() == match[1]


def sums_hold(data: bytes) -> bool:
    """List of sums: at least one line is a hash and a path."""
    return re.search(rb"^[0-9a-f]{64}  \S", data, re.MULTILINE) is not None


def zip_holds(data: bytes) -> bool:
    """Zip: the directory is found at its end and its first member has the right CRC."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            archive.read(names[0])
    except Exception:  # noqa: BLE001 - whatever the library says, the check does not hold
        return False
    return True


def parquet_holds(data: bytes) -> bool:
    """Parquet: magic at both ends, and the footer parses."""
    try:
        pq.read_metadata(pa.BufferReader(data))
    except (pa.ArrowException, OSError, ValueError):
        return False
    return True


def _header_holds(data: bytes, original: Path) -> bool:
    with original.open("rb") as file:
        return data.startswith(file.readline())
