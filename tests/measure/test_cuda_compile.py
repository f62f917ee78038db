"""CUDA sources become cubins without a GPU: stable, told apart, and read for what they use."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from reportgen.errors import InputError
from reportgen.measure.backends import cuda
from reportgen.measure.backends.cubin import instruction_counts, resources, warnings_of
from reportgen.measure.backends.cuda import REMEDY, CudaBuilder, compile_arm
from reportgen.measure.backends.cuda_options import OPTIONS, keywords
from reportgen.measure.backends.interface import Built
from reportgen.measure.backends.machine_code import compare_code
from reportgen.measure.compiling import Patience
from reportgen.measure.controller import plan_of
from reportgen.measure.disassembly import text_section_sha256
from reportgen.model.experiment import Arm, Role
from reportgen.project import ExperimentFolder, find_experiment, open_project

DATA = Path(__file__).parents[1] / "data" / "cuda_saxpy"
PATIENT = Patience(120, lambda: None)


@dataclass(frozen=True)
class Lab:
    """The example in a lab of its own; ``out`` is where it was built."""

    root: Path
    out: Path
    built: Built

    @property
    def code(self) -> dict[str, Any]:
        """What the record keeps of the arms' code."""
        facts: dict[str, Any] = json.loads(self.built.artifacts["code.json"])
        return facts


def lab_at(root: Path) -> ExperimentFolder:
    """Copy the example into a new lab."""
    shutil.copytree(DATA, root / "kernels" / "cuda_saxpy", ignore=shutil.ignore_patterns("__pycache__"))
    (root / "reportgen.toml").write_text('title = "-"\n')
    return find_experiment(open_project(root), "cuda_saxpy")


def build(folder: ExperimentFolder, out: Path) -> Built:
    """Plan and build a lab's experiment as ``run`` does."""
    out.mkdir(exist_ok=True)
    return CudaBuilder().build(plan_of(open_project(folder.folder.parents[1]), folder.name), folder, out, PATIENT)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """Build the example once."""
    root = tmp_path_factory.mktemp("lab")
    folder = lab_at(root)
    return Lab(root, root / "out", build(folder, root / "out"))


def compiled(folder: Path, source: str, *options: str, symbol: str = "probe") -> Path:
    """Compile one kernel on its own."""
    (folder / "probe.cu").write_text(source)
    arm = Arm(name="probe", role=Role.PROBE, idea="-", file="probe.cu", symbol=symbol)
    compile_arm(arm, [*OPTIONS, *options], folder, folder / "probe.cubin", PATIENT)
    return folder / "probe.cubin"


def log_of(cubin: Path) -> str:
    """Read what the assembler said of it."""
    told: str = json.loads(cubin.with_name(f"{cubin.name}.json").read_text())["log"]
    return told


def refusal(folder: Path, source: str) -> str:
    """One line by which a source is refused."""
    with pytest.raises(InputError) as caught:
        compiled(folder, source)
    return caught.value.one_line()


def test_every_arm_has_a_cubin_of_its_own_and_nothing_is_announced(lab: Lab) -> None:
    """Names, hashes and archived bytes belong together; nothing says in which folder it was made."""
    assert ["one", "one_again", "four", "two_steps", "drawn", "nothing"] == list(lab.built.arms)
    assert [] == lab.built.warnings
    for name, arm in lab.built.arms.items():
        data = lab.built.artifacts[f"binaries/{name}.cubin"]
        assert Path(arm.file).read_bytes() == data
        assert hashlib.sha256(data).hexdigest() == arm.sha256 == lab.built.options["cubins"][name]
        assert str(lab.root).encode() not in data + lab.built.artifacts["code.json"]
    assert {"binary/one", "binary/(harness)", "package/cuda-core", "package/nvidia-cuda-nvrtc"} <= set(
        lab.built.watched
    )


def test_the_same_source_gives_the_same_bytes_elsewhere(lab: Lab, tmp_path: Path) -> None:
    """Another folder, another process, another time: one hash."""
    folder = lab_at(tmp_path).folder
    arm = Arm(name="elsewhere", role=Role.PROBE, idea="-", file="four.cu", symbol="saxpy_four")
    compile_arm(arm, OPTIONS, folder, tmp_path / "four.cubin", PATIENT)
    assert lab.built.arms["four"].sha256 == hashlib.sha256((tmp_path / "four.cubin").read_bytes()).hexdigest()


def test_the_record_says_what_the_compiler_was_told(lab: Lab) -> None:
    """Rounding, denormals and contraction explicitly; folders of this machine as numbers; macros."""
    told = lab.code["two_steps"]["options"]
    assert {
        "-arch=sm_90a",
        "--ftz=false",
        "--prec-sqrt=true",
        "--prec-div=true",
        "--fmad=true",
        "--std=c++17",
        "--define-macro=TILE=256",
        "--include-path=INCLUDE0",
        "--no-cache",
    } <= set(told)
    assert "13.0" == lab.code["two_steps"]["nvrtc"]


def test_a_null_is_compiled_anew_and_is_the_same_machine_code(lab: Lab) -> None:
    """Two files, one text; other arms differ."""
    texts = {name: facts["text_sha256"] for name, facts in lab.code.items()}
    assert lab.built.arms["one"].file != lab.built.arms["one_again"].file
    assert texts["one"] == texts["one_again"]
    assert len(texts) - 1 == len(set(texts.values()))


def test_the_text_hash_is_that_of_the_sections_bytes(lab: Lab) -> None:
    """Known right value by readelf."""
    path = Path(lab.built.arms["four"].file)
    dump = subprocess.run(
        ["readelf", "-x", ".text.saxpy_four", str(path)], capture_output=True, text=True, check=True
    ).stdout
    rows = re.findall(r"^  0x[0-9a-f]+ ((?:[0-9a-f]{2,8} ){1,4})", dump, re.MULTILINE)
    data = bytes.fromhex("".join("".join(row.split()) for row in rows))
    assert len(data) == lab.code["four"]["entry_bytes"]
    assert hashlib.sha256(data).hexdigest() == text_section_sha256(path) == lab.code["four"]["text_sha256"]


def test_instructions_are_counted_without_a_gpu(lab: Lab) -> None:
    """An empty kernel leaves; one arm's loads are 4 bytes wide, the other's 16; a generator multiplies."""
    assert {"BRA", "EXIT"} >= set(lab.code["nothing"]["opcodes"]) - {"LDC"}
    assert "LDG.E.128.CONSTANT" in lab.code["four"]["opcodes"]
    assert "LDG.E.128.CONSTANT" not in lab.code["one"]["opcodes"]
    assert 20 <= lab.code["drawn"]["opcodes"]["IMAD.WIDE.U32"]
    for facts in lab.code.values():
        assert facts["instructions"] <= facts["entry_bytes"] // 16
        assert sum(facts["opcodes"].values()) == facts["instructions"]


def test_registers_shared_memory_and_spills_are_read(tmp_path: Path) -> None:
    """256 bytes declared are 256 told; capped at 24 registers, 64 running values spill, and stand in the code as local accesses."""
    body = " ".join(f"a[{i}] = a[{i}] * a[{(i + 7) % 64}] + x[{i} * n];" for i in range(64))
    source = f"""
    extern "C" __global__ void probe(const float *x, float *y, int n)
    {{
        __shared__ float tile[64];
        float a[64];
        for (int i = 0; i < 64; i++) a[i] = x[i + n];
        for (int turn = 0; turn < n; turn++) {{ {body} }}
        tile[threadIdx.x % 64] = a[0]; __syncthreads();
        float sum = tile[(threadIdx.x + 1) % 64];
        for (int i = 0; i < 64; i++) sum += a[i];
        y[threadIdx.x] = sum;
    }}"""
    capped = compiled(tmp_path, source, "--maxrregcount=24")
    found = resources(log_of(capped), "probe")
    assert (24, 256, 1) == (found["registers"], found["shared_bytes"], found["barriers"])
    assert found["spill_store_bytes"]
    assert found["spill_load_bytes"]
    tool = cuda.disassembler()
    assert tool is not None
    counts = instruction_counts(capped, "probe", tool) or {}
    assert any(name.startswith("LDL") for name in counts)
    free = resources(log_of(compiled(tmp_path, source)), "probe")
    assert (0, 0) == (free["spill_store_bytes"], free["spill_load_bytes"])
    assert (free["registers"] or 0) > 64


def test_the_other_kernels_of_an_operation_are_read_too(lab: Lab) -> None:
    """Two steps are two kernels; the others have one."""
    assert {"two_steps": ["saxpy_sum"]} == {
        name: list(facts["further_kernels"]) for name, facts in lab.code.items() if facts["further_kernels"]
    }
    second = lab.code["two_steps"]["further_kernels"]["saxpy_sum"]
    assert (0, 0, 1) == (second["spill_store_bytes"], second["spill_load_bytes"], second["barriers"])
    assert 8 <= second["registers"] <= 32
    assert second["entry_bytes"] % 128 == 0


def test_what_was_not_told_is_null_and_not_zero() -> None:
    """As of a kernel that the log does not speak of."""
    assert {None} == set(resources("ptxas info : 0 bytes gmem", "probe").values())


def test_warnings_of_the_assembler_are_passed_on() -> None:
    """Those that tell of lost performance as well; the rest is not."""
    log = "ptxas info    : Used 8 registers\nptxas warning : Value of threads per SM is out of range\n"
    log += "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized\n"
    assert ["ptxas warning", "ptxas info   "] == [line[:13] for line in warnings_of(log)]


def test_a_fault_in_a_source_is_one_line_with_file_and_line(tmp_path: Path) -> None:
    """The first complaint counts."""
    line = refusal(tmp_path, 'extern "C" __global__ void probe(float *x)\n{\n    x[0] = missing;\n}\n')
    where = f"{tmp_path}/probe.cu:3: "
    assert f"{where}arm 'probe' does not compile: identifier \"missing\" is undefined; correct the source" == line


def test_a_fault_in_a_header_names_the_header(tmp_path: Path) -> None:
    """By the folder in which it lies."""
    (tmp_path / "deep.cuh").write_text("\n#error not today\n")
    line = refusal(tmp_path, '#include "deep.cuh"\n')
    assert line.startswith(f"{tmp_path}/deep.cuh:2: arm 'probe' does not compile: ")
    assert "not today" in line


def test_a_missing_header_is_told(tmp_path: Path) -> None:
    """NVRTC calls it a catastrophe."""
    assert "probe.cu:1: arm 'probe' does not compile: cannot open source file \"gone.cuh\"" in refusal(
        tmp_path, '#include "gone.cuh"\n'
    )


def test_a_compiler_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    """Its process is killed at the deadline."""
    (tmp_path / "probe.cu").write_text("")
    arm = Arm(name="probe", role=Role.PROBE, idea="-", file="probe.cu", symbol="probe")
    with pytest.raises(InputError, match=r"compiling arm 'probe' takes longer than 0.01 s"):
        compile_arm(arm, OPTIONS, tmp_path, tmp_path / "probe.cubin", Patience(0.01, lambda: None))


def test_an_unknown_option_is_refused_before_anything_is_compiled() -> None:
    """The line lists those that are known."""
    with pytest.raises(
        InputError, match=r"compile option '--fast' is not known to this backend; known are -DNAME=VALUE, --"
    ):
        keywords([*OPTIONS, "--fast"])


def test_options_become_what_cuda_core_names_them() -> None:
    """The last of a kind counts; macros keep their values."""
    found = keywords([*OPTIONS, "-arch=sm_80", "--fmad=false", "-DN=4", "-DPLAIN", "--maxrregcount=64", "--restrict"])
    assert ("sm_80", False, False, 64, True) == (
        found["arch"],
        found["fma"],
        found["ftz"],
        found["max_register_count"],
        found["restrict"],
    )
    assert [("N", "4"), "PLAIN"] == found["define_macro"]


def test_an_entry_point_with_a_mangled_name_is_refused_with_the_remedy(tmp_path: Path) -> None:
    """A C++ name is not the symbol that the experiment names."""
    arm = Arm(name="probe", role=Role.PROBE, idea="-", file="probe.cu", symbol="probe")
    files = {"probe": compiled(tmp_path, "__global__ void probe() {}")}
    with pytest.raises(InputError, match=r"probe.cu: arm 'probe' exports no function 'probe'; declare it there"):
        compare_code([arm], files, REMEDY)


def test_ideas_that_became_one_machine_code_are_announced(lab: Lab, tmp_path: Path) -> None:
    """The incumbent under another name."""
    shutil.copy(DATA / "saxpy.cuh", tmp_path)
    source = (DATA / "one.cu").read_text().replace("saxpy_one", "probe")
    arms = [
        Arm(name=name, role=Role.PROBE, idea="-", file="x.cu", symbol=symbol)
        for name, symbol in (("one", "saxpy_one"), ("four", "saxpy_four"), ("probe", "probe"))
    ]
    files = {name: Path(lab.built.arms[name].file) for name in ("one", "four")} | {"probe": compiled(tmp_path, source)}
    assert ["arms 'one' and 'probe' are identical machine code"] == compare_code(arms, files, REMEDY)


def test_many_arms_of_one_machine_code_are_one_line(lab: Lab) -> None:
    """Three names for one file, and another code."""
    names = {"one": "saxpy_one", "two": "saxpy_one", "four": "saxpy_four", "three": "saxpy_one"}
    arms = [Arm(name=name, role=Role.PROBE, idea="-", file="x.cu", symbol=symbol) for name, symbol in names.items()]
    files = {arm.name: Path(lab.built.arms["four" if arm.name == "four" else "one"].file) for arm in arms}
    assert ["arms 'one', 'two' and 'three' are identical machine code"] == compare_code(arms, files, REMEDY)


def test_without_the_compiler_one_line_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the extra is not installed."""
    monkeypatch.setattr(cuda, "installed", lambda _: False)
    assert "cuda.core is not installed, which compiles CUDA; pip install 'reportgen[compile]'" == refusal(tmp_path, "")
