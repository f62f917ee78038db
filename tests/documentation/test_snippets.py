"""Every code block of the documentation runs, or is read by what would read it; those that cannot run here say why.

Blocks of a page run in its order in one folder. A block with ``<!-- file: NAME -->`` above it is written there first.
"""

from __future__ import annotations

import doctest
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
import yaml  # type: ignore[import-untyped]

from reportgen.model import experiment as model
from reportgen.model.building import Command as Program
from reportgen.model.building import Compile
from reportgen.model.protocol import Protocol
from reportgen.model.service import Service
from reportgen.project import Settings, SiteSettings
from tests.documentation.blocks import DOCS, ROOT, Block, blocks, commands, pages
from tests.documentation.zygote import Zygote
from tests.factories import sealed_attempt

LANGUAGES = {"console", "sh", "python", "toml", "yaml", "json", "csv", "c", "cpp", "swift", "cuda", "text", "page"}
NEVER_RUN = {"cpp", "swift", "cuda"}  # what they are needs what is not here: each says so
KINDS = {
    "gate": list[model.Gate], "harness": list[model.Harness], "arm": list[model.Arm], "fixture": list[model.ExtraFixture],
    "comparison": list[model.Comparison], "service": list[Service], "protocol": Protocol, "compile": Compile,
    "command": Program, "site": SiteSettings, "axes": dict[str, list[str | int | float | bool]],
}  # fmt: skip
SHOWN = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MARK = "\nprint(chr(0))\n"  # between the outputs of blocks
GIVEN = re.compile(r"(\S+)(?: as (\S+))?")


@pytest.fixture(scope="module")
def zygote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zygote]:
    """Load the program once."""
    with Zygote(tmp_path_factory.mktemp("locks")) as started:
        yield started


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Archive a small record with a candidate that takes less time: what pages call `sample`."""
    sealed_attempt(tmp_path_factory.mktemp("made"))
    return tmp_path_factory.getbasetemp() / "made0"


class Reading:
    """A page being read: its folder, where a reader stands in it, and the Python said so far."""

    def __init__(self, zygote: Zygote, folder: Path, made: Path) -> None:
        self._made, self._zygote, self._folder, self._here = made, zygote, folder, folder
        self._pending: list[str] = []
        self._printed = ""

    def read(self, block: Block) -> None:
        """Do what a reader does with a block."""
        for path, name in GIVEN.findall(block.markers.get("given", "")):
            place = self._here / (name or Path(path).name)
            place.parent.mkdir(parents=True, exist_ok=True)
            source = self._made / path if path == "sample" else ROOT / path
            (shutil.copytree if source.is_dir() else shutil.copy)(source, place)
        if name := block.markers.get("file"):
            self._write(block, self._here / name)
        elif block.language in ("console", "sh"):
            self._commands(block)
        elif block.language == "python":
            self._pending.append(block.text)
        elif "printed" in block.markers:
            self.run_python()
            self._compare(block.text, self._printed, block.line)
        checked(block, fragment="file" not in block.markers)

    def _write(self, block: Block, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, "utf-8")
        if block.text.startswith("#!"):
            path.chmod(0o755)

    def _commands(self, block: Block) -> None:
        wanted = commands(block)
        for place, command in enumerate(wanted, start=1):
            status, out, said = self._command(command.words)
            expected = int(block.markers.get("ends with", 0)) if place == len(wanted) else 0
            assert expected == status, f"line {block.line}: {command.words}\n{out}{said}"
            if command.shown is not None:
                self._compare(command.shown, out + said if status else out, block.line)

    def _command(self, words: str) -> tuple[int, str, str]:
        words = re.sub(r"\s+#.*", "", words)
        if words.startswith("cd "):
            self._here = (self._here / words[3:].strip()).resolve()
            assert self._here.is_dir(), words
            return 0, "", ""
        line, _, target = words.partition(" > ")
        if line.startswith("reportgen ") and not re.search(r"[|&;$*]", words):
            argv = shlex.split(line)[1:]
            status, out, said = self._zygote.ask(self._here, argv=argv)
            if target:
                (self._here / target.strip()).write_text(out, "utf-8")
            return status, "" if target else out, said
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
        ended = subprocess.run(
            ["bash", "-c", words], cwd=self._here, env=environment, capture_output=True, text=True, check=False
        )
        return ended.returncode, ended.stdout, ended.stderr

    def run_python(self) -> None:
        """Run the lines of Python that were read and not yet run, all that the page has so far in one process."""
        if self._pending:
            status, out, said = self._zygote.ask(self._here, code=MARK.join(self._pending))
            assert 0 == status, said
            self._printed, self._pending = out.rpartition("\0\n")[2], []

    @staticmethod
    def _compare(shown: str, out: str, line: int) -> None:
        wanted, got = shown.strip() + "\n", out.strip() + "\n"
        assert doctest.OutputChecker().check_output(wanted, got, SHOWN), (
            f"line {line} shows\n{wanted}\nbut it was\n{got}"
        )


def checked(block: Block, *, fragment: bool) -> None:
    """Have a block read by what reads its language; a fragment of an experiment or of settings by the model of its tables."""
    if block.language == "toml":
        tables = tomllib.loads(block.text)
        known = {key: kind for key, kind in KINDS.items() if key in tables and fragment}
        assert not fragment or set(tables) <= {*KINDS, *Settings.__struct_encode_fields__}, f"line {block.line}"
        for key, kind in known.items():
            msgspec.convert(tables[key], kind)
    elif block.language == "json":
        for line in block.text.splitlines() if block.text.count("\n{") else [block.text]:
            json.loads(line)
    elif block.language == "yaml":
        assert isinstance(yaml.safe_load(block.text), dict)
    elif block.language == "python":
        compile(block.text, f"line {block.line}", "exec")
    elif block.language == "sh":
        subprocess.run(["bash", "-n"], input=block.text, text=True, check=True)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(DOCS).as_posix())
def test_every_block_of_a_page_works(page: Path, zygote: Zygote, made: Path, tmp_path: Path) -> None:
    """In the order of the page, in a folder of its own."""
    folder = tmp_path / "here"
    folder.mkdir()
    reading = Reading(zygote, folder, made)
    for block in blocks(page):
        assert block.language in LANGUAGES, f"line {block.line}: a block says its language, or `text`"
        assert block.language not in NEVER_RUN or "not run" in block.markers, (
            f"line {block.line}: says why it is not run"
        )
        if "not run" in block.markers:
            checked(block, fragment=True)
        else:
            reading.read(block)
    reading.run_python()


def test_what_is_not_run_says_why() -> None:
    """Each reason, page by page: whoever adds one adds it here too."""
    found: dict[str, list[str]] = {}
    for page in pages():
        for block in blocks(page):
            if "not run" in block.markers:
                found.setdefault(page.relative_to(DOCS).as_posix(), []).append(block.markers["not run"])
    assert json.loads((Path(__file__).parent / "not_run.json").read_text("utf-8")) == found
