"""The Q8_0 attention: reference against the format's own decoder and by hand, arms by their machine code, tolerances by a model of the tiling."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gguf import GGMLQuantizationType, quants
from numpy.typing import NDArray

from reportgen.calls import Arm, Buffer, Fixture
from reportgen.measure.disassembly import symbols
from reportgen.model.experiment import Experiment, Role
from reportgen.project import find_experiment, open_project, read_experiment
from tests.kernels.measured_code import Code, measured_code

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "kernels" / "attention_q8"
FAMILIES = ("fp16", "fp32")
GROUP_ROWS = 32

Arrays = dict[str, NDArray[Any]]


def load_module() -> Any:
    """Load the experiment's functions by path, as the timed process does."""
    spec = importlib.util.spec_from_file_location("attention_q8_experiment", FOLDER / "experiment.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


attention = load_module()
DECLARED: Experiment = read_experiment(find_experiment(open_project(ROOT), "attention_q8"))
OWN = [arm for arm in DECLARED.arms if arm.role is not Role.PEER]
DISTINCT = [arm for arm in OWN if arm.role is not Role.NULL]


def make_fixture(seed: int = 1, **values: Any) -> Fixture:
    """Two queries, 256 rows, four partitions, masked, unless told otherwise."""
    chosen = {"queries": 2, "rows": 256, "partitions": 4, "mask": "masked", "cache": "same-set", **values}
    return Fixture(",".join(f"{axis}={value}" for axis, value in chosen.items()), chosen, seed)


def make_inputs(fixture: Fixture) -> Arrays:
    """Draw inputs as a run would."""
    arrays: Arrays = attention.inputs(fixture, np.random.default_rng(fixture.seed))
    return arrays


def test_decoder_equals_the_formats_own() -> None:
    """Random rows decode to the values of the gguf package, bit for bit, subnormal and negative scales included."""
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 256, (400, 136), dtype=np.uint8)
    scales = rng.standard_normal((400, 4)).astype("<f2")
    scales[0] = [0.0, 2.0**-24, -(2.0**-20), 65504.0]
    for block in range(4):
        rows[:, 34 * block : 34 * block + 2] = scales[:, block, None].view(np.uint8)

    wanted = quants.dequantize(rows, GGMLQuantizationType.Q8_0)

    assert wanted.astype(np.float64).tobytes() == attention.decode(rows).tobytes()


def test_a_query_of_zeros_averages_the_rows_that_it_sees() -> None:
    """Scores of 0 give weights of 1: maxima 0, sums the visible rows, output their mean."""
    fixture = make_fixture(rows=256, partitions=1)
    arrays = make_inputs(fixture)
    arrays["q"][:] = 0
    arrays["mask"][:] = -np.inf
    arrays["mask"][:, :96] = 0
    values = quants.dequantize(arrays["v"], GGMLQuantizationType.Q8_0).astype(np.float64)

    found = attention.reference(fixture, arrays)

    assert not found["maxima"].any()
    assert (found["sums"] == 96).all()
    np.testing.assert_allclose(found["out"][1, 13], values[13 // 4, :96].mean(axis=0), rtol=1e-12)


def test_partitions_combine_to_the_whole() -> None:
    """One partition or four, the output is the same, and each partition is the attention of its own rows."""
    four, one = make_fixture(partitions=4), make_fixture(partitions=1)
    arrays = make_inputs(four)
    parts, whole = attention.reference(four, arrays), attention.reference(one, arrays)
    own = {**arrays, "k": arrays["k"][:, 64:128], "v": arrays["v"][:, 64:128], "mask": arrays["mask"][:, 64:128]}
    second = attention.reference(make_fixture(rows=64, partitions=1), own)

    np.testing.assert_allclose(whole["out"], parts["out"], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(second["out"], parts["accumulated"][1] / parts["sums"][1][..., None], rtol=1e-9)


def test_quantised_q_lies_within_half_a_step() -> None:
    """Each value moves by at most half of its block's largest magnitude over 127, and the largest stays."""
    q = np.random.default_rng(5).uniform(-2, 2, (1, 32, 128)).astype(np.float16)
    most = np.abs(q.astype(np.float64)).reshape(1, 32, 4, 32).max(axis=-1)

    moved = np.abs(attention.quantised(q) - q).reshape(1, 32, 4, 32)

    assert (moved.max(axis=-1) <= most / 254 * (1 + 1e-6)).all()
    assert not attention.quantised(np.zeros_like(q)).any()


@pytest.mark.parametrize("rows", [256, 4096, 8192])
@pytest.mark.parametrize("queries", [1, 2])
def test_masks_are_causal_and_drop_a_tenth_of_the_groups(queries: int, rows: int) -> None:
    """0 or -inf; a query sees its own row and none after it; dropped groups are whole; every partition keeps rows."""
    fixture = make_fixture(queries=queries, rows=rows)
    mask = make_inputs(fixture)["mask"]
    seen = mask == 0
    groups = seen.reshape(queries, -1, GROUP_ROWS)
    dropped = ~groups.any(axis=-1)

    assert (seen | np.isneginf(mask)).all()
    for query in range(queries):
        assert seen[query, rows - queries + query]
        assert not seen[query, rows - queries + query + 1 :].any()
    assert (-(-(rows // GROUP_ROWS) // 10) == dropped.sum(axis=1)).all()
    assert seen.reshape(queries, 4, -1).any(axis=-1).all()


def test_premises_of_the_tolerances_are_checked() -> None:
    """One row that outweighs all others is refused."""
    fixture = make_fixture(partitions=1, mask="unmasked")
    arrays = make_inputs(fixture)
    arrays["k"][:, 7] = attention.blocks(np.random.default_rng(1), 1)[:, 0]
    arrays["k"].reshape(8, 256, 4, 34)[:, 7, :, 2:] = 127
    arrays["q"][:] = 2

    with pytest.raises(ValueError, match="tolerances"):
        attention.reference(fixture, arrays)


def test_bytes_and_operations_by_hand() -> None:
    """8192 rows, 4 partitions, 2 queries: K and V 2*8*8192*136, Q 2*32*128*2, mask 2*8192*2, outputs 4 bytes each."""
    outputs = 2 * 32 * (128 + 4 * 128 + 4 * 2)
    by_hand = 2 * 8 * 8192 * 136 + 2 * 32 * 128 * 2 + 2 * 8192 * 2 + 4 * outputs, 4 * 2 * 32 * 8192 * 128

    assert by_hand == attention.bytes_and_flops(make_fixture(rows=8192))


@pytest.mark.parametrize("rows", [256, 4096, 8192])
def test_rotating_sets_hold_three_times_the_cache(rows: int) -> None:
    """Copies of all buffers together exceed 180 MiB, by less than one copy."""
    fixture = make_fixture(rows=rows, cache="rotating")
    held = attention.sets(fixture) * attention.moved_bytes(fixture)

    assert 0 <= held - 3 * 60 * 2**20 < attention.moved_bytes(fixture)
    assert attention.sets(make_fixture(rows=rows)) == 1


@pytest.mark.parametrize("mask", ["masked", "unmasked"])
@pytest.mark.parametrize("partitions", [1, 4])
@pytest.mark.parametrize("rows", [256, 4096, 8192])
def test_launches_cover_all_rows_and_fit_the_device(rows: int, partitions: int, mask: str) -> None:
    """16 blocks share the rows in whole slices of 16, two slices for each warp at most; splits divide into partitions; 227 KiB suffice."""
    fixture = make_fixture(rows=rows, partitions=partitions, mask=mask)
    names = [*make_inputs(fixture), *attention.outputs(fixture)]
    buffers = {name: Buffer(name) for name in names}
    (call,) = attention.kernels(Arm("fp32", "incumbent", "attention_q8_fp32"), fixture, buffers)
    own_rows, queries, parts = (int(value) for value in call.args[-3:])

    assert (16, 8, 1) == call.grid
    assert rows == 16 * own_rows
    assert own_rows % 16 == 0
    assert own_rows <= call.block[0]
    assert (2, partitions) == (queries, parts)
    assert call.shared_bytes <= 227 * 1024
    assert set(names) == {argument.name for argument in call.args if isinstance(argument, Buffer)}


def test_every_block_of_a_launch_runs_at_once() -> None:
    """Blocks wait for each other, so the device must hold all of them: more than half of an SM each, no more blocks than 132 SMs."""
    (call,) = attention.kernels(Arm("fp32", "incumbent", "attention_q8_fp32"), make_fixture(), {"k": Buffer("k")})

    assert call.grid[0] * call.grid[1] <= 132


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Code:
    """Take the code of every arm; the arm with the most of both ideas is compiled here."""
    return measured_code("attention_q8", "fp32_both", tmp_path_factory.mktemp("cubins"))


def test_every_arm_is_code_of_its_own_without_spills(built: Code) -> None:
    """One symbol an arm, no two alike, nulls equal to their originals, nothing spilled, registers for 512 threads."""
    texts = {arm.name: built.code[arm.name]["text_sha256"] for arm in OWN}

    assert len(DISTINCT) == len({texts[arm.name] for arm in DISTINCT})
    for arm in OWN:
        assert texts[arm.of or arm.name] == texts[arm.name]
        assert built.code[arm.name]["spill_store_bytes"] == built.code[arm.name]["stack_bytes"] == 0
        assert built.code[arm.name]["registers"] <= 128
    for arm in DISTINCT:
        named = [name for name in symbols(built.cubin(arm.name)) if name.startswith("attention_q8")]
        assert [arm.symbol] == named


@pytest.mark.parametrize("family", FAMILIES)
def test_root_reductions_replace_butterflies_by_steps_down(built: Code, family: str) -> None:
    """The incumbent sums by butterflies alone; with the idea as many of them are steps down, and as many shuffles remain."""
    for plain, rooted in ((family, f"{family}_root_reductions"), (f"{family}_exp_broadcast", f"{family}_both")):
        down = built.count(rooted, "SHFL.DOWN")
        assert built.count(plain, "SHFL.DOWN") == 0
        assert down > 0
        assert built.count(plain, "SHFL.BFLY") == built.count(rooted, "SHFL.BFLY") + down


@pytest.mark.parametrize("family", FAMILIES)
def test_broadcast_exponentials_are_fewer(built: Code, family: str) -> None:
    """With the idea a lane computes one exponential where it computed one for each tile or split: shuffles stand in their place."""
    for plain, shared in ((family, f"{family}_exp_broadcast"), (f"{family}_root_reductions", f"{family}_both")):
        assert built.count(shared, "MUFU.EX2") < built.count(plain, "MUFU.EX2") / 2


@pytest.mark.parametrize("family", FAMILIES)
def test_arms_of_a_family_share_loads_and_arithmetic(built: Code, family: str) -> None:
    """The same copies, loads of global memory, matrix instructions, decoding and barriers in all arms of a family."""
    for opcodes in (("UBLKCP",), ("LDG",), ("IMMA",), ("HMMA",), ("MOVM",), ("HADD2",), ("BAR",)):
        counts = {built.count(arm.name, *opcodes) for arm in DISTINCT if arm.name.startswith(family)}
        assert len(counts) == 1, opcodes
        assert counts != {0}, opcodes


def model(arrays: Arrays, accumulator: type[np.floating[Any]]) -> NDArray[np.float64]:
    """Compute the first KV head as the kernels do: a split's weights times scales in half, codes added 16 rows at a time in each quarter."""
    q = attention.quantised(arrays["q"])[:, :4]
    scores = np.einsum("qgi,ri->qgr", q, attention.decode(arrays["k"][0])) / np.sqrt(128)
    scores = scores + arrays["mask"].astype(np.float64)[:, None, :] if "mask" in arrays else scores
    own_rows = scores.shape[-1] // 16
    quarter = max(own_rows // 4, 16)
    shape = 16, own_rows // quarter, quarter // 16, 16
    splits = scores.reshape(*scores.shape[:2], 16, own_rows)
    maxima = np.maximum(splits.max(axis=-1), -1e30)
    exact = np.exp(splits - maxima[..., None])
    weights = exact.astype(np.float16).reshape(*scores.shape[:2], *shape)
    blocks = arrays["v"][0].reshape(*shape, 4, 34)
    scales = np.ascontiguousarray(blocks[..., :2]).view(np.float16)[..., 0]
    codes = np.ascontiguousarray(blocks[..., 2:]).view(np.int8).astype(np.float64)
    total = np.zeros((*scores.shape[:2], *shape[:2], 4, 32), accumulator)
    for step in range(shape[2]):
        scaled = (weights[:, :, :, :, step, :, None] * scales[:, :, step]).astype(np.float64)
        total = (total + np.einsum("qgswrb,swrbi->qgswbi", scaled, codes[:, :, step], optimize=True)).astype(
            accumulator
        )
    factor = np.exp(maxima - maxima.max(axis=-1, keepdims=True))
    summed = np.einsum("qgs,qgswbi->qgbi", factor, total.astype(np.float64), optimize=True)
    out: NDArray[np.float64] = summed / (factor * exact.sum(axis=-1)).sum(axis=-1)[..., None, None]
    return out.reshape(*scores.shape[:2], 128)


@pytest.mark.parametrize(("rows", "mask"), [(256, "masked"), (4096, "masked"), (4096, "unmasked")])
def test_the_tolerance_holds_for_fp16_and_would_catch_a_lost_row(rows: int, mask: str) -> None:
    """Both families stay within a third of the tolerance, half accumulators err more; a row of V that is left out shows at 256 rows."""
    fixture = make_fixture(rows=rows, mask=mask, partitions=1, seed=11)
    arrays = make_inputs(fixture)
    wanted, allowed = attention.reference(fixture, arrays)["out"][:, :4], attention.outputs(fixture)["out"].absolute

    half = np.abs(model(arrays, np.float16) - wanted).max()
    single = np.abs(model(arrays, np.float32) - wanted).max()
    arrays["v"][0, rows - 5] = 0
    lost = np.abs(model(arrays, np.float32) - wanted).max()

    assert single < half < allowed / 3
    assert allowed < 0.06 * wanted.std()
    assert rows > 256 or lost > allowed


def test_readme_has_one_line_for_every_arm() -> None:
    """The README's table names every declared arm once, with its role."""
    lines = (FOLDER / "README.md").read_text(encoding="utf-8").splitlines()

    for arm in DECLARED.arms:
        assert len([line for line in lines if line.startswith(f"| `{arm.name}` | {arm.role} |")]) == 1, arm.name
