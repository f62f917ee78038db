"""The reference is what the program says of itself: the committed pages are those that it makes."""

from __future__ import annotations

import pytest

from reportgen.reference.pages import PAGES
from tests.documentation.blocks import DOCS


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
