"""Charts are drawn at build time, the same everywhere, with words for those who cannot see them."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest
from jsonschema.exceptions import ValidationError

from reportgen.publish import charts, svg
from reportgen.publish.chart_data import (
    Band,
    Chart,
    IntervalChart,
    IntervalRow,
    ProcessChart,
    ProcessRow,
    StripChart,
    StripRow,
)

BANDS = [Band(0.5, "margin ±0.50%"), Band(0.12, "noise floor ±0.12%")]
WORDS = ("c-x", 'Change <against> "b"', "Below 1 is less time & more.")
ALL: list[Chart] = [
    IntervalChart(
        *WORDS,
        [
            IntervalRow("hoist", "−3.10% faster", "faster", -3.3, -2.9, -3.1, -3.08),
            IntervalRow("broken", "invalid", "invalid", None, None, None, None),
        ],
        BANDS,
    ),
    StripChart(*WORDS, [StripRow("hoist", "−4% to −2%", "faster", [-4.0, -3.0, -2.0], -3.0)], BANDS),
    ProcessChart(*WORDS, [ProcessRow("hoist", "lag-1 +0.10", "faster", -3.05, [-3.0, None, -3.1])]),
]
NAMES = ["intervals", "strips", "processes"]


@pytest.mark.parametrize("chart", ALL, ids=NAMES)
def test_a_chart_has_title_and_description(chart: Chart) -> None:
    """Both are tied to the drawing, and escaped."""
    root = ET.fromstring(charts.draw(chart))  # noqa: S314 - drawn here
    title, description = root[0], root[1]
    assert ("img", "c-x-title c-x-desc") == (root.get("role"), root.get("aria-labelledby"))
    assert ('Change <against> "b"', "Below 1 is less time & more.") == (title.text, description.text)
    assert ["c-x-title", "c-x-desc"] == [title.get("id"), description.get("id")]


@pytest.mark.parametrize("chart", ALL, ids=NAMES)
def test_drawing_twice_gives_the_same_bytes_whatever_was_drawn_between(chart: Chart) -> None:
    """No counter and no identity leaks into a chart."""
    first = charts.draw(chart)
    for other in ALL:
        charts.draw(other)
    assert first == charts.draw(chart)


@pytest.mark.parametrize("chart", ALL, ids=NAMES)
def test_what_is_described_to_the_drawing_library_fits_its_schema(
    chart: Chart, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check that builds skip for speed."""
    plain = charts.draw(chart)
    monkeypatch.setattr(charts, "CHECK_SCHEMA", True)
    assert plain == charts.draw(chart)


def test_a_mark_that_the_schema_does_not_know_is_refused_by_that_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check can fail."""
    monkeypatch.setattr(charts, "CHECK_SCHEMA", True)
    with pytest.raises(ValidationError):
        charts.render([charts.layer("rule", [{"x": 1, "y": 2}], strokeWidth="thick")], 40)


@pytest.mark.parametrize("chart", ALL, ids=NAMES)
def test_colours_have_names_and_follow_light_and_dark(chart: Chart) -> None:
    """Every colour is a custom property; the file of its own sets both palettes."""
    drawn = charts.draw(chart)
    assert not re.search(r'(?:fill|stroke)="#', drawn)
    used = set(re.findall(r"--chart-([a-z]+)", drawn))
    assert used <= set(svg.LIGHT)
    assert set(svg.LIGHT) == set(svg.DARK)
    assert "prefers-color-scheme:dark" in svg.standalone(drawn)


def test_bands_and_zero_stand_in_the_chart_with_their_names() -> None:
    """The reader needs no legend."""
    drawn = charts.draw(ALL[0])
    for text in ("margin ±0.50%", "noise floor ±0.12%", ">0%<", "less time", "more time", "−3.10% faster"):
        assert text in drawn
    assert "--chart-noise" in drawn
    assert "--chart-margin" in drawn


def test_text_stays_where_it_is_put_whatever_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """No text is measured, so no machine's fonts move anything."""
    plain = charts.draw(ALL[0])
    monkeypatch.setattr(charts, "NORMAL", charts.NORMAL + 40)
    larger = charts.draw(ALL[0])
    moved = [re.findall(r"translate\(([\d.]+)", drawn) for drawn in (plain, larger)]
    assert plain != larger
    assert moved[0] == moved[1]
