"""An A/A study as readers meet it: figures with derivations, tables, charts in words, files that check, counts by mode."""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import msgspec
import pytest
from rich.console import Console

from reportgen import machine, terminal
from reportgen.archive.load import list_attempts
from reportgen.archive.sums import sums_of
from reportgen.errors import InputError
from reportgen.model.null_study import NullStudy
from reportgen.model.result import Result
from reportgen.publish import study_charts, study_drawing, study_files, study_values
from reportgen.publish.cache import Cache
from reportgen.publish.gather import Gathered
from reportgen.publish.imagined import NUMBER, Imagined
from reportgen.publish.study_lookup import kernel_named, modes_said
from reportgen.publish.study_values import Selection
from reportgen.publish.view import RecordView
from reportgen.scoring import score_attempts
from tests.factories import make_experiment
from tests.publish.conftest import Built
from tests.study_factory import HARNESS

KINDS = sorted(study_charts.KINDS)
SELECTIONS: list[tuple[Any, Selection]] = [
    ({**study_values.MODE, **study_values.SHOWN}, Selection(mode="placement")),
    (study_values.MODE, Selection(mode="layout")),
    (study_values.KERNEL, Selection(mode="process", kernel="copy")),
    (study_values.POWER, Selection(mode="process", effect=0.03)),
    (study_values.POWER, Selection(mode="layout", effect=0.002, kernel="tiny")),
    ({**study_values.HARNESS, **study_values.READS}, Selection(harness=HARNESS)),
    (study_values.HARNESS_KERNEL, Selection(harness=HARNESS, kernel="kernel=tiny")),
    (study_values.WHOLE, Selection()),
]


@pytest.fixture(scope="module")
def record(built_study: Built) -> RecordView:
    """Give the record of the study."""
    return Gathered(built_study.project, Cache(built_study.project.root / ".cache")).library.record("null_study")


@pytest.fixture(scope="module")
def study(record: RecordView) -> NullStudy:
    """Give its study."""
    assert record.result.null_study is not None
    return record.result.null_study


@pytest.fixture(scope="module")
def folder(built_study: Built, record: RecordView) -> Path:
    """Give the published record."""
    return built_study.out / record.address


@pytest.mark.parametrize(("names", "asked"), SELECTIONS)
def test_every_figure_has_its_full_value_and_a_place_on_the_records_page(
    built_study: Built, record: RecordView, names: Any, asked: Selection
) -> None:
    """The anchor of each stands there once."""
    page = built_study.page(record.address)
    for what in names:
        said = study_values.said(record, what, asked)
        assert said.text, what
        assert 1 == page.count(f'id="{said.anchor}"'), what


def test_a_figure_on_a_page_is_the_studys_own(built_study: Built, study: NullStudy) -> None:
    """Full precision in the markup, rounded in words."""
    page = built_study.page("repetition/")
    process, _, placement = study.modes
    share = placement.alarm_share
    assert f'<data value="{share!r}">{100 * (share or 0):.1f}%</data>' in page
    assert f'#s-process"><data value="{process.alarms}">{process.alarms}</data>' in page


@pytest.mark.parametrize(
    ("what", "asked", "said"),
    [
        ("luck", Selection(mode="process"), "no figure 'luck' of a mode"),
        ("power", Selection(), "no figure 'power' of a whole study"),
        ("power", Selection(effect=0.03), "needs a mode"),
        ("power", Selection(mode="process", effect=0.5), "no planted effect 0.5"),
        ("bias", Selection(mode="process", kernel="sort"), "no kernel 'sort'"),
        ("comparisons", Selection(mode="thread"), "no mode 'thread'"),
        ("ratios", Selection(harness="hourglass"), "no harness 'hourglass'"),
    ],
)
def test_what_is_not_there_is_told_in_a_line(record: RecordView, what: str, asked: Selection, said: str) -> None:
    """Unknown figures, modes, kernels, harnesses, effects."""
    with pytest.raises(InputError, match=re.escape(said)):
        study_values.said(record, what, asked)


def test_a_record_without_a_study_says_so(built: Built) -> None:
    """And its page has no section of that name."""
    library = Gathered(built.project, Cache(built.project.root / ".cache")).library
    sample = library.record("sample")
    with pytest.raises(InputError, match="holds no A/A study"):
        study_values.said(sample, "bar", Selection())
    assert "A/A study" not in built.page(sample.address)
    assert modes_said(make_experiment()) == ""


def test_a_kernel_is_named_by_its_value_or_its_slice(record: RecordView) -> None:
    """Both mean the slice."""
    assert ["kernel=copy"] * 2 == [kernel_named(record, name) for name in ("copy", "kernel=copy")]


@pytest.mark.parametrize("kind", KINDS)
def test_a_chart_is_the_same_each_time_and_has_named_colours(record: RecordView, kind: str) -> None:
    """And is titled and described."""
    chart = study_charts.KINDS[kind](record)
    drawn = study_drawing.draw(chart)
    assert drawn == study_drawing.draw(chart)
    assert not re.search(r'(?:fill|stroke)="#', drawn)
    root = ET.fromstring(drawn)  # noqa: S314 - drawn here
    assert [chart.title, chart.description] == [root[0].text, root[1].text]


def test_alarms_differ_from_the_rest_by_shape(record: RecordView, study: NullStudy) -> None:
    """Every false alarm is a stroke in its colour, every other error a dot."""
    drawn = study_drawing.draw(study_charts.errors(record))
    alarms = sum(line.alarms for line in study.modes)
    others = len(study.nulls) - alarms + len(study.harness_ratios)
    assert alarms > 20
    strokes, dots = (
        re.findall(rf'<path stroke="var\(--chart-{tone},[^>]*', drawn) for tone in ("slower", "equivalent")
    )
    assert [alarms] == [len(re.findall(r"M[\d.]+ [\d.]+V", path)) for path in strokes]
    assert [others] == [path.count("h.01") for path in dots]


def test_the_words_of_a_chart_state_what_was_found(record: RecordView, study: NullStudy) -> None:
    """Counts and sizes come from the data."""
    process, _, placement = study.modes
    said = study_charts.errors(record).description
    for mode in (process, placement):
        assert f"{mode.alarms} of {mode.comparisons} false alarms" in said
    assert f"{HARNESS}: {study.harnesses[0].ratios} ratios" in said
    shown = study_charts.one_placement(record)
    assert [True, False, False] == [row.alarm for row in shown.rows]
    assert "one placement: estimate" in shown.description
    power = study_charts.power(record)
    assert ["nothing planted", "0.2% more work", "1% more work", "3% more work"] == [row.name for row in power.rows]
    assert "3% more work: process 100%, layout 100% and placement" in power.description


def test_the_series_shown_is_the_placement_comparison_that_is_wrong_most_surely(study: NullStudy) -> None:
    """Chosen by rule, not by looks: no other interval lies farther from no change."""
    placement = [one for one in study.nulls if one.mode == "placement"]
    worst = max(placement, key=lambda one: max(one.low - 1, 1 - one.high))
    assert worst.alarm
    assert (worst.slice, worst.null, worst.block) == (study.shown[0].slice, study.shown[0].null, study.shown[0].block)
    assert {"placement", "process", "layout"} == {one.mode for one in study.shown}


def test_files_hold_the_study_row_by_row(folder: Path, study: NullStudy) -> None:
    """Numbers at full precision, truth as words, each file named in the README."""
    readme = (folder / "README.txt").read_text()
    for name in study_files.HOLDS:
        assert name in readme
    with (folder / study_files.NULLS).open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(study.nulls) == len(rows)
    assert [one.estimate for one in study.nulls] == [float(row["estimate"]) for row in rows]
    assert [str(one.alarm).lower() for one in study.nulls] == [row["alarm"] for row in rows]
    with (folder / study_files.HARNESSES).open(newline="") as file:
        figures = list(csv.DictReader(file))
    assert 4 * 3 * 4 == len(figures)
    assert [one.ratio for one in study.harness_ratios] == [float(row["ratio"]) for row in figures if row["ratio"]]
    with (folder / study_files.SHOWN).open(newline="") as file:
        assert 36 == len(list(csv.DictReader(file)))


def verified(folder: Path) -> list[str]:
    """Run the record's own program."""
    finished = subprocess.run([sys.executable, "verify.py"], cwd=folder, capture_output=True, text=True, check=False)
    return finished.stdout.splitlines()


def test_the_records_program_recomputes_the_study(folder: Path) -> None:
    """With nothing but Python."""
    assert ["every file and every number agrees"] == verified(folder)


def change_null(folder: Path) -> None:
    """Turn a false alarm of the table into none."""
    path = folder / study_files.NULLS
    path.write_text(path.read_text().replace("true", "false", 1))


def change_figure(folder: Path) -> None:
    """Make another harness look better."""
    path = folder / study_files.HARNESSES
    head, first, *rest = path.read_text().splitlines()
    path.write_text("\n".join([head, re.sub(r"\d+\.\d+", "1.0", first, count=1), *rest]) + "\n")


def drop_shown(folder: Path) -> None:
    """Leave a repetition out of the shown series."""
    path = folder / study_files.SHOWN
    path.write_text("\n".join(path.read_text().splitlines()[:-1]) + "\n")


def change_row(folder: Path) -> None:
    """Change one timed batch of mode placement."""
    path = folder / "batches.csv"
    lines = path.read_text().splitlines()
    at = next(place for place, line in enumerate(lines) if ",placement,main," in line and "null_1a" in line)
    cells = lines[at].split(",")
    cells[10] = str(int(cells[10]) * 2)
    lines[at] = ",".join(cells)
    path.write_text("\n".join(lines) + "\n")


def change_result(folder: Path) -> None:
    """Publish fewer alarms than there are."""
    path = folder / "results.json"
    path.write_text(re.sub(r'"bootstrap_alarms": \d+', '"bootstrap_alarms": 0', path.read_text()))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (change_null, f"{study_files.NULLS}:"),
        (change_figure, f"{study_files.HARNESSES}:2: time_ns"),
        (drop_shown, f"{study_files.SHOWN}: holds 35 rows"),
        (change_row, "null_study, nulls [placement"),
        (change_result, "null_study, modes [placement], bootstrap_alarms: published 0"),
    ],
)
def test_a_forgery_is_found_even_under_new_sums(
    folder: Path, tmp_path: Path, change: Callable[[Path], None], named: str
) -> None:
    """Hashes are made to fit; the numbers do not."""
    copy = Path(shutil.copytree(folder, tmp_path / "record"))
    change(copy)
    (copy / "SHA256SUMS").write_bytes(sums_of(copy))
    found = verified(copy)
    assert any(named in line for line in found), found[:5]


def test_pages_say_that_verdicts_rest_on_mode_process(built_study: Built, record: RecordView) -> None:
    """The record, its attempt and the written page."""
    said = modes_said(record.plan.experiment)
    assert "rest on mode process alone; layout, placement and stopwatch stand beside it" in said
    for address in (record.address, record.attempts[0].address, "repetition/"):
        assert said in built_study.page(address), address


def test_an_attempt_counts_by_mode(record: RecordView) -> None:
    """As many scored rows of each mode; a figure of the harness is one row."""
    modes = {one.mode: one for one in record.attempts[0].modes}
    assert ["process", "layout", "placement", HARNESS] == list(modes)
    arms = 2 + 4 + 4
    assert {24 * 4 * arms * 2} == {modes[name].batches for name in ("process", "layout", "placement")}
    assert (4, 4 * 4 * 3, 0, 0) == (
        modes[HARNESS].repetitions, modes[HARNESS].batches, modes[HARNESS].left_out, modes[HARNESS].warmup_batches,
    )  # fmt: skip


def test_show_lays_out_the_ways_of_measuring(built_study: Built, study: NullStudy) -> None:
    """A line a mode and harness in the terminal, the same for programs."""
    attempts = list_attempts(built_study.project.runs)
    result = score_attempts(attempts[0].plan, attempts)
    console = Console(width=110, record=True)
    with console.capture() as capture:
        console.print(terminal.result(result, attempts))
    text = capture.get()
    placement = study.modes[2]
    assert f"{placement.alarms} ({100 * (placement.alarm_share or 0):.1f}%)" in text
    assert re.search(rf"{HARNESS} +32 +no interval", text)
    assert "bar missed: comparisons" in text
    told = machine.result(result)["null_study"]
    assert [one.alarms for one in study.modes] == [one["alarms"] for one in told["modes"]]


def test_what_a_study_could_have_come_to_keeps_what_all_studies_keep(record: RecordView) -> None:
    """Claims are judged on such studies too: parts no larger than their whole, errors in order, and a bar that can be missed."""
    studies = [found for number in range(NUMBER) if (found := Imagined(record, number).view.result.null_study)]
    modes = [mode for study in studies for mode in study.modes]

    assert NUMBER == len(studies)
    assert all(one.alarms <= one.comparisons and one.kernels_beyond <= one.kernels for one in modes)
    assert all(one.alarm_share == one.alarms / one.comparisons for one in modes)
    assert all((one.error_median or 0) <= (one.error_p95 or 0) <= (one.error_widest or 0) for one in modes)
    assert {True, False} == {all(part.passes for part in study.bar) for study in studies}
    assert {True, False} == {line.found == line.comparisons for study in studies for line in study.power}


def test_a_result_reads_back_as_it_was_written(record: RecordView) -> None:
    """No figure changes its type on the way through JSON, so a kept result builds the same page."""
    again = msgspec.json.decode(msgspec.json.encode(record.result), type=Result)
    assert repr(record.result) == repr(again)
