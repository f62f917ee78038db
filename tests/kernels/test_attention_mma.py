"""The tensor-core attention: reference against a second one, masks, the places of operands in a model, arms by their machine code."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from reportgen.calls import Arm, Buffer, Fixture
from reportgen.measure.backends.cuda import CudaBuilder
from reportgen.measure.compiling import Patience
from reportgen.measure.controller import plan_of
from reportgen.measure.disassembly import symbols
from reportgen.model.experiment import Experiment, Role
from reportgen.project import find_experiment, open_project, read_experiment

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "kernels" / "attention_mma"
PUBLISHED: dict[str, set[str | int | float]] = {
    "queries": {1, 2, 4},
    "rows": {256, 4096, 32768},
    "mask": {"masked", "unmasked"},
}
SCHEDULES = ("mma_4x8", "mma_8x8")
COMPILED = ("mma_4x8", "mma_4x8_both")

Arrays = dict[str, NDArray[Any]]


def load_module() -> Any:
    """Load the experiment's functions by path, as the timed process does."""
    spec = importlib.util.spec_from_file_location("attention_mma_experiment", FOLDER / "experiment.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


attention = load_module()
DECLARED: Experiment = read_experiment(find_experiment(open_project(ROOT), "attention_mma"))


def make_fixture(seed: int = 1, **values: Any) -> Fixture:
    """Four queries, 256 rows, masked, unless told otherwise."""
    chosen = {"queries": 4, "rows": 256, "mask": "masked", "cache": "same-set", **values}
    return Fixture(",".join(f"{axis}={value}" for axis, value in chosen.items()), chosen, seed)


def make_inputs(fixture: Fixture) -> Arrays:
    """Draw inputs as a run would."""
    arrays: Arrays = attention.inputs(fixture, np.random.default_rng(fixture.seed))
    return arrays


def one_head(arrays: Arrays, query: int, head: int) -> NDArray[np.float64]:
    """Attend a row at a time with a running maximum: a second way to the output of one query head."""
    q, total, most, values = arrays["q"][query, head].astype(np.float64), 0.0, -np.inf, np.zeros(256)
    for row, key in enumerate(arrays["k"][head // 8].astype(np.float64)):
        score = float(q @ key) / 16.0 + (float(arrays["mask"][query, row]) if "mask" in arrays else 0.0)
        if score == -np.inf:
            continue
        largest = max(most, score)
        factor, weight = np.exp(most - largest), np.exp(score - largest)
        total, most = total * factor + weight, largest
        values = values * factor + weight * arrays["v"][head // 8, row].astype(np.float64)
    return values / total


@pytest.mark.parametrize("mask", ["masked", "unmasked"])
def test_reference_equals_a_running_softmax(mask: str) -> None:
    """Heads of both KV heads, first and last query: the dense reference and one row after another agree."""
    fixture = make_fixture(mask=mask)
    arrays = make_inputs(fixture)

    found = attention.reference(fixture, arrays)["out"]

    for query, head in ((0, 0), (3, 7), (1, 8), (2, 15)):
        np.testing.assert_allclose(one_head(arrays, query, head), found[query, head], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("rows", [256, 4096])
@pytest.mark.parametrize("queries", [1, 4])
def test_masks_are_causal_and_drop_a_tenth_of_the_groups(queries: int, rows: int) -> None:
    """0 or -inf; a query sees its own row and none after it; dropped groups of 32 are whole, a tenth of all, rounded up."""
    seen = (mask := make_inputs(make_fixture(queries=queries, rows=rows))["mask"]) == 0
    groups = seen.reshape(queries, -1, 32)

    assert (seen | np.isneginf(mask)).all()
    for query in range(queries):
        assert seen[query, rows - queries + query]
        assert not seen[query, rows - queries + query + 1 :].any()
    assert (-(-(rows // 32) // 10) == (~groups.any(axis=-1)).sum(axis=1)).all()
    assert (groups[:, :-1].all(axis=-1) == groups[:, :-1].any(axis=-1)).all()


def test_drawn_halves_have_one_exponent_and_both_signs() -> None:
    """Magnitudes of K, V and Q lie in [1/2, 1); signs and fractions are drawn."""
    arrays = make_inputs(make_fixture())

    for name in ("k", "v", "q"):
        magnitudes = np.abs(arrays[name].astype(np.float64))
        assert (magnitudes >= 0.5).all()
        assert (magnitudes < 1).all()
        assert len(np.unique(magnitudes)) == 1024
        assert 0.48 < (arrays[name] < 0).mean() < 0.52


def test_premises_of_the_tolerance_are_checked() -> None:
    """One row that outweighs all others is refused."""
    fixture = make_fixture(mask="unmasked")
    arrays = make_inputs(fixture)
    arrays["k"][:, 7] = 0.99 * np.sign(arrays["q"][0, [0, 8]])

    with pytest.raises(ValueError, match="tolerance"):
        attention.reference(fixture, arrays)


def split_model(arrays: Arrays, splits: int) -> NDArray[np.float64]:
    """Compute query 0 of the first KV head as the kernels do: tiles of 32 rows, weights in half, normalised splits, then their mean."""
    q, k, v = (arrays[name].astype(np.float32) for name in ("q", "k", "v"))
    scores = q[0, :8] @ k[0].T * np.float32(1 / np.log(2) / 16) + arrays["mask"][0].astype(np.float32)
    outs, logarithms = [], []
    for own, values in zip(np.split(scores, splits, axis=1), np.split(v[0], splits), strict=True):
        most, total = np.full((8, 1), -1e30, np.float32), np.zeros((8, 1), np.float32)
        summed = np.zeros((8, 256), np.float32)
        for tile in range(0, own.shape[1], 32):
            largest = np.maximum(most, own[:, tile : tile + 32].max(axis=1, keepdims=True))
            factor, weights = np.exp2(most - largest), np.exp2(own[:, tile : tile + 32] - largest)
            most, total = largest, total * factor + weights.sum(axis=1, keepdims=True)
            summed = summed * factor + weights.astype(np.float16).astype(np.float32) @ values[tile : tile + 32]
        total = np.maximum(total, np.float32(1e-30))
        outs.append(summed / total)
        logarithms.append(most + np.log2(total))
    weights = np.exp2(np.array(logarithms) - np.max(logarithms, axis=0)).astype(np.float64)
    mean: NDArray[np.float64] = (weights * np.array(outs)).sum(axis=0) / weights.sum(axis=0)
    return mean


@pytest.mark.parametrize("rows", [256, 4096])
def test_the_tolerance_holds_for_the_kernels_rounding_and_catches_a_lost_tile(rows: int) -> None:
    """Splits of normalised outputs, some of them all masked, give the reference; 32 rows of V that are left out do not."""
    fixture = make_fixture(rows=rows, seed=11)
    arrays = make_inputs(fixture)
    wanted, allowed = attention.reference(fixture, arrays)["out"][0, :8], attention.outputs(fixture)["out"].absolute
    splits = attention.splits(fixture)

    found = split_model(arrays, splits)
    arrays["v"][0, rows - 32 :] = 0
    lost = split_model(arrays, splits)

    assert np.abs(found - wanted).max() < allowed
    assert allowed < 0.06 * wanted.std()
    assert np.abs(lost - wanted).max() > allowed


@pytest.mark.parametrize("mask", ["masked", "unmasked"])
@pytest.mark.parametrize("rows", [256, 4096, 32768])
def test_launches_cover_all_rows_and_columns(rows: int, mask: str) -> None:
    """Blocks times tiles of 32 rows are the rows, at most 512 a block; two blocks combine a column; every buffer is passed."""
    fixture = make_fixture(rows=rows, mask=mask, queries=2)
    names = ["k", "v", "q", *(["mask"] if mask == "masked" else []), "out", *attention.scratch(fixture)]
    buffers = {name: Buffer(name) for name in names}
    first, second = attention.kernels(Arm("a", "incumbent", "attention_mma_4x8"), fixture, buffers)
    given_rows, queries, tiles = (int(value) for value in first.args[-3:])

    assert (rows, 2) == (given_rows, queries)
    assert rows == first.grid[0] * tiles * 32
    assert tiles * 32 <= 512
    assert first.grid[0] * first.grid[1] <= 132
    assert (2 * 2 * 8, 2, 1) == second.grid
    assert first.grid[0] == int(second.args[-1]) <= 64
    assert ["attention_mma_4x8", "attention_mma_4x8_combine"] == [first.symbol, second.symbol]
    assert set(names) == {one.name for call in (first, second) for one in call.args if isinstance(one, Buffer)}


def test_bytes_operations_and_copies_by_hand() -> None:
    """32768 rows, 4 queries: K and V 2*2*32768*512, Q 4*16*512, mask 4*32768*2, output 4*16*1024; three copies exceed 180 MiB."""
    fixture = make_fixture(rows=32768, cache="rotating")
    by_hand = 2 * 2 * 32768 * 512 + 4 * 16 * 512 + 4 * 32768 * 2 + 4 * 16 * 1024, 4 * 4 * 16 * 32768 * 256

    assert by_hand == attention.bytes_and_flops(fixture)
    assert 3 == attention.sets(fixture)
    assert 1 == attention.sets(make_fixture())


def test_the_published_matrix_is_part_of_the_plan() -> None:
    """Eight arms on eighteen fixtures, twelve repetitions in both orders; candidates name the control of their own schedule."""
    arms = [arm for arm in DECLARED.arms if arm.role in {Role.INCUMBENT, Role.CONTROL, Role.CANDIDATE}]

    assert 8 == len({arm.symbol for arm in arms})
    assert 8 * 18 * 12 * 2 == len(arms) * 18 * DECLARED.protocol.repetitions * 2
    for axis, values in PUBLISHED.items():
        assert values <= set(DECLARED.axes[axis])
    for arm in arms:
        assert arm.control == (arm.name[:7] if arm.role is Role.CANDIDATE else None)
        assert arm.only == {}
    assert {"null_mma_4x8": "mma_4x8", "null_mma_8x8": "mma_8x8"} == {
        arm.name: arm.of for arm in DECLARED.arms if arm.role is Role.NULL
    }


def test_each_source_defines_what_its_name_says() -> None:
    """Columns by schedule, ideas by suffix; the symbol by the file's name."""
    for schedule, columns in zip(SCHEDULES, (32, 64), strict=True):
        for suffix, ideas in (("", "00"), ("_exp_broadcast", "10"), ("_reciprocal_broadcast", "01"), ("_both", "11")):
            text = (FOLDER / f"{schedule}{suffix}.cu").read_text(encoding="utf-8")
            assert f"COLUMNS {columns}\n" in text
            assert f"EXP_BROADCAST {ideas[0]}\n#define RECIPROCAL_BROADCAST {ideas[1]}\n" in text
            assert f"ATTENTION_MMA(attention_{schedule}{suffix})\n" in text


def test_broadcasts_replace_a_function_by_two_shuffles(tmp_path: Path) -> None:
    """Both ideas save one exponential and one reciprocal and cost four shuffles; all else is the same, and nothing spills."""
    project = open_project(ROOT)
    plan, experiment = plan_of(project, "attention_mma"), find_experiment(project, "attention_mma")
    plan.experiment.arms[:] = [arm for arm in plan.experiment.arms if arm.name in COMPILED]
    made = CudaBuilder().build(plan, experiment, tmp_path, Patience(300, lambda: None))
    code = json.loads(made.artifacts["code.json"])

    def count(arm: str, opcode: str) -> int:
        return sum(number for name, number in code[arm]["opcodes"].items() if name.startswith(opcode))

    plain, both = COMPILED
    assert made.warnings == []
    for opcode, more in (("MUFU.EX2", -1), ("MUFU.RCP", -1), ("SHFL.IDX", 4), ("SHFL.BFLY", 0)):
        assert count(plain, opcode) + more == count(both, opcode), opcode
    for opcode in ("HMMA", "LDSM", "LDGSTS", "BAR", "STG", "FFMA", "MUFU.LG2"):
        assert count(plain, opcode) == count(both, opcode) > 0, opcode
    for arm in COMPILED:
        assert code[arm]["spill_store_bytes"] == code[arm]["stack_bytes"] == 0
        assert code[arm]["registers"] <= 168
        named = {f"attention_{arm}", f"attention_{arm}_combine"}
        assert named == {name for name in symbols(tmp_path / f"{arm}.cubin") if name.startswith("attention_mma")}


def test_readme_has_one_line_for_every_arm() -> None:
    """The README's table names every declared arm once, with its role."""
    lines = (FOLDER / "README.md").read_text(encoding="utf-8").splitlines()

    for arm in DECLARED.arms:
        assert len([line for line in lines if line.startswith(f"| `{arm.name}` | {arm.role} |")]) == 1, arm.name
