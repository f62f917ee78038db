"""The page about injected faults is made of what the program that injects them wrote."""

from __future__ import annotations

import json
import re

from benchmarks.faults.page import DATA, PAGE, page_of
from tests.measure.fault_table import EITHER, After, cell_of, cells


def test_the_page_shows_what_a_run_of_all_cells_wrote() -> None:
    """Every cell of the table was run and was as it says; no cell of the page is typed."""
    document = json.loads(DATA.read_text("utf-8"))
    assert cells() == [(cell["fault"], cell["phase"]) for cell in document["cells"]]
    for cell in document["cells"]:
        after = cell_of(cell["fault"], cell["phase"])
        assert isinstance(after, After)
        claimed = (after.exit_status, after.attempt, after.mend)
        assert claimed == (cell["exit_status"], cell["attempt"], cell["mend"])
        assert re.fullmatch(after.said, cell["said"])
        assert after.service in (EITHER, cell["service"])
    assert page_of(document) == PAGE.read_text("utf-8")
