"""From a prepared bench to an open attempt, new or resumed: header, plan and artifacts are archived before the first batch."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import reportgen
from reportgen.archive import layout
from reportgen.archive.journal import Journal, OpenHeader, read_journal
from reportgen.errors import InputError
from reportgen.measure.backends.interface import Builder
from reportgen.measure.environment import recorded_environment
from reportgen.measure.identity import hash_bracket, versions
from reportgen.measure.jobs import Bench
from reportgen.measure.locking import opening_lock
from reportgen.measure.provenance import find_provenance
from reportgen.measure.watching import RunOptions
from reportgen.model.plan import Plan
from reportgen.model.record import SCHEMA_VERSION, TIMES_NOTHING, Device, Kind, Profile, Sanitizer
from reportgen.project import ExperimentFolder, Project

SELECTOR = "device_selector"


@dataclass(frozen=True)
class Opened:
    """An attempt's journal, ready for more, and the header that it began with."""

    journal: Journal
    header: OpenHeader


def bracket_of(project: Project, bench: Bench) -> Callable[[], dict[str, str]]:
    """Return a function that hashes everything that must not change while the attempt is measured."""
    sources = {f"source/{file.path}": project.kernels / file.path for file in bench.plan.files}
    return lambda: hash_bracket(sources | bench.built.watched)


@dataclass(frozen=True)
class Request:
    """What is to be measured, by what, on what."""

    project: Project
    experiment: ExperimentFolder
    plan: Plan
    builder: Builder
    device: Device
    options: RunOptions


def open_attempt(
    request: Request, bench: Bench, hashes: Mapping[str, str], looks: Sanitizer | Profile | None = None
) -> Opened:
    """Begin a new attempt, one that times nothing where it says with what it ``looks``; its folder appears with header and plan in it.

    Raises
    ------
    InputError
        The provenance file cannot be used.
    RecordError
        The disk refuses.
    """
    _check_unchanged(request.plan, hashes)
    with opening_lock(request.project.runs / request.plan.name):
        header = _new_header(request, bench, hashes, looks)
        journal = Journal.create(
            layout.open_dir(request.project.runs, header.experiment, header.id), header, request.plan
        )
    try:
        journal.event("opened", device=request.device.id, repetitions=header.repetitions_planned)
        _archive(request.project, bench, journal)
    except BaseException:
        journal.close()
        raise
    return Opened(journal, header)


def _new_header(
    request: Request, bench: Bench, hashes: Mapping[str, str], looks: Sanitizer | Profile | None
) -> OpenHeader:
    now = datetime.now(UTC)
    project, plan, builder, options = request.project, request.plan, request.builder, request.options
    protocol = plan.experiment.protocol
    repetitions = (options.repetitions or protocol.quick_repetitions) if options.quick else protocol.repetitions
    kind = Kind.QUICK if options.quick else Kind.TIMING
    if looks is not None:
        kind, repetitions = Kind.SANITIZER if isinstance(looks, Sanitizer) else Kind.PROFILE, 1
    binaries = {arm: built.sha256 for arm, built in sorted(bench.built.arms.items())}
    return OpenHeader(
        schema_version=SCHEMA_VERSION,
        id=options.attempt or layout.new_attempt_id(project.runs, plan.name, bench.backend, plan.digest, now),
        experiment=plan.name,
        kind=kind,
        backend=bench.backend,
        plan=plan.digest,
        provenance=find_provenance(project.kernels, plan.files, options.provenance),
        device=request.device,
        started_at=now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        repetitions_planned=repetitions,
        binaries=binaries,
        binaries_digest=digest_of(binaries),
        hashes=dict(hashes),
        versions=versions() | builder.versions(),
        environment={
            SELECTOR: options.device,
            "variables": recorded_environment() | bench.variables,
            **builder.environment(),
        },
        reportgen=reportgen.__version__,
        sanitizer=looks if isinstance(looks, Sanitizer) else None,
        profile=looks if isinstance(looks, Profile) else None,
    )


def resume_attempt(request: Request, bench: Bench, attempt_id: str, hashes: Mapping[str, str]) -> Opened:
    """Continue an open attempt on the same device with the same plan and code.

    Raises
    ------
    InputError
        It is no open attempt, or the line names what differs.
    RecordError
        Its journal is damaged, or the disk refuses.
    """
    folder = layout.open_dir(request.project.runs, bench.plan.name, attempt_id)
    journal = Journal.resume(folder)
    try:
        header = read_journal(folder).header
        _check_same(header, bench, request.device, hashes, str(folder))
        journal.event("resumed", device=request.device.id)
        _archive(request.project, bench, journal)
    except BaseException:
        journal.close()
        raise
    return Opened(journal, header)


def open_header(project: Project, experiment: ExperimentFolder, attempt_id: str) -> OpenHeader:
    """Header of the open attempt that is to be resumed.

    Raises
    ------
    InputError
        There is no such open attempt; a sealed one is never written again.
    RecordError
        Its files are damaged.
    """
    folder = layout.open_dir(project.runs, experiment.name, attempt_id)
    if layout.attempt_dir(project.runs, experiment.name, attempt_id).exists():
        raise InputError("is sealed and never written again", where=attempt_id, remedy="run without --resume")
    if not folder.is_dir():
        raise InputError(f"no open attempt of {experiment.name!r}", where=attempt_id, remedy="see `reportgen attempts`")
    header = read_journal(folder).header
    if header.kind in TIMES_NOTHING:
        raise InputError(f"is a {header.kind.value} attempt", where=attempt_id, remedy="begin another")
    return header


def digest_of(binaries: Mapping[str, str]) -> str:
    r"""SHA-256 of the lines ``name\0hash``, sorted: names a whole set of binaries, or a hash bracket."""
    return hashlib.sha256(
        "".join(f"{arm}\0{sha256}\n" for arm, sha256 in sorted(binaries.items())).encode()
    ).hexdigest()


def _check_unchanged(plan: Plan, hashes: Mapping[str, str]) -> None:
    """Refuse sources that changed after the plan was made: what was compiled might be either."""
    for file in plan.files:
        if hashes[f"source/{file.path}"] != file.sha256:
            raise InputError("changed while the run was being prepared", where=file.path, remedy="run it again")


def _check_same(header: OpenHeader, bench: Bench, device: Device, hashes: Mapping[str, str], where: str) -> None:
    binaries = {arm: built.sha256 for arm, built in bench.built.arms.items()}
    pairs: list[tuple[str, Any, Any]] = [
        ("device", header.device.id, device.id),
        ("plan", header.plan, bench.plan.digest),
        *((f"code of arm {arm}", header.binaries.get(arm), sha256) for arm, sha256 in sorted(binaries.items())),
        *((label, header.hashes.get(label), hashes.get(label)) for label in sorted({*header.hashes, *hashes})),
    ]
    for what, then, now in pairs:
        if then != now:
            raise InputError(
                f"cannot be resumed: {what} was {_short(then)} and is {_short(now)}",
                where=where,
                remedy="restore it, or run anew without --resume",
            )


def _short(value: str | None) -> str:
    return "absent" if value is None else value[:16]


def _archive(project: Project, bench: Bench, journal: Journal) -> None:
    for file in bench.plan.files:
        journal.artifact(f"{layout.SOURCES}/{file.path}", (project.kernels / file.path).read_bytes())
    for name, data in sorted(bench.built.artifacts.items()):
        journal.artifact(name, data)
    journal.artifact(layout.FIXTURES, _described(bench))


def _described(bench: Bench) -> bytes:
    facts = {name: asdict(described) for name, described in sorted(bench.described.items())}
    return json.dumps(facts, indent=2, sort_keys=True).encode() + b"\n"
