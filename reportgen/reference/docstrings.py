"""Docstrings and signatures as Markdown."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from typing import Any

MADE = "<!-- Made by `python -m reportgen.reference`; change the program, not this page. -->"
_SECTION = re.compile(r"^(\w+)\n-{3,}$", re.MULTILINE)
_ROLE = re.compile(r":\w+:`([^`]*)`")


def page(title: str, lead: str, parts: Iterable[str]) -> str:
    """Put a page together."""
    return "\n\n".join([f"# {title}", lead, MADE, *parts]) + "\n"


def told(of: Any) -> str:
    """Give what a docstring says, without its sections of parameters and errors."""
    return _SECTION.split(_words(of))[0].strip()


def raised(of: Any) -> str:
    """Give the errors that a docstring names, as a sentence; empty where it names none."""
    parts = _SECTION.split(_words(of))
    found = dict(zip(parts[1::2], parts[2::2], strict=True)).get("Raises", "")
    names = re.findall(r"^(\S.*)\n((?:\s+.+\n?)+)", found + "\n", re.MULTILINE)
    return " ".join(f"`{kind.strip()}`: {' '.join(why.split())}" for kind, why in names)


def called(name: str, of: Callable[..., Any]) -> str:
    """Give a call with its parameters and their defaults."""
    given = [one for one in inspect.signature(of).parameters.values() if one.name != "self"]
    return f"{name}({', '.join(_parameter(one) for one in given)})"


def _parameter(one: inspect.Parameter) -> str:
    if one.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
        return f"{'*' if one.kind is inspect.Parameter.VAR_POSITIONAL else '**'}{one.name}"
    return one.name if one.default is one.empty else f"{one.name}={one.default!r}"


def _words(of: Any) -> str:
    return marked(inspect.getdoc(of) or "")


def marked(text: str) -> str:
    """Turn the marks of a docstring into those of Markdown."""
    return re.sub(r"``([^`]*)``", r"`\1`", _ROLE.sub(r"``\1``", text))


def cell(text: str) -> str:
    """Keep a text in its cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")
