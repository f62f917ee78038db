"""Where a problem stands, as editors and continuous integration jump to it: file, line and column."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from reportgen.publish.problems import Problem

_NUMBERED = re.compile(r"(?P<file>.+?):(?P<line>\d+)")
_QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")


@dataclass(frozen=True)
class Place:
    """A problem with its place; ``file`` is empty and the numbers are 1 where it is none of the lab's files."""

    file: str
    line: int
    column: int
    severity: str
    message: str

    def __str__(self) -> str:
        """Say it as compilers do: ``file:line:column: error: message``."""
        head = f"{self.file}:{self.line}:{self.column}: " if self.file else ""
        return f"{head}{self.severity}: {self.message}"

    def annotation(self) -> str:
        """Say it as a workflow command, which GitHub shows beside the line."""
        file = f" file={_escaped(self.file, ':,')},line={self.line},col={self.column}" if self.file else ""
        return f"::{self.severity}{file}::{_escaped(self.message)}"


def place_of(problem: Problem, root: Path) -> Place:
    """Find a problem in the files of the lab at ``root``; its column is that of the words it quotes, or the first."""
    match = _NUMBERED.fullmatch(problem.where)
    file, line = (match["file"], int(match["line"])) if match else (problem.where, 1)
    severity = "error" if problem.grave else "warning"
    if not (root / file).is_file():
        return Place("", 1, 1, severity, f"{problem.where}: {problem.what}")
    return Place(file, line, _column(root / file, line, problem.what), severity, problem.what)


def _column(path: Path, line: int, what: str) -> int:
    lines = path.read_text("utf-8", errors="replace").splitlines()
    written = lines[line - 1] if 1 <= line <= len(lines) else ""
    said = [_unquoted(quoted) for quoted in _QUOTED.findall(what)] + [what.rpartition(": ")[2]]
    return next((written.index(words) + 1 for words in said if words and words in written), 1)


def _unquoted(quoted: str) -> str:
    try:
        return str(ast.literal_eval(quoted))
    except (SyntaxError, ValueError):
        return quoted[1:-1]


def _escaped(text: str, signs: str = "") -> str:
    """Escape what ends a workflow command, or a value within one."""
    return "".join(f"%{ord(sign):02X}" if sign in f"%\r\n{signs}" else sign for sign in text)
