"""Figures typed by hand and words of outcome are found where they stand; what is neither is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from reportgen.publish.bindings import Bindings
from reportgen.publish.build import build
from reportgen.publish.cache import Cache
from reportgen.publish.gather import Gathered
from reportgen.publish.library import Library
from reportgen.publish.lint import lint
from reportgen.publish.markdown import fill, read_page
from reportgen.publish.problems import Problem
from reportgen.publish.templates import Theme
from reportgen.publish.theme_folders import default_theme
from tests.publish.conftest import Built
from tests.publish.site_lab import make_lab

FRONT = '+++\ntitle = "{title}"\nkind = "{kind}"\nsummary = "B"\ndate = 2026-01-02\naddress = "a/"\nrecords = ["sample"]\n+++\n'


def found(folder: Path, body: str, kind: str = "report", title: str = "A") -> list[Problem]:
    """Lint a page whose body begins at line 9."""
    (folder / "page.md").write_text(FRONT.format(kind=kind, title=title) + body, "utf-8")
    return lint(read_page(folder / "page.md", "site/page.md"))


@pytest.mark.parametrize(
    ("body", "line", "text", "kind"),
    [
        ("It took 3.1% less.", 9, "3.1%", "percentage"),
        ("It took +0.5 % more.", 9, "+0.5 %", "percentage"),
        ("It took twelve percent less.", 9, "twelve percent", "percentage"),
        ("It took half a\npercent, or two\npercent.", 10, "two percent", "percentage"),
        ("It took half a percent less.", 9, "half a percent", "percentage"),
        ("Within a tenth of a percent of it.", 9, "a tenth of a percent", "percentage"),
        ("A ratio of 1.0031 was seen.", 9, "1.0031", "ratio"),
        ("It is 2.5x the other, or 3 × it.", 9, "2.5x", "ratio"),
        ("Three times as long.", 9, "three times", "ratio"),
        ("A launch of 33 us.", 9, "33 us", "time"),
        ("A launch of 1,500–1,700 ns.", 9, "1,500–1,700 ns", "time"),
        ("After two seconds.", 9, "two seconds", "time"),
        ("At 3.35 TB/s.", 9, "3.35 TB/s", "rate"),
        ("At 40 tokens a second.", 9, "40 tokens a second", "rate"),
        ("It holds 50 MiB.", 9, "50 MiB", "number of bytes"),
        ("From 4,608 scored batches.", 9, "4,608 scored batches", "count"),
        ("From twelve repetitions.", 9, "twelve repetitions", "count"),
        ("\n## Only 3% is left\n", 10, "3%", "percentage"),
        ("\n| a | b |\n| --- | --- |\n| x | 12 ms |\n", 12, "12 ms", "time"),
        ("\n- one\n- saved `4 %` there\n", 11, "4 %", "percentage"),
        ("\n![3% less](../static/a.png)\n", 10, "3%", "percentage"),
        ('\n<img src="a.png" alt="5 ms a launch">\n', 10, "5 ms", "time"),
        ("\n{{ chart('ratios',\n vs='control') }} and 7 ms.\n", 11, "7 ms", "time"),
        ("\n```\nx\n1.3e3 ms\n```\n", 12, "1.3e3 ms", "time"),
        ("\n    5 ms\n", 10, "5 ms", "time"),
        ('See [it](x.md "3% less").', 9, "3%", "percentage"),
        ("It takes twice as long.", 9, "twice as long", "ratio"),
        ("A third less, by a factor of two.", 9, "factor of two", "ratio"),
        ("{{ link('3% less') }}", 9, "3%", "percentage"),
        ("{{ sum_of('Both',\n ('5 ms', change('candidate'))) }}", 10, "5 ms", "time"),
        ("It took 1/3 of the time.", 9, "1/3", "ratio"),
        ("It took 5‰ less, or 12 permille.", 9, "5‰", "percentage"),
        ("It took 0.9 of the time.", 9, "0.9 of the", "ratio"),
        ("A ratio near 0.95.", 9, "0.95", "ratio"),
        ("It halves the time.", 9, "halves the", "ratio"),
        ("Its time is halved.", 9, "is halved", "ratio"),
        ("Half as long as before.", 9, "half as long", "ratio"),
        ("It took half as long again.", 9, "half as long again", "ratio"),
        ("It needs twice the bandwidth.", 9, "twice the bandwidth", "ratio"),
        ("A third of the time is left.", 9, "a third of the time", "ratio"),
        ("A fourth more instructions.", 9, "a fourth more", "ratio"),
        ("A tenfold gain, an order of magnitude.", 9, "tenfold", "ratio"),
        ("Zero percent of it.", 9, "zero percent", "percentage"),
        ("By a few tenths of a percent.", 9, "tenths of a percent", "percentage"),
        ("Some twenty-five percent.", 9, "twenty-five percent", "percentage"),
        ("A hundred nanoseconds more.", 9, "hundred nanoseconds", "time"),
        ("Every tenth of a second or so.", 9, "every tenth of a second", "time"),
        ("At 12 Gflop/s.", 9, "12 Gflop/s", "rate"),
        ("At 3 TFLOPS.", 9, "3 TFLOPS", "rate"),
        ("At 40 GiB/s, or 3 bytes per cycle.", 9, "3 bytes per cycle", "rate"),
        ("At 12 it/s.", 9, "12 it/s", "rate"),
        ("Under 700 W and 80 °C.", 9, "700 W", "reading"),
        ("From 432 fresh scored batches.", 9, "432 fresh scored batches", "count"),
        ("{% raw %}It took 3.1% less.{% endraw %}", 9, "3.1%", "percentage"),
        ("{% raw %}{{ 3.1% }}{% endraw %}", 9, "3.1%", "percentage"),
        ("It took 3{# a #}.1{# b #}% less.", 9, "3.1%", "percentage"),
        ("It took 3{% if true %}.1{% endif %}% less.", 9, "3.1%", "percentage"),
        ("It took \uff13.\uff11\uff05 less.", 9, "3.1%", "percentage"),
        ("It took \u0663\u066a less.", 9, "3%", "percentage"),
        ("It took \N{VULGAR FRACTION ONE THIRD} less.", 9, "1\N{FRACTION SLASH}3", "ratio"),
        ("It took 3\u200b.\u00ad1% less.", 9, "3.1%", "percentage"),
        ("It took &#51;.1&percnt; less.", 9, "3.1%", "percentage"),
        ("It took 3<b>.1</b>% less.", 9, "3.1%", "percentage"),
        ("\n<p>\n&#51;<i>.1</i>%\n</p>\n", 11, "3.1%", "percentage"),
        ("\n<p\n title='5 ms'>x</p>\n", 10, "5 ms", "time"),
        ("See ![it](x.png '3% less').", 9, "3%", "percentage"),
        ('See [it](x/){title="3% less"}.', 9, "3%", "percentage"),
        ("Told below[^1].\n\n[^1]: It took 3% less.\n", 11, "3%", "percentage"),
        ("Told here^[It took 3% less.].", 9, "3%", "percentage"),
        ("{% set gain = '3% less' %}{{ link(gain) }}", 9, "3%", "percentage"),
        ("A 5-percent gain, or `3`%.", 9, "3%", "percentage"),
        ("By V percent.", 9, "V percent", "percentage"),
        ("It was x1.05.", 9, "x1.05", "ratio"),
        ("\n| arm | time (ms) |\n| --- | --- |\n| a | 12 |\n", 12, "12 ms", "time"),
        ("\n| arm | rows | % |\n| --- | --- | --- |\n| a | 256 | -3.1 |\n", 12, "-3.1 %", "percentage"),
    ],
)
def test_a_figure_typed_by_hand_is_found_with_its_line(
    tmp_path: Path, body: str, line: int, text: str, kind: str
) -> None:
    """In prose, heading, table, list, code, alt text and beside a binding; the remedy names a way to say it."""
    problems = [problem for problem in found(tmp_path, body) if text.lower() in problem.what.lower()]

    assert [f"site/page.md:{line}"] == [problem.where for problem in problems]
    assert f"reads like a measured {kind}: ask for it with " in problems[0].what
    assert problems[0].grave


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("{{ 3.1 }}%", "3.1"),
        ("{{ '3.1' }}%", "3.1"),
        ("{{ '3.1% ' ~ count('batches') }}", "concat of 3.1% "),
        ("{{ '3.1%'.strip() }}", "call of 3.1%"),
        ("{{ change('candidate').replace('5', '9') }}", "call of change"),
        ("{{ change('candidate')[:3] }}", "getitem of change"),
        ("{{ change('candidate').amount.value }}", "getattr of change"),
        ("{{ table('changes') | length }}", "filter of table"),
        ("{{ protocol().repetitions * protocol().spares }}", "mul of protocol"),
        ("{{ -protocol().repetitions }}", "neg of protocol"),
        ("{{ [link][0]('x') }}", "call of link"),
        ("{{ count('batches') if 1 > 2 else '3.1%' }}", "3.1%"),
        ("{% set gain = '3.1%' %}{{ gain }}", "gain"),
        ("{% for gain in [3.1] %}{{ gain }}%{% endfor %}", "gain"),
    ],
)
def test_what_an_expression_says_without_a_binding_is_refused(tmp_path: Path, body: str, said: str) -> None:
    """A figure is not held to a record by being written between braces."""
    problems = [str(one) for one in found(tmp_path, body) if "typed within an expression" in one.what]

    assert any(f"site/page.md:9: {said!r} is typed within an expression" in one for one in problems)


@pytest.mark.parametrize(
    "body",
    [
        "It took {{ count('arms') }}% less.",
        "It took {{ count('arms') }} times as long.",
        "It took {{ count('arms') }}{{ count('fixtures') }} rows.",
        "It took 1{{ count('arms') }} rows.",
        "It took {{ count('arms') }}.5 rows.",
        "It took -{{ time('candidate') }}.",
        "It took {{ change('candidate') }} less.",
        "It took {{ protocol().least_batch_ms }} s.",
    ],
)
def test_what_stands_beside_a_figure_may_not_change_it(tmp_path: Path, body: str) -> None:
    """A digit, a sign, a unit that is not its own, a direction: a binding says its figure whole."""
    problems = [one for one in found(tmp_path, body) if "changes what" in one.what]

    assert {"site/page.md:9"} == {one.where for one in problems}
    assert all("a binding says its figure whole" in one.what for one in problems)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("<style>p::after { content: '3.1%' }</style>", "<style> is not for pages"),
        ("<svg><text>x</text></svg>", "<svg> is not for pages"),
        ("A <data value='3'>x</data>.", "<data> is not for pages"),
        ("A <bdo dir='rtl'>x</bdo>.", "<bdo> is not for pages"),
        ("<p style='display: none'>{{ change('candidate') }}</p>", "attribute 'style' is not for pages"),
        ('[x](y/){style="color: white"}', "attribute 'style' is not for pages"),
        ("<p onclick='x()'>x</p>", "attribute 'onclick' is not for pages"),
        ("<a class='number' href='#'>x</a>", "class 'number' is kept for what bindings say"),
        ("[x](y/){.number}", "class 'number' is kept for what bindings say"),
        ("A %1.3\N{RIGHT-TO-LEFT OVERRIDE} mark.", "a mark that turns the direction of writing"),
    ],
)
def test_what_could_cover_or_imitate_a_figure_is_not_for_pages(tmp_path: Path, body: str, said: str) -> None:
    """Neither styles nor scripts nor drawings nor the names that bindings' figures bear."""
    assert [("site/page.md:10", True)] == [
        (one.where, one.grave) for one in found(tmp_path, "\n" + body) if said in one.what
    ]


@pytest.mark.parametrize(
    "body",
    [
        "Q8_0 and Q6_K, FP16, m16n8k16, SHA-256, Python 3.11, CUDA 13.0, H200 and 2026-11-29.",
        "Two ideas on one page, in five lines; the two values of a byte, three macros, eight bits, four heads.",
        "Decode 2,048 x 512 weights; 8 of 256 experts; tokens 1, 2 and 4; see section 4.2; at times; several times.",
        "In one process, with one batch and its mirror, in one launch of the first ones.",
        '{{ change("sample:candidate") }} and {{ stated("64 launches", because="set in the plan") }} of {{ count("batches") }}.',
        "{{ protocol().repetitions }} and {{ change('candidate', where={'cache': 'same-set'}) }}, ratio of two sums.",
        "<!-- was 3% once -->\n\nNothing.",
        "A pass over the data, fast memory, a breakfast, `faster` as a name.",
        "In half precision, a third kernel, one half of the question, both halves of a warp; lanes 0,1,2; 10:15 UTC.",
        "A batch takes {{ protocol().least_batch_ms }} ms; {{ count('arms') }} arms, {{ change('candidate') }}. Then more.",
        "{% for arm in ['a', 'b'] %}{{ change(arm) }}, {% endfor %}<details><summary>More</summary>x</details>",
        "| a | b |\n| ---: | :--- |\n| [x](y/){.quiet} | {{ change('candidate') }} |\n\n![A chart](x.png)",
    ],
)
def test_what_is_no_measurement_is_left_alone(tmp_path: Path, body: str) -> None:
    """Names, versions, dates, shapes, small numbers of things, bindings."""
    assert [] == found(tmp_path, body)


@pytest.mark.parametrize(
    "word",
    [
        "faster",
        "Slower",
        "no difference",
        "passes",
        "best",
        "beats",
        "speed-up",
        "speed up",
        "as fast",
        "wins",
        "out-performs",
        "cheaper",
    ],
)
def test_an_outcome_outside_a_claim_is_grave_in_a_report(tmp_path: Path, word: str) -> None:
    """And worth a warning elsewhere, which says that it is one."""
    (in_report,) = found(tmp_path, f"\nThe idea: {word} here.")
    (in_method,) = found(tmp_path, f"\nThe idea: {word} here.", kind="method")

    assert ("site/page.md:10", True, False) == (in_report.where, in_report.grave, in_method.grave)
    assert f"'{word}' says how something came out" in in_report.what
    assert "site/page.md:10: warning: " in str(in_method)


def test_the_front_matter_is_read_too(tmp_path: Path) -> None:
    """A figure and an outcome in the title, at its line; it takes no bindings, so none is named."""
    problems = found(tmp_path, "\nText.", title="3% faster")

    assert ["site/page.md:2"] * 2 == [problem.where for problem in problems]
    assert all("leave it to the text" in problem.what for problem in problems)


def test_a_strict_build_fails_on_grave_problems_alone(tmp_path: Path) -> None:
    """A method page with a word of outcome is written, and the warning told."""
    page = '+++\ntitle = "A"\nkind = "method"\nsummary = "B"\ndate = 2026-01-02\naddress = ""\n+++\n\nWhat is faster.\n'
    mild = build(make_lab(tmp_path / "mild", {"index.md": page}, measured=False), tmp_path / "out", strict=True)
    grave = build(
        make_lab(tmp_path / "grave", {"index.md": page + "\nBy 3%.\n"}, measured=False), tmp_path / "none", strict=True
    )

    assert (False, ["site/index.md:9"]) == (mild.failed, [one.where for one in mild.warnings])
    assert (True, ["site/index.md:11"], True) == (
        grave.failed,
        [one.where for one in grave.problems],
        grave.nothing_written,
    )


@pytest.fixture(scope="module")
def library(built: Built) -> Library:
    """Gather the small lab's records."""
    return Gathered(built.project, Cache(built.project.root / ".cache")).library


def said(library: Library, folder: Path, expression: str) -> tuple[str, list[str]]:
    """Evaluate one expression as a page with one record does."""
    (folder / "page.md").write_text(FRONT.format(kind="report", title="A") + "{{ " + expression + " }}", "utf-8")
    page = read_page(folder / "page.md", "site/page.md")
    bindings = Bindings(page, library, Theme([default_theme()]))
    text, faults = fill(page, bindings.functions())
    return text.strip(), [str(one) for one in [*bindings.problems, *faults]]


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("12", "repetitions, set in the plan"),
        ("twelve repetitions", "as the plan has it"),
        ("0.5%", "smallest effect, in the plan"),
        ("256, 512 and 1,024 rows", "sizes, in the plan"),
        ("7 things", "not ours to measure"),
        ("a tenth", "no figure that the plan could hold"),
    ],
)
def test_a_stated_figure_carries_its_reason(library: Library, tmp_path: Path, text: str, because: str) -> None:
    """What the plan is said to set stands in it: 12 repetitions, 0.005, sizes 256 to 1,024."""
    assert (f'<span class="stated" title="{because}">{text}</span>', []) == said(
        library, tmp_path, f'stated("{text}", because="{because}")'
    )


@pytest.mark.parametrize(
    "expression",
    [
        'stated("0.02", because="what was chosen", plan="gate.pays.threshold")',
        'stated("2 percent", because="what was chosen", plan="sample:gate.pays.threshold")',
        'stated("four arms and two nulls", because="as chosen", plan="")',
        'stated("64 launches per batch", because="as another report has it", plan="")',
        'stated("three", because="what was chosen", plan="axes.rows")',
        'stated("1,024", because="what was chosen", plan="axes.rows")',
    ],
)
def test_a_stated_figure_may_name_its_field_of_the_plan(library: Library, tmp_path: Path, expression: str) -> None:
    """A value, one of several, or how many there are; an empty name says that the words mean something else."""
    assert [] == said(library, tmp_path, expression)[1]


@pytest.mark.parametrize(
    ("expression", "fault"),
    [
        ('stated("77", because="launches a batch, set in the plan")', "'77' is stated of protocol.launches_per_graph, which is 1 in the plan of sample"),
        ('stated("77 launches per batch", because="so it was done")', "'77 launches per batch' is stated of protocol.launches_per_graph, which is 1"),
        ('stated("1", because="repetitions, set in the plan")', "'1' is stated of protocol.repetitions, which is 12 in the plan of sample"),
        ('stated("2%", because="smallest effect of interest")', "'2%' is stated of smallest_effect, which is 0.005 in the plan of sample"),
        ('stated("12", because="what was chosen", plan="protocol.spares")', "'12' is stated of protocol.spares, which is 2 in the plan of sample"),
        ('stated("3%", because="threshold of pays")', "'3%' is stated of gate.pays.threshold, which is 0.02"),
        ('stated("512", because="rows, as chosen", plan="axes.cache")', "which is 2 in the plan of sample"),
        ('stated("12", because="what was chosen", plan="protocol.sheep")', "the plan has no field 'protocol.sheep' (sample)"),
        ('stated("12", because="set in the plan")', "'12' is said to be set in the plan, and nothing tells where"),
        ('stated("77", because="")', "'77' is stated without a reason"),
        ('published("nowhere", "a", "b")', "no figures published elsewhere as 'nowhere'"),
        ('published("../secret", "a", "b")', "no figures published elsewhere as '../secret'"),
        ('published("elsewhere", "third idea", "change_pct")', "elsewhere has 0 rows where {'change': 'third idea'}"),
        ('published("elsewhere", "first idea", "nothing")', "elsewhere has no 'nothing' there; its columns are: change, change_pct, base_us"),
        ('published("sourceless", "a", "b")', "published/sourceless.csv names no source"),
    ],
)  # fmt: skip
def test_a_figure_without_ground_is_refused(library: Library, tmp_path: Path, expression: str, fault: str) -> None:
    """At its line."""
    (problem,) = said(with_published(library, tmp_path), tmp_path, expression)[1]

    assert problem.startswith("site/page.md:9: ")
    assert fault in problem


def test_a_figure_published_elsewhere_stands_apart_with_its_source(library: Library, tmp_path: Path) -> None:
    """Digit for digit, with the unit that its column's name tells."""
    elsewhere = with_published(library, tmp_path)
    apart = '<span class="published" id="published-elsewhere"><data value="{}">{}</data> <cite>(published elsewhere: A report, on a V100)</cite></span>'

    assert (
        apart.format("0.39", "+0.39%")
        == said(elsewhere, tmp_path, 'published("elsewhere", "first idea", "change_pct")')[0]
    )
    assert (
        apart.format("-1.60", "−1.60%")
        == said(elsewhere, tmp_path, 'published("elsewhere", "second idea", "change_pct")')[0]
    )
    assert (
        apart.format("24431", "24431 µs")
        == said(elsewhere, tmp_path, 'published("elsewhere", {"change": "first idea"}, "base_us")')[0]
    )


def with_published(library: Library, folder: Path) -> Library:
    """Put two tables beside the pages, one of which names no source."""
    tables = folder / "published"
    tables.mkdir()
    rows = "change,change_pct,base_us\nfirst idea,0.39,24431\nsecond idea,-1.60,2\n"
    (tables / "elsewhere.csv").write_text(f"# source: A report, on a V100\n{rows}", "utf-8")
    (tables / "sourceless.csv").write_text("a,b\na,1\n", "utf-8")
    return library.but(site=folder)
