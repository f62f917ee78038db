"""``reportgen verify``: an attempt, a published record (folder or zip) or a built site is held against itself."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import msgspec

from reportgen.archive import layout
from reportgen.archive.encoding import decode_json, read_bytes
from reportgen.archive.sums import sha256_of
from reportgen.errors import InputError, ReportgenError
from reportgen.publish.attempt_checks import attempt_findings
from reportgen.publish.downloads import RESULTS, VERIFIER
from reportgen.publish.record_checks import record_findings
from reportgen.publish.unpacking import unpack

INDEX = "data/index.json"
INDEX_VERSION = 1


class IndexedFile(msgspec.Struct, frozen=True):
    """A file of a published record; ``path`` from the site's root."""

    path: str
    bytes: int
    sha256: str


class IndexedRecord(msgspec.Struct, frozen=True):
    """What ``data/index.json`` says of a record, as far as it is checked; ``address`` from the site's root."""

    name: str
    address: str
    files: list[IndexedFile]


class IndexedAttempt(msgspec.Struct, frozen=True):
    """What ``data/index.json`` says of an attempt that no record speaks through; ``address`` is its folder in the site."""

    id: str
    address: str
    files: list[IndexedFile]


class Index(msgspec.Struct, frozen=True):
    """``data/index.json``: every published record with its files, and apart the other attempts with theirs."""

    schema_version: int
    records: list[IndexedRecord]
    other_attempts: list[IndexedAttempt] = []


@dataclass(frozen=True)
class VerificationReport:
    """What was ``checked`` (``attempt <id>``, ``record <name>``, ``site``), and one line for each thing found wrong."""

    checked: tuple[str, ...]
    findings: tuple[str, ...]

    def __post_init__(self) -> None:
        # Names of files come from anywhere; a finding stays on its line.
        object.__setattr__(self, "findings", tuple(map(_visible, self.findings)))

    @property
    def ok(self) -> bool:
        """Whether nothing was found wrong."""
        return not self.findings


def _visible(line: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)


def verify_path(path: Path) -> VerificationReport:
    """Verify whatever lies at ``path``.

    Raises
    ------
    InputError
        There is nothing, or nothing that can be verified, or a zip that must not be unpacked.
    """
    if path.is_dir():
        return _verify_folder(path, path.resolve().name)
    if not path.is_file():
        raise InputError("no such file or folder", where=str(path))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        damaged = unpack(path, folder)
        inner = list(folder.iterdir())
        alone = len(inner) == 1 and inner[0].is_dir()
        report = _verify_folder(inner[0] if alone else folder, path.name)
        return VerificationReport(report.checked, (*damaged, *report.findings))


def _verify_folder(folder: Path, name: str) -> VerificationReport:
    if (folder / INDEX).is_file():
        return _verify_site(folder)
    if layout.is_attempt_id(layout.attempt_id_of(folder)) or (folder / layout.MANIFEST).exists():
        findings = [line.replace(f"{folder}/", "") for line in attempt_findings(folder)]
        return VerificationReport((f"attempt {name}",), tuple(findings))
    if any((folder / name).exists() for name in (RESULTS, VERIFIER)) or any(folder.glob(f"*/{layout.MANIFEST}")):
        return VerificationReport((f"record {name}",), tuple(record_findings(folder)))
    raise InputError(
        "holds no attempt, published record or site",
        where=name,
        remedy=f"name a folder with {layout.MANIFEST}, {RESULTS} or {INDEX}",
    )


def _verify_site(site: Path) -> VerificationReport:
    try:
        index = decode_json(read_bytes(site / INDEX), Index, INDEX_VERSION, INDEX)
    except ReportgenError as fault:
        return VerificationReport(("site",), (fault.one_line(),))
    checked, findings = ["site"], []
    for record in index.records:
        checked.append(f"record {record.name}")
        findings += [line for file in record.files for line in _indexed(site, file)]
        if _leads_out(record.address):
            findings.append(f"{INDEX}: record {record.name}: address {record.address!r} leads out of the site")
            continue
        findings += [f"{record.address}{line}" for line in record_findings(site / record.address)]
    for attempt in index.other_attempts:
        checked.append(f"attempt {attempt.id}")
        findings += [line for file in attempt.files for line in _indexed(site, file)]
        if _leads_out(attempt.address):
            findings.append(f"{INDEX}: attempt {attempt.id}: address {attempt.address!r} leads out of the site")
            continue
        folder = site / attempt.address
        findings += [f"{attempt.address}{line.replace(f'{folder}/', '')}" for line in attempt_findings(folder)]
    return VerificationReport(tuple(checked), tuple(dict.fromkeys(findings)))


def _indexed(site: Path, file: IndexedFile) -> list[str]:
    path = site / file.path
    if _leads_out(file.path):
        return [f"{INDEX}: {file.path!r} leads out of the site"]
    if not path.is_file():
        return [f"{file.path}: is missing, {INDEX} lists it"]
    if path.stat().st_size != file.bytes or sha256_of(path) != file.sha256:
        return [f"{file.path}: does not have the length or SHA-256 that {INDEX} lists"]
    return []


def _leads_out(address: str) -> bool:
    path = PurePosixPath(address)
    return path.is_absolute() or ".." in path.parts
