"""The JSON Schemas of the record's files, with what each file holds at its top."""

from __future__ import annotations

from typing import Any

from reportgen.archive.schemas import SCHEMAS, schema_of
from reportgen.reference.docstrings import cell, page, told

LEAD = (
    "Every JSON and TOML file of a record has a JSON Schema, made of the types that the program reads it with. Below is what stands at the top of each; the schema itself has everything below. "
    "Tables (Parquet and CSV) have their columns in [Record format](../record-format.md)."
)


def schemas() -> str:
    """Make the page of schemas."""
    return page("Schemas", LEAD, [_schema(name) for name in SCHEMAS])


def _schema(name: str) -> str:
    kind, version, file = SCHEMAS[name]
    schema = schema_of(name)
    root = schema["$defs"][kind.__name__]
    required = set(root["required"])
    rows = [
        f"| `{key}` | {cell(_type(value))} | {'yes' if key in required else ''} |"
        for key, value in root["properties"].items()
    ]
    table = "\n".join(["| key | type | required |", "| --- | --- | --- |", *rows])
    head = f"## {name}\n\n{file}, version {version}: [{name}.json](../schema/{name}.json). {told(kind)}"
    return f"{head}\n\n{table}"


def _type(value: dict[str, Any]) -> str:
    """Say a type in words: names of other types as they stand in the schema."""
    if "$ref" in value:
        return f"`{value['$ref'].rpartition('/')[2]}`"
    if "anyOf" in value:
        return " or ".join(_type(one) for one in value["anyOf"])
    if "const" in value:
        return f"{value['const']}"
    if value.get("type") == "array":
        return f"list of {_type(value['items'])}" if value.get("items") else "list"
    if value.get("type") == "object":
        inner = value.get("additionalProperties")
        return f"table of {_type(inner)}" if isinstance(inner, dict) and inner else "table"
    return str(value.get("type", "anything"))
