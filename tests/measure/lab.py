"""A lab in a temporary folder: tiny experiments in C, written as the tests need them, and runs of the real controller."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reportgen.archive.load import Attempt, load_attempt
from reportgen.measure import controller
from reportgen.measure.watching import RunOptions, RunOutcome
from reportgen.project import Project, open_project

PROGRAM = """
import numpy as np
from reportgen.calls import Buffer, KernelCall, Output

def inputs(fixture, rng):
    return {"x": rng.standard_normal((4, fixture["n"])).astype(np.float32)}

def outputs(fixture):
    return {"y": Output((4, fixture["n"]), "float32", absolute=1e-6, relative=1e-6)}

def reference(fixture, inputs):
    return {"y": 2.0 * inputs["x"].astype(np.float64)}

def kernels(arm, fixture, buffers):
    return [KernelCall(arm.symbol, (buffers["x"], buffers["y"], fixture["n"]))]

def bytes_and_flops(fixture):
    return 32 * fixture["n"], 4 * fixture["n"]
"""

KERNEL = """
#include "reportgen_native.h"
void {symbol}(const reportgen_arg *a)
{{
    float *x = a[0].p, *y = a[1].p;
    {body}
}}
"""

RIGHT = "for (int64_t i = 0; i < 4 * a[2].i; i++) y[i] = 2.0f * x[i];"
UNROLLED = "for (int64_t i = 0; i < 4 * a[2].i; i += 2) { y[i] = x[i] + x[i]; y[i + 1] = x[i + 1] + x[i + 1]; }"

TOML = """
schema_version = 1
title = "Doubling"
question = "Is adding faster than multiplying?"
backend = "{backend}"
axes = {{ n = {sizes} }}
seed = 7

[protocol]
repetitions = {repetitions}
spares = {spares}
least_batch_ms = {least_batch_ms}
most_padding_mib = 1
clock_warm_up_s = 0.02
silence_deadline_s = {silence_deadline_s}
start_deadline_s = 30
compile_deadline_s = 30
{protocol}

[[arm]]
name = "base"
role = "incumbent"
idea = "multiply"
file = "base.c"
symbol = "base"

[[arm]]
name = "again"
role = "null"
idea = "the same again"
of = "base"

[[arm]]
name = "idea"
role = "candidate"
idea = "add"
file = "idea.c"
symbol = "idea"
{idea}

{more}
"""


def nothing(name: str, detail: str) -> None:
    """Let a phase begin."""


@dataclass
class Seen:
    """A watch that remembers what it was told, and calls back at a phase if asked."""

    phases: list[str] = field(default_factory=list)
    progress: list[tuple[int, int]] = field(default_factory=list)
    series: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    at_phase: Callable[[str, str], None] = nothing

    def phase(self, name: str, detail: str = "") -> None:
        """Remember a phase."""
        self.phases.append(name)
        self.at_phase(name, detail)

    def repetition_done(
        self, done: int, planned: int, seconds_left: float, rows: Sequence[dict[str, Any]], series: str
    ) -> None:
        """Remember progress."""
        assert seconds_left >= 0
        assert all(not row["warmup"] for row in rows)
        self.progress.append((done, planned))
        self.series.append(series)

    def warning(self, sentence: str) -> None:
        """Remember a warning."""
        self.warnings.append(sentence)


@dataclass
class Lab:
    """An experiment named ``doubling`` under ``root``; ``seen`` is what the last run told."""

    root: Path
    seen: Seen = field(default_factory=Seen)

    @property
    def project(self) -> Project:
        """The lab as the program sees it."""
        return open_project(self.root)

    @property
    def folder(self) -> Path:
        """Folder of the experiment."""
        return self.root / "kernels" / "doubling"

    def write(  # noqa: PLR0913 - each is one thing that a test changes
        self,
        *,
        base: str = RIGHT,
        idea: str = UNROLLED,
        program: str = PROGRAM,
        backend: str = "native",
        sizes: str = "[64]",
        repetitions: int = 2,
        spares: int = 1,
        least_batch_ms: float = 0.05,
        silence_deadline_s: float = 30,
        protocol: str = "",
        idea_keys: str = "",
        more: str = "",
    ) -> None:
        """Write the experiment anew, right in everything but what is given."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "base.c").write_text(KERNEL.format(symbol="base", body=base), encoding="utf-8")
        (self.folder / "idea.c").write_text(KERNEL.format(symbol="idea", body=idea), encoding="utf-8")
        (self.folder / "experiment.py").write_text(program, encoding="utf-8")
        text = TOML.format(
            backend=backend,
            sizes=sizes,
            repetitions=repetitions,
            spares=spares,
            least_batch_ms=least_batch_ms,
            silence_deadline_s=silence_deadline_s,
            protocol=protocol,
            idea=idea_keys,
            more=more,
        )
        (self.folder / "experiment.toml").write_text(text, encoding="utf-8")

    def arm(self, name: str, body: str, role: str = "candidate") -> str:
        """Write one more arm's source; its table for the TOML."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / f"{name}.c").write_text(KERNEL.format(symbol=name, body=body), encoding="utf-8")
        return f'[[arm]]\nname = "{name}"\nrole = "{role}"\nidea = "-"\nfile = "{name}.c"\nsymbol = "{name}"\n\n'

    def run(self, at_phase: Callable[[str, str], None] = nothing, **options: Any) -> RunOutcome:
        """Run the real controller in this process."""
        self.seen = Seen(at_phase=at_phase)
        return controller.run(self.project, "doubling", RunOptions(**options), self.seen)

    def load(self, outcome: RunOutcome) -> Attempt:
        """Load the attempt that a run left."""
        assert outcome.path is not None
        return load_attempt(outcome.path)
