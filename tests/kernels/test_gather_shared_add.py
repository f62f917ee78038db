"""Gather and shared add: the rounding contract and the rows of routes by hand, the classes of routes, launches, machine code of the ideas."""

import importlib.util
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from reportgen.calls import Arm, Buffer, Fixture, KernelCall
from reportgen.measure.backends.cubin import instruction_counts
from reportgen.measure.backends.cuda import compile_arm, disassembler
from reportgen.measure.backends.cuda_options import OPTIONS
from reportgen.measure.compiling import Patience
from reportgen.model.experiment import Experiment, Role
from reportgen.project import find_experiment, open_project, read_experiment

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "kernels" / "gather_shared_add"

Arrays = dict[str, NDArray[Any]]


def load_module() -> Any:
    """Load the experiment's functions by path, as the timed process does."""
    spec = importlib.util.spec_from_file_location("gather_shared_add_experiment", FOLDER / "experiment.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


gather = load_module()
DECLARED: Experiment = read_experiment(find_experiment(open_project(ROOT), "gather_shared_add"))
ARMS = {arm.name: arm for arm in DECLARED.arms}
CLASSES = list(gather.LOCAL)


def fixture_of(route: str) -> Fixture:
    """Class of routes as a fixture."""
    return Fixture(f"route={route}", {"route": route}, 5)


@cache
def drawn(route: str) -> Arrays:
    """Draw the inputs of a class as a run would."""
    arrays: Arrays = gather.inputs(fixture_of(route), np.random.Generator(np.random.Philox(5)))
    return arrays


def calls_of(name: str, route: str = "six-local") -> list[KernelCall]:
    """List the calls of an arm."""
    declared = ARMS[name]
    fixture = fixture_of(route)
    names = [*drawn(route), *gather.outputs(fixture), *gather.scratch(fixture)]
    seen = Arm(name, declared.role.value, declared.symbol or ARMS[declared.of or ""].symbol or "", declared.of)
    calls: list[KernelCall] = gather.kernels(seen, fixture, {buffer: Buffer(buffer) for buffer in names})
    return calls


def test_bf16_rounds_to_nearest_and_ties_to_even() -> None:
    """One and its neighbours: 1 + 2**-8 lies half way and stays 1, 1 + 3 * 2**-8 goes up to an even number, a little more than half goes up."""
    values = np.array([1, 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-20, -2.5], np.float32)
    wanted = np.array([1, 1, 1 + 2**-6, 1 + 2**-7, -2.5], np.float32)

    np.testing.assert_array_equal(gather.from_bf16(gather.to_bf16(values)), wanted)


def test_rows_are_grouped_by_expert_and_keep_the_order_of_slots() -> None:
    """By hand: local experts 64 + (9, 2, 9), (2, -, 5): expert 2 has rows 0 and 1, 5 has 2, 9 has 3 and 4; what is remote has none."""
    ids = np.array([[[73, 66, 73, 0, 200, 63], [66, 255, 69, 128, 1, 2]]], np.int32)

    rows, first = gather.rows_of(ids)

    assert [[3, 0, 4, -1, -1, -1], [1, -1, 2, -1, -1, -1]] == rows[0].tolist()
    assert [0, 0, 0, 2, 2, 2, 3, 3, 3, 3, 5] == first[0, :11].tolist()
    assert 5 == first[0, 64]


def test_the_contract_rounds_every_step() -> None:
    """Value by value in scalars: product, sum in the order of slots, bf16, then the shared row; the next layer adds to that."""
    arrays = drawn("cross-row-overlap")
    found = gather.reference(fixture_of("cross-row-overlap"), arrays)["hidden"].astype(np.uint16)
    column, token, above = 777, 1, arrays["shared"][1, 777]
    for layer in range(3):
        total = np.float32(0)
        for row, weight in zip(arrays["given_rows"][layer, token], arrays["weights"][layer, token], strict=True):
            if row >= 0:
                total = np.float32(total + np.float32(weight * gather.from_bf16(arrays["rows"][row, column])))
        routed = gather.from_bf16(gather.to_bf16(np.array([total])))
        above = gather.to_bf16(routed + gather.from_bf16(np.array([above])))[0]
        assert above == found[layer, token, column]


def test_fused_operations_would_give_other_bits() -> None:
    """The contract distinguishes a fused product and sum from two roundings: in float64, rounded once a step, some values differ."""
    arrays = drawn("six-local")
    rows, weights = gather.from_bf16(arrays["rows"]).astype(np.float64), arrays["weights"][0, 0].astype(np.float64)
    total, contract = np.zeros(gather.HIDDEN, np.float32), np.zeros(gather.HIDDEN, np.float32)
    for slot, row in enumerate(arrays["given_rows"][0, 0]):
        total = (total + weights[slot] * rows[row]).astype(np.float32)
        contract = contract + arrays["weights"][0, 0, slot] * rows[row].astype(np.float32)

    assert (total != contract).any()


@pytest.mark.parametrize("route", CLASSES)
def test_classes_have_their_routes_in_every_layer_and_case(route: str) -> None:
    """Local routes, distinct experts within a token and shared by both are the class's; rows that no route has are NaN."""
    letters = gather.LOCAL[route]
    for arrays in [drawn(route), gather.cases(fixture_of(route), np.random.default_rng(1))[11]]:
        for ids in arrays["ids"]:
            local = [[expert for expert in row if 64 <= expert < 128] for row in ids.tolist()]
            assert [len(one) for one in letters] == [len(one) for one in local]
            assert [len(set(one)) for one in letters] == [len(set(one)) for one in local]
            assert len(set(letters[0]) & set(letters[1])) == len(set(local[0]) & set(local[1]))
        used = sum(len(one) for one in letters)
        assert np.isfinite(gather.from_bf16(arrays["rows"][:used])).all()
        assert np.isnan(gather.from_bf16(arrays["rows"][used:])).all()
        np.testing.assert_allclose(arrays["weights"].sum(axis=-1), 1, rtol=1e-6)


def test_seven_classes_have_twelve_changed_cases_each() -> None:
    """84 cases, and no two alike."""
    made = gather.cases(fixture_of("same-typical"), np.random.default_rng(2))

    assert 84 == len(CLASSES) * len(made)
    assert all((first["ids"] != second["ids"]).any() for first, second in pairwise(made))
    assert all((first["shared"] != second["shared"]).any() for first, second in pairwise(made))


@pytest.mark.parametrize(
    ("arm", "launches"), [("unfused", 3), ("null_unfused", 3), ("fused", 2), ("ceiling", 1), ("floor_two", 2)]
)
def test_a_layer_is_as_many_launches_as_the_arm_says(arm: str, launches: int) -> None:
    """43 layers; remap is one block, all else covers both tokens' rows once; layers come in order."""
    calls = calls_of(arm)
    layers = [int(call.args[-1]) for call in calls if call.args]

    assert 43 * launches == len(calls)
    assert sorted(layers) == layers
    for call in calls:
        covered = call.grid[0] * call.block[0] * gather.VALUES
        assert (call.grid == (1, 1, 1)) == call.symbol.endswith("_remap")
        assert call.symbol.endswith("_remap") or (covered, call.grid[1]) == (gather.HIDDEN, gather.TOKENS)


def test_ceilings_alone_read_the_rows_that_are_given() -> None:
    """Remap is deleted there, and nobody else may profit."""
    for name in ARMS:
        read = {argument.name for call in calls_of(name) for argument in call.args if isinstance(argument, Buffer)}
        assert name.startswith("ceiling") == ("given_rows" in read)
        assert name.startswith(("ceiling", "floor")) == ("ids" not in read)


def test_programmatic_arms_alone_launch_programmatically() -> None:
    """All launches of such an arm, and none of another's."""
    for name in ARMS:
        allowed = {bool(call.attributes) for call in calls_of(name)}
        assert {"programmatic" in name} == allowed


def test_bytes_by_hand() -> None:
    """Six local, a layer: 12 rows, 2 shared and 2 written of 8,192 bytes, 12 experts and weights of 8: 131,168; 43 layers."""
    moved, flops = gather.bytes_and_flops(fixture_of("six-local"))

    assert (43 * (16 * 8192 + 96), 43 * 4096 * (24 + 2)) == (moved, flops)


@pytest.fixture(scope="module")
def instructions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, int]]:
    """How often each instruction stands in the fused kernel of some arms."""
    folder, found = tmp_path_factory.mktemp("cubins"), {}
    for name in ("fused", "fused_route_cache", "fused_programmatic"):
        compile_arm(ARMS[name], OPTIONS, FOLDER, folder / f"{name}.cubin", Patience(300, lambda: None))
        found[name] = instruction_counts(folder / f"{name}.cubin", ARMS[name].symbol or "", disassembler() or "") or {}
    return found


def test_the_ideas_are_in_the_machine_code(instructions: dict[str, dict[str, int]]) -> None:
    """Six rows and the shared one by 16 bytes everywhere, nothing fused; shuffles with the cache alone; waits where launches are programmatic."""
    for arm, counts in instructions.items():
        seen = {
            opcode: sum(number for name, number in counts.items() if name.startswith(opcode))
            for opcode in ("LDG.E.128", "FFMA", "SHFL", "ACQBULK", "LDL", "STL")
        }
        own = {"SHFL": 12 * (arm == "fused_route_cache"), "ACQBULK": int(arm == "fused_programmatic")}
        assert {"LDG.E.128": 7, "FFMA": 0, "LDL": 0, "STL": 0} | own == seen


def test_readme_has_one_line_for_every_arm() -> None:
    """The README's table names every declared arm once, with its role."""
    lines = (FOLDER / "README.md").read_text(encoding="utf-8").splitlines()

    for arm in DECLARED.arms:
        assert len([line for line in lines if line.startswith(f"| `{arm.name}` | {arm.role} |")]) == 1, arm.name
    assert Role.CEILING in {arm.role for arm in DECLARED.arms}
