"""The page on writing experiments names every key, and its example compiles, plans and computes what it says."""

from __future__ import annotations

import ctypes
import dataclasses
import importlib.util
import re
import subprocess
from pathlib import Path
from types import ModuleType

import msgspec
import numpy as np
import pytest

from reportgen import calls
from reportgen.errors import InputError
from reportgen.measure.backends.cuda_options import OPTIONS, keywords
from reportgen.measure.backends.fake_session import Times
from reportgen.measure.disassembly import compare_text
from reportgen.model import experiment as model
from reportgen.model.building import Command, Compile
from reportgen.model.experiment import GateKind, Role
from reportgen.model.plan import Plan, PlanFixture
from reportgen.model.protocol import Exclusion, Mode, Protocol
from reportgen.project import ExperimentFolder
from tests.measure.adding import planned

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "writing-experiments.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```\n", PAGE, re.DOTALL))
NOUNS = (
    model.Experiment,
    model.Arm,
    model.ExtraFixture,
    model.Comparison,
    model.Gate,
    model.Harness,
    Compile,
    Command,
    Protocol,
)


class Argument(ctypes.Union):
    """``reportgen_arg`` of the native interface."""

    _fields_ = (("p", ctypes.c_void_p), ("i", ctypes.c_int64), ("f", ctypes.c_double))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> ExperimentFolder:
    """Write the example into a lab of its own."""
    path = tmp_path_factory.mktemp("lab") / "kernels" / "row_sums"
    path.mkdir(parents=True)
    for name, text in FILES.items():
        (path / name).write_text(text, encoding="utf-8")
    return ExperimentFolder("row_sums", path, path / "experiment.toml")


@pytest.fixture(scope="module")
def plan(folder: ExperimentFolder) -> Plan:
    """Plan the example."""
    return planned(folder)


@pytest.fixture(scope="module")
def objects(folder: ExperimentFolder, plan: Plan) -> dict[str, Path]:
    """Compile every arm on its own, warnings being errors."""
    found = {}
    for arm in plan.experiment.arms:
        assert arm.file is not None
        found[arm.name] = folder.folder / f"{arm.name}.so"
        include = ROOT / "reportgen" / "measure" / "backends"
        options = ["-Wall", "-Wextra", "-Werror", *plan.experiment.compile.options, "-shared", "-fPIC", f"-I{include}"]
        subprocess.run(["cc", *options, arm.file, "-o", str(found[arm.name])], cwd=folder.folder, check=True)
    return found


@pytest.fixture(scope="module")
def program(folder: ExperimentFolder) -> ModuleType:
    """Load the example's experiment.py."""
    spec = importlib.util.spec_from_file_location("row_sums_experiment", folder.folder / "experiment.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_key_of_an_experiment_stands_on_the_page() -> None:
    """A key that is added to the model and not to the page fails here; so does a role or a kind of gate."""
    keys = {field.encode_name for noun in (*NOUNS, Exclusion) for field in msgspec.structs.fields(noun)}
    words = {*keys, *Role, *GateKind, *(field.name for field in msgspec.structs.fields(model.Source))}
    assert [] == sorted(word for word in words if f"`{word}`" not in PAGE and f"{word} = " not in PAGE)


def test_defaults_on_the_page_are_those_of_the_model() -> None:
    """Every row of the protocol's tables, read as text."""
    rows = re.findall(r"^\| `(\w+)` \| ([^|]*) \| ", PAGE, re.MULTILINE)
    for noun in (Protocol, Exclusion):
        for field in msgspec.structs.fields(noun):
            if field.name not in ("exclude", "modes"):
                assert (field.name, str(field.default).replace("True", "`true`")) in rows
    assert ("modes", '`["process"]`') in rows
    assert [Mode.PROCESS] == Protocol().modes


def test_every_key_of_the_simulation_stands_on_the_page() -> None:
    """The table of the last section, key for key."""
    table = PAGE.partition("`[fake]` says which")[2]
    keys = {name.name for name in dataclasses.fields(Times)} - {"faults"} | {"fault"}
    assert keys == set(re.findall(r"`(\w+)`(?=[^|]*\| [^|]* \| )", table))


def test_every_option_of_the_cuda_compiler_stands_on_the_page() -> None:
    """Those that the backend knows, and its defaults."""
    with pytest.raises(InputError) as caught:
        keywords(["--unknown"])
    known = re.findall(r"--[\w-]+", caught.value.remedy)
    assert len(known) > 10
    assert [] == [name for name in known if f"`{name}`" not in PAGE and f"`{name}=`" not in PAGE]
    for option in OPTIONS:
        name, _, value = option.partition("=")
        row = next(line for line in PAGE.splitlines() if line.startswith("| `--") and f"`{name}=`" in line)
        assert f"`{value}`" in row


def test_the_example_is_planned_as_the_page_says(plan: Plan) -> None:
    """Exclusion, extra fixture, slices and comparisons of the declaration."""
    assert [
        ("size=small,columns=256", False),
        ("size=small,columns=1024", False),
        ("size=large,columns=1024", False),
        ("size=small,columns=7", True),
    ] == [(fixture.name, fixture.checks_only) for fixture in plan.fixtures]
    assert ["size=small", "size=large"] == [part.name for part in plan.slices]
    assert [
        ("plain_again", "plain"),
        ("blocked", "plain"),
        ("blocked_again", "blocked"),
        ("four_sums", "plain"),
        ("four_sums", "blocked"),
        ("four_sums", "blocked"),
    ] == [(comparison.candidate, comparison.baseline) for comparison in plan.comparisons]
    assert {"columns": [1024]} == plan.comparisons[-1].where


def test_the_examples_arms_are_the_code_that_they_claim_to_be(plan: Plan, objects: dict[str, Path]) -> None:
    """Nulls equal their originals, ideas differ."""
    found = compare_text(plan.experiment.arms, objects)
    assert ([], []) == (found.unequal_nulls, found.identical)


def test_the_examples_outputs_are_right(plan: Plan, objects: dict[str, Path], program: ModuleType) -> None:
    """Within the stated tolerance on every fixture, awkward shape included; bit for bit where it says so."""
    for planned_fixture in plan.fixtures:
        fixture = _seen(planned_fixture)
        inputs = program.inputs(fixture, np.random.Generator(np.random.Philox(fixture.seed)))
        wanted, output = program.reference(fixture, inputs)["y"], program.outputs(fixture)["y"]
        assert output.shape == wanted.shape
        written = {}
        for arm in plan.experiment.arms:
            if arm.role is not Role.FLOOR:
                seen = calls.Arm(arm.name, arm.role, arm.symbol or "", arm.of)
                written[arm.name] = _run(objects[arm.name], program.kernels(seen, fixture, _Names()), inputs, output)
        for name, values in written.items():
            assert np.all(np.abs(values - wanted) <= output.absolute), name
        assert np.array_equal(written["plain"], written["blocked"])
        assert all(count > 0 for count in program.bytes_and_flops(fixture))


class _Names(dict[str, calls.Buffer]):
    """Any name is a buffer."""

    def __missing__(self, name: str) -> calls.Buffer:
        return calls.Buffer(name)


def _seen(fixture: PlanFixture) -> calls.Fixture:
    return calls.Fixture(fixture.name, dict(fixture.values), fixture.seed, fixture.checks_only)


def _run(
    path: Path, kernels: list[calls.KernelCall], inputs: dict[str, np.ndarray], output: calls.Output
) -> np.ndarray:
    """Call an arm's functions as the native interface describes it."""
    memory = {**inputs, "y": np.full(output.shape, np.nan, output.dtype)}
    library = ctypes.CDLL(str(path))
    for call in kernels:
        values = [Argument(**_field(value, memory)) for value in call.args]
        getattr(library, call.symbol)((Argument * len(values))(*values))
    return memory["y"]


def _field(value: calls.Buffer | float, memory: dict[str, np.ndarray]) -> dict[str, int | float]:
    if isinstance(value, calls.Buffer):
        return {"p": memory[value.name].ctypes.data}
    return {"i": value} if isinstance(value, int) else {"f": value}
