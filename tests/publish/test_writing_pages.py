"""The guide to writing pages shows every binding, and what it shows works."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path

import msgspec
import pytest

from reportgen.model.code import CodeFacts
from reportgen.model.columns import COUNTERS
from reportgen.model.counters import CounterLine
from reportgen.model.record import Status
from reportgen.publish import (
    chart_data,
    record_facts,
    record_figures,
    study_charts,
    study_tables,
    study_values,
    sweep_tables,
    tables,
)
from reportgen.publish.bindings import Bindings
from reportgen.publish.cache import Cache
from reportgen.publish.claim_words import WORDS, ClaimWords
from reportgen.publish.figures import SAVINGS
from reportgen.publish.gather import Gathered
from reportgen.publish.imagined import NUMBER
from reportgen.publish.imported_bindings import KINDS as IMPORTED_KINDS
from reportgen.publish.library import Library
from reportgen.publish.markdown import KINDS, FrontMatter, fill, read_page
from reportgen.publish.templates import Theme
from reportgen.publish.theme_folders import default_theme
from reportgen.publish.view import FileFact, RecordView
from tests.publish.conftest import Built
from tests.publish.importing import imported_library

GUIDE = (Path(__file__).parents[2] / "docs" / "writing-pages.md").read_text("utf-8")
EXAMPLE = re.search(r"```page\n(.*?)```", GUIDE, re.DOTALL)
EXPRESSIONS = re.findall(r"`(\{\{ .*? \}\})`", GUIDE)
ELSEWHERE = "# source: a report of others\nchange,change_pct\nfirst idea,0.39\n"
OF_STUDIES = set(re.findall(r"`(\{\{ .*? \}\})`", GUIDE.partition("## An A/A study")[2]))


@pytest.fixture(scope="module")
def library(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Gather the records of the small lab, whose experiment is called as the guide's."""
    site = tmp_path_factory.mktemp("site")
    (site / "published").mkdir()
    (site / "published" / "attention_v100.csv").write_text(ELSEWHERE, "utf-8")
    found = Gathered(built.project, Cache(built.project.root / ".cache")).library
    imported = imported_library(tmp_path_factory.mktemp("elsewhere")).all_attempts()
    return found.but(
        site=site, records=tuple(map(counted, found.records)), attempts=(*found.attempts_beside(), *imported)
    )


def counted(record: RecordView) -> RecordView:
    """Put a profile of one cold fixture beside a record, and counts of its machine code, a patch and a band into it."""
    cold = next(one.name for one in record.plan.fixtures if one.values.get("cache") == "rotating")
    values = {column.name: 1.0 for column in COUNTERS if column.nullable}
    arms = [arm.name for arm in record.plan.experiment.arms]
    attempt = msgspec.structs.replace(
        record.attempts[0],
        status=Status.COMPLETE,
        counters=[CounterLine(cold, arm, 1, arm, 3, values) for arm in arms],
        moved_bytes={cold: 2},
    )
    code = {arm: CodeFacts(registers=32, instructions=100, opcodes={"LDG.E.128": 4}) for arm in arms}
    own = [msgspec.structs.replace(record.attempts[0], code=code), *record.attempts[1:]]
    result, patch = record.result, FileFact("patches/candidate-vs-control.patch", 1, "0" * 64)
    band = msgspec.structs.replace(result.gates[0], name="where", kind="band") if result.gates else None
    return msgspec.structs.replace(
        record,
        attempts=own,
        others=[attempt],
        downloads=[*record.downloads, patch],
        result=msgspec.structs.replace(result, gates=[*result.gates, *([band] if band else [])]),
    )


def filled(library: Library, folder: Path, text: str) -> tuple[str, list[str]]:
    """Evaluate a page's text; return it with what went wrong."""
    (folder / "page.md").write_text(text, "utf-8")
    page = read_page(folder / "page.md", "site/page.md")
    bindings = Bindings(page, library, Theme([default_theme()]))
    said, faults = fill(page, bindings.functions())
    return said, [str(problem) for problem in bindings.problems + faults]


def test_the_example_page_works(library: Library, tmp_path: Path) -> None:
    """Front matter, figures, a chart and a box."""
    assert EXAMPLE is not None
    said, wrong = filled(library, tmp_path, EXAMPLE.group(1))
    assert [] == wrong
    assert "−5.00%" in said


@pytest.fixture(scope="module")
def of_study(built_study: Built) -> Library:
    """Gather a lab whose record is an A/A study."""
    return Gathered(built_study.project, Cache(built_study.project.root / ".cache")).library


@pytest.mark.parametrize("expression", sorted(OF_STUDIES))
def test_every_expression_about_studies_works(of_study: Library, tmp_path: Path, expression: str) -> None:
    """Each is evaluated on a page about the study."""
    front = EXAMPLE.group(1).partition("{{")[0].replace('["sample"]', '["null_study"]') if EXAMPLE else ""
    assert [] == filled(of_study, tmp_path, front + expression + "\n")[1]


@pytest.mark.parametrize("expression", [one for one in EXPRESSIONS if one not in OF_STUDIES])
def test_every_expression_in_the_guide_works(library: Library, tmp_path: Path, expression: str) -> None:
    """Each is evaluated as a page with one record does."""
    assert EXAMPLE is not None
    front = EXAMPLE.group(1).partition("{{")[0]
    assert [] == filled(library, tmp_path, front + expression + "\n")[1]


def test_the_guide_names_every_binding_and_every_choice(library: Library, tmp_path: Path) -> None:
    """A binding, count, fact, table, chart, page kind or key without a word in the guide fails here."""
    (tmp_path / "page.md").write_text(EXAMPLE.group(1) if EXAMPLE else "", "utf-8")
    page = read_page(tmp_path / "page.md", "site/page.md")
    shown = {match for expression in EXPRESSIONS for match in re.findall(r"^\{\{ (\w+)\(", expression)}
    assert set(Bindings(page, library, Theme([default_theme()])).functions()) == shown
    choices = [*record_facts.COUNTS, *record_facts.FACTS, *KINDS, *FrontMatter.__struct_fields__]
    assert [] == [name for name in choices if f"`{name}`" not in GUIDE]
    known = {*tables.BY_SLICE, *tables.WHOLE, *tables.OF_GATES, *study_tables.KINDS}
    shown = {*known, *IMPORTED_KINDS, "bandwidth", "peers", "code", "counters", "patches", *sweep_tables.KINDS}
    assert shown == set(re.findall(r'table\("(\w+)"', GUIDE))
    assert {*chart_data.KINDS, *study_charts.KINDS, *record_figures.KINDS, SAVINGS} == set(
        re.findall(r'chart\("(\w+)"', GUIDE)
    )


def test_the_guide_names_every_word_of_a_claim_as_it_is_called() -> None:
    """With its parameters and their defaults; ``study`` passes its own on."""
    for name in set(WORDS) - {"study"}:
        signature = inspect.signature(getattr(ClaimWords, name))
        said = [
            one.name if one.default is one.empty else f"{one.name}={json.dumps(one.default).replace('null', 'None')}"
            for one in signature.parameters.values()
        ]
        assert f"`{name}({', '.join(said[1:])})`" in GUIDE
    assert f"{NUMBER} records that are made up" in GUIDE


def test_the_guide_names_every_figure_of_a_study() -> None:
    """Row by row of what the keywords select."""
    rows = [line for line in GUIDE.splitlines() if line.startswith("| `{{ study(")]
    selected = (
        study_values.MODE, study_values.SHOWN, study_values.KERNEL, study_values.POWER,
        {**study_values.HARNESS, **study_values.READS}, study_values.HARNESS_KERNEL, study_values.WHOLE,
    )  # fmt: skip
    for row, names in zip(rows, selected, strict=True):
        assert set(names) == set(re.findall(r"`(\w+)`", row.split("|")[2])) - {"one_placement"}
