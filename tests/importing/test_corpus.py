"""Files of other harnesses: each is read as its right result says, or refused with a line that names what is wrong."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from tests.importing import corpus

FOLDER = Path(__file__).resolve().parent.parent / "data" / "importing"
ENTRIES: dict[str, dict[str, Any]] = json.loads((FOLDER / corpus.EXPECTED).read_text("utf-8"))["files"]


@pytest.mark.parametrize("name", sorted(ENTRIES), ids=lambda name: name[-60:])
def test_a_file_is_read_or_refused_as_its_right_result_says(name: str) -> None:
    """Format, version, counts, statuses, medians, parameters, context; or what a refusal must name."""
    assert list(corpus.entry_faults(FOLDER, name, ENTRIES[name])) == []


def test_every_file_has_a_right_result() -> None:
    """No file lies there that nothing is known of."""
    known = {str(Path(name)) for name in ENTRIES}
    files = [path.relative_to(FOLDER) for path in FOLDER.rglob("*") if path.is_file()]
    loose = [
        str(path)
        for path in files
        if path.name not in {corpus.EXPECTED, "SOURCES.tsv", "README.md"}
        and str(path) not in known
        and str(path.parent) not in known
    ]
    assert loose == []


def test_files_of_others_say_where_they_come_from() -> None:
    """Each has a line with repository and licence; none is there whose licence was not stated."""
    rows = [line.split("\t") for line in (FOLDER / "SOURCES.tsv").read_text("utf-8").splitlines()[1:]]
    assert [row[0] for row in rows if row[4] in {"not confirmed", "unknown", ""}] == []
    listed = {row[0] for row in rows}
    others = [path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*/*") if path.is_file()]
    assert [name for name in others if name not in listed and not name.startswith("own/")] == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("format", "hyperfine"),
        ("names", 13),
        ("benchmarks", 13),
        ("status", {"ok": 13, "skipped": 0, "error": 1}),
        ("raw_samples", 15),
        ("not_time", ["BM_SameTimes"]),
        ("context", {"date": "2016-08-02 17:44:47"}),
        ("checks", [{"name": "BM_2xFaster", "samples": 1, "median_ns": 50.0000001}]),
        ("checks", [{"name": "BM_2xFaster", "samples": 2}]),
        ("checks", [{"name": "BM_Absent"}]),
        ("outcome", "refuse"),
    ],
)
def test_the_check_finds_what_differs(key: str, value: Any) -> None:
    """A right result that is changed in one place is told from what was read."""
    due = copy.deepcopy(ENTRIES["google-benchmark/compare-a.json"]) | {key: value}
    assert len(list(corpus.entry_faults(FOLDER, "google-benchmark/compare-a.json", due))) == 1
