"""The pages of the reference that are made of the program itself: each is a function that gives Markdown."""

from __future__ import annotations

from collections.abc import Callable

from reportgen.reference.bindings import bindings
from reportgen.reference.columns import columns
from reportgen.reference.command_line import command_line
from reportgen.reference.gates import gates
from reportgen.reference.python import python
from reportgen.reference.schemas import schemas

PAGES: dict[str, Callable[[], str]] = {
    "command-line.md": command_line,
    "columns.md": columns,
    "bindings.md": bindings,
    "gates.md": gates,
    "python.md": python,
    "schemas.md": schemas,
}
