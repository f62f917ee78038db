"""Every figure of a site in full, with a link to a place that says the same: pages, tables, second lines, running text."""

from __future__ import annotations

import pytest

from reportgen.publish.build import build
from tests.publish.conftest import Built
from tests.publish.figure_walk import Site, read, site_of
from tests.publish.full_lab import make_full_lab

LINKED = '<p>It took <a href="#row"><data value="{}">5 ms</data></a>.</p>'
ROW = '<figure><table><tr id="row"><th>a</th><td><data value="5.25">5 ms</data></td></tr></table><p class="note">Of batches.csv.</p></figure>'


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Build a lab that has everything strictly, and read its site."""
    project = make_full_lab(tmp_path_factory.mktemp("full"))
    report = build(project, project.root / "public", strict=True)
    assert ((), ()) == (report.problems, report.warnings)
    return site_of(project.root / "public")


def test_every_figure_leads_to_a_place_that_says_it_in_full(full: Site, built: Built, built_study: Built) -> None:
    """Reports, records, fixtures, attempts, the first page and the ledger of three labs; what is exempt stands in the walk, with its reason."""
    for site in (full, site_of(built.out), site_of(built_study.out)):
        assert [] == site.faults()


def test_the_walk_meets_what_there_is(full: Site) -> None:
    """Tables of every kind, peers and counters among them, and figures in running text, each with a value."""
    captions = {
        one.text.partition(":")[0].strip() for one in full.pages["everything/"].elements if one.tag == "figcaption"
    }
    told = {
        "Peers",
        "Distance from the floor",
        "Gates",
        "Savings by fixture",
        "Ceilings less costs",
        "Bands",
        "Counters",
    }
    told |= {
        "Machine code",
        "Many comparisons at once",
        "Changes in time",
        "The same code against itself",
        "By fixture",
    }
    assert told <= captions
    in_text = [one for one in full.figures("everything/") if one.within("td") is None and one.within("p") is not None]
    assert len(in_text) >= 30
    assert len(full.figures("everything/")) > 500


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        (LINKED.format("5.25") + ROW, []),
        (LINKED.format("5.26") + ROW, ["leads to a place that says another figure: #row"]),
        (LINKED.format("5.25"), ["leads to a place that is not there: #row"]),
        (LINKED.format("") + ROW, ["has an empty value"]),
        ('<p><data value="5">5 ms</data></p>', ["leads nowhere"]),
        ("<p>It took 5 ms.</p>", ["is a time without its full value"]),
        ('<p>It took <span class="stated">5 ms</span>.</p>', []),
        ("<figure><table><tr><td>12</td></tr></table></figure>", ["is a number without its full value"]),
        ("<figure><table><tr><td>2026-03-02</td><td><code>12</code></td></tr></table></figure>", []),
        (ROW.replace("Of batches.csv.", ""), ["leads nowhere"]),
        (ROW.replace("</td>", '<span class="second">4 to 6</span></td>'), ["is a number without its full value"]),
        (ROW.replace("5.25", "1.05").replace("</td>", '<span class="second">+5.00%</span></td>'), []),
    ],
)
def test_the_walk_finds_what_is_wrong(body: str, wrong: list[str]) -> None:
    """And lets pass what is right."""
    site = Site({"": read(f'<body class="report">{body}</body>')})
    assert wrong == [fault.wrong for fault in site.faults()]


def test_no_anchor_is_given_twice(full: Site) -> None:
    """A second one would lead nowhere."""
    for address, page in full.pages.items():
        names = [one.attributes["id"] for one in page.elements if one.attributes.get("id")]
        assert len(names) == len(set(names)), address
