"""Templates and context classes agree field by field."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import jinja2
import pytest
from jinja2 import nodes

from reportgen.publish import context, list_context
from reportgen.publish.theme_folders import default_theme

ENVIRONMENT = jinja2.Environment(autoescape=True)
BY_ROWS = (context.Cell, context.Row)  # written by rows.py, and tested in test_rows.py
TEMPLATES = sorted(default_theme().glob("*.html"))
OTHER_NAMES = {"group": "FactGroup", "line": "RecordLine", "catalogue_entry": "CatalogueEntry"}


def class_of(variable: str, template: str) -> Any:
    """Find the class that a template's variable stands for, by its name."""
    if variable == "page":
        return list_context.PAGES.get(template)
    name = OTHER_NAMES.get(variable, "".join(part.capitalize() for part in variable.split("_")))
    return getattr(context, name, None) or getattr(list_context, name, None)


def attributes_read(path: Path) -> set[tuple[str, str]]:
    """Collect variable and attribute of every access in a template."""
    tree = ENVIRONMENT.parse(path.read_text("utf-8"))
    return {
        (found.node.name, found.attr) for found in tree.find_all(nodes.Getattr) if isinstance(found.node, nodes.Name)
    }


def readable(kind: Any) -> set[str]:
    """Fields and properties of a context class."""
    fields = {field.name for field in dataclasses.fields(kind)}
    return fields | {name for name, value in vars(kind).items() if isinstance(value, property)}


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_a_template_reads_only_what_its_classes_have(path: Path) -> None:
    """A misspelt attribute is found without rendering."""
    for variable, attribute in attributes_read(path):
        kind = class_of(variable, path.name)
        if kind is not None:
            assert attribute in readable(kind), f"{path.name} reads {variable}.{attribute}"


def test_every_field_is_shown_by_some_template() -> None:
    """What no template shows has no place in a context."""
    read: dict[Any, set[str]] = {}
    for path in TEMPLATES:
        for variable, attribute in attributes_read(path):
            for kind in [class_of(variable, path.name)] if variable != "page" else list_context.PAGES.values():
                read.setdefault(kind, set()).add(attribute)
    kinds = [
        kind
        for kind in {**vars(context), **vars(list_context)}.values()
        if isinstance(kind, type) and dataclasses.is_dataclass(kind)
    ]
    unread = {kind.__name__: readable(kind) - read.get(kind, set()) for kind in kinds if kind not in BY_ROWS}
    assert {} == {name: fields for name, fields in unread.items() if fields}


def test_every_page_class_has_its_template() -> None:
    """The table of pages names files of the theme."""
    assert set(list_context.PAGES) <= {path.name for path in TEMPLATES}


def test_templates_hold_no_script_and_no_inline_style() -> None:
    """A strict content policy needs no exception: scripts are files of the same site."""
    own = re.compile(
        r'<script type="module" src="\{\{ frame\.root \}\}static/[a-z-]+\.js"></script>'
        r'|<script type="application/ld\+json">\{\{ page\.dataset \}\}</script>'
    )
    for path in TEMPLATES:
        text = own.sub("", path.read_text("utf-8"))
        assert not re.search(r"<script|<style|\sstyle=|\son[a-z]+=", text), path.name
