"""A lab small enough to build in a moment: one measured record with its quick and open attempts, one simulated record."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from reportgen.model.experiment import Gate, GateKind
from reportgen.model.record import Device, Kind, Status
from reportgen.project import Project, open_project
from tests.factories import STARTED, make_experiment, make_header, make_plan, make_rows, open_attempt, sealed_attempt

TITLE = 'Loads & "stores": <script>alert(1)</script> für Ångström'
PRETEND = 'pretend "<b>\N{LATIN SMALL LETTER E WITH ACUTE}'
PAYS = Gate(name="pays", kind=GateKind.EVERY_FIXTURE, arms=["candidate"], vs="incumbent", threshold=0.02)
SIMULATED = Device(id="cpu-000000000000", model="Made-up device", kind="simulated")

HOME = """+++
title = "First page"
address = ""
kind = "home"
summary = "What is here."
date = 2026-03-02
+++

Read the [report](report/) or the [made-up one](made-up/).
"""
REPORT = """+++
title = 'Loads & "stores": <script>alert(1)</script> für Ångström'
address = "report/"
kind = "report"
summary = "Do fewer loads pay?"
date = 2026-03-02
records = ["sample"]
+++

{{ answer() }}

{{ table("answer") }}

Fewer loads changed the time by {{ change("candidate", vs="control", where={"cache": "same-set"}) }}.[^1]

[^1]: Of the median over fixtures, as everywhere.

{{ sum_of("Both places together", ("same set", change("candidate", where={"cache": "same-set"})), ("rotating", change("candidate", where={"cache": "rotating"}), 2)) }}

{{ chart("ratios") }}

{{ table("changes") }}

{{ chart("fixtures", vs="incumbent") }}

{{ table("fixtures") }}

::: not-changed
## What was not changed

Everything else.
:::

{{ downloads() }}
"""
MADE_UP = REPORT.replace('"report/"', '"made-up/"').replace('["sample"]', f"['{PRETEND}']")


def make_lab(root: Path, pages: dict[str, str] | None = None, *, measured: bool = True) -> Project:
    """Make a lab under ``root`` with ``pages`` by file name (three by default) and, if ``measured``, an archive."""
    (root / "site").mkdir(parents=True)
    written = {"index.md": HOME, "report.md": REPORT, "made-up.md": MADE_UP} if pages is None else pages
    for name, text in written.items():
        (root / "site" / name).write_text(text, "utf-8")
    (root / "reportgen.toml").write_text('title = "A lab"\nrepository = "https://example.org/lab"\n', "utf-8")
    if measured:
        measure(root / "runs")
    return open_project(root)


def measure(runs: Path) -> None:
    """Archive a scored, a quick, an invalid and an open attempt of ``sample``, and a simulated one with an odd name."""
    plan = make_plan(make_experiment(title=TITLE, gates=[PAYS]))
    sealed_attempt(runs, plan=plan, noise=0.0)
    quick = {"kind": Kind.QUICK, "started": STARTED - timedelta(days=1)}
    sealed_attempt(
        runs, plan=plan, repetitions=2, header=quick, manifest={"status": Status.COMPLETE, "reason": "a quick look"}
    )
    invalid = {"status": Status.INVALID, "reason": "sources changed: <b>sample.c</b>"}
    sealed_attempt(runs, plan=plan, repetitions=2, header={"started": STARTED + timedelta(days=1)}, manifest=invalid)
    header = make_header(plan, started=STARTED + timedelta(days=2))
    open_attempt(runs, plan, make_rows(plan, repetitions=3), header).close()
    sealed_attempt(runs, plan=make_plan(name=PRETEND), header={"device": SIMULATED}, seed=2)
