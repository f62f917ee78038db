"""The study of the grouped gate/up product: its decoders against gguf, the kernels' own against them, and the plans' arithmetic."""

from __future__ import annotations

import ctypes
import importlib.util
import itertools
import shutil
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from gguf import GGMLQuantizationType, quants
from numpy.typing import NDArray

from reportgen.calls import Arm, Buffer, Fixture
from reportgen.measure.backends.cubin import resources
from reportgen.measure.backends.cuda_compile import compile_source, cuda_headers
from reportgen.measure.backends.cuda_options import OPTIONS

HERE = Path(__file__).parent
FOLDER = HERE.parents[1] / "kernels" / "moe_gate_up"
BUFFERS = {name: Buffer(name) for name in ("weights", "x", "tokens", "offsets", "y")}
ROUNDED = 2.0**-11 * np.sqrt(2)  # of a weight: operands that are rounded more than once
SHARED_A_MULTIPROCESSOR, RESERVED_A_BLOCK = 228 << 10, 1 << 10


def experiment() -> ModuleType:
    """Load ``experiment.py`` as the timed process does."""
    spec = importlib.util.spec_from_file_location("moe_gate_up_experiment", FOLDER / "experiment.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


STUDY = experiment()
DECODERS = STUDY.sibling("decoders")
NAMES = list(DECODERS.FORMATS)


def fixture(form: str = "Q6_K", kind: str = "balanced", tokens: int = 1024) -> Fixture:
    """Name a fixture's values."""
    return Fixture("any", {"format": form, "routing": kind, "tokens": tokens}, 1)


def arm(name: str, role: str = "incumbent", symbol: str = "moe_general") -> Arm:
    """Name an arm."""
    return Arm(name, role, symbol)


def blocks(name: str, count: int, halves: list[int]) -> NDArray[np.uint8]:
    """Random blocks whose FP16 fields are among the given bits."""
    rng = np.random.default_rng(7)
    made = rng.integers(0, 256, (count, STUDY.layouts()[name].bytes), dtype=np.uint8)
    for at in DECODERS.FORMATS[name].fields:
        made[:, at : at + 2] = rng.choice(np.array(halves, "<u2"), count)[:, None].view(np.uint8)
    return made


@pytest.mark.parametrize("name", [name for name in NAMES if name != "Q2_0"])
def test_weights_of_random_blocks_are_those_of_gguf(name: str) -> None:
    """Bit for bit, with d zero, subnormal, ordinary, negative and the largest half."""
    made = blocks(name, 512, [0x0000, 0x0001, 0x03FF, 0x1400, 0x3C00, 0x7BFF, 0x8001, 0xB123])
    wanted = quants.dequantize(made, GGMLQuantizationType[name])
    found = DECODERS.FORMATS[name].decode(made).reshape(wanted.shape)
    assert np.float32 == found.dtype
    assert np.array_equal(wanted.view(np.uint32), found.view(np.uint32))


def test_two_bits_less_one_times_d() -> None:
    """Gguf does not know Q2_0: codes 0 to 3 in a byte from its lowest bits are -1, 0, 1, 2 times d."""
    block = np.zeros((1, 18), np.uint8)
    block[0, :2], block[0, 2] = np.array([0.5], "<f2").view(np.uint8), 0b11_10_01_00
    found = DECODERS.FORMATS["Q2_0"].decode(block)[0]
    assert [-0.5, 0.0, 0.5, 1.0, -0.5] == found[:5].tolist()
    assert 64 == found.size


@pytest.mark.parametrize("name", ["IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S"])
def test_codebooks_of_the_header_are_those_of_gguf(name: str) -> None:
    """Every value of every row."""
    table = getattr(quants, name)
    table.init_grid()
    assert np.array_equal(table.grid.reshape(DECODERS.codebook(name).shape), DECODERS.codebook(name))


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """Compile the kernels' headers for this machine."""
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    library = tmp_path_factory.mktemp("moe") / "moe_host.so"
    options = ["-O1", "-std=c++17", "-shared", "-fPIC", "-Wall", "-Werror", "-Wno-unknown-pragmas", f"-I{FOLDER}"]
    subprocess.run([compiler, *options, str(HERE / "moe_host.cpp"), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


def operands(host: ctypes.CDLL, name: str, rows: NDArray[np.uint8], first: int) -> NDArray[np.float16]:
    """Let the kernel's decoder work on rows [n, bytes of 256 values] that begin ``first`` bytes after a multiple of 16."""
    stride = -(-(rows.shape[1] + first) // 16) * 16 + 16
    memory = np.zeros((len(rows), stride), np.uint8)
    memory[:, first : first + rows.shape[1]] = rows
    grid, out = np.zeros(1, np.uint32), np.zeros((len(rows), 256), np.float16)
    if STUDY.layouts()[name].grid:
        words = DECODERS.codebook(name)
        width = 32 // words.shape[1]
        codes = words if width == 8 else np.searchsorted([8, 25, 43], words) * 2
        grid = (codes.astype(np.uint32) << (np.arange(words.shape[1], dtype=np.uint32) * np.uint32(width))).sum(axis=1)
    addresses = (array.ctypes.data_as(ctypes.c_void_p) for array in (memory, grid.astype(np.uint32), out))
    raw, table, made = addresses
    getattr(host, f"decode_{name}")(raw, len(rows), stride, first, table, made)
    return out


@pytest.mark.parametrize("name", NAMES)
def test_the_kernels_decode_as_numpy_does(host: ctypes.CDLL, name: str) -> None:
    """Wherever in 16 bytes a step may begin: half(weight) bit for bit where one rounding makes an operand, within two more elsewhere."""
    layout, form = STUDY.layouts()[name], DECODERS.FORMATS[name]
    rows = blocks(name, 64 * 256 // layout.values, [0x1400, 0x17FF, 0x94AB]).reshape(64, -1)
    exact = form.decode(rows.reshape(-1, layout.bytes)).reshape(64, 256)
    for first in sorted({step * rows.shape[1] % 16 for step in range(8)}):
        found = operands(host, name, rows, first)
        if form.rounded:
            allowed = 3 * 2.0**-11 * np.abs(exact).max(axis=1, keepdims=True)
            assert (np.abs(found.astype(np.float32) - exact) <= allowed).all()
            assert np.linalg.norm(found - exact) <= ROUNDED * np.linalg.norm(exact)
        else:
            assert np.array_equal(exact.astype(np.float16).view(np.uint16), found.view(np.uint16))


def test_the_rule_for_signs_is_the_table(host: ctypes.CDLL) -> None:
    """All 128 entries; an odd number of minus signs among seven makes the eighth one."""
    assert [host.signs_by_table(seven) for seven in range(128)] == [host.signs_by_rule(seven) for seven in range(128)]
    assert 0x10000001 == host.signs_by_rule(1)
    assert 0x00000011 == host.signs_by_rule(3)


@pytest.mark.parametrize("name", NAMES)
def test_operands_stay_within_a_third_of_the_tolerance(host: ctypes.CDLL, name: str) -> None:
    """Products of 64 outputs with 16 rows of x, whose only error is that of the operands."""
    layout = STUDY.layouts()[name]
    rows = STUDY.expert_blocks(name, 3)[: 64 * 2048 // layout.values].reshape(64 * 8, -1)
    made = operands(host, name, rows, 0).reshape(64, 2048).astype(np.float64)
    wanted = DECODERS.FORMATS[name].decode(rows.reshape(-1, layout.bytes)).reshape(64, 2048).astype(np.float16)
    x = STUDY.tokens_x(16).astype(np.float64)
    assert np.abs((made - wanted.astype(np.float64)) @ x.T).max() <= STUDY.tolerance(name) / 3


@pytest.mark.parametrize("kind", ["balanced", "random"])
def test_every_token_has_ten_experts_and_rows_are_sorted(kind: str) -> None:
    """Rows of an expert lie together, tokens within them ascend, balanced numbers of rows differ by one at most."""
    tokens, offsets = STUDY.routing(kind, 96)
    counts = np.diff(offsets)
    assert [10] * 96 == np.bincount(tokens).tolist()
    assert 960 == counts.sum()
    assert all((np.diff(tokens[a:b]) > 0).all() for a, b in itertools.pairwise(offsets))
    assert (kind == "balanced") == (counts.max() - counts.min() <= 1)


@pytest.mark.parametrize(("tokens", "rows"), [(512, 24), (1100, 24), (1280, 32), (1536, 32), (1983, 40), (2048, 40)])
def test_rows_of_an_expert_choose_the_width(tokens: int, rows: int) -> None:
    """Balanced: one pass, and no more tiles than needed among those built."""
    assert rows == STUDY.width(fixture(tokens=tokens))
    assert np.diff(STUDY.routing("balanced", tokens).offsets).max() <= rows


def test_random_routing_leaves_a_second_pass_to_few() -> None:
    """At most six experts in a hundred have more rows than a pass takes."""
    for tokens in (512, 1280, 2048):
        counts = np.diff(STUDY.routing("random", tokens).offsets)
        assert np.mean(counts > STUDY.width(fixture(kind="random", tokens=tokens))) <= 0.06


def resident(name: str, dynamic: int) -> int:
    """Blocks whose shared memory fits on a multiprocessor."""
    return SHARED_A_MULTIPROCESSOR // int(dynamic + STUDY.static_bytes(name) + RESERVED_A_BLOCK)


def dynamic(name: str, form: str, tokens: int = 1024) -> int:
    """Shared memory with which an arm is launched."""
    (launched,) = STUDY.kernels(arm(name), fixture(form, tokens=tokens), BUFFERS)
    return int(launched.shared_bytes)


@pytest.mark.parametrize(
    ("form", "kib", "blocks_that_fit"),
    [
        ("IQ2_XS", 56, 4),
        ("IQ2_XS", 58, 3),
        ("IQ2_XS", 74, 3),
        ("Q6_K", 74, 3),
        ("Q6_K", 78, 2),
        ("Q6_K", 112, 2),
        ("Q6_K", 116, 1),
    ],
)
def test_paddings_lie_on_both_sides_of_a_step(form: str, kib: int, blocks_that_fit: int) -> None:
    """As their ideas say; and none takes less than the incumbent."""
    padded = dynamic(f"pad_{kib}", form)
    assert blocks_that_fit == resident(form, padded)
    assert padded >= dynamic("general", form)


def test_the_union_saves_a_step_of_shared_memory() -> None:
    """Q6_K: three blocks fit, without the room for sums four would."""
    assert (3, 4) == (resident("Q6_K", dynamic("general", "Q6_K")), resident("Q6_K", dynamic("union", "Q6_K")))


def test_every_format_fits_at_every_width() -> None:
    """227 KiB is the most that a block may have."""
    largest = max(STUDY.shared_bytes(name, rows) + STUDY.static_bytes(name) for name in NAMES for rows in STUDY.WIDTHS)
    assert largest <= 227 << 10


def test_entry_points_are_named_by_format_and_width() -> None:
    """The most asked-for one bears the arm's own name."""
    assert "moe_general" == STUDY.entry(arm("general"), fixture())
    assert "moe_general_q6_k_40" == STUDY.entry(arm("general"), fixture(tokens=2048))
    assert "moe_signs_rule" == STUDY.entry(arm("rule", symbol="moe_signs_rule"), fixture("IQ2_XS"))


def test_the_reference_multiplies_the_sampled_rows() -> None:
    """Weights rounded to half once, in float64; the tokens are those of the routing."""
    seen = fixture("IQ2_XXS", tokens=512)
    found = STUDY.routing("balanced", 512)
    rows = STUDY.sampled_rows(seen)
    given: dict[str, Any] = {"x": STUDY.tokens_x(512), "tokens": found.tokens, "offsets": found.offsets}
    expert = int(np.searchsorted(found.offsets, rows[0], side="right")) - 1
    own = STUDY.decoded("IQ2_XXS", expert)[5].astype(np.float64) @ given["x"][found.tokens[rows[0]]].astype(np.float64)
    y = STUDY.reference(seen, given)["y"]
    assert (len(rows), 1024) == y.shape
    assert own == pytest.approx(y[0, 5], rel=1e-12)


def test_one_entry_point_compiles_without_spilling(tmp_path: Path) -> None:
    """IQ2_XS for 24 rows: no spills, no stack, and few enough registers for four blocks."""
    source = tmp_path / "one.cu"
    source.write_text('#include "moe_arms.cuh"\nENTRY(one, IQ2_XS, 3)\n', encoding="utf-8")
    compile_source(source, tmp_path / "one.cubin", [str(FOLDER), *cuda_headers()], list(OPTIONS))
    facts = resources((tmp_path / "one.cubin.json").read_text(encoding="utf-8").replace("\\n", "\n"), "one")
    assert (0, 0, 0) == (facts["stack_bytes"], facts["spill_store_bytes"], facts["spill_load_bytes"])
    assert facts["registers"] is not None
    assert facts["registers"] <= 128
