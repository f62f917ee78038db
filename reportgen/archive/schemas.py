"""The record's formats as others read them: JSON Schemas out of the models, tables of columns out of their registry.

``python -m reportgen.archive.schemas`` in the repository's root brings ``docs/`` up to date; a test holds it so.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from reportgen.archive.journal import JournalLine, OpenHeader
from reportgen.model import experiment, plan, record, result
from reportgen.model.columns import EVERY_TABLE, ORIGIN, Column

DIALECT = "https://json-schema.org/draft/2020-12/schema"
DOCS = Path("docs")
RECORD_FORMAT = "record-format.md"
SCHEMAS: dict[str, tuple[type, int, str]] = {
    "experiment": (experiment.Experiment, experiment.SCHEMA_VERSION, "experiment.toml"),
    "plan": (plan.Plan, plan.SCHEMA_VERSION, "plan.toml"),
    "manifest": (record.Manifest, record.SCHEMA_VERSION, "manifest.json"),
    "repetition": (record.RepetitionFacts, record.SCHEMA_VERSION, "a line of repetitions.jsonl"),
    "event": (record.Event, record.SCHEMA_VERSION, "a line of events.jsonl"),
    "note": (record.Note, record.SCHEMA_VERSION, "a line of <attempt>.notes.jsonl"),
    "results": (result.Result, result.SCHEMA_VERSION, "results.json"),
    "header": (OpenHeader, record.SCHEMA_VERSION, "header.json of an open attempt"),
    "journal": (JournalLine, record.SCHEMA_VERSION, "a line of journal.jsonl of an open attempt"),
}
_TABLE = re.compile(r"(<!-- columns: (\w+) -->\n).*?(<!-- end of columns -->)", re.DOTALL)


def schema_of(name: str) -> dict[str, Any]:
    """JSON Schema of ``SCHEMAS[name]``; the schema version is pinned, since this program reads one."""
    kind, version, file = SCHEMAS[name]
    schema = msgspec.json.schema(kind)
    root = schema["$defs"][kind.__name__]
    root["properties"]["schema_version"] = {"const": version}
    if "schema_version" not in root["required"]:
        root["required"].append("schema_version")
    return {"$schema": DIALECT, "title": file} | schema


def schema_text(name: str) -> bytes:
    """Text of ``docs/schema/<name>.json``."""
    return msgspec.json.format(msgspec.json.encode(schema_of(name), order="deterministic"), indent=2) + b"\n"


def with_columns(text: str) -> str:
    """Fill each place between ``<!-- columns: NAME -->`` and ``<!-- end of columns -->`` from the registry."""
    tables = EVERY_TABLE | {"origin": ORIGIN}
    return _TABLE.sub(lambda place: place[1] + _column_table(tables[place[2]]) + place[3], text)


def write_reference(docs: Path) -> None:
    """Write the schemas into ``docs/schema`` and the tables of columns into ``docs/record-format.md``."""
    (docs / "schema").mkdir(parents=True, exist_ok=True)
    for name in SCHEMAS:
        (docs / "schema" / f"{name}.json").write_bytes(schema_text(name))
    page = docs / RECORD_FORMAT
    page.write_text(with_columns(page.read_text("utf-8")), "utf-8")


def _column_table(columns: tuple[Column, ...]) -> str:
    rows = [f"| `{one.name}` | {one.type} | {one.unit} | {_meaning(one)} |\n" for one in columns]
    return "| column | type | unit | meaning |\n| --- | --- | --- | --- |\n" + "".join(rows)


def _meaning(column: Column) -> str:
    return f"{column.meaning} (may be missing)" if column.nullable else column.meaning


if __name__ == "__main__":
    write_reference(DOCS)
