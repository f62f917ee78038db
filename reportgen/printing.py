"""How commands print; they alone call it."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import typer

from reportgen.errors import EXIT_FINDING, ReportgenError

_WIDTH_IN_FILES = 140


def console(*, stderr: bool = False) -> Any:
    """Give a console as wide as the terminal, or as a file reads well."""
    from rich.console import Console

    made = Console(stderr=stderr, highlight=False)
    return made if made.is_terminal else Console(stderr=stderr, highlight=False, width=_WIDTH_IN_FILES)


def show_text(renderable: object) -> None:
    """Print something for people."""
    console().print(renderable, markup=False)


def show_markdown(text: str) -> None:
    """Set Markdown on a terminal; to a file or another program it goes as it is."""
    from rich.markdown import Markdown

    if (made := console()).is_terminal:
        made.print(Markdown(text))
    else:
        print_text(text)


def print_text(text: str) -> None:
    """Print text as it is, for other programs and places."""
    print(text, end="")


def print_json(value: object) -> None:
    """Print something for programs."""
    import msgspec

    print(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def exit_with(faults: list[ReportgenError]) -> NoReturn:
    """Name every damaged attempt and exit; what was sound has been printed."""
    for fault in faults:
        print(f"reportgen: {fault.one_line()}", file=sys.stderr)
    raise typer.Exit(EXIT_FINDING if faults else 0)
