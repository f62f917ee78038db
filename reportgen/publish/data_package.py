"""``datapackage.json``: a record's files for programs, with the meaning, type and unit of every column.

Follows Data Package, version 2 (https://datapackage.org/standard/data-package/); ``unit`` is an addition of ours to a field.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reportgen.archive.encoding import encode_json_pretty
from reportgen.archive.select import Record
from reportgen.archive.sums import sha256_of
from reportgen.model.columns import ORIGIN, TABLES, Column
from reportgen.publish import study_files
from reportgen.publish.lookup import slug

NAME = "datapackage.json"
PROFILE = "https://datapackage.org/profiles/2.0/datapackage.json"
TYPES = {"string": "string", "bool": "boolean", "int32": "integer", "int64": "integer", "float64": "number"}
MEDIA_TYPES = {
    "csv": "text/csv", "parquet": "application/vnd.apache.parquet", "json": "application/json", "toml": "application/toml",
    "py": "text/x-python", "txt": "text/plain", "zip": "application/zip", "cff": "application/yaml",
}  # fmt: skip
# Frictionless takes a resource of format "parquet" for a table, whose bytes it then does not count; under the name of its media
# type it is a file, held to its length and hash.
_FORMATS = {"parquet": "vnd.apache.parquet"}
_STUDY_TYPES = {
    **dict.fromkeys(("block", "n", "repetition"), "int64"),
    **dict.fromkeys(("alarm", "bootstrap_alarm", "found"), "bool"),
    **dict.fromkeys(("mode", "device", "slice", "null", "of", "arm", "baseline", "harness", "fixture"), "string"),
}


def write(record: Record, folder: Path, licence: str) -> None:
    """Describe the files that already lie in a record's ``folder``, beside them."""
    (folder / NAME).write_bytes(encode_json_pretty(described(record, folder, licence)))


def described(record: Record, folder: Path, licence: str) -> dict[str, Any]:
    """Describe a record's files: CSV with its columns; of any other the kind, length and SHA-256."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.suffix and path.name != NAME)
    return {
        "$schema": PROFILE,
        "name": f"{slug(record.name)}-{record.slug}".lower().replace("_", "-"),
        "id": f"{record.name}@{record.slug}",
        "title": record.plan.experiment.title,
        "description": record.plan.experiment.question,
        "created": min(attempt.manifest.started_at for attempt in record.attempts),
        "licenses": [{"name": licence, "path": f"https://spdx.org/licenses/{licence}.html"}],
        "plan": record.digest,
        "resources": [_resource(path) for path in files],
    }


def columns_of(name: str, header: Sequence[str] = ()) -> tuple[Column, ...]:
    """Find the columns of a record's CSV file; those of an A/A study's tables are known by their ``header``."""
    table = TABLES.get(name.removesuffix(".csv"))
    return (*ORIGIN, *table) if table else tuple(map(_study_column, header))


def _study_column(name: str) -> Column:
    unit = "ns" if name.endswith("_ns") else ""
    return Column(name, _STUDY_TYPES.get(name, "float64"), unit, study_files.COLUMNS[name], nullable=True)


def _resource(path: Path) -> dict[str, Any]:
    kind = path.suffix.removeprefix(".")
    said: dict[str, Any] = {
        "name": path.name.lower().replace(".", "-").replace("_", "-"),
        "path": path.name,
        "format": _FORMATS.get(kind, kind),
        "mediatype": MEDIA_TYPES.get(kind, "application/octet-stream"),
        "encoding": "utf-8",
        "bytes": path.stat().st_size,
        "hash": f"sha256:{sha256_of(path)}",
    }
    if kind != "csv":
        return {name: value for name, value in said.items() if name != "encoding" or kind != "parquet"}
    with path.open(encoding="utf-8") as lines:
        header = lines.readline().rstrip("\n").split(",")
    fields = [_field(column) for column in columns_of(path.name, header)]
    return said | {"type": "table", "schema": {"fields": fields, "missingValues": [""]}}


def _field(column: Column) -> Mapping[str, Any]:
    """Describe a column. Empty text is a value of a string here, so only other types can say that they are always there."""
    said: dict[str, Any] = {"name": column.name, "type": TYPES[column.type], "description": column.meaning}
    if column.unit:
        said["unit"] = column.unit
    if column.type != "string" and not column.nullable:
        said["constraints"] = {"required": True}
    return said
