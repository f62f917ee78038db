"""Bindings say the known numbers of a record, and lead to where they are derived."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reportgen.publish.bindings import Bindings
from reportgen.publish.cache import Cache
from reportgen.publish.gather import Gathered
from reportgen.publish.library import Library
from reportgen.publish.markdown import SourcePage, fill, read_page
from reportgen.publish.problems import Problem
from reportgen.publish.templates import Theme
from reportgen.publish.theme_folders import default_theme
from tests.publish.conftest import Built
from tests.publish.site_lab import PRETEND

FRONT = '+++\ntitle = "A"\nkind = "report"\nsummary = "B"\ndate = 2026-01-02\naddress = "a/b/"\nrecords = [{}]\n+++\n'
Say = Callable[..., tuple[str, list[Problem]]]


@pytest.fixture(scope="module")
def library(built: Built) -> Library:
    """Gather the small lab's records: candidate at 0.95 of the incumbent's time, without any noise."""
    return Gathered(built.project, Cache(built.project.root / ".cache")).library


@pytest.fixture
def say(library: Library, tmp_path: Path) -> Say:
    """Evaluate one expression as a page with one record does."""

    def evaluate(expression: str, records: str = '"sample"') -> tuple[str, list[Problem]]:
        (tmp_path / "page.md").write_text(FRONT.format(records) + "\n{{ " + expression + " }}\n", "utf-8")
        page: SourcePage = read_page(tmp_path / "page.md", "site/page.md")
        bindings = Bindings(page, library, Theme([default_theme()]))
        text, faults = fill(page, bindings.functions())
        return text.strip(), bindings.problems + faults

    return evaluate


SAME: dict[str, Any] = {"cache": "same-set"}


@pytest.mark.parametrize(
    ("expression", "value", "text"),
    [
        (f'change("candidate", where={SAME})', "0.95", "−5.00%"),
        (f'change("candidate", vs="control", where={SAME}, figure="estimate")', "0.95", "−5.00%"),
        (f'change("sample:candidate", vs="control", where={SAME})', "0.95", "−5.00%"),
        (f'change("control", where={SAME})', "1.0", "0.00%"),
        ('count("batches")', "864", "864"),
        ('saving("pays", "candidate", at={"cache": "rotating", "rows": 256})', "0.050000000000000044", "5.00%"),
        ('gate("pays", where={"cache": "rotating"})', "0.050000000000000044", "5.00%"),
        ('gate("pays", "candidate", {"cache": "rotating"}, figure="threshold")', "0.02", "2.00%"),
        ('count("fixtures")', "6", "6"),
        ('count("checks", "sample")', "720", "720"),
        ('fact("device")', "Sample CPU", "Sample CPU"),
        ('fact("date")', "2026-03-01", "2026-03-01"),
        (f"floor({SAME})", "0.0", "±0.00%"),
        (f"margin({SAME})", "0.005", "±0.50%"),
    ],
)
def test_a_binding_says_the_known_number_with_its_full_value(say: Say, expression: str, value: str, text: str) -> None:
    """12 repetitions x 6 fixtures x 6 arms x 2 batches; 12 x 6 x 5 x 2 checks; 0.95 as the factory set it."""
    said, problems = say(expression)
    assert [] == problems
    assert f'<data value="{value}">{text}</data>' in said


def test_a_figure_leads_to_its_derivation_on_the_records_page(say: Say, built: Built) -> None:
    """The link's anchor is there."""
    said, _ = say(f'change("candidate", vs="control", where={SAME})')
    href = said.split('href="')[1].split('"')[0]
    address, anchor = href.removeprefix("../../").split("#")
    assert f'id="{anchor}"' in built.page(address)


def test_an_interval_and_a_verdict_are_said_in_words(say: Say) -> None:
    """Two figures, and a mark beside the word."""
    ends, _ = say(f'interval("candidate", where={SAME})')
    assert ends.count("−5.00%") == 2
    verdict, _ = say(f'verdict("candidate", where={SAME})')
    assert "faster" in verdict
    assert "↓" in verdict
    outcome, _ = say(f'outcome("candidate", where={SAME})')
    assert ">adopt: less time than" in outcome


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ('protocol("sample").repetitions', "12"),
        ("protocol().least_batch_ms", "1"),
        ("experiment().smallest_effect", "±0.50%"),
        (f"floor({SAME})", "±0.00%"),
        (f"margin({SAME})", "±0.50%"),
        (f'interval("candidate", where={SAME})', "−5.00%"),
        (f'outcome("candidate", where={SAME})', "adopt"),
        (f'verdict("candidate", where={SAME})', "faster"),
        (f'gate("pays", "candidate", where={SAME})', "5.00%"),
        ('saving("pays", "candidate", at={"rows": 256, "cache": "same-set"})', "5.00%"),
        ('time("candidate", at={"rows": 256, "cache": "same-set"})', "µs"),
        ('change_on("candidate", "control", at={"rows": 256, "cache": "same-set"})', "−5.00%"),
    ],
)
def test_every_figure_leads_to_where_it_is_derived(say: Say, built: Built, expression: str, text: str) -> None:
    """Constants of the protocol too; the anchors are there, and the cards' script knows such links."""
    said, problems = say(expression)
    assert [] == problems
    assert text in said
    links = re.findall(r'<a class="([^"]*)" href="([^"]*)"', said)
    assert links
    for name, href in links:
        address, anchor = href.removeprefix("../../").split("#")
        assert f'id="{anchor}"' in built.page(address)
        assert name.split()[0] in ("number", "fact")


def test_a_constant_can_be_added_up_and_one_that_was_only_declared_has_no_page(
    say: Say, library: Library, tmp_path: Path
) -> None:
    """A figure of the plan keeps its value; of an experiment without a record there is nothing to lead to."""
    assert ">24<" in say('product_of("Passes", ("repetitions", protocol().repetitions), ("each way", 2))')[0]
    none = library.but(records=(), experiments={"sample": library.record("sample").plan.experiment})
    (tmp_path / "plan.md").write_text(FRONT.format('"sample"') + "{{ protocol().repetitions }}", "utf-8")
    page = read_page(tmp_path / "plan.md", "site/page.md")
    text, _ = fill(page, Bindings(page, none, Theme([default_theme()])).functions())
    assert '<data value="12">12</data>' == text.strip()


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ('change("nobody")', "has no arm 'nobody'"),
        ('change("candidate")', "several slices"),
        ('change("candidate", where={"cache": "warm"})', "no slice"),
        ('change("candidate", where={"rows": 256})', "not sliced by 'rows'"),
        ('change("nothing:candidate")', "no record 'nothing'"),
        (f'change("candidate", where={SAME}, figure="mean")', "no figure 'mean'"),
        ('count("sheep")', "no count of 'sheep'"),
        ('fact("colour")', "no fact 'colour'"),
        ('table("pie")', "no table of kind 'pie'"),
        ('chart("pie")', "no chart of kind 'pie'"),
        ('chart("ratios", vs="nobody")', "nothing is compared with 'nobody'"),
        ('protocol("nothing").repetitions', "no experiment 'nothing'"),
        ("sheep()", "'sheep' is undefined"),
        ("protocol().sheep", "no attribute 'sheep'"),
    ],
)
def test_an_unknown_name_is_a_problem_with_file_and_line(say: Say, expression: str, told: str) -> None:
    """Nothing unknown is passed over in silence."""
    said, problems = say(expression)
    assert told in problems[0].what
    assert "site/page.md:10" == problems[0].where
    assert "missing" in said


def test_a_page_with_two_records_has_to_say_which(say: Say) -> None:
    """No experiment is guessed."""
    _, problems = say('count("batches")', f"'sample', '{PRETEND}'")
    assert "which experiment is meant?" in problems[0].what


def test_a_page_may_pin_a_record(say: Say, library: Library) -> None:
    """The pinned name means the same record, also for bindings that say only the experiment."""
    pinned = library.record("sample").name
    said, problems = say('count("batches")', f'"{pinned}"')
    assert [] == problems
    assert "864" in said


AT = {"rows": 256, "cache": "same-set"}
PLACES = [f'change("candidate", where={{"cache": "{cache}"}})' for cache in ("same-set", "rotating")]


@pytest.mark.parametrize(
    ("expression", "value", "text"),
    [
        (f'sum_of("Both", ("a", {PLACES[0]}), ("b", {PLACES[1]}))', 0.9, "−10.00%"),
        (f'sum_of("One less the other", ("a", {PLACES[0]}), ("b", {PLACES[1]}, -1))', 1.0, "0.00%"),
        (f'product_of("One upon the other", ("a", {PLACES[0]}), ("b", {PLACES[1]}))', 0.9025, "−9.75%"),
        ('sum_of("All", ("scored", count("batches")), ("warm-up", count("fixtures"), 0.5))', 867.0, "867"),
        (f'product_of("Layers", ("one", time("incumbent", at={AT})), ("layers", 43))', 8_600_000.0, "8.600 ms"),
        (
            f'sum_of("Left", ("saved", time("incumbent", at={AT})), ("cost", time("candidate", at={AT}), -2))',
            -180_000.0,
            "−180.0 µs",
        ),
        (
            f'sum_of("Nested", ("twice", product_of("Twice", ("t", time("incumbent", at={AT})), ("two", 2))))',
            400_000.0,
            "400.0 µs",
        ),
    ],
)
def test_sums_and_products_of_figures_are_figures(say: Say, expression: str, value: float, text: str) -> None:
    """Of changes the changes are added and the ratios multiplied; the factory's incumbent takes 200 µs on the smallest fixture."""
    said, problems = say(expression)
    assert [] == problems
    found = float(said.split('value="')[1].split('"')[0])
    assert value == pytest.approx(found, abs=1e-9)
    assert f">{text}</data>" in said
    assert 'href="#sum-' in said


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        (f'sum_of("Mixed", ("a", {PLACES[0]}), ("t", time("incumbent", at={AT})))', "a sum of ratio and ns"),
        (f'product_of("Squared", ("a", time("incumbent", at={AT})), ("b", time("incumbent", at={AT})))', "ns and ns"),
        ('sum_of("Words", ("a", fact("device")))', "no figure that can be added up"),
        ('sum_of("Nothing")', "a sum of nothing"),
        ('sum_of("Bare", 3)', "a line is (words, figure)"),
        (f'sum_of("Odd", ("a", {PLACES[0]}, "twice"))', "which is no number"),
        ('time("incumbent", at={"rows": 256})', "has 2 times of 'incumbent'"),
        ('gate("nothing")', "no such gate there"),
        ('gate("pays")', "is asked 2 times there"),
        ('gate("pays", where={"cache": "rotating"}, figure="saved")', "has no 'saved'"),
    ],
)
def test_what_cannot_be_added_up_is_a_problem(say: Say, expression: str, told: str) -> None:
    """Units that differ, words, a fixture that is not named fully."""
    _, problems = say(expression)
    assert told in problems[0].what


def test_a_time_leads_to_its_row(say: Say, built: Built) -> None:
    """On the record's page."""
    said, _ = say(f'time("incumbent", at={AT})')
    address, anchor = said.split('href="')[1].split('"')[0].removeprefix("../../").split("#")
    assert f'id="{anchor}"' in built.page(address)


def test_every_line_of_a_sum_is_derived_on_the_page(built: Built) -> None:
    """Figure, how often, amount; the figures lead on to the record."""
    page = built.page("report/")
    sums = page[page.index('id="sum-1"') : page.index("Cite this page")]
    assert "Both places together" in sums
    assert sums.count("#d-cache-") == 2
    assert "−10.00%" in sums
    assert "−15.00%" in sums


def test_a_sum_that_was_made_before_is_not_derived_again(say: Say) -> None:
    """The same lines and result lead to the same table."""
    twice = 'sum_of("All", ("scored", count("batches")))'
    said, problems = say(f"{twice} }}}} {{{{ {twice}")
    assert ([], 2) == (problems, said.count("#sum-1"))
