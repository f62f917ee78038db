"""A hundred reports of 40 rows with charts: what `build` takes cold, unchanged and with one page touched; beside plain generators.

The lab is that of a house with a hundred studies, each published once: one experiment (40 fixtures, three arms), one sealed
attempt, one report. So a hundred reports come with a hundred records to score, and the site has 400 pages more that nobody wrote: of
records, their fixtures, attempts, lists. A report has some 400 words, claims, bound figures, two charts and four tables, of which
one has a row for each of the 40 fixtures. With ``--records 1`` all reports speak of one record: what the pages by themselves take.

The peer gets the same pages already written out: prose, tables of as many rows in Markdown, and the charts as images. It renders
them with markdown-it-py and one Jinja template, without records, checks, downloads, search or feed. ``--mkdocs PYTHON`` names an
interpreter that has MkDocs, which then builds the same Markdown, with its own theme and search.

    python benchmarks/many_reports.py                      # 20 reports
    python benchmarks/many_reports.py --reports 100        # the whole
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks.scale.archive import Maker, night, verified
from benchmarks.scale.measured import HEADING, Measured, measured, mib_under, reportgen

COLD_S, UNCHANGED_S = 15.0, 0.5
ROWS = 40
DECLARATION = """schema_version = 1
title = "Sums of rows, way {name}"
question = "Does the second way of adding take less time?"
backend = "fake"
slicing = ["cache"]

[axes]
cache = ["same-set", "rotating"]
rows = [256, 512, 1024, 2048]
columns = [64, 128, 256, 512, 1024]

[protocol]
repetitions = 12

[fake]
base_ns = 20000.0
ratio = {{candidate = 0.99}}

[[arm]]
name = "incumbent"
role = "incumbent"
idea = "one running sum"

[[arm]]
name = "candidate"
role = "candidate"
idea = "two running sums, added at the end"
control = "incumbent"

[[arm]]
name = "null_incumbent"
role = "null"
of = "incumbent"
idea = "one running sum again"

[[gate]]
name = "worth_it"
kind = "headline"
arms = ["candidate"]
vs = "incumbent"
threshold = 0.005
"""
PROSE = (
    "Rows are added from left to right, and each addition waits for the one before it. With two sums the chain is shorter, "
    "at the price of one more addition at the end and one more register. Whether that pays depends on what else bounds the loop: "
    "where the rows come from memory, the loads do; where they lie in the cache, the chain does. The inputs are drawn anew for "
    "every shape and are the same in every process, and outputs are compared with sums in twice the precision."
)
REPORT = """+++
title = "Sums of rows, way {number}"
address = "ways/{number}/"
kind = "report"
summary = "Does the second way of adding take less time, on forty shapes?"
date = 2026-06-01
records = ["{record}"]

[[claims]]
says = "Every output of every arm was right, before and after timing."
holds = "count('failed_checks') == 0 and count('checks') > 0"
+++

{{{{ answer() }}}}

{{{{ claim(1) }}}}

{{{{ table("answer") }}}}

Measured on {{{{ fact("device") }}}} from {{{{ count("batches") }}}} scored batches.

## How big, and how sure

{{{{ chart("ratios") }}}}

{prose}

With the rows in the cache two sums changed the time of a launch by {{{{ change("candidate", where={{"cache": "same-set"}}) }}}}
({{{{ verdict("candidate", where={{"cache": "same-set"}}) }}}}), and beyond it by {{{{ change("candidate", where={{"cache": "rotating"}}) }}}}.

{{{{ table("changes") }}}}

## Shape by shape

{prose}

{{{{ chart("fixtures", vs="incumbent") }}}}

{{{{ table("fixtures") }}}}

{prose}

{{{{ table("times") }}}}

::: not-changed
## What was not changed

{prose}
:::

{{{{ downloads() }}}}
"""
HOME = """+++
title = "Ways of adding"
address = ""
kind = "home"
summary = "What was tried."
date = 2026-06-01
+++

{links}
"""
TABLE = "\n".join(
    ["| shape | time ratio | interval | verdict |", "| --- | ---: | ---: | --- |"]
    + [f"| rows={row} | 0.99{row:02} | 0.98{row:02} to 0.99{row:02} | faster, beyond margin |" for row in range(ROWS)]
)
PEER = """
import sys
from pathlib import Path
import jinja2
from markdown_it import MarkdownIt
root = Path(sys.argv[1])
shell = jinja2.Environment(autoescape=True).from_string("<!doctype html><title>{{ title }}</title><main>{{ body|safe }}</main>")
parser = MarkdownIt("commonmark").enable("table")
for source in sorted((root / "docs").glob("*.md")):
    target = root / "peer" / source.stem / "index.html"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(shell.render(title=source.stem, body=parser.render(source.read_text("utf-8"))), "utf-8")
"""


def main() -> int:
    """Measure and print the table; 1 if a budget that was asked for is missed."""
    parser = argparse.ArgumentParser(description="What a site of many reports takes.")
    parser.add_argument("--reports", type=int, default=20)
    parser.add_argument("--records", type=int, help="records they speak of; one a report, unless said")
    parser.add_argument("--mkdocs", help="a Python that has MkDocs")
    asked = parser.parse_args()
    records = asked.records or asked.reports
    with tempfile.TemporaryDirectory() as folder:
        lab, plain = Path(folder) / "lab", Path(folder) / "plain"
        make(lab, asked.reports, records)
        found = look(lab)
        found |= peers(lab, plain, asked.reports, asked.mkdocs)
        pages = len(list((lab / "public").rglob("*.html")))
        charts = len(list((lab / "public" / "figures").glob("*.svg")))
        print(
            f"{asked.reports} reports of {records} records; site: {pages} pages, {charts} charts, {mib_under(lab / 'public'):.0f} MiB"
        )
    cold, unchanged = found["build, cold"], found["build, unchanged"]
    print(
        f"budgets for 100 reports: cold {cold.wall_s:.1f} s of {COLD_S:.0f} s, unchanged {unchanged.wall_s:.2f} s of {UNCHANGED_S} s"
    )
    return 1 if cold.wall_s > COLD_S or unchanged.wall_s > UNCHANGED_S else 0


def make(lab: Path, reports: int, records: int) -> None:
    """Write the lab: an experiment and a sealed attempt for each record, then the reports and a first page."""
    names = [f"way_{number:03}" for number in range(records)]
    maker = Maker(lab, names, lambda name: DECLARATION.format(name=name))
    sealed = [maker.seal(study, night(number)) for number, study in enumerate(maker.studies)]
    verified([sealed[0], sealed[-1]])
    site = lab / "site"
    site.mkdir()
    for number in range(reports):
        text = REPORT.format(number=number, record=names[number % records], prose=PROSE)
        (site / f"way-{number:03}.md").write_text(text, "utf-8")
    links = "\n".join(f"- [Way {number}](ways/{number}/)" for number in range(reports))
    (site / "index.md").write_text(HOME.format(links=links), "utf-8")


def look(lab: Path) -> dict[str, Measured]:
    """Build cold, unchanged, with a word more on one page, and with a note on one attempt."""
    print(HEADING, flush=True)
    found = {}
    for work, change in (
        ("build, cold", None),
        ("build, unchanged", None),
        ("build, one page touched", _touch_page),
        ("build, one attempt touched", _touch_attempt),
    ):
        if change is not None:
            change(lab)
        found[work] = reportgen("build", "--strict", lab=lab)
        print(found[work].line(work), flush=True)
    return found


def _touch_page(lab: Path) -> None:
    page = lab / "site" / "way-000.md"
    page.write_text(page.read_text("utf-8").replace("## Shape by shape", "## Every shape by itself"), "utf-8")


def _touch_attempt(lab: Path) -> None:
    from reportgen.archive.notes import add_erratum  # noqa: PLC0415 - beside its one use

    add_erratum(next((lab / "runs" / "way_000").glob("*Z-*[0-9a-f]")), "noted by a benchmark")


def peers(lab: Path, plain: Path, reports: int, mkdocs: str | None) -> dict[str, Measured]:
    """Let other generators render the same pages, written out."""
    docs = plain / "docs"
    docs.mkdir(parents=True)
    charts = sorted((lab / "public" / "figures").glob("*.svg"))
    for number in range(reports):
        images = [charts[place % len(charts)] for place in (2 * number, 2 * number + 1)]
        for image in images:
            (docs / image.name).write_bytes(image.read_bytes())
        shown = "\n\n".join(f"![What was measured]({image.name})" for image in images)
        text = "\n\n".join([f"# Way {number}", *[PROSE] * 4, shown, *[TABLE] * 4])
        (docs / f"way-{number:03}.md").write_text(text, "utf-8")
    (docs / "index.md").write_text("# Ways\n\n" + "\n".join(f"- [{n}](way-{n:03}.md)" for n in range(reports)), "utf-8")
    works = {"peer: markdown-it and Jinja": [sys.executable, "-c", PEER, str(plain)]}
    if mkdocs:
        (plain / "mkdocs.yml").write_text("site_name: Ways\n", "utf-8")
        works["peer: MkDocs, same Markdown"] = [mkdocs, "-m", "mkdocs", "build", "--quiet"]
    found = {}
    for work, command in works.items():
        found[work] = measured(command, plain)
        print(found[work].line(work), flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main())
