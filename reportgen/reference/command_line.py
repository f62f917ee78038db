"""Every command with its arguments and options, as ``--help`` has them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from reportgen.cli import app
from reportgen.reference.docstrings import cell, page

if TYPE_CHECKING:
    from typer.core import TyperGroup

LEAD = (
    "Exit status: 0 on success (whatever the verdicts), 1 on a finding (failed check, invalid or aborted attempt, failed verification, a verdict of `--fail-on`), 2 on misuse "
    "(nothing was measured), 130 when interrupted. An error is one line that says what, where and what to do. `python -m reportgen` is the same program."
)


def command_line() -> str:
    """Make the page of the commands."""
    group: TyperGroup = typer.main.get_command(app)  # type: ignore[assignment]
    return page(
        "The command line",
        LEAD,
        ["<!-- figures: what `--help` says -->", *[_command(name, one) for name, one in group.commands.items()]],
    )


def _command(name: str, command: Any) -> str:
    shown = [one for one in command.params if not getattr(one, "hidden", False)]
    arguments = [one for one in shown if one.param_type_name == "argument"]
    usage = " ".join(["reportgen", name, *(_argument(one) for one in arguments), "[OPTIONS]"])
    rows = [f"| `{_argument(one)}` | {cell(one.help)} |" for one in arguments if getattr(one, "help", None)]
    rows += [f"| {_option(one)} | {cell(' '.join(_said(one)))} |" for one in shown if one not in arguments]
    table = "\n".join(["| argument, option | what |", "| --- | --- |", *rows])
    return f"## {name}\n\n{inspect.cleandoc(command.help or '')}\n\n```text\n{usage}\n```\n\n{table}"


def _argument(one: Any) -> str:
    name = (one.metavar or one.name.upper()).strip("[]")
    return name if one.required else f"[{name}]"


def _option(one: Any) -> str:
    names = ", ".join(f"`{name}`" for name in one.opts)
    if one.is_flag:
        return names
    return f"{names} `{one.metavar or one.name.upper()}`"


def _said(one: Any) -> Iterator[str]:
    if one.help:
        yield one.help
    if one.required:
        yield "Required."
    elif one.default not in (None, "", False) and not one.is_flag:
        yield f"Default: `{one.default}`."
