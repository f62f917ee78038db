"""`init`: each kind of lab builds at once; an unpacked wheel takes a newcomer from it to a verified site without this repository."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from reportgen.errors import InputError
from reportgen.measure.controller import plan_of
from reportgen.project import open_project
from reportgen.publish.build import build
from reportgen.starting import KINDS, start

ROOT = Path(__file__).resolve().parent.parent

NEWCOMER = """
import os, subprocess, sys
from typer.testing import CliRunner
from reportgen import cli

def call(line, here):
    os.chdir(here)
    if line.startswith("run"):  # it forks
        subprocess.run([sys.executable, "-P", "-m", "reportgen", *line.split()], check=True)
        return
    ended = CliRunner().invoke(cli.app, line.split())
    assert ended.exit_code == 0, (line, ended.output, ended.exception)
    print(ended.output)

home = os.getcwd()
LINES = {
    "native": ("manual tutorial", "manual", "plan scale", "run scale --quick", "attempts", "build --strict", "verify public"),
    "import": ("import csv results/times.csv --as example", "show example", "build --strict", "verify public"),
    "gate": ("plan scale", "build --strict"),
    "command": ("plan counting", "build --strict"),
    "cuda": ("build --strict",),
}
for kind, lines in LINES.items():
    call(f"init {kind} --{kind}", home)
    for line in lines:
        call(line, os.path.join(home, kind))
"""


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_lab_builds_at_once(tmp_path: Path, kind: str) -> None:
    """Strictly, and its experiment has a plan with a null arm."""
    files = start(tmp_path / "lab", kind)
    assert {"reportgen.toml", "README.md", ".gitignore"} <= {path.name for path in files}
    lab = open_project(tmp_path / "lab")
    report = build(lab, tmp_path / "public", strict=True)
    assert (0, []) == (len(report.problems), list(report.warnings))
    if kind != "import":
        made = plan_of(lab, "counting" if kind == "command" else "scale", None)
        assert "null" in {arm.role.value for arm in made.experiment.arms}
        assert (kind == "gate") == bool(made.experiment.gates)


def test_nothing_is_written_over(tmp_path: Path) -> None:
    """A folder with something in it, a file, and a kind that is none."""
    (tmp_path / "mine").write_text("mine", "utf-8")
    for folder, kind, said in (
        (tmp_path, "native", "is there already and not empty"),
        (tmp_path / "mine", "native", "is there already"),
        (tmp_path / "new", "opencl", "there is no lab of kind 'opencl'; there are native, cuda"),
    ):
        with pytest.raises(InputError, match=said):
            start(folder, kind)
    assert "mine" == (tmp_path / "mine").read_text("utf-8")


def test_the_cuda_kernels_of_a_new_lab_compile(tmp_path: Path) -> None:
    """Without a GPU."""
    pytest.importorskip("cuda.core")
    start(tmp_path / "lab", "cuda")
    folder = tmp_path / "lab/kernels/scale"
    for name in ("plain", "four"):
        assert compile_source(folder / f"{name}.cu", tmp_path / f"{name}.cubin")


def compile_source(source: Path, target: Path) -> bytes:
    """Compile a file as the backend does."""
    from cuda.core import Program, ProgramOptions  # noqa: PLC0415 - an extra

    options = ProgramOptions(std="c++17", arch="sm_90")
    code = Program(source.read_text("utf-8"), "c++", options).compile("cubin").code
    target.write_bytes(code)
    return target.read_bytes()


def test_a_wheel_takes_a_newcomer_from_init_to_a_verified_site(tmp_path: Path) -> None:
    """Unpacked alone on the path, far from this repository: each kind of lab, measured or imported, built, verified."""
    build_wheel = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        ".",
        "--no-deps",
        "--no-build-isolation",
        "-q",
        "-w",
        str(tmp_path),
    ]
    subprocess.run(build_wheel, cwd=ROOT, check=True, capture_output=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        wheel.extractall(tmp_path / "site")
    assert (tmp_path / "site/reportgen/py.typed").is_file()
    locks = tmp_path / "locks"
    locks.mkdir()
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {
        "PYTHONPATH": str(tmp_path / "site"),
        "TMPDIR": str(locks),
    }

    ended = subprocess.run(
        [sys.executable, "-P", "-c", NEWCOMER],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == ended.returncode, ended.stderr
    assert "Traceback" not in ended.stderr
    assert "no verdict: fewer than 6 pairs" in ended.stdout
    assert (ROOT / "docs/tutorial.md").read_text("utf-8") in ended.stdout
    assert str(tmp_path / "site/reportgen/manual") in ended.stdout.replace("\n", "")
    assert 2 == ended.stdout.count("verified: site; attempt")
    assert "a quick attempt is never scored" in ended.stdout
    assert (tmp_path / "site/reportgen/starters/command/kernels/counting/bench.sh").is_file()
