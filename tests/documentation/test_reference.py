"""The reference is what the program says of itself: the committed pages are those that it makes."""

from __future__ import annotations

import pytest
import yaml  # type: ignore[import-untyped]

from reportgen.reference.pages import PAGES
from tests.documentation.blocks import DOCS, blocks


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_the_reference_is_current(name: str) -> None:
    """`python -m reportgen.reference` writes it anew."""
    current = PAGES[name]() == (DOCS / "reference" / name).read_text("utf-8")
    assert current, "run: python -m reportgen.reference"


def test_no_page_of_the_reference_is_written_by_hand() -> None:
    """Each is made by a function."""
    assert sorted(PAGES) == sorted(path.name for path in (DOCS / "reference").iterdir())


def test_the_reference_knows_every_command_and_kind() -> None:
    """A sample that a reader would look for."""
    said = {name: make() for name, make in PAGES.items()}
    assert all(f"\n## {name}\n" in said["command-line.md"] for name in ("init", "run", "import", "verify", "merge"))
    assert all(f"`{word}`" in said["gates.md"] for word in ("every_fixture", "band", "thin margin", "threshold"))
    assert "`change(arm, vs='incumbent', where=None, figure='headline')`" in said["bindings.md"]
    assert "open_record(path, name='')" in said["python.md"]
    assert "InputError" in said["python.md"]


def test_the_workflow_for_pull_requests_calls_the_program_as_it_is() -> None:
    """Its steps name commands and options that there are, and its callers hand over inputs that it takes."""
    texts = [block.text for block in blocks(DOCS / "how-to" / "pull-requests.md") if block.language == "yaml"]
    reusable, caller = (yaml.safe_load(text) for text in texts)
    inputs = reusable[True]["workflow_call"]["inputs"]  # YAML reads `on` as a truth value
    steps = [step["run"] for step in reusable["jobs"]["measure"]["steps"] if "run" in step]
    called = [step.split() for step in steps if step.startswith("reportgen ")]
    assert ["run", "show"] == [words[1] for words in called]
    said = PAGES["command-line.md"]()
    for words in called:
        section = said.partition(f"\n## {words[1]}\n")[2].partition("\n## ")[0]
        assert all(f"`{word}`" in section for word in words if word.startswith("--"))
    assert set(caller["jobs"]["scale"]["with"]) <= set(inputs)
    assert {name for name, one in inputs.items() if one.get("required")} <= set(caller["jobs"]["scale"]["with"])
