"""Words of the glossary: an anchor for each row, and a link from where a page first uses it."""

from __future__ import annotations

from functools import partial

from reportgen.publish import glossary
from reportgen.publish.manual import Manual, ManualPage
from reportgen.publish.sections import to_body

TEXT = "\n## Words\n\n| word | meaning |\n| --- | --- |\n| noise floor | what copies show |\n| A/A study | x |\n| floor | y |\n"
PAGE = ManualPage("docs/glossary.md", "docs/glossary/", "Glossary", "", TEXT)
TERMS = glossary.terms(Manual({PAGE.source: PAGE}, (), {}))


def body(text: str) -> str:
    """Turn a page two folders deep into HTML."""
    return to_body(text, partial(glossary.link, known=TERMS, root="../../")).html


def test_every_row_of_the_glossary_is_a_term() -> None:
    """Signs that no anchor takes become dashes."""
    assert {
        "noise floor": "docs/glossary/#term-noise-floor",
        "a/a study": "docs/glossary/#term-a-a-study",
        "floor": "docs/glossary/#term-floor",
    } == TERMS


def test_the_first_use_of_a_word_leads_to_its_meaning() -> None:
    """The longest word wins; plural and capital count; a second use is left alone."""
    html = body("Noise floors are made of nulls. A noise floor, and a floor.\n")
    assert html.count('<a class="term" href="../../docs/glossary/#term-noise-floor">Noise floors</a>') == 1
    assert html.count('<a class="term" href="../../docs/glossary/#term-floor">floor</a>') == 1
    assert html.count("<a ") == 2


def test_no_link_begins_within_another_or_in_a_name_heading_or_table() -> None:
    """A figure's own link, a written one, code, and what is not running text."""
    text = '## A floor\n\n<a class="number" href="#a-floor">the floor</a> [one floor](x/) `floor`\n\n| floor |\n| - |\n| floor |\n'
    assert 'class="term"' not in body(text)
