"""What a process is told to compare with what, and what it reads of the machine."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from reportgen.measure.backends import sensors
from reportgen.measure.backends.fake import FakeBuilder
from reportgen.measure.backends.sensors import Sensors
from reportgen.measure.compiling import Patience
from reportgen.measure.draws import schedule_seed
from reportgen.measure.job import Job, read_job
from reportgen.measure.jobs import Bench, Described, Frame, layout_facts
from reportgen.measure.order import draw_layout, schedule
from reportgen.measure.planning import make_plan
from reportgen.project import find_experiment, read_experiment
from tests.measure.lab import RIGHT, Lab


def repetition_job(lab: Lab, repetition: int = 1) -> Job:
    """Job of a repetition of the lab's experiment on the simulated backend, with two sets of two buffers."""
    folder = find_experiment(lab.project, "doubling")
    plan = make_plan(folder, read_experiment(folder), backend="fake")
    built = FakeBuilder().build(plan, folder, lab.root, Patience(1, lambda: None))
    described = {fixture.name: Described({"x": 1024, "y": 1024}, 2, {}, 1, 1) for fixture in plan.fixtures}
    bench = Bench(plan, built, folder.folder / "experiment.py", lab.root, "fake", described=described)
    frame = Frame("id", schedule(plan.arms_by_fixture, 2, 1, schedule_seed(plan.digest, "id")), 0)
    return bench.repetition_job(repetition, frame, {"n=64": 10})[0]


def test_nulls_equal_their_original_and_bitwise_arms_their_control_or_else_the_incumbent(lab: Lab) -> None:
    """Other arms are held to the reference alone; a floor and its null to nothing but the inputs."""
    more = lab.arm("ruled", RIGHT, "control") + lab.arm("led", RIGHT) + 'control = "ruled"\nbitwise = true\n'
    more += lab.arm("free", RIGHT) + "bitwise = true\n" + lab.arm("void", "", "floor")
    for null, original in (("void_again", "void"), ("ruled_again", "ruled")):
        more += f'[[arm]]\nname = "{null}"\nrole = "null"\nidea = "-"\nof = "{original}"\n'
    lab.write(backend="fake", more=more)
    arms = {arm.name: arm for arm in repetition_job(lab).arms}
    expected = {"base": None, "again": "base", "idea": None, "ruled": None, "led": "ruled", "free": "base"}
    expected |= {"ruled_again": "ruled"}
    assert expected | {"void": None, "void_again": "void"} == {name: arm.equals for name, arm in arms.items()}
    assert {"void", "void_again"} == {name for name, arm in arms.items() if not arm.checked}
    assert {"void", "void_again"} == {name for name, arm in arms.items() if not arm.calibrated}


def test_a_job_survives_its_journey_and_its_layout_follows_the_seed(lab: Lab, tmp_path: Path) -> None:
    """Written and read it is the same; another repetition draws another layout of the same things."""
    lab.write(backend="fake", sizes="[64]", more="[[fixture]]\nvalues = { n = 10 }\nchecks_only = true")
    job, other = repetition_job(lab), repetition_job(lab, 2)
    job.save(tmp_path / "job.json")
    assert job == read_job(tmp_path / "job.json")
    assert job.buffer_order != other.buffer_order
    assert sorted(entry[:3] for entry in job.buffer_order) == sorted(entry[:3] for entry in other.buffer_order)
    assert 2 * 2 * 2 == len(job.buffer_order)
    assert ["n=64"] == job.block_order
    assert {"n=64", "n=10"} == {fixture for fixture, _ in job.check_order}


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Root of made-up files in place of the kernel's."""
    monkeypatch.setattr(sensors, "CPU", tmp_path / "cpu")
    monkeypatch.setattr(sensors, "THERMAL", tmp_path / "thermal")
    monkeypatch.setattr(sensors, "CPUINFO", tmp_path / "cpuinfo")
    return tmp_path


def put(path: Path, text: str) -> None:
    """Write a file and its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_machine_that_tells_nothing_reads_as_nothing(machine: Path) -> None:
    """As in a virtual machine."""
    found = Sensors(1)
    assert machine.is_dir()
    assert (None, None, None) == (found.clock_mhz(), found.temperature_c(), found.throttle_counts())
    assert (None, None) == (found.facts()["governor"], found.facts()["thermal_zone"])


def test_clock_temperature_and_throttling_are_those_of_the_core(machine: Path) -> None:
    """In MHz and degrees; of several thermal zones the processor's."""
    put(machine / "cpu/cpu1/cpufreq/scaling_cur_freq", "2400000\n")
    put(machine / "cpu/cpu1/cpufreq/scaling_governor", "performance\n")
    put(machine / "cpu/cpu1/thermal_throttle/core_throttle_count", "3\n")
    put(machine / "thermal/thermal_zone0/type", "acpitz\n")
    put(machine / "thermal/thermal_zone0/temp", "20000\n")
    put(machine / "thermal/thermal_zone1/type", "x86_pkg_temp\n")
    put(machine / "thermal/thermal_zone1/temp", "54500\n")
    found = Sensors(1)
    assert (2400.0, 54.5, {"thermal_core": 3}) == (found.clock_mhz(), found.temperature_c(), found.throttle_counts())
    assert ("performance", "cpufreq") == (found.facts()["governor"], found.facts()["clock_source"])


def test_without_cpufreq_the_clock_is_that_of_the_core_in_cpuinfo(machine: Path) -> None:
    """Not that of the first processor listed."""
    put(machine / "cpuinfo", "processor\t: 0\ncpu MHz\t\t: 1000.5\n\nprocessor\t: 1\ncpu MHz\t\t: 2000.25\n")
    assert 2000.25 == Sensors(1).clock_mhz()


def test_long_lists_of_a_layout_are_kept_by_their_hash() -> None:
    """65 buffers are the first that are; the hash is that of the list as JSON without spaces, and the seed gives the list again."""
    buffers = {"few": [f"{index}:x" for index in range(64)], "many": [f"{index}:x" for index in range(65)]}
    drawn = draw_layout(bytes(32), ["a"], ["few", "many"], buffers)
    kept = layout_facts(drawn)
    assert (drawn.buffers["few"], drawn.padding_bytes["few"]) == (kept["buffers"]["few"], kept["padding_bytes"]["few"])
    text = json.dumps(draw_layout(bytes(32), ["a"], ["few", "many"], buffers).padding_bytes["many"]).replace(" ", "")
    assert {"count": 65, "sha256": hashlib.sha256(text.encode()).hexdigest()} == kept["padding_bytes"]["many"]
    assert kept["padding_bytes"]["many"] != kept["buffers"]["many"]
    assert 65 == len(drawn.buffers["many"])
