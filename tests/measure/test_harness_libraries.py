"""How each timing library is asked, what it launches and what of its answer becomes the figure: seen through stand-ins."""

from __future__ import annotations

import ctypes
import hashlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reportgen.errors import InputError, WorkerError
from reportgen.measure.backends.cuda_session import CudaSession
from reportgen.measure.harnesses import time_harness
from reportgen.measure.job import JobArm, JobFixture
from reportgen.measure.rig import Rig
from tests.measure import library_stubs
from tests.measure.cuda_stub import Device, plugged_in
from tests.measure.harness_rig import Heard, built_rig, harness_job
from tests.measure.library_stubs import DEFAULT_STREAM, OWN_STREAM, Libraries

PROGRAM = Path(__file__).parents[1] / "data" / "cuda_saxpy" / "experiment.py"
ODD = JobFixture("odd", {"size": "odd", "cache": "same-set"}, 1, ["one", "two_steps"])


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Device:
    """Stand-in device."""
    return plugged_in(monkeypatch)


@pytest.fixture
def libraries(monkeypatch: pytest.MonkeyPatch) -> Libraries:
    """Stand-in libraries."""
    made = Libraries()
    made.install(monkeypatch)
    return made


def ready(folder: Path, name: str, settings: dict[str, Any] | None = None) -> tuple[Rig, Heard]:
    """Set up the example's smallest fixture with an arm of one kernel and one of two."""
    hashes = {}
    for code in ("harness", "one", "two_steps"):
        (folder / code).write_bytes(code.encode())
        hashes[code] = hashlib.sha256(code.encode()).hexdigest()
    arms = (
        JobArm("one", "incumbent", "saxpy_one", file=str(folder / "one")),
        JobArm("two_steps", "candidate", "saxpy_product", file=str(folder / "two_steps")),
    )
    job = harness_job(
        folder,
        PROGRAM,
        name=name,
        settings=settings,
        backend="cuda",
        options={"cubins": hashes, "harness": str(folder / "harness")},
        arms=arms,
        fixtures=(ODD,),
        set_buffers=("x", "y0", "y", "product"),
    )
    return built_rig(job, CudaSession)


@pytest.mark.parametrize(
    ("name", "settings", "asked", "figure"),
    [
        ("triton_do_bench", {}, ("do_bench", {}), (3, 15_000)),
        ("triton_do_bench", {"rep": 50}, ("do_bench", {"rep": 50}), (3, 15_000)),
        ("triton_do_bench_cudagraph", {}, ("do_bench_cudagraph", {}), (8, 24_000)),
        ("torch_blocked_autorange", {}, ("blocked_autorange", {}), (3000, 9_000_000)),
        ("cupyx_benchmark", {"n_repeat": 2}, ("benchmark two_steps", {"n_repeat": 2}), (2, 10_000)),
        (
            "nvbench",
            {"min_time": 0.5},
            ("run_all_benchmarks", {"argv": ["reportgen", "--quiet", "--json", "--min-time", "0.5"]}),
            (50, 450_000),
        ),
    ],
)
def test_each_library_is_asked_with_its_own_defaults_and_its_own_statistic_is_the_figure(  # noqa: PLR0913 - fixtures
    device: Device,
    libraries: Libraries,
    tmp_path: Path,
    *,
    name: str,
    settings: dict[str, Any],
    asked: tuple[str, dict[str, Any]],
    figure: tuple[int, int],
) -> None:
    """Mean of 1, 3, 11; mean of 2, 4 over 2 replays of 4 calls; median of 3 blocks of 1000; mean of 4, 6; mean as told."""
    rig, heard = ready(tmp_path, name, settings)
    facts = time_harness(rig)["harness"]
    assert asked == libraries.asked[0]
    assert [("two_steps", *figure), ("one", *figure)] == [
        (row["arm"], row["launches"], row["elapsed_ns"]) for row in heard.rows()
    ]
    assert facts["name"] == name
    assert facts["version"]
    assert device.direct


@pytest.mark.parametrize(
    ("name", "stream"),
    [
        ("triton_do_bench", DEFAULT_STREAM),
        ("triton_do_bench_cudagraph", OWN_STREAM),
        ("torch_blocked_autorange", DEFAULT_STREAM),
        ("cupyx_benchmark", DEFAULT_STREAM),
        ("nvbench", OWN_STREAM),
    ],
)
def test_kernels_go_to_the_stream_that_the_library_watches(
    device: Device, libraries: Libraries, tmp_path: Path, name: str, stream: int
) -> None:
    """All of them, and only once the harness is asked."""
    rig, _ = ready(tmp_path, name)
    assert [] == device.direct
    time_harness(rig)
    assert {stream} == {words[8] for words in device.direct}
    assert libraries.asked


def test_a_call_launches_the_functions_and_arguments_of_the_timed_graph(
    device: Device, libraries: Libraries, tmp_path: Path
) -> None:
    """Both kernels of the operation in their order, byte for byte the arguments that the graph captured."""
    rig, _ = ready(tmp_path, "cupyx_benchmark")
    captured = {name: arguments for name, arguments in device.launched if name.startswith("saxpy")}
    time_harness(rig)
    kernels = [("two_steps", "saxpy_product"), ("two_steps", "saxpy_sum"), ("one", "saxpy_one")]
    assert [device.function(arm.encode(), symbol) for arm, symbol in kernels] == [words[0] for words in device.direct]
    assert [(4, 1, 1, 256, 1, 1, shared) for shared in (0, 65536, 0)] == [words[1:8] for words in device.direct]
    for (_, symbol), words in zip(kernels, device.direct, strict=True):
        assert [one.tobytes() for one in captured[symbol]] == arguments_at(words[9], captured[symbol])
        assert words[10] == 0
    assert 2 == len(libraries.asked)


def arguments_at(address: int, like: tuple[np.generic, ...]) -> list[bytes]:
    """Bytes of the arguments whose addresses stand at ``address``."""
    places = (ctypes.c_void_p * len(like)).from_address(address)
    return [ctypes.string_at(place, one.itemsize) for place, one in zip(places, like, strict=True) if place]


def test_what_a_library_says_of_its_own_spread_is_kept(device: Device, libraries: Libraries, tmp_path: Path) -> None:
    """NVBench's summaries by their tags, without those that are no measurement; a number that JSON cannot hold is null."""
    rig, _ = ready(tmp_path, "nvbench")
    figure = time_harness(rig)["harness"]["figures"][0]
    assert {
        "nv/cold/time/gpu/mean": 9e-6,
        "nv/cold/sample_size": 50,
        "nv/batch/time/gpu/mean": 5e-6,
        "nv/cold/time/gpu/stdev/relative": None,
    } == figure["told"]
    assert device.direct
    assert libraries.asked


def test_calls_of_a_graph_are_counted_while_it_is_captured(
    device: Device, libraries: Libraries, tmp_path: Path
) -> None:
    """Not those by which the library judged how many it needs."""
    rig, _ = ready(tmp_path, "triton_do_bench_cudagraph")
    figure = time_harness(rig)["harness"]["figures"][1]
    assert (4, 3000.0) == (figure["told"]["calls_a_graph"], figure["time_ns"])
    assert 5 * 3 == len(device.direct)
    assert libraries.asked


def test_a_figure_that_nvbench_does_not_give_is_a_fault(
    device: Device, libraries: Libraries, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when it skips a measurement."""
    skipped: Any = library_stubs._state({})
    skipped.is_skipped, skipped.skip_reason = True, "too quick"
    monkeypatch.setattr(library_stubs, "_state", lambda _: skipped)
    rig, _ = ready(tmp_path, "nvbench")
    with pytest.raises(WorkerError, match=r"NVBench gave no figure for arm 'two_steps' on odd: too quick"):
        time_harness(rig)
    assert device.direct
    assert libraries.asked


def test_a_pytorch_without_the_gpu_is_refused(device: Device, libraries: Libraries, tmp_path: Path) -> None:
    """Its clock would not wait for a kernel."""
    libraries.gpu = False
    rig, _ = ready(tmp_path, "torch_blocked_autorange")
    with pytest.raises(InputError, match=r"PyTorch sees no GPU; install a PyTorch built for this machine's CUDA"):
        time_harness(rig)
    assert [] == device.direct


def test_a_library_that_cannot_be_imported_is_one_line(
    device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Should it be lost between the look and the process."""
    monkeypatch.setitem(sys.modules, "torch", None)
    rig, _ = ready(tmp_path, "triton_do_bench")
    with pytest.raises(
        InputError, match=r"harness 'triton_do_bench' cannot be loaded: .*; pip install torch triton, or"
    ):
        time_harness(rig)
    assert [] == device.direct


def test_a_session_without_cuda_kernels_is_refused(libraries: Libraries, tmp_path: Path) -> None:
    """The plan refuses it first; a process asks again."""
    fake = Path(sys.modules["reportgen.measure.backends"].__path__[0]) / "fake_experiment.py"
    rig, _ = built_rig(harness_job(tmp_path, fake, name="cupyx_benchmark", options={"table": {}}))
    with pytest.raises(InputError, match=r"this harness times CUDA kernels only; use backend = \"cuda\""):
        time_harness(rig)
    assert [] == libraries.asked
