"""A lab with an A/A study in it, and a page that uses every binding of one."""

from __future__ import annotations

from pathlib import Path

from reportgen.model.plan import Plan
from reportgen.project import Project, open_project
from tests.factories import sealed_attempt
from tests.study_factory import Truth, study_arms, study_plan, study_repetitions

TRUTH = Truth(within=0.0005, offset=0.003, process=0.0003)
PAGE = """+++
title = "What a repetition must be"
address = "repetition/"
kind = "report"
summary = "How wrong each way of measuring is about identical code."
date = 2026-03-02
records = ["null_study"]
+++

Of {{ study("comparisons", mode="placement") }} comparisons of identical code in one placement {{ study("false_alarms", mode="placement") }}
({{ study("false_alarm_share", mode="placement") }}) exclude no change; with fresh processes {{ study("false_alarms", mode="process") }}, where
{{ study("nominal_share", mode="process") }} is nominal. The bar allows {{ study("alarms_allowed") }}: {{ study("bar") }}.

{{ chart("errors") }}

{{ table("ways") }}

{{ table("bar") }}

One comparison, of {{ study("shown_null", mode="placement") }} on {{ study("shown_kernel", mode="placement") }}, read
{{ study("shown_estimate", mode="placement") }} ({{ study("shown_low", mode="placement") }} to {{ study("shown_high", mode="placement") }}).

{{ chart("intervals") }}

{{ chart("one_placement") }}

{{ table("spreads") }}

{{ table("kernels") }}

## What planted work shows

{{ study("power", mode="process", effect=0.03) }} of the comparisons with {{ stated("3 %", because="planted, set in the plan") }} more work.

{{ chart("power") }}

{{ table("planted") }}

{{ table("planted_kernels") }}

## Other harnesses

{{ table("harnesses") }}

{{ table("shown") }}
"""


def make_plan_of_study() -> Plan:
    """Give a plan of four kernels, two incumbents with two nulls each, planted work and another harness."""
    arms = study_arms(2, planted=(0.002, 0.01, 0.03, 1.0))
    return study_plan(kernels=["copy", "gather", "reduce", "tiny"], arms=arms, repetitions=24)


def make_study_lab(root: Path, page: str = PAGE) -> Project:
    """Make a lab under ``root`` with the study archived and one page about it."""
    (root / "site").mkdir(parents=True)
    (root / "site" / "repetition.md").write_text(page, "utf-8")
    (root / "reportgen.toml").write_text('title = "A lab"\nrepository = "https://example.org/lab"\n', "utf-8")
    plan = make_plan_of_study()
    sealed_attempt(root / "runs", plan=plan, repetitions=study_repetitions(plan, TRUTH, seed=11))
    return open_project(root)
