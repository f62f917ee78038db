"""Pages that people write: front matter, bindings, Markdown, and faults with file and line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reportgen.errors import InputError
from reportgen.publish import sums
from reportgen.publish.markdown import fill, read_page
from reportgen.publish.sections import to_body

FRONT = '+++\ntitle = "A"\nkind = "note"\nsummary = "B"\ndate = 2026-01-02\naddress = "a/"\n+++\n'


def page_with(folder: Path, text: str) -> Any:
    """Read a page that holds ``text``."""
    (folder / "page.md").write_text(text, "utf-8")
    return read_page(folder / "page.md", "site/page.md")


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("no front matter", "site/page.md:1"),
        ("+++\ntitle = \n+++\n", "site/page.md:2"),
        (FRONT.replace('"note"', '"novel"'), "site/page.md:3"),
        (FRONT.replace('"a/"', '"../a/"'), "site/page.md:6"),
        (FRONT.replace("summary", "summery"), "site/page.md:4"),
        (FRONT.replace("2026-01-02", '"soon"'), "site/page.md:5"),
    ],
    ids=["none", "malformed", "unknown kind", "address that climbs", "unknown key", "no date"],
)
def test_front_matter_that_cannot_be_read_names_its_line(tmp_path: Path, text: str, where: str) -> None:
    """A person finds the fault at once."""
    with pytest.raises(InputError) as caught:
        page_with(tmp_path, text)
    assert where == caught.value.where


def test_an_expression_that_fails_names_its_line(tmp_path: Path) -> None:
    """Undefined names and broken syntax are told by the page's own line numbers."""
    unknown = page_with(tmp_path, FRONT + "\nfine\n\n{{ nothing_such }}\n")
    assert ["site/page.md:11"] == [problem.where for problem in fill(unknown, {})[1]]
    broken = page_with(tmp_path, FRONT + "\n{{ 1 +\n")
    assert ["site/page.md:9"] == [problem.where for problem in fill(broken, {})[1]]


def test_page_text_cannot_reach_python(tmp_path: Path) -> None:
    """Expressions run in a sandbox over plain data."""
    page = page_with(tmp_path, FRONT + "{{ ().__class__.__mro__ }}\n")
    text, problems = fill(page, {})
    assert "object" not in text
    assert "unsafe" in problems[0].what


@pytest.mark.parametrize("expression", ["'a' * 10**10", "'a' * 10000000000", "[1] * 9999999999", "9 ** 9 ** 9"])
def test_page_text_cannot_fill_the_memory(tmp_path: Path, expression: str) -> None:
    """A short expression makes no huge value; numbers may be multiplied."""
    _, problems = fill(page_with(tmp_path, FRONT + f"{{{{ {expression} }}}}\n"), {})
    assert "a page computes nothing large" in problems[0].what
    assert "6" in fill(page_with(tmp_path, FRONT + "{{ 2 * 3 }}\n"), {})[0]


@pytest.mark.parametrize(
    "body",
    [
        "{% macro f() %}{{ f() }}{{ f() }}{% endmacro %}{{ f() }}",
        "{% set a %}x{% endset %}{% set a %}{{ a }}{{ a }}{% endset %}",
        "{% set a = 'x' %}{% set a = a ~ a %}{{ count(a) }}",
        "{% filter upper %}{{ count('arms') }}{% endfilter %}",
        "{% for a in x recursive %}{{ loop(x) }}{% endfor %}",
        "{% for a in x %}{% for b in x %}{% for c in x %}{% endfor %}{% endfor %}{% endfor %}",
        "{% autoescape false %}{{ name() }}{% endautoescape %}",
        "{% include 'secret' %}",
        "{% set claim = link %}{{ claim('3% less') }}",
    ],
)
def test_a_statement_that_alters_figures_or_never_ends_keeps_a_page_from_being_filled(
    tmp_path: Path, body: str
) -> None:
    """Nothing of it is evaluated; the line is told."""
    text, problems = fill(page_with(tmp_path, FRONT + body + "\n"), {})
    assert "could not be completed" in text
    assert {"site/page.md:8"} == {problem.where for problem in problems}


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("'x'.rjust(1000000000)", "unsafe"),
        ("'{:>1000000000}'.format(1)", "unsafe"),
        ("'%1000000000d' % 1", "computes nothing large"),
        ("'x' | center(1000000000)", "No filter named 'center'"),
        ("'x' | indent(1000000000)", "No filter named 'indent'"),
        ("'3.1' | float", "No filter named 'float'"),
        ("[figure, figure]", "shows words and figures, and no list"),
        ("figure().amount", "unsafe"),
        ("figure().replace('1', '2')", "unsafe"),
        ("999999999 * 999999999 * 999999999", "computes nothing large"),
        ("(" * 300 + "1" + ")" * 300, ""),
        ("1" + " - (1" * 300 + ")" * 300, ""),
    ],
)
def test_page_text_makes_and_changes_no_words(tmp_path: Path, expression: str, said: str) -> None:
    """No method, no padding, no formatting, nothing that needs memory beyond the page's own; never an exception."""
    figure = sums.figure_of(sums.Amount(1.0, sums.COUNT, "1", "#x"))
    _, problems = fill(page_with(tmp_path, FRONT + f"{{{{ {expression} }}}}\n"), {"figure": lambda: figure})
    assert all(said in problem.what for problem in problems)
    assert problems or not said


def test_values_are_escaped_where_they_are_put_in(tmp_path: Path) -> None:
    """A value from a record is text, never markup."""
    page = page_with(tmp_path, FRONT + "{{ name() }}\n")
    text, _ = fill(page, {"name": lambda: "<script>"})
    assert "&lt;script&gt;" in text


def test_markdown_has_footnotes_anchors_attributes_boxes_and_scrolling_tables() -> None:
    """What pages need beyond plain Markdown."""
    html = to_body(
        "## A heading\n\nText[^1]. A [link](x/){.quiet}\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n"
        "::: not-changed\nNothing.\n:::\n\n[^1]: A note.\n"
    ).html
    for part in (
        'id="a-heading"',
        "footnote-ref",
        'class="quiet"',
        '<div class="scroll stack"',
        'class="box not-changed"',
    ):
        assert part in html
    assert html.count("<section") == html.count("</section>")
