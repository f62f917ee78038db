"""One question to an outside program, and its answer: a line of JSON with five fields. Standard library and NumPy only.

The program is started anew for every question, with the arm's arguments and environment; what it is asked stands in placeholders of
its arguments and in its environment. A resident one is started once and asked on its standard input. docs/commands.md is the contract.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reportgen.calls import Arm, Buffer, Fixture, KernelCall, Output
from reportgen.errors import FindingError
from reportgen.measure.backends.command_resident import Resident

FIELDS = ("arm", "fixture", "launches", "elapsed_ns", "check")
CHECK = "check"
DIGEST_BYTES = 32
PREFIX = "REPORTGEN_"
_SHOWN = 200


@dataclass(frozen=True)
class Question:
    """What a program is asked: one arm on one fixture, so many executions after so many untimed ones."""

    arm: str
    fixture: str
    values: Mapping[str, Any]
    launches: int
    lead_in: int


@dataclass(frozen=True)
class Answer:
    """What it did: ``elapsed_ns`` for ``launches`` executions, and ``check``, which stands for what it computed."""

    launches: int
    elapsed_ns: float
    check: Any


class Program:
    """The commands of all arms, as the builder wrote them down."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self._arms: dict[str, dict[str, Any]] = facts["arms"]
        self._folder, self._deadline_s = str(facts["folder"]), float(facts["deadline_s"])
        self.resident = bool(facts.get("resident"))
        self._living: dict[str, Resident] = {}

    @classmethod
    def of(cls, path: Path) -> Program:
        """Read what the builder wrote."""
        return cls(json.loads(path.read_text(encoding="utf-8")))

    def ask(self, question: Question) -> Answer:
        """Start the arm's program, wait for its end and read its answer.

        Raises
        ------
        FindingError
            It cannot be started, takes too long, ends with another status than 0, or answers something else than it was asked.
        """
        where = f"arm {question.arm!r}, fixture {question.fixture}"
        if self.resident:
            return self._ask_resident(question, where)
        command = self._arms[question.arm]
        told = placeholders(question)
        argv = [part.format_map(told) for part in command["argv"]]
        environment = dict(os.environ) | {f"{PREFIX}{name.upper()}": str(value) for name, value in told.items()}
        try:
            ended = subprocess.run(  # noqa: S603 - the experiment's own program, no shell
                argv,
                cwd=self._folder,
                env=environment | command["environment"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=self._deadline_s,
                check=False,
            )
        except subprocess.TimeoutExpired as fault:
            raise FindingError(
                f"its program took longer than {self._deadline_s:g} s", where=where, remedy="see [command] deadline_s"
            ) from fault
        except OSError as fault:
            raise FindingError(f"its program {argv[0]!r} cannot be started: {fault.strerror}", where=where) from fault
        if ended.returncode:
            raise FindingError(f"its program ended with status {ended.returncode}: {_last(ended.stderr)}", where=where)
        return read_answer(ended.stdout.decode("utf-8", "replace"), question, where)

    def start(self, arm: str) -> None:
        """Start an arm's program where it is a resident one and does not live yet.

        Raises
        ------
        FindingError
            It cannot be started.
        """
        if not self.resident or arm in self._living:
            return
        command, told = self._arms[arm], {"arm": arm}
        argv = [part.format_map(told) for part in command["argv"]]
        environment = dict(os.environ) | {f"{PREFIX}ARM": arm} | command["environment"]
        with self._said_of(f"arm {arm!r}"):
            self._living[arm] = Resident(argv, self._folder, environment, self._deadline_s)

    def end(self) -> None:
        """Let every living program end.

        Raises
        ------
        FindingError
            One does not end as it must; the others are ended at once.
        """
        while self._living:
            arm, resident = self._living.popitem()
            with self._said_of(f"arm {arm!r}"):
                resident.end()

    def _ask_resident(self, question: Question, where: str) -> Answer:
        self.start(question.arm)
        with self._said_of(where):
            line = self._living[question.arm].ask(placeholders(question))
            return read_answer(line, question, where)

    @contextmanager
    def _said_of(self, where: str) -> Iterator[None]:
        """Lay a fault at its place; no program outlives it."""
        try:
            yield
        except FindingError as fault:
            while self._living:
                self._living.popitem()[1].kill()
            raise FindingError(fault.what, where=fault.where or where, remedy=fault.remedy) from fault


def placeholders(question: Question) -> dict[str, Any]:
    """Name what stands in the place of ``{name}`` in arguments, and under ``REPORTGEN_NAME`` in the environment."""
    asked = {
        "arm": question.arm,
        "fixture": question.fixture,
        "launches": question.launches,
        "lead_in": question.lead_in,
    }
    return {**question.values, **asked}


def read_answer(text: str, question: Question, where: str) -> Answer:
    """Find the one line of JSON with the five fields; lines that begin otherwise are a program's own talk.

    Raises
    ------
    FindingError
        There is none or more than one, a field is missing, or it speaks of another arm, fixture or number.
    """
    lines = [line for line in text.splitlines() if line.startswith("{")]
    if len(lines) != 1:
        raise FindingError(
            f"its program answered {len(lines)} lines of JSON, not 1",
            where=where,
            remedy="print one line with the fields " + ", ".join(FIELDS),
        )
    try:
        found = json.loads(lines[0])
    except ValueError as fault:
        raise FindingError(f"its answer is no JSON: {fault}", where=where) from fault
    missing = [field for field in FIELDS if field not in found]
    if missing or len(found) != len(FIELDS):
        raise FindingError(
            f"its answer has the fields {', '.join(found)}", where=where, remedy=f"they are {', '.join(FIELDS)}"
        )
    asked = {"arm": question.arm, "fixture": question.fixture, "launches": question.launches}
    for field, due in asked.items():
        if found[field] != due:
            raise FindingError(
                f"its answer says {field} {str(found[field])[:_SHOWN]!r}, asked was {due!r}", where=where
            )
    elapsed_ns = found["elapsed_ns"]
    good = isinstance(elapsed_ns, int | float) and not isinstance(elapsed_ns, bool) and math.isfinite(elapsed_ns)
    if not good or elapsed_ns <= 0:
        raise FindingError(f"its answer says elapsed_ns {str(elapsed_ns)[:_SHOWN]!r}, which is no time", where=where)
    return Answer(question.launches, float(elapsed_ns), found[CHECK])


def _last(data: bytes) -> str:
    lines = data.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:_SHOWN] if lines else "it said nothing"


def digest(check: Any) -> NDArray[np.uint8]:
    """Give 32 bytes that stand for a check: the SHA-256 of its JSON without spaces."""
    text = json.dumps(check, separators=(",", ":"), sort_keys=True)
    return np.frombuffer(hashlib.sha256(text.encode()).digest(), np.uint8)


def written(check: Any, output: Output, where: str) -> NDArray[Any]:
    """Give what a check writes into its output: its digest, or the numbers that it is where the experiment declares numbers.

    Raises
    ------
    FindingError
        They are not as many numbers as the experiment declares.
    """
    if np.dtype(output.dtype) == np.uint8:
        return digest(check)
    try:
        return np.asarray(check, dtype=output.dtype).reshape(output.shape)
    except (TypeError, ValueError) as fault:
        raise FindingError(f"its check is not {output.shape} numbers of {output.dtype}", where=where) from fault


class Described:
    """What an experiment without ``experiment.py`` provides: the check alone, equal to what the incumbent answers in a process of its own."""

    def __init__(self, path: str, incumbent: str) -> None:
        self._path, self._incumbent = Path(path), incumbent

    def inputs(self, fixture: Fixture, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        """There are none: the program has its own."""
        del fixture, rng
        return {}

    def outputs(self, fixture: Fixture) -> dict[str, Output]:
        """Declare the digest of the check."""
        del fixture
        return {CHECK: Output((DIGEST_BYTES,), "uint8", absolute=0.0, relative=0.0)}

    def reference(self, fixture: Fixture, inputs: dict[str, NDArray[Any]]) -> dict[str, NDArray[np.float64]]:
        """Ask the incumbent once."""
        del inputs
        program = Program.of(self._path)
        answer = program.ask(Question(self._incumbent, fixture.name, fixture.values, 1, 0))
        program.end()
        return {CHECK: digest(answer.check).astype(np.float64)}

    def kernels(self, arm: Arm, fixture: Fixture, buffers: dict[str, Buffer]) -> list[KernelCall]:
        """Name one call that nobody makes."""
        del fixture
        return [KernelCall(arm.symbol or arm.name, (buffers[CHECK],))]

    def bytes_and_flops(self, fixture: Fixture) -> tuple[int, int]:
        """Nobody knows."""
        del fixture
        return 0, 0
