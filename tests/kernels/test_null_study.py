"""The A/A study: one machine code in every arm, loops that can be counted, references against models of the kernels' own indices."""

import importlib.util
import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from reportgen.calls import Arm, Buffer, Fixture, KernelCall
from reportgen.measure.backends.cubin import resources
from reportgen.measure.backends.cuda import REMEDY, compile_arm, disassembler
from reportgen.measure.backends.cuda_options import OPTIONS
from reportgen.measure.backends.machine_code import compare_code
from reportgen.measure.compiling import Patience
from reportgen.measure.disassembly import symbols, text_section_sha256
from reportgen.measure.planning import make_plan
from reportgen.model.experiment import Role
from reportgen.model.plan import Plan
from reportgen.model.protocol import Mode
from reportgen.project import find_experiment, open_project, read_experiment
from tests.kernels.null_study_models import MODELS, Arrays

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "kernels" / "null_study"
CHAINED = ("fp32", "tensor", "shuffle")
COMPILED = ("a", "null_a1", "b", "doubled", "floor")
SMALL = {
    "MULTIPROCESSORS": 2,
    "STREAM": 768,
    "RESIDENT, SHIFT, TURNS": (1 << 12, 37 * 256, 4),
    "GATHERS, TABLE": (512, 1 << 10),
    "TALL, WIDE": (96, 64),
    "PARTIALS, SCALED": (32, 2048),
    "KEYS, BINS": (4096, 256),
    "ROWS, COLUMNS": (8, 1024),
    "DOT_ROWS, DOT_COLUMNS, VECTORS": (16, 4096, 4),
}


def load_module(text: str) -> Any:
    """Load the experiment's functions from its text."""
    spec = importlib.util.spec_from_loader("null_study_experiment", loader=None)
    assert spec is not None
    module: ModuleType = importlib.util.module_from_spec(spec)
    exec(compile(text, str(FOLDER / "experiment.py"), "exec"), module.__dict__)  # noqa: S102 - the file under test
    return module


def smaller(text: str) -> str:
    """Lower the sizes, so that a model in NumPy is quick."""
    for names, values in SMALL.items():
        text, count = re.subn(rf"^{names} = [^#\n]*", f"{names} = {values}  ", text, flags=re.MULTILINE)
        assert count == 1, names
    return text


TEXT = (FOLDER / "experiment.py").read_text(encoding="utf-8")
FULL, STUDY = load_module(TEXT), load_module(smaller(TEXT))
DECLARED = read_experiment(find_experiment(open_project(ROOT), "null_study"))
KERNELS = [str(value) for value in DECLARED.axes["kernel"]]


def fixture_of(kernel: str, seed: int = 20_261_129) -> Fixture:
    """Make a fixture as the plan would."""
    return Fixture(f"kernel={kernel}", {"kernel": kernel}, seed)


def calls_of(name: str, kernel: str, study: Any = FULL) -> list[KernelCall]:
    """Ask for the calls of a declared arm."""
    arms = {arm.name: arm for arm in DECLARED.arms}
    symbol = arms[arms[name].of or name].symbol
    fixture = fixture_of(kernel)
    names = [*study.KINDS[kernel].outputs, *study.scratch(fixture), "x", "a", "b", "c", "steps"]
    buffers = {one: Buffer(one) for one in (*names, "table", "places", "keys", "weights")}
    calls: list[KernelCall] = study.kernels(Arm(name, arms[name].role, symbol or "", arms[name].of), fixture, buffers)
    return calls


@dataclass(frozen=True)
class Code:
    """Cubins of some arms, and the instructions of one."""

    files: dict[str, Path]
    sass: dict[str, list[dict[str, Any]]]

    def loop(self, kernel: str) -> tuple[list[str], int]:
        """Instructions of the only loop of arm a's kernel, and the cycles that its scheduling asks for, without the jump's own.

        Bits 105 to 108 of an instruction are the cycles until the next may issue: Jia, Maggioni, Staiger, Scarpazza, "Dissecting the
        NVIDIA Volta GPU Architecture via Microbenchmarking", 2018, chapter 2.
        """
        name = f"null_a_{kernel}"
        listing, code = self.sass[name], symbols(self.files["a"])[name].code
        jumps = [
            (int(each["operands"], 16) // 16, place)
            for place, each in enumerate(listing)
            if each["opcode"] == "BRA" and int(each["operands"], 16) < 16 * place
        ]
        ((first, last),) = jumps
        cycles = sum(int.from_bytes(code[16 * i : 16 * i + 16], "little") >> 105 & 15 for i in range(first, last + 1))
        return [each["opcode"] for each in listing[first : last + 1] if each["opcode"] != "NOP"], cycles


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Code:
    """Compile five arms once, as a run would."""
    folder = tmp_path_factory.mktemp("cubins")
    files = {name: folder / f"{name}.cubin" for name in COMPILED}
    arms = {arm.name: arm for arm in plan().experiment.arms}
    for name, path in files.items():
        compile_arm(arms[name], OPTIONS, FOLDER, path, Patience(120, lambda: None))
    tool = disassembler()
    assert tool is not None
    told = subprocess.run([tool, "-json", str(files["a"])], capture_output=True, check=True).stdout
    return Code(files, {one["function-name"]: one["sass-instructions"] for one in json.loads(told)[1]})


def plan() -> Plan:
    """Plan as a run on a GPU would."""
    folder = find_experiment(open_project(ROOT), "null_study")
    return make_plan(folder, DECLARED, backend="cuda", backend_options=OPTIONS)


def test_the_plan_holds_432_null_comparisons_in_each_mode() -> None:
    """12 kernels x 12 nulls x 3 blocks, two nulls a baseline; at most 27 false alarms are 25 of 400."""
    nulls = [arm for arm in DECLARED.arms if arm.role is Role.NULL]
    protocol = DECLARED.protocol
    blocks = protocol.repetitions // protocol.block_repetitions

    assert (12, 12, 12, 3) == (len(KERNELS), len(nulls), protocol.block_repetitions, blocks)
    assert len(KERNELS) * len(nulls) * blocks == 432
    assert dict.fromkeys("abcdef", 2) == {arm.of: [n.of for n in nulls].count(arm.of) for arm in nulls}
    assert 432 * 25 // 400 == 27
    assert [Mode.PROCESS, Mode.LAYOUT, Mode.PLACEMENT] == protocol.modes
    assert all(len(one.fixtures) == 1 for one in plan().slices)
    for text in ((FOLDER / "experiment.toml").read_text(), (FOLDER / "README.md").read_text()):
        assert "432" in text
        assert "27" in text


def test_every_null_and_every_planted_arm_is_judged_against_its_own_baseline() -> None:
    """12 nulls and five planted arms, nothing else."""
    judged = {(one.candidate, one.baseline) for one in plan().comparisons}

    assert {(f"null_{name}{i}", name) for name in "abcdef" for i in (1, 2)} | {
        (name, "a") for name in FULL.PLANTED_ROUNDS
    } == judged


def test_six_harnesses_time_a_and_its_nulls() -> None:
    """In four processes each, two where PyTorch is loaded; by their own defaults but for two that would take long."""
    assert 6 == len(DECLARED.harnesses)
    for harness in DECLARED.harnesses:
        loads_torch = harness.name.startswith(("triton", "torch"))
        assert (["a", "null_a1", "null_a2"], 2 if loads_torch else 4) == (harness.arms, harness.repetitions)
        assert bool(harness.settings) == (harness.name in ("nvbench", "cupyx_benchmark"))


def test_planted_arms_have_the_rounds_that_the_plan_says() -> None:
    """1002, 1005, 1010, 1030 and 2000 for 1000, exactly, on the three chained kernels; all else is called alike."""
    for arm in DECLARED.arms:
        if arm.planted is None:
            continue
        assert FULL.PLANTED_ROUNDS[arm.name] == round(1000 * (1 + arm.planted), 9)
        assert {"kernel": list(CHAINED)} == {axis: sorted(v, key=CHAINED.index) for axis, v in arm.only.items()}
        for kernel in CHAINED:
            (base,), (planted,) = calls_of("a", kernel), calls_of(arm.name, kernel)
            assert (base.grid, base.block, base.args[:-1]) == (planted.grid, planted.block, planted.args[:-1])
            assert (1000, FULL.PLANTED_ROUNDS[arm.name]) == (base.args[-1], planted.args[-1])


def test_all_arms_are_one_machine_code_announced_in_one_line(code: Code) -> None:
    """A null's text is its original's; baselines and planted arms differ in the names of their functions alone."""
    arms = [arm for arm in plan().experiment.arms if arm.name in code.files]
    texts = {name: text_section_sha256(path) for name, path in code.files.items()}

    assert ["arms 'a', 'b' and 'doubled' are identical machine code"] == compare_code(arms, code.files, REMEDY)
    assert texts["a"] == texts["null_a1"] == texts["b"] == texts["doubled"] != texts["floor"]


def test_every_call_names_a_kernel_of_its_arms_cubin(code: Code) -> None:
    """On every fixture; a null has its original's names, the floor one of its own on the same grids."""
    for name, path in code.files.items():
        exported = {symbol for symbol, function in symbols(path).items() if function.exported}
        timed = KERNELS if name != "doubled" else CHAINED
        called = {call.symbol for kernel in timed for call in calls_of(name, kernel)}
        assert called <= exported
        if name in ("a", "b", "null_a1"):
            assert called == {symbol for symbol in exported if not symbol.startswith("$")}  # those are the compiler's
            assert len(called) == 15
    for kernel in KERNELS:
        shapes = [[(call.grid, call.block) for call in calls_of(name, kernel)] for name in ("a", "floor")]
        assert shapes[0] == shapes[1]


def test_no_kernel_spills_and_every_block_finds_room(code: Code) -> None:
    """Not one byte; no more registers than 65,536 for 2,048 threads would leave two blocks a multiprocessor."""
    log = json.loads(code.files["a"].with_name("a.cubin.json").read_text())["log"]
    for name in code.sass:
        told = resources(log, name)
        assert (0, 0, 0) == (told["stack_bytes"], told["spill_store_bytes"], told["spill_load_bytes"]), name
        assert 8 <= (told["registers"] or 0) <= 64, name


@pytest.mark.parametrize(
    ("kernel", "work", "cycles"),
    [
        ("fp32", ["FFMA"] * 16, 67),
        ("tensor", ["HMMA.16816.F32"] * 4, 96),
        ("shuffle", ["SHFL.BFLY", "IMAD.IADD", "SHFL.BFLY", "IMAD.IADD", "SHF.R.S32.HI"], 27),
    ],
)
def test_one_round_is_the_loop_body_and_nothing_else(code: Code, kernel: str, work: list[str], cycles: int) -> None:
    """The work, a counter, a comparison and a jump, without remainder or second loop; cycles as the README counts them."""
    body, scheduled = code.loop(kernel)
    kept = [opcode for opcode in body if opcode in work]

    assert work == kept
    assert ["UIADD3", "ISETP.LE.AND", "BRA"] == [opcode for opcode in body if opcode not in work]
    assert cycles == scheduled
    assert f"| `{kernel}` | {len(body)} | {cycles} |" in (FOLDER / "README.md").read_text(encoding="utf-8")


def modelled(kernel: str, given: Arrays, rounds: int = 3) -> NDArray[Any]:
    """Ask a model with the numbers that the kernel gets."""
    first = calls_of("a", kernel, STUDY)[0]
    numbers = [int(value) for value in first.args if not isinstance(value, Buffer)]
    return MODELS[kernel](given, *([rounds] if kernel in CHAINED else numbers))


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_reference_agrees_with_a_model_of_the_kernels_own_indices(kernel: str) -> None:
    """Under the stated tolerance, which is 0 but for two; two neighbours exchanged would fail, as would one value missing."""
    fixture = fixture_of(kernel)
    given = STUDY.inputs(fixture, np.random.default_rng(1))
    wanted = STUDY.reference(fixture, given)["y"]
    output = STUDY.outputs(fixture)["y"]
    got = modelled(kernel, given).astype(np.float64)
    allowed = output.relative * np.abs(wanted)

    assert (output.shape, output.absolute) == (wanted.shape, 0.0)
    assert (np.abs(got - wanted) <= allowed).all()
    differ = wanted[1:] != wanted[:-1]
    assert differ.mean() > 0.2  # four neighbours of `shuffle` are alike
    assert (np.abs(wanted[1:] - wanted[:-1])[differ] > allowed[1:][differ]).all()
    assert all(np.count_nonzero(array) > 0.9 * array.size for array in given.values() if array.size > 256)


@pytest.mark.parametrize("kernel", CHAINED)
def test_the_number_of_rounds_does_not_change_what_is_right(kernel: str) -> None:
    """So a planted arm is held to the same reference; half a round would change it."""
    given = STUDY.inputs(fixture_of(kernel), np.random.default_rng(1))

    assert modelled(kernel, given, 2).tobytes() == modelled(kernel, given, 7).tobytes()
    assert modelled(kernel, given, 0).tobytes() == modelled(kernel, given, 2).tobytes() or kernel == "shuffle"


def test_softmax_in_float32_stays_within_a_quarter_of_its_tolerance() -> None:
    """NumPy's power of two is nearly exact; the device's may err by 2**-22, which the README counts twice."""
    fixture = fixture_of("softmax")
    given = STUDY.inputs(fixture, np.random.default_rng(1))
    wanted = STUDY.reference(fixture, given)["y"]
    worst = float((np.abs(modelled("softmax", given) - wanted) / wanted).max())

    counted = 2 * (2 * 8 * 1.4427 * 2.0**-24 * np.log(2) + 2.0**-22) + 17 * 2.0**-24
    assert worst < FULL.SOFTMAX_RELATIVE / 4
    assert counted < FULL.SOFTMAX_RELATIVE


def test_inputs_lie_beyond_or_within_the_second_level_cache_and_stay_small_in_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """60 MiB of it; at most 100 MiB an input and 300 MB in all. Sizes only: the words are not drawn."""
    monkeypatch.setattr(FULL, "words", lambda seed, stream, first, count: np.full(count, seed + stream + first, "u4"))
    sizes = {
        kernel: {name: array.nbytes for name, array in FULL.inputs(fixture_of(kernel), None).items()}
        for kernel in KERNELS
    }

    assert sizes["stream"]["x"] == 96 << 20
    assert sizes["gather"]["table"] == 64 << 20
    assert sizes["l2_resident"]["x"] == 16 << 20
    assert max(max(each.values()) for each in sizes.values()) <= 100 << 20
    assert sum(sum(each.values()) for each in sizes.values()) < 300_000_000


def test_bytes_and_operations_by_hand() -> None:
    """96 MiB and 393,216 sums of 64; 16,896 values through 16,001 multiply-adds."""
    assert (96 * 2**20 + 4 * 393_216, 63 * 393_216) == FULL.bytes_and_flops(fixture_of("stream"))
    assert (8 * 16_896 + 32, 2 * 16_001 * 16_896) == FULL.bytes_and_flops(fixture_of("fp32"))
    assert all(FULL.bytes_and_flops(fixture_of(kernel))[0] > 0 for kernel in KERNELS)


def test_readme_has_one_line_for_every_arm_and_every_kernel() -> None:
    """With the arm's role, and with the kernel's stress."""
    lines = (FOLDER / "README.md").read_text(encoding="utf-8").splitlines()

    for arm in DECLARED.arms:
        assert len([line for line in lines if line.startswith(f"| `{arm.name}` | {arm.role} |")]) == 1, arm.name
    for kernel in KERNELS:
        assert len([line for line in lines if line.startswith(f"| `{kernel}` |") and "us |" in line]) == 1, kernel
