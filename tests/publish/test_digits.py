"""One figure, the same digits: in the terminal, on the report and the record's page, in chart and alternative text, in the files."""

from __future__ import annotations

import csv
import io
import json
import re
from statistics import mean, median
from typing import Any

import pytest
from rich.console import Console

from reportgen import terminal
from reportgen.archive.load import list_attempts
from reportgen.archive.select import find_record
from reportgen.publish import wording
from reportgen.scoring import score
from tests.publish.conftest import Built

JUDGED = [(arm, vs) for arm in ("candidate",) for vs in ("incumbent", "control")]


@pytest.fixture(scope="module")
def results(built: Built) -> dict[tuple[str, str], dict[str, Any]]:
    """Read the published results of one slice of the small lab's record."""
    path = next(built.out.glob("records/sample/*/results.json"))
    told = json.loads(path.read_text())["comparisons"]
    return {(one["arm"], one["baseline"]): one for one in told if one["slice"] == "cache=same-set"}


@pytest.fixture(scope="module")
def printed(built: Built) -> str:
    """Print the record as `show` does."""
    record = find_record(list_attempts(built.project.runs), "sample")
    written = io.StringIO()
    Console(file=written, width=200).print(terminal.result(score(record), record.attempts))
    return written.getvalue()


@pytest.mark.parametrize("pair", JUDGED)
def test_terminal_pages_charts_and_texts_say_the_same_digits(
    built: Built, results: dict[tuple[str, str], dict[str, Any]], printed: str, pair: tuple[str, str]
) -> None:
    """Headline and interval in the words of ``wording``; full values as results.json has them."""
    one = results[pair]
    change, ends = wording.change(one["headline"]), wording.interval(one["low"], one["high"])
    plain = f"{wording.change(one['headline'], plain=True)}"
    assert plain == change.replace(wording.MINUS, "-")
    assert plain in printed
    assert wording.interval(one["low"], one["high"], plain=True) in printed
    record = built.page(next(built.out.glob("records/sample/*/index.html")).parent.relative_to(built.out).as_posix())
    for page in (record, built.page("report/")):
        assert f'<data value="{one["headline"]!r}">{change}</data>' in page
        assert f'<data value="{one["low"]!r} {one["high"]!r}">{ends}</data>' in page
    chart = next(built.out.glob(f"figures/c-ratios-sample-*-cache-same-set-{pair[1]}.svg")).read_text("utf-8")
    description = re.search(r"<desc[^>]*>(.*?)</desc>", chart, re.DOTALL)
    assert description is not None
    assert f"{pair[0]} against {pair[1]}: {change} ({ends})" in description[1]
    assert change in chart.replace(description[0], "")


@pytest.mark.parametrize("pair", JUDGED)
def test_the_csv_of_the_rows_gives_the_same_digits(
    built: Built, results: dict[tuple[str, str], dict[str, Any]], printed: str, pair: tuple[str, str]
) -> None:
    """A reader's own few lines over batches.csv come to the headline that page, chart, words and terminal show."""
    path = next(built.out.glob("records/sample/*/batches.csv"))
    times: dict[tuple[str, str, str], list[float]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if (row["mode"], row["warmup"], row["tag"]) == ("process", "false", "") and "cache=same-set" in row[
                "fixture"
            ]:
                key = row["fixture"], row["repetition"], row["arm"]
                times.setdefault(key, []).append(int(row["elapsed_ns"]) / int(row["launches"]))
    ratios: dict[str, list[float]] = {}
    for (fixture, repetition, arm), both in times.items():
        if arm == pair[0]:
            ratios.setdefault(fixture, []).append(mean(both) / mean(times[fixture, repetition, pair[1]]))
    headline = median(median(of_fixture) for of_fixture in ratios.values())

    assert results[pair]["headline"] == pytest.approx(headline, abs=1e-12)
    assert wording.change(headline, plain=True) in printed
    assert f">{wording.change(headline)}</data>" in built.page("report/")


def test_the_csv_of_a_study_holds_the_values_that_its_pages_say(built_study: Built) -> None:
    """To the last digit, and the page's words are those of the value."""
    page = built_study.page("repetition/")
    path = next(built_study.out.glob("records/null_study/*/null_comparisons.csv"))
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    said = re.findall(r'<data value="([\d.]+)">([^<]+)</data></a>\s+\(<a', page)
    (value, text) = next((value, text) for value, text in said if text.endswith("%"))
    (row,) = [one for one in rows if one["mode"] == "placement" and one["estimate"] == value]

    assert wording.change(float(row["estimate"])) == text
    for end in ("low", "high"):
        assert f'<data value="{row[end]}">{wording.change(float(row[end]))}</data>' in page
