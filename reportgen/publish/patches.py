"""Patches: of each arm that may be adopted the unified diff that turns its baseline's archived source into its own.

``git apply`` and ``patch`` pass over what stands before the diff; there a patch says what was measured of it. What arms
differ in beside their files, macros that the compiler was given, stands at the top of the patched file.
"""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from reportgen.archive import layout
from reportgen.archive.encoding import read_bytes
from reportgen.archive.load import Attempt
from reportgen.archive.select import Record
from reportgen.model.experiment import Arm, Role
from reportgen.model.plan import PYTHON, Plan, PlanFile
from reportgen.model.result import ComparisonResult, GateResult, Promotion, Result
from reportgen.publish import lookup, wording
from reportgen.publish.view import SIMULATED

FOLDER = "patches"
ADOPTABLE = (Role.CANDIDATE, Role.CONTROL)
BEGIN = b"diff --git "
_WIDTH = 110
_UNENDED = "\n\\ No newline at end of file\n"


@dataclass(frozen=True)
class Pair:
    """An arm that may be adopted, and one that it is compared with, each with its file in the plan, if it has one."""

    arm: Arm
    baseline: Arm
    files: tuple[PlanFile | None, PlanFile | None]

    @property
    def path(self) -> str:
        """Where its patch lies in the record's folder."""
        return f"{FOLDER}/{self.arm.name}-vs-{self.baseline.name}.patch"

    def macros(self) -> dict[str, str | int | None]:
        """Macros that differ, as the arm has them; null where only the baseline has one. Those that merely name the entry point are left out."""
        own, other = self.arm.defines, self.baseline.defines
        differing = [name for name in dict.fromkeys((*own, *other)) if own.get(name) != other.get(name)]
        naming = [
            name for name in differing if (own.get(name), other.get(name)) == (self.arm.symbol, self.baseline.symbol)
        ]
        return {name: own.get(name) for name in differing if name not in naming}

    @property
    def keeps_symbol(self) -> bool:
        """Whether the patched file has the baseline's entry point: its name is a macro in both."""
        return self.arm.symbol in self.arm.defines.values() and self.baseline.symbol in self.baseline.defines.values()


def pairs(plan: Plan) -> list[Pair]:
    """List what may be adopted with every arm that it is compared with, in the order of the plan."""
    arms = {arm.name: arm for arm in plan.experiment.arms}
    named = dict.fromkeys((one.candidate, one.baseline) for one in plan.comparisons)
    return [
        Pair(arms[own], arms[other], (_file(plan, arms[own]), _file(plan, arms[other])))
        for own, other in named
        if arms[own].role in ADOPTABLE
    ]


def _file(plan: Plan, arm: Arm) -> PlanFile | None:
    """Find an arm's file beside the plan's declaration."""
    declared = next((one.path for one in plan.files if PurePosixPath(one.path).match("experiment*.toml")), "")
    path = str(PurePosixPath(declared).with_name(arm.file)) if declared and arm.file else None
    return next((one for one in plan.files if one.path == path), None)


def why_none(pair: Pair) -> str:
    """Say why two arms have no patch between them; empty where they have one."""
    own, other = pair.files
    if own is None or other is None:
        return f"No source of both is in the record. {_given(pair.arm)}; {_given(pair.baseline)}."
    if PurePosixPath(own.path).suffix != PurePosixPath(other.path).suffix:
        return f"They are written in different languages: {own.path} and {other.path}."
    macros = {} if own.path.endswith(PYTHON) else pair.macros()
    if own.sha256 == other.sha256 and not macros:
        return f"Both are entry points of {own.path}: {pair.arm.symbol} and {pair.baseline.symbol}."
    return ""


def _given(arm: Arm) -> str:
    environment = [f"{name}={value}" for name, value in sorted(arm.environment.items())]
    return f"{arm.name} is given {' '.join([*environment, *arm.arguments]) or arm.file or 'nothing'}"


def patches_of(record: Record, result: Result) -> dict[str, bytes]:
    """Make every patch of a record from its archived sources, by path in the record's folder.

    Raises
    ------
    RecordError
        An archived source cannot be read.
    """
    sources = layout.sources_dir(record.attempts[0].path)
    found = {}
    for pair in pairs(record.plan):
        if not why_none(pair):
            texts = {file.path: read_bytes(sources / file.path) for file in pair.files if file}
            head = "".join(f"{line}\n" for line in _head(record, result, pair))
            found[pair.path] = head.encode() + body(pair, texts)
    return found


def diff_of(patch: bytes) -> bytes:
    """Leave out what stands before the diff."""
    return BEGIN + patch.partition(b"\n" + BEGIN)[2]


def body(pair: Pair, sources: Mapping[str, bytes]) -> bytes:
    """Make the diff alone, byte for byte between two files; ``sources`` holds them by path."""
    own, other = pair.files
    if own is None or other is None:
        return b""
    # Latin-1 gives every byte a letter, so that no encoding and no odd end of a line is lost.
    before, after = (sources[file.path].decode("latin-1") for file in (other, own))
    after = _macros(pair) + after
    lines = difflib.unified_diff(_lines(before), _lines(after), f"a/{other.path}", f"b/{other.path}", lineterm="\n")
    text = "".join(line if line.endswith("\n") else line + _UNENDED for line in lines)
    return BEGIN + f"a/{other.path} b/{other.path}\n{text}".encode("latin-1")


def _macros(pair: Pair) -> str:
    if pair.arm.file and pair.arm.file.endswith(PYTHON):
        return ""
    lines = [
        f"#undef {name}\n" + ("" if value is None else f"#define {name} {value}\n")
        for name, value in pair.macros().items()
    ]
    return "".join(lines) + "\n" * bool(lines)


def _lines(text: str) -> list[str]:
    """Split at line feeds alone, as git does."""
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + lines[-1:] * bool(lines[-1])


def _head(record: Record, result: Result, pair: Pair) -> Iterator[str]:
    """Say what the patch is and what was measured of it, line by line, in a form that no tool takes for a diff."""
    for paragraph in (
        f"{pair.arm.name} in place of {pair.baseline.name}: {pair.arm.idea}.",
        f"Record {record.name}@{record.slug}, at records/{lookup.slug(record.name)}/{record.slug}/ of the site that published it. Plan {record.digest}.",
        *(_attempt(attempt) for attempt in record.attempts),
        *_use(pair),
        f"Time against {pair.baseline.name}; {wording.DIRECTION}.",
        *(_judged(one) for one in result.comparisons if (one.arm, one.baseline) == (pair.arm.name, pair.baseline.name)),
        *_promoted(result, pair),
        *(_gate(one) for one in result.gates if (one.arm, one.baseline) == (pair.arm.name, pair.baseline.name)),
    ):
        yield from textwrap.wrap(
            paragraph, _WIDTH, initial_indent="# ", subsequent_indent="#   ", break_long_words=False
        )


def _attempt(attempt: Attempt) -> str:
    known = attempt.manifest
    made_up = f" {wording.SIMULATED}" if known.device.kind == SIMULATED else ""
    counts = known.counts
    return (
        f"Attempt {known.id} on {known.device.model}: {wording.count(counts.batches)} scored batches; "
        f"{wording.plural(counts.checks, 'check')} of all arms, of which {wording.count(counts.failed_checks)} failed.{made_up}"
    )


def _use(pair: Pair) -> Iterator[str]:
    own, other = pair.files
    if own is None or other is None:
        return
    folder = PurePosixPath(other.path).parts[0]
    yield f"Apply it in the folder that holds {folder}/ (in the record: artifacts/sources/ of an attempt) by git apply; inside a git repository from its top, with --directory=PATH of that folder. SHA-256 of {other.path} before it: {other.sha256}."
    if pair.macros() and not own.path.endswith(PYTHON):
        yield "Macros that the compiler was given for this arm stand at the top of the file; all other options stay the baseline's."
    if pair.arm.symbol != pair.baseline.symbol:
        name = pair.baseline.symbol if pair.keeps_symbol else pair.arm.symbol
        yield f"The entry point is then {name}" + (
            "." if pair.keeps_symbol else f", where it was {pair.baseline.symbol}."
        )


def _judged(one: ComparisonResult) -> str:
    where = "; ".join(
        f"{axis} is {wording.names([str(value) for value in values])}" for axis, values in one.where.items()
    )
    ends = wording.interval(one.low, one.high, plain=True)
    said = "" if one.headline is None else f"{wording.change(one.headline, plain=True)} ({ends}), "
    place = f"{one.slice} where {where}" if where else one.slice
    return f"{place}: {said}{wording.verdict(one.verdict, plain=True)}. {wording.REASONS[one.reason]}"


def _promoted(result: Result, pair: Pair) -> Iterator[str]:
    found: dict[Promotion, list[str]] = {}
    for one in result.promotions:
        if one.arm == pair.arm.name and pair.baseline.name in (one.incumbent, one.control):
            found.setdefault(one.outcome, []).append(one.slice)
    for outcome, slices in found.items():
        yield f"Outcome {outcome.value}: {'; '.join(slices)}."


def _gate(gate: GateResult) -> str:
    found = [f"{band.verdict.value} from {band.first} to {band.last}" for band in gate.bands]
    bands = f" ({'; '.join(found) or 'no band'})" if gate.points else ""
    return f"Gate {gate.name}, {gate.slice}: {wording.GATES[gate.outcome]}{bands}."
