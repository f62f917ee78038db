"""The manual travels with the program, and nothing that the program says leads to a file that an installed wheel lacks."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reportgen import cli, handbook
from reportgen.errors import InputError

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "reportgen"
OURS = {one.name for one in ROOT.iterdir() if one.is_dir()} - {"reportgen"}
A_LABS = {
    "kernels",
    "runs",
    "site",
    "templates",
}  # a lab of anybody has these, and `init` makes them or the first run does
PATH = re.compile(r"(?<![\w./:-])(?:[\w-]+/)+[\w.-]*\w|\b[\w/-]+\.md\b")
NAMED = re.compile(r"`reportgen manual ([\w/-]+)`")
# The manual's own files by name: read as a lab's, or made here; and the file of a page in general.
READ = {"README.md", "glossary.md", "record-format.md"}


def said_in(path: Path) -> Iterator[str]:
    """Give every text of a module that is no docstring: whatever it may say, and more."""
    tree = ast.parse(path.read_text("utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


MODULES = sorted(
    path for path in PACKAGE.rglob("*.py") if "reference" not in path.parts and "starters" not in path.parts
)
WRITTEN = sorted(path for path in (PACKAGE / "starters").rglob("*") if path.is_file() and path.suffix != ".pyc")
TEXTS = {path: list(said_in(path)) for path in MODULES} | {path: [path.read_text("utf-8")] for path in WRITTEN}


def strangers(text: str) -> list[str]:
    """Name what a text says of this repository's folders, and of pages that lie nowhere."""
    found = [path for path in PATH.findall(text) if path not in READ and not path.startswith("http")]
    return [one for one in found if one.partition("/")[0] in OURS - A_LABS or (one.endswith(".md") and "/" not in one)]


def test_no_message_names_a_file_that_a_wheel_lacks() -> None:
    """Documentation is named by the command that shows it, in messages, in help and in what `init` writes."""
    assert ["docs/writing-pages.md"] == strangers("see docs/writing-pages.md")
    assert ["importing.md", "tests/data"] == strangers("importing.md says so, as in tests/data")
    found = {str(path.relative_to(ROOT)): strangers(text) for path, texts in TEXTS.items() for text in texts}
    assert {} == {path: names for path, names in found.items() if names}


def test_every_page_that_a_message_names_is_there() -> None:
    """By its whole name."""
    named = {name for texts in TEXTS.values() for text in texts for name in NAMED.findall(text)}
    assert {"writing-experiments", "writing-pages", "commands", "importing"} <= named
    assert {"PAGE"} == named - {one.name for one in handbook.pages()}


def called(*arguments: str) -> str:
    """Run the command."""
    ended = CliRunner().invoke(cli.app, ["manual", *arguments])
    assert 0 == ended.exit_code, ended.output
    return ended.stdout


def test_the_manual_is_listed_and_shown() -> None:
    """Every page with its title; one of them letter for letter where no terminal reads, by name or the end of it."""
    listed = called().splitlines()
    assert any(line.split() == ["tutorial", *["From", "nothing", "to", "a", "verified", "page"]] for line in listed)
    assert called("how-to/native") == called("native") == (ROOT / "docs/how-to/native.md").read_text("utf-8")
    assert [str(ROOT / "docs/tutorial.md")] == [one["path"] for one in json.loads(called("tutorial", "--json"))]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("tutorail", "no page 'tutorail'; is it tutorial"),
        ("nothing at all", "no page 'nothing at all'; `reportgen manual` lists them"),
        ("README", ""),
    ],
)
def test_a_page_that_is_none_is_answered_with_the_nearest(name: str, said: str) -> None:
    """The first page's name is a page's, though folders below have one of their own."""
    if not said:
        assert "README" == handbook.page(name).name
        return
    with pytest.raises(InputError) as fault:
        handbook.page(name)
    assert said in fault.value.one_line()
