"""Outside programs under the protocol: what they are asked, what they may answer, and what becomes of one that does not."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reportgen.archive.load import load_attempt
from reportgen.errors import FindingError, InputError
from reportgen.measure.backends.command_asking import FIELDS, Program, Question, read_answer
from reportgen.measure.controller import plan_of, run
from reportgen.measure.watching import RunOptions
from reportgen.project import open_project
from reportgen.publish.attempt_checks import attempt_findings
from tests.measure.lab import Seen

ROOT = Path(__file__).resolve().parent.parent.parent
CORPUS = ROOT / "tests" / "data" / "importing"
PAGE = (ROOT / "docs" / "commands.md").read_text("utf-8")
FILES = dict(re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", PAGE, re.DOTALL))
QUESTION = Question("once", "size=200", {"size": 200}, 40, 2)
GOOD: dict[str, Any] = {"arm": "once", "fixture": "size=200", "launches": 40, "elapsed_ns": 5.5, "check": "a"}


def make_lab(root: Path, **replaced: str) -> Path:
    """Write the experiment of docs/commands.md, made short; ``replaced`` are further files."""
    folder = root / "kernels" / "counting"
    folder.mkdir(parents=True)
    short = FILES["experiment.toml"] + "\n[protocol]\nrepetitions = 1\nspares = 0\nleast_batch_ms = 0.05\n"
    for name, text in {"experiment.toml": short, "bench.sh": FILES["bench.sh"], **replaced}.items():
        (folder / name).write_text(text, "utf-8")
        (folder / name).chmod(0o755)
    return root


def test_the_script_of_the_page_is_measured_checked_and_verified(tmp_path: Path) -> None:
    """A whole attempt: every batch asked of a fresh process, hashes around it, nulls with the same code, checks against the incumbent."""
    lab = open_project(make_lab(tmp_path))
    ended = run(lab, "counting", RunOptions(), Seen())
    assert (0, "scored") == (ended.exit_status, ended.status)
    assert ended.path is not None
    attempt = load_attempt(ended.path)
    manifest = attempt.manifest
    assert manifest.binaries["twice"] == manifest.binaries["twice_again"] != manifest.binaries["once"]
    assert {"command/program", "command/file/bench.sh"} <= set(manifest.hashes)
    assert {"reference", "twice", "inputs"} == set(attempt.checks["against"])
    assert attempt.checks["passed"].all()
    assert attempt_findings(attempt.path) == []
    kept = json.loads((attempt.path / "artifacts/binaries/once.json").read_text("utf-8"))
    assert ["./bench.sh", "1"] == kept["argv"]


def test_a_program_that_computes_something_else_fails_its_checks(tmp_path: Path) -> None:
    """The arm is invalid and named; it was timed all the same."""
    wrong = FILES["bench.sh"].replace('"$REPORTGEN_SIZE"\n', '"$(($1 * 7))"\n')
    ended = run(open_project(make_lab(tmp_path, **{"bench.sh": wrong})), "counting", RunOptions(), Seen())
    assert (1, "scored", ("once",)) == (ended.exit_status, ended.status, tuple(ended.failed_arms))


def test_a_program_that_ends_badly_costs_the_repetition(tmp_path: Path) -> None:
    """With its last words."""
    failing = FILES["bench.sh"].replace(
        "start=", '[ "$1" = 1 ] && [ "$REPORTGEN_LEAD_IN" != 0 ] && { echo "no memory" >&2; exit 3; }\nstart='
    )
    ended = run(open_project(make_lab(tmp_path, **{"bench.sh": failing})), "counting", RunOptions(), Seen())
    assert 1 == ended.exit_status
    assert "arm 'once', fixture size=" in ended.reason + ended.sentence
    assert "ended with status 3: no memory" in ended.reason + ended.sentence


def test_the_plan_covers_arguments_and_files(tmp_path: Path) -> None:
    """Another script, another digest; a null repeats the arguments."""
    lab = open_project(make_lab(tmp_path))
    first = plan_of(lab, "counting", None)
    assert "counting/bench.sh" in [file.path for file in first.files]
    assert [["2"], ["1"], ["2"]] == [arm.arguments for arm in first.experiment.arms]
    script = tmp_path / "kernels/counting/bench.sh"
    script.write_text(script.read_text("utf-8") + "# changed\n", "utf-8")
    assert first.digest != plan_of(lab, "counting", None).digest


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('["./bench.sh"]', '["./absent.sh"]', "there is no program './absent.sh'"),
        ('arguments = ["1"]', 'arguments = ["{colour}"]', "has a placeholder that names nothing: 'colour'"),
        ('["bench.sh"]\n', '["other.sh"]\n', "command.files names 'other.sh', which is missing"),
        ("deadline_s = 60", "deadline_s = 0", "command.deadline_s must be a finite number"),
    ],
)
def test_a_declaration_that_cannot_run_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    """Before anything is measured."""
    make_lab(tmp_path)
    toml = tmp_path / "kernels/counting/experiment.toml"
    toml.write_text(toml.read_text("utf-8").replace(old, new, 1), "utf-8")
    with pytest.raises(InputError, match=re.escape(said)):
        run(open_project(tmp_path), "counting", RunOptions(), Seen())


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"arm": "twice"}, "says arm 'twice', asked was 'once'"),
        ({"fixture": "size=400"}, "says fixture 'size=400'"),
        ({"launches": 41}, "says launches '41', asked was 40"),
        ({"elapsed_ns": 0}, "elapsed_ns '0', which is no time"),
        ({"elapsed_ns": float("nan")}, "elapsed_ns 'nan', which is no time"),
        ({"elapsed_ns": True}, "elapsed_ns 'True', which is no time"),
        ({"more": 1}, "has the fields arm, fixture, launches, elapsed_ns, check, more"),
    ],
)
def test_an_answer_that_is_not_what_was_asked_is_a_fault(changed: dict[str, Any], said: str) -> None:
    """Each with what it says instead."""
    with pytest.raises(FindingError, match=re.escape(said)):
        read_answer(json.dumps(GOOD | changed), QUESTION, "here")


def test_one_line_is_read_between_a_programs_own_talk() -> None:
    """None and two are faults."""
    found = read_answer(f"loading\n{json.dumps(GOOD)}\nbye\n", QUESTION, "here")
    assert (40, 5.5, "a") == (found.launches, found.elapsed_ns, found.check)
    for text in ("", json.dumps(GOOD) + "\n" + json.dumps(GOOD)):
        with pytest.raises(FindingError, match=r"answered \d lines of JSON, not 1"):
            read_answer(text, QUESTION, "here")


def test_a_program_that_hangs_is_ended(tmp_path: Path) -> None:
    """At the deadline, in words."""
    program = Program(
        {"arms": {"once": {"argv": ["sleep", "30"], "environment": {}}}, "folder": str(tmp_path), "deadline_s": 0.2}
    )
    with pytest.raises(FindingError, match=r"took longer than 0\.2 s; see \[command\] deadline_s"):
        program.ask(QUESTION)


@pytest.mark.parametrize(
    ("adapter", "printed", "elapsed_ns"),
    [
        ("google.py", "tricky/gb-error-and-skip.json", 4200.0 * 40),
        ("nvbench.py", "tricky/nvbench-skipped-with-zero-time.json", 25_000.0 * 40),
        ("llama.py", "llama-bench/keys-28.json", 1061829766),
    ],
)
def test_adapters_read_what_such_a_program_prints(
    tmp_path: Path, adapter: str, printed: str, elapsed_ns: float
) -> None:
    """Against a stand-in that prints a result file of that program."""
    (tmp_path / adapter).write_text(FILES[adapter], "utf-8")
    stand_in = [sys.executable, str(tmp_path / adapter), "sh", "-c", f"cat '{CORPUS / printed}'"]
    told = {"REPORTGEN_ARM": "once", "REPORTGEN_FIXTURE": "size=200", "REPORTGEN_LAUNCHES": "40"}
    ended = subprocess.run(stand_in, env=dict(os.environ) | told, capture_output=True, text=True, check=True)
    assert elapsed_ns == pytest.approx(read_answer(ended.stdout, QUESTION, "here").elapsed_ns, rel=1e-12)


def test_adapters_are_ten_lines_or_so() -> None:
    """That is what the page promises."""
    assert [] == [
        name for name in ("bench.sh", "google.py", "nvbench.py", "llama.py") if len(FILES[name].splitlines()) > 10
    ]


@pytest.mark.parametrize("language", ["swift", "cpp"])
def test_adapters_that_cannot_run_here_speak_the_contract(language: str) -> None:
    """The two that are shown untested ask for what they need and answer with the five fields."""
    (snippet,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    text = snippet.replace('\\"', '"')
    assert [] == [field for field in FIELDS if f'"{field}": ' not in text]
    asked = ("REPORTGEN_ARM", "REPORTGEN_FIXTURE", "REPORTGEN_LAUNCHES", "REPORTGEN_LEAD_IN")
    assert [] == [name for name in asked if f'"{name}"' not in text]
