"""Outside programs that stay: asked line by line, ended with their repetition, and never trusted further than their last answer."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import psutil
import pytest

from reportgen.archive.load import load_attempt
from reportgen.errors import FindingError, InputError
from reportgen.measure.backends import command_resident
from reportgen.measure.backends.command_asking import Program, Question
from reportgen.measure.controller import run
from reportgen.measure.watching import RunOptions
from reportgen.project import open_project
from reportgen.publish.attempt_checks import attempt_findings
from tests.measure.lab import Seen
from tests.measure.test_command import FILES, QUESTION, make_lab

ANSWER = '{"arm": "once", "fixture": "size=200", "launches": 40, "elapsed_ns": 5, "check": 1}'
LOG = "open('started', 'a').write(sys.argv[1] + chr(10))\n"


def resident_lab(root: Path, script: str = "") -> Path:
    """Write the resident experiment of the page; each start of its program leaves a line."""
    text = script or FILES["resident.py"]
    make_lab(root, **{"resident.py": text.replace("import json, sys, time\n", f"import json, sys, time\n{LOG}")})
    toml = root / "kernels/counting/experiment.toml"
    asked = (
        toml.read_text("utf-8").replace("bench.sh", "resident.py").replace("deadline_s", "resident = true\ndeadline_s")
    )
    toml.write_text(asked, "utf-8")
    return root


def test_the_program_of_the_page_is_started_once_a_repetition_and_arm(tmp_path: Path) -> None:
    """A whole attempt, checked and verified; the reference, the calibration and the repetition each start what they need, in no fixed order."""
    lab = open_project(resident_lab(tmp_path))
    ended = run(lab, "counting", RunOptions(device="resident"), Seen())
    assert (0, "scored", "") == (ended.exit_status, ended.status, ended.reason)
    assert ended.path is not None
    attempt = load_attempt(ended.path)
    assert [] == attempt_findings(attempt.path)
    assert attempt.checks["passed"].all()
    started = (tmp_path / "kernels/counting/started").read_text("utf-8").split()
    incumbent_alone, arms = 2, ["1", "2", "2"]  # the reference of each fixture; then all three arms, twice
    assert ["2"] * incumbent_alone == started[:incumbent_alone]
    assert [arms, arms] == [sorted(started[2:5]), sorted(started[5:])]
    (repetition,) = (one for one in attempt.repetitions if one.repetition == 1)
    assert "lives for the repetition" in repetition.facts["session"]["batch"]
    assert not [one for one in psutil.process_iter(["cmdline"]) if "./resident.py" in (one.info["cmdline"] or ())]


def test_a_program_that_fails_costs_the_run_its_calibration(tmp_path: Path) -> None:
    """One line names arm, fixture and its last words; nothing of it is left alive."""
    script = FILES["resident.py"].replace("times = int(", "if sys.argv[1] == '1': sys.exit('no model')\ntimes = int(")
    ended = run(open_project(resident_lab(tmp_path, script)), "counting", RunOptions(device="resident"), Seen())
    assert 1 == ended.exit_status
    assert "ended with status 1: no model" in ended.sentence
    assert "arm 'once', fixture size=" in ended.sentence
    assert not [one for one in psutil.process_iter(["cmdline"]) if "./resident.py" in (one.info["cmdline"] or ())]


def program(script: str, deadline_s: float = 5.0) -> Program:
    """Give a resident program of one arm, written in Python."""
    command = {"argv": [sys.executable, "-u", "-c", script.replace("{", "{{").replace("}", "}}")], "environment": {}}
    return Program({"arms": {"once": command}, "folder": ".", "deadline_s": deadline_s, "resident": True})


ASKED = "import sys\nfor line in sys.stdin:\n    "


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("import sys; sys.stderr.write('a\\nlast words\\n'); sys.exit(3)", "ended with status 3: last words"),
        ("import sys; sys.stdin.readline(); sys.exit(0)", "ended with status 0: it said nothing"),
        ("import os, time; os.close(1); time.sleep(30)", "closed its output and went on"),
        ("import time; time.sleep(30)", "took longer than 0.4 s; see [command] deadline_s"),
        (f"{ASKED}print('{{')", "its answer is no JSON"),
        (f"{ASKED}print('{ANSWER}'.replace('once', 'twice'))", "says arm 'twice', asked was 'once'"),
        (f"{ASKED}print('loading')", "took longer than 0.4 s"),
        ("import os, time; os.write(1, b'x' * 3000); time.sleep(30)", "took longer than 0.4 s"),
        ("import sys, os\nwhile True: os.write(1, b'talk' * 1000)", "and no answer"),
        ("import os; os.kill(os.getpid(), 9)", "ended with status -9"),
    ],
)
def test_a_program_that_does_not_answer_is_ended_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, script: str, said: str
) -> None:
    """At the deadline, at its death, or when it talks without end."""
    monkeypatch.setattr(command_resident, "MOST_BYTES", 1 << 17)
    asked = program(script, 5.0 if "longer" not in said else 0.4)
    with pytest.raises(FindingError, match=re.escape(said)) as fault:
        asked.ask(QUESTION)
    assert "arm 'once', fixture size=200" == fault.value.where
    asked.end()


def test_many_questions_are_answered_by_one_process_and_its_end_is_seen() -> None:
    """Talk between answers is left alone; what is said unasked, or a bad end, is a fault."""
    fine = program(f"import os\nprint('hello')\n{ASKED}print('working'); print('{ANSWER}')")
    assert [5.0, 5.0, 5.0] == [fine.ask(QUESTION).elapsed_ns for _ in range(3)]
    fine.end()
    twice = program(f"{ASKED}print('{ANSWER}\\n{ANSWER}')")
    twice.ask(QUESTION)
    with pytest.raises(FindingError, match="said more than it was asked"):
        twice.ask(QUESTION)
    parting = program(f"{ASKED}print('{ANSWER}')\nsys.exit('could not save')")
    parting.ask(QUESTION)
    with pytest.raises(FindingError, match="ended with status 1: could not save"):
        parting.end()
    with pytest.raises(FindingError, match="cannot be started: No such file or directory"):
        Program(
            {
                "arms": {"once": {"argv": ["./absent"], "environment": {}}},
                "folder": ".",
                "deadline_s": 1,
                "resident": True,
            }
        ).ask(Question("once", "size=200", {}, 1, 0))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            'arguments = ["1"]',
            'arguments = ["{size}"]',
            "argument '{size}' has a placeholder that names nothing: 'size'",
        ),
        (
            "repetitions = 1\n",
            'repetitions = 2\nmodes = ["process", "placement"]\nblock_repetitions = 2\n',
            "lives for one repetition",
        ),
    ],
)
def test_what_a_program_that_stays_cannot_be_told_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    """A fixture comes with each question; a process that outlives its repetition is no resident one."""
    resident_lab(tmp_path)
    toml = tmp_path / "kernels/counting/experiment.toml"
    toml.write_text(toml.read_text("utf-8").replace(old, new), "utf-8")
    with pytest.raises(InputError, match=re.escape(said)):
        run(open_project(tmp_path), "counting", RunOptions(device="resident"), Seen())
