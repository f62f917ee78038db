"""Where a record's files are, and what each holds."""

from __future__ import annotations

from urllib.parse import quote

from reportgen.publish import study_files, wording
from reportgen.publish.context import Download
from reportgen.publish.view import FileFact, RecordView
from reportgen.units import BYTES_PER_KIB

ZIP = "record.zip"
HOLDS = {
    "record.zip": "everything below in one file, with the attempts as archived and the program that checks them",
    "batches.csv": "every timing batch, warm-up included",
    "batches.parquet": "every timing batch, warm-up included",
    "checks.csv": "every correctness check",
    "checks.parquet": "every correctness check",
    "results.json": "every ratio, interval and verdict",
    **study_files.HOLDS,
    "plan.toml": "the plan, frozen before the first batch",
    "verify.py": "recomputes everything from the CSV files; needs only Python",
    "manifest.json": "an attempt's identity, device, hashes and counts",
    "repetitions.jsonl": "what each process drew and saw",
    "events.jsonl": "what the controller did, in order",
    "datapackage.json": "files, columns and units for programs, as a Data Package 2.0",
    "README.txt": "how to read and check the record",
    "SHA256SUMS": "hashes of the files",
}


def downloads(record: RecordView, page: str, *, everything: bool = False) -> tuple[Download, ...]:
    """List the files of a record with what each holds: the zip first, then the joined files, then (or not) the attempts'."""
    found = sorted(record.downloads, key=lambda file: (file.path != ZIP, "/" in file.path, file.path))
    return tuple(download(file, page) for file in found if everything or "/" not in file.path)


def download(file: FileFact, page: str) -> Download:
    """Describe one file for downloading."""
    return Download(
        name=file.path,
        href=page + quote(file.path),
        holds=HOLDS.get(file.path.rsplit("/", maxsplit=1)[-1], _holds(file.path)),
        length=wording.size(file.length_bytes),
        length_bytes=f"{wording.count(file.length_bytes)} bytes" if file.length_bytes >= BYTES_PER_KIB else "",
        sha256=file.sha256,
    )


def _holds(path: str) -> str:
    if path.endswith(".patch"):
        return "turns the source of one arm into that of another, for git apply; what was measured of it stands at its head"
    if "/sources/" in path:
        return "a source as it was measured"
    return "notes written after sealing" if path.endswith(".notes.jsonl") else "part of an attempt"
