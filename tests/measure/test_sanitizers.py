"""Attempts under compute-sanitizer: seen with a stand-in that runs the command it is given and writes the tool's summary."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from reportgen.archive.load import Attempt, list_attempts
from reportgen.cli import app
from reportgen.errors import InputError, WorkerError
from reportgen.measure.looking import asked_of, parsed_where
from reportgen.measure.nvidia_tools import find_tool
from reportgen.measure.sanitizers import PROGRAM as TOOL
from reportgen.measure.sanitizers import read_findings
from reportgen.measure.watching import RunOptions, RunOutcome
from reportgen.model.record import Kind, Status
from tests.measure.lab import PROGRAM, Lab

STAND_IN = """#!{python}
import subprocess, sys
if "--version" in sys.argv:
    print("NVIDIA (R) Compute Sanitizer\\nVersion 2025.3.1.0 (build 1)")
    sys.exit(0)
options, command = sys.argv[1:5], sys.argv[5:]
assert options[0::2] == ["--tool", "--log-file"], options
log = open(options[3], "w")
log.write("========= COMPUTE-SANITIZER\\n")
{body}
"""
RUNS = "status = subprocess.run(command, pass_fds=[int(command[-1])]).returncode\n"
SAYS = 'log.write("========= {line}\\n")\nsys.exit(status)\n'
CLEAN = RUNS + SAYS.format(line="ERROR SUMMARY: 0 errors")
WITH_ERRORS = (
    """log.write("========= Invalid __global__ write of size 4 bytes\\n=========     at idea+0x5b0\\n")
"""
    + RUNS
    + SAYS.format(line="ERROR SUMMARY: 3 errors")
)
CLEAN_LINE = 'log.write("========= ERROR SUMMARY: 0 errors\\n")\n    sys.exit(status)'
WITH_HAZARDS = RUNS + SAYS.format(line="RACECHECK SUMMARY: 2 hazards displayed (0 errors, 2 warnings)")
CRASHING = 'log.write("========= Internal Sanitizer Error\\n")\nsys.exit(255)\n'
SILENT = RUNS + "sys.exit(status)\n"

ROTATING = PROGRAM + "\n\ndef sets(fixture):\n    return 3\n\ndef launches(fixture):\n    return 32\n"


@pytest.fixture
def lab(lab: Lab) -> Lab:
    """Lab of three sizes with three sets each, simulated."""
    lab.write(
        backend="fake",
        program=ROTATING,
        sizes="[64, 128, 256]",
        more="[[fixture]]\nvalues = { n = 10 }\nchecks_only = true\n",
    )
    return lab


def install(lab: Lab, monkeypatch: pytest.MonkeyPatch, body: str) -> Path:
    """Put a stand-in on PATH."""
    folder = lab.root.parent / "tools"
    folder.mkdir()
    program = folder / "compute-sanitizer"
    program.write_text(STAND_IN.format(python=sys.executable, body=body))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return program


def looked(lab: Lab, tool: str = "memcheck", **where: list[str]) -> tuple[RunOutcome, Attempt]:
    """Make a sanitizer attempt."""
    outcome = lab.run(sanitizer=tool, where=where)
    return outcome, lab.load(outcome)


def test_a_clean_attempt_is_complete_never_scored_and_says_what_it_covered(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every arm on every fixture, those that are only checked included, is replayed and compared once; nothing is timed."""
    install(lab, monkeypatch, CLEAN)
    outcome, attempt = looked(lab)
    assert (Status.COMPLETE, "a sanitizer attempt is never scored", 0) == (
        outcome.status,
        outcome.reason,
        outcome.exit_status,
    )
    assert (Kind.SANITIZER, 0) == (attempt.manifest.kind, len(attempt.batches))
    told = attempt.manifest.sanitizer
    assert told is not None
    assert ("memcheck", "Version 2025.3.1.0 (build 1)", 4) == (told.tool, told.version, told.of)
    assert ["n=64", "n=128", "n=256", "n=10"] == told.fixtures
    values = attempt.checks[attempt.checks["kind"] == "value"]
    assert {(f, a) for f in told.fixtures for a in ("base", "again", "idea")} == set(
        zip(values["fixture"], values["arm"], strict=True)
    )
    assert {"before"} == set(attempt.checks["when"])


def test_a_process_under_a_tool_has_one_set_one_launch_a_graph_and_no_paddings(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So it is fast enough, and what lies before a buffer is out of bounds as well; the archived plan stays the whole one."""
    install(lab, monkeypatch, CLEAN)
    _, attempt = looked(lab)
    (repetition,) = attempt.repetitions
    layout = repetition.facts["layout"]
    assert {"n=64", "n=128", "n=256", "n=10"} == set(layout["buffers"])
    assert ["0:x", "0:y"] == sorted(layout["buffers"]["n=64"])
    assert {0} == {padding for paddings in layout["padding_bytes"].values() for padding in paddings}
    assert {4 * 64} == set(attempt.checks.query("fixture == 'n=64' and kind == 'value'")["elements"])
    assert (1.0, 4) == (attempt.plan.experiment.protocol.most_padding_mib, len(attempt.plan.fixtures))


def test_a_subset_of_fixtures_is_recorded_as_such(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several values of one axis are alternatives."""
    install(lab, monkeypatch, CLEAN)
    _, attempt = looked(lab, "initcheck", n=["64", "10"])
    told = attempt.manifest.sanitizer
    assert told is not None
    assert (["n=64", "n=10"], 4) == (told.fixtures, told.of)
    assert {"n=64", "n=10"} == set(attempt.checks["fixture"])
    kept = json.loads((attempt.path / "artifacts/sanitizer.json").read_text())
    assert (["n=64", "n=10"], 6, 0, "ERROR SUMMARY: 0 errors") == (
        kept["fixtures"],
        kept["graphs"],
        kept["errors"],
        kept["summary"],
    )


@pytest.mark.parametrize(
    ("tool", "body", "says"),
    [
        (
            "memcheck",
            WITH_ERRORS,
            "memcheck found 3 errors, first: Invalid __global__ write of size 4 bytes at idea+0x5b0; see artifacts/logs/memcheck.log",
        ),
        ("racecheck", WITH_HAZARDS, "racecheck found 0 errors and 2 warnings; see artifacts/logs/racecheck.log"),
    ],
)
def test_findings_make_the_attempt_invalid(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, tool: str, body: str, says: str
) -> None:
    """The count is the reason; the tool's own log stays in the artifacts."""
    install(lab, monkeypatch, body)
    outcome, attempt = looked(lab, tool)
    assert (Status.INVALID, says, 1) == (outcome.status, outcome.reason, outcome.exit_status)
    assert "SUMMARY" in (attempt.path / "artifacts/logs" / f"{tool}.log").read_text()


@pytest.mark.parametrize(
    ("body", "says"),
    [(CRASHING, "its last words: Internal Sanitizer Error"), (SILENT, "its last words: COMPUTE-SANITIZER")],
)
def test_a_tool_that_ends_without_a_summary_found_nothing_out(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, body: str, says: str
) -> None:
    """The attempt is aborted: it is neither clean nor does it have findings."""
    install(lab, monkeypatch, body)
    outcome, attempt = looked(lab)
    assert (Status.ABORTED, 1) == (outcome.status, outcome.exit_status)
    assert f"could not finish: memcheck ended without a summary; {says}" in outcome.reason
    assert attempt.sealed


def test_a_process_that_dies_under_a_clean_tool_is_no_clean_attempt(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was not replayed was not looked at."""
    install(lab, monkeypatch, CLEAN)
    lab.write(
        backend="fake",
        program=PROGRAM.replace("    return [KernelCall", "    dies(fixture)\n    return [KernelCall") + DIES,
    )
    outcome, _ = looked(lab)
    assert (Status.ABORTED, 1) == (outcome.status, outcome.exit_status)
    assert "could not finish" in outcome.reason


DIES = """

def dies(fixture):
    import os
    if "sanitizer" in " ".join(os.sys.orig_argv):
        os.kill(os.getpid(), 9)
"""


def test_a_wrong_arm_is_named_under_a_clean_tool_too(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outputs are compared as ever."""
    install(lab, monkeypatch, CLEAN)
    lab.write(backend="fake", more='[[fake.fault]]\nkind = "nan"\narm = "idea"\n')
    outcome, _ = looked(lab)
    assert (Status.COMPLETE, ["idea"], 1) == (outcome.status, outcome.failed_arms, outcome.exit_status)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"sanitizer": "lint"}, "no sanitizer 'lint'; known are: memcheck, racecheck, synccheck, initcheck"),
        ({"sanitizer": "memcheck", "quick": True}, "goes with neither --quick nor --resume"),
        ({"where": {"n": ["64"]}}, "--where goes with --sanitize or --profile"),
        ({"sanitizer": "memcheck", "arms": ("idea",)}, "--arms goes with --profile"),
        ({"sanitizer": "memcheck", "profile": True}, "are attempts of their own"),
        ({"sanitizer": "memcheck", "where": {"m": ["64"]}}, "there is no axis 'm'; --where takes one of: n"),
        ({"sanitizer": "memcheck", "where": {"n": ["65"]}}, "no fixture has n=65"),
        ({"sanitizer": "memcheck", "backend": "native"}, "sees GPU code alone, and backend 'native' has none"),
    ],
)
def test_what_cannot_be_looked_at_is_refused_in_one_line(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], says: str
) -> None:
    """Nothing is archived."""
    install(lab, monkeypatch, CLEAN)
    with pytest.raises(InputError, match=says):
        lab.run(**options)
    assert not lab.project.runs.exists()


def test_a_missing_program_is_one_line(lab: Lab, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """On PATH first, then where CUDA_HOME says."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CUDA_HOME", raising=False)
    with pytest.raises(InputError, match="compute-sanitizer is neither on PATH nor under CUDA_HOME; install"):
        lab.run(sanitizer="memcheck")
    program = install(lab, monkeypatch, CLEAN)
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "cuda").mkdir()
    (tmp_path / "cuda/bin").symlink_to(program.parent)
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "cuda"))
    assert str(tmp_path / "cuda/bin/compute-sanitizer") == find_tool(TOOL).path


def test_several_summaries_are_added_up(tmp_path: Path) -> None:
    """Some versions write one for every context; racecheck counts hazards in its own words."""
    log = tmp_path / "log"
    log.write_text(
        "========= ERROR SUMMARY: 1 error\n========= RACECHECK SUMMARY: 3 hazards displayed (2 errors, 1 warning)\n"
    )
    found = read_findings(log, "racecheck")
    assert (3, 1, "racecheck found 3 errors and 1 warning") == (
        found.errors,
        found.warnings,
        found.sentence("racecheck"),
    )
    with pytest.raises(WorkerError, match="it said nothing"):
        read_findings(tmp_path / "absent", "memcheck")


def test_where_takes_axis_and_value() -> None:
    """Repeated, values of one axis are alternatives."""
    assert {"n": ["64", "128"], "cache": ["same-set"]} == parsed_where(["n=64", "cache=same-set", "n=128"])
    with pytest.raises(InputError, match="--where takes axis=value, not 'n'"):
        parsed_where(["n"])


def test_sanitize_takes_a_list_each_tool_once() -> None:
    """What does not exist is refused before any attempt is begun."""
    asked, tools = asked_of(RunOptions(), "initcheck, memcheck", [], "")
    assert ("initcheck", ["initcheck", "memcheck"]) == (asked.sanitizer, tools)
    for text, says in [
        ("memcheck,lint", "no sanitizer 'lint'"),
        ("memcheck,memcheck", "names 'memcheck' twice"),
        ("memcheck,", "names an empty tool"),
    ]:
        with pytest.raises(InputError, match=says):
            asked_of(RunOptions(), text, [], "")


def test_sanitizer_attempts_are_listed_with_tool_coverage_and_outcome(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By ``attempts`` and ``show``, of one attempt and beside a record, for people and programs."""
    install(lab, monkeypatch, CLEAN)
    say = CliRunner()
    place = ["--project", str(lab.root)]
    looked(lab, "racecheck", n=["64"])
    lab.run()
    assert "sanitizer: racecheck, 1 of 4 fixtures" in " ".join(say.invoke(app, ["attempts", *place]).stdout.split())
    (row, _) = json.loads(say.invoke(app, ["attempts", "--json", *place]).stdout)
    assert {"tool": "racecheck", "version": "Version 2025.3.1.0 (build 1)", "fixtures": ["n=64"], "of": 4} == row[
        "sanitizer"
    ]
    shown = say.invoke(app, ["show", "doubling", *place]).stdout
    assert "1 of 4 fixtures" in shown
    assert "racecheck" in say.invoke(app, ["show", row["id"], *place]).stdout
    beside = json.loads(say.invoke(app, ["show", "doubling", "--json", *place]).stdout)["sanitizers"]
    assert [row["id"]] == [one["id"] for one in beside]
    assert 0 == say.invoke(app, ["build", "--out", str(lab.root / "public"), *place]).exit_code
    (record,) = (lab.root / "public/records/doubling").glob("*/index.html")
    for page in (
        lab.root / "public/attempts/index.html",
        record,
        record.parent / "attempts" / row["id"] / "index.html",
    ):
        assert "sanitizer: racecheck, 1 of 4 fixtures" in page.read_text()
    assert 0 == say.invoke(app, ["verify", row["path"]]).exit_code


def test_each_tool_of_a_list_makes_an_attempt_one_after_the_other(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that finds something stops no other, and costs the exit status."""
    racing = SAYS.format(line="RACECHECK SUMMARY: 2 hazards displayed (2 errors, 0 warnings)")
    install(lab, monkeypatch, f'{RUNS}if options[1] == "memcheck":\n    {CLEAN_LINE}\n{racing}')
    asked = ["run", "doubling", "--sanitize", "racecheck,memcheck", "--where", "n=64", "--project", str(lab.root)]
    command = [sys.executable, "-m", "reportgen", *asked]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    racecheck, memcheck = (line for line in ran.stdout.splitlines() if line.startswith(("racecheck: ", "memcheck: ")))
    assert (1, True, True) == (
        ran.returncode,
        racecheck.startswith("racecheck: invalid, "),
        memcheck.startswith("memcheck: complete, "),
    )
    first, second = list_attempts(lab.project.runs)
    assert ["racecheck", "memcheck"] == [
        one.manifest.sanitizer.tool for one in (first, second) if one.manifest.sanitizer
    ]
    assert first.manifest.ended_at <= second.manifest.started_at
