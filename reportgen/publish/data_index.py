"""``data/index.json``, the list of everything published, and the JSON Schema that it keeps to."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from reportgen.publish.library import Library
from reportgen.publish.view import FileFact

VERSION = 1
NAME = "index.json"
SCHEMA = "index.schema.json"


class ListedFile(msgspec.Struct, frozen=True):
    """A file; ``path`` is its address from the site's root."""

    path: str
    bytes: int
    sha256: str


class ListedDevice(msgspec.Struct, frozen=True):
    """A device that measured."""

    id: str
    model: str


class ListedRecord(msgspec.Struct, frozen=True):
    """A record; ``name`` pins it for good, ``current`` tells whether the experiment's name means it."""

    name: str
    experiment: str
    title: str
    plan: str
    address: str
    current: bool
    simulated: bool
    devices: list[ListedDevice]
    attempts: list[str]
    files: list[ListedFile]


class ListedAttempt(msgspec.Struct, frozen=True):
    """An attempt that no record speaks through; ``page`` tells of it, ``address`` holds its files."""

    id: str
    experiment: str
    kind: str
    status: str
    reason: str
    page: str
    address: str
    files: list[ListedFile]


class DataIndex(msgspec.Struct, frozen=True):
    """Everything that the site publishes: records, and apart from them every other attempt."""

    schema_version: int
    records: list[ListedRecord]
    other_attempts: list[ListedAttempt]
    schema: str = msgspec.field(name="$schema", default=SCHEMA)


def index(library: Library) -> bytes:
    """List every published record and, apart, every other attempt, with their files, bytes and SHA-256, for programs."""
    listed = [
        ListedRecord(
            name=record.name,
            experiment=record.experiment,
            title=record.title,
            plan=record.plan.digest,
            address=record.address,
            current=record.current,
            simulated=record.simulated,
            devices=[ListedDevice(one.manifest.device.id, one.manifest.device.model) for one in record.attempts],
            attempts=[one.manifest.id for one in record.attempts],
            files=_listed(record.address, record.downloads),
        )
        for record in library.records
    ]
    others = [
        ListedAttempt(
            id=attempt.manifest.id,
            experiment=attempt.manifest.experiment,
            kind=attempt.manifest.kind.value,
            status=attempt.status.value,
            reason=attempt.reason,
            page=attempt.address,
            address=attempt.published,
            files=_listed(attempt.published, attempt.files),
        )
        for attempt in library.attempts_beside()
    ]
    return _pretty(DataIndex(VERSION, listed, others))


def schema() -> bytes:
    """Write the JSON Schema (2020-12) of the index."""
    return _pretty({"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(DataIndex)})


def _pretty(said: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(said), indent=2) + b"\n"


def _listed(folder: str, files: Sequence[FileFact]) -> list[ListedFile]:
    return [ListedFile(folder + file.path, file.length_bytes, file.sha256) for file in files]
