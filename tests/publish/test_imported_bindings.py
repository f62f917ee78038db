"""What was imported on a page of one's own: marked as such, with its harness and its lacks, led to its row, never added up."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reportgen.publish.bindings import Bindings
from reportgen.publish.imported_bindings import attempt_of
from reportgen.publish.imported_tables import tables_of
from reportgen.publish.library import Library
from reportgen.publish.markdown import fill, read_page
from reportgen.publish.templates import Theme
from reportgen.publish.theme_folders import default_theme
from tests.publish.importing import imported_library

FRONT = '+++\ntitle = "-"\naddress = "findings/one/"\nkind = "finding"\nsummary = "-"\ndate = 2031-01-01\nrecords = []\n+++\n'


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Gather two imports."""
    return imported_library(tmp_path_factory.mktemp("lab"))


def said(library: Library, folder: Path, expression: str) -> tuple[str, list[str]]:
    """Evaluate an expression on a page without records; return it with what went wrong."""
    (folder / "page.md").write_text(f"{FRONT}{{{{ {expression} }}}}\n", "utf-8")
    page = read_page(folder / "page.md", "site/page.md")
    bindings = Bindings(page, library, Theme([default_theme()]))
    text, faults = fill(page, bindings.functions())
    return text.strip(), [str(problem) for problem in bindings.problems + faults]


def text_of(html: str) -> str:
    """Give the words of a piece of HTML."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", html)).strip()


def test_a_figure_says_that_it_is_imported_by_whom_and_what_it_is(library: Library, tmp_path: Path) -> None:
    """The middle of four values, at full precision underneath, leading to its row on the attempt's page."""
    html, wrong = said(library, tmp_path, 'imported("saxpy", "sort", "cand")')
    assert [] == wrong
    assert "40 \N{MICRO SIGN}s (imported, csv: median of 4 values)" == text_of(html)
    address = attempt_of(library, "saxpy", None).address
    (anchor,) = re.findall(rf'href="\.\./\.\./{address}#([^"]+)"><data value="40000\.0">', html)
    rows = [
        row for table in tables_of(attempt_of(library, "saxpy", None)) for row in table.rows if row.anchor == anchor
    ]
    assert ["sort" in one.head.text and "cand" in one.head.text for one in rows] == [True]


def test_a_harness_is_named_with_what_it_says_and_its_own_median(library: Library, tmp_path: Path) -> None:
    """Hyperfine states no version; a run that failed has no figure, and the page says why."""
    html, wrong = said(library, tmp_path, 'imported("sleeping", "sleep 1")')
    assert ([], "1.25 s (imported, hyperfine: median of 3 values)") == (wrong, text_of(html))
    _, wrong = said(library, tmp_path, 'imported("sleeping", "false")')
    assert "is error and has no figure" in wrong[0]


def test_a_change_says_what_it_rests_on(library: Library, tmp_path: Path) -> None:
    """Of pairs, since the file shows that the arms took turns; the direction is worded."""
    html, wrong = said(library, tmp_path, 'imported("saxpy", "sort", "cand", vs="base")')
    assert [] == wrong
    assert text_of(html).startswith("\N{MINUS SIGN}")
    assert " time (imported, csv: " in text_of(html)
    assert "median of 4 pair ratios" in text_of(html)


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ('imported("absent", "sort")', "0 imported attempts of 'absent'; name one: attempt=...; there are none"),
        ('imported("saxpy", "sort")', "2 benchmarks of"),
        ('imported("saxpy", "quicksort")', "0 benchmarks of"),
        ('imported("saxpy", "sort", "cand", params={"n": 65})', "0 benchmarks of"),
        ('imported("saxpy", "sort", "cand", vs="other")', "does not compare 'cand' with 'other' on 'sort'"),
        ('table("imported_comparisons", "sleeping")', "has nothing for table('imported_comparisons')"),
        ('sum_of("both", ("one", imported("saxpy", "sort", "cand")))', "is no figure that can be added up"),
    ],
)
def test_what_an_import_does_not_hold_is_refused(
    library: Library, tmp_path: Path, expression: str, problem: str
) -> None:
    """A problem with file and line, and a mark on the page; a sum takes no imported figure."""
    html, wrong = said(library, tmp_path, expression)
    assert "missing" in html
    assert any(problem in one for one in wrong), wrong
    assert wrong[0].startswith("site/page.md:9")


def test_tables_say_where_they_come_from_and_have_no_anchors_twice(library: Library, tmp_path: Path) -> None:
    """Four kinds; figures lead to their rows elsewhere; what the harness does not record stands above."""
    html, wrong = said(library, tmp_path, 'table("imported", "saxpy")')
    assert [] == wrong
    assert 3 == html.count("<table")
    assert 3 == html.count("Imported: measured elsewhere, by another program and protocol.")
    assert 3 == html.count("From csv, which does not record")
    assert "imported-benchmark-1" not in re.findall(r'id="([^"]+)"', html)
    assert f'{attempt_of(library, "saxpy", None).address}#imported-benchmark-1"' in html
    assert "Verdict: none: " in text_of(html)


def test_of_several_attempts_one_must_be_named(tmp_path: Path) -> None:
    """The ids are listed."""
    library = imported_library(tmp_path, twice=True)
    _, wrong = said(library, tmp_path, 'imported("saxpy", "sort", "cand")')
    assert "2 imported attempts of 'saxpy'" in wrong[0]
    named = [one.manifest.id for one in library.imported("saxpy")]
    assert all(one in wrong[0] for one in named)
    html, wrong = said(library, tmp_path, f'imported("saxpy", "sort", "cand", attempt="{named[0]}")')
    assert ([], True) == (wrong, "imported, csv" in html)
