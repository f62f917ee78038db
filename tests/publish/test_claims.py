"""A page's claims: they hold, or are refused with their sentence and the values they rest on."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from reportgen.model.result import GateOutcome, Promotion, Reason
from reportgen.publish.bindings import Bindings
from reportgen.publish.cache import Cache
from reportgen.publish.claim_tables import claims_of
from reportgen.publish.gather import Gathered
from reportgen.publish.imagined import NUMBER, Imagined
from reportgen.publish.library import Library
from reportgen.publish.markdown import fill, read_page
from reportgen.publish.templates import Theme
from reportgen.publish.theme_folders import default_theme
from tests.publish.conftest import Built

FRONT = (
    '+++\ntitle = "A"\nkind = "report"\nsummary = "B"\ndate = 2026-01-02\naddress = "a/"\nrecords = ["sample"]\n'
    "\n[[claims]]\nsays = '{says}'\nholds = '''{holds}'''\n+++\n\n{body}\n"
)
SAYS = 'Fewer loads took {{ change("candidate", where={"cache": "same-set"}) }} of the time.'
SAME = 'where={"cache": "same-set"}'
AT = 'at={"rows": 256, "cache": "same-set"}'


@pytest.fixture(scope="module")
def library(built: Built) -> Library:
    """Gather the small lab's records: candidate at 0.95 of the incumbent's time, without any noise."""
    return Gathered(built.project, Cache(built.project.root / ".cache")).library


def page_of(
    folder: Path, library: Library, holds: str, body: str = "", says: str = SAYS
) -> tuple[Bindings, str, list[str]]:
    """Read a page that makes one claim; give its bindings, its text and its problems."""
    (folder / "page.md").write_text(FRONT.format(says=says, holds=holds, body=body), "utf-8")
    page = read_page(folder / "page.md", "site/page.md")
    bindings = Bindings(page, library, Theme([default_theme()]))
    text, faults = fill(page, bindings.functions())
    return bindings, text.strip(), [str(one) for one in [*bindings.claims.problems, *bindings.problems, *faults]]


@pytest.mark.parametrize(
    "holds",
    [
        f'verdict("candidate", {SAME}) == "faster"',
        f'reason("sample:candidate", vs="control", {SAME}) == "beyond_margin"',
        f'-5.01 < change("candidate", {SAME}) < -4.99 and change("candidate", figure="high", {SAME}) < 0',
        'verdicts() == ["faster"] and verdicts(vs="control", experiment="sample") == ["faster"]',
        'outcome("candidate") == "adopt"',
        'promotions("sample") == ["adopt"]',
        'promotions() != ["keep incumbent"]',
        'count("failed_checks") == 0 and count("batches") > 800',
        f"floor({SAME[6:]}) < margin({SAME[6:]})",
        f'verdict("candidate", {SAME}) == verdict("candidate", where={{"cache": "rotating"}})',
        '"slower" not in verdicts()',
    ],
)
def test_a_claim_that_holds_is_no_problem(library: Library, tmp_path: Path, holds: str) -> None:
    """5 % less time without any noise, in both slices, and adopted."""
    bindings, _, problems = page_of(tmp_path, library, holds)

    assert [] == problems
    assert bindings.claims.judged[0].true


@pytest.mark.parametrize(
    ("holds", "said"),
    [
        ('promotions() == ["keep incumbent"]', """does not hold: promotions() == ["keep incumbent"], where promotions() is ['adopt']"""),
        ("1 < 2", "could not fail: it asks nothing of a record"),
        ('count("batches") > -1', 'could not fail: count("batches") > -1 is true whatever is measured'),
        (f"floor({SAME[6:]}) >= 0 and margin({SAME[6:]}) > 0", "could not fail"),
        ('time("candidate", {"rows": 256, "cache": "same-set"}) > 0', "could not fail"),
        ('outcome("candidate") == "adopt" or true', "could not fail"),
        ("promotions() == promotions()", "could not fail"),
        ('count("batches")', "is neither true nor false but 864"),
        ('count("bats") == 0', "cannot be computed: no count of 'bats'"),
        ('verdict("candidate") == "faster"', "cannot be computed: 'candidate' against 'incumbent' speaks of several slices"),
        ("nothing_such == 1", "cannot be computed: 'nothing_such' is undefined"),
        ('promotions().append("adopt")', "cannot be computed"),
        ("promotions.__globals__ == 1", "cannot be computed"),
    ],
)  # fmt: skip
def test_any_other_claim_is_refused_with_its_sentence(library: Library, tmp_path: Path, holds: str, said: str) -> None:
    """At the line of its [[claims]], and never as true."""
    bindings, _, problems = page_of(tmp_path, library, holds)

    assert len(problems) == 1
    assert problems[0].startswith("site/page.md:9: claim 1, 'Fewer loads took")
    assert said in problems[0]
    assert not bindings.claims.judged[0].true


@pytest.mark.parametrize(
    "holds",
    [
        f'change("candidate", figure="low", {SAME}) <= change("candidate", figure="high", {SAME})',
        f'change("candidate", figure="low", {SAME}) <= change("candidate", {SAME}) <= change("candidate", figure="high", {SAME})',
        f'change("candidate", figure="estimate", {SAME}) >= change("candidate", figure="low", {SAME})',
        f'change("candidate", {SAME}) == change("sample:candidate", vs="incumbent", figure="headline", {SAME})',
        f'change("candidate", {SAME}) > -100',
        f'change("candidate", {SAME}) < 0 or change("candidate", {SAME}) >= 0',
        f'change("null_incumbent", figure="high", {SAME}) <= floor({SAME[6:]})',
        f"margin({SAME[6:]}) >= floor({SAME[6:]}) and floor({SAME[6:]}) >= 0",
        f'verdict("candidate", {SAME}) != "faster" or change("candidate", figure="high", {SAME}) < 0',
        f'verdict("candidate", {SAME}) != "faster" or change("candidate", figure="high", {SAME}) < -margin({SAME[6:]})',
        f'(verdict("candidate", {SAME}) == "invalid") or reason("candidate", {SAME}) != "arm_failed_check"',
        f'verdict("candidate", {SAME}) in verdicts({SAME})',
        f'verdict("candidate", {SAME}) in ["faster", "slower", "equivalent", "inconclusive", "invalid"]',
        f'outcome("candidate", {SAME}) != "adopt" or verdict("candidate", vs="control", {SAME}) == "faster"',
        f'outcome("candidate", {SAME}) != "adopt" or gate("pays", {SAME}) == "passes"',
        f'outcome("candidate", {SAME}) in promotions() and gate("pays", {SAME}) in gates()',
        "promotions() | length > 0",
        'count("failed_checks") <= count("checks")',
        'count("failed_checks") == 0 or count("checks") > 0',
        'count("nulls") + count("candidates") <= count("arms") and count("devices") >= 1',
        'count("batches") > 0',
        f'saving("pays", "candidate", {AT}, figure="low") <= saving("pays", "candidate", {AT}) <= saving("pays", "candidate", {AT}, figure="high")',
        f'gate("pays", {SAME}) != "passes" or saving("pays", "candidate", {AT}, figure="low") >= 0.02',
        f'change_on("candidate", "incumbent", {AT}) <= change_on("candidate", "control", {AT}) or true',
        f'change_on("candidate", "incumbent", {AT}, figure="low") <= change_on("candidate", "incumbent", {AT}, figure="high")',
        f'time("candidate", {AT}) >= 0 and time("candidate", {AT}) == time("sample:candidate", {AT})',
    ],
)  # fmt: skip
def test_a_claim_that_follows_from_the_rules_alone_is_refused(library: Library, tmp_path: Path, holds: str) -> None:
    """An interval that holds its headline, a margin above its floor, a figure beside itself: true of any record."""
    _, _, problems = page_of(tmp_path, library, holds)

    assert len(problems) == 1
    assert "could not fail: " in problems[0]
    assert "is true whatever is measured" in problems[0]


@pytest.mark.parametrize(
    "holds",
    [
        f'change("candidate", figure="low", {SAME}) <= change("candidate", vs="control", figure="high", {SAME})',
        f'change("candidate", {SAME}) > -99',
        f'verdict("candidate", {SAME}) in ["faster", "slower", "equivalent", "inconclusive"]',
        f'verdict("candidate", {SAME}) != "invalid" or reason("candidate", {SAME}) == "arm_failed_check"',
        f'outcome("candidate", {SAME}) == "adopt" or verdict("candidate", vs="control", {SAME}) == "faster"',
        f'gate("pays", {SAME}) == "passes" or saving("pays", "candidate", {AT}, figure="low") < 0.02',
        f"floor({SAME[6:]}) < 30",
        f'time("candidate", {AT}) < time("incumbent", {AT})',
        'count("arms") == 4 or count("arms") > 4',
        'count("failed_checks") == 0',
        f'not (verdict("candidate", {SAME}) == "slower" and verdict("candidate", where={{"cache": "rotating"}}) == "faster")',
        f'"noise_floor" != reason("candidate", {SAME})',
        'promotions() != ["adopt as rewrite"]',
        'promotions() != ["not attributable"]',
    ],
)  # fmt: skip
def test_a_claim_that_a_record_could_have_belied_stands(library: Library, tmp_path: Path, holds: str) -> None:
    """However rare that record would be."""
    assert [] == page_of(tmp_path, library, holds)[2]


def test_what_could_have_been_measured_is_the_same_every_time(library: Library) -> None:
    """And costs no more than a look: the records are drawn from a number, without the rows."""
    record = library.record("sample")
    assert Imagined(record, 7).view == Imagined(record, 7).view
    assert Imagined(record, 7).view != Imagined(record, 8).view
    results = [Imagined(record, number).view.result for number in range(NUMBER)]
    assert set(Promotion) == {one.outcome for result in results for one in result.promotions}
    assert set(Reason) == {one.reason for result in results for one in result.comparisons if one.arm == "candidate"}
    assert set(GateOutcome) == {one.outcome for result in results for one in result.gates}


def test_a_page_quotes_its_claim_with_its_numbers(library: Library, tmp_path: Path) -> None:
    """By number or by sentence; the first quotation is where the record's page leads back to."""
    body = '{{ claim(1) }}\n\n{{ claim("Loads do pay.") }}'
    _, text, problems = page_of(tmp_path, library, 'promotions() == ["adopt"]', body, says="Loads do pay.")
    _, filled, _ = page_of(tmp_path, library, 'promotions() == ["adopt"]', "{{ claim(1) }}")

    assert [] == problems
    assert 1 == text.count('<span class="claim" id="claim-1">Loads do pay.')
    assert 2 == text.count('#claim-a-1">claim 1</a>')
    assert '<data value="0.95">−5.00%</data></a> of the time.' in filled


@pytest.mark.parametrize(
    ("says", "holds", "refused"),
    [
        ("Fewer loads are slower.", 'verdicts() == ["faster"]', True),
        ("The rule fails.", 'gate("pays") == "passes"', True),
        ("Fewer loads are faster.", 'verdicts() == ["faster"]', False),
        ("Fewer loads are faster, and nothing is slower.", '"slower" not in verdicts()', False),
        ("Fewer loads are slower nowhere.", '"slower" not in verdicts()', False),
        ("No output failed.", 'count("failed_checks") == 0', False),
    ],
)
def test_a_sentence_that_says_the_opposite_of_its_expression_is_refused(
    library: Library, tmp_path: Path, says: str, holds: str, *, refused: bool
) -> None:
    """What else a sentence means, no program can tell."""
    _, _, problems = page_of(tmp_path, library, holds, says=says)
    assert [refused] * len(problems) == ["and asks whether something is" in one for one in problems]
    assert refused == bool(problems)


def test_a_claim_over_a_superseded_record_says_so(library: Library, tmp_path: Path) -> None:
    """A page may pin a former record; who reads the claim is told."""
    former = [
        msgspec.structs.replace(one, current=False) if one.experiment == "sample" else one for one in library.records
    ]
    old = library.but(records=tuple(former))
    pinned = next(one.name for one in former if one.experiment == "sample")
    body, holds = "{{ claim(1) }}", f'promotions("{pinned}") == ["adopt"]'
    bindings, text, problems = page_of(tmp_path, old, holds, body, says="Loads do pay.")

    assert [] == problems
    assert bindings.claims.judged[0].true
    assert ">claim 1, of an earlier record too</a>" in text


def test_a_claim_that_is_quoted_and_not_made_or_does_not_hold_is_seen(library: Library, tmp_path: Path) -> None:
    """A loose build goes on, with a mark."""
    _, text, problems = page_of(
        tmp_path, library, 'promotions() == ["not attributable"]', "{{ claim(1) }} {{ claim(2) }}"
    )

    assert 'of the time. <mark class="missing">does not hold</mark>' in text
    assert any("no claim 2; the page makes 1" in line for line in problems)


def test_the_records_page_lists_the_claims_that_rest_on_it(library: Library, tmp_path: Path) -> None:
    """With outcome, expression, values and a way back; a record that a claim does not touch has none."""
    bindings, _, _ = page_of(tmp_path, library, 'promotions() == ["adopt"]', says="Loads do pay.")
    sample, *others = sorted(library.records, key=lambda record: record.experiment != "sample")
    (row,) = claims_of(sample, bindings.claims.judged).rows

    assert ("Loads do pay.", "claim-a-1") == (row.head.text, row.anchor)
    assert ["holds", 'promotions() == ["adopt"]', "promotions() is ['adopt']", "a/"] == [
        cell.text for cell in row.cells
    ]
    assert "../../../a/" == row.cells[3].href
    assert [()] * len(others) == [claims_of(record, bindings.claims.judged).rows for record in others]
