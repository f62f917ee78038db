"""NVIDIA's compute-sanitizer: where it is, how a timed process runs under it, and what it found."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from reportgen.errors import WorkerError
from reportgen.measure.nvidia_tools import Installed, check_backend, find_tool
from reportgen.measure.selection import with_fixtures
from reportgen.measure.watching import RunOptions
from reportgen.model.plan import Plan

PROGRAM, BANNER = "compute-sanitizer", "COMPUTE-SANITIZER"
# Kernels run tens of times slower under a tool, and loading instruments all of them.
SLOWER = 20
_SUMMARY = re.compile(r"=+ (?:RACECHECK|ERROR) SUMMARY: .*")
_ERRORS = re.compile(r"ERROR SUMMARY: (\d+) errors?")
_HAZARDS = re.compile(r"RACECHECK SUMMARY: \d+ hazards? displayed \((\d+) errors?, (\d+) warnings?\)")


@dataclass(frozen=True)
class Findings:
    """What a tool's summary counts: errors, and the hazards that racecheck calls warnings; ``first`` is the first one's headline."""

    errors: int
    warnings: int
    summary: str
    first: str = ""

    @property
    def clean(self) -> bool:
        """Whether nothing was found."""
        return self.errors == self.warnings == 0

    def sentence(self, tool: str) -> str:
        """Say what was found."""
        warnings = f" and {_counted(self.warnings, 'warning')}" if self.warnings else ""
        first = f", first: {self.first}" if self.first else ""
        return f"{tool} found {_counted(self.errors, 'error')}{warnings}{first}"


def sanitizer_for(options: RunOptions, backend: str) -> Installed | None:
    """Look for the program where a run asks for a tool; ``None`` where it asks for none.

    Raises
    ------
    InputError
        The backend has no GPU code, or the program is missing.
    """
    if options.sanitizer is None:
        return None
    check_backend(PROGRAM, backend, "compile with -fsanitize instead")
    return find_tool(PROGRAM)


def launcher(installed: Installed, tool: str, log: Path) -> list[str]:
    """Words that stand before the command of the process that is looked at; findings go to ``log``."""
    return [installed.path, "--tool", tool, "--log-file", str(log)]


def read_findings(log: Path, tool: str) -> Findings:
    """Read the summary at the end of a tool's log.

    Raises
    ------
    WorkerError
        There is none: the program failed, or saw no GPU code.
    """
    text = log.read_text("utf-8", "replace") if log.exists() else ""
    summaries = _SUMMARY.findall(text)
    hazards = _HAZARDS.findall(text)
    counted = [int(number) for number in _ERRORS.findall(text)] + [int(errors) for errors, _ in hazards]
    words = [line.strip("= ") for line in text.splitlines() if line.strip("= ")]
    if not counted:
        raise WorkerError(
            f"{tool} ended without a summary", remedy=f"its last words: {words[-1]}" if words else "it said nothing"
        )
    said = [line for line in words if line != BANNER and "SUMMARY: " not in line]
    warnings = sum(int(number) for _, number in hazards)
    return Findings(sum(counted), warnings, summaries[-1].strip("= "), " ".join(said[:2]))


def covered(plan: Plan, where: dict[str, list[str]]) -> Plan:
    """Leave in a plan what a sanitizer looks at: the fixtures asked for, graphs of one launch, buffers without paddings.

    Without paddings every buffer begins where its allocation begins, so that what lies before it is out of bounds too.

    Raises
    ------
    InputError
        An axis does not exist, or no fixture is left.
    """
    left = with_fixtures(plan, where)
    protocol = replace(plan.experiment.protocol, launches_per_graph=1, most_padding_mib=0.0)
    return replace(left, experiment=replace(plan.experiment, protocol=protocol))


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
