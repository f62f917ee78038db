"""The expert down projection: reference against the format's own decoder and by hand, routing, layout and plan, arms by their machine code."""

import importlib.util
import json
import re
import subprocess
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gguf import GGMLQuantizationType, quants
from numpy.typing import NDArray

from reportgen.calls import Arm, Buffer, Fixture, Step
from reportgen.measure.backends.cubin import INSTRUCTION_BYTES, code_facts
from reportgen.measure.backends.cuda import compile_arm, disassembler
from reportgen.measure.compiling import Patience
from reportgen.measure.controller import plan_of
from reportgen.measure.disassembly import symbols
from reportgen.model.experiment import Experiment, Role
from reportgen.project import find_experiment, open_project, read_experiment

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "kernels" / "expert_down"
IDEAS = ("paired_hoist", "lane_zero", "block_routing", "shared_metadata")
FEW_EXPERTS = 16
H200_PROCESSORS, BANKS, ROW_WORDS = 132, 32, 105
RACECHECKED = ROOT / "runs/expert_down/20261129T203345Z-cuda-0cb281/artifacts"
RACECHECKED_Q8 = ROOT / "runs/attention_q8/20261129T203331Z-cuda-2651b3/artifacts"
RACE = re.compile(r"(Write|Read) access at (\w+)\+0x([0-9a-f]+)(?: \[(\d+) hazards\])?")
TILES_OF_AN_EXPERT, BARRIER_BYTES = 128, 8

Arrays = dict[str, NDArray[Any]]


def load_module() -> Any:
    """Load the experiment's functions by path, as the timed process does."""
    spec = importlib.util.spec_from_file_location("expert_down_experiment", FOLDER / "experiment.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


experts = load_module()
DECLARED: Experiment = read_experiment(find_experiment(open_project(ROOT), "expert_down"))


def make_fixture(seed: int = 1, **values: Any) -> Fixture:
    """Three common experts, packed rows, no tail, one selection, unless told otherwise."""
    chosen = {"overlap": 3, "strides": "packed", "tail": "none", "cache": "same-set", **values}
    return Fixture(",".join(f"{axis}={value}" for axis, value in chosen.items()), chosen, seed)


@pytest.fixture(scope="module")
def few() -> Any:
    """Load the experiment with a tensor of sixteen experts in all."""
    module = load_module()
    module.EXPERTS = FEW_EXPERTS
    return module


def test_decoder_equals_the_formats_own() -> None:
    """Random blocks decode to the values of the gguf package, bit for bit, d zero, subnormal, negative and largest included."""
    rng = np.random.default_rng(3)
    blocks = rng.integers(0, 256, (400, 210), dtype=np.uint8)
    d = rng.standard_normal(400).astype("<f2")
    d[:4] = [0.0, 2.0**-24, -(2.0**-20), 65504.0]
    blocks[:, 208:] = d[:, None].view(np.uint8)

    wanted = quants.dequantize(blocks, GGMLQuantizationType.Q6_K)

    assert wanted.astype(np.float64).tobytes() == experts.decode(blocks).tobytes()


@pytest.mark.parametrize("strides", ["packed", "padded"])
def test_reference_is_each_named_experts_product_and_zero_for_a_cut_tail(few: Any, strides: str) -> None:
    """The rows of a fixture with a tail, against the format's own decoder and the activations as the kernels get them."""
    fixture = make_fixture(strides=strides, tail="cut")
    arrays: Arrays = few.inputs(fixture, np.random.default_rng(4))
    x = arrays["x"][:, :512].reshape(16, 16, 32) * arrays["dx"][:, :16, None].astype(np.float64)
    rows = arrays["weights"].reshape(FEW_EXPERTS, 2048, 420)
    ids = arrays["ids"][0, :, :8]

    found = few.reference(fixture, arrays)["y"]

    assert arrays["weights"] is few.tensor()  # one array for all fixtures, as shared() says
    assert {"weights": "experts"} == few.shared(fixture)
    assert (1, 2, 8, 2048) == found.shape
    assert [[7], [6, 7]] == [np.flatnonzero(row < 0).tolist() for row in ids]
    assert not found[0][ids < 0].any()
    for token, slot in ((0, 0), (0, 6), (1, 5)):
        weights = quants.dequantize(rows[ids[token, slot]], GGMLQuantizationType.Q6_K).astype(np.float64)
        np.testing.assert_allclose(found[0, token, slot], weights @ x[8 * token + slot].reshape(-1), atol=1e-12)


@pytest.mark.parametrize("cache", ["same-set", "rotating"])
@pytest.mark.parametrize("overlap", range(9))
def test_selections_overlap_as_told_and_never_name_an_expert_twice(overlap: int, cache: str) -> None:
    """Eight distinct experts a token, ``overlap`` of them common; rotating reads three times the cache before an expert comes again."""
    fixture = make_fixture(overlap=overlap, cache=cache)
    ids = experts.ids(fixture, np.random.default_rng(6))
    named = [set(selection.ravel().tolist()) for selection in ids]

    assert [overlap] * len(ids) == [len(set(one.tolist()) & set(two.tolist())) for one, two in ids]
    assert all(len(set(row.tolist())) == 8 for selection in ids for row in selection)
    assert sum(map(len, named)) == len(set().union(*named))
    assert 0 <= ids.min() <= ids.max() < experts.EXPERTS
    read = sum(map(len, named)) * 2048 * 420
    assert cache == "same-set" or 3 * 60 * 2**20 <= read < 3 * 60 * 2**20 + len(named[0]) * 2048 * 420


def test_padding_lies_between_the_rows_alone() -> None:
    """Rows are the packed ones; what stands between them is never what a kernel that took the wrong stride should find."""
    rows = np.arange(32, dtype=np.int32).reshape(2, 2, 8)
    spread = experts.padded(rows, 11, np.arange(100, 111))

    assert (rows == spread[..., :8]).all()
    assert [108, 109, 110] == spread[1, 0, 8:].tolist()


def test_bytes_and_operations_by_hand() -> None:
    """Eleven experts of 860,160 bytes, 16 rows of 4 + 512 + 32 + 8192 bytes; 16 * 2048 * 512 products and additions."""
    by_hand = 11 * 860160 + 16 * (4 + 512 + 32 + 8192), 2 * 16 * 2048 * 512

    assert by_hand == experts.bytes_and_flops(make_fixture(overlap=5))


@pytest.mark.parametrize("name", ["incumbent", "null_incumbent", "control", "all_four", "floor"])
def test_launches_have_a_warp_for_every_tile_of_sixteen_experts(name: str) -> None:
    """Whether by slot or dealt evenly; shared memory holds a tile of 6,720 bytes for each warp."""
    arm = next(arm for arm in DECLARED.arms if arm.name == name)
    buffers = {name: Buffer(name) for name in ("weights", "ids", "x", "dx", "y")}
    (call,) = experts.kernels(Arm(name, arm.role, arm.symbol or "", arm.of), make_fixture(strides="padded"), buffers)
    warps = call.block[0] // 32

    assert int(np.prod(call.grid)) * warps >= 16 * 2048 // 16
    assert warps * 6720 == call.shared_bytes
    assert ((16, 16) if "incumbent" in name else (H200_PROCESSORS, 1)) == call.grid[:2]
    if arm.role is not Role.FLOOR:
        assert (*buffers.values(), 11, 560, 19, Step()) == call.args


def test_lanes_of_a_pass_read_every_bank_once() -> None:
    """Rows 0-3 and 8-11, then the others, four lanes a row: words of low or high bits, of either block, lie in 32 banks."""
    rows = [[(quad & 3) + 4 * half + 2 * (quad & 4) for quad in range(8)] for half in (0, 1)]
    low, high = ([16 * h + 4 * i for h in (0, 1) for i in (0, 1)], [8 * h + 4 * i for h in (0, 1) for i in (0, 1)])

    assert set(range(16)) == set(rows[0] + rows[1])
    for half in rows:
        assert len({(row * ROW_WORDS + word) % BANKS for row in half for word in low}) == BANKS
        assert len({(row * ROW_WORDS + word) % BANKS for row in half for word in high}) >= BANKS // 2


def test_the_published_matrix_is_a_subset() -> None:
    """17 arms x 18 fixtures x 12 repetitions on each of two devices, 7,344 batches; every combination of the ideas once."""
    plan = plan_of(open_project(ROOT), "expert_down")
    arms = [arm for arm in DECLARED.arms if arm.role in (Role.INCUMBENT, Role.CONTROL, Role.CANDIDATE)]
    timed = [one for one in plan.fixtures if not one.checks_only and one.values["cache"] == "same-set"]
    ideas = {tuple(int(arm.defines[idea.upper()]) for idea in IDEAS) for arm in arms if arm.role is Role.CANDIDATE}

    assert 7344 == len(arms) * len(timed) * DECLARED.protocol.repetitions * 2
    assert all({arm.name for arm in arms} <= set(plan.arms_by_fixture[one.name]) for one in timed)
    assert len(ideas) == 15
    assert {(overlap, strides) for overlap in range(9) for strides in ("packed", "padded")} == {
        (one.values["overlap"], one.values["strides"]) for one in plan.fixtures if one.checks_only
    }


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Machine code of three arms: facts as the record keeps them."""
    folder, plan, facts = tmp_path_factory.mktemp("cubins"), plan_of(open_project(ROOT), "expert_down"), {}
    options = [option for option in plan.backend_options if not option.startswith("backend=")]
    for arm in DECLARED.arms:
        if arm.name in ("control", "lane_zero", "shared_metadata"):
            cubin = folder / f"{arm.name}.cubin"
            compile_arm(arm, options, FOLDER, cubin, Patience(300, lambda: None))
            log = json.loads(cubin.with_name(f"{cubin.name}.json").read_text(encoding="utf-8"))["log"]
            facts[arm.name] = code_facts(cubin, arm.symbol or "", log, disassembler())
            assert arm.symbol in symbols(cubin)
    return facts


def count(facts: dict[str, Any], *opcodes: str) -> int:
    """How often instructions that begin so stand in an arm's code."""
    return sum(number for name, number in facts["opcodes"].items() if name.startswith(opcodes))


def test_ideas_change_what_they_say_and_nothing_is_spilt(code: dict[str, Any]) -> None:
    """Steps down in the place of butterflies; words read by one lane in the place of loads; the same copies and integer products."""
    control, rooted, shared = (code[name] for name in ("control", "lane_zero", "shared_metadata"))

    assert len({facts["text_sha256"] for facts in code.values()}) == 3
    assert all(facts["spill_store_bytes"] == facts["stack_bytes"] == 0 for facts in code.values())
    assert all(facts["registers"] <= 128 for facts in code.values())
    assert (4, 0) == (count(control, "SHFL.BFLY"), count(control, "SHFL.DOWN"))
    assert (0, 4) == (count(rooted, "SHFL.BFLY"), count(rooted, "SHFL.DOWN"))
    assert count(shared, "LDS") < count(control, "LDS")
    assert count(shared, "SHFL.IDX") > count(control, "SHFL.IDX")
    for opcodes in (("IDP",), ("UBLKCP",), ("LDG",), ("MATCH",)):
        assert len({count(facts, *opcodes) for facts in code.values()}) == 1


def test_readme_has_one_line_for_every_arm() -> None:
    """The README's table names every declared arm once, with its role."""
    lines = (FOLDER / "README.md").read_text(encoding="utf-8").splitlines()

    for arm in DECLARED.arms:
        assert len([line for line in lines if line.startswith(f"| `{arm.name}` | {arm.role} |")]) == 1, arm.name


def barrier_code(cubin: Path) -> list[tuple[int, str, str]]:
    """Offset, predicate and instruction of whatever touches or is a barrier, in the order of the code."""
    tool = disassembler()
    assert tool is not None
    told = subprocess.run([tool, "-json", str(cubin)], capture_output=True, check=True)
    code = json.loads(told.stdout)[1][0]["sass-instructions"]
    return [
        (INSTRUCTION_BYTES * i, one.get("predicate", ""), one["opcode"].partition(".TRANS64")[0])
        for i, one in enumerate(code)
        if one["opcode"].startswith(("SYNCS.EXCH", "SYNCS.ARRIVE", "BAR.SYNC"))
    ]


def test_racecheck_warns_of_every_barrier_whose_own_thread_arrives_before_the_block_meets() -> None:
    """Each arm without block_routing, nulls included, on both fixtures; a byte of the barrier of each tile that is copied, once."""
    found = RACE.findall((RACECHECKED / "logs/racecheck.log").read_text(encoding="utf-8"))
    arms = tomllib.loads((RACECHECKED.parent / "plan.toml").read_text(encoding="utf-8"))["experiment"]["arm"]
    routed = {arm["name"]: arm.get("defines", {}).get("BLOCK_ROUTING", 1) for arm in arms}
    without = [f"expert_down_{arm.get('of', arm['name'])}" for arm in arms if not routed[arm.get("of", arm["name"])]]

    assert ["Write", "Read"] * 22 == [kind for kind, *_ in found]
    assert Counter(2 * without) == Counter(symbol for kind, symbol, *_ in found if kind == "Write")
    distinct = {"none": 13, "cut": 11}  # experts that the two fixtures name
    assert {count * TILES_OF_AN_EXPERT * BARRIER_BYTES: 11 for count in distinct.values()} == Counter(
        int(hazards) for *_, hazards in found if hazards
    )


@pytest.mark.parametrize("arm", ["incumbent", "control", "block_routing"])
def test_the_two_accesses_are_the_barriers_start_and_its_first_arrival(arm: str) -> None:
    """The write is executed once a warp, behind a vote; with block_routing all threads meet in between, and nothing was reported."""
    (start, predicate, _), second, third = code = barrier_code(RACECHECKED / f"binaries/{arm}.cubin")
    log = (RACECHECKED / "logs/racecheck.log").read_text(encoding="utf-8")
    reported = {int(offset, 16) for _, symbol, offset, _ in RACE.findall(log) if symbol == f"expert_down_{arm}"}

    assert predicate.startswith("@!UP")
    assert {"SYNCS.EXCH.64", "SYNCS.ARRIVE", "BAR.SYNC.DEFER_BLOCKING"} == {opcode for *_, opcode in code}
    if arm == "block_routing":
        assert ("BAR.SYNC.DEFER_BLOCKING", set()) == (second[2], reported)
    else:
        assert ("SYNCS.ARRIVE", {start, second[0]}) == (second[2], reported)
        assert second[0] < third[0]


def test_the_same_order_is_passed_where_the_compiler_kept_the_branch_of_the_one_thread() -> None:
    """attention_q8 starts a barrier and arrives before the block meets as well; no vote, no warning."""
    code = barrier_code(RACECHECKED_Q8 / "binaries/fp16.cubin")
    before = code[: next(i for i, (*_, opcode) in enumerate(code) if opcode.startswith("BAR"))]

    assert [("", "SYNCS.EXCH.64"), ("", "SYNCS.EXCH.64"), ("", "SYNCS.ARRIVE"), ("", "SYNCS.ARRIVE")] == [
        one[1:] for one in before
    ]
    assert "(0 errors, 0 warnings)" in (RACECHECKED_Q8 / "logs/racecheck.log").read_text(encoding="utf-8")
