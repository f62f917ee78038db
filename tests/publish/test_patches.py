"""Patches: git takes them, and what it makes of the baseline's source is the arm's."""

from __future__ import annotations

import hashlib
import re
import subprocess
from pathlib import Path

import pytest

from reportgen.archive import layout
from reportgen.archive.encoding import encode_toml
from reportgen.archive.select import Record, find_record
from reportgen.errors import InputError
from reportgen.model.experiment import Arm, Experiment, Gate, GateKind, Role
from reportgen.model.plan import PlanFile
from reportgen.publish import patches
from reportgen.publish.build import build
from reportgen.publish.downloads import write_record
from reportgen.publish.patch_tables import fact_of
from reportgen.publish.patches import Pair
from reportgen.publish.record_checks import record_findings
from reportgen.publish.view import RecordView
from reportgen.scoring import score
from tests.factories import make_arms, make_experiment, make_plan, sealed_attempt
from tests.publish.site_lab import HOME, make_lab

PLAIN = b'#include "common.h"\n\nint plain(int x)\n{\n    return x + STEP;\n}\n'
FEWER = b'#define FEWER 1\n#include "common.h"\n\nint fewer(int x)\n{\n    return x + 2 * STEP;\n}\n'
MACRO = b"#ifndef LOADS\n#define LOADS 1\n#endif\nint ENTRY(int x) { return x + LOADS; }\n"
FILES = {
    "sample/experiment.toml": b'title = "Sample"\n',
    "sample/plain.c": PLAIN,
    "sample/fewer.c": FEWER,
    "sample/macro.c": MACRO,
    "sample/rows.py": b"def rows(x):\n    return x\n",
    "common/plain.c": b"another file of that name\n",
}
PAGE = """+++
title = "Fewer loads"
address = "fewer/"
kind = "note"
summary = "What to take."
date = 2026-03-02
records = ["sample"]
+++

Take {{ patch("candidate") }}.

{{ table("patches") }}
"""


def one(name: str, file: str | None, symbol: str, **more: object) -> Arm:
    """Give an arm."""
    role = more.pop("role", Role.CANDIDATE)
    return Arm(name=name, role=role, idea="fewer loads", file=file, symbol=symbol, **more)  # type: ignore[arg-type]


def another(file: str | None, symbol: str, **more: object) -> Arm:
    """Give a baseline."""
    return one("other", file, symbol, role=Role.INCUMBENT, **more)


def pair(
    own: bytes, other: bytes, arm: Arm | None = None, baseline: Arm | None = None
) -> tuple[Pair, dict[str, bytes]]:
    """Pair two arms with the sources ``own`` and ``other``."""
    sources = {"lab/own.c": own, "lab/other.c": other}
    files = [PlanFile(path=path, sha256=hashlib.sha256(text).hexdigest()) for path, text in sources.items()]
    named = (arm or one("own", "own.c", "own"), baseline or another("other.c", "other"))
    return Pair(*named, (files[0], files[1])), sources


def applied(folder: Path, patch: bytes, path: str, before: bytes) -> bytes:
    """Let git check a patch in a real folder, then apply it, and read what the file became."""
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(before)
    (folder / "own.patch").write_bytes(patch)
    for command in (["git", "apply", "--check", "own.patch"], ["git", "apply", "own.patch"]):
        told = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert 0 == told.returncode, told.stderr
    return file.read_bytes()


@pytest.mark.parametrize(
    ("own", "other"),
    [
        (FEWER, PLAIN),
        (FEWER.rstrip(b"\n"), PLAIN),
        (FEWER, PLAIN.rstrip(b"\n")),
        (FEWER.rstrip(b"\n"), PLAIN.rstrip(b"\n")),
        (FEWER.replace(b"\n", b"\r\n"), PLAIN.replace(b"\n", b"\r\n")),
        (b"a\x0cb\x1c\x85 \xc3\xa4\xff\n" + FEWER, b"a\x0cb\x1c\x85 \xc3\xa4\xff\n" + PLAIN),
        (b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n" + FEWER, b"-- \n" + PLAIN),
        (FEWER, b""),
    ],
    ids=[
        "plain",
        "own_unended",
        "other_unended",
        "both_unended",
        "carriage_returns",
        "odd_bytes",
        "like_a_diff",
        "empty",
    ],
)
def test_git_makes_the_arms_source_of_the_baselines(own: bytes, other: bytes, tmp_path: Path) -> None:
    """Byte for byte, whatever ends lines or files."""
    made, sources = pair(own, other)
    assert own == applied(tmp_path, patches.body(made, sources), "lab/other.c", other)


def test_macros_of_an_arm_stand_in_its_patch(tmp_path: Path) -> None:
    """Compiled with the baseline's macros the patched file is the arm's code; one that names the entry point stays the baseline's."""
    own = one("own", "own.c", "four", defines={"ENTRY": "four", "LOADS": 4, "EXTRA": "(1 + 1)"})
    other = another("other.c", "single", defines={"ENTRY": "single", "LOADS": 1, "ONLY": 1})
    made, sources = pair(MACRO, MACRO, own, other)
    text = applied(tmp_path, patches.body(made, sources), "lab/other.c", MACRO)
    assert b"#undef LOADS\n#define LOADS 4\n#undef EXTRA\n#define EXTRA (1 + 1)\n#undef ONLY\n\n" + MACRO == text
    command = ["cc", "-E", "-P", "-DENTRY=single", "-DLOADS=1", "-DONLY=1", "lab/other.c"]
    seen = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "int single(int x) { return x + 4; }" == seen.stdout.strip()


@pytest.mark.parametrize(
    ("own", "other", "said"),
    [
        (one("own", "macro.c", "four"), another("macro.c", "single"), "Both are entry points of sample/macro.c: four and single."),
        (one("own", "rows.py", "rows"), another("macro.c", "single"), "They are written in different languages: sample/rows.py and sample/macro.c."),
        (one("own", "rows.py", "a", defines={"X": 1}), another("rows.py", "b"), "Both are entry points of sample/rows.py: a and b."),
        (
            one("own", None, "a", arguments=["--fast"], environment={"THREADS": "2"}),
            another(None, "b"),
            "No source of both is in the record. own is given THREADS=2 --fast; other is given nothing.",
        ),
        (one("own", "fewer.c", "fewer"), another("plain.c", "plain"), ""),
        (one("own", "macro.c", "four", defines={"LOADS": 4}), another("macro.c", "single"), ""),
    ],
    ids=["same_file", "languages", "python", "outside_program", "two_files", "macros"],
)  # fmt: skip
def test_two_arms_without_a_patch_say_why(own: Arm, other: Arm, said: str) -> None:
    """An honest word in place of an empty diff."""
    plan = make_plan(make_experiment(arms=[other, own], comparisons=[]), sources=FILES)
    made = Pair(own, other, (patches._file(plan, own), patches._file(plan, other)))
    assert said == patches.why_none(made)


def one_of(arm: Arm, changes: dict[str, object]) -> Arm:
    """Replace fields of an arm."""
    fields = {name: getattr(arm, name) for name in arm.__struct_fields__}
    return Arm(**{**fields, **changes})


def declared() -> Experiment:
    """Give the factory's experiment with a file for the candidate, macros for the control, and a band."""
    arms = {arm.name: arm for arm in make_arms()}
    files: dict[str, dict[str, object]] = {
        "incumbent": {"file": "plain.c", "symbol": "plain"},
        "control": {"file": "plain.c", "symbol": "plain_too", "defines": {"STEP": 1}},
        "candidate": {"file": "fewer.c", "symbol": "fewer"},
        "floor": {"file": "macro.c", "symbol": "floor"},
    }
    changed = [one_of(arm, files.get(name, {})) for name, arm in arms.items()]
    band = Gate(
        name="where",
        kind=GateKind.BAND,
        arms=["candidate"],
        vs="incumbent",
        axis="rows",
        threshold=0.005,
        required=False,
    )
    return make_experiment(arms=changed, gates=[band])


DECLARED = declared()
SOURCES = {**FILES, "sample/experiment.toml": encode_toml(DECLARED)}
PLAN = make_plan(DECLARED, sources=SOURCES)


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """Archive a scored attempt of it."""
    return find_record(
        [sealed_attempt(tmp_path_factory.mktemp("runs"), plan=PLAN, sources=SOURCES, noise=0.0)], "sample"
    )


@pytest.fixture(scope="module")
def folder(record: Record, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write its files."""
    out = tmp_path_factory.mktemp("out")
    write_record(record, score(record), out)
    return out


def test_a_record_carries_its_patches_hashed(folder: Path) -> None:
    """Candidates and controls against whatever they are compared with; nulls and floors none."""
    names = sorted(path.name for path in (folder / "patches").iterdir())
    assert ["candidate-vs-control.patch", "candidate-vs-incumbent.patch", "control-vs-incumbent.patch"] == names
    listed = re.findall(r"[0-9a-f]{64}  patches/(\S+)", (folder / layout.SUMS).read_text())
    assert names == listed
    assert [] == record_findings(folder)


def test_every_patch_applies_in_the_folder_of_archived_sources(record: Record, folder: Path, tmp_path: Path) -> None:
    """The downloaded record is all that is needed."""
    for path in sorted((folder / "patches").iterdir()):
        sources = folder / record.attempts[0].id / "artifacts" / "sources"
        command = ["git", "apply", "--check", str(path)]
        told = subprocess.run(command, cwd=sources, capture_output=True, text=True, check=False)
        assert 0 == told.returncode, told.stderr
    patch = (folder / "patches" / "candidate-vs-incumbent.patch").read_bytes()
    assert FEWER == applied(tmp_path, patch, "sample/plain.c", PLAIN)


def test_a_patch_says_at_its_head_what_was_measured(record: Record, folder: Path) -> None:
    """Record, device, figures, verdict, outcome, gates; what the file was, and how its entry point is called afterwards."""
    text = (folder / "patches" / "candidate-vs-incumbent.patch").read_text()
    head = re.sub(r"\n#\s+", " ", text.partition("\ndiff --git ")[0])
    for said in (
        "# candidate in place of incumbent: fewer loads.",
        f"Record sample@{record.slug}, at records/sample/{record.slug}/ of the site that published it. Plan {record.digest}.",
        "on Sample CPU: 864 scored batches;",
        f"SHA-256 of sample/plain.c before it: {hashlib.sha256(PLAIN).hexdigest()}.",
        "The entry point is then fewer, where it was plain.",
        "cache=same-set: -5.00% (-5.00% to -5.00%), faster. The whole interval lies beyond the margin.",
        "Outcome adopt: cache=same-set; cache=rotating.",
        "Gate where, cache=rotating: passes (pays from 256 to 1024).",
    ):
        assert said in head, head
    assert all(line.startswith("# ") for line in text.partition("\ndiff --git ")[0].splitlines())
    macros = (folder / "patches" / "control-vs-incumbent.patch").read_text()
    assert "+#undef STEP\n+#define STEP 1\n+\n" in macros


def test_inside_a_repository_a_patch_takes_the_folder(folder: Path, tmp_path: Path) -> None:
    """Git reads its paths from the top there, wherever it is called."""
    file = tmp_path / "kernels" / "sample" / "plain.c"
    file.parent.mkdir(parents=True)
    file.write_bytes(PLAIN)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    patch = folder / "patches" / "candidate-vs-incumbent.patch"
    subprocess.run(["git", "apply", "--directory=kernels", str(patch)], cwd=tmp_path, check=True, capture_output=True)
    assert FEWER == file.read_bytes()


def test_a_patch_that_was_changed_is_found(folder: Path) -> None:
    """Even where every hash was made anew: the archived sources say what it must be."""
    path = folder / "patches" / "candidate-vs-incumbent.patch"
    sealed = path.read_bytes()
    path.write_bytes(sealed.replace(b"+    return x + 2 * STEP;", b"+    return x + 3 * STEP;"))
    found = record_findings(folder)
    path.write_bytes(sealed)
    assert "patches/candidate-vs-incumbent.patch: is not what turns one archived source into another" in found


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a lab with a page that offers them, strictly."""
    project = make_lab(
        tmp_path_factory.mktemp("lab"),
        {
            "index.md": HOME.replace("[report](report/) or the [made-up one](made-up/)", "[note](fewer/)"),
            "fewer.md": PAGE,
        },
        measured=False,
    )
    sealed_attempt(project.runs, plan=PLAN, sources=SOURCES, noise=0.0)
    report = build(project, project.root / "public", strict=True)
    assert ((), ()) == (report.problems, report.warnings)
    return project.root / "public"


def test_pages_lead_to_patches_with_what_came_of_them(record: Record, out: Path) -> None:
    """The author's page and the record's: file, bytes, hash, verdicts, outcome."""
    address = f"records/sample/{record.slug}/"
    file = out / address / "patches" / "candidate-vs-incumbent.patch"
    page, own = (out / "fewer/index.html").read_text(), (out / address / "index.html").read_text()
    assert (
        f'<a href="../{address}patches/candidate-vs-incumbent.patch" download>candidate-vs-incumbent.patch</a>' in page
    )
    for text, href in ((page, f"../{address}patches/"), (own, "patches/")):
        assert f'href="{href}candidate-vs-incumbent.patch"' in text
        assert f"SHA-256 {hashlib.sha256(file.read_bytes()).hexdigest()}" in text
        assert f'<data value="{file.stat().st_size}">' in text
    assert "adopt" in own.partition('id="patches"')[2].partition("</figure>")[0]


def test_an_arm_without_a_patch_is_refused_with_the_reason(record: Record) -> None:
    """A page that asks for a floor's, or for one between arms that nobody compares."""
    view = RecordView(
        "sample", record.slug, "", current=True, plan=record.plan, result=score(record), attempts=[], replications=[]
    )
    for arm, baseline in (("floor", "incumbent"), ("candidate", "floor")):
        with pytest.raises(InputError, match=f"no patch of '{arm}' against '{baseline}'"):
            fact_of(view, arm, baseline)
