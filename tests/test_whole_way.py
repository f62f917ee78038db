"""The walk-through of the README, for real: plan, full run on this machine's processor, page, verification."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ARMS, FIXTURES, REPETITIONS = 8, 8, 12
OF_OTHER_RECORDS = ("attention-q8.md", "what-a-repetition-must-be.md")


def call(lab: Path, *arguments: str) -> str:
    """Run a command that must succeed, with device locks of the lab's own; give what it printed."""
    finished = subprocess.run(
        [sys.executable, "-m", "reportgen", *arguments],
        cwd=lab,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(lab)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Measure q6k_dot under the full protocol in a lab of its own and build its pages.

    Not strictly: what the page claims of the archived record need not hold on this machine, and the build says so.
    """
    root = tmp_path_factory.mktemp("lab")
    shutil.copytree(ROOT / "kernels", root / "kernels", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "site", root / "site", ignore=shutil.ignore_patterns(*OF_OTHER_RECORDS))
    call(root, "run", "q6k_dot")
    call(root, "build")
    return root


def test_the_attempt_is_scored_and_its_matrix_complete(lab: Path) -> None:
    """Two batches of every arm on every fixture in every process, and no arm failed a check."""
    (attempt,) = json.loads(call(lab, "attempts", "--json"))
    assert ("scored", 2 * ARMS * FIXTURES * REPETITIONS) == (attempt["status"], attempt["batches"])
    manifest = json.loads((Path(attempt["path"]) / "manifest.json").read_text(encoding="utf-8"))
    assert ([], 0) == (manifest["failed_arms"], manifest["counts"]["failed_checks"])


def test_every_planned_comparison_has_a_verdict(lab: Path) -> None:
    """Control and three candidates against the incumbent, the candidates against the control, in two slices."""
    shown = json.loads(call(lab, "show", "q6k_dot", "--json"))
    assert len(shown["comparisons"]) == 2 * (4 + 3)
    assert {"faster", "slower", "equivalent", "inconclusive"} >= {one["verdict"] for one in shown["comparisons"]}
    assert {"null_incumbent", "null_control"} == {noise["null"] for noise in shown["noise"]}


def test_the_built_site_verifies(lab: Path) -> None:
    """Hashes, rows and recomputed verdicts of everything published."""
    assert call(lab, "verify", "public").startswith("verified")


def test_a_reader_verifies_the_download_with_python_alone(lab: Path, tmp_path: Path) -> None:
    """`record.zip`, unpacked anywhere, checks itself without this program."""
    (archive,) = lab.glob("public/records/q6k_dot/*/record.zip")
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(tmp_path)
    (verifier,) = tmp_path.rglob("verify.py")
    finished = subprocess.run(
        [sys.executable, "-I", verifier], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr


def test_the_page_shows_the_digits_of_the_terminal(lab: Path) -> None:
    """One figure, the same text in both places."""
    shown = json.loads(call(lab, "show", "q6k_dot", "--json"))
    page = (lab / "public" / "q6k-dot" / "index.html").read_text(encoding="utf-8")
    for one in shown["comparisons"]:
        said = f"{100 * (one['headline'] - 1):+.2f}%".replace("-", "\N{MINUS SIGN}")
        assert said in page or abs(one["headline"] - 1) < 0.00005, one
