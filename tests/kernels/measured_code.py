"""The code of an experiment's arms: out of the archive where the plan at hand was measured, and compiled here where not.

Compiling every arm of an experiment takes a test minutes of a processor's time. The archive holds the cubins that were timed, made by the same
compiler from sources of the same hashes; that they are what these sources give is seen by compiling one arm again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reportgen.archive import layout
from reportgen.archive.load import scan_attempts
from reportgen.measure.backends.cuda import CudaBuilder, compile_arm
from reportgen.measure.compiling import Patience
from reportgen.measure.controller import plan_of
from reportgen.measure.disassembly import text_section_sha256
from reportgen.model.plan import Plan
from reportgen.project import find_experiment, open_project

ROOT = Path(__file__).parents[2]
PATIENT = Patience(300, lambda: None)


@dataclass(frozen=True)
class Code:
    """A cubin for each arm, in ``folder``, and what the record keeps of their code."""

    folder: Path
    code: dict[str, Any]

    def count(self, arm: str, *opcodes: str) -> int:
        """How often instructions that begin so stand in an arm's code."""
        counts: dict[str, int] = self.code[arm]["opcodes"]
        return sum(number for name, number in counts.items() if name.startswith(opcodes))

    def cubin(self, arm: str) -> Path:
        """Path of an arm's cubin."""
        return self.folder / f"{arm}.cubin"


def measured_code(name: str, again: str, out: Path) -> Code:
    """Give the code of experiment ``name``; of what is archived, arm ``again`` is compiled here and must be the same machine code."""
    plan = plan_of(open_project(ROOT), name)
    archived = _archived(plan)
    if archived is None:
        return compiled_code(plan, out)
    code = Code(layout.binaries_dir(archived), json.loads((layout.artifacts_dir(archived) / "code.json").read_bytes()))
    alone = next(arm for arm in plan.experiment.arms if arm.name == again)
    options = [option for option in plan.backend_options if not option.startswith("backend=")]
    folder = find_experiment(open_project(ROOT), name).folder
    compile_arm(alone, options, folder, out / f"{again}.cubin", PATIENT)
    assert text_section_sha256(code.cubin(again)) == text_section_sha256(out / f"{again}.cubin")
    return code


def compiled_code(plan: Plan, out: Path) -> Code:
    """Compile every arm, as a run does."""
    made = CudaBuilder().build(plan, find_experiment(open_project(ROOT), plan.name), out, PATIENT)
    assert made.warnings == []
    return Code(out, json.loads(made.artifacts["code.json"]))


def _archived(plan: Plan) -> Path | None:
    """Find an attempt with cubins of every arm that is compiled, from the same sources by the same options."""
    attempts, _ = scan_attempts(ROOT / "runs", plan.name)
    return next((one.path for one in attempts if one.sealed and _made_of(one.plan) == _made_of(plan)), None)


def _made_of(plan: Plan) -> tuple[Any, ...]:
    """Tell what the machine code of a plan's arms comes from; questions, fixtures and protocol do not enter."""
    code = {file.path: file.sha256 for file in plan.files if not file.path.endswith((".toml", ".py"))}
    arms = {arm.name: (arm.file, arm.symbol, arm.defines) for arm in plan.experiment.arms if arm.file is not None}
    return code, arms, plan.backend_options
