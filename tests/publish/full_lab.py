"""A lab that has everything a page can show: peers, gates of every kind, counters, machine code, repetitions left out, replications, a superseded record."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec

from reportgen.archive import layout
from reportgen.archive.counting import count
from reportgen.archive.load import load_attempt
from reportgen.archive.rows import to_parquet, to_table
from reportgen.archive.seal import seal
from reportgen.model.columns import COUNTERS
from reportgen.model.experiment import Arm, Comparison, Experiment, Gate, GateKind, Role, Stage
from reportgen.model.plan import Plan
from reportgen.model.record import Kind, Profile, Repetition, Status
from reportgen.project import Project, open_project
from tests.factories import (
    RATIOS,
    STARTED,
    make_arms,
    make_experiment,
    make_header,
    make_manifest,
    make_plan,
    make_rows,
    open_attempt,
    sealed_attempt,
)

PEER = "library"
AXES = {"rows": [256, 512], "cache": ["same-set", "rotating"]}
CODE = {"registers": 32, "instructions": 100, "opcodes": {"LDG.E.128": 4, "SHFL.IDX": 7}}
PAGE = """+++
title = "Everything"
address = "everything/"
kind = "report"
summary = "Every table and chart that a record has."
date = 2026-03-02
records = ["second", "sample"]
+++

{{ answer("second") }}

{{ change("second:candidate", where={"cache": "same-set"}) }}, {{ interval("second:candidate", where={"cache": "same-set"}) }},
{{ floor({"cache": "same-set"}, "second") }}, {{ margin({"cache": "same-set"}, "second") }}, {{ count("batches", "second") }},
{{ time("second:candidate", at={"rows": 256, "cache": "same-set"}) }}, {{ protocol("second").repetitions }},
{{ change_on("second:candidate", "incumbent", at={"rows": 512, "cache": "same-set"}) }},
{{ gate("remains", experiment="second", where={"cache": "same-set"}) }}, {{ gate("every", experiment="second", where={"cache": "same-set"}, figure="end") }},
{{ saving("every", "candidate", at={"rows": 512, "cache": "same-set"}, experiment="second") }}, {{ code("second:candidate", "SHFL.IDX") }},
{{ counter("second:candidate", "instructions", where={"rows": 256, "cache": "rotating"}) }}, {{ fact("smallest_effect", "second") }},
{{ sum_of("Two", ("a", time("second:candidate", at={"rows": 256, "cache": "same-set"})), ("b", time("second:control", at={"rows": 256, "cache": "same-set"}), 2)) }}

TABLES

CHARTS

::: not-changed
Nothing else.
:::
"""
TABLES = [
    *(f'table("{kind}", "second")' for kind in ("answer", "changes", "holm", "noise", "fixtures", "times", "arms", "checks")),
    *(f'table("{kind}", "second")' for kind in ("gates", "savings", "ceilings", "bands", "counters", "patches", "ranges")),
    'table("along", "second", axis="rows", arm="candidate")', 'table("times_along", "second", axis="rows", arm="candidate")',
    'table("parity", "second")', 'table("times_along", "second", axis="rows", arm="control", ceiling="sample", at={"rows": 512, "cache": "rotating"})',
    'table("gates", "second", unit="us")', 'table("peers", "second")', 'table("code", "second", counts=["SHFL.IDX"])',
    'table("peers", "second", ceiling="sample", at={"rows": 512, "cache": "rotating"})',
    'table("bandwidth", "second", ceiling="sample", at={"rows": 512, "cache": "rotating"})',
]  # fmt: skip
CHARTS = [
    *(f'chart("{kind}", "second")' for kind in ("ratios", "fixtures", "processes", "positions", "timeline")),
    'chart("sweep", "second", axis="rows")', 'chart("savings", "second", gate="every", unit="us")',
    'chart("roofline", "second", ceiling="sample", at={"rows": 512, "cache": "rotating"})',
]  # fmt: skip


def make_full_lab(root: Path) -> Project:
    """Make a lab under ``root`` with such an archive, and one page that shows all of it."""
    (root / "site").mkdir(parents=True)
    shown = [("\n\n".join("{{ " + one + " }}" for one in some)) for some in (TABLES, CHARTS)]
    (root / "site" / "page.md").write_text(PAGE.replace("TABLES", shown[0]).replace("CHARTS", shown[1]), "utf-8")
    (root / "reportgen.toml").write_text('title = "A lab"\nrepository = "https://example.org/lab"\n', "utf-8")
    runs, first = root / "runs", make_plan()
    sealed_attempt(runs, plan=first, noise=0.0005)
    earlier = make_plan(_asking(first.digest, smallest_effect=0.004), name="second")
    sealed_attempt(
        runs, plan=earlier, header={"started": STARTED + timedelta(hours=1)}, ratios=RATIOS | {"candidate": 1.02}
    )
    plan = _with_peers(make_plan(_asking(first.digest), name="second"))
    for hours in (30, 40):  # the record, and its replication
        _measure(runs, plan, hours)
    _profile(runs, plan)
    return open_project(root)


def _asking(digest: str, **changes: Any) -> Experiment:
    stage = Stage(experiment="sample", plan=digest, arm="candidate", vs="incumbent", repeats=2, where={"rows": [256]})
    of: dict[str, Any] = {"arms": ["candidate"], "vs": "incumbent", "required": False}
    gates = [
        Gate(name="every", kind=GateKind.EVERY_FIXTURE, threshold=1000, quantity="saved_ns", **of),
        Gate(name="whole", kind=GateKind.HEADLINE, threshold=0.02, **of),
        Gate(name="worse", kind=GateKind.NO_REGRESSION, threshold=0.01, **of),
        Gate(name="remains", kind=GateKind.CEILING, threshold=15_000, quantity="saved_ns", stage=stage, **of),
        Gate(name="sizes", kind=GateKind.BAND, threshold=0.01, axis="rows", **of),
    ]
    arms = [*make_arms(), Arm(name=PEER, role=Role.PEER, idea="theirs")]
    return make_experiment(gates=gates, title="Second", arms=arms, axes=AXES, **changes)


def _with_peers(plan: Plan) -> Plan:
    own = {fixture: [arm for arm in arms if arm != PEER] for fixture, arms in plan.arms_by_fixture.items()}
    asked = [one for one in plan.comparisons if one.candidate != PEER]
    return msgspec.structs.replace(
        plan,
        arms_by_fixture=own,
        peers_by_fixture={fixture: ["incumbent", PEER] for fixture in own},
        comparisons=[*asked, Comparison(candidate=PEER, baseline="incumbent")],
    )


def _measure(runs: Path, plan: Plan, hours: int) -> None:
    own = make_rows(plan, repetitions=13, noise=0.0005, left_out={4: "throttled"}, seed=hours)
    timed = msgspec.structs.replace(plan, arms_by_fixture=plan.peers_by_fixture)
    beside = [_as_peers(one) for one in make_rows(timed, ratios={**RATIOS, PEER: 1.4}, noise=0.0005, seed=hours)[1:]]
    header = make_header(plan, started=STARTED + timedelta(hours=hours))
    journal = open_attempt(runs, plan, [*own, *beside], header)
    facts = {arm.name: CODE for arm in plan.experiment.arms}
    journal.artifact(layout.CODE, msgspec.json.encode(facts))
    left = [{"repetition": 4, "reason": "throttled"}]
    load_attempt(seal(journal, make_manifest(header, count([*own, *beside]), left_out=left)))


def _as_peers(one: Repetition) -> Repetition:
    rows = [{**row, "group": "peer", "mode": "peer"} for row in one.batches]
    return msgspec.structs.replace(one, batches=rows, mode="peer", checks=[])


def _profile(runs: Path, plan: Plan) -> None:
    fixtures, arms = (
        [fixture.name for fixture in plan.fixtures],
        [arm.name for arm in plan.experiment.arms if arm.name != PEER],
    )
    values = {column.name: 2048.0 for column in COUNTERS if column.nullable}
    rows = [
        {column.name: 1 for column in COUNTERS if not column.nullable}
        | values
        | {"fixture": fixture, "arm": arm, "kernel": arm}
        for fixture in fixtures
        for arm in arms
    ]
    looked = Profile(tool="ncu", version="1", fixtures=fixtures, of=len(fixtures), arms=arms, of_arms=len(arms))
    header = make_header(plan, started=STARTED + timedelta(hours=50), kind=Kind.PROFILE, profile=looked)
    journal = open_attempt(runs, plan, [], header)
    journal.artifact(layout.COUNTERS, to_parquet(to_table("counters", rows)))
    ended = {"status": Status.COMPLETE, "reason": "a profile attempt is never scored", "profile": looked}
    load_attempt(seal(journal, make_manifest(header, count([]), **ended)))
