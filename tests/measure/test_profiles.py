"""Profile attempts: seen with a stand-in for ncu that runs the command once a pass and writes the table in the form of the real one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from reportgen.analysis.counters import lines, rotations
from reportgen.archive.load import Attempt
from reportgen.cli import app
from reportgen.errors import InputError, WorkerError
from reportgen.measure.nvidia_tools import Installed
from reportgen.measure.profiler import METRICS, launcher, read_counters
from reportgen.measure.watching import RunOutcome
from reportgen.model.columns import COUNTERS
from reportgen.model.record import Kind, Status
from reportgen.publish.attempt_checks import rows_of
from reportgen.publish.build import build
from reportgen.publish.verification import verify_path
from tests.measure.lab import PROGRAM, Lab
from tests.measure.test_peers import PEER, RETURNS

DATA = Path(__file__).parents[1] / "data" / "ncu"
STAND_IN = """#!{python}
import csv, json, subprocess, sys
if "--version" in sys.argv:
    print("NVIDIA (R) Nsight Compute Command Line Profiler\\nVersion 2025.3.1.0 (build 1)")
    sys.exit(0)
at = sys.argv.index({python!r})
options, command = sys.argv[1:at], sys.argv[at:]
said = dict(zip(options, options[1:]))
assert ("none", "none", "application", "node", "off") == tuple(
    said[f"--{{name}}"] for name in ("clock-control", "cache-control", "replay-mode", "graph-profiling", "profile-from-start"))
log = open(said["--log-file"], "w")
print("==WARNING== Note: Running with uncontrolled GPU caches. Profiling results may be inconsistent.", file=log)
share, passes, kernel = {share}, {passes}, {kernel!r}
def run():
    return subprocess.run(command, pass_fds=[int(command[-1])]).returncode
def table():
    job, columns = json.load(open(command[-2])), said["--metrics"].split(",")
    head = ["ID", "Kernel Name", "Block Size", "Grid Size", *columns]
    yield head
    yield [""] * len(head)
    symbols = {{arm["name"]: arm["symbol"] for arm in job["arms"]}}
    for fixture in job["fixtures"]:
        cold = fixture["values"]["cache"] == "rotating"
        for arm in fixture["arms"]:
            for launch in range(4):
                moved = 8 if launch == 0 else 32 * fixture["values"]["n"] * share if cold else 0
                counts = dict.fromkeys(columns, "1.5") | {{"dram__bytes_read.sum": moved * 0.75, "dram__bytes_write.sum": moved * 0.25,
                    "sm__warps_active.avg.pct_of_peak_sustained_active": "n/a" if arm == "again" else "20.5"}}
                yield ["0", kernel or symbols[arm], "(1, 1, 1)", "(1, 1, 1)", *(counts[name] for name in columns)]
{body}
"""
COUNTS = """
text = list(table())
for number in range(passes):
    status = run()
    if status:
        print(f"==ERROR== The application returned an error code ({status}).", file=log)
        sys.exit(status)
csv.writer(log, quoting=csv.QUOTE_ALL).writerows(text)
"""
REFUSES = """
run()
print("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters.", file=log)
sys.exit(1)
"""
LOSES_ONE = COUNTS.replace("writerows(text)", "writerows(text[:-1])")
NEVER_STARTS = 'print("==ERROR== Failed to initialize the profiler: LibraryNotLoaded", file=log)\nsys.exit(1)\n'
ROTATING = PROGRAM + '\n\ndef sets(fixture):\n    return 3 if fixture["cache"] == "rotating" else 1\n'
SIZES = '[64], cache = ["same-set", "rotating"]'
DIES = """

def dies(fixture):
    import os
    if any("ncu" in open(f"/proc/{{pid}}/cmdline").read() for pid in [os.getppid()]):
        os.kill(os.getpid(), 9)
"""


def install(  # noqa: PLR0913, PLR0917 - each is one thing that the stand-in does
    lab: Lab, monkeypatch: pytest.MonkeyPatch, body: str = COUNTS, share: float = 1.0, kernel: str = "", passes: int = 1
) -> Path:
    """Put a stand-in on PATH."""
    folder = lab.root.parent / "tools"
    folder.mkdir(exist_ok=True)
    program = folder / "ncu"
    text = STAND_IN.format(python=sys.executable, body=body, share=share, passes=passes, kernel=kernel)
    program.write_text(text)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return program


def write(lab: Lab, **changes: Any) -> None:
    """Write an experiment of two fixtures, of which one is called rotating."""
    settings: dict[str, Any] = {"backend": "fake", "program": ROTATING, "sizes": SIZES, "repetitions": 2}
    lab.write(**(settings | changes))
    toml = lab.folder / "experiment.toml"
    toml.write_text(toml.read_text().replace("seed = 7", 'seed = 7\nslicing = ["cache"]'))


@pytest.fixture
def lab(lab: Lab) -> Lab:
    """Lab of two fixtures, simulated."""
    write(lab)
    return lab


def profiled(lab: Lab, **options: Any) -> tuple[RunOutcome, Attempt]:
    """Make a profile attempt."""
    outcome = lab.run(profile=True, **options)
    return outcome, lab.load(outcome)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Lab with a record, and a page that speaks of what a profile counted."""
    locks = tmp_path_factory.mktemp("locks")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(locks))
        patch.setattr(tempfile, "tempdir", str(locks))
        lab = Lab(tmp_path_factory.mktemp("lab") / "lab")
        write(lab)
        (lab.root / "site").mkdir()
        (lab.root / "site/index.md").write_text(PAGE)
        assert Status.SCORED == lab.run().status
        yield lab


@pytest.fixture(scope="module")
def counted_of(measured: Lab) -> tuple[RunOutcome, Attempt]:
    """Profile of that lab, in two passes."""
    with pytest.MonkeyPatch.context() as patch:
        install(measured, patch, passes=2)
        return profiled(measured)


def test_a_profile_counts_every_launch_after_the_lead_in_and_is_never_scored(
    counted_of: tuple[RunOutcome, Attempt],
) -> None:
    """Each row belongs to a cell; the arms were checked; two passes were one attempt; nothing was timed."""
    outcome, attempt = counted_of
    reason = "a profile attempt is never scored"
    assert (Status.COMPLETE, reason, 0) == (outcome.status, outcome.reason, outcome.exit_status)
    assert (Kind.PROFILE, 0) == (attempt.manifest.kind, len(attempt.batches))
    told = attempt.manifest.profile
    assert told is not None
    assert ("ncu", "Version 2025.3.1.0 (build 1)", 2, 3) == (told.tool, told.version, told.of, told.of_arms)
    cells = [(fixture, arm) for fixture in told.fixtures for arm in ("base", "again", "idea")]
    counted = attempt.counters
    assert [(*cell, launch) for cell in cells for launch in range(4)] == list(
        zip(counted["fixture"], counted["arm"], counted["launch"], strict=True)
    )
    assert [column.name for column in COUNTERS] == list(counted.columns)
    assert {"n=64,cache=same-set": 0, "n=64,cache=rotating": 1536} == {
        name: rows["dram_read_bytes"].iloc[-1] for name, rows in counted.groupby("fixture")
    }
    assert counted.loc[counted["arm"] == "again", "occupancy_pct"].isna().all()
    assert {"value", "inputs"} <= set(attempt.checks["kind"])
    (event,) = [event for event in attempt.events if event.event == "counted"]
    assert {"kernels": 24, "passes": 2} == event.facts
    kept = json.loads((attempt.path / "artifacts/profile.json").read_text())
    assert ("ncu", "ncu.csv") == (kept["command"][0], kept["command"][-1])
    assert () == verify_path(attempt.path).findings


def test_a_part_of_fixtures_and_arms_is_recorded_as_such_with_the_binaries_of_all(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the attempt stands beside the record of its plan and binaries. Other people's implementations are not among those counted."""
    write(lab, program=ROTATING + RETURNS, more=PEER)
    install(lab, monkeypatch)
    _, attempt = profiled(lab, where={"cache": ["same-set"]}, arms=("idea",))
    told = attempt.manifest.profile
    assert told is not None
    assert (["n=64,cache=same-set"], ["idea"], 3) == (told.fixtures, told.arms, told.of_arms)
    assert {"base", "again", "idea"} == set(attempt.manifest.binaries)
    assert {"idea"} == set(attempt.counters["arm"])
    with pytest.raises(InputError, match="there is no arm 'theirs'"):
        lab.run(profile=True, arms=("theirs",))


@pytest.mark.parametrize(("share", "exits"), [(0.90625, 0), (0.875, 1)])
def test_a_fixture_that_moves_less_than_nine_tenths_of_its_footprint_is_not_rotating(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, share: float, exits: int
) -> None:
    """The attempt is complete and says so, with the arm; the launch that opens, which moves hardly anything, enters no mean."""
    install(lab, monkeypatch, share=share)
    outcome, attempt = profiled(lab, arms=("idea",))
    said = "not rotating, since less than 90 % of the footprint is moved: n=64,cache=rotating (87.5 % in arm idea)"
    reason = "a profile attempt is never scored" + (f"; {said}" if exits else "")
    assert (Status.COMPLETE, reason, exits) == (outcome.status, outcome.reason, outcome.exit_status)
    assert ([said] if exits else []) == [event.facts["finding"] for event in attempt.events if "finding" in event.facts]
    (rotation,) = rotations(lines(rows_of(attempt.counters)), attempt.plan, attempt.moved_bytes)
    assert (exits == 0, 2048 * share) == (rotation.holds, rotation.dram_bytes)


@pytest.mark.parametrize(
    ("body", "kernel", "says"),
    [
        (REFUSES, "", "ncu counted nothing; it said: ERR_NVGPUCTRPERM - The user does not have permission"),
        (LOSES_ONE, "", "ncu counted 7 kernels where 8 were launched"),
        (COUNTS, "other", "row 0: ncu: Kernel Name is 'other' where 'idea' was launched"),
        (NEVER_STARTS, "", "ended with status 1 and no answer"),
    ],
)
def test_what_was_not_counted_surely_is_no_profile(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, body: str, kernel: str, says: str
) -> None:
    """The attempt is aborted and keeps the profiler's own words."""
    install(lab, monkeypatch, body, kernel=kernel)
    outcome, attempt = profiled(lab, arms=("idea",))
    assert (Status.ABORTED, 1, True) == (outcome.status, outcome.exit_status, attempt.sealed)
    assert "the profiler could not finish: " in outcome.reason
    assert says in outcome.reason
    assert "==" in (attempt.path / "artifacts/logs/ncu.csv").read_text()
    assert 0 == len(attempt.counters)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"quick": True}, "--profile goes with neither --quick nor --resume"),
        ({"arms": ("lazy",)}, "there is no arm 'lazy'; --arms takes some of: base, again, idea"),
        ({"where": {"m": ["64"]}}, "there is no axis 'm'"),
        ({"backend": "native"}, "ncu sees GPU code alone, and backend 'native' has none"),
    ],
)
def test_what_cannot_be_counted_is_refused_in_one_line(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], says: str
) -> None:
    """Nothing is archived; neither is it without the program."""
    install(lab, monkeypatch)
    with pytest.raises(InputError, match=says):
        lab.run(profile=True, **options)
    monkeypatch.setenv("PATH", str(lab.root))
    monkeypatch.delenv("CUDA_HOME", raising=False)
    with pytest.raises(InputError, match="ncu is neither on PATH nor under CUDA_HOME; install"):
        lab.run(profile=True)
    assert not lab.project.runs.exists()


PAGE = """+++
title = "Profile"
address = ""
kind = "home"
summary = "What was counted."
date = 2026-03-02
records = ["doubling"]

[[claims]]
says = "Cold means cold."
holds = "counter('idea', 'footprint_share', where={'cache': 'rotating'}) > 90"
+++

{{ claim(1) }} The idea read {{ counter("idea", "dram_read_bytes", where={"cache": "rotating"}) }}, and waited
{{ counter("idea", "stall_long_scoreboard", where={"cache": "same-set"}) }} at an instruction.

{{ table("counters", arms=["idea"]) }}
"""


def test_pages_show_the_counters_and_hold_claims_to_them(
    measured: Lab, counted_of: tuple[RunOutcome, Attempt], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Page, record and attempt; the table is a file, too. A later profile that contradicts the name of a fixture fails both sentences."""
    _, attempt = counted_of
    out = measured.root / "public"
    report = build(measured.project, out, strict=True)
    assert ([], []) == ([str(one) for one in report.problems], [str(one) for one in report.warnings])
    home = (out / "index.html").read_text()
    assert '<data value="1536.0">1,536 bytes</data>' in home
    assert '<data value="1.5">1.50</data>' in home
    (record,) = (out / "records/doubling").glob("*/index.html")
    page = record.parent / "attempts" / attempt.id
    for text in (home, record.read_text(), (page / "index.html").read_text()):
        assert "Every fixture here that is called rotating is so" in text
        assert "100.0%" in text
    table = (page / "counters.csv").read_text().splitlines()
    assert (1 + 24, "device,attempt,fixture,arm,launch,call,kernel") == (len(table), table[0][:45])
    assert "profile: ncu, 2 of 2 fixtures, 3 of 3 arms" in record.read_text()

    install(measured, monkeypatch, share=0.5)
    profiled(measured, arms=("idea",))
    warnings = [str(one) for one in build(measured.project, out, strict=False).warnings]
    false = "n=64,cache=rotating of doubling@"
    assert 2 == sum(
        one.startswith("site/index.md:") and false in one and "may not be called rotating" in one for one in warnings
    )
    assert "is called rotating and is not: arm idea moved 1,024 of 2,048 bytes" in record.read_text()


def test_profiles_are_listed_with_coverage_and_outcome(measured: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """By ``run``, ``attempts`` and ``show``, for people and programs."""
    install(measured, monkeypatch)
    say, place = CliRunner(), ["--project", str(measured.root)]
    asked = ["run", "doubling", "--profile", "--arms", "base,idea", "--where", "cache=same-set", *place]
    ran = subprocess.run([sys.executable, "-m", "reportgen", *asked], capture_output=True, text=True, check=False)
    assert (0, True) == (ran.returncode, "complete: a profile attempt is never scored" in ran.stdout), ran.stderr
    beside = json.loads(say.invoke(app, ["show", "doubling", "--json", *place]).stdout)
    told = beside["profiles"][-1]["profile"]
    assert (["base", "idea"], ["n=64,cache=same-set"], []) == (told["arms"], told["fixtures"], beside["sanitizers"])
    shown = say.invoke(app, ["show", beside["profiles"][-1]["id"], *place]).stdout
    assert "1 of 2 fixtures, 2 of 3 arms" in " ".join(shown.split())


@pytest.mark.parametrize(("name", "kernels"), [("attention_q8", 64), ("null_study", 64)])
def test_a_table_of_the_real_program_is_read(name: str, kernels: int) -> None:
    """Captured on an H200 (ncu 2025.3.1), cut to the columns asked for: each row is of the launch that the process told of."""
    counted = json.loads((DATA / f"{name}.json").read_text())
    rows = read_counters(DATA / f"{name}.csv", counted)
    assert kernels == len(rows)
    assert all(row[column.name] is not None for row in rows for column in COUNTERS)
    first = rows[1]
    known = {
        "attention_q8": ("attention_q8_fp16", 0, 25088, 99.38, 128, 33280, 5184, 0.63),
        "null_study": ("null_a_stream", 100666368, 2077440, 2.07, 32, 1024, 25920, 231.77),
    }
    names = (
        "kernel",
        "dram_read_bytes",
        "dram_write_bytes",
        "l2_hit_pct",
        "registers",
        "shared_bytes",
        "kernel_ns",
        "stall_long_scoreboard",
    )
    assert known[name] == tuple(first[column] for column in names)
    found = lines(rows)
    assert {3} == {line.launches for line in found}
    calls = {line.call for line in found if "multi_kernel" in line.fixture}
    assert ({1, 2, 3} if name == "null_study" else set()) == calls


def test_rows_of_another_launch_are_refused() -> None:
    """Two cells exchanged are of one kernel's name, and of another grid."""
    counted = json.loads((DATA / "null_study.json").read_text())
    counted[0], counted[-2] = counted[-2], counted[0]
    with pytest.raises(WorkerError, match="ncu: "):
        read_counters(DATA / "null_study.csv", counted)


def test_what_the_program_is_asked() -> None:
    """Clocks and caches left alone, application replay, kernels of graphs one by one, only what the process switches on."""
    words = " ".join(launcher(Installed("ncu", ""), Path("log")))
    for said in (
        "--clock-control none",
        "--cache-control none",
        "--replay-mode application",
        "--graph-profiling node",
        "--profile-from-start off",
    ):
        assert said in words
    assert len(METRICS) == sum(column.nullable for column in COUNTERS)
