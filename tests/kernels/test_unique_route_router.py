"""The router with a table of distinct experts: the oracle in small and by hand, classes of logits, who writes what, machine code of the emitters."""

import importlib.util
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from reportgen.calls import Arm, Buffer, Fixture
from reportgen.measure.backends.cubin import instruction_counts
from reportgen.measure.backends.cuda import compile_arm, disassembler
from reportgen.measure.backends.cuda_options import OPTIONS
from reportgen.measure.compiling import Patience
from reportgen.model.experiment import Experiment
from reportgen.project import find_experiment, open_project, read_experiment

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "kernels" / "unique_route_router"

Arrays = dict[str, NDArray[Any]]


def load_module() -> Any:
    """Load the experiment's functions by path, as the timed process does."""
    spec = importlib.util.spec_from_file_location("unique_route_router_experiment", FOLDER / "experiment.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


router = load_module()
DECLARED: Experiment = read_experiment(find_experiment(open_project(ROOT), "unique_route_router"))
ARMS = {arm.name: arm for arm in DECLARED.arms}


def fixture_of(shared: int | str) -> Fixture:
    """Fixture of a class."""
    return Fixture(f"shared={shared}", {"shared": shared}, 5)


def drawn(shared: int | str) -> Arrays:
    """Draw the logits of a class as a run would."""
    arrays: Arrays = router.inputs(fixture_of(shared), np.random.Generator(np.random.Philox(5)))
    return arrays


def seen(name: str) -> Arm:
    """Arm as the experiment's functions see it."""
    arm = ARMS[name]
    return Arm(name, arm.role.value, arm.symbol or ARMS[arm.of or ""].symbol or "", arm.of)


def test_the_table_by_hand() -> None:
    """Experts 7, 3, 9 and then 3, 4, 7 in two slots more: five distinct ones, 3 and 7 chosen by both."""
    ids = np.array([[7, 3, 9, 1, 2, 8], [3, 4, 7, 10, 11, 12]])

    found = router.table_of(ids)

    assert [7, 3, 9, 1, 2, 8, 4, 10, 11, 12, -1, -1] == found["unique"]
    assert [3, 3, 1, 1, 1, 1, 2, 2, 2, 2, 0, 0] == found["masks"]
    assert [[0, 1, 2, 3, 4, 5], [1, 6, 0, 7, 8, 9]] == found["slot_to_unique"]
    assert 10 == found["count"]


def test_the_table_gives_the_routes_back_whatever_they_are() -> None:
    """All 4,096 ways to fill two tokens of six slots from two experts: nothing is lost, nothing is named twice."""
    for filled in product((5, 200), repeat=12):
        ids = np.array(filled).reshape(2, 6)
        table = router.table_of(ids)
        unique = table["unique"][: table["count"]]
        assert ids.tolist() == [[unique[place] for place in row] for row in table["slot_to_unique"]]
        assert len(set(unique)) == table["count"] == len(set(filled))
        assert [sum(1 << token for token in (0, 1) if expert in ids[token]) for expert in unique] == table["masks"][
            : table["count"]
        ]


@pytest.mark.parametrize("shared", [0, 3, 6])
def test_classes_share_as_many_experts_as_they_say(shared: int) -> None:
    """In every layer, of the draw that is timed and of the last case; the table counts 12 less what is shared."""
    for arrays in [drawn(shared), router.cases(fixture_of(shared), np.random.default_rng(1))[31]]:
        found = router.reference(fixture_of(shared), arrays)
        both = [len(set(first) & set(second)) for first, second in found["ids"]]
        assert [shared] * 40 == both
        assert [12 - shared] * 40 == found["count"].tolist()


def test_equal_logits_come_in_the_order_of_their_numbers() -> None:
    """By hand: two of 2 at numbers 9 and 4, then 1.5 at 0, then ones at 1, 2, 3 of many; weights are their softmax."""
    logits = np.zeros((40, 2, 256), np.float32)
    logits[..., 1:8] = 1
    logits[..., [9, 4]] = 2
    logits[..., 0] = 1.5

    found = router.reference(fixture_of("drawn"), {"logits": logits})

    powers = np.exp([0, 0, -0.5, -1, -1, -1])
    assert [4, 9, 0, 1, 2, 3] == found["ids"][7, 1].tolist()
    np.testing.assert_allclose(found["weights"][7, 1], powers / powers.sum(), rtol=1e-14)


def test_chance_brings_ties_at_the_border() -> None:
    """In the drawn class the sixth largest often equals the seventh, so that the order among equals is put to the test."""
    ordered = np.sort(drawn("drawn")["logits"], axis=-1)[..., ::-1]

    assert (ordered[..., 5] == ordered[..., 6]).mean() > 0.2


def test_thirty_two_changed_cases_of_forty_inputs() -> None:
    """No two layers of any draw alike."""
    made = [drawn(3), *router.cases(fixture_of(3), np.random.default_rng(2))]
    layers = {layer.tobytes() for arrays in made for layer in arrays["logits"]}

    assert 33 * 40 == len(layers)


def test_only_emitters_are_asked_for_a_table() -> None:
    """Weights and experts of every arm; the table of those that make one."""
    emitters = {"serial", "twelve_lane", "local_staging", "staging_ballot"}
    for name in ARMS:
        asked = set(router.written(seen(name), fixture_of(0)))
        assert {"weights", "ids"} <= asked
        assert (name in emitters) == (set(router.TABLE) <= asked)


def test_a_cycle_is_forty_launches_of_one_block() -> None:
    """Two warps, and a third where a barrier waits for one; layers in order."""
    names = ["logits", *router.outputs(fixture_of(0))]
    for name in ARMS:
        calls = router.kernels(seen(name), fixture_of(0), {buffer: Buffer(buffer) for buffer in names})
        threads = 64 if name in ("router", "null_router", "floor") else 96
        assert [((1, 1, 1), (threads, 1, 1))] * 40 == [(call.grid, call.block) for call in calls]
        assert name == "floor" or list(range(40)) == [int(call.args[-1]) for call in calls]


def test_both_stages_ask_for_the_same() -> None:
    """What has to remain is stage one's threshold, and its plan is named by the digest that it has now."""
    first = read_experiment(find_experiment(open_project(ROOT), "gather_shared_add"))
    asked = {gate.threshold for gate in DECLARED.gates if gate.stage}

    assert {gate.threshold for gate in first.gates if gate.required} == asked
    assert 17605 == pytest.approx(0.8 * 66019.2 / 129 * 43, abs=0.5)


def test_emitters_differ_in_their_machine_code(tmp_path: Path) -> None:
    """Shared memory and ballots stand where the idea says, and the barrier in every emitter."""
    found = {}
    for name in ("router", "twelve_lane", "staging_ballot"):
        compile_arm(ARMS[name], OPTIONS, FOLDER, tmp_path / f"{name}.cubin", Patience(300, lambda: None))
        counts = instruction_counts(tmp_path / f"{name}.cubin", ARMS[name].symbol or "", disassembler() or "") or {}
        found[name] = [
            sum(number for opcode, number in counts.items() if opcode.startswith(kind))
            for kind in ("REDUX", "BAR", "LDS", "VOTE")
        ]

    assert [12, 0, 0, 0] == found["router"]
    assert [12, 1, 0, 0] == found["twelve_lane"]
    assert [12, 1, 3, 1] == found["staging_ballot"]


def test_readme_has_one_line_for_every_arm() -> None:
    """The README's table names every declared arm once, with its role."""
    lines = (FOLDER / "README.md").read_text(encoding="utf-8").splitlines()

    for arm in DECLARED.arms:
        assert len([line for line in lines if line.startswith(f"| `{arm.name}` | {arm.role} |")]) == 1, arm.name
