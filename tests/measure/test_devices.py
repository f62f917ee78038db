"""One attempt a device: in turn or side by side, as the plan says, each with lock, guards and window of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from reportgen.archive.load import Attempt, scan_attempts
from reportgen.errors import InputError
from reportgen.lab_commands import judged
from reportgen.measure.backends.native import NativeBuilder
from reportgen.measure.devices import Ended
from reportgen.measure.places import Place, check_apart, next_place
from tests.measure.lab import Lab
from tests.measure.serving import LiveService, wait_until

ROOT = Path(__file__).parents[2]
PATIENCE_S = 180  # of a test, on a machine that does much else
BESIDE = "side_by_side = true"
SLOW = '[[fake.fault]]\nkind = "slow"\nseconds = 0.4\narm = "idea"\n'


def start(lab: Lab, *options: str) -> subprocess.Popen[str]:
    """Start ``run`` as a user does."""
    return subprocess.Popen(
        [sys.executable, "-m", "reportgen", "run", "doubling", "--project", str(lab.root), *options],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def run(lab: Lab, *options: str) -> tuple[int, str, str]:
    """Run to the end: exit status, standard output, standard error."""
    process = start(lab, *options)
    out, said = process.communicate(timeout=PATIENCE_S)
    return process.returncode, out, said


def attempts(lab: Lab) -> list[Attempt]:
    """Read what was archived, by device; nothing of it is damaged."""
    found, faults = scan_attempts(lab.project.runs)
    assert [] == faults
    return sorted(found, key=lambda one: one.manifest.device.id)


def spans(lab: Lab) -> list[tuple[str, str]]:
    """Tell when the attempts began and ended, by device."""
    return [(one.manifest.started_at, one.manifest.ended_at) for one in attempts(lab)]


def lines(said: str) -> list[str]:
    """Pick the lines that sum up."""
    return [line for line in said.splitlines() if line.startswith("device ")]


def test_a_verdict_that_fails_is_the_reason_of_its_device(lab: Lab) -> None:
    """Of devices that this host measures and, by the same function, of those that workers of a scheduler did."""
    lab.write(backend="fake", repetitions=1)
    status, out, said = run(lab, "--device", "0,1", "--fail-on", "inconclusive")
    assert 1 == status, said
    ended = lines(out)
    assert ["device 0: scored", "device 1: scored"] == [line.partition(",")[0] for line in ended]
    assert all(re.search(r"idea against \w+ .*is inconclusive", line) for line in ended), ended
    whole = [Ended("0", 0, {"status": "scored", "path": str(one.path), "reason": ""}) for one in attempts(lab)]
    assert [1, 1] == [one.exit_status for one in judged(whole, "inconclusive")]
    assert all("is inconclusive" in one.outcome["reason"] for one in judged(whole, "inconclusive"))
    assert whole == judged(whole, "slower,invalid")
    aborted = [Ended("0", 1, {"path": None}), Ended("1", 0, {"path": None})]
    assert aborted == judged(aborted, "inconclusive")


def test_a_refused_device_stops_no_other(lab: Lab) -> None:
    """Device 0 is locked by somebody. One line each, as they were named; the worst status is the run's."""
    lab.write(backend="fake", repetitions=1)
    locks = Path(os.environ["TMPDIR"]) / "reportgen-locks"
    locks.mkdir()
    with FileLock(locks / "fake-0.lock"):
        status, out, said = run(lab, "--device", "0,1")
    assert 2 == status, said
    assert "device fake-0 is being measured" in said
    refused, measured = lines(out)
    assert "device 0: ended with status 2 before it could report; see `reportgen attempts`" == refused
    assert "device 1: scored" == measured.partition(",")[0]
    assert ["fake-1"] == [one.manifest.device.id for one in attempts(lab)]


def test_side_by_side_attempts_overlap_where_the_plan_allows_it(lab: Lab) -> None:
    """Both begin before either ends, under two ids; what they say carries the device."""
    lab.write(backend="fake", repetitions=1, protocol=BESIDE, more=SLOW)
    status, out, said = run(lab, "--device", "0,1", "--json")
    assert 0 == status, said
    first, second = spans(lab)
    assert max(first[0], second[0]) < min(first[1], second[1])
    told: list[dict[str, Any]] = json.loads(out)
    assert [("0", 0, "scored"), ("1", 0, "scored")] == [
        (one["device"], one["exit_status"], one["status"]) for one in told
    ]
    assert 2 == len({one["attempt"] for one in told})
    assert 1 == len({(one.manifest.plan, one.manifest.binaries_digest) for one in attempts(lab)})
    assert "device 1: calibration" in said


def test_a_cpu_is_one_device_whichever_core_is_named() -> None:
    """Two cores would give two attempts of one device, of which only the first would speak."""
    builder = NativeBuilder()
    cores = [str(core) for core in sorted(os.sched_getaffinity(0))]
    places = [Place(core, builder.device(core).id, "cpu") for core in (*cores, cores[0])]
    with pytest.raises(InputError, match=r"are one device, cpu-.*; a CPU is one device, whichever of its cores"):
        check_apart(places)
    check_apart(places[:1])


def test_an_interruption_ends_what_runs_and_begins_nothing_more(lab: Lab) -> None:
    """SIGTERM to the process that the user started: the first attempt stays open, the second is not begun."""
    lab.write(backend="fake", repetitions=1, more=SLOW)
    process = start(lab, "--device", "0,1")
    wait_until(lambda: any(lab.project.runs.glob("doubling/*.partial/artifacts/logs/*.json")), PATIENCE_S)
    os.kill(process.pid, signal.SIGTERM)
    out, _ = process.communicate(timeout=PATIENCE_S)
    assert 130 == process.returncode
    assert "device 1: not begun, no attempt, interrupted" == lines(out)[-1]
    assert [("fake-0", False)] == [(one.manifest.device.id, one.sealed) for one in attempts(lab)]


def test_when_the_first_process_is_killed_its_attempts_end_as_by_sigterm(lab: Lab) -> None:
    """Its child is asked to end by the kernel; the attempt stays open and can be resumed at once."""
    lab.write(backend="fake", repetitions=1, more=SLOW)
    process = start(lab, "--device", "0,1")
    wait_until(lambda: any(lab.project.runs.glob("doubling/*.partial/artifacts/logs/*.json")), PATIENCE_S)
    process.kill()
    process.communicate(timeout=PATIENCE_S)
    wait_until(lambda: not list(lab.project.guarding.rglob("*.json")), PATIENCE_S)
    (attempt,) = attempts(lab)
    assert (False, "interrupted") == (attempt.sealed, attempt.events[-1].event)


def test_a_service_is_closed_once_for_each_attempt_and_shared_devices_take_turns(lab: Lab, tmp_path: Path) -> None:
    """Side by side is allowed, but a window belongs to one attempt: the service is open again between the two."""
    lab.write(backend="fake", repetitions=1, protocol=BESIDE)
    folder = tmp_path / "service"
    folder.mkdir()
    service = LiveService(folder)
    service.start()
    try:
        (lab.root / "reportgen.toml").write_text(f"[[service]]\n{service.toml()}", "utf-8")
        status, _, said = run(lab, "--device", "0,1")
        calls = [call for call in service.status()["calls"] if call in ("/close", "/open")]
    finally:
        service.end()
    assert 0 == status, said
    assert ["/close", "/open", "/close", "/open"] == calls
    first, second = spans(lab)
    assert first[1] <= second[0]


def test_which_place_is_next() -> None:
    """Hosts do not disturb each other; on one host the plan decides, and a shared service keeps apart."""
    here, there = Place("a", "gpu-1", host="one"), Place("b", "gpu-2", host="two")
    beside, shared = Place("c", "gpu-3", host="one"), Place("d", "gpu-4", host="one", services=frozenset({"inference"}))
    sharing = Place("e", "gpu-5", host="one", services=frozenset({"inference"}))
    assert there == next_place([beside, there], [here], side_by_side=False)
    assert beside == next_place([beside, there], [here], side_by_side=True)
    assert next_place([beside], [here], side_by_side=False) is None
    assert next_place([sharing], [shared], side_by_side=True) is None
