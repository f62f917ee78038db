"""A small experiment on disk, to be varied by the tests."""

from __future__ import annotations

from pathlib import Path

from reportgen.measure.planning import make_plan
from reportgen.model.plan import Plan
from reportgen.project import ExperimentFolder, read_experiment

TOML = """\
schema_version = 1
title = "Adding up"
question = "Does unrolling pay?"
backend = "native"
slicing = ["size"]

[axes]
size = ["small", "large"]
cache = ["same-set"]
rows = [1, 64]

[compile]
options = ["-O2"]
headers = ["add.h", "common/shared.h"]

[[arm]]
name = "plain"
role = "incumbent"
idea = "the loop in use"
file = "plain.c"
symbol = "add_plain"

[[arm]]
name = "plain_again"
role = "null"
idea = "the loop again"
of = "plain"

[[arm]]
name = "matched"
role = "control"
idea = "the bookkeeping of unrolling, without it"
file = "matched.c"
symbol = "add_matched"

[[arm]]
name = "matched_again"
role = "null"
idea = "the control again"
of = "matched"

[[arm]]
name = "unrolled"
role = "candidate"
idea = "four at a time"
file = "unrolled.c"
symbol = "add_unrolled"
control = "matched"

[[arm]]
name = "empty"
role = "floor"
idea = "returns at once"
file = "empty.c"
symbol = "add_empty"
"""


def write(root: Path, *replacements: tuple[str, str], more: str = "", name: str = "adding") -> ExperimentFolder:
    """Write the experiment into a lab at ``root``, with replacements made in its TOML and ``more`` appended."""
    folder = root / "kernels" / name
    common = root / "kernels" / "common"
    folder.mkdir(parents=True)
    common.mkdir(exist_ok=True)
    text = TOML
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    (folder / "experiment.toml").write_text(text + more, encoding="utf-8")
    (folder / "experiment.py").write_text("", encoding="utf-8")
    (folder / "add.h").write_text("int n;\n", encoding="utf-8")
    (common / "shared.h").write_text("int m;\n", encoding="utf-8")
    for arm in ("plain", "matched", "unrolled", "empty"):
        (folder / f"{arm}.c").write_text(f'#include "add.h"\nvoid add_{arm}(void) {{}}\n', encoding="utf-8")
    return ExperimentFolder(name, folder, folder / "experiment.toml")


def planned(folder: ExperimentFolder, backend: str = "native") -> Plan:
    """Read the experiment and plan it."""
    return make_plan(folder, read_experiment(folder), backend=backend)
