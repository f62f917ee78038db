"""A superseded record's page stays with a notice; the new one lists what changed; the terminal says the same."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from datetime import timedelta

import pytest

from reportgen.archive.load import list_attempts
from reportgen.archive.select import records
from reportgen.publish.build import build
from tests.entry import called
from tests.factories import RATIOS, STARTED, make_experiment, make_plan, sealed_attempt
from tests.publish.conftest import Built
from tests.publish.site_lab import REPORT, make_lab


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Build a lab in which a second plan, with a smaller effect of interest, found less gain."""
    project = make_lab(tmp_path_factory.mktemp("lab"), {"report.md": REPORT}, measured=False)
    sealed_attempt(project.runs, plan=make_plan(make_experiment()), noise=0.0)
    plan = make_plan(make_experiment(smallest_effect=0.004))
    later = {"started": STARTED + timedelta(days=1)}
    sealed_attempt(project.runs, plan=plan, noise=0.0, ratios=RATIOS | {"candidate": 0.999}, header=later)
    report = build(project, project.root / "public", strict=True)
    assert ((), ()) == (report.problems, report.warnings)
    return Built(project, project.root / "public")


@pytest.fixture(scope="module")
def names(lab: Built) -> tuple[str, str]:
    """Name the former and the current record."""
    current, former = records(list_attempts(lab.project.runs))
    assert (True, False) == (current.current, former.current)
    return former.slug, current.slug


def run(arguments: Sequence[str], lab: Built) -> subprocess.CompletedProcess[str]:
    """Run a command in the lab as a user does."""
    return called([*arguments, "--project", str(lab.project.root)])


def test_the_former_page_stays_with_a_notice_that_leads_on(lab: Built, names: tuple[str, str]) -> None:
    """At its address, with its own figures."""
    former, current = names
    page = lab.page(f"records/sample/{former}/")
    assert "<strong>Superseded.</strong>" in page
    assert f'href="../../../records/sample/{current}/">sample@{current}</a>' in page
    assert "−5.00%" in page
    assert 'id="history"' not in page


def test_the_new_page_lists_what_changed(lab: Built, names: tuple[str, str]) -> None:
    """Numbers, verdicts and the plan's field, with a link to the former page."""
    former, current = names
    page = lab.page(f"records/sample/{current}/")
    assert "Superseded" not in page
    part = page[page.index('id="history"') : page.index('id="hashes"')]
    assert f'href="../../../records/sample/{former}/"' in part
    assert "4 of 10 comparisons moved, 4 of them with another verdict" in part
    for text in ("−5.00% (−5.00% to −5.00%)", "−0.10% (−0.10% to −0.10%)", "↓ faster", "= equivalent", "apart"):
        assert text in part.replace("\N{NO-BREAK SPACE}", " ")
    assert "experiment.smallest_effect" in part
    assert re.search(r"0\.005.*0\.004", part)


def test_the_terminal_says_the_same_digits(lab: Built, names: tuple[str, str]) -> None:
    """Exit 0, whatever moved."""
    former, current = names
    done = run(["diff", f"sample@{former}", f"sample@{current}"], lab)
    assert (0, "") == (done.returncode, done.stderr)
    assert "4 of 10 comparisons moved" in done.stdout
    assert "-5.00% (-5.00% to -5.00%)" in done.stdout
    assert "-0.10% (-0.10% to -0.10%)" in done.stdout


def test_programs_read_the_same(lab: Built, names: tuple[str, str]) -> None:
    """An attempt by its folder against the record by name."""
    folder = min((lab.project.runs / "sample").iterdir())
    done = run(["diff", str(folder), "sample", "--json"], lab)
    told = json.loads(done.stdout)
    assert (0, folder.name, f"sample@{names[1]}") == (done.returncode, told["before"], told["after"])
    moved = [one for one in told["comparisons"] if one["moved"]]
    assert {("faster", "equivalent")} == {(one["before"]["verdict"], one["after"]["verdict"]) for one in moved}
    assert [False] * 4 == [one["overlap"] for one in moved]


@pytest.mark.parametrize("name", ["nothing", "sample@ffffff", "20260101T000000Z-fake-ffffff"])
def test_an_unknown_name_is_bad_input(lab: Built, name: str) -> None:
    """One line, exit 2."""
    done = run(["diff", name, "sample"], lab)
    assert 2 == done.returncode
    assert done.stderr.startswith("reportgen: ")
    assert 1 == done.stderr.count("\n")
