"""Two tokens over Q6_K experts on a core: the reference against the format's own decoder, arms bit for bit, and what stands in their machine code."""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from gguf import GGMLQuantizationType, quants
from numpy.typing import NDArray

from reportgen.calls import Buffer, Fixture
from reportgen.measure.controller import plan_of
from reportgen.model.experiment import Experiment, Role
from reportgen.project import find_experiment, open_project, read_experiment
from tests.kernels.native_bench import Arrays, Bench, elf_entry_points, elf_text, failures, load_functions

ROOT = Path(__file__).parents[2]
IDEAS = ("decode_once", "side_by_side", "sums_together")
BYTES_A_ROW = 420

pairs = load_functions("q6k_pair")
DECLARED: Experiment = read_experiment(find_experiment(open_project(ROOT), "q6k_pair"))
RIGHT = [arm.name for arm in DECLARED.arms if arm.role not in (Role.FLOOR, Role.CEILING)]


def runs_here() -> bool:
    """Whether this processor has the instructions that the kernels are compiled to."""
    try:
        pairs.require_instructions()
    except ValueError:
        return False
    return True


needs_vectors = pytest.mark.skipif(not runs_here(), reason="needs a processor with AVX2, F16C and FMA")


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Provide one bench for the module, since compiling is its dearest part; its second place is small."""
    bench = Bench("q6k_pair", tmp_path_factory.mktemp("arms"))
    bench.functions.ROWS["beyond_l2"] = 100
    return bench


def make_fixture(overlap: int = 3, weights: str = "l2", tail: str = "none", seed: int = 7) -> Fixture:
    """Make a fixture as the plan would."""
    values = {"overlap": overlap, "weights": weights, "tail": tail}
    return Fixture(",".join(f"{axis}={value}" for axis, value in values.items()), values, seed)


def lanes_of(arrays: Arrays, expert: int, slot: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Exact sums of an expert's codes and offsets: [row, block, half, run, lane] and [row, block, half, run]."""
    blocks = arrays["weights"].reshape(16, -1, 210)[expert]
    codes, _ = pairs.decode(blocks)
    scales = blocks[:, 192:208].view(np.int8).astype(np.int64).reshape(-1, 2, 2, 4, 2)
    x = pairs.activations()[0][slot].astype(np.int64).reshape(2, 2, 4, 2, 4, 4)
    products = codes.astype(np.int64).reshape(-1, 2, 2, 4, 2, 4, 4) * x
    return (products.sum(-1) * scales[..., None]).sum(-2), (-32 * x.sum((-1, -2)) * scales).sum(-1)


def replay_float32(arrays: Arrays, expert: int, slot: int) -> NDArray[np.float32]:
    """Exact sums of lanes, then the kernels' float32 operations one by one; a product in a sum is rounded once."""
    lanes, offsets = lanes_of(arrays, expert, slot)
    d = arrays["weights"].reshape(16, -1, 210)[expert][:, 208:].copy().view("<f2").astype(np.longdouble).reshape(-1, 2)
    scales = pairs.activations()[1][slot].astype(np.longdouble).reshape(2, 2, 4)
    row = np.zeros((len(lanes), 2, 4), np.float32)
    for block in range(2):
        total = (offsets[:, block] * scales[block]).astype(np.float32)
        for run in range(4):
            total = (lanes[:, block, :, run] * scales[block, :, run, None] + total).astype(np.float32)
        row = (d[:, block, None, None] * total + row).astype(np.float32)
    folded = row[:, 0] + row[:, 1]
    halved = folded[:, :2] + folded[:, 2:]
    added: NDArray[np.float32] = halved[:, 0] + halved[:, 1]
    return added


def fill(arrays: Arrays, code: int, scale: int, x: int) -> Arrays:
    """Let every block hold one code and scale with d = 2^-13, and every activation ``x`` with scale 2^-8."""
    weights = np.zeros((16 * 32 * 2, 210), np.uint8)
    weights[:, :128] = code % 16 * 17
    weights[:, 128:192] = code // 16 * 85
    weights[:, 192:208] = scale % 256
    weights[:, 208:] = np.array([2.0**-13], "<f2").view(np.uint8)
    blocks = np.zeros((16, 2), pairs.X_BLOCK)
    blocks["codes"], blocks["offsets"], blocks["scales"], blocks["spread"] = x, -16 * x, 2.0**-8, 2.0**-8
    return {**arrays, "weights": weights.reshape(-1), "x": blocks.reshape(-1).view(np.uint8)}


def test_reference_decodes_like_the_formats_own_package() -> None:
    """Codes less 32 times their factors are gguf's values of random blocks, d zero and subnormal among them."""
    rng = np.random.default_rng(1)
    blocks = rng.integers(0, 256, (400, 210), dtype=np.uint8)
    d = rng.normal(0, 1e-3, 400).astype("<f2")
    d[:4] = (0.0, -0.0, 6e-8, -3e-5)
    blocks[:, 208:] = d.view(np.uint8).reshape(-1, 2)
    wanted = quants.dequantize(blocks, GGMLQuantizationType.Q6_K)

    codes, factors = pairs.decode(blocks)

    assert wanted.tobytes() == ((codes.astype(float) - 32) * factors.repeat(16, axis=1)).astype(np.float32).tobytes()


def test_reference_is_each_named_experts_product_and_zero_for_a_cut_tail() -> None:
    """Row by row: the expert that a slot names, decoded, times that slot's activations."""
    fixture = make_fixture(tail="cut")
    arrays = pairs.inputs(fixture, np.random.default_rng(3))
    codes, scales = pairs.activations()
    matrices = quants.dequantize(arrays["weights"].reshape(-1, 210), GGMLQuantizationType.Q6_K).reshape(16, 32, 512)
    x = (codes * scales.repeat(32, axis=1)).astype(np.float64)
    wanted = [matrices[one].astype(np.float64) @ x[slot] * (one >= 0) for slot, one in enumerate(arrays["ids"].flat)]

    assert np.allclose(np.reshape(wanted, (2, 8, 32)), pairs.reference(fixture, arrays)["y"], rtol=0, atol=1e-12)
    assert [7, 14, 15] == np.flatnonzero(arrays["ids"].reshape(-1) < 0).tolist()


@pytest.mark.parametrize("overlap", range(9))
def test_tokens_share_as_many_experts_as_told_and_name_none_twice(overlap: int) -> None:
    """Eight distinct experts a token, ``overlap`` of them common, all among the sixteen that there are."""
    ids = pairs.ids(make_fixture(overlap), np.random.default_rng(6))

    assert [8, 8] == [len(set(token)) for token in ids.tolist()]
    assert overlap == len(set(ids[0].tolist()) & set(ids[1].tolist()))
    assert 0 <= ids.min() <= ids.max() < 16


def test_activations_stand_where_the_kernels_take_them() -> None:
    """Byte j of either half of vector (run, group) is value 128 half + 32 run + 16 group + j; sums and scales in their natural order."""
    codes, scales = pairs.activations()
    blocks = pairs.arranged().view(pairs.X_BLOCK).reshape(16, 2)
    slot, block = 5, 1
    natural = codes[slot, 256 * block :][:256].astype(int)
    own_scales = scales[slot, 8 * block :][:8]

    for run, group, half in itertools.product(range(4), range(2), range(2)):
        first = 128 * half + 32 * run + 16 * group
        at = 32 * (2 * run + group) + 16 * half
        assert natural[first : first + 16].tolist() == blocks[slot, block]["codes"][at : at + 16].tolist()
        assert -natural[first : first + 16].sum() == blocks[slot, block]["offsets"][8 * half + 2 * run + group]
        assert {own_scales[4 * half + run]} == set(blocks[slot, block]["spread"][run][4 * half :][:4])
    assert own_scales.tolist() == blocks[slot, block]["scales"].tolist()


@needs_vectors
@pytest.mark.parametrize("overlap", range(9))
@pytest.mark.parametrize("tail", ["none", "cut"])
def test_every_arm_meets_the_reference_and_repeats_the_incumbents_bits(bench: Bench, overlap: int, tail: str) -> None:
    """At every overlap, with and without slots that name no expert, arms stay within the tolerance and have one set of bits."""
    fixture = make_fixture(overlap, tail=tail)
    arrays = bench.inputs(fixture)
    wanted = bench.functions.reference(fixture, arrays)["y"]
    output = bench.functions.outputs(fixture)["y"]
    incumbent = bench.run("incumbent", fixture, arrays)

    assert output.absolute < 1e-4 * np.std(wanted), "a tolerance that would let a wrong kernel pass"
    assert failures(output, incumbent, wanted) == 0
    for name in RIGHT:
        assert incumbent.tobytes() == bench.run(name, fixture, arrays).tobytes(), name


@needs_vectors
@pytest.mark.parametrize("name", RIGHT)
def test_any_number_of_rows_that_four_divides_is_right(bench: Bench, name: str) -> None:
    """The other place, here with 100 rows an expert."""
    fixture = make_fixture(5, "beyond_l2")
    arrays = bench.inputs(fixture)
    output = bench.functions.outputs(fixture)["y"]

    assert failures(output, bench.run(name, fixture, arrays), bench.functions.reference(fixture, arrays)["y"]) == 0


@needs_vectors
def test_incumbent_does_the_float_operations_that_the_tolerance_counts(bench: Bench) -> None:
    """Each slot's output equals a replay of exact sums of lanes through float32 in the stated order, bit for bit."""
    fixture = make_fixture()
    arrays = bench.inputs(fixture)
    got = bench.run("incumbent", fixture, arrays).reshape(16, 32)

    for slot, expert in enumerate(arrays["ids"].flat):
        assert replay_float32(arrays, int(expert), slot).tobytes() == got[slot].tobytes()


@needs_vectors
@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize(
    ("code", "scale", "x"),
    [(0, -128, 127), (63, -128, 127), (63, -128, -127), (63, 127, 127), (0, 127, -127)],
)
def test_the_largest_sums_stay_exact(bench: Bench, name: str, code: int, scale: int, x: int) -> None:
    """All 512 products of one row alike: (code - 32) * scale * x * 512 / 2^21, a number that float32 holds."""
    fixture = make_fixture(8)
    exact = (code - 32) * scale * x * 512 / 2.0**21

    got = bench.run(name, fixture, fill(bench.inputs(fixture), code, scale, x))

    assert {exact} == set(got.reshape(-1).tolist())


@needs_vectors
def test_floor_does_nothing_and_the_ceiling_only_writes(bench: Bench) -> None:
    """The floor leaves its output as poisoned; the ceiling writes all of it, and no product."""
    fixture = make_fixture()
    arrays = bench.inputs(fixture)
    read = bench.run("read_once", fixture, arrays)
    changed = {**arrays, "weights": arrays["weights"].copy()}
    changed["weights"][-BYTES_A_ROW * 32 * (15 - int(arrays["ids"][0, 0])) - 1] ^= (
        1  # the last byte of the first expert
    )

    assert np.isnan(bench.run("floor", fixture, arrays)).all()
    assert read.tobytes() != bench.run("read_once", fixture, changed).tobytes()
    assert len({read.reshape(16, 32)[slot].tobytes() for slot in range(16)}) > 1


@needs_vectors
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("incumbent", ("q6k_pair.h", "task->ids[slot] * task->rows", "task->ids[slot & 7] * task->rows")),
        ("incumbent", ("q6k_pair.h", "low + 32, low + 96", "low + 32, low + 80")),
        ("control", ("q6k_pair.c", "other * BLOCKS, y", "slot * BLOCKS, y")),
        ("decode_once", ("q6k_meeting.h", "one, other, scales, second, run", "other, one, scales, second, run")),
        ("side_by_side", ("q6k_meeting.h", "(a, b, 0x31)", "(a, b, 0x21)")),
        ("decode_once_and_side_by_side", ("q6k_meeting.h", "high_twice(first), high", "low_twice(first), high")),
        ("sums_together", ("q6k_finish.h", "mixed, 0xd8", "mixed, 0xe4")),
        ("all_three", ("q6k_finish.h", "halve(rows[2], rows[3])", "halve(rows[3], rows[2])")),
    ],
)
def test_a_wrong_place_is_caught(bench: Bench, tmp_path: Path, name: str, change: tuple[str, str, str]) -> None:
    """A source changed in one place fails the comparison with the reference."""
    file, right, wrong = change
    shutil.copytree(bench.folder, tmp_path / "kernel")
    changed = tmp_path / "kernel" / file
    text = changed.read_text(encoding="utf-8")
    assert text.count(right) == 1
    changed.write_text(text.replace(right, wrong), encoding="utf-8")
    fixture = make_fixture(5)
    arrays = bench.inputs(fixture)

    got = bench.run_library(
        bench.compile(name, tmp_path / "kernel", tmp_path / "wrong.so"), bench.symbol(name), fixture, arrays
    )

    assert failures(bench.functions.outputs(fixture)["y"], got, bench.functions.reference(fixture, arrays)["y"]) > 0


def instructions(library: Path, function: str) -> list[str]:
    """Give a function's instructions with their operands, and without places in the code."""
    tool = shutil.which("objdump")
    assert tool is not None
    told = subprocess.run([tool, "-d", "--no-show-raw-insn", library], capture_output=True, text=True, check=True)
    found = re.search(rf"<{function}>:\n(.*?)\n\n", told.stdout, re.DOTALL)
    assert found is not None
    lines = [line.split("\t")[1] for line in found[1].splitlines() if "\t" in line]
    return [re.sub(r"\s+#.*|(0x)?[0-9a-f]+\(%rip\)|[0-9a-f]+ <.*", "", line).strip() for line in lines]


@pytest.fixture(scope="module")
def code(bench: Bench) -> dict[str, Counter[str]]:
    """How often each instruction stands in the walk of a pair's rows, arm by arm."""
    grouped = [arm.name for arm in DECLARED.arms if arm.defines.get("GROUPED")]
    return {
        name: Counter(line.split()[0] for line in instructions(bench.library(name), "walk_two") if line)
        for name in grouped
    }


@needs_vectors
def test_ideas_leave_in_the_machine_code_what_they_say(code: dict[str, Counter[str]]) -> None:
    """Of two blocks of codes: all products stay; codes are put together once or twice, by bytes loaded into one half or both; one tree adds sums."""
    for name, counts in code.items():
        once, sides, together = (idea in name or name == "all_three" for idea in IDEAS)

        assert counts["vpmaddubsw"] == 16, name
        assert counts["vpmovsxbw"] == (1 if once or sides else 2), name
        assert counts["vpor"] == (8 if once else 16), name
        assert counts["vpand"] == 2 * counts["vpor"], name
        assert counts["vpsrlw"] + counts["vpsllw"] == (10 if once else 20), name
        assert counts["vbroadcasti128"] == (12 if sides and not once else 0), name
        assert counts["vpermq"] + counts["vperm2i128"] >= (16 if sides and once else 0), name
        assert (counts["vhaddps"] > 0) == together, name
        assert (counts["vaddss"] > 0) != together, name


@needs_vectors
def test_a_slot_by_itself_is_walked_by_the_same_code_wherever_sums_end_alike(bench: Bench) -> None:
    """What an idea for pairs shows at overlap 0 is therefore no other code for single slots."""
    alike = [arm for arm in DECLARED.arms if arm.role is not Role.NULL and arm.defines.get("SUMS_TOGETHER") == 0]
    walks = {tuple(instructions(bench.library(arm.name), "walk_one")) for arm in alike}

    assert {"incumbent", "control", "decode_once", "side_by_side", "decode_once_and_side_by_side"} == {
        arm.name for arm in alike
    }
    assert len(walks) == 1


@needs_vectors
@pytest.mark.parametrize("name", [arm.name for arm in DECLARED.arms if arm.role is Role.NULL])
def test_a_null_is_its_originals_machine_code(bench: Bench, name: str) -> None:
    """A null, compiled by itself, has its original's text section."""
    assert bench.library(name) != bench.library(bench.original(name).name)
    assert elf_text(bench.library(bench.original(name).name)) == elf_text(bench.library(name))


def test_arms_are_distinct_code_behind_distinct_symbols(bench: Bench) -> None:
    """Every arm but a null exports one symbol of its own and shares its machine code with no other."""
    arms = [arm.name for arm in DECLARED.arms if arm.role is not Role.NULL]

    assert [[f"q6k_pair_{name}"] for name in arms] == [elf_entry_points(bench.library(name)) for name in arms]
    assert len(arms) == len({elf_text(bench.library(name)) for name in arms})


def test_every_combination_of_the_ideas_is_an_arm() -> None:
    """None of the three, which is the control, and all seven others; nine overlaps in two places are timed."""
    plan = plan_of(open_project(ROOT), "q6k_pair")
    of_ideas = [arm for arm in DECLARED.arms if arm.role in (Role.CONTROL, Role.CANDIDATE)]
    timed = {(one.values["overlap"], one.values["weights"]) for one in plan.fixtures if not one.checks_only}

    assert sorted(itertools.product((0, 1), repeat=3)) == sorted(
        tuple(int(arm.defines[idea.upper()]) for idea in IDEAS) for arm in of_ideas
    )
    assert {(overlap, place) for overlap in range(9) for place in ("l2", "beyond_l2")} == timed


def test_kernel_calls_name_the_buffers_that_exist(bench: Bench) -> None:
    """Memory arguments are the inputs and the output, the number is that of an expert's rows."""
    fixture = make_fixture()
    (call,) = bench.calls("q6k_pair_incumbent", fixture)
    named = [value.name for value in call.args if isinstance(value, Buffer)]

    assert [*bench.inputs(fixture), *bench.functions.outputs(fixture)] == named
    assert (32,) == call.args[4:]


def test_bytes_and_operations_of_one_fixture_by_hand() -> None:
    """Eleven experts of 32 rows of 420 bytes, 16 slots of 4 + 896 + 128 bytes; 16 * 32 * 512 products and additions."""
    by_hand = (11 * 32 * 420 + 16 * (4 + 896 + 128), 2 * 16 * 32 * 512)

    assert by_hand == pairs.bytes_and_flops(make_fixture(overlap=5))


def test_places_are_where_their_names_say() -> None:
    """All experts of the first place fit a second-level cache of 256 KiB; the fewest of the other take 6.5 MiB."""
    assert 16 * pairs.ROWS["l2"] * BYTES_A_ROW < 256 * 1024
    assert 8 * pairs.ROWS["beyond_l2"] * BYTES_A_ROW > 6.5 * 2**20


def test_tolerance_by_hand() -> None:
    """Ten roundings of 2^-24 on terms that sum to at most 64."""
    (output,) = pairs.outputs(make_fixture()).values()

    assert 10 * 2**-24 / (1 - 10 * 2**-24) * 64 == output.absolute
    assert output.relative == 0


def test_inputs_beyond_the_tolerances_premise_are_refused() -> None:
    """An expert whose terms sum to more than the tolerance was derived for."""
    blocks = pairs.experts("l2")[: 64 * 210].reshape(64, 210).copy()
    blocks[:, 208:] = np.array([2.0**-10], "<f2").view(np.uint8)

    with pytest.raises(ValueError, match="tolerance"):
        pairs.product(blocks)


def test_a_processor_without_the_instructions_is_refused_by_their_names(tmp_path: Path) -> None:
    """One line, before anything is run that the processor cannot."""
    listed = tmp_path / "cpuinfo"
    listed.write_text("processor : 0\nflags\t\t: sse2 f16c\n", encoding="utf-8")

    with pytest.raises(ValueError, match=r"needs a processor with avx2, fma$"):
        pairs.require_instructions(listed)


def test_readme_has_one_line_for_every_arm(bench: Bench) -> None:
    """The README's table names every declared arm once, with its role."""
    lines = (bench.folder / "README.md").read_text(encoding="utf-8").splitlines()

    for arm in DECLARED.arms:
        assert len([line for line in lines if line.startswith(f"| `{arm.name}` | {arm.role} |")]) == 1, arm.name
