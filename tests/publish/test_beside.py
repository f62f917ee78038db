"""What no record speaks through is published too: files, figures of its own, and replications beside the record."""

from __future__ import annotations

import json
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

from reportgen.archive.notes import add_erratum, exclude
from reportgen.model.record import Event
from reportgen.publish.attempt_tables import events, resumed
from reportgen.publish.build import build
from reportgen.publish.cache import Cache
from reportgen.publish.check import check
from reportgen.publish.gather import Gathered
from reportgen.publish.replications import replications
from reportgen.publish.verification import verify_path
from tests.factories import RATIOS, STARTED, make_experiment, make_plan, sealed_attempt
from tests.publish.conftest import Built
from tests.publish.site_lab import REPORT, make_lab


class Texts(HTMLParser):
    """Collects the text of a page as a browser reads it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text = ""
        self.feed(html)

    def handle_data(self, data: str) -> None:
        """Note text."""
        self.text += data


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Build a lab without a first page: one report, a record that left a repetition out, a replication that differs, two excluded attempts."""
    project = make_lab(tmp_path_factory.mktemp("lab"), {"report.md": REPORT}, measured=False)
    plan = make_plan(make_experiment())
    first = sealed_attempt(project.runs, plan=plan, noise=0.0, repetitions=13, left_out={4: "throttled"})
    add_erratum(first.path, "the title names the wrong <shape>")
    later = {"started": STARTED + timedelta(hours=1)}
    sealed_attempt(project.runs, plan=plan, noise=0.0, ratios=RATIOS | {"candidate": 0.90}, header=later)
    last = {"started": STARTED + timedelta(hours=2)}
    noisy = sealed_attempt(project.runs, plan=plan, noise=0.0, ratios=RATIOS | {"candidate": 0.80}, header=last)
    exclude(noisy.path, "too noisy")
    idle = {"started": STARTED + timedelta(hours=3)}
    slow = sealed_attempt(project.runs, plan=plan, noise=0.0, ratios=RATIOS | {"candidate": 1.2}, header=idle)
    exclude(slow.path, "the fan was unplugged.")
    report = build(project, project.root / "public", strict=True)
    assert ((), ()) == (report.problems, report.warnings)
    return Built(project, project.root / "public")


def page_of(lab: Built, hour: int) -> str:
    """Read the page of the attempt that began that many hours after the first."""
    return next(lab.out.glob(f"records/sample/*/attempts/20260301T{12 + hour}*/index.html")).read_text("utf-8")


def test_a_lab_without_a_first_page_gets_one_that_lists_its_studies(lab: Built) -> None:
    """One report and one record are enough for a strict build."""
    home = lab.page("")
    assert "<h1>A lab</h1>" in home
    assert 'href="./report/"' in home
    assert "earns its place everywhere tested" in home


def test_what_is_written_and_no_study_is_listed_on_the_default_page(tmp_path: Path) -> None:
    """A note of a lab that has measured nothing can be reached."""
    note = REPORT.split("{{", maxsplit=1)[0].replace('"report"', '"note"').replace('records = ["sample"]\n', "")
    project = make_lab(tmp_path / "lab", {"note.md": note}, measured=False)
    assert () == check(project).problems
    assert build(project, tmp_path / "out", strict=True).pages
    home = (tmp_path / "out" / "index.html").read_text("utf-8")
    assert "<script>" not in home
    assert 'href="./report/"' in home


def test_a_build_that_refuses_says_that_nothing_was_written(tmp_path: Path) -> None:
    """The caller need not look into the folder."""
    project = make_lab(tmp_path / "lab", {"report.md": REPORT}, measured=False)
    refused = build(project, tmp_path / "out", strict=True)
    assert (True, True, False) == (refused.nothing_written, refused.failed, (tmp_path / "out").exists())
    assert not build(project, tmp_path / "out", strict=False).nothing_written
    assert check(project).nothing_written


def test_an_excluded_attempt_shows_its_own_verdicts_and_says_that_nothing_uses_them(lab: Built) -> None:
    """Its rows say -20%, and so does its page, under a heading of its own; the record's page never does."""
    text = Texts(page_of(lab, 2)).text
    assert "excluded: too noisy" in text
    assert text.index("Shown, not used") < text.index("\N{MINUS SIGN}20.00%")
    assert "\N{MINUS SIGN}20.00%" not in next(lab.out.glob("records/sample/*/index.html")).read_text("utf-8")
    assert "Shown, not used" not in page_of(lab, 0)
    assert "status and the reason" in text
    assert "this one came later" in Texts(page_of(lab, 1)).text


def test_replications_stand_beside_the_record_each_for_itself(lab: Built) -> None:
    """A column each: -5% in the record, -10% in the replication, which leads to the page that derives it."""
    html = next(lab.out.glob("records/sample/*/index.html")).read_text("utf-8")
    beside = html[html.index("Replications: cache = same-set") :]
    row = beside[beside.index("<code>candidate</code>") :].split("</tr>")[0]
    assert row.index("\N{MINUS SIGN}5.00%") < row.index("\N{MINUS SIGN}10.00%")
    assert "attempts/20260301T130000Z" in row


def test_many_replications_stand_below_one_another(lab: Built) -> None:
    """A hundred nights side by side would be read by nobody: the record first, then a row each."""
    library = Gathered(lab.project, Cache(lab.project.root / ".cache")).library
    record = library.records[0]
    crowd = msgspec.structs.replace(record, replications=record.replications * 5)
    table = replications(crowd, library)[0]
    assert ["candidate", "control"] == sorted({column.text for column in table.columns})
    assert ["this record", *["20260301T130000Z-fake-" + record.slug] * 5] == [row.head.text for row in table.rows]
    place = next(
        at for at, one in enumerate(table.columns) if (one.text, one.sense) == ("candidate", "against incumbent")
    )
    assert ["\N{MINUS SIGN}5.00%", "\N{MINUS SIGN}10.00%"] == [row.cells[place].text for row in table.rows[:2]]


@pytest.mark.parametrize("page", ["report/", "record"])
def test_a_report_and_its_record_say_what_was_excluded_and_the_verdicts_with_and_without(lab: Built, page: str) -> None:
    """A repetition left out, two attempts that a note excludes, an erratum; each leads to where the figures stand."""
    (record,) = lab.out.glob("records/sample/*/index.html")
    html = lab.page(page) if page == "report/" else record.read_text("utf-8")
    text = Texts(html).text
    assert "1 repetition left out; with what was left out: 6 verdicts, each the same. with and without" in text
    assert "is excluded (too noisy); by itself: 6 verdicts, each the same. what it says" in text
    assert "is excluded (the fan was unplugged); by itself: another verdict in 4 of 6: candidate against " in text
    assert "slower instead of faster" in text
    assert "Erratum of" in text
    assert "the title names the wrong <shape>" in text
    for fragment in (f"records/sample/{record.parent.name}/#left-out", "T140000Z", "T150000Z", "/#notes"):
        assert fragment in html, fragment


def test_files_of_attempts_beside_the_records_are_published_and_verified(lab: Built) -> None:
    """The index lists them apart, each page links them, and a changed byte is found."""
    index = json.loads((lab.out / "data" / "index.json").read_text("utf-8"))
    assert ["sample"] == [record["experiment"] for record in index["records"]]
    assert ["scored", "excluded", "excluded"] == [one["status"] for one in index["other_attempts"]]
    paths = [file["path"] for one in index["other_attempts"] for file in one["files"]]
    assert {"batches.parquet", "SHA256SUMS", "manifest.json"} <= {Path(path).name for path in paths}
    assert all((lab.out / path).is_file() for path in paths)
    assert f"/{paths[0]}" in page_of(lab, 1)
    found = verify_path(lab.out)
    assert ((), 5) == (found.findings, len(found.checked))
    spoilt = lab.out / next(path for path in paths if path.endswith("checks.parquet"))
    whole = spoilt.read_bytes()
    spoilt.write_bytes(whole + b"x")
    findings = verify_path(lab.out).findings
    spoilt.write_bytes(whole)
    assert any("checks.parquet" in line for line in findings)


def test_the_journal_of_an_open_attempt_is_published(built: Built) -> None:
    """What was measured before the interruption can be had, and the figures of its whole repetitions are shown."""
    index = json.loads((built.out / "data" / "index.json").read_text("utf-8"))
    opened = next(one for one in index["other_attempts"] if one["status"] == "aborted")
    assert any("journal" in file["path"] for file in opened["files"])
    assert "Shown, not used" in built.page(opened["page"])
    assert () == verify_path(built.out).findings


def test_events_leave_out_what_is_empty_and_names_keep_their_underscores(lab: Built) -> None:
    """A good repetition is its number; a fixture is named as in the tables; a resume is said."""
    library = Gathered(lab.project, Cache(lab.project.root / ".cache")).library
    attempt = library.all_attempts()[0]
    told = [
        Event(at="2026-03-01T12:00:00Z", event="calibrated", facts={"replays": {"weights=beyond_l2": 7}}),
        Event(at="2026-03-01T12:00:01Z", event="repetition", facts={"number": 1, "left_out": "", "replaces": None}),
        Event(
            at="2026-03-01T12:00:02Z", event="repetition", facts={"number": 2, "left_out": "foreign", "replaces": None}
        ),
        Event(at="2026-03-01T12:00:03Z", event="resumed", facts={}),
    ]
    made = msgspec.structs.replace(attempt, events=told)
    assert ["replays weights=beyond_l2: 7", "number: 1", "left_out: foreign; number: 2", ""] == [
        row.cells[1].text for row in events(made).rows
    ]
    assert "once, after 1 of 12 repetitions" == resumed(made)
    assert "" == resumed(attempt)


def test_a_derivation_says_which_rows_it_is_made_of(lab: Built) -> None:
    """Whoever recomputes a comparison filters these."""
    text = Texts(next(lab.out.glob("records/sample/*/index.html")).read_text("utf-8")).text
    assert (
        "batches.csv: mode = process, warmup = false, tag empty, arm in {candidate, incumbent}, fixture with cache=same-set"
    ) in text


@pytest.mark.parametrize(("title", "stop"), [("Do they pay?", "pay? 2026"), ("They pay", "pay. 2026")])
def test_a_citation_has_one_stop_after_the_title(tmp_path: Path, title: str, stop: str) -> None:
    """A question keeps its own."""
    note = f'+++\ntitle = "{title}"\naddress = "a/"\nkind = "note"\nsummary = "s"\ndate = 2026-03-02\n+++\n\nText.\n'
    project = make_lab(tmp_path / "lab", {"note.md": note}, measured=False)
    build(project, tmp_path / "out", strict=True)
    assert stop in (tmp_path / "out" / "a" / "index.html").read_text("utf-8")
