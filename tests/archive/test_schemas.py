"""The published formats: documents in docs/ are current, and real files are what the schemas say."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from reportgen.archive import layout
from reportgen.archive.load import load_attempt
from reportgen.archive.notes import exclude
from reportgen.archive.schemas import RECORD_FORMAT, SCHEMAS, schema_of, schema_text, with_columns, write_reference
from reportgen.archive.select import find_record
from reportgen.model.columns import TABLES
from reportgen.model.experiment import Gate, GateKind
from reportgen.scoring import score
from tests.factories import make_experiment, make_header, make_plan, make_rows, open_attempt, sealed_attempt

DOCS = Path(__file__).parents[2] / "docs"
PLAN = make_plan(
    make_experiment(
        gates=[Gate(name="pays", kind=GateKind.HEADLINE, arms=["candidate"], vs="incumbent", threshold=0.02)]
    )
)


def lines(path: Path) -> list[Any]:
    """Read JSON lines."""
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """Collect real documents of every kind."""
    runs = tmp_path_factory.mktemp("runs")
    path = sealed_attempt(runs, plan=PLAN, failed_arms=["control"]).path
    result = score(find_record([load_attempt(path)], "sample"))
    exclude(path, "the fan was unplugged")
    with open_attempt(runs / "open", PLAN, make_rows(PLAN, repetitions=1), make_header(PLAN)) as journal:
        opened = journal.folder
    return {
        "experiment": [tomllib.loads(msgspec.toml.encode(msgspec.to_builtins(_plain(PLAN.experiment))).decode())],
        "plan": [tomllib.loads((path / layout.PLAN).read_text())],
        "manifest": [json.loads((path / layout.MANIFEST).read_text())],
        "repetition": lines(path / layout.REPETITIONS),
        "event": lines(path / layout.EVENTS),
        "note": lines(layout.notes_file(path)),
        "results": [json.loads(msgspec.json.encode(result))],
        "header": [json.loads((opened / layout.HEADER).read_text())],
        "journal": lines(opened / layout.JOURNAL),
    }


def _plain(noun: Any) -> Any:
    """Drop what is null, which TOML does not know."""
    plain = msgspec.to_builtins(noun)
    if isinstance(plain, dict):
        return {key: _plain(value) for key, value in plain.items() if value is not None}
    return [_plain(value) for value in plain] if isinstance(plain, list) else plain


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_committed_schema_is_current(name: str) -> None:
    """Run `python -m reportgen.archive.schemas` after changing a model."""
    assert schema_text(name) == (DOCS / "schema" / f"{name}.json").read_bytes()


def test_no_schema_is_left_over() -> None:
    """Each file belongs to a model."""
    assert sorted(f"{name}.json" for name in SCHEMAS) == sorted(path.name for path in (DOCS / "schema").iterdir())


@pytest.mark.parametrize("name", SCHEMAS)
def test_real_documents_are_valid(documents: dict[str, list[Any]], name: str) -> None:
    """By an independent validator; a later version is not."""
    validator = jsonschema.Draft202012Validator(schema_of(name))
    validator.check_schema(schema_of(name))
    assert documents[name]
    for document in documents[name]:
        validator.validate(document)
        assert not validator.is_valid(document | {"schema_version": 2})
        assert not validator.is_valid({key: value for key, value in document.items() if key != "schema_version"})


def test_the_columns_in_the_documentation_are_current() -> None:
    """Every column with its unit and meaning, as the registry has it."""
    text = (DOCS / RECORD_FORMAT).read_text()
    assert text == with_columns(text)
    for columns in TABLES.values():
        assert all(
            f"| `{column.name}` | {column.type} | {column.unit} | {column.meaning}" in text for column in columns
        )


def test_every_file_of_an_attempt_is_documented() -> None:
    """By its name."""
    text = (DOCS / RECORD_FORMAT).read_text()
    named = [value for key, value in vars(layout).items() if key.isupper() and isinstance(value, str) and "." in value]
    assert len(named) > 8
    assert [] == [name for name in named if name not in text]


def test_the_reference_is_written_as_committed(tmp_path: Path) -> None:
    """The command gives what is in docs/, from an emptied page."""
    text = (DOCS / RECORD_FORMAT).read_text()
    (tmp_path / RECORD_FORMAT).write_text(text.replace("| `fixture` |", "| `old` |"))
    write_reference(tmp_path)
    assert text == (tmp_path / RECORD_FORMAT).read_text()
    assert (tmp_path / "schema" / "plan.json").read_bytes() == (DOCS / "schema" / "plan.json").read_bytes()


def test_the_digest_can_be_computed_by_hand_as_documented(tmp_path: Path) -> None:
    """The commands of the documentation, run as they stand there in a real attempt."""
    _, _, after = (DOCS / RECORD_FORMAT).read_text().partition("By hand, in a folder of a sealed attempt:\n\n")
    shown = [
        line[2:]
        for line in after.partition("```console\n")[2].partition("```")[0].splitlines()
        if line[:2] in ("$ ", "> ")
    ]
    block = "\n".join(["cd artifacts/sources", *shown[1:]]).replace("python3", shlex.quote(sys.executable))
    path = sealed_attempt(tmp_path, repetitions=1).path
    done = subprocess.run(["bash", "-ec", block], cwd=path, capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
    (path / "artifacts" / "sources" / "sample" / "sample.c").write_text("changed")
    done = subprocess.run(["bash", "-ec", block], cwd=path, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
