"""NVIDIA's compute-sanitizer: where it is, how a timed process runs under it, and what it found."""

from __future__ import annotations

import enum
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from reportgen.errors import InputError, WorkerError
from reportgen.measure.watching import RunOptions
from reportgen.model.plan import Plan, PlanFixture

PROGRAM, BANNER = "compute-sanitizer", "COMPUTE-SANITIZER"
VERSION_DEADLINE_S = 60
# Kernels run tens of times slower under a tool, and loading instruments all of them.
SLOWER = 20
_SUMMARY = re.compile(r"=+ (?:RACECHECK|ERROR) SUMMARY: .*")
_ERRORS = re.compile(r"ERROR SUMMARY: (\d+) errors?")
_HAZARDS = re.compile(r"RACECHECK SUMMARY: \d+ hazards? displayed \((\d+) errors?, (\d+) warnings?\)")


class Tool(enum.StrEnum):
    """What is looked for."""

    MEMCHECK = "memcheck"
    RACECHECK = "racecheck"
    SYNCCHECK = "synccheck"
    INITCHECK = "initcheck"


# The fake backend rehearses the protocol. C on the processor is no business of this program, which would call it clean.
BACKENDS = frozenset({"cuda", "fake"})


@dataclass(frozen=True)
class Installed:
    """The program that was found, and the version that it tells."""

    path: str
    version: str

    def launcher(self, tool: str, log: Path) -> list[str]:
        """Words that stand before the command of the process that is looked at; findings go to ``log``."""
        return [self.path, "--tool", tool, "--log-file", str(log)]


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


def find_sanitizer() -> Installed:
    """Look for the program on PATH, then where CUDA_HOME says.

    Raises
    ------
    InputError
        It is in neither place, or does not start.
    """
    home = os.environ.get("CUDA_HOME", "")
    inside = [str(Path(home) / folder) for folder in ("bin", PROGRAM)] if home else []
    found = shutil.which(PROGRAM) or shutil.which(PROGRAM, path=os.pathsep.join(inside))
    if not found:
        raise InputError(
            f"{PROGRAM} is neither on PATH nor under CUDA_HOME",
            remedy="install NVIDIA's CUDA toolkit, or set CUDA_HOME to its folder",
        )
    return Installed(found, _version(found))


def sanitizer_for(options: RunOptions, backend: str) -> Installed | None:
    """Look for the program where a run asks for a tool; ``None`` where it asks for none.

    Raises
    ------
    InputError
        There is no such tool, options contradict each other, the backend has no GPU code, or the program is missing.
    """
    if options.sanitizer is None:
        if options.where:
            raise InputError("--where goes with --sanitizer", remedy="what is scored is measured on every fixture")
        return None
    if options.sanitizer not in set(Tool):
        raise InputError(f"no sanitizer {options.sanitizer!r}", remedy=f"known are: {', '.join(Tool)}")
    if options.quick or options.resume:
        raise InputError("--sanitizer goes with neither --quick nor --resume", remedy="begin an attempt of its own")
    if backend not in BACKENDS:
        raise InputError(
            f"{PROGRAM} sees GPU code alone, and backend {backend!r} has none", remedy="compile with -fsanitize instead"
        )
    return find_sanitizer()


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
    axes = plan.experiment.axes
    for axis in where:
        if axis not in axes:
            raise InputError(f"there is no axis {axis!r}", remedy=f"--where takes one of: {', '.join(axes)}")
    fixtures = [fixture for fixture in plan.fixtures if _is_wanted(fixture, where)]
    if not fixtures:
        asked = " ".join(f"{axis}={value}" for axis, values in where.items() for value in values)
        raise InputError(f"no fixture has {asked}", remedy="`reportgen plan NAME` lists the values of each axis")
    protocol = replace(plan.experiment.protocol, launches_per_graph=1, most_padding_mib=0.0)
    return replace(plan, fixtures=fixtures, experiment=replace(plan.experiment, protocol=protocol))


def parsed_where(entries: Sequence[str]) -> dict[str, list[str]]:
    """Read ``axis=value`` entries; several of one axis are alternatives.

    Raises
    ------
    InputError
        An entry has no ``=``.
    """
    where: dict[str, list[str]] = {}
    for entry in entries:
        axis, equals, value = entry.partition("=")
        if not (axis and equals and value):
            raise InputError(f"--where takes axis=value, not {entry!r}", remedy="for example --where cache=same-set")
        where.setdefault(axis, []).append(value)
    return where


def _is_wanted(fixture: PlanFixture, where: dict[str, list[str]]) -> bool:
    return all(str(fixture.values[axis]) in values for axis, values in where.items())


def _version(program: str) -> str:
    try:
        told = subprocess.run(  # noqa: S603 - the user's own tool, no shell
            [program, "--version"], capture_output=True, text=True, timeout=VERSION_DEADLINE_S, check=True
        )
    except (OSError, subprocess.SubprocessError) as fault:
        raise InputError(
            f"{PROGRAM} does not start: {fault}", where=program, remedy="repair its installation"
        ) from fault
    lines = [line.strip() for line in told.stdout.splitlines() if line.strip()]
    return next((line for line in lines if line.lower().startswith("version")), lines[-1] if lines else "")


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
