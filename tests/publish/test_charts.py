"""Charts are drawn at build time, the same everywhere, with words for those who cannot see them."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

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


def test_an_interval_stands_at_the_pixels_of_its_ends() -> None:
    """By hand: 0 to -10 and 6 % more on either side, so -10.6 to 0.6 on pixels 10 to 370; row 1 has its marks at 63, row 2 at 103."""
    rows = [
        IntervalRow("a", "", "faster", -10.0, -5.0, -8.0, -7.5),
        IntervalRow("b", "", "slower", None, None, 0.0, None),
    ]
    drawn = charts.draw(IntervalChart(*WORDS, rows, []))
    faster, slower = (
        re.findall(rf'--chart-{tone},#[^"]*" stroke-width="([^"]*)"[^>]* d="([^"]*)"', drawn)
        for tone in ("faster", "slower")
    )

    def at(change: float) -> str:
        return f"{10 + (change + 10.6) / 11.2 * 360:.1f}"

    assert [("3", f"M{at(-10)} 63H190"), ("1.5", "M109.6 55V71"), ("9.4", f"M{at(-8)} 63h.01")] == faster
    assert [("9.4", "M350.7 103h.01")] == slower
    assert ("29.3", "190", "93.6", "350.7") == tuple(at(change).removesuffix(".0") for change in (-10, -5, -8, 0))


def test_a_ring_a_fixture_and_the_headline_across_them() -> None:
    """By hand: -4 to 0 and 6 % of 4 either side are -4.24 to 0.24 on 360 pixels; rings step aside by 3 pixels in turn."""
    drawn = charts.draw(StripChart(*WORDS, [StripRow("a", "", "faster", [-4.0, -2.0], -3.0)], []))
    rings = re.findall(r"M([\d.]+) ([\d.]+)a3.4 3.4", drawn)
    assert [("25.9", "60"), ("186.6", "63")] == rings
    assert "M109.6 54V72" in drawn
    assert ["25.9", "186.6", "109.6"] == [
        f"{10 + (change + 4.24) / 4.48 * 360 - off:.1f}" for change, off in ((-4, 3.4), (-2, 3.4), (-3, 0))
    ]


def test_processes_stand_in_their_order_around_the_estimate() -> None:
    """By hand: 3 places on 360 pixels, the farthest at 20 / 1.1 = 18.2 pixels from the middle at 40; the one missing leaves its place empty."""
    row = ProcessRow("a", "", "faster", -3.0, [-2.0, None, -3.5])
    drawn = charts.draw(ProcessChart(*WORDS, [row]))
    assert "M70 21.8h.01M310 49.1h.01" in drawn
    assert "M70 21.8L310 49.1" in drawn


def test_what_is_apart_does_not_stretch_the_axis_and_is_said_by_an_arrow() -> None:
    """By hand: without the ceiling -4 to 0 and 6 % of 4 either side are -4.24 to 0.24 on pixels 10 to 370; the ceiling lies to the left of that."""
    idea = IntervalRow("a", "", "faster", -4.0, -2.0, -3.0, -3.0)
    ceiling = IntervalRow("b", "−60.00%", "slower", -62.0, -58.5, -60.0, -60.0, apart=True)
    chart = IntervalChart(*WORDS, [idea, ceiling], [])
    drawn = charts.draw(chart)
    assert "M29.3 63H190" in drawn
    assert "M10 103L19 97V109z" in drawn
    assert ">−62.00% to −58.50%</text>" in drawn
    assert charts.is_cut(chart)
    near = IntervalChart(*WORDS, [idea, IntervalRow("b", "", "slower", -6.0, -5.0, -5.5, -5.5, apart=True)], [])
    assert not charts.is_cut(near)
    assert not charts.is_cut(IntervalChart(*WORDS, [ceiling], []))


def test_an_interval_that_leaves_the_axis_is_drawn_up_to_its_end() -> None:
    """By hand: the same axis; from -62 to -2 it is there from its left end on to pixel 190."""
    idea = IntervalRow("a", "", "faster", -4.0, -2.0, -3.0, -3.0)
    drawn = charts.draw(
        IntervalChart(*WORDS, [idea, IntervalRow("b", "", "slower", -62.0, -2.0, -30.0, -30.0, apart=True)], [])
    )
    assert "M10 103H190" in drawn
    assert ">−62.00% to −2.00%</text>" in drawn


def test_fixtures_beyond_the_axis_are_counted() -> None:
    """Two of three lie there, and no ring is drawn for them."""
    rows = [
        StripRow("a", "", "faster", [-4.0, 0.0], -2.0),
        StripRow("b", "", "slower", [-3.0, 40.0, 50.0], 40.0, apart=True),
    ]
    chart = StripChart(*WORDS, rows, [])
    drawn = charts.draw(chart)
    assert charts.is_cut(chart)
    assert "M370 103L361 97V109z" in drawn
    assert ">2 of 3 fixtures</text>" in drawn
    assert 3 == drawn.count("a3.4 3.4 0 1 0 6.8 0")
