"""The theme: the lab's ``templates/`` file by file over the default one, and the sandbox in which page text is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from traceback import extract_tb
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Undefined
from jinja2.exceptions import SecurityError, TemplateError, TemplateNotFound, TemplateSyntaxError
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from reportgen.errors import InputError
from reportgen.publish import policy
from reportgen.publish.aligning import units_differ
from reportgen.publish.context import Figure, Table
from reportgen.publish.rows import table_rows

PARTS = "parts.html"


@contextmanager
def _placed() -> Iterator[None]:
    """Say where a template is at fault: the innermost line of one that was being rendered."""
    try:
        yield
    except TemplateSyntaxError as fault:
        where = f"{_named(fault.filename or fault.name or '')}:{fault.lineno}"
        raise InputError(fault.message or "no template", where=where, remedy="correct the template") from fault
    except TemplateNotFound as fault:
        raise InputError(f"no template {fault.name}", remedy="restore it, or reportgen's own") from fault
    except TemplateError as fault:
        places = [frame for frame in extract_tb(fault.__traceback__) if frame.filename.endswith(".html")]
        where = f"{_named(places[-1].filename)}:{places[-1].lineno}" if places else ""
        raise InputError(fault.message or "no template", where=where, remedy="correct the template") from fault


def _named(file: str) -> str:
    """Name a template as people know it: by its folder and name."""
    return "/".join(Path(file).parts[-2:])


class Theme:
    """Renders finished contexts with the theme's templates."""

    def __init__(self, folders: list[Path]) -> None:
        self._environment = Environment(
            loader=FileSystemLoader(folders, encoding="utf-8"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        self._environment.filters["rows"] = table_rows
        self._environment.filters["units_differ"] = units_differ
        self._environment.globals["policy"] = policy.IN_PAGE

    def page(self, template: str, page: Any) -> str:
        """Render a page from the context class that ``list_context.PAGES`` names for the template.

        Raises
        ------
        InputError
            The template is missing or cannot be rendered; file and line are named.
        """
        with _placed():
            return self._environment.get_template(template).render(page=page)

    def table(self, table: Table, fold: str = "") -> Markup:
        """Render a table as one block of HTML without blank lines, which Markdown leaves alone; ``fold`` is one of ``folding``'s."""
        return self._part("table", table, fold)

    def figure(self, figure: Figure) -> Markup:
        """Render a chart with its numbers as one block of HTML."""
        return self._part("figure", figure)

    def part(self, name: str, *values: Any) -> Markup:
        """Render any other macro of the theme's parts."""
        return self._part(name, *values)

    def _part(self, name: str, *values: Any) -> Markup:
        with _placed():
            module = self._environment.get_template(PARTS).module
            drawn = str(getattr(module, name)(*values))
        return Markup("\n".join(line for line in drawn.splitlines() if line.strip()))  # noqa: S704 - autoescaped


FILTERS = ("abs", "first", "last", "length", "list", "max", "min", "sort", "sum", "unique")
LOOKED_UP = ("get", "items", "keys", "values")  # of a mapping; of nothing else is any attribute within reach
_LARGEST = 10**18


class _Sandbox(ImmutableSandboxedEnvironment):
    """Plain data and arithmetic: no attribute but of mappings, and no operator by which a short expression fills the memory."""

    intercepted_binops = frozenset({"+", "-", "*", "/", "//", "%", "**"})

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Work out numbers; join, repeat and format no text, and raise to no power."""
        if operator == "**" or not (isinstance(left, int | float) and isinstance(right, int | float)):
            raise SecurityError(f"{operator} is for numbers, and ** for none: a page computes nothing large")
        found = super().call_binop(context, operator, left, right)
        if isinstance(found, int) and abs(found) > _LARGEST:
            raise SecurityError(f"{operator} makes more than {_LARGEST:.0e}: a page computes nothing large")
        return found

    def wrap_str_format(self, _value: Any) -> None:
        """Take ``format`` for a method like any other: even a checked one pads to any width."""

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Look values of mappings up, and call no method of anything else."""
        return isinstance(obj, Mapping) and attr in LOOKED_UP and super().is_safe_attribute(obj, attr, value)


def sandbox() -> ImmutableSandboxedEnvironment:
    """Make the environment for page text: plain data, the bindings, a few filters that only choose and add, and nothing else."""
    environment = _Sandbox(autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True, finalize=_shown)
    environment.globals.clear()
    environment.filters = {name: environment.filters[name] for name in FILTERS}
    return environment


def _shown(value: Any) -> Any:
    """Show words and numbers; a list or mapping may hold itself many times over."""
    if isinstance(value, str | int | float | Undefined):
        return value
    raise SecurityError(f"a page shows words and figures, and no {type(value).__name__}")
