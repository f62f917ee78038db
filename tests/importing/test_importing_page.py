"""docs/importing.md against the program: every format stands there, and its examples are what the commands do."""

from __future__ import annotations

import re
from pathlib import Path

from typer.testing import CliRunner

from reportgen import cli
from reportgen.archive.importers import registry
from reportgen.archive.importers.content import Content

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "importing.md").read_text("utf-8")


def test_every_format_stands_on_the_page() -> None:
    """And none that there is not."""
    table = PAGE.partition("## Formats")[2].partition("## ")[0]
    named = [
        name for row in re.findall(r"^\| (`[^|]+) \|", table, re.MULTILINE) for name in re.findall(r"`([\w-]+)`", row)
    ]
    assert sorted(registry.FORMATS) == sorted(named)


def test_the_generic_example_is_read() -> None:
    """Two arms that took turns."""
    text = re.findall(r"```csv\n(.*?)```", PAGE, re.DOTALL)[0]
    source = registry.read(Content("example.csv", text.encode()))
    assert [("base", 2), ("cand", 2)] == [(one.arm, len(one.good)) for one in source.benchmarks]


def test_every_option_on_the_page_is_one() -> None:
    """As `--help` lists them; and every option has its word on the page."""
    told = CliRunner().invoke(cli.app, ["import", "--help"], env={"COLUMNS": "200"}).output
    options = set(re.findall(r"--[a-z][a-z-]+", told)) - {"--project", "--json", "--help"}
    assert options == set(re.findall(r"--[a-z][a-z-]+", PAGE)) - {"--json"}
