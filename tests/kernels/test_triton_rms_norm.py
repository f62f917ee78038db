"""The worked example of arms in Python: its plan, its reference and tolerance, and its kernels carried out in NumPy."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from reportgen.calls import Fixture
from reportgen.measure.backends.cuda import CudaBuilder
from reportgen.measure.compiling import Patience
from reportgen.measure.controller import plan_of
from reportgen.measure.correctness import compare_values
from reportgen.measure.faults import load_module
from reportgen.measure.job import JobArm
from reportgen.measure.python_arms import PythonArms
from reportgen.project import find_experiment, open_project
from tests.kernels.triton_stub import install

ROOT = Path(__file__).parents[2]
NAME = "triton_rms_norm"
FOLDER = ROOT / "kernels" / NAME
ROWS = 64
COLUMNS = (1024, 8192)


@pytest.fixture(scope="module")
def program() -> ModuleType:
    """Load the experiment's functions, over fewer rows."""
    module = load_module(FOLDER / "experiment.py", "triton_rms_norm_experiment")
    vars(module)["ROWS"] = ROWS
    return module


def fixture(columns: int) -> Fixture:
    """Give a fixture as the functions see it."""
    return Fixture(f"cache=same-set,columns={columns}", {"cache": "same-set", "columns": columns}, 5)


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize(("arm", "warps"), [("rms_4_warps", 4), ("rms_8_warps", 8), ("rms_16_warps", 16)])
def test_every_arm_in_python_computes_what_the_reference_says(
    monkeypatch: pytest.MonkeyPatch, program: ModuleType, arm: str, warps: int, columns: int
) -> None:
    """On the timed inputs and on the changed ones, within the derived tolerance; one program a row, with the arm's warps."""
    launches = install(monkeypatch)
    python, here = PythonArms(), fixture(columns)
    python.load([JobArm("idea", "candidate", arm, None, str(FOLDER / "rows.py"))])
    rng = np.random.Generator(np.random.Philox(3))
    for inputs in (program.inputs(here, rng), program.cases(here, rng)[0]):
        buffers = inputs | {"y": np.full((ROWS, columns), np.nan, np.float16)}
        assert python.prepare("idea", here, buffers, 7, stepped=False)(0) is None
        (output,) = program.outputs(here).values()
        found = compare_values(buffers["y"].view(np.uint8).reshape(-1), program.reference(here, inputs)["y"], output)
        assert found.passed
    assert {"grid": (ROWS,), "num_warps": warps, "COLUMNS": columns} == launches[-1]


def test_a_norm_that_leaves_the_mean_out_fails(program: ModuleType) -> None:
    """The tolerance is tight enough to see one element of 8,192 missing from the mean."""
    here = fixture(8192)
    inputs = program.inputs(here, np.random.Generator(np.random.Philox(3)))
    x, weight = inputs["x"].astype(np.float64), inputs["weight"].astype(np.float64)
    wrong = x / np.sqrt((x * x).sum(axis=1, keepdims=True) / 8200 + 1e-6) * weight * (1 + 2**-10)
    found = compare_values(
        wrong.astype(np.float16).view(np.uint8).reshape(-1),
        program.reference(here, inputs)["y"],
        program.outputs(here)["y"],
    )
    assert not found.passed


def test_the_plan_names_what_is_asked(tmp_path: Path) -> None:
    """Arms of both kinds, the files of both covered; the compiled ones become cubins, those in Python a text that names their libraries."""
    project = open_project(ROOT)
    plan = plan_of(project, NAME)
    assert ["warps_4", "warps_4_again", "warps_8", "warps_16", "copied"] == [arm.name for arm in plan.python_arms]
    assert ["cuda_rows", "floor"] == [arm.name for arm in plan.compiled_arms]
    assert {"rows.py", "rows.cu", "floor.cu", "experiment.py"} < {Path(file.path).name for file in plan.files}
    built = CudaBuilder().build(plan, find_experiment(project, NAME), tmp_path, Patience(60, lambda: None))
    assert built.arms["warps_4"].sha256 == built.arms["warps_4_again"].sha256 != built.arms["warps_8"].sha256
    assert {"binaries/warps_8.json", "binaries/cuda_rows.cubin"} < set(built.artifacts)
    assert built.arms["warps_8"].file.endswith("rows.py")


def test_a_rotating_fixture_passes_three_caches(program: ModuleType) -> None:
    """Of the H200's 50 MB; and a graph has every copy."""
    vars(program)["ROWS"] = 4096
    for columns in (1024, 2048, 4096, 8192):
        here = Fixture("", {"cache": "rotating", "columns": columns}, 1)
        moved, _ = program.bytes_and_flops(here)
        assert program.sets(here) * moved >= 3 * 50 << 20
        assert program.launches(here) >= 4
    vars(program)["ROWS"] = ROWS
