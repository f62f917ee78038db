"""Charts of whole records: what they take from a record, where they put it, what they say, and what they refuse."""

from __future__ import annotations

import csv
import io
import re
from itertools import pairwise
from types import SimpleNamespace
from typing import cast
from xml.etree import ElementTree as ET

import msgspec
import pandas as pd
import pytest

from reportgen.archive.load import list_attempts
from reportgen.archive.select import records
from reportgen.errors import InputError
from reportgen.publish import (
    bandwidth,
    chart_files,
    drawing,
    lookup,
    panels,
    reading,
    record_figures,
    roofline,
    sweep_charts,
    timeline,
)
from reportgen.publish.drawing import AnyChart
from reportgen.publish.library import Library
from reportgen.publish.moments import MOST, moments
from reportgen.publish.panels import Panel, PanelsChart, Point, Series
from reportgen.publish.roofline import RoofArm, RooflineChart
from reportgen.publish.scales import Linear, Logarithmic, decimals
from reportgen.publish.timeline import TimelineChart
from reportgen.publish.view import Moment, RecordView
from reportgen.scoring import score
from tests.factories import make_experiment, make_plan, sealed_attempt

WORDS = ("c-x", "Title", "Words.")


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> RecordView:
    """Score a simulated sweep without noise: two formats, four numbers of tokens, a candidate at 0.95 of the incumbent."""
    runs = tmp_path_factory.mktemp("runs")
    axes = {"format": ["Q4_K", "Q6_K"], "tokens": [512, 1024, 1100, 2048]}
    sealed_attempt(runs, plan=make_plan(make_experiment(axes=axes, slicing=["format"])), noise=0.0)
    (found,) = records(list_attempts(runs))
    view = reading.view(found.attempts[0], "", "")
    sizes = {one.name: 1000 * int(one.name.rpartition("=")[2]) for one in found.plan.fixtures}
    return RecordView(
        experiment=found.name, slug=found.slug, address="records/sample/", current=True, plan=found.plan, result=score(found, []),
        attempts=[msgspec.structs.replace(view, moved_bytes=sizes)], replications=[],
    )  # fmt: skip


def rows_of(chart: AnyChart) -> list[dict[str, str]]:
    """Read a chart's CSV."""
    written = chart_files.to_csv(chart)
    assert written is not None
    return list(csv.DictReader(io.StringIO(written.decode())))


def test_a_sweep_has_a_panel_a_slice_and_a_point_a_fixture_with_its_interval(record: RecordView) -> None:
    """Panels are named by what differs; the words, the points and the CSV hold the record's ratios."""
    chart = sweep_charts.sweep(record, lookup.slices(record), "tokens", "incumbent", ["candidate", "control"])
    assert ["format = Q4_K", "format = Q6_K"] == [panel.name for panel in chart.panels]
    candidate = next(one for one in chart.panels[0].series if one.name == "candidate")
    assert [512, 1024, 1100, 2048] == [point.at for point in candidate.points]
    assert [-5.0] * 12 == pytest.approx(
        [end for one in candidate.points for end in (one.change, one.low, one.high) if end]
    )
    assert "candidate, format = Q4_K: ↓\N{NO-BREAK SPACE}faster, from −5.00% at tokens" in chart.description
    rows = [row for row in rows_of(chart) if row["series"] == "candidate"]
    assert [("format = Q6_K", "2048.0")] == [(row["panel"], row["tokens"]) for row in rows][-1:]
    assert [-5.0] * 8 == pytest.approx([float(row["change_pct"]) for row in rows])


def test_a_sweep_refuses_what_is_no_line(record: RecordView) -> None:
    """An axis that is missing or no number, arms that nobody compared, several fixtures at one place."""
    slices = lookup.slices(record)
    with pytest.raises(InputError, match="no axis of numbers 'format'"):
        sweep_charts.sweep(record, slices, "format", "incumbent", ["candidate"])
    with pytest.raises(InputError, match="compares none of floor with 'incumbent'"):
        sweep_charts.sweep(record, slices, "tokens", "incumbent", ["floor"])
    whole = [msgspec.structs.replace(slices[0], values={}, name="all")]
    joined = [
        msgspec.structs.replace(one, slice="all", cells=[*one.cells, *one.cells])
        for one in record.result.comparisons[:1]
    ]
    odd = msgspec.structs.replace(record, result=msgspec.structs.replace(record.result, comparisons=joined))
    with pytest.raises(InputError, match="several fixtures of one value"):
        sweep_charts.sweep(odd, whole, "tokens", joined[0].baseline, [joined[0].arm])


def test_panels_put_points_where_they_are_by_hand() -> None:
    """One panel: 0 to -10 % and 0.6 either side on 84 pixels below the heads at 33; places 0 and 10 on pixels 58 to 360."""
    series = Series("a", "a", "dot", "faster", [Point(0, -10.0, -10.0, 0.0), Point(10, 0.0)])
    drawn = panels.draw(PanelsChart(*WORDS, [Panel("p", [series], 1.0)], "tokens", "band"))
    # Above no change stands the band: 1 to -10, and 6 % of 11 either side, are 1.66 to -10.66 on pixels 33 to 117.
    up = {change: f"{117 - (change + 10.66) / 12.32 * 84:.1f}".removesuffix(".0") for change in (-10, 0, 1, -1)}
    assert f"M58 {up[-10]}L360 {up[0]}" in drawn
    assert f"M58 {up[-10]}V{up[0]}" in drawn
    assert f"M48 {up[1]}H370V{up[-1]}H48z" in drawn
    assert f"M58 {up[-10]}h.01M360 {up[0]}h.01" in drawn


def test_names_too_long_for_a_panel_are_said_once_above_all(record: RecordView) -> None:
    """Each with its shape, over as many lines as it takes; panels then say the verdict alone, and none loses its end."""
    long = {
        "candidate": "decode_once_and_side_by_side_and_sums_together_with_hoisted_scale",
        "control": "decode_once_as_a_whole",
    }
    said = [msgspec.structs.replace(one, arm=long.get(one.arm, one.arm)) for one in record.result.comparisons]
    renamed = msgspec.structs.replace(record, result=msgspec.structs.replace(record.result, comparisons=said))
    chart = sweep_charts.sweep(renamed, lookup.slices(record), "tokens", "incumbent", list(long.values()))
    assert set(long.values()) == set(chart.key.values())
    assert {"dot", "square"} == set(chart.key)
    assert {series.label for panel in chart.panels for series in panel.series} <= {
        "↓\N{NO-BREAK SPACE}faster",
        "=\N{NO-BREAK SPACE}equivalent",
    }
    drawn = re.sub(r"<desc.*?</desc>", "", panels.draw(chart))
    written = "".join(re.findall(r">([^<]*)</text>", drawn))
    assert all(name in written.replace(" ", "") for name in long.values())
    heads = [float(y) for y in re.findall(r'y="([0-9.]+)">format = ', drawn)]
    assert min(heads) > 9 + 15 * 3


def test_slots_have_a_series_a_pass(record: RecordView) -> None:
    """Six slots each; without noise no slot costs anything."""
    chart = sweep_charts.positions(record, lookup.slices(record)[:1])
    (panel,) = chart.panels
    assert ["first pass", "its mirror"] == [series.name for series in panel.series]
    assert [[1, 2, 3, 4, 5, 6]] * 2 == [[point.at for point in series.points] for series in panel.series]
    assert "first pass: 0.00% to 0.00%" in chart.description
    bare = msgspec.structs.replace(record, result=msgspec.structs.replace(record.result, positions=[]))
    with pytest.raises(InputError, match="no effects of slots"):
        sweep_charts.positions(bare, lookup.slices(record))


def batches(rows: list[tuple[int, int, str, float, str]]) -> pd.DataFrame:
    """Give scored rows: repetition, block, arm, nanoseconds, tag; a row a second, at 1000 MHz and 40 degrees."""
    columns = ["repetition", "block", "arm", "elapsed_ns", "tag"]
    found = pd.DataFrame(rows, columns=columns).assign(mode="process", group="main", fixture="f", launches=1)
    read = {
        "clock_mhz_before": 1000.0,
        "clock_mhz_after": 1000.0,
        "temperature_c_before": 40.0,
        "temperature_c_after": 42.0,
    }
    return found.assign(started_ns=[1_000_000_000 * place for place in range(len(rows))], **read)


def test_a_moment_is_a_block_beside_what_its_arms_usually_take() -> None:
    """By hand: arm a takes 100, 100, 110 and, left out, 400; its median of those that count is 100, so the third block is 10 % off."""
    rows = [
        (1, 1, "a", 100.0, ""),
        (1, 1, "b", 50.0, ""),
        (2, 1, "a", 100.0, ""),
        (3, 1, "a", 110.0, ""),
        (3, 1, "b", 60.0, ""),
    ]
    found = moments(batches([*rows, (4, 1, "a", 400.0, "throttled")]))
    assert [1, 2, 3, 4] == [one.repetition for one in found]
    # Of b the median of 50 and 60 is 55: block 1 holds 0 and -1/11, block 3 0.1 and 1/11.
    assert [-0.0454545, 0.0, 0.0954545, 3.0] == [one.off for one in found]
    assert [0.0931818, 0.0977273] == [found[2].low, found[2].high]
    assert [0.5, 2.0, 3.5, 5.0] == [one.at_s for one in found]
    assert [True, True, True, False] == [one.counts for one in found]
    assert {(1000.0, 41.0)} == {(one.clock_mhz, one.temperature_c) for one in found}
    assert [] == moments(batches(rows).assign(mode="layout"))


def test_a_long_attempt_has_a_moment_a_repetition() -> None:
    """More blocks than can be told apart are joined."""
    rows = [(place // 100, place, "a", 100.0, "") for place in range(MOST + 60)]
    assert [0, 1, 2] == [one.repetition for one in moments(batches(rows))]


def test_a_timeline_stands_on_minutes() -> None:
    """By hand: 0 and 60 s on pixels 58 to 366; what was left out is a cross, and lanes that nobody read are not there."""
    one = Moment(0.0, 1, 0.0, -0.01, 0.01, None, None, counts=True)
    lost = Moment(60.0, 2, 0.1, 0.1, 0.1, None, None, counts=False)
    drawn = timeline.draw(
        TimelineChart(*WORDS, [one, lost], None, ["0% to 10%", "not read", "not read"], "one mark a block")
    )
    up = {change: f"{116 - (change + 1.66) / 12.32 * 96:.1f}" for change in (0, 10, 1, -1)}
    assert f"M58 {up[0]}h.01" in drawn
    assert f"M58 {up[-1]}V{up[1]}" in drawn
    assert f"M363.4 {float(up[10]) - 2.6:.1f}l5.2 5.2" in drawn
    assert "clock" not in re.sub(r"<desc.*?</desc>", "", drawn)


def test_a_timeline_says_what_its_lanes_hold(record: RecordView) -> None:
    """From a record without noise."""
    chart = timeline.timeline(record, record.attempts[0])
    assert "Medians of a" in chart.description
    assert "from 0.00% to 0.00% of what an arm's batches usually take" in chart.description
    with pytest.raises(InputError, match="timed nothing"):
        timeline.timeline(record, msgspec.structs.replace(record.attempts[0], moments=[]))


def test_bytes_and_time_stand_on_logarithmic_scales_with_the_floor() -> None:
    """By hand: 1000 and 100,000 bytes with a quarter more room; at 1 byte/ns the floor is 800 to 125,000 ns."""
    arm = RoofArm("a", "a: 2.0 times the floor", "dot", "slower", [(1000.0, 2000.0), (100_000.0, 200_000.0)])
    drawn = roofline.draw(RooflineChart(*WORDS, [arm], 1.0, None, ["floor: 1 GB/s"]))
    along, up = Logarithmic(800, 125_000, 62, 370), Logarithmic(640, 250_000, 257, 27)
    assert f"M{along(1000):.1f} {up(2000):.1f}h.01M{along(100_000):.1f} {up(200_000):.1f}h.01" in drawn
    assert f"M62 {up(800):.1f}L370 {up(125_000):.1f}" in drawn
    assert ["75.6", "356.4"] == [f"{along(length):.1f}" for length in (1000, 100_000)]


def test_a_roofline_says_how_near_the_floor_an_arm_comes(record: RecordView) -> None:
    """By hand: the incumbent takes 200,000 ns everywhere; the floor of 512,000 to 2,048,000 bytes at 10.24 bytes/ns is 50,000 to 200,000."""
    (piece, _), ceiling = lookup.slices(record), bandwidth.Ceiling(10.24e9, "other", "f")
    chart = roofline.roofline(record, piece, ceiling, None)
    assert ["incumbent: 1.0 to 4.0 times the floor"] == [arm.label for arm in chart.arms]
    assert "floor: 10.2 GB/s; empty launch: 2.000 µs" in chart.description
    assert ["50000.0", "200000.0"] == [row["floor_ns"] for row in rows_of(chart)][::3]
    assert ["incumbent", "candidate"] == [
        one.name for one in roofline.roofline(record, piece, None, ["incumbent", "candidate"]).arms
    ]
    with pytest.raises(InputError, match="5 arms cannot be told apart"):
        roofline.roofline(record, piece, None, ["incumbent", "control", "candidate", "floor", "null_control"])
    unknown = msgspec.structs.replace(record, attempts=[msgspec.structs.replace(record.attempts[0], moved_bytes={})])
    with pytest.raises(InputError, match="are not known"):
        roofline.roofline(unknown, piece, ceiling, None)


def test_the_numbers_beside_a_roofline_lead_to_the_records_page(record: RecordView) -> None:
    """What the record holds, to its rows there; what the chart computes, to the row where it stands."""
    library = cast("Library", SimpleNamespace(draw=drawing.draw))
    (figure,) = record_figures.rooflines(
        record, lookup.slices(record)[:1], (library, "../"), ceiling=bandwidth.Ceiling(10.24e9, "other", "f"), mark="c"
    )
    assert figure.table is not None
    for row in figure.table.rows:
        of_record = [cell.href for cell in row.cells if cell.href != f"#{row.anchor}"]
        assert 0 < len(of_record) < len(row.cells)
        assert all(href.startswith("../records/sample/#t-") for href in of_record)


def test_arms_of_a_roofline_do_not_hide_each_other() -> None:
    """Two with the same bytes and nearly the same time stand six pixels apart."""
    arms = [RoofArm(name, name, "dot", tone, [(1000.0, 2000.0)]) for name, tone in (("a", "slower"), ("b", "faster"))]
    drawn = roofline.draw(RooflineChart(*WORDS, arms, None, None, []))
    places = [float(x) for x, y in re.findall(r"M([0-9.]+) ([0-9.]+)h.01", drawn) if float(y) > 42]
    assert [6.0] == [round(second - first, 1) for first, second in pairwise(places)]


def test_every_form_is_well_formed_and_named(record: RecordView) -> None:
    """Title and description first, and nothing outside the frame."""
    slices = lookup.slices(record)
    forms: list[AnyChart] = [
        sweep_charts.sweep(record, slices, "tokens", "incumbent", ["candidate"]),
        sweep_charts.positions(record, slices),
        timeline.timeline(record, record.attempts[0]),
        roofline.roofline(record, slices[0], None, None),
    ]
    for chart in forms:
        root = ET.fromstring(drawing.draw(chart))  # noqa: S314 - drawn here
        assert [chart.title, chart.description] == [root[0].text, root[1].text]
        for text in root.iter("{http://www.w3.org/2000/svg}text"):
            assert 0 <= float(text.attrib["x"]) <= float(root.attrib["width"])
            assert 0 <= float(text.attrib["y"]) <= float(root.attrib["height"])


def test_ticks_are_round_and_written_with_the_decimals_that_tell_them_apart() -> None:
    """By hand."""
    assert [-0.5, 0.0, 0.5, 1.0] == Linear(-0.7, 1.2, 0, 100).ticks()
    assert (1, 0, 2, 0) == tuple(map(decimals, ([0.0, 0.5], [0.0, 10.0], [0.0, 0.02], [7.0])))
    assert [1000.0, 10_000.0, 100_000.0] == Logarithmic(800, 125_000, 0, 1).ticks()
    assert [2.0, 5.0] == Logarithmic(1.5, 9, 0, 1).ticks()
    assert 50 == Logarithmic(1, 100, 0, 100)(10)
