"""From files of other harnesses to a sealed attempt of kind ``imported``: their copies, what was read of them, and nothing measured."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Any

import msgspec

import reportgen
from reportgen.archive import layout
from reportgen.archive.counting import count
from reportgen.archive.digest import plan_digest
from reportgen.archive.imported_rows import tables
from reportgen.archive.importers import asv, criterion, registry
from reportgen.archive.importers.arranging import arranged
from reportgen.archive.importers.content import Content
from reportgen.archive.importers.gathering import Read
from reportgen.archive.importers.identity import anonymous
from reportgen.archive.journal import Journal, OpenHeader
from reportgen.archive.load import attempt_folders
from reportgen.archive.seal import seal
from reportgen.errors import InputError
from reportgen.model import plan as plan_model
from reportgen.model.experiment import SCHEMA_VERSION as EXPERIMENT_VERSION
from reportgen.model.experiment import Arm, Experiment, Role
from reportgen.model.imported import Benchmark, Import, ImportedFile, ImportedSource, Source, Told
from reportgen.model.plan import Plan, PlanFile, PlanFixture, Slice
from reportgen.model.record import SCHEMA_VERSION, Device, Kind, Manifest, Provenance, Status

BACKEND = "imported"
ARM = "imported"
AXIS = "format"
ORDER = "as the source has it"
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_NAME = 80
_ENDINGS = re.compile(r"(\.(json|jsonl|csv|tsv|txt|md|log|gz))+$", re.IGNORECASE)
_DEVICE_KEYS = ("gpu_info", "devices", "ProcessorName", "cpu_model_name", "cpu_info", "cpu", "brand_raw", "brand")


@dataclass(frozen=True)
class _Copy:
    """A file as the archive keeps it, beside how it was given."""

    content: Content
    entry: ImportedFile


@dataclass(frozen=True)
class Taken:
    """Where the attempt lies, and whether it was there already."""

    path: Path
    present: bool


def take(runs: Path, found: Sequence[Read], told: Told, *, name: str = "", keep_identity: bool = False) -> Taken:
    """Archive what was read as one attempt of experiment ``name`` (by default called after the first file).

    The same files, told the same of, are archived once.

    Raises
    ------
    InputError
        The name cannot be one, or what was told does not fit.
    RecordError
        The disk refuses.
    """
    experiment = name or _called(found[0], keep_identity=keep_identity)
    copied = [
        _copied(one, number, experiment, keep_identity=keep_identity) for number, one in enumerate(found, start=1)
    ]
    sources = [source for source, _ in copied]
    benchmarks = arranged(sources, told)
    entry = Import(
        sources=[_entry(source, copies) for source, copies in copied],
        told=told,
        identity_kept=keep_identity,
        benchmarks=len(benchmarks),
        samples=sum(len(one.samples) for _, one in benchmarks),
    )
    plan = _plan(experiment, sources, [copy for _, copies in copied for copy in copies], told)
    if present := _present(runs, experiment, plan.digest):
        return Taken(present, present=True)
    return Taken(_archived(runs, plan, entry, benchmarks, copied), present=False)


def _called(first: Read, *, keep_identity: bool) -> str:
    """Name an experiment after what is imported: a file without its endings, or a benchmark's folder."""
    shown = _shown(first.files[0], first.source, keep_identity=keep_identity)[0]
    name = first.source.name if first.source.format == criterion.NAME else PurePath(shown.where).name
    return _plain(_ENDINGS.sub("", name)).lower()


def _shown(given: Content, source: Source, *, keep_identity: bool) -> tuple[Content, int]:
    """Give a file as it is archived, and how many names were replaced in it."""
    return (given, 0) if keep_identity else anonymous(given, asv=source.format == asv.NAME)


def _copied(one: Read, number: int, experiment: str, *, keep_identity: bool) -> tuple[Source, list[_Copy]]:
    """Copy a source's files without names of hosts and people, and read the copies again.

    Raises
    ------
    InputError
        The copies do not say the same numbers.
    """
    copies: list[_Copy] = []
    for place, given in enumerate(one.files, start=1):
        shown, replaced = _shown(given, one.source, keep_identity=keep_identity)
        path = f"{experiment}/{number}/{place}-{_plain(shown.name)}"
        entry = ImportedFile(
            path=path,
            name=shown.name,
            original_sha256=hashlib.sha256(given.data).hexdigest(),
            original_bytes=len(given.data),
            replaced=replaced,
        )
        copies.append(_Copy(Content(shown.name, shown.data), entry))
    source = again(one.source, [copy.content for copy in copies])
    if [each.good for each in source.benchmarks] != [each.good for each in one.source.benchmarks]:
        raise InputError(
            "cannot be kept without names of hosts or people", where=one.where, remedy="give --keep-identity"
        )
    return source, copies


def again(source: Source, files: Sequence[Content]) -> Source:
    """Read the archived files of a source again, the way in which they were read first.

    Raises
    ------
    InputError
        They are no such files.
    """
    first = files[0]
    if source.format == asv.NAME:
        return asv.read(first, files[1] if len(files) > 1 else None)
    if source.format == criterion.NAME and first.name.endswith(criterion.SAMPLE):
        parts = {known: one for one in files for known in criterion.PARTS if one.name.endswith(known)}
        return msgspec.structs.replace(criterion.read_folder(parts, source.name), name=source.name)
    unit = next((sample.unit for one in source.benchmarks for sample in one.samples), "")
    return registry.read(first, source.format, unit)


def _plain(name: str) -> str:
    """Give a name that is safe in any folder and address: what is not plain becomes ``-``; a long one keeps its end."""
    return _NOT_PLAIN.sub("-", name).strip("-.")[-_LONGEST_NAME:] or "file"


def _entry(source: Source, copies: Sequence[_Copy]) -> ImportedSource:
    return ImportedSource(
        name=source.name,
        format=source.format,
        version=source.version,
        files=[copy.entry for copy in copies],
        kind=source.kind,
        context=source.context,
        not_time=list(source.not_time),
        notes=list(source.notes),
        unrecorded=list(source.unrecorded),
    )


def _plan(experiment: str, sources: Sequence[Source], copies: Sequence[_Copy], told: Told) -> Plan:
    """Say in the form of a plan that there was none: one arm that stands for all, no comparison, the files under its digest."""
    formats = list(dict.fromkeys(source.format for source in sources))
    said = msgspec.json.encode(told, order="deterministic").decode()
    options = [f"backend={BACKEND}", f"told={said}"]
    files = sorted(
        (PlanFile(path=copy.entry.path, sha256=hashlib.sha256(copy.content.data).hexdigest()) for copy in copies),
        key=lambda file: file.path,
    )
    fixtures = [PlanFixture(name=f"{AXIS}={name}", values={AXIS: name}, seed=1) for name in formats]
    return Plan(
        schema_version=plan_model.SCHEMA_VERSION,
        name=experiment,
        digest=plan_digest(files, options, ORDER),
        order_method=ORDER,
        backend_options=options,
        files=files,
        experiment=Experiment(
            schema_version=EXPERIMENT_VERSION,
            title=f"Imported: {experiment}",
            question=f"What did {' and '.join(formats)} measure? No plan was frozen: the files are from elsewhere.",
            backend=BACKEND,
            arms=[Arm(name=ARM, role=Role.INCUMBENT, idea="stands for whatever the files hold")],
            axes={AXIS: list(formats)},
        ),
        fixtures=fixtures,
        slices=[Slice(name="all", values={}, fixtures=[one.name for one in fixtures])],
        arms_by_fixture={one.name: [ARM] for one in fixtures},
        peers_by_fixture={},
        comparisons=[],
    )


def _present(runs: Path, experiment: str, digest: str) -> Path | None:
    """Find a sealed attempt of the very same files and the very same told."""
    folder = runs / experiment
    ends = f"-{BACKEND}-{digest[:6]}"
    for path in attempt_folders(folder) if folder.is_dir() else []:
        if path.name.endswith(ends) and f'"{digest}"' in (path / layout.MANIFEST).read_text("utf-8"):
            return path
    return None


def _archived(
    runs: Path,
    plan: Plan,
    entry: Import,
    benchmarks: Sequence[tuple[int, Benchmark]],
    copied: Sequence[tuple[Source, list[_Copy]]],
) -> Path:
    now = datetime.now(UTC)
    harnesses = list(dict.fromkeys(source.format for source, _ in copied))
    header = _header(runs, plan, harnesses, _device(entry.sources), now)
    with Journal.create(layout.open_dir(runs, plan.name, header.id), header, plan) as journal:
        for _, copies in copied:
            for copy in copies:
                journal.artifact(f"{layout.SOURCES}/{copy.entry.path}", copy.content.data)
        for path, data in tables(benchmarks).items():
            journal.artifact(path, data)
        journal.event("imported", benchmarks=entry.benchmarks, samples=entry.samples, formats=harnesses)
    fields = {field: getattr(header, field) for field in msgspec.structs.asdict(header)}
    manifest = Manifest(
        **fields,
        status=Status.COMPLETE,
        reason=f"imported from {' and '.join(harnesses)}: measured elsewhere, by another protocol, so no record speaks through it",
        ended_at=header.started_at,
        counts=count([]),
        failed_arms=[],
        left_out=[],
        imported=entry,
    )
    return seal(journal, manifest)


def _header(runs: Path, plan: Plan, harnesses: Sequence[str], device: Device, now: datetime) -> OpenHeader:
    return OpenHeader(
        schema_version=SCHEMA_VERSION,
        id=layout.new_attempt_id(runs, plan.name, BACKEND, plan.digest, now),
        experiment=plan.name,
        kind=Kind.IMPORTED,
        backend=BACKEND,
        plan=plan.digest,
        provenance=Provenance(known="absent", reason=f"measured elsewhere by {' and '.join(harnesses)}"),
        device=device,
        started_at=now.isoformat(timespec="seconds").replace("+00:00", "Z"),
        repetitions_planned=0,
        binaries={},
        binaries_digest=hashlib.sha256(b"").hexdigest(),
        hashes={file.path: file.sha256 for file in plan.files},
        versions={},
        environment={},
        reportgen=reportgen.__version__,
    )


def _device(sources: Sequence[ImportedSource]) -> Device:
    """Name the device as the files do, where they do."""
    told = list(dict.fromkeys(text for source in sources for text in _named(source.context)))
    model = " and ".join(told) or "not recorded"
    return Device(id=f"imported-{hashlib.sha256(model.encode()).hexdigest()[:12]}", model=model[:200], kind="imported")


def _named(context: dict[str, Any]) -> list[str]:
    """Take the first thing that a context calls a device, or a processor."""
    for key in _DEVICE_KEYS:
        for value in _under(context, key):
            names = value if isinstance(value, list) else [value]
            if found := [one for one in names if isinstance(one, str) and one]:
                return found
    return []


def _under(value: Any, key: str) -> list[Any]:
    if not isinstance(value, dict):
        return []
    inner = [found for each in value.values() for found in _under(each, key)]
    return [value[key], *inner] if key in value else inner
