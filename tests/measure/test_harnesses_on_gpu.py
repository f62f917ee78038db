"""Every harness on a real GPU, in processes like those of an attempt; skipped without one."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reportgen.measure.environment import worker_environment
from reportgen.measure.harnesses import lacking
from reportgen.measure.job import Job, JobHarness
from reportgen.measure.timers.catalogue import CATALOGUE
from tests.measure.saxpy_job import ARMS, first_gpu, saxpy_job

pytestmark = pytest.mark.skipif(not list(Path("/dev").glob("nvidia[0-9]*")), reason="this machine has no GPU")

QUICK: dict[str, dict[str, int | float | str]] = {
    "cupyx_benchmark": {"n_repeat": 200},
    "nvbench": {"timeout": 0.2, "min_time": 0.001, "batch_target_time": 0.01},
}


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """Two fixtures of the example, compiled once."""
    return saxpy_job(tmp_path_factory.mktemp("saxpy"))


def tried(job: Job, name: str, folder: Path) -> dict[str, Any]:
    """Time with one harness, in a process of its own."""
    replace(job, mode=name, harness=JobHarness(name, QUICK.get(name, {}))).save(folder / "job.json")
    variables = {"CUDA_VISIBLE_DEVICES": first_gpu(), "CUDA_MODULE_LOADING": "EAGER"}
    command = [sys.executable, "-P", "-m", "tests.measure.harness_trial", "job.json", "told.json"]
    done = subprocess.run(command, cwd=folder, env=worker_environment("", variables), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    found: dict[str, Any] = json.loads((folder / "told.json").read_text())
    return found


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_harness_times_the_same_kernels_and_leaves_them_right(job: Job, name: str, tmp_path: Path) -> None:
    """No figure is below half of what a launch takes back to back, and a real kernel's is above a microsecond."""
    if lacking([name]):
        pytest.skip(f"{name} is not installed")
    told = tried(job, name, tmp_path)
    assert told["checks"][0] == told["checks"][1] > 0
    assert [arm for _ in job.fixtures for arm in ARMS[::-1]] == [row["arm"] for row in told["rows"]]
    for row in told["rows"]:
        time_ns = row["elapsed_ns"] / row["launches"]
        assert time_ns > max(1000, told["batch_ns"][row["fixture"]][row["arm"]] / 2)
