"""GPUs are named, chosen and read through NVIDIA's library; without one there is one line."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from reportgen.errors import InputError
from reportgen.measure.backends.cuda import CudaBuilder
from reportgen.measure.backends.cuda_attributes import attributes
from reportgen.measure.backends.nvml import Gpu, chosen, open_nvml
from reportgen.measure.backends.sessions import open_session
from reportgen.measure.job import REPETITION, Job
from reportgen.model.record import Device

NO_GPU = not list(Path("/dev").glob("nvidia[0-9]*"))
FOUND = [("GPU-aaaa-1", "NVIDIA H200"), ("GPU-aabb-2", "NVIDIA H200"), ("GPU-cccc-3", "NVIDIA L4")]


class Unsupported(Exception):  # noqa: N818 - stands in for NVMLError
    """What the library raises for a question that a board does not answer."""


class Library:
    """Stand-in for ``pynvml``: answers what it was given, and refuses everything else as a board does that lacks it."""

    NVMLError = Unsupported
    NVML_SUCCESS = 0
    NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP = 1
    NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN = 2

    def __init__(self, **answers: Any) -> None:
        self._answers = answers

    def __getattr__(self, name: str) -> Any:
        if name.startswith("NVML_FI"):
            raise AttributeError(name)
        if name.startswith("NVML_"):
            return 0

        def ask(*_: object) -> Any:
            if name == "nvmlDeviceGetHandleByUUID":
                return "handle"
            if name not in self._answers:
                raise Unsupported
            return self._answers[name]

        return ask


@pytest.mark.parametrize(
    ("selector", "visible", "index"),
    [
        (None, None, 0),
        ("1", None, 1),
        ("GPU-aabb-2", None, 1),
        ("GPU-c", None, 2),
        (None, "2", 2),
        (None, "GPU-aabb-2,0", 1),
        ("0", "GPU-aabb-2,0", 0),
    ],
)
def test_a_gpu_is_chosen_by_number_or_uuid_within_what_may_be_used(
    selector: str | None, visible: str | None, index: int
) -> None:
    """Numbers are those of nvidia-smi, whatever CUDA_VISIBLE_DEVICES says; without one the first that may be used."""
    assert FOUND[index] == chosen(FOUND, selector, visible)


@pytest.mark.parametrize(
    ("selector", "visible", "line"),
    [
        ("7", None, "no GPU '7' may be used here; --device takes a number or a UUID; allowed: 0 (GPU-aaaa-1), 1"),
        ("GPU-aa", None, "no GPU 'GPU-aa' may be used here"),
        (
            "0",
            "1",
            "no GPU '0' may be used here; --device takes a number or a UUID; allowed by CUDA_VISIBLE_DEVICES: 1 ",
        ),
        (None, "", "no GPU may be used here; --device takes a number or a UUID; allowed by CUDA_VISIBLE_DEVICES: none"),
    ],
)
def test_a_gpu_that_is_not_there_or_not_allowed_or_not_unique_is_refused(
    selector: str | None, visible: str | None, line: str
) -> None:
    """The line lists those that may be used."""
    with pytest.raises(InputError) as caught:
        chosen(FOUND, selector, visible)
    assert caught.value.one_line().startswith(line)


def test_readings_are_in_the_units_of_their_names() -> None:
    """Milliwatts become watts; growing counters keep their reasons, those that a board refuses are left out."""
    values = [
        SimpleNamespace(nvmlReturn=0, value=SimpleNamespace(ullVal=42)),
        SimpleNamespace(nvmlReturn=3, value=SimpleNamespace(ullVal=0)),
    ]
    library: Any = Library(
        nvmlDeviceGetClockInfo=1980,
        nvmlDeviceGetTemperature=41,
        nvmlDeviceGetPowerUsage=123_456,
        nvmlDeviceGetFieldValues=values,
    )
    gpu = Gpu(library, "GPU-1")
    assert (1980.0, 41.0, 123.456) == (gpu.clock_mhz(), gpu.temperature_c(), gpu.power_w())
    assert {"sw_power_cap": 42} == gpu.throttle_counts()


def test_what_a_board_does_not_answer_is_null() -> None:
    """No reading is made up."""
    library: Any = Library()
    gpu = Gpu(library, "GPU-1")
    assert [None] * 5 == [
        gpu.clock_mhz(),
        gpu.temperature_c(),
        gpu.power_w(),
        gpu.throttle_counts(),
        gpu.foreign_processes(),
    ]
    assert {None} == set(gpu.facts().values())


@pytest.mark.parametrize(
    ("others", "own", "foreign"), [([], True, 0), ([7, 8], True, 2), ([], False, None), ([7], False, None)]
)
def test_foreign_processes_are_counted_only_where_this_one_is_seen(
    others: list[int], foreign: int | None, *, own: bool
) -> None:
    """In a container with process ids of its own no one can say which is which."""
    pids = [*others, *([os.getpid()] if own else [])]
    library: Any = Library(nvmlDeviceGetComputeRunningProcesses=[SimpleNamespace(pid=pid) for pid in pids])
    assert foreign == Gpu(library, "GPU-1").foreign_processes()


def test_the_attempts_own_living_processes_are_not_foreign() -> None:
    """They are told by their ids; one that has gone since makes no difference."""
    pids = [os.getpid(), 11, 12, 13]
    library: Any = Library(nvmlDeviceGetComputeRunningProcesses=[SimpleNamespace(pid=pid) for pid in pids])
    assert 1 == Gpu(library, "GPU-1").foreign_processes([12, 13, 99])


def test_a_process_sees_one_device_and_loads_every_kernel_at_once() -> None:
    """By UUID, so that no numbering can mean another."""
    device = Device(id="GPU-aaaa-1", model="NVIDIA H200", kind="gpu")
    assert {
        "CUDA_VISIBLE_DEVICES": "GPU-aaaa-1",
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "CUDA_MODULE_LOADING": "EAGER",
    } == CudaBuilder().variables(device)


@pytest.mark.skipif(not NO_GPU, reason="this machine has a GPU")
def test_without_a_driver_one_line_says_so() -> None:
    """The real library is asked."""
    with pytest.raises(InputError, match=r"there is no NVIDIA driver here \(.*\); run this on a machine with a GPU"):
        open_nvml()


@pytest.mark.skipif(not NO_GPU, reason="this machine has a GPU")
def test_without_a_gpu_a_device_has_no_name_and_a_session_does_not_open() -> None:
    """What is missing first is told: the package, or the driver."""
    with pytest.raises(InputError, match=r"is not installed, which the cuda backend needs|there is no NVIDIA driver"):
        CudaBuilder().device(None)
    options = {"cubins": {}, "harness": ""}
    job = Job(REPETITION, 1, "cuda", options, "", "", 0, [], [], 1, 1, 1, 0.1)
    with pytest.raises(InputError, match=r"CuPy cannot be imported|the GPU cannot be used"):
        open_session(job)


@pytest.mark.skipif(not NO_GPU, reason="this machine has a GPU")
def test_sizes_that_nobody_tells_are_null() -> None:
    """Without a driver."""
    assert {None} == set(attributes("GPU-00000000-0000-0000-0000-000000000000").values())
