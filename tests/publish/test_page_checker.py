"""The button on a record's page, pressed in a real browser; what it finds, the record's program and the command find too."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

import pytest
from playwright.sync_api import Browser

from reportgen.archive import layout
from reportgen.archive.sums import sums_of
from reportgen.publish.server import serving
from reportgen.publish.verification import verify_path
from tests.publish.conftest import Built

MOST_BYTES = 10_000
SCRIPTS = ("check.js", "check-rules.js")


@pytest.fixture
def record(built: Built, tmp_path: Path) -> Path:
    """Copy the site, to be tampered with; give its record of ``sample``."""
    site = Path(shutil.copytree(built.out, tmp_path / "site"))
    return next((site / "records" / "sample").iterdir())


def pressed(browser: Browser, record: Path) -> tuple[str, list[str], list[list[str]]]:
    """Press the button of a record's page: the sentence it ends with, its findings, and its rows."""
    site = record.parents[2]
    with serving(site, port=0) as address, browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{address}{record.relative_to(site).as_posix()}/")
        page.get_by_role("button", name="Check this record in your browser").click()
        page.locator("#checker button:enabled").wait_for()
        told = "rows => rows.map(row => [...row.cells].map(cell => cell.innerText))"
        cells: list[list[str]] = page.eval_on_selector_all("#checker tbody tr", told)
        return page.inner_text("#checker p"), page.locator("#checker li").all_inner_texts(), cells


def other_roads(record: Path) -> tuple[list[str], list[str]]:
    """Give what verify.py and the command find in the same record."""
    done = subprocess.run([sys.executable, "-I", "verify.py"], capture_output=True, text=True, check=False, cwd=record)
    return done.stdout.splitlines()[:-1], list(verify_path(record).findings)


def altered(path: Path, pattern: str, change: Callable[[re.Match[str]], str]) -> None:
    """Change the first place in a file that fits."""
    text, found = re.subn(pattern, change, path.read_text("utf-8"), count=1, flags=re.MULTILINE)
    assert found == 1
    path.write_text(text, "utf-8")


def one_digit(match: re.Match[str]) -> str:
    """Give another last digit."""
    return f"{match[0][:-1]}{(int(match[0][-1]) + 1) % 10}"


TIMED = r'^[^,\n]*,[^,\n]*,process,main,"rows=\d+,cache=same-set",candidate,3,1,\d+,\d+,\d+(?=,\d+,false)'


def test_a_good_record_agrees_row_by_row(browser: Browser, record: Path) -> None:
    """Every comparison and every noise floor, in the page's own digits."""
    said, findings, rows = pressed(browser, record)
    assert said.startswith("Every file and every figure agrees: ")
    assert [] == findings
    assert {"agrees"} == {row[3] for row in rows}
    assert all(row[1] == row[2] for row in rows)
    assert "candidate against incumbent, cache=same-set" in [row[0] for row in rows]
    assert any(row[2].startswith("−5.00%; estimate −5.00%, ") and row[2].endswith("; faster") for row in rows)


def test_one_digit_of_a_row_is_caught_on_all_three_roads(browser: Browser, record: Path) -> None:
    """The sums are forged too: what was published does not follow from the rows any more."""
    altered(record / "batches.csv", TIMED, one_digit)
    (record / layout.SUMS).unlink()
    (record / "record.zip").unlink()
    pages = {path: path.read_bytes() for path in record.rglob("index.html")}
    for path in pages:
        path.unlink()
    (record / layout.SUMS).write_bytes(sums_of(record))
    for path, data in pages.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    said, findings, rows = pressed(browser, record)
    assert said.startswith("Not everything agrees")
    assert "batches.csv: does not have the SHA-256 that this page lists" in findings
    assert "batches.csv: does not have the SHA-256 listed in SHA256SUMS" not in findings
    assert "DIFFERS" in [row[3] for row in rows if row[0] == "candidate against incumbent, cache=same-set"]
    program, command = other_roads(record)
    assert any(line.startswith("results.json, comparisons [candidate ") for line in program)
    assert any(line.startswith("batches.csv:") and "sealed was" in line for line in command)


def test_one_digit_of_results_and_page_is_caught(browser: Browser, record: Path) -> None:
    """By hash and because it does not follow from the rows; on the page the full value behind a figure, and the figure as it is shown."""
    altered(record / "results.json", r'"headline": 0\.\d\d', one_digit)
    altered(
        record / "index.html", r'id="d-cache-same-set-candidate-vs-control".{0,400}?−5\.0', lambda m: m[0][:-1] + "1"
    )
    _, findings, rows = pressed(browser, record)
    assert ["results.json"] == sorted({line.split(":")[0] for line in findings})
    assert "results.json: does not have the SHA-256 that this page lists" in findings
    differing = {row[0]: row for row in rows if row[3] == "DIFFERS"}
    of_page = differing.pop("candidate against control, cache=same-set")
    assert of_page[1].startswith("−5.10%; ")
    assert of_page[2].startswith("−5.00%; ")
    assert 1 == len(differing), "the comparison whose result was altered"
    for found in other_roads(record):
        assert any(line.startswith("results.json, comparisons [") for line in found)


def test_one_digit_of_each_file_is_caught_on_all_three_roads(browser: Browser, record: Path) -> None:
    """Every file that the page lists is altered in one digit, or where it is no text in one byte."""
    page = (record / "index.html").read_text("utf-8")
    listed = [name for name in downloads_of(page) if name not in ("record.zip", "verify.py")]
    for name in listed:
        in_one_place(record / name)
    said, findings, _ = pressed(browser, record)
    program, command = other_roads(record)

    assert len(listed) > 20
    assert said.startswith("Not everything agrees")
    for name in listed:
        assert f"{name}: does not have the SHA-256 that this page lists" in findings
        for found in (program, command):
            assert any(name in line for line in found), name


def downloads_of(page: str) -> list[str]:
    """List the files of the record's own table of downloads."""
    table = page[page.index('class="files"') :]
    names = re.findall(r'<a href="([^"#?]+)"', table[: table.index("</table>")])
    return [unquote(name) for name in names]


def in_one_place(path: Path) -> None:
    """Give a text another last digit, and anything else another last byte."""
    data = path.read_bytes()
    digits = [at for at, byte in enumerate(data) if chr(byte).isdecimal()]
    at = digits[-1] if digits and b"\0" not in data else len(data) - 1
    other = str((int(chr(data[at])) + 1) % 10).encode() if chr(data[at]).isdecimal() else bytes([data[at] ^ 1])
    path.write_bytes(data[:at] + other + data[at + 1 :])


def test_a_lost_file_and_a_damaged_one_are_findings(browser: Browser, record: Path) -> None:
    """Whatever is wrong, a reader gets a sentence."""
    (record / "README.txt").unlink()
    (record / "results.json").write_text("{")
    said, findings, _ = pressed(browser, record)
    assert "README.txt: cannot be fetched (404)" in findings
    assert any(line.startswith("the record cannot be computed: ") for line in findings)
    assert said.startswith("Not everything agrees")


def test_without_scripts_there_is_no_button(browser: Browser, built: Built, address: str) -> None:
    """The page says how to check by hand."""
    place = next((built.out / "records" / "sample").iterdir()).relative_to(built.out).as_posix()
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{address}{place}/")
        assert 0 == page.get_by_role("button").count()
        assert "python3 verify.py" in page.inner_text("main")


def test_the_checker_is_light(built: Built) -> None:
    """Both of its files together, as they travel compressed."""
    assert sum(len(gzip.compress((built.out / "static" / name).read_bytes())) for name in SCRIPTS) < MOST_BYTES
