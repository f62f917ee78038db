"""Arms in Python ride in the main processes: loaded each on its own, really run, checked, hashed as far as anything can be."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from reportgen.archive.load import Attempt
from reportgen.archive.select import find_record
from reportgen.archive.sums import sums_of
from reportgen.calls import Arm as CalledArm
from reportgen.calls import Fixture
from reportgen.errors import InputError
from reportgen.measure.backends.python_source import described
from reportgen.measure.backends.triton_code import kernels_in
from reportgen.measure.controller import plan_of
from reportgen.measure.description import Description
from reportgen.measure.job import JobArm
from reportgen.measure.python_arms import PythonArms
from reportgen.measure.python_code import other_code
from reportgen.measure.selection import with_arms
from reportgen.model.experiment import Arm, Role
from reportgen.model.record import Status
from reportgen.publish.attempt_checks import attempt_findings
from reportgen.publish.downloads import write_record
from reportgen.publish.verification import verify_path
from reportgen.publish.verify import check_folder
from reportgen.scoring import score, score_attempts
from tests.measure.lab import PROGRAM, Lab

ARMS = """
import numpy as np

def multiplied(fixture, buffers, stream):
    x, y = buffers["x"], buffers["y"]

    def launch():
        np.multiply(x, 2, out=y)

    return launch

def added(fixture, buffers, stream):
    return lambda: {"y": buffers["x"] + buffers["x"]}
"""
COMPILED = """
import os
from types import SimpleNamespace

class Kernel:
    name = "rows"
    metadata = SimpleNamespace(num_warps=8)
    n_regs = 40

    def __init__(self):
        self.asm = {"cubin": CUBIN}

class Jit:
    def __init__(self):
        self.device_caches = {0: ({"key": Kernel()}, {}, None, None, None)}

rows = Jit()
"""
TIMES = "\n[fake]\nratio = {idea = 0.9}\n"
WITHOUT_KERNELS = re.sub(r"def kernels.*?\n\n", "", PROGRAM, flags=re.DOTALL)


def write(lab: Lab, arms: str = ARMS, **keys: Any) -> None:
    """Write the lab's experiment with every arm in Python, simulated."""
    lab.write(**({"backend": "fake", "program": WITHOUT_KERNELS, "more": TIMES} | keys))
    text = (lab.folder / "experiment.toml").read_text(encoding="utf-8")
    for file, symbol in (("base", "multiplied"), ("idea", "added")):
        text = text.replace(f'file = "{file}.c"\nsymbol = "{file}"', f'file = "arms.py"\nsymbol = "{symbol}"')
    (lab.folder / "experiment.toml").write_text(text, encoding="utf-8")
    (lab.folder / "arms.py").write_text(arms, encoding="utf-8")


def measured(lab: Lab, arms: str = ARMS, **keys: Any) -> Attempt:
    """Run it."""
    write(lab, arms, **keys)
    return lab.load(lab.run())


def test_functions_are_measured_under_the_whole_protocol(lab: Lab) -> None:
    """Main group, mirrored, checked against the reference and, the null, bit for bit; the comparison is that of any candidate.

    The file is part of the plan and of every hash bracket; what a compiler made of each arm is told by every process, archived, and looked for.
    """
    attempt = measured(lab, ARMS + COMPILED.replace("CUBIN", "b'code'"))
    assert Status.SCORED == attempt.status
    scored = attempt.batches[~attempt.batches["warmup"]]
    assert {("main", arm, 2 * 2) for arm in ("base", "again", "idea")} == {
        (group, arm, len(rows)) for (group, arm), rows in scored.groupby(["group", "arm"])
    }
    told = attempt.checks.groupby(["arm", "kind"])["passed"].all().to_dict()
    assert told == {("again", "bitwise"): True} | {
        (arm, kind): True for arm in ("again", "base", "idea") for kind in ("inputs", "value")
    }
    found = next(one for one in score_attempts(attempt.plan, [attempt]).comparisons if one.arm == "idea")
    assert 0.9 == pytest.approx(found.headline)
    assert "doubling/arms.py" in [file.path for file in attempt.plan.files]
    assert "source/doubling/arms.py" in attempt.manifest.hashes
    settings = attempt.manifest.environment["variables"]
    assert ("LAZY", "false") == (settings["CUDA_MODULE_LOADING"], settings["XLA_PYTHON_CLIENT_PREALLOCATE"])
    sha256 = hashlib.sha256(b"code").hexdigest()
    kernel = {"kernel": "rows", "sha256": sha256, "warps": 8, "registers": 40}
    assert [{arm: [kernel] for arm in ("again", "base", "idea")}] * 3 == [
        one.facts["code"] for one in attempt.repetitions
    ]
    assert [] == list(attempt_findings(attempt.path))
    for arm in ("again", "base", "idea"):
        kept = attempt.path / "artifacts" / "compiled" / arm / f"rows-{sha256[:12]}.cubin"
        assert b"code" == kept.read_bytes()
    said = f"artifacts/compiled: no file has the SHA-256 of a kernel of arm idea, {sha256}"
    assert [f"{attempt.id}/{said}"] == both_roads(lab, attempt)


def both_roads(lab: Lab, attempt: Attempt) -> list[str]:
    """Publish the attempt, change a kernel of ``idea`` and every sum, and give what the record's own program finds, and the command."""
    record = find_record([attempt], "doubling")
    published = lab.root / "published"
    write_record(record, score(record), published)
    assert [] == check_folder(published)
    kept = next((published / attempt.id / "artifacts" / "compiled" / "idea").iterdir())
    kept.write_bytes(b"other")
    (published / "record.zip").unlink()
    for folder in (published / attempt.id, published):
        (folder / "SHA256SUMS").write_bytes(sums_of(folder))
    found = check_folder(published)
    assert found == list(verify_path(published).findings)
    return found


def test_changed_inputs_are_tried_as_on_any_arm(lab: Lab) -> None:
    """A function that prepared what it must compute is caught by the inputs that it has not seen."""
    cases = "\ndef cases(fixture, rng):\n    return [inputs(fixture, rng)]\n"
    lazy = ARMS.replace(
        '    return lambda: {"y": buffers["x"] + buffers["x"]}',
        '    found = buffers["x"] * 2\n    return lambda: {"y": found}',
    )
    write(lab, lazy, program=WITHOUT_KERNELS + cases, repetitions=1)
    assert ["idea"] == lab.run().failed_arms


def test_a_function_that_cannot_run_ends_the_run_as_bad_input(lab: Lab) -> None:
    """Calibration says so in one line that names file and line; nothing was measured."""
    write(lab, ARMS.replace("np.multiply", "np.multipy"))
    outcome = lab.run()
    assert (Status.ABORTED, 2) == (outcome.status, outcome.exit_status)
    assert re.search(r"arms\.py:\d+: arm '(base|again)' raised AttributeError", outcome.sentence)


@pytest.mark.parametrize(
    ("arms", "said"),
    [
        (
            "def added(fixture, buffers, stream):\n    return 3\n",
            "must return a callable that makes one execution, not 3",
        ),
        (
            "def added(fixture, buffers, stream):\n    raise RuntimeError('no device')\n",
            "raised RuntimeError: no device",
        ),
        ("def adds(fixture, buffers, stream):\n    pass\n", "defines no function added, which arm 'idea' is"),
        ("raise RuntimeError('no library')\n", "import raised RuntimeError: no library"),
    ],
)
def test_a_function_that_breaks_the_rules_is_named_with_its_file(tmp_path: Path, arms: str, said: str) -> None:
    """When it is loaded, prepared or called."""
    (tmp_path / "arms.py").write_text(arms, encoding="utf-8")
    python = PythonArms()
    with pytest.raises(InputError, match=re.escape(said)) as fault:
        prepared(python, str(tmp_path / "arms.py"))
    assert "arms.py" in str(fault.value.where)


def prepared(python: PythonArms, path: str) -> None:
    """Load an arm, prepare it and call it once."""
    python.load([JobArm("idea", "candidate", "added", None, path)])
    python.prepare("idea", Fixture("n=8", {"n": 8}, 1), {}, 0, stepped=False)(0)


def test_an_arm_that_returns_outputs_returns_all_of_them(tmp_path: Path) -> None:
    """Which a peer need not: what an arm leaves out would never be compared."""
    (tmp_path / "experiment.py").write_text(WITHOUT_KERNELS, encoding="utf-8")
    description = Description(tmp_path / "experiment.py")
    seen = CalledArm("idea", "candidate", "added"), Fixture("n=8", {"n": 8}, 1)
    assert ["y"] == list(description.python_outputs(*seen, None)) == list(description.python_outputs(*seen, ["y"]))
    with pytest.raises(InputError, match=re.escape("arm 'idea' returns []; it must return all of them, or None")):
        description.python_outputs(*seen, [])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda toml: toml.replace('"added"', '"adds"'), "defines no function 'adds', which arm 'idea' names"),
        (lambda toml: toml.replace('"fake"', '"native"'), "arm 'base' is in Python, which backend 'native' does not"),
        (lambda toml: toml.replace('idea = "add"', 'idea = "add"\ndefines = {N = 1}'), "in Python and has `defines`"),
        (
            lambda toml: f'{toml}\n[[harness]]\nname = "single_launches"\narms = ["base", "idea"]\n',
            "harness 'single_launches' times kernels, and arm 'base' is in Python",
        ),
        (
            lambda toml: toml.replace('"fake"', '"native"').replace("spares", 'launching = "calls"\nspares'),
            "protocol.launching is of the GPU's backend",
        ),
    ],
)
def test_what_cannot_be_an_arm_in_python_is_refused_with_the_plan(
    lab: Lab, change: Callable[[str], str], said: str
) -> None:
    """One line says why."""
    write(lab)
    path = lab.folder / "experiment.toml"
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(said)):
        plan_of(lab.project, "doubling")


def test_a_file_that_is_no_python_is_refused_with_its_line(lab: Lab) -> None:
    """Before anything runs."""
    write(lab, "def multiplied(:\n")
    with pytest.raises(InputError, match=r"is no Python") as fault:
        plan_of(lab.project, "doubling")
    assert str(fault.value.where).endswith("arms.py:1")


def kernel(name: str, cubin: bytes) -> Any:
    """Give a compiled kernel as Triton keeps it."""
    metadata = SimpleNamespace(num_warps=4, num_ctas=1, num_stages=3, shared=64, target="not told")
    return SimpleNamespace(name=name, asm={"cubin": cubin, "ptx": "text"}, metadata=metadata, n_regs=32, n_spills=0)


def jit(*kernels: Any) -> Any:
    """Give a function of ``@triton.jit`` that has launched them, each on device 0."""
    cache = {str(index): one for index, one in enumerate(kernels)}
    return SimpleNamespace(device_caches={0: (cache, {}, "target", "backend", "binder")})


def test_machine_code_is_read_out_of_tritons_functions() -> None:
    """Of the module's own names, through wrappers, each variant once; what has no cubin is nothing."""
    module = ModuleType("arm")
    twice = jit(kernel("rows", b"one"), kernel("rows", b"two"), SimpleNamespace(name="future"))
    vars(module).update(rows=twice, tuned=SimpleNamespace(fn=SimpleNamespace(fn=twice)), number=3, text="x")
    found = kernels_in(module)
    assert [("rows", b"one"), ("rows", b"two")] == [(one.name, one.cubin) for one in found]
    told = {"warps": 4, "blocks_a_cluster": 1, "stages": 3, "shared_bytes": 64, "registers": 32, "spills": 0}
    assert [told, told] == [one.facts for one in found]


def loaded(tmp_path: Path, *cubins: bytes) -> PythonArms:
    """Load an arm and its null, and let each have compiled one kernel."""
    path = tmp_path / "arms.py"
    path.write_text(ARMS, encoding="utf-8")
    python = PythonArms()
    arms = [JobArm("base", "incumbent", "added", None, str(path)), JobArm("again", "null", "added", "base", str(path))]
    python.load(arms)
    for arm, cubin in zip(("base", "again"), cubins, strict=True):
        vars(python.module(arm))["rows"] = jit(kernel("rows", cubin))
    return python


def test_a_null_is_loaded_on_its_own_and_must_be_the_same_machine_code(tmp_path: Path) -> None:
    """Two modules of one file; cubins are kept under their hash; another one in the null is refused."""
    python = loaded(tmp_path, b"code", b"code")
    assert python.module("base") is not python.module("again")
    found = python.code(tmp_path)
    sha256 = hashlib.sha256(b"code").hexdigest()
    assert [sha256] == [one["sha256"] for one in found["again"]]
    assert b"code" == (tmp_path / "python-code" / f"{sha256}.cubin").read_bytes()
    with pytest.raises(InputError, match="null 'again' became other machine code than 'base'"):
        loaded(tmp_path, b"code", b"other").code(tmp_path)


def test_other_code_than_calibrated_is_found() -> None:
    """A variant that the calibrating process had not compiled; a process with fewer fixtures may have fewer."""
    first = {"code": {"base": [{"sha256": "1"}, {"sha256": "2"}], "idea": []}}
    assert "" == other_code(first, {"code": {"base": [{"sha256": "2"}]}})
    later = {"code": {"base": [{"sha256": "3"}], "idea": []}}
    assert "arm 'base' became other machine code than when it was calibrated" == other_code(first, later)


def test_the_code_of_an_arm_in_python_is_its_file_function_and_libraries(tmp_path: Path) -> None:
    """Two functions of one file are two codes, a null is its original's, a changed file is another."""
    (tmp_path / "arms.py").write_text(ARMS, encoding="utf-8")
    arm = Arm(name="base", role=Role.INCUMBENT, idea="-", file="arms.py", symbol="added")
    text = described(arm, tmp_path)
    assert {"libraries", "source", "source_sha256", "symbol"} == set(json.loads(text))
    assert text != described(other_function(arm), tmp_path)
    (tmp_path / "arms.py").write_text(ARMS + "\n", encoding="utf-8")
    assert text != described(arm, tmp_path)


def other_function(arm: Arm) -> Arm:
    """Give the arm another function."""
    return Arm(name=arm.name, role=arm.role, idea="-", file=arm.file, symbol="multiplied")


def test_the_job_says_which_arms_are_called() -> None:
    """Peers, and whatever has a file of Python."""
    arm = JobArm("idea", "candidate", "added", None, "/lab/arms.py")
    assert (True, True) == (arm.in_python, arm.called)
    assert (False, True) == (replace(arm, file="", role="peer").in_python, replace(arm, file="", role="peer").called)
    assert (False, False) == (replace(arm, file="a.cubin").in_python, replace(arm, file="a.cubin").called)


def test_a_profile_counts_no_arm_in_python(lab: Lab) -> None:
    """Its table is attributed by the kernels that a process says it launched; --arms names the others."""
    write(lab)
    plan = plan_of(lab.project, "doubling")
    with pytest.raises(InputError, match="arm 'again' is in Python, and nothing says which kernels it launches"):
        with_arms(plan, [])


def test_a_process_that_compiled_something_else_is_left_out(lab: Lab) -> None:
    """Its repetition goes to a spare, and where all do so the attempt is aborted with the reason."""
    write(lab, ARMS + COMPILED.replace("CUBIN", "str(os.getpid()).encode()"), repetitions=1, spares=0)
    outcome = lab.run()
    assert Status.ABORTED == outcome.status
    assert "became other machine code than when it was calibrated" in outcome.sentence
