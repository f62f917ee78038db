"""The commands as a user meets them: what they print, and with what status they end."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.entry import called

ROOT = Path(__file__).resolve().parent.parent
EXPERIMENT = """
schema_version = 1
title = "Two of a kind <script>alert('ü')</script>"
question = "Does the second differ?"
backend = "fake"
slicing = ["size"]

[axes]
size = [1, 2]
rows = [4, 8, 16]

[protocol]
repetitions = 6
spares = 1

[fake]
base_ns = 20000.0
ratio = { candidate = 0.9 }

[[arm]]
name = "incumbent"
role = "incumbent"
idea = "as it is"

[[arm]]
name = "candidate"
role = "candidate"
idea = "as it might be"

[[arm]]
name = "null_incumbent"
role = "null"
of = "incumbent"
idea = "as it is, again"

[[gate]]
name = "worth_it"
kind = "headline"
arms = ["candidate"]
vs = "incumbent"
threshold = 0.02
"""


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """Make a lab with one simulated experiment whose candidate takes a tenth less time."""
    return make_lab(tmp_path)


@pytest.fixture(scope="module")
def measured_lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Measure once, for tests that only read."""
    made = make_lab(tmp_path_factory.mktemp("measured"))
    ran = reportgen(made, "run", "pair")
    assert ran.returncode == 0, ran.stderr
    assert "6 of 6 repetitions" in ran.stderr
    assert "candidate" in ran.stdout
    return made


def make_lab(root: Path) -> Path:
    """Write the experiment into a lab at ``root``."""
    folder = root / "kernels" / "pair"
    folder.mkdir(parents=True)
    (folder / "experiment.toml").write_text(EXPERIMENT, encoding="utf-8")
    return root


def reportgen(lab: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command on the lab: one that measures as a process, since it forks, with device locks of the lab's own; any other by the same entry in this one, since loading takes a second."""
    command = [*arguments, "--project", str(lab)]
    if arguments[0] != "run":
        return called(command)
    return subprocess.run(
        [sys.executable, "-m", "reportgen", *command],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error", "TMPDIR": str(lab)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_from_plan_to_verdicts(measured_lab: Path) -> None:
    """Plan, run, attempts and show agree with one another and with the simulated truth."""
    lab = measured_lab
    planned = json.loads(reportgen(lab, "plan", "pair", "--json").stdout)
    assert {"batches": 2 * 6 * 3 * 6, "fixtures": 6, "repetitions": 6}.items() <= planned.items()

    (attempt,) = json.loads(reportgen(lab, "attempts", "--json").stdout)
    assert {"experiment": "pair", "kind": "timing", "status": "scored", "batches": 216, "backend": "fake"}.items() <= (
        attempt.items()
    )
    assert attempt["plan"] == planned["digest"]

    shown = json.loads(reportgen(lab, "show", "pair", "--json").stdout)
    verdicts = {(one["slice"], one["arm"]): (one["verdict"], one["promotion"]) for one in shown["comparisons"]}
    faster = ("faster", "not attributable")
    assert verdicts == {("size=1", "candidate"): faster, ("size=2", "candidate"): faster}
    assert {("worth_it", "passes")} == {(gate["name"], gate["outcome"]) for gate in shown["gates"]}
    assert {"null_incumbent"} == {noise["null"] for noise in shown["noise"]}


def test_an_excluded_attempt_speaks_no_more(lab: Path, measured_lab: Path) -> None:
    """After `exclude` the attempt is listed with its reason and forms no record."""
    shutil.copytree(measured_lab / "runs", lab / "runs")
    (attempt,) = json.loads(reportgen(lab, "attempts", "--json").stdout)
    excluded = reportgen(lab, "exclude", attempt["id"], "--reason", "the fan was off")
    assert excluded.returncode == 0, excluded.stderr
    (after,) = json.loads(reportgen(lab, "attempts", "--json").stdout)
    assert ("excluded", "the fan was off") == (after["status"], after["reason"])
    shown = reportgen(lab, "show", "pair")
    assert shown.returncode == 2
    assert "no scored attempt" in shown.stderr


def test_an_erratum_stands_beside_an_attempt_that_counts_as_before(lab: Path, measured_lab: Path) -> None:
    """The sealed folder stays as it was; an empty text, and an attempt that is open, are refused."""
    shutil.copytree(measured_lab / "runs", lab / "runs")
    (attempt,) = json.loads(reportgen(lab, "attempts", "--json").stdout)
    noted = reportgen(lab, "erratum", attempt["id"], "--text", "the title names\nthe wrong shape")
    assert (0, f"{attempt['id']} has an erratum: the title names the wrong shape\n") == (
        noted.returncode, noted.stdout.replace("\n", " ").strip() + "\n",
    )  # fmt: skip
    (notes,) = (lab / "runs").rglob("*.notes.jsonl")
    assert {"kind": "erratum", "text": "the title names the wrong shape"}.items() <= json.loads(
        notes.read_text("utf-8")
    ).items()
    assert [attempt] == json.loads(reportgen(lab, "attempts", "--json").stdout)
    empty = reportgen(lab, "erratum", attempt["id"], "--text", " ")
    assert (2, True) == (empty.returncode, "a note needs a text" in empty.stderr)


def test_an_interrupted_run_says_how_to_go_on_and_does(lab: Path) -> None:
    """Ctrl-C ends with 130 and names the attempt; --resume completes it to a scored one."""
    process = subprocess.Popen(
        [sys.executable, "-m", "reportgen", "run", "pair", "--project", str(lab)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(lab)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not any(
        one.stat().st_size for one in lab.glob("runs/pair/*.partial/journal.jsonl")
    ):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    printed, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "--resume" in printed
    assert "Traceback" not in said
    (attempt,) = json.loads(reportgen(lab, "attempts", "--json").stdout)
    assert attempt["status"] == "aborted"
    resumed = reportgen(lab, "run", "pair", "--resume", attempt["id"])
    assert resumed.returncode == 0, resumed.stderr
    (after,) = json.loads(reportgen(lab, "attempts", "--json").stdout)
    assert (attempt["id"], "scored", 6) == (after["id"], after["status"], after["repetitions"])


MISUSE = {
    "no such experiment": (("plan", "nothing"), "no experiment named 'nothing'"),
    "no such backend": (("run", "pair", "--backend", "abacus"), "abacus"),
    "no such attempt": (("exclude", "20260101T000000Z-fake-000000", "--reason", "x"), "no attempt named"),
    "nothing measured yet": (("show", "pair"), "no scored attempt"),
    "no such option": (("run", "pair", "--fast"), "--fast"),
    "no such command": (("measure",), "measure"),
    "nothing to verify": (("verify", "nowhere.zip"), "nowhere.zip"),
}


@pytest.mark.parametrize(("arguments", "named"), MISUSE.values(), ids=MISUSE)
def test_misuse_is_one_line_and_status_2(lab: Path, arguments: tuple[str, ...], named: str) -> None:
    """What, where and what to do, on one line; never a traceback."""
    finished = called([*arguments]) if arguments[0] in ("measure", "verify") else reportgen(lab, *arguments)
    assert (2, 1) == (finished.returncode, len(finished.stderr.splitlines())), finished.stderr
    assert finished.stderr.startswith("reportgen: ")
    assert named in finished.stderr


def test_a_damaged_attempt_hides_no_other(lab: Path, measured_lab: Path) -> None:
    """`attempts` lists what it can read, names what it cannot, and ends with 1."""
    shutil.copytree(measured_lab / "runs", lab / "runs")
    (whole,) = (path for path in (lab / "runs" / "pair").iterdir() if path.is_dir())
    damaged = whole.with_name("20200101T000000Z-fake-000000")
    damaged.mkdir()
    (damaged / "manifest.json").write_text("{", encoding="utf-8")
    listed = reportgen(lab, "attempts", "--json")
    assert [whole.name] == [attempt["id"] for attempt in json.loads(listed.stdout)]
    assert (1, 1) == (listed.returncode, len(listed.stderr.splitlines()))
    assert damaged.name in listed.stderr


def test_a_damaged_attempt_stops_neither_show_nor_build(lab: Path, measured_lab: Path) -> None:
    """The sound record is shown and built, one line names the damaged table, and the status says so."""
    shutil.copytree(measured_lab / "runs", lab / "runs")
    (whole,) = (path for path in (lab / "runs" / "pair").iterdir() if path.is_dir())
    damaged = whole.with_name(f"20200101T000000Z-{whole.name.partition('-')[2]}")
    shutil.copytree(whole, damaged)
    for name in ("manifest.json", "SHA256SUMS"):
        file = damaged / name
        file.write_text(file.read_text("utf-8").replace(whole.name, damaged.name), "utf-8")
    (damaged / "batches.parquet").write_bytes(b"PAR1")
    shown = reportgen(lab, "show", "pair", "--json")
    assert json.loads(reportgen(measured_lab, "show", "pair", "--json").stdout) == json.loads(shown.stdout)
    assert (1, 1) == (shown.returncode, len(shown.stderr.splitlines()))
    assert f"{damaged.name}/batches.parquet: is damaged" in shown.stderr
    lenient, strict = reportgen(lab, "build", "--json"), reportgen(lab, "build", "--strict", "--json")
    assert (0, 1) == (lenient.returncode, strict.returncode)
    for said in (json.loads(lenient.stdout)["warnings"], json.loads(strict.stdout)["problems"]):
        assert [f"runs/pair/{damaged.name}"] == [
            one["where"] for one in said if "batches.parquet: is damaged" in one["what"]
        ]
    assert list((lab / "public" / "records" / "pair").glob(f"*/{whole.name}/manifest.json"))


def test_show_of_nothing_but_a_damaged_attempt_names_it(lab: Path, measured_lab: Path) -> None:
    """One who is told to measure would measure in vain."""
    shutil.copytree(measured_lab / "runs", lab / "runs")
    (only,) = (path for path in (lab / "runs" / "pair").iterdir() if path.is_dir())
    (only / "plan.toml").write_text("[", "utf-8")
    shown = reportgen(lab, "show", "pair")
    assert (1, 1) == (shown.returncode, len(shown.stderr.splitlines()))
    assert "plan.toml: is damaged" in shown.stderr


def test_json_is_all_that_is_printed(lab: Path) -> None:
    """A program may read standard output whole, whatever a run tells people meanwhile."""
    ran = reportgen(lab, "run", "pair", "--quick", "--json")
    told = json.loads(ran.stdout)
    assert ("complete", 0) == (told["status"], ran.returncode)
    assert Path(told["path"]).is_dir()


def test_a_failing_arm_is_named_with_status_1(lab: Path) -> None:
    """The attempt is scored, the arm invalid, the run a finding."""
    toml = lab / "kernels" / "pair" / "experiment.toml"
    toml.write_text(
        EXPERIMENT.replace("[[arm]]", "[[fake.fault]]\nkind = 'nan'\narm = 'candidate'\n\n[[arm]]", 1), encoding="utf-8"
    )
    ran = reportgen(lab, "run", "pair")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "arm candidate" in ran.stderr
    shown = json.loads(reportgen(lab, "show", "pair", "--json").stdout)
    assert {("invalid", "arm_failed_check")} == {(one["verdict"], one["reason"]) for one in shown["comparisons"]}


def test_ctrl_c_while_the_program_loads_is_one_line(tmp_path: Path) -> None:
    """Loading takes a moment; an interruption in it ends with 130 and shows no traceback."""
    slow = "import pathlib, time\npathlib.Path(__file__).with_name('loading').touch()\ntime.sleep(60)\n"
    (tmp_path / "typer.py").write_text(slow)
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "reportgen", "attempts"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment, cwd=tmp_path) as process:
        while not (tmp_path / "loading").exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert (130, "reportgen: interrupted\n") == (process.returncode, said)


STARTED_CLOSED = """
import os, sys, types
if sys.argv[1:] == ["closed"]:
    os.closerange(0, 3)
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:-1]])
cli = sys.modules["reportgen.cli"] = types.ModuleType("reportgen.cli")
def main():
    print("said to nobody", file=sys.stderr, flush=True)
    sys.exit(os.open(os.devnull, os.O_RDONLY))
cli.main = main
from reportgen.__main__ import main
main()
"""


def test_without_standard_streams_no_file_takes_their_numbers() -> None:
    """What is said to nobody must not be written into a journal: the first file that is opened is number 3."""
    done = subprocess.run(
        [sys.executable, "-c", STARTED_CLOSED, "closed"], env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False
    )
    assert 3 == done.returncode
