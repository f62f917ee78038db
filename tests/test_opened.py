"""Records as data frames, as tables for other places, and as a check that fails."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import reportgen
from reportgen import cli, machine
from reportgen.archive.importers.gathering import gather
from reportgen.archive.taking import take
from reportgen.errors import FindingError, InputError
from reportgen.model.imported import Told
from reportgen.publish import wording
from reportgen.verdict_tables import FORMATS, failures, wanted_failures, written
from tests.factories import sealed_attempt
from tests.publish.conftest import Built, built

__all__ = ["built"]  # the site that other tests share
ROOT = Path(__file__).resolve().parent.parent
AB = ROOT / "tests" / "data" / "importing" / "generic" / "made-up-ab.csv"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Archive the default attempt."""
    runs = tmp_path_factory.mktemp("lab") / "runs"
    sealed_attempt(runs)
    return runs


def test_frames_hold_what_the_archive_and_the_commands_say(runs: Path) -> None:
    """Rows with their origin, verdicts as `show --json` prints them, cells with both times."""
    record = reportgen.open_record(runs / "sample")
    attempt = record.attempts[0]
    assert len(attempt.batches) == len(record.batches)
    assert {attempt.id} == set(record.batches["attempt"])
    shown = record.verdicts().astype(object)
    assert machine.result(record.result)["comparisons"] == shown.where(shown.notna(), None).to_dict("records")
    faster = record.verdicts().query("arm == 'candidate' and baseline == 'incumbent'")
    assert ["faster", "faster"] == [str(one) for one in faster["verdict"]]
    ratios = record.ratios()
    one = ratios.query("arm == 'candidate' and baseline == 'incumbent'").iloc[0]
    assert one["ratio"] == pytest.approx(0.95, abs=0.002)
    assert one["low"] <= one["ratio"] <= one["high"]
    assert 12 == one["n"]
    assert "null_incumbent" in set(ratios["arm"])


def test_an_attempt_opens_by_itself_and_shows_in_a_notebook(runs: Path) -> None:
    """Its folder is enough."""
    attempt = next((runs / "sample").iterdir())
    opened = reportgen.open_record(attempt)
    assert attempt.name == opened.name
    html = opened._repr_html_()
    assert "<table" in html
    assert "candidate" in html
    assert "Time ratio arm / baseline: below 1 is less time." in html
    assert f"OpenRecord({attempt.name!r}, {attempt.name})" == repr(opened)


def test_an_imported_attempt_opens_with_its_reasons(tmp_path: Path) -> None:
    """Benchmarks with what their figure is; no verdict, and what is lacking."""
    taken = take(tmp_path, gather([AB]).found, Told(), name="ab")
    record = reportgen.open_record(tmp_path / "ab")
    assert (True, taken.path.name) == (record.imported, record.name)
    assert [41750.0, 39750.0, 12625.0, 12625.0] == record.benchmarks()["figure"].tolist()
    assert {"ns"} == set(record.benchmarks()["unit"])
    html = record._repr_html_()
    assert html.index("Imported: measured elsewhere") < html.index("hash [cand]") < html.index("no null arm")
    verdict = record.verdicts().iloc[0]
    assert verdict["verdict"] is None
    assert "no null arm" in verdict["lacking"]
    assert [5, 5] == record.ratios()["pairs"].tolist()
    with pytest.raises(InputError, match="has no result of a record"):
        _ = record.result


@pytest.mark.parametrize("path", ["absent", "."])
def test_nothing_to_open_is_said_in_one_line(tmp_path: Path, path: str) -> None:
    """A folder without attempts, and none at all."""
    with pytest.raises(InputError, match=r"no such file or folder|holds no attempt"):
        reportgen.open_record(tmp_path / path)


def test_importing_the_package_loads_nothing() -> None:
    """Only asking for a record does."""
    program = (
        "import sys, reportgen; print(sorted({'pandas', 'numpy', 'msgspec'} & set(sys.modules)), reportgen.__version__)"
    )
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert f"[] {reportgen.__version__}" == ended.stdout.strip()


ROWS: list[dict[str, Any]] = [
    {"slice": "cache=rotating", "arm": "a|b", "baseline": "<c>", "headline": 0.9, "estimate": 0.91, "low": 0.89, "high": 0.91, "verdict": "faster", "reason": "beyond_margin", "promotion": "adopt"},
    {"slice": "cache=rotating", "arm": "d_e", "baseline": "c", "headline": None, "estimate": None, "low": None, "high": None, "verdict": "invalid", "reason": "no_noise_floor", "promotion": None},
]  # fmt: skip


def test_markdown_keeps_every_cell_in_its_cell() -> None:
    """Bars, tags and underlines of names are no markup."""
    text = written(ROWS, "markdown", "x")
    assert r"| cache = rotating | a\|b | \<c\> | -10.00% | -11.00% to -9.00% | faster | beyond margin | adopt |" in text
    assert r"| d\_e |" in text
    assert {9, 10} >= {len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines() if line.startswith("|")}


def test_latex_escapes_and_csv_keeps_ratios() -> None:
    """A percent sign is no comment, a minus sign no hyphen; a ratio is read back as it was."""
    assert r"a\textbar{}b & \textless{}c\textgreater{} & $-$10.00\% & $-$11.00\% to $-$9.00\% &" in written(
        ROWS, "latex", "x"
    )
    assert r"d\_e" in written(ROWS, "latex", "x")
    read = list(csv.DictReader(io.StringIO(written(ROWS, "csv", "x"))))
    assert ["0.9", ""] == [row["headline"] for row in read]
    with pytest.raises(InputError, match="there is no format 'word'"):
        written(ROWS, "word", "x")


def test_verdicts_that_fail_are_named() -> None:
    """And words that are none are refused."""
    assert ["d_e against c on cache = rotating is invalid"] == failures(ROWS, wanted_failures("slower, invalid"))
    assert [] == failures(ROWS, wanted_failures(""))
    with pytest.raises(InputError, match="'worse' is no verdict; verdicts are invalid, faster, slower"):
        wanted_failures("slower,worse")


def test_show_ends_with_one_for_a_verdict_that_fails(runs: Path) -> None:
    """After the table; a word that is no verdict is misuse."""
    for wanted, fault in (("slower,invalid", None), ("faster", FindingError), ("worse", InputError)):
        arguments = ["show", "sample", "--project", str(runs.parent), "--format", "markdown", "--fail-on", wanted]
        ended = CliRunner().invoke(cli.app, arguments)
        assert ("| verdict |" in ended.stdout) == (wanted != "worse")
        assert (fault or type(None)) is type(ended.exception)


def test_every_format_has_the_digits_of_the_page(built: Built) -> None:
    """Percent changes of the tables for people, ratios of the others, as the record's page shows them."""
    found = {form: called_in(built.project.root, "show", "sample", "--format", form) for form in FORMATS}
    page = built.page(next(built.out.glob("records/sample/*/")).relative_to(built.out).as_posix())
    rows = json.loads(found["json"])["comparisons"]
    read = list(csv.DictReader(io.StringIO(found["csv"])))
    assert [str(row["headline"]) for row in rows] == [row["headline"] for row in read]
    for row in rows:
        change, interval = wording.change(row["headline"]), wording.interval(row["low"], row["high"])
        assert change in page
        assert interval in page
        assert (
            f"| {wording.change(row['headline'], plain=True)} | {wording.interval(row['low'], row['high'], plain=True)} |"
            in found["markdown"]
        )
        assert wording.change(row["headline"], plain=True).replace("%", r"\%").replace("-", "$-$") in found["latex"]


def called_in(lab: Path, *arguments: str) -> str:
    """Run a command that must succeed."""
    ended = CliRunner().invoke(cli.app, [*arguments, "--project", str(lab)])
    assert 0 == ended.exit_code, ended.output
    return ended.stdout
