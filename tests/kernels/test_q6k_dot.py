"""The Q6_K experiment: its reference against the format's own decoder, its C against the reference, bit for bit."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from gguf import GGMLQuantizationType, quants
from numpy.typing import NDArray

from reportgen.calls import Buffer, Fixture
from reportgen.model.experiment import Experiment, Role
from reportgen.project import find_experiment, open_project, read_experiment
from tests.kernels.native_bench import Arrays, Bench, elf_entry_points, elf_text, failures, load_functions

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "kernels" / "q6k_dot"

q6k = load_functions("q6k_dot")
DECLARED: Experiment = read_experiment(find_experiment(open_project(ROOT), "q6k_dot"))
CHECKED = [arm.name for arm in DECLARED.arms if arm.role is not Role.FLOOR]
SMALL = [("l2", columns) for columns in DECLARED.axes["columns"]]
LARGE = [("beyond_l2", columns) for columns in DECLARED.axes["columns"]]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Provide one bench for the module, since compiling is its dearest part."""
    return Bench("q6k_dot", tmp_path_factory.mktemp("arms"))


def make_fixture(weights: str = "l2", columns: object = 2048, seed: int = 7) -> Fixture:
    """Make a fixture as the plan would."""
    return Fixture(f"weights={weights},columns={columns}", {"weights": weights, "columns": columns}, seed)


def make_inputs(fixture: Fixture) -> Arrays:
    """Draw the inputs that belong to a fixture's seed."""
    arrays: Arrays = q6k.inputs(fixture, np.random.default_rng(fixture.seed))
    return arrays


def replay_float32(fixture: Fixture, arrays: Arrays) -> NDArray[np.float32]:
    """Exact run totals, then the kernels' float32 operations one by one, in their order."""
    rows, blocks = q6k.shape(fixture)
    raw = arrays["weights"].reshape(-1, 210)
    d = raw[:, 208:].copy().view("<f2").astype(np.float32).reshape(rows, blocks)
    plain = raw.copy()
    plain[:, 208:] = np.array([1.0], "<f2").view(np.uint8)
    integers = q6k.decode(plain).astype(np.int64).reshape(rows, blocks, 8, 32)
    totals = np.einsum("rbgi,bgi->rbg", integers, arrays["activations"].astype(np.int64).reshape(blocks, 8, 32))
    run_scales = arrays["run_scales"].reshape(blocks, 8)
    y = np.zeros(rows, np.float32)
    for block in range(blocks):
        total = np.zeros(rows, np.float32)
        for run in range(8):
            total += run_scales[block, run] * totals[:, block, run].astype(np.float32)
        y += d[:, block] * total
    return y


def test_reference_decodes_like_the_formats_own_package() -> None:
    """Random blocks, with d zero, subnormal, negative and the largest half, have gguf's values bit for bit."""
    rng = np.random.default_rng(1)
    blocks = rng.integers(0, 256, (400, 210), dtype=np.uint8)
    d = rng.normal(0, 1e-3, 400).astype("<f2")
    d[:6] = (0.0, -0.0, 6e-8, -3e-5, 65504.0, -65504.0)
    blocks[:, 208:] = d.view(np.uint8).reshape(-1, 2)

    expected = quants.dequantize(blocks, GGMLQuantizationType.Q6_K)

    assert expected.tobytes() == q6k.decode(blocks).astype(np.float32).tobytes()


def test_inputs_use_the_whole_range_of_the_format_and_stay_finite() -> None:
    """Codes and scales reach their ends, weights stay within (-1, 1), activations are f16 scales times int8."""
    arrays = make_inputs(make_fixture())
    blocks = arrays["weights"].reshape(-1, 210)
    values = q6k.decode(blocks)

    assert list(range(-128, 128)) == np.unique(blocks[:, 192:208].view(np.int8)).tolist()
    assert np.abs(values).max() < 1
    assert np.count_nonzero(blocks[:, 209] >= 128) in range(400, 625)  # the sign of d, of 1024 blocks
    assert np.abs(arrays["activations"]).max() == 127
    assert arrays["run_scales"].tobytes() == arrays["run_scales"].astype(np.float16).astype(np.float32).tobytes()


def test_quantised_activations_lie_within_half_a_step() -> None:
    """An int8 code times its run's scale is the activation to half a step, but for the f16 rounding of the scale."""
    values = np.random.default_rng(2).uniform(-1, 1, 4096)
    codes, scales = q6k.quantise(values)
    error = np.abs(codes * scales.astype(np.float64).repeat(32) - values)

    assert (error <= 0.5 * scales.repeat(32) + 127 * 2.0**-11 * scales.repeat(32)).all()


@pytest.mark.parametrize(("weights", "columns"), SMALL + LARGE)
def test_every_arm_meets_the_reference_and_repeats_the_incumbents_bits(
    bench: Bench, weights: str, columns: int
) -> None:
    """On every fixture of the plan each arm stays within the tolerance and has the incumbent's bits."""
    fixture = make_fixture(weights, columns)
    arrays = make_inputs(fixture)
    wanted = q6k.reference(fixture, arrays)["y"]
    output = q6k.outputs(fixture)["y"]
    incumbent = bench.run("incumbent", fixture, arrays)

    assert output.absolute < 1e-4 * np.std(wanted), "a tolerance that would let a wrong kernel pass"
    assert failures(output, incumbent, wanted) == 0
    for name in CHECKED:
        assert incumbent.tobytes() == bench.run(name, fixture, arrays).tobytes(), name


@pytest.mark.parametrize(("weights", "columns"), SMALL)
def test_incumbent_does_the_float_operations_that_the_tolerance_counts(
    bench: Bench, weights: str, columns: int
) -> None:
    """The output equals a replay of exact run totals through float32 in the stated order, bit for bit."""
    fixture = make_fixture(weights, columns, seed=8)
    arrays = make_inputs(fixture)

    assert replay_float32(fixture, arrays).tobytes() == bench.run("incumbent", fixture, arrays).tobytes()


@pytest.mark.parametrize("name", CHECKED)
def test_the_largest_totals_stay_exact(bench: Bench, name: str) -> None:
    """Scales of -128, codes of 0 (weight -32) and activations of 127 give 2 * 16 * 32 * 127 * 128 = 16,646,144 a run."""
    fixture = make_fixture()
    arrays = make_inputs(fixture)
    blocks = arrays["weights"].reshape(-1, 210)
    blocks[:, :192] = 0
    blocks[:, 192:208] = 0x80
    blocks[:, 208:] = np.array([2.0**-12], "<f2").view(np.uint8)
    arrays["activations"][:] = 127
    arrays["run_scales"][:] = 2.0**-8

    assert np.full(128, 64 * 16_646_144 / 2**20, np.float32).tobytes() == bench.run(name, fixture, arrays).tobytes()


def test_halves_below_the_normal_range_are_scaled_exactly(bench: Bench) -> None:
    """A d of 2^-24, the least half, and a negative one count with their exact value."""
    fixture = make_fixture()
    arrays = make_inputs(fixture)
    blocks = arrays["weights"].reshape(-1, 210)
    blocks[:, 208:] = np.tile(np.array([2.0**-24, -(2.0**-16)], "<f2").view(np.uint8).reshape(2, 2), (512, 1))

    assert replay_float32(fixture, arrays).tobytes() == bench.run("both", fixture, arrays).tobytes()


def test_floor_does_nothing(bench: Bench) -> None:
    """The floor leaves its output as poisoned."""
    fixture = make_fixture()

    assert np.isnan(bench.run("floor", fixture, make_inputs(fixture))).all()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("incumbent", ("incumbent.c", "half_to_float(block->d)", "half_to_float(block[row == 3 && b == 0].d)")),
        ("incumbent", ("incumbent.c", "task.y[row] = y", "task.y[row == 3 ? 2 : row] = y")),
        ("incumbent", ("incumbent.c", "float y = 0;", "float y = row == 0 ? 0 : task.y[row - 1];")),
        ("incumbent", ("incumbent.c", "run_scales[3] *", "run_scales[2] *")),
        ("control", ("pair_walk.h", "half_to_float(block->d)", "half_to_float(block[row == 3 && b == 0].d)")),
        ("control", ("pair_walk.h", "low + 32, high, 2", "low + 32, high, 0")),
        ("control", ("control.c", "scales + 4, x + 64", "scales + 3, x + 64")),
        ("scale_hoist", ("scale_hoist.c", "high + i + 8, high_shift", "high + i, high_shift")),
        ("pair_decode", ("q6k.h", "high_bits >> 4", "high_bits >> 2")),
        ("both", ("both.c", "(hide(b) + d)", "(hide(b) + b)")),
        ("both", ("q6k.h", "- 0x20 * each", "- 0x1f * each")),
    ],
)
def test_a_wrong_offset_is_caught(bench: Bench, tmp_path: Path, name: str, change: tuple[str, str, str]) -> None:
    """A source changed in one place, some for one row only, fails the comparison with the reference."""
    file, right, wrong = change
    shutil.copytree(FOLDER, tmp_path / "kernel")
    changed = tmp_path / "kernel" / file
    text = changed.read_text()
    assert text.count(right) == 1
    changed.write_text(text.replace(right, wrong))
    fixture = make_fixture()
    arrays = make_inputs(fixture)
    library = bench.compile(name, tmp_path / "kernel", tmp_path / "wrong.so")

    got = bench.run_library(library, bench.symbol(name), fixture, arrays)

    assert failures(q6k.outputs(fixture)["y"], got, q6k.reference(fixture, arrays)["y"]) > 0


@pytest.mark.parametrize("name", [arm.name for arm in DECLARED.arms if arm.role is Role.NULL])
def test_a_null_is_its_originals_machine_code(bench: Bench, name: str) -> None:
    """A null, compiled by itself, has its original's text section."""
    assert bench.library(name) != bench.library(bench.original(name).name)
    assert elf_text(bench.library(bench.original(name).name)) == elf_text(bench.library(name))


def test_arms_are_distinct_code_behind_distinct_symbols(bench: Bench) -> None:
    """Every arm but a null exports one symbol of its own and shares its machine code with no other."""
    arms = [arm.name for arm in DECLARED.arms if arm.role is not Role.NULL]

    assert [[f"q6k_dot_{name}"] for name in arms] == [elf_entry_points(bench.library(name)) for name in arms]
    assert len(arms) == len({elf_text(bench.library(name)) for name in arms})


def test_kernel_calls_name_the_buffers_that_exist(bench: Bench) -> None:
    """Memory arguments are the inputs and the output, numbers are rows and blocks a row."""
    fixture = make_fixture()
    (call,) = bench.calls("q6k_dot_incumbent", fixture)
    named = [value.name for value in call.args if isinstance(value, Buffer)]

    assert [*make_inputs(fixture), *q6k.outputs(fixture)] == named
    rows_and_blocks = (128, 8)
    assert rows_and_blocks == call.args[4:]


def test_bytes_and_operations_of_one_fixture_by_hand() -> None:
    """128 rows of 2048: 128*8*210 + 2048 + 64*4 + 128*4 bytes, and 2*128*2048 operations."""
    by_hand = (217_856, 524_288)

    assert by_hand == q6k.bytes_and_flops(make_fixture("l2", 2048))


def test_slices_are_where_their_names_say() -> None:
    """Weights of the first slice fit a second-level cache of 256 KiB; those of the other are beyond 3 MiB."""
    sizes = {w: {q6k.bytes_and_flops(make_fixture(w, c))[0] for _, c in SMALL} for w in ("l2", "beyond_l2")}

    assert max(sizes["l2"]) < 256 * 1024
    assert min(sizes["beyond_l2"]) > 3 * 1024 * 1024


def test_tolerance_of_one_fixture_by_hand() -> None:
    """512 columns are 2 blocks: 10 roundings of 2^-24 on terms that sum to at most 512/16 = 32."""
    (output,) = q6k.outputs(make_fixture("l2", 512)).values()

    by_hand = 10 * 2**-24 / (1 - 10 * 2**-24) * 32
    assert by_hand == output.absolute
    assert output.relative == 0


def test_inputs_beyond_the_tolerances_premise_are_refused() -> None:
    """The reference refuses rows whose terms sum to more than the tolerance was derived for."""
    fixture = make_fixture()
    arrays = make_inputs(fixture)
    arrays["run_scales"][:] *= 4

    with pytest.raises(ValueError, match="tolerance"):
        q6k.reference(fixture, arrays)


def test_readme_has_one_line_for_every_arm() -> None:
    """The README's table names every declared arm once, with its role."""
    lines = (FOLDER / "README.md").read_text(encoding="utf-8").splitlines()

    for arm in DECLARED.arms:
        assert len([line for line in lines if line.startswith(f"| `{arm.name}` | {arm.role} |")]) == 1, arm.name
