"""Arms in Python beside kernels on the GPU's session, seen through a stand-in for CuPy: recorded, or called where nothing can record them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reportgen.calls import Buffer, KernelCall
from reportgen.errors import InputError
from reportgen.measure.backends.cuda_session import CudaSession
from reportgen.measure.backends.session import Allocation, CallableSpec, GraphSpec, Launch, Module, Slot
from reportgen.measure.checking import check_all
from reportgen.measure.job import BEFORE, CALLS, GRAPH, Job, JobArm
from reportgen.measure.rig import Rig
from tests.measure.cuda_stub import Device, plugged_in
from tests.measure.harness_rig import built_rig, harness_job
from tests.measure.lab import PROGRAM

ARMS = """
LOG = []

def doubled(fixture, buffers, stream):
    x, y = buffers["x"], buffers["y"]

    def launch():
        LOG.append(stream)
        y[:] = 2 * x

    return launch

def added(fixture, buffers, stream):
    return lambda: {"y": buffers["x"] + buffers["x"]}
"""


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Device:
    """Stand-in device."""
    return plugged_in(monkeypatch)


def job_of(tmp_path: Path, launching: str = GRAPH) -> Job:
    """Job over a kernel and two arms in Python, on one fixture."""
    for name, text in (("arms.py", ARMS), ("experiment.py", PROGRAM), ("harness", "harness"), ("base.cubin", "base")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    cubins = {"base": hashlib.sha256(b"base").hexdigest()}
    arms = (
        JobArm("base", "incumbent", "base", None, str(tmp_path / "base.cubin"), checked=False),
        JobArm("doubled", "candidate", "doubled", None, str(tmp_path / "arms.py")),
        JobArm("added", "candidate", "added", None, str(tmp_path / "arms.py"), equals="doubled"),
    )
    job = harness_job(
        tmp_path / "work",
        tmp_path / "experiment.py",
        backend="cuda",
        options={"cubins": cubins, "harness": str(tmp_path / "harness")},
        arms=arms,
    )
    fixtures = [replace(one, arms=[arm.name for arm in arms]) for one in job.fixtures]
    order = [[fixture.name, arm.name] for fixture in fixtures for arm in arms]
    return replace(job, fixtures=fixtures, check_order=order, harness=None, mode="process", launching=launching)


def built(tmp_path: Path, launching: str = GRAPH) -> Rig:
    """Set it up as a process does."""
    return built_rig(job_of(tmp_path, launching), CudaSession)[0]


def test_arms_in_python_are_recorded_and_all_arms_have_run_before_the_first_batch(
    device: Device, tmp_path: Path
) -> None:
    """The kernel's graph is replayed as often as the functions run before they are captured; our stream is theirs, and current."""
    rig = built(tmp_path)
    log = "|".join(one for one in device.log if one not in ("synchronize", "malloc"))
    assert "end capture|upload|graph|graph|graph|" in log
    runs = vars(rig.python.module("doubled"))["LOG"]
    assert [77] * (3 + 4) == runs  # three warm-ups, and four launches that the graph holds
    assert 3 == device.log.count("begin capture")
    assert {"added": [], "doubled": []} == rig.python_code()


def test_called_launches_compute_and_are_timed_by_the_hosts_clock(device: Device, tmp_path: Path) -> None:
    """Nothing is captured; each replay calls every launch; outputs of both are right, one is bit for bit the other's."""
    rig = built(tmp_path, launching=CALLS)
    rows = check_all(rig, BEFORE)
    assert {("doubled", "value"), ("added", "value"), ("added", "bitwise")} == {
        (row["arm"], row["kind"]) for row in rows if row["kind"] != "inputs" and row["passed"]
    }
    assert all(row["passed"] for row in rows)
    assert 0 == device.log.count("begin capture")
    device.log.clear()
    launched = len(device.launched)
    batch = rig.session.batch(rig.graphs["n=64", "base"], lead_in=1, replays=2)
    assert 3 * 4 == len(device.launched) - launched
    waits = [one for one in device.log if one == "wait for all"]
    assert 3 == len(waits)
    assert "event" not in device.log
    assert batch.elapsed_ns >= (batch.enqueue_ns or 0) > 0
    assert batch.lead_in_ns > 0


def test_what_a_function_returns_anew_is_what_is_compared(device: Device, tmp_path: Path) -> None:
    """The result of the last call, not of one before: a function that computes once and hands out the same fails, since that memory is poisoned."""
    del device
    job = job_of(tmp_path, launching=CALLS)
    stale = ARMS.replace(
        'lambda: {"y": buffers["x"] + buffers["x"]}', "(lambda found=[buffers['x'] + buffers['x']]: {'y': found[0]})"
    )
    (tmp_path / "arms.py").write_text(stale, encoding="utf-8")
    rig = built_rig(job, CudaSession)[0]
    failed = {row["arm"] for row in check_all(rig, BEFORE) if not row["passed"]}
    assert {"added"} == failed


def test_an_arm_that_cannot_be_captured_is_refused_with_the_way_out(device: Device, tmp_path: Path) -> None:
    """One line names the arm, what CUDA said, and the other way of launching."""
    device.failing["end capture"] = "operation not permitted when stream is capturing"
    job = job_of(tmp_path)
    with pytest.raises(InputError, match="its graph cannot be made") as fault:
        built_rig(replace(job, graph_order=[["n=64", "doubled"]]), CudaSession)
    assert 'protocol.launching = "calls"' in fault.value.remedy
    assert "arm 'doubled'" in fault.value.one_line()
    assert "experiment" not in fault.value.where


def test_kernels_are_called_with_the_arguments_of_their_graph(device: Device, tmp_path: Path) -> None:
    """Set by set in the order of the launches."""
    job = job_of(tmp_path, launching=CALLS)
    session = CudaSession(job)
    session.load([Module("base", str(tmp_path / "base.cubin"))])
    session.allocate([Allocation(Slot("f", index, "x"), 64, 0) for index in range(2)])
    call = KernelCall("k", (Buffer("x"), np.int32(3)))
    graph = session.capture(GraphSpec("base", "f", tuple(Launch(index, (call,)) for index in (0, 1, 0))))
    assert [] == device.launched
    session.replay(graph)
    places = [int(args[0]) for _, args in device.launched]
    assert places[0] == places[2] != places[1]


def test_a_callable_gets_each_sets_own_memory(device: Device, tmp_path: Path) -> None:
    """Arrays over the very allocations, of the declared shapes."""
    del device
    session = CudaSession(job_of(tmp_path, launching=CALLS))
    session.allocate([Allocation(Slot("f", index, name), 16, 0) for index in range(2) for name in "xy"])
    seen: list[Mapping[str, Any]] = []

    def prepare(buffers: Mapping[str, Any], _stream: int) -> Any:
        seen.append(buffers)
        return lambda _step: buffers["y"].fill(buffers["x"][0, 0] + 1)

    arrays = dict.fromkeys("xy", ((2, 2), "float32"))
    session.upload(Slot("f", 1, "x"), np.full(4, 5, np.float32))
    spec = CallableSpec("idea", "f", 2, 1, ((0, 0), (1, 0)), arrays, prepare, what="arm")
    session.capture_callable(spec)
    assert [(2, 2), (2, 2)] == [one["x"].shape for one in seen]
    assert [[1] * 4, [6] * 4] == [session.download(Slot("f", index, "y")).view(np.float32).tolist() for index in (0, 1)]
