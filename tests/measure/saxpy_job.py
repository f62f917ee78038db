"""The example for the cuda backend, compiled, as the job of one harness process."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from reportgen.measure.backends.cuda import CudaBuilder
from reportgen.measure.backends.nvml import chosen, gpus, open_nvml
from reportgen.measure.compiling import Patience
from reportgen.measure.controller import plan_of
from reportgen.measure.job import Job, JobArm, JobFixture
from reportgen.project import find_experiment, open_project
from tests.measure.harness_rig import harness_job

DATA = Path(__file__).parents[1] / "data" / "cuda_saxpy"
ARMS = ("one", "one_again", "two_steps")
FIXTURES = ("small", "large")


def saxpy_job(folder: Path) -> Job:
    """Job without a harness over two fixtures of the example and three of its arms, compiled into ``folder``."""
    shutil.copytree(DATA, folder / "kernels" / "cuda_saxpy", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "reportgen.toml").write_text('title = "-"\n')
    experiment = find_experiment(open_project(folder), "cuda_saxpy")
    (folder / "built").mkdir()
    plan = plan_of(open_project(folder), "cuda_saxpy")
    built = CudaBuilder().build(plan, experiment, folder / "built", Patience(120, lambda: None))
    arms = tuple(
        JobArm(arm.name, arm.role.value, arm.symbol or "", arm.of, built.arms[arm.name].file)
        for arm in plan.experiment.arms
        if arm.name in ARMS
    )
    names = [fixture.name for fixture in plan.fixtures if fixture.values["cache"] == "same-set"]
    fixtures = tuple(
        JobFixture(fixture.name, dict(fixture.values), fixture.seed, list(ARMS))
        for fixture in plan.fixtures
        if fixture.name in names and fixture.values["size"] in FIXTURES
    )
    job = harness_job(
        folder / "work",
        experiment.folder / "experiment.py",
        backend="cuda",
        options=built.options,
        arms=arms,
        fixtures=fixtures,
        set_buffers=("x", "y0", "y", "product"),
    )
    return replace(job, check_order=job.graph_order, launches_per_graph=32, warm_up_s=1.0)


def first_gpu() -> str:
    """UUID of the GPU that a run would take."""
    return chosen(gpus(open_nvml()), None, None)[0]
