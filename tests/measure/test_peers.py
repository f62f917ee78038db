"""Peers ride in processes of their own beside the incumbent: prepared by ``call``, checked in value, refused with a reason."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from reportgen.archive.counting import refusal_sentences
from reportgen.archive.load import Attempt
from reportgen.calls import Arm, Fixture
from reportgen.errors import InputError
from reportgen.measure.backends.fake_callable import FakeCallable
from reportgen.measure.backends.session import CallableSpec, Slot
from reportgen.measure.controller import plan_of
from reportgen.measure.description import Description
from reportgen.measure.libraries import library_folders
from reportgen.measure.peer_cells import peer_cells
from reportgen.model.record import Status
from reportgen.model.result import Reason, Verdict
from reportgen.publish.attempt_checks import attempt_findings
from reportgen.scoring import score_attempts
from tests.measure.lab import PROGRAM, Lab

PEER = """
[[arm]]
name = "theirs"
role = "peer"
idea = "someone else's"
"""
TIMES = """
[fake]
ratio = {theirs = 1.5}
"""
RETURNS = """
def call(arm, fixture, buffers, stream):
    doubled = buffers["x"].astype(np.float64) * 2
    return lambda: {"y": doubled.T.copy().T}
"""
OTHER_FIXTURE = PEER.replace("theirs", "ours").replace("idea =", "only = {n = [8]}\nidea =")


def rows(attempt: Attempt, group: str) -> list[tuple[str, str, int]]:
    """Distinct fixtures, arms and repetitions of a group's scored rows."""
    scored = attempt.batches[~attempt.batches["warmup"] & (attempt.batches["group"] == group)]
    return sorted(set(zip(scored["fixture"], scored["arm"], scored["repetition"].astype(int), strict=True)))


def measured(lab: Lab, more: str, call: str = RETURNS, **keys: object) -> Attempt:
    """Run the lab with peers on the simulated backend."""
    lab.write(backend="fake", program=PROGRAM + call, more=more, sizes="[8, 16]", **keys)  # type: ignore[arg-type]
    return lab.load(lab.run())


def test_peers_are_timed_beside_the_incumbent_in_processes_of_their_own(lab: Lab) -> None:
    """They are in no main process and nothing but the incumbent is beside them; each series is mirrored, checked, and whole."""
    attempt = measured(lab, PEER + TIMES)
    assert Status.SCORED == attempt.status
    fixtures, arms = ("n=16", "n=8"), ("base", "theirs")
    assert [(one, arm, k) for one in fixtures for arm in arms for k in (1, 2)] == rows(attempt, "peer")
    assert {"base", "again", "idea"} == {arm for _, arm, _ in rows(attempt, "main")}
    assert {"peer"} == set(attempt.batches.loc[attempt.batches["group"] == "peer", "mode"])
    assert ["process", "peer", "process", "peer"] == [one.mode for one in attempt.repetitions if one.repetition]
    assert len({one.facts["pid"] for one in attempt.repetitions}) == len(attempt.repetitions) == 6
    assert {"peer": 2} == attempt.manifest.counts.series
    checked = attempt.checks[attempt.checks["arm"] == "theirs"]
    assert {"value", "inputs"} == set(checked["kind"])
    assert checked["passed"].all()
    assert [] == list(attempt_findings(attempt.path))
    (found,) = (one for one in score_attempts(attempt.plan, [attempt]).comparisons if one.arm == "theirs")
    assert "base" == found.baseline
    assert 1.5 == pytest.approx(found.headline)


def test_a_peer_that_cannot_run_is_left_out_with_its_reason_and_the_attempt_is_scored(lab: Lab) -> None:
    """On one fixture it raises: no row of it or of the incumbent beside it there, a reason in manifest, event and warning."""
    call = RETURNS.replace(
        "    doubled", "    if fixture['n'] == 16:\n        raise RuntimeError('No available kernel')\n    doubled"
    )
    attempt = measured(lab, PEER + TIMES, call, repetitions=1)
    assert Status.SCORED == attempt.status
    (refused,) = attempt.manifest.refused
    assert ("theirs", "n=16") == (refused["arm"], refused["fixture"])
    assert "No available kernel" in refused["reason"]
    assert {"n=8"} == {fixture for fixture, _, _ in rows(attempt, "peer")}
    assert any("peer 'theirs' is not measured on n=16: call() raised RuntimeError" in one for one in lab.seen.warnings)
    assert [] == list(attempt_findings(attempt.path))
    (found,) = (one for one in score_attempts(attempt.plan, [attempt]).comparisons if one.arm == "theirs")
    assert (Verdict.INVALID, Reason.CELL_WITHOUT_DATA) == (found.verdict, found.reason)


def test_peers_that_run_nowhere_leave_a_scored_attempt_without_peers(lab: Lab) -> None:
    """A missing package refuses every cell; no process of the group follows the calibrating one."""
    attempt = measured(
        lab, PEER, "def call(arm, fixture, buffers, stream):\n    import no_such_package\n", repetitions=1
    )
    assert Status.SCORED == attempt.status
    assert [] == rows(attempt, "peer")
    assert {"n=8", "n=16"} == {entry["fixture"] for entry in attempt.manifest.refused}
    assert [] == list(attempt_findings(attempt.path))


def test_a_peer_that_was_calibrated_and_cannot_run_later_costs_that_repetition(lab: Lab) -> None:
    """The refusal is a fault then: a spare takes the place, and the lost one says why."""
    fault = '[[fake.fault]]\nkind = "refuse"\narm = "theirs"\nrepetition = 1\n'
    attempt = measured(lab, PEER + TIMES + fault, repetitions=1)
    assert Status.SCORED == attempt.status
    (lost,) = attempt.manifest.left_out
    assert ("peer", 1, 2) == (lost["mode"], lost["repetition"], lost["replaced_by"])
    assert "cannot run any more" in lost["reason"]
    assert [] == list(attempt_findings(attempt.path))


def test_what_a_peer_computes_is_compared_under_its_own_tolerance(lab: Lab) -> None:
    """Coarse values pass where the peer's tolerance is wide, and fail the experiment's: that peer is named, and scored all the same."""
    coarse = RETURNS.replace("astype(np.float64) * 2", "astype(np.float16) * 2") + (
        "\ndef peer_outputs(arm, fixture):\n"
        "    wide = 0.01 if arm.name == 'theirs' else 1e-6\n"
        "    return {'y': Output((4, fixture['n']), 'float32', wide, wide)}\n"
    )
    lab.write(backend="fake", program=PROGRAM + coarse, more=PEER + PEER.replace("theirs", "ours"), repetitions=1)
    outcome = lab.run()
    assert (Status.SCORED, ["ours"]) == (outcome.status, outcome.failed_arms)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("", "defines no function call"),
        ("def call(*_):\n    return 3\n", "must return a callable for peer 'theirs', not 3"),
        ("def call(*_):\n    return lambda: {'z': 0}\n", "returns 'z', which is no output"),
        ("def call(*_):\n    return lambda: {}\ndef peer_outputs(*_):\n    return {}\n", "must have 'y' as outputs()"),
    ],
)
def test_a_call_that_breaks_the_rules_is_refused(tmp_path: Path, more: str, said: str) -> None:
    """One line says which."""
    (tmp_path / "experiment.py").write_text(PROGRAM + more, encoding="utf-8")
    description = Description(tmp_path / "experiment.py")
    arm, fixture = Arm("theirs", "peer", ""), Fixture("n=8", {"n": 8}, 1)
    with pytest.raises(InputError, match=re.escape(said)):
        ask(description, arm, fixture)


def ask(description: Description, arm: Arm, fixture: Fixture) -> None:
    """Prepare a peer and let it run once, as a process does."""
    description.expect_call()
    computed = description.call(arm, fixture, {}, 0)(0)
    description.peer_outputs(arm, fixture, computed or None)


def test_a_plan_says_who_is_measured_where(lab: Lab) -> None:
    """Peers by fixture with the incumbent first, in fewer repetitions where the protocol says so; what is refused is gone."""
    more = PEER + OTHER_FIXTURE
    lab.write(backend="fake", program=PROGRAM + RETURNS, more=more, sizes="[8, 16]", protocol="peer_repetitions = 1")
    plan = plan_of(lab.project, "doubling")
    assert {"n=8": ["base", "theirs", "ours"], "n=16": ["base", "theirs"]} == plan.peers_by_fixture
    refused = [{"arm": "theirs", "fixture": fixture, "reason": "no kernel"} for fixture in ("n=8", "n=16")]
    assert {"n=8": ["base", "ours"]} == peer_cells(plan, refused)
    assert ["peer 'theirs' is not measured on 2 fixtures (n=8, ...): no kernel"] == refusal_sentences(refused)
    attempt = lab.load(lab.run())
    assert {"peer": 1} == attempt.manifest.counts.series
    assert [] == list(attempt_findings(attempt.path))
    folders = set(library_folders(lab.root).values())
    assert all(folder.startswith(f"{lab.root}/library-cache/") for folder in folders)


def test_each_step_of_a_graph_gives_its_part_of_the_output() -> None:
    """The callable gets the step's number; what it returns stands for that part of the first axis, in every set."""
    memory = {Slot("f", index, name): np.zeros(16, np.uint8) for index in range(2) for name in ("x", "y")}
    spec = CallableSpec(
        arm="theirs",
        fixture="f",
        sets=2,
        steps=2,
        launches=((0, 0), (1, 0), (0, 1), (1, 1)),
        arrays=dict.fromkeys(("x", "y"), ((4,), "float32")),
        prepare=lambda buffers, _stream: lambda step: {"y": np.full(2, step + 1 + buffers["x"][0])},
    )
    memory[Slot("f", 1, "x")].view(np.float32)[:] = 5
    made = FakeCallable.of(spec, memory)
    made.deliver()
    assert ("y",) == made.computed
    assert [[1, 1, 2, 2], [6, 6, 7, 7]] == [
        memory[Slot("f", index, "y")].view(np.float32).tolist() for index in range(2)
    ]


def test_what_cannot_be_a_peer_is_refused_with_the_plan(lab: Lab) -> None:
    """A native backend, whose loop is C, and a peer with a source of ours."""
    lab.write(program=PROGRAM + RETURNS, more=PEER)
    with pytest.raises(InputError, match="backend 'native' measures no peers"):
        plan_of(lab.project, "doubling")
    lab.write(backend="fake", more=PEER + 'file = "base.c"\n')
    with pytest.raises(InputError, match="peer 'theirs' has `file`"):
        plan_of(lab.project, "doubling")
