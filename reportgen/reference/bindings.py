"""What a page may ask a record for, and what its claims may say, as the functions are called."""

from __future__ import annotations

from typing import Any

from reportgen.publish.bindings import Bindings
from reportgen.publish.claim_words import WORDS, ClaimWords
from reportgen.publish.claims import Claims
from reportgen.reference.docstrings import called, cell, page, told

LEAD = "What stands between `{{` and `}}` on a page, and in `holds` of its claims, as it is called. [Writing pages](../writing-pages.md) shows each at work, with the choices of its parameters."


class _Unread(Bindings):
    """Bindings of no page, of which only the names are asked."""

    def __init__(self) -> None:
        """Read nothing."""


def bindings() -> str:
    """Make the page of bindings and words of claims."""
    functions: dict[str, Any] = {**_Unread()._plain(), "claim": Claims.quote}  # noqa: SLF001 - its own subclass asks
    words: dict[str, Any] = {name: getattr(ClaimWords, name) for name in WORDS}
    return page(
        "Bindings",
        LEAD,
        [f"## On a page\n\n{_table(functions)}", f"## In a claim\n\nValues are plain data.\n\n{_table(words)}"],
    )


def _table(functions: dict[str, Any]) -> str:
    rows = [f"| `{cell(called(name, of))}` | {cell(told(of))} |" for name, of in sorted(functions.items())]
    return "\n".join(["| call | what it says |", "| --- | --- |", *rows])
