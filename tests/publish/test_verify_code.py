"""What arms in Python are and became: held against the plan and the archive by the program in a record and by the command alike."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from reportgen.publish.checking import ROADS, checking
from reportgen.publish.verify_code import code_contradictions
from reportgen.publish.view import RecordView

PLAN = {
    "experiment": {
        "arm": [
            {"name": "base", "file": "arms.py", "symbol": "plain"},
            {"name": "again", "file": "arms.py", "symbol": "plain", "of": "base"},
            {"name": "compiled", "file": "one.cu", "symbol": "one"},
            {"name": "theirs"},
        ]
    },
    "files": [{"path": "lab/arms.py", "sha256": "f" * 64}],
}
TEXT = json.dumps({"source": "arms.py", "source_sha256": "f" * 64, "symbol": "plain", "libraries": {}})
ARCHIVED = {
    "binaries/base.json": TEXT,
    "binaries/again.json": TEXT,
    "compiled/base/rows-1.cubin": "1",
    "compiled/again/rows-1.cubin": "1",
}


def told(repetition: int, base: str = "1", again: str = "1", **keys: Any) -> dict[str, Any]:
    """Give what a process told of two arms' kernels, by hash."""
    code = {"base": [{"kernel": "rows", "sha256": base}], "again": [{"kernel": "rows", "sha256": again}]}
    return {"repetition": repetition, "facts": {"code": code}} | keys


NOTED = [told(0), told(1), {"repetition": 2, "facts": {}}, told(3, "9", "9", left_out="other code")]


def test_a_whole_record_has_nothing_to_be_said() -> None:
    """What was left out because it became something else is no fault, nor is a process that told nothing."""
    assert [] == list(code_contradictions(PLAN, NOTED, ARCHIVED))
    assert [] == list(code_contradictions(PLAN, [{"repetition": 0, "facts": {}}], {}))


@pytest.mark.parametrize(
    ("noted", "archived", "said"),
    [
        (NOTED, ARCHIVED | {"compiled/base/rows-1.cubin": "2"}, ["no file has the SHA-256 of a kernel of arm base, 1"]),
        (NOTED, {**ARCHIVED, "compiled/again/rows-1.cubin": "2"}, ["of a kernel of arm again, 1"]),
        (
            [told(0), told(1, again="2", mode="layout")],
            ARCHIVED | {"compiled/again/rows-2.cubin": "2"},
            [
                "layout repetition 1: arm again became other kernels than in the calibrating process",
                "layout repetition 1: null again became other kernels than base",
            ],
        ),
        (
            NOTED,
            ARCHIVED | {"binaries/base.json": TEXT.replace("plain", "other")},
            ["base.json: does not name the file"],
        ),
        (NOTED, ARCHIVED | {"binaries/again.json": "no JSON"}, ["again.json: does not name the file and function"]),
        (
            NOTED,
            ARCHIVED | {"binaries/base.json": TEXT.replace("f" * 64, "e" * 64)},
            ["base.json: the file of arm base does not have a SHA-256 that plan.toml lists"],
        ),
    ],
    ids=["kernel", "kernel of the other arm", "other code", "other function", "damaged text", "other file"],
)
def test_each_contradiction_is_one_sentence(noted: list[Any], archived: dict[str, str], said: list[str]) -> None:
    """A kernel is looked for under its own arm: that another arm has it helps nothing."""
    found = list(code_contradictions(PLAN, noted, archived))
    assert len(said) == len(found)
    assert all(part in line for part, line in zip(said, found, strict=True))


@pytest.mark.parametrize("in_python", [True, False])
def test_the_page_says_what_no_road_sees_of_such_arms(in_python: bool) -> None:  # noqa: FBT001 - a case
    """Only where a record has any."""
    record = SimpleNamespace(downloads=(), plan=SimpleNamespace(python_arms=["idea"] if in_python else []))
    rows = checking(cast("RecordView", record)).roads.rows
    assert [row.head for row in rows] == [road for road, _, _ in ROADS]
    assert [in_python] * 3 == ["rms in Python" in str(row.cells[1]) or "such arms" in str(row.cells[1]) for row in rows]
