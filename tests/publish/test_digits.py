"""One figure, the same digits: in the terminal, on the report and the record's page, in chart and alternative text, in the files."""

from __future__ import annotations

import io
import json
import re
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
