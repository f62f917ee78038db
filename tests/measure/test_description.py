"""What an experiment may leave out, and what it may say of its graphs and of its kernels' names."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest

from reportgen.calls import Arm, Fixture
from reportgen.errors import InputError
from reportgen.measure.description import Description

FIXTURE = Fixture("size=1", {"size": 1}, 1)
PROGRAM = """
import numpy as np
from reportgen.calls import KernelCall, Output

def inputs(fixture, rng):
    return {"x": np.ones(4, np.float32)}

def outputs(fixture):
    return {"y": Output((4,), "float32", 0.0, 0.0)}

def reference(fixture, inputs):
    return {"y": inputs["x"].astype(np.float64)}

def kernels(arm, fixture, buffers):
    return [KernelCall("%s", (buffers["x"], buffers["y"]))]

def bytes_and_flops(fixture):
    return 32, 0
"""


def described(folder: Path, symbol: str = "copy", more: str = "") -> Description:
    """Load an experiment that calls one kernel."""
    (folder / "experiment.py").write_text(PROGRAM % symbol + more)
    return Description(folder / "experiment.py")


def launches(folder: Path, more: str) -> int | None:
    """Ask for the executions of a graph."""
    return described(folder, more=more).shapes(FIXTURE, {"x": np.ones(4, np.float32)}).launches


def test_an_experiment_may_say_how_many_launches_a_graph_has(tmp_path: Path) -> None:
    """By fixture; silence leaves it to the protocol."""
    assert launches(tmp_path, "") is None
    assert launches(tmp_path, "\ndef launches(fixture):\n    return 40 * fixture['size']\n") == 40


@pytest.mark.parametrize("count", ["0", "1.5", "None"])
def test_launches_are_a_whole_number(tmp_path: Path, count: str) -> None:
    """The line names the function."""
    with pytest.raises(InputError, match=r"launches\(\) must return a whole number of at least 1"):
        launches(tmp_path, f"\ndef launches(fixture):\n    return {count}\n")


@pytest.mark.parametrize("symbol", ["copy", "copy_wide"])
def test_kernels_that_bear_the_arms_entry_point_in_their_name_are_its_own(tmp_path: Path, symbol: str) -> None:
    """The entry point itself, or one that begins with it and an underscore."""
    (call,) = described(tmp_path, symbol).kernels(Arm("copy", "incumbent", "copy"), FIXTURE, {"x": 16, "y": 16})
    assert symbol == call.symbol


@pytest.mark.parametrize("symbol", ["copywide", "other", "other_copy_"])
def test_a_call_of_another_arms_kernel_alone_is_refused(tmp_path: Path, symbol: str) -> None:
    """It would time that arm twice under two names."""
    with pytest.raises(InputError, match="never calls 'copy'"):
        described(tmp_path, symbol).kernels(Arm("copy", "incumbent", "copy"), FIXTURE, {"x": 16, "y": 16})


def test_an_arm_writes_all_outputs_unless_the_experiment_says_which(tmp_path: Path) -> None:
    """By arm; what is no output, or nothing at all, is refused."""
    arm, other = Arm("adds", "candidate", "adds"), Arm("plain", "incumbent", "plain")
    assert ["y"] == list(described(tmp_path).written(arm, FIXTURE))
    more = "\ndef outputs(fixture):\n    return {name: Output((4,), 'float32', 0.0, 0.0) for name in 'yz'}\n"
    more += "\ndef written(arm, fixture):\n    return {'adds': ('z', 'y'), 'plain': ('y',)}.get(arm.name, 'q')\n"
    both = described(tmp_path, more=more)
    assert [["y", "z"], ["y"]] == [list(both.written(one, FIXTURE)) for one in (arm, other)]
    with pytest.raises(InputError, match=r"written\(\) must name outputs for arm 'else', one at least, not \['q'\]"):
        both.written(Arm("else", "probe", "else"), FIXTURE)


def test_the_experiments_functions_are_found_by_their_modules_name(tmp_path: Path) -> None:
    """As compilers look them up that are given one (torch.compile)."""
    described(tmp_path)
    assert importlib.import_module("reportgen_experiment").__file__ == str(tmp_path / "experiment.py")
