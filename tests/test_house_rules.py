"""The rules of the house that no linter knows."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "reportgen"
MODULES = sorted(PACKAGE.rglob("*.py"))
MOST_LINES_A_FILE = 400
MOST_LINES_A_FUNCTION = 50


def test_imports_point_downwards() -> None:
    """Every contract of import-linter is kept."""
    finished = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_and_functions_are_short(module: Path) -> None:
    """No file over 400 lines, no function over 50."""
    source = module.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= MOST_LINES_A_FILE
    functions = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef))
    too_long = [node.name for node in functions if (node.end_lineno or 0) - node.lineno >= MOST_LINES_A_FUNCTION]
    assert too_long == []


def test_package_files_hold_nothing() -> None:
    """Only the top one has content: what the package is, and its version."""
    for path in PACKAGE.rglob("__init__.py"):
        if path.parent != PACKAGE:
            assert path.read_text(encoding="utf-8") == "", path


def test_no_module_is_a_drawer() -> None:
    """A module's name says what is in it."""
    drawers = {"util", "utils", "helper", "helpers", "misc", "common"}
    assert [path for path in MODULES if path.stem in drawers] == []


def test_lock_files_name_no_address() -> None:
    """Hashes pin what is installed; where it comes from is the installer's business."""
    for path in sorted((ROOT / "lock").iterdir()):
        text = path.read_text(encoding="utf-8")
        assert "://" not in text, path
        pinned = [line for line in text.splitlines() if "==" in line]
        assert pinned
        assert text.count("--hash=sha256:") >= len(pinned), path


def test_the_timed_process_loads_only_what_it_may() -> None:
    """Importing the worker loads no library beyond numpy."""
    program = (
        "import sys; import reportgen.measure.worker; "
        "print(sorted({'msgspec', 'pandas', 'pyarrow', 'scipy', 'typer', 'rich', 'jinja2'} & set(sys.modules)))"
    )
    finished = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert finished.stdout.strip() == "[]"
