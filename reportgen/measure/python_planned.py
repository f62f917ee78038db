"""Whether the arms in Python of an experiment can be measured as declared."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from reportgen.errors import InputError
from reportgen.model.experiment import Arm, Experiment
from reportgen.model.plan import in_python
from reportgen.model.protocol import Launching
from reportgen.project import ExperimentFolder

LAUNCHING = frozenset({"cuda", "fake"})
REMEDY = "see `Arms in Python` in `reportgen manual writing-experiments`"


def check_python(folder: ExperimentFolder, experiment: Experiment, arms: Iterable[Arm], backend: str) -> None:
    """See that arms in Python have a function and nothing that only compiled code has, and that the backend can call them.

    Raises
    ------
    InputError
        One cannot be measured; the sentence says why.
    """
    where = str(folder.toml)
    if experiment.protocol.launching is not Launching.GRAPH and backend not in LAUNCHING:
        raise InputError(
            f"protocol.launching is of the GPU's backend, and this is {backend!r}", where=where, remedy="leave it out"
        )
    own = {arm.name: arm for arm in arms if in_python(arm)}
    for arm in own.values():
        if backend not in LAUNCHING:
            raise InputError(
                f"arm {arm.name!r} is in Python, which backend {backend!r} does not call",
                where=where,
                remedy="backends cuda and fake do",
            )
        if arm.defines:
            raise InputError(
                f"arm {arm.name!r} is in Python and has `defines`", where=where, remedy="write a function for each arm"
            )
        if arm.of is None:
            _check_function(folder, arm)
    for harness in experiment.harnesses:
        for name in harness.arms:
            if name in own:
                raise InputError(
                    f"harness {harness.name!r} times kernels, and arm {name!r} is in Python",
                    where=where,
                    remedy="leave it out",
                )


def _check_function(folder: ExperimentFolder, arm: Arm) -> None:
    path = folder.folder / str(arm.file)
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError) as fault:
        line = f":{fault.lineno}" if isinstance(fault, SyntaxError) else ""
        raise InputError(f"is no Python: {fault}", where=f"{path}{line}", remedy="correct it") from fault
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    if arm.symbol not in functions:
        raise InputError(
            f"defines no function {arm.symbol!r}, which arm {arm.name!r} names as its symbol",
            where=str(path),
            remedy=REMEDY,
        )
