"""What is said of fixtures that are called rotating, from what profiles counted."""

from __future__ import annotations

import re

import pytest

from reportgen.model.counters import Rotation
from reportgen.publish.counter_tables import standing

HELD, SHORT = Rotation("rows=1", "plain", 95.0, 100), Rotation("rows=2", "tiled", 50.0, 100)


@pytest.mark.parametrize(
    ("rotations", "words", "value"),
    [
        ([], "", ""),
        (
            [HELD],
            "Every fixture here that is called rotating is so: the least of 1 moved 95.0% of its footprint (rows=1, arm plain).",
            "0.95",
        ),
        ([HELD, SHORT], "Not rotating: rows=2, of whose footprint arm tiled moved 50.0%.", "0.5"),
    ],
    ids=["none", "held", "short"],
)
def test_the_share_of_the_footprint_leads_to_its_row(rotations: list[Rotation], words: str, value: str) -> None:
    """Whether it is enough or not."""
    said = standing(rotations, "page/")
    assert words == re.sub(r"<[^>]+>", "", said)
    assert re.findall(r'href="page/#c[^"]*"><data value="([^"]*)">', said) == ([value] if value else [])
