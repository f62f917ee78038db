"""Whatever lies in a file: it is imported, or refused in one line; no other fault reaches anyone."""

from __future__ import annotations

import copy
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reportgen.archive.importers import registry
from reportgen.archive.importers.content import Content
from reportgen.errors import InputError
from reportgen.foreign import imported_source

FOLDER = Path(__file__).resolve().parent.parent / "data" / "importing"
SMALL_BYTES = 8_000
SEEDS = [
    path.read_bytes() for path in sorted(FOLDER.rglob("*")) if path.is_file() and path.stat().st_size < SMALL_BYTES
]
VALUES: list[Any] = [
    None, True, 0, -1, 1e308, math.nan, math.inf, "x", "NaN", "1,5", "", [], {}, [1], [[1]], [None], {"a": 1}, {"value": {}}, 10**400, "\ud800",
]  # fmt: skip


def read(data: bytes) -> None:
    """Read ``data`` as whatever it looks like, and sum it up."""
    said = ""
    try:
        source = registry.read(Content("some.file", data))
    except InputError as fault:
        said = fault.one_line()
    if said:
        assert (True, False) == (said.startswith("some.file"), "\n" in said)
        return
    summed = imported_source(source)
    assert summed["benchmarks"] == sum(summed["status"].values()) > 0
    json.dumps(summed["rows"])


@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(SEEDS), st.data())
def test_a_file_with_bytes_cut_repeated_or_changed(data: bytes, draw: st.DataObject) -> None:
    """Cut at any place, a piece doubled, a byte put in."""
    at = draw.draw(st.integers(0, max(0, len(data) - 1)))
    length = draw.draw(st.integers(0, 40))
    put = draw.draw(
        st.sampled_from([b"", b"\x00", b"\xff", b",", b'"', b"\n", b"{", b"1e999", b"-", b"NaN", b"null", b"9" * 400])
    )
    kept = draw.draw(st.sampled_from([b"", data[at : at + length], data[at:]]))
    read(data[:at] + put + kept + data[at + length :])


@pytest.mark.parametrize("data", [seed for seed in SEEDS if seed.lstrip()[:1] in (b"{", b"[")][::5])
@settings(max_examples=8, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(draw=st.data())
def test_json_with_a_value_of_another_kind(data: bytes, draw: st.DataObject) -> None:
    """Anywhere in the tree another value stands."""
    try:
        tree = json.loads(data)
    except ValueError:
        return
    node: Any = tree
    holder: Any = None
    key: Any = None
    for _ in range(draw.draw(st.integers(1, 6))):
        if not isinstance(node, dict | list) or not node:
            break
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        holder, key = node, draw.draw(st.sampled_from(keys))
        node = holder[key]
    if holder is not None:
        holder[key] = copy.deepcopy(draw.draw(st.sampled_from(VALUES)))
    read(json.dumps(tree).encode())


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b" ",
        b"[",
        b"{}",
        b"[]",
        b"[[]]",
        b"null",
        b"1",
        b'"x"',
        b"\x1f\x8b",
        b"\xff\xfe",
        b"a",
        b"a,b\n",
        b"[" * 100_000,
        b"|a|\n|-|\n",
    ],
)
def test_hardly_a_file(data: bytes) -> None:
    """The smallest, and the deepest."""
    read(data)
