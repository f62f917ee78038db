"""Markdown tables in any text: header, rule, rows, each row with its line."""

from __future__ import annotations

import re
from dataclasses import dataclass

from reportgen.errors import InputError

_RULE = re.compile(r"\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?")


@dataclass(frozen=True)
class MarkdownTable:
    """A table; ``line`` is that of its header, from 1."""

    line: int
    header: list[str]
    rows: list[tuple[int, list[str]]]


def markdown_tables(text: str, where: str) -> list[MarkdownTable]:
    """Every table of ``text``; one empty cell too many at the end of a row is overlooked.

    Raises
    ------
    InputError
        A row has more or fewer cells than the header; the line is named.
    """
    lines = text.splitlines()
    found = []
    at = 0
    while at + 1 < len(lines):
        if lines[at].lstrip().startswith("|") and _RULE.fullmatch(lines[at + 1].strip()):
            header = _cells(lines[at])
            rows = []
            row = at + 2
            while row < len(lines) and lines[row].lstrip().startswith("|"):
                rows.append((row + 1, _fitted(_cells(lines[row]), len(header), f"{where}: line {row + 1}")))
                row += 1
            found.append(MarkdownTable(at + 1, header, rows))
            at = row
        else:
            at += 1
    return found


def _cells(line: str) -> list[str]:
    text = line.strip().removeprefix("|")
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", text.removesuffix("|"))]


def _fitted(cells: list[str], width: int, where: str) -> list[str]:
    if len(cells) == width + 1 and not cells[-1]:
        return cells[:-1]
    if len(cells) != width:
        raise InputError(f"has {len(cells)} cells under {width} names", where=where)
    return cells
