"""Names of hosts and people in whatever place a file has them: gone from the copy, and nothing that is no name is touched."""

from __future__ import annotations

import json

import pytest

from reportgen.archive.importers.content import Content
from reportgen.archive.importers.identity import anonymous


def copied(text: str, name: str = "run.json") -> str:
    """Give the copy's text."""
    return anonymous(Content(name, text.encode()))[0].text


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("/home/jane", "/home/user-1"),
        ("/home/jane/bench (built)", "/home/user-1/bench (built)"),
        ("read(/home/jane)", "read(/home/user-1)"),
        ("/export/home/jane/x:y /Users/joe/y", "/export/home/user-1/x:y /Users/user-2/y"),
        ("C:\\Users\\Jane Doe\\bench.exe", "C:\\Users\\user-1\\bench.exe"),
        ("c:/users/jane/bench.exe", "c:/users/user-1/bench.exe"),
        ("mail jane.doe@example.org about it", "mail user-1 about it"),
        ("jane@box.lan:~/work$ make", "user-1@host-1:~/work$ make"),
        ("ran on big-box.lan.", "ran on big-box.lan."),
    ],
)
def test_a_place_that_holds_a_name_is_emptied_of_it(told: str, shown: str) -> None:
    """In JSON text, with its escapes."""
    assert shown == json.loads(copied(json.dumps({"command": told})))["command"]


@pytest.mark.parametrize(
    "told",
    [
        "lodash@4.17.21",
        "model@sha256",
        "a@b",
        "/homes/jane",
        "/home/",
        "user-1 of 3",
        "x.node",
        "usersort/1",
        "BM_user/8",
    ],
)
def test_what_is_no_name_stays(told: str) -> None:
    """Versions, tags, other folders, words that only begin as a key does."""
    assert told == json.loads(copied(json.dumps({"name": told})))["name"]


@pytest.mark.parametrize("key", ["host_name", "HostName", "node", "MACHINENAME", "fqdn", "computer_name"])
def test_a_host_with_dots_is_found_wherever_it_stands(key: str) -> None:
    """A short one might be a word of a benchmark, and goes where its key is alone."""
    text = json.dumps(
        {key: "big-box.lan", "name": "read big-box.lan:80 and not big-box.lans", "other": {"node": "gpu"}, "n": "gpu"}
    )
    found = json.loads(copied(text))
    assert "read host-1:80 and not big-box.lans" == found["name"]
    assert ("host-1", "gpu") == (found[key], found["n"])
    assert found["other"]["node"].startswith("host-")


def test_logs_and_tables_are_emptied_too() -> None:
    """A prompt before a table in Markdown; a column whose name has a space."""
    log = "jane@box:~$ ./llama-bench -m /home/jane/m.gguf\n\n| model | test | t/s |\n| - | - | - |\n| /home/jane/m.gguf | pp512 | 5.0 |\n"
    assert "jane" not in copied(log, "run.log")
    assert "box" not in copied(log, "run.log")
    table = "arm,fixture,repetition,time_ns,Host Name\na,f,1,5,box\n"
    assert "a,f,1,5,host-1\n" in copied(table, "t.csv")
