"""What ``import reportgen`` gives, name by name."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from reportgen import opened
from reportgen.reference.docstrings import called, cell, page, raised, told

LEAD = "What a program may rely on. Everything is typed, and the package says so (`py.typed`). [From Python](../python.md) shows it at work."


def python() -> str:
    """Make the page of the package's own names."""
    kind = opened.OpenRecord
    public = {name: value for name, value in vars(kind).items() if not name.startswith("_") and _documented(value)}
    fields = "\n".join(f"| `{name}` | `{cell(words)}` |" for name, words in kind.__annotations__.items())
    return page(
        "Python interface",
        LEAD,
        [
            _entry("reportgen." + called("open_record", opened.open_record), opened.open_record),
            f"## `reportgen.OpenRecord`\n\n{told(kind)}\n\n| field | type |\n| --- | --- |\n{fields}",
            *(_member(name, value) for name, value in public.items()),
            f"## Columns of `verdicts()`\n\n{_names(opened.VERDICT_COLUMNS)}",
            f"## Columns of `ratios()`\n\n{_names(opened.RATIO_COLUMNS)}",
        ],
    )


def _documented(value: Any) -> bool:
    return callable(value) or isinstance(value, property | cached_property)


def _member(name: str, value: Any) -> str:
    if isinstance(value, property | cached_property):
        return _entry(f"OpenRecord.{name}", value.fget if isinstance(value, property) else value.func)
    return _entry(f"OpenRecord.{called(name, value)}", value)


def _entry(heading: str, of: Any) -> str:
    errors = raised(of)
    return f"## `{heading}`\n\n{told(of)}" + (f"\n\nRaises {errors}" if errors else "")


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names) + "."
