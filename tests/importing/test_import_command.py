"""`reportgen import` as a user meets it: what it prints, archives and refuses, and how its pages say that nothing was measured here."""

from __future__ import annotations

import json
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reportgen import cli
from reportgen.errors import InputError
from reportgen.project import open_project
from reportgen.publish.build import build
from reportgen.publish.verification import verify_path

FOLDER = Path(__file__).resolve().parent.parent / "data" / "importing"
ODD = FOLDER / "tricky" / "pytest-odd-names.json"
LONG = "x" * 3000


def reportgen(lab: Path, *arguments: object) -> str:
    """Run a command in a lab and give what it prints.

    Raises
    ------
    InputError
        As the command does.
    """
    ended = CliRunner().invoke(cli.app, [*map(str, arguments), "--project", str(lab)], standalone_mode=True)
    if ended.exception is not None and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    return ended.stdout


def test_json_has_the_promised_keys(tmp_path: Path) -> None:
    """Counts, statuses and medians by name, with where the attempt lies."""
    said = json.loads(reportgen(tmp_path, "import", "auto", FOLDER / "tricky/gb-error-and-skip.json", "--json"))
    assert {"ok": 1, "skipped": 1, "error": 1} == said["status"]
    assert {"read": 4200.0, "write": None, "seek": None} == said["medians_ns"]
    assert ("google-benchmark", "v1.9.0", 3, 1) == tuple(
        said[key] for key in ("format", "version", "benchmarks", "raw_samples")
    )
    assert (tmp_path / "runs/gb-error-and-skip" / said["attempt"]["id"] / "manifest.json").is_file()


def test_a_folder_imports_what_is_sound_and_lists_the_rest(tmp_path: Path) -> None:
    """Each file left out with its reason; named files are all or nothing."""
    for name in ("gb-nonfinite.json", "empty.json", "llama-cut-off.jsonl", "hyperfine-exit-codes.json"):
        shutil.copy(FOLDER / "tricky" / name, tmp_path)
    said = json.loads(reportgen(tmp_path, "import", "auto", tmp_path, "--dry-run", "--json"))
    assert ["google-benchmark", "hyperfine"] == [one["format"] for one in said["sources"]]
    assert ["empty.json", "llama-cut-off.jsonl"] == [Path(one["path"]).name for one in said["left_out"]]
    assert ["is empty", "line 3: is no JSON"] == [
        one["reason"][: len("line 3: is no JSON")] for one in said["left_out"]
    ]
    assert not (tmp_path / "runs").exists()
    with pytest.raises(InputError, match=r"empty\.json: is empty"):
        reportgen(tmp_path, "import", "auto", tmp_path / "gb-nonfinite.json", tmp_path / "empty.json")
    assert not (tmp_path / "runs").exists()


def test_a_wrong_format_an_unknown_one_and_no_file_are_refused(tmp_path: Path) -> None:
    """In one line that says what would do."""
    for arguments, said in (
        (("hyperfine", ODD), "is no file of hyperfine: it looks like pytest-benchmark"),
        (("stopwatch", ODD), "there is no importer called 'stopwatch'; there are auto,"),
        (("auto", tmp_path / "absent"), "no such file"),
        (("auto", tmp_path), "holds nothing to import"),
    ):
        with pytest.raises(InputError, match=said):
            reportgen(tmp_path, "import", *arguments)


def test_attempts_and_show_say_imported(tmp_path: Path) -> None:
    """In the ledger, and above every figure."""
    reportgen(tmp_path, "import", "auto", FOLDER / "generic/made-up-ab.csv", "--as", "ab")
    assert "imported" in reportgen(tmp_path, "attempts")
    assert "imported" == json.loads(reportgen(tmp_path, "attempts", "--json"))[0]["kind"]
    shown = reportgen(tmp_path, "show", "ab")
    assert "Imported: measured elsewhere" in shown
    assert "no verdict: fewer than 6 pairs" in shown
    told = json.loads(reportgen(tmp_path, "show", "ab", "--json"))
    assert [None] == [one["verdict"] for one in told["comparisons"]]
    assert ("imported", 4) == (told["kind"], len(told["rows"]))


class _Text(HTMLParser):
    """Text of a page as a reader sees it, and its tags."""

    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []
        self.tags: set[str] = set()

    def handle_data(self, data: str) -> None:
        """Keep what is seen."""
        self.text.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - the parser's signature
        """Keep the name."""
        self.tags.add(tag)


def read(page: Path) -> _Text:
    """Parse a page."""
    parser = _Text()
    parser.feed(page.read_text("utf-8"))
    return parser


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Import files with odd and long names as ``odd`` and two formats as ``ab``; build the site twice."""
    root = tmp_path_factory.mktemp("lab")
    (root / "odd.csv").write_text(
        f'arm,fixture,repetition,time_ns\na,Copy,1,5\na,copy,1,9\na,"<img src=x> \'%#/\\",1,7\na,{LONG},1,8\n', "utf-8"
    )
    reportgen(root, "import", "auto", ODD, root / "odd.csv", "--as", "odd")
    reportgen(root, "import", "auto", FOLDER / "generic/made-up-ab.csv", FOLDER / "tricky/jmh-modes.json", "--as", "ab")
    for out in ("public", "again"):
        assert not build(open_project(root), root / out, strict=True).problems
    return root


def page_of(lab: Path, name: str) -> _Text:
    """Read the page of the one attempt that was imported under a name."""
    (attempt,) = (lab / "runs" / name).iterdir()
    return read(lab / "public" / "attempts" / attempt.name / "index.html")


def test_odd_and_long_names_are_safe_in_pages(lab: Path) -> None:
    """Quotes, backslashes, line breaks, tags, signs, 3,000 characters and two cases of one word: each is there, none breaks out."""
    page = page_of(lab, "odd")
    text = " ".join("".join(page.text).split())
    for name in (
        "test_it's[a]",
        "test_back\\slash\\",
        "test_two\\nlines",
        "test_</script><b>x",
        "test_β%20#?&",
        "<img src=x> '%#/\\",
        "Copy",
        "copy",
        "(3,000 characters)",
    ):
        assert name in text
    assert LONG not in text
    assert not {"b", "img"} & page.tags
    assert verify_path(lab / "public").ok


def test_pages_say_imported_and_why_no_verdict_stands(lab: Path) -> None:
    """On the attempt's page, in the ledger and in the index; the same archive gives the same bytes."""
    text = "".join(page_of(lab, "ab").text)
    for said in (
        "Imported: measured elsewhere",
        "imported: csv and jmh",
        "Not compared: no arm was named",
        "ops/us",
        "the score is not a number",
    ):
        assert said in text, said
    ledger = "".join(read(lab / "public/attempts/index.html").text)
    assert "IMPORTED" in ledger
    assert "Rows of kind imported were measured elsewhere" in ledger
    files = [path.relative_to(lab / "public") for path in (lab / "public").rglob("*") if path.is_file()]
    assert [] == [one for one in files if (lab / "public" / one).read_bytes() != (lab / "again" / one).read_bytes()]


def test_a_time_of_zero_and_arms_that_share_nothing_are_said_where_they_are_read(tmp_path: Path) -> None:
    """In the terminal as on the page: a figure below the clock is no speed, and silence is no comparison."""
    rows = [
        {"command": f"{tool} {at}", "parameters": {"tool": tool}, "times": [0.0, 0.0]} for at, tool in enumerate("ab")
    ]
    (tmp_path / "zero.json").write_text(json.dumps({"results": rows}), "utf-8")
    said = reportgen(tmp_path, "import", "hyperfine", tmp_path / "zero.json", "--arm-from", "tool")
    assert 2 == said.count("median of 2 values; less than its clock can tell, no ratio rests on it")
    assert "not compared: no benchmark of an arm is also one of the arm" in reportgen(tmp_path, "show", "zero")
