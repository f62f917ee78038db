"""What programs read of a site: data packages, Croissant, citations, the index and its schema."""

from __future__ import annotations

import csv
import hashlib
import html
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
import yaml  # type: ignore[import-untyped]

from reportgen.model.columns import BATCHES, ORIGIN
from reportgen.project import Settings
from reportgen.publish import citing, snippets
from reportgen.publish.markdown import FrontMatter
from tests.publish.conftest import Built


@pytest.fixture(scope="module")
def folder(built: Built) -> Path:
    """Find the folder of the measured record."""
    return next(built.out.glob("records/sample/*"))


@pytest.fixture(scope="module")
def package(folder: Path) -> Any:
    """Read its data package."""
    return json.loads((folder / "datapackage.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def dataset(built: Built, folder: Path) -> Any:
    """Read the JSON-LD of its page."""
    page = built.page(folder.relative_to(built.out).as_posix())
    (block,) = re.findall(r'<script type="application/ld\+json">(.*?)</script>', page, re.DOTALL)
    return json.loads(block)


def test_a_data_package_lists_files_with_bytes_and_hashes(folder: Path, package: Any) -> None:
    """Every file beside it but the zip, which holds the package itself, and the sums."""
    assert "https://datapackage.org/profiles/2.0/datapackage.json" == package["$schema"]
    listed = {resource["path"]: resource for resource in package["resources"]}
    assert {"batches.csv", "batches.parquet", "checks.csv", "plan.toml", "results.json", "verify.py"} <= set(listed)
    for path, resource in listed.items():
        data = (folder / path).read_bytes()
        assert (len(data), f"sha256:{hashlib.sha256(data).hexdigest()}") == (resource["bytes"], resource["hash"])
        assert re.fullmatch(r"[a-z0-9-]+", resource["name"])


def test_its_fields_are_the_columns_with_types_and_units(folder: Path, package: Any) -> None:
    """In the order of the file; and no required value is missing there."""
    tables = {resource["path"]: resource for resource in package["resources"] if resource.get("type") == "table"}
    fields = {field["name"]: field for field in tables["batches.csv"]["schema"]["fields"]}
    assert [column.name for column in (*ORIGIN, *BATCHES)] == list(fields)
    assert ("integer", "ns") == (fields["elapsed_ns"]["type"], fields["elapsed_ns"]["unit"])
    assert ("boolean", "string") == (fields["warmup"]["type"], fields["arm"]["type"])
    required = [name for name, field in fields.items() if field.get("constraints") == {"required": True}]
    assert "elapsed_ns" in required
    assert "power_w_before" not in required
    with (folder / "batches.csv").open(encoding="utf-8") as lines:
        assert all(row[name] for row in csv.DictReader(lines) for name in required)


def test_a_study_describes_its_own_tables(built_study: Built) -> None:
    """By the words that the README has for their columns."""
    for path in built_study.out.glob("records/*/*/datapackage.json"):
        package = json.loads(path.read_text("utf-8"))
        tables = {one["path"]: one["schema"]["fields"] for one in package["resources"] if one.get("type") == "table"}
        assert {"null_comparisons.csv", "batches.csv"} <= set(tables)
        types = {field["name"]: field["type"] for field in tables["null_comparisons.csv"]}
        assert ("boolean", "integer", "number") == (types["alarm"], types["n"], types["estimate"])


def test_a_page_describes_its_record_as_a_data_set(built: Built, folder: Path, dataset: Any) -> None:
    """Each file with its hash, each column with its file; and a title with a script in it ends nothing."""
    assert ("sc:Dataset", "http://mlcommons.org/croissant/1.0") == (dataset["@type"], dataset["conformsTo"])
    files = {one["@id"]: one for one in dataset["distribution"]}
    for name, file in files.items():
        assert hashlib.sha256((folder / file["contentUrl"]).read_bytes()).hexdigest() == file["sha256"], name
    fields = {field["@id"]: field for records in dataset["recordSet"] for field in records["field"]}
    assert {"fileObject": {"@id": "batches.csv"}, "extract": {"column": "elapsed_ns"}} == fields["batches/elapsed_ns"][
        "source"
    ]
    assert "<script>alert(1)</script>" in dataset["description"]
    described = built.out / "data" / folder.relative_to(built.out / "records")
    file = json.loads((described / "croissant.json").read_text("utf-8"))
    assert dataset["recordSet"] == file["recordSet"]
    assert all((described / one["contentUrl"]).is_file() for one in file["distribution"])


def test_the_index_keeps_to_its_schema(built: Built) -> None:
    """A field taken away does not."""
    index = json.loads((built.out / "data" / "index.json").read_text("utf-8"))
    schema = json.loads((built.out / "data" / index["$schema"]).read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(index, schema)
    del index["records"][0]["files"][0]["sha256"]
    with pytest.raises(jsonschema.ValidationError, match="sha256"):
        jsonschema.validate(index, schema)


def test_a_record_has_a_citation_file(built: Built, folder: Path) -> None:
    """Linked from its page; the odd title is one string of it."""
    place = built.out / "data" / folder.relative_to(built.out / "records") / "CITATION.cff"
    said = yaml.safe_load(place.read_text("utf-8"))
    assert ("1.2.0", "dataset", "CC-BY-4.0") == (said["cff-version"], said["type"], said["license"])
    assert 'Loads & "stores": <script>alert(1)</script> für Ångström' == said["title"]
    assert [{"name": "A lab"}] == said["authors"]
    assert f"sample@{folder.name}" in said["identifiers"][0]["value"]


def test_bibtex_escapes_what_means_something_to_it() -> None:
    """Authors are braced, so that a lab is no family name; the address stands where the lab names it."""
    said = {"title": "A & B_c: 5 % {x}", "kind": "report", "summary": "s", "date": "2026-03-02", "address": "a/b/"}
    front = msgspec.convert(said, FrontMatter)
    cited = citing.of_page(front, Settings(title="Lab", address="https://example.org/lab", authors=["Ada L", "B"]), [])
    assert (
        "@misc{a-b,\n  author = {{Ada L} and {B}},\n  title = {{A \\& B\\_c: 5 \\% \\{x\\}}},\n  year = {2026},\n"
        "  month = {3},\n  publisher = {Lab},\n  url = {https://example.org/lab/a/b/},\n}" == cited.bibtex
    )
    assert "Lab: A & B_c: 5 % {x}. 2026-03-02." == cited.text


@pytest.mark.parametrize("program", ["pandas", "polars", "DuckDB"])
def test_the_lines_of_the_catalogue_read_the_site(
    built: Built, address: str, program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As they stand there, over HTTP: 950 ns against 1,000."""
    page = html.unescape(built.page("data"))
    (code,) = re.findall(rf'aria-label="{program}"><code>(.*?)</code>', page, re.DOTALL)
    names: dict[str, Any] = {}
    monkeypatch.chdir(tmp_path)  # one of them keeps the file beside it
    exec(code.replace(snippets.SERVED, address), names)  # noqa: S102 - the page's own lines
    found = arms_of(program, names["found"])
    assert {"incumbent", "control", "candidate"} <= set(found)
    assert found["candidate"] / found["incumbent"] == pytest.approx(0.95)


def arms_of(program: str, found: Any) -> dict[str, float]:
    """Give the times of one fixture by arm, from what the lines of a program found."""
    if program == "pandas":
        return dict(found["process"]["rows=256,cache=same-set"])
    rows = found.rows() if program == "polars" else found.fetchall()
    return {arm: ns for mode, fixture, arm, ns in rows if (mode, fixture) == ("process", "rows=256,cache=same-set")}
