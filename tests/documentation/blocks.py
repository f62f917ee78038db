"""Code blocks of documentation pages, with the markers that stand above them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from reportgen.publish.manual import reader

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
_MARKER = re.compile(r"<!--\s*(file|not run|given|ends with|printed)(?::)?\s*(.*?)\s*-->", re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A block: its language (empty for one that is only indented), its text, its line in the page, its markers."""

    language: str
    text: str
    line: int
    markers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Command:
    """A command of a ``console`` or ``sh`` block, and what the page shows of its output (None where it shows nothing)."""

    words: str
    shown: str | None


def pages() -> list[Path]:
    """List every page of the documentation."""
    return sorted(DOCS.rglob("*.md"))


def blocks(page: Path) -> list[Block]:
    """Read the blocks of a page in order."""
    found: list[Block] = []
    markers: dict[str, str] = {}
    for token in reader().parse(page.read_text("utf-8")):
        if token.type == "html_block":
            markers.update(dict(_MARKER.findall(token.content)))
        elif token.type in ("fence", "code_block"):
            found.append(Block(token.info.strip(), token.content, (token.map or [0])[0] + 1, markers))
            markers = {}
        elif token.type == "heading_open":
            markers = {}
    return found


def commands(block: Block) -> list[Command]:
    """Read the commands of a block: of ``console`` the lines after ``$``, continued after ``>``, of ``sh`` each line that is no comment."""
    if block.language == "sh":
        return [Command(line, None) for line in _joined(block.text) if line.strip() and not line.startswith("#")]
    found: list[tuple[str, list[str]]] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found and line.startswith("> ") and not found[-1][1]:
            found[-1] = (f"{found[-1][0]}\n{line[2:]}", [])
        elif found:
            found[-1][1].append(line)
    return [Command(words, "\n".join(shown) if shown else None) for words, shown in found]


def _joined(text: str) -> Iterator[str]:
    yield from text.replace("\\\n", " ").splitlines()
