"""The JSON Schemas of the record's files, with what each file holds at its top."""

from __future__ import annotations

import inspect
from typing import Any

from reportgen.archive.schemas import SCHEMAS, schema_of
from reportgen.reference.docstrings import cell, marked, page, told

LEAD = (
    "Every JSON and TOML file of a record has a JSON Schema, made of the types that the program reads it with. First what stands at the top of each, then the types that these name. "
    "Tables (Parquet and CSV) have [columns](columns.md)."
)


def schemas() -> str:
    """Make the page of schemas."""
    return page(
        "Schemas",
        LEAD,
        [
            *map(_schema, SCHEMAS),
            "## Types\n\n<!-- figures: rules of the format -->\n\nIn alphabetical order.",
            *_types(),
        ],
    )


def _types() -> list[str]:
    """Describe every type below the top of a file, once."""
    tops = {kind.__name__ for kind, _, _ in SCHEMAS.values()}
    found = {
        name: one for schema in map(schema_of, SCHEMAS) for name, one in schema["$defs"].items() if name not in tops
    }
    return [f"### {name}\n\n{_described(one)}" for name, one in sorted(found.items())]


def _described(one: dict[str, Any]) -> str:
    words = marked(inspect.cleandoc(one.get("description", "")))
    if "enum" in one:
        return f"{words}\n\n{', '.join(f'`{value}`' for value in one['enum'])}"
    return f"{words}\n\n{_keys(one)}"


def _schema(name: str) -> str:
    kind, version, file = SCHEMAS[name]
    schema = schema_of(name)
    root = schema["$defs"][kind.__name__]
    head = f"## {name}\n\n{file}, version {version}: [{name}.json](../schema/{name}.json). {told(kind)}"
    return f"{head}\n\n{_keys(root)}"


def _keys(one: dict[str, Any]) -> str:
    required = set(one.get("required", []))
    rows = [
        f"| `{key}` | {cell(_type(value))} | {'yes' if key in required else ''} |"
        for key, value in one["properties"].items()
    ]
    return "\n".join(["| key | type | required |", "| --- | --- | --- |", *rows])


def _type(value: dict[str, Any]) -> str:
    """Say a type in words: names of other types as they stand in the schema."""
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
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
