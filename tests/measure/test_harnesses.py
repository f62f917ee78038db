"""Timing programs of others: what is asked, what becomes a row, and what is refused before anything is measured."""

from __future__ import annotations

import json
import os
import re
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from reportgen.errors import InputError, WorkerError
from reportgen.measure import harnesses
from reportgen.measure.backends import fake_experiment, native
from reportgen.measure.backends.session import GraphSpec
from reportgen.measure.compiling import Patience, compile_one
from reportgen.measure.harnesses import check_planned, lacking, missing, require, time_harness
from reportgen.measure.job import JobArm, JobFixture, JobHarness
from reportgen.measure.timers import single_launches
from reportgen.measure.timers.catalogue import CATALOGUE, checked_settings
from reportgen.measure.timers.interface import Around, Figure, OneByOne, Place, spread
from tests.measure.harness_rig import built_rig, harness_job
from tests.measure.lab import PROGRAM, Lab

FAKE = Path(fake_experiment.__file__)
TIMES = {"table": {"base_ns": 5000.0, "ratio": {"again": 1.5}}}
COUNTING = """
#include "reportgen_native.h"
void base(const reportgen_arg *a) { float *x = a[0].p, *y = a[1].p; for (int64_t i = 0; i < 4 * a[2].i; i++) y[i] += x[i]; }
"""


def test_single_launches_report_the_time_of_one_execution_with_nothing_before_it(tmp_path: Path) -> None:
    """The simulated launch takes 5000 ns, and half as much more in the other arm: 100 of them, after 10 that do not count."""
    rig, heard = built_rig(harness_job(tmp_path, FAKE, options=TIMES))
    facts = time_harness(rig)
    again, base = heard.rows()
    assert ("again", "base") == (again["arm"], base["arm"])
    assert [(100, 750_000), (100, 500_000)] == [(row["launches"], row["elapsed_ns"]) for row in (again, base)]
    assert [{"n": 100, "median_ns": 7500.0, "sd_ns": 0.0}, {"n": 100, "median_ns": 5000.0, "sd_ns": 0.0}] == [
        {key: figure["told"][key] for key in ("n", "median_ns", "sd_ns")} for figure in facts["harness"]["figures"]
    ]


def test_a_row_says_that_a_harness_took_it_and_where_it_stood(tmp_path: Path) -> None:
    """Once an arm and fixture, in the drawn order, after each other, with the block's readings."""
    fixtures = (JobFixture("n=64", {}, 1, ["base", "again"]), JobFixture("n=128", {}, 2, ["base", "again"]))
    rig, heard = built_rig(harness_job(tmp_path, FAKE, options=TIMES, fixtures=fixtures))
    facts = time_harness(rig)
    rows = heard.rows()
    keys = ("fixture", "arm", "pass", "position", "block", "repetition", "warmup", "lead_in", "mode", "group")
    fixed = (3, False, 0, "single_launches", "harness")
    assert [
        ("n=64", "again", 1, 1, 1, *fixed),
        ("n=64", "base", 1, 2, 1, *fixed),
        ("n=128", "again", 1, 1, 2, *fixed),
        ("n=128", "base", 1, 2, 2, *fixed),
    ] == [tuple(row[key] for key in keys) for row in rows]
    starts = [row["started_ns"] for row in rows]
    assert sorted(starts) == starts
    assert {1000.0} == {row["clock_mhz_before"] for row in rows} == {row["clock_mhz_after"] for row in rows}
    assert [(1, "n=64"), (2, "n=128")] == [(block["block"], block["fixture"]) for block in facts["blocks"]]
    json.dumps(facts, allow_nan=False)


def test_settings_change_how_many_are_timed_and_are_kept(tmp_path: Path) -> None:
    """The warm-up stays as it is by default."""
    rig, heard = built_rig(harness_job(tmp_path, FAKE, options=TIMES, settings={"executions": 7}))
    facts = time_harness(rig)["harness"]
    assert [7, 7] == [row["launches"] for row in heard.rows()]
    assert {"warm_up": 10, "executions": 7} == facts["settings"]
    assert ("single_launches", "median") == (facts["name"], facts["statistic"])


def test_single_launches_run_the_operation_once_each_on_a_real_machine(tmp_path: Path) -> None:
    """A kernel that adds x to y has done so 10 + 100 times an arm, whatever a timed graph holds; times are the machine's."""
    (tmp_path / "count.c").write_text(COUNTING)
    program = tmp_path / "experiment.py"
    program.write_text(PROGRAM)
    patience = Patience(30, lambda: None)
    arms = []
    for arm in (JobArm("base", "incumbent", "base"), JobArm("again", "null", "base", "base")):
        library = str(tmp_path / f"{arm.name}.so")
        compile_one(["cc", *native.OPTIONS, f"-I{native.HERE}", "count.c", "-o", library], tmp_path, arm.name, patience)
        arms.append(JobArm(arm.name, arm.role, arm.symbol, arm.of, library))
    batch = tmp_path / "batch.so"
    compile_one(["cc", *native.OPTIONS, "native_batch.c", "-o", str(batch)], native.HERE, "the batch loop", patience)
    job = harness_job(tmp_path, program, backend="native", options={"batch_library": str(batch)}, arms=tuple(arms))
    cores = os.sched_getaffinity(0)
    try:
        rig, heard = built_rig(job)
        x, y = rig.input_slots("n=64")[0], rig.written_slots("n=64")[0]
        rig.session.fill([y], 0)
        facts = time_harness(rig)
        added = rig.session.download(y).view("float32") / rig.session.download(x).view("float32")
        assert added == pytest.approx(220, rel=1e-4)
    finally:
        os.sched_setaffinity(0, cores)
    for row, figure in zip(heard.rows(), facts["harness"]["figures"], strict=True):
        assert row["elapsed_ns"] == round(figure["told"]["median_ns"] * 100) > 0
        assert row["started_ns"] > 0


def test_the_spread_of_single_times_has_known_values() -> None:
    """Quartiles lie between order statistics."""
    told = spread([1, 2, 3, 4, 10])
    assert {"n": 5, "mean_ns": 4.0, "median_ns": 3.0, "lower_quartile_ns": 2.0, "upper_quartile_ns": 4.0} == {
        key: told[key] for key in ("n", "mean_ns", "median_ns", "lower_quartile_ns", "upper_quartile_ns")
    }
    assert told["sd_ns"] == statistics.stdev([1, 2, 3, 4, 10])
    assert spread([6])["sd_ns"] == 0.0


class Failing(OneByOne):
    """A library that fails at its second figure."""

    def __init__(self, *_: object) -> None:
        self.about: dict[str, str] = {}

    def time_one(self, place: Place) -> Figure:
        """Raise what libraries raise."""
        if place.arm == "base":
            raise RuntimeError("out of patience\nand more")
        return Figure(1.0, 1)


def test_a_library_that_fails_is_one_line_with_the_arm_at_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So its repetition goes to a spare."""
    monkeypatch.setattr(single_launches, "SingleLaunches", Failing)
    rig, heard = built_rig(harness_job(tmp_path, FAKE, options=TIMES))
    line = r"harness 'single_launches' failed at arm 'base' on n=64: RuntimeError: out of patience$"
    with pytest.raises(WorkerError, match=line):
        time_harness(rig)
    assert [] == heard.rows()


def test_a_missing_library_is_told_before_anything_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """By name, for a process with the environment of a timed one; what needs none is never missing."""
    absent = CATALOGUE["nvbench"].modules
    monkeypatch.setattr(harnesses, "_absent", lambda modules: {"cuda.bench"} & modules)
    assert {"nvbench": ["cuda-bench"]} == lacking(CATALOGUE)
    assert ["harness 'nvbench' needs cuda-bench, which a timed process does not find"] == missing(["nvbench"])
    require(["single_launches", "triton_do_bench"])
    with pytest.raises(InputError, match=r"harness 'nvbench' needs cuda-bench.*; install it for this Python, or leave"):
        require(["single_launches", "nvbench"])
    assert "cuda-bench" in absent


def test_packages_are_looked_up_and_not_imported() -> None:
    """In a process of its own: NumPy is there, and another is not, nor is what would lie in it."""
    assert {"no_such_package", "no_such_package.inside"} == harnesses._absent(
        {"numpy", "no_such_package", "no_such_package.inside"}
    )
    assert set() == harnesses._absent(set())
    assert not {"torch", "triton", "cupyx"} & set(sys.modules)


@pytest.mark.parametrize(
    ("harness", "backend", "line"),
    [
        (
            JobHarness("stopwatch", {}),
            "fake",
            "plan: no harness named 'stopwatch'; known are: cupyx_benchmark, nvbench, ",
        ),
        (
            JobHarness("nvbench", {}),
            "native",
            "harness 'nvbench' times CUDA kernels, and the backend is 'native'; leave",
        ),
        (JobHarness("nvbench", {"lock_gpu_clocks": "base"}), "cuda", "harness 'nvbench': no setting 'lock_gpu_clocks'"),
        (JobHarness("single_launches", {"executions": 0}), "fake", "executions = 0 is not a whole number above 0"),
        (JobHarness("single_launches", {"executions": True}), "fake", "executions = True is not a whole number"),
        (JobHarness("cupyx_benchmark", {"n_repeat": 1.5}), "cuda", "n_repeat = 1.5 is not a whole number above 0"),
        (JobHarness("torch_blocked_autorange", {"min_run_time": "long"}), "cuda", "'long' is not a number above 0"),
        (JobHarness("nvbench", {"stopping_criterion": 3}), "cuda", "stopping_criterion = 3 is not a text"),
    ],
)
def test_what_a_harness_cannot_do_is_refused_with_the_plan(harness: JobHarness, backend: str, line: str) -> None:
    """One line: what, where, remedy."""
    with pytest.raises(InputError) as refused:
        check_planned([harness], backend, "plan")
    assert line in str(refused.value)


def test_settings_arrive_in_the_type_that_the_library_takes() -> None:
    """A whole number is a number."""
    assert {"min_run_time": 1.0} == checked_settings("torch_blocked_autorange", {"min_run_time": 1})
    check_planned([JobHarness("nvbench", {"max_noise": 1, "stopping_criterion": "stdrel"})], "cuda", "plan")


def harness_table(name: str) -> str:
    """Declare a harness of both arms."""
    return f'[[harness]]\nname = "{name}"\narms = ["base", "again"]\n'


def test_an_unknown_harness_is_refused_when_the_plan_is_made(lab: Lab) -> None:
    """With the file at fault and the names that are known."""
    lab.write(backend="fake", more=harness_table("stopwatch"))
    with pytest.raises(InputError, match=r"experiment.toml: no harness named 'stopwatch'; known are: cupyx_benchmark"):
        lab.run()


def test_a_run_whose_harness_is_missing_does_not_begin(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is compiled, nothing measured."""
    monkeypatch.setattr(harnesses, "missing", lambda names: [f"no {name}" for name in names])
    lab.write(backend="fake", more=harness_table("single_launches"))
    with pytest.raises(InputError, match=r"no single_launches; install it"):
        lab.run()
    assert [] == lab.seen.phases


class Other:
    """A stand-in for a library that tells the time of an execution and no more."""

    def figures(self, places: Sequence[Place], around: Around) -> list[Figure]:
        """Time them all at once, as some do."""
        for place in places:
            with around(place):
                pass
        return [Figure(2.25, 1) for _ in places]


def test_a_harness_that_tells_no_count_rests_on_one_execution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The row's time is the figure's, in whole nanoseconds."""
    monkeypatch.setattr(Other, "about", {}, raising=False)
    monkeypatch.setattr(single_launches, "SingleLaunches", lambda *_: Other())
    rig, heard = built_rig(harness_job(tmp_path, FAKE, options=TIMES))
    time_harness(rig)
    assert [(1, 2), (1, 2)] == [(row["launches"], row["elapsed_ns"]) for row in heard.rows()]


def test_one_execution_is_one_launch_on_the_first_set(tmp_path: Path) -> None:
    """Unlike the timed graph, which holds four here."""
    rig, _ = built_rig(harness_job(tmp_path, FAKE, options=TIMES))
    single: GraphSpec = rig.single("n=64", "base")
    timed: Any = rig.graphs["n=64", "base"]
    assert (1, 0) == (len(single.launches), single.launches[0].set)
    assert 4 == len(timed.launches)
    assert single.launches[0].calls == timed.launches[0].calls


def test_every_harness_and_each_of_its_settings_stands_on_the_page() -> None:
    """In the tables of the page about experiments, with what each needs."""
    page = (Path(__file__).parents[2] / "docs" / "writing-experiments.md").read_text(encoding="utf-8")
    section = page.partition("### `[[harness]]`")[2].partition("\n### ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", section, re.MULTILINE)
    for name, entry in CATALOGUE.items():
        needs, settings = [text for key, text in rows if key == name]
        assert set(entry.settings) == set(re.findall(r"`(\w+)`", settings))
        assert set(entry.modules) & {"torch", "triton", "cuda-bench"} == set(
            re.findall(r"`([\w-]+)`", needs.split(" | ")[0])
        )
    assert {"10", "100"} == set(re.findall(r"\((\d+)\)", dict(rows)["single_launches"]))
