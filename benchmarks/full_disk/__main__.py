"""Run the commands that write on a disk that takes n bytes more, for each n from none until they succeed.

    python -m benchmarks.full_disk [--only COMMAND ...] [--pages 1]

The disk is a small tmpfs of its own, ``--pages`` the step in pages of 4 KiB. Each outcome must be one line that says so, with status 1 or 2, or
success; no attempt that was sealed before may have changed by a byte, every open one must be readable, and with room again
the same command must succeed. Prints how many sizes of each command were tried; exits with 1 where one was not so.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from reportgen.archive.load import scan_attempts
from reportgen.cli import main as reportgen
from tests.factories import STARTED, make_plan, sealed_attempt
from tests.measure.lab import Lab
from tests.measure.small_disk import SmallDisk, mounting
from tests.publish.site_lab import HOME, REPORT, make_lab

ROOT = Path(__file__).resolve().parents[2]
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
SIZE_KIB = 16 << 10
REASON = ("--reason", "the fan was unplugged")
PLAN = make_plan()


class NotSoError(Exception):
    """An outcome that is not as it must be."""


@dataclass(frozen=True)
class Command:
    """A command of the command line, given what was ``prepared`` on the disk and beside it."""

    prepare: Callable[[Path, Path], tuple[str, ...]]
    forks: bool = False
    on_a_lab: bool = True


def _sealed(lab: Path) -> str:
    return sealed_attempt(lab / "runs", plan=PLAN, repetitions=3).path.name


def _exclude(lab: Path, _: Path) -> tuple[str, ...]:
    return "exclude", _sealed(lab), *REASON


def _erratum(lab: Path, _: Path) -> tuple[str, ...]:
    return "erratum", _sealed(lab), "--text", "a word. " * 1000


def _import(lab: Path, _: Path) -> tuple[str, ...]:
    _sealed(lab)
    return "import", "auto", str(ROOT / "tests" / "data" / "importing" / "google-benchmark")


def _merge(lab: Path, beside: Path) -> tuple[str, ...]:
    _sealed(lab)
    other = {"started": STARTED.replace(hour=3)}
    return "merge", str(sealed_attempt(beside / "runs", plan=PLAN, header=other).path)


def _merge_zip(lab: Path, beside: Path) -> tuple[str, ...]:
    *_, path = _merge(lab, beside)
    return "merge", shutil.make_archive(str(beside / "packed"), "zip", Path(path).parent)


def _build(lab: Path, beside: Path) -> tuple[str, ...]:
    made = make_lab(
        beside / "made",
        {"index.md": HOME.replace(" or the [made-up one](made-up/)", ""), "report.md": REPORT},
        measured=False,
    )
    shutil.copytree(made.root, lab, dirs_exist_ok=True)
    _sealed(lab)
    return ("build",)


def _run(lab: Path, _: Path) -> tuple[str, ...]:
    _sealed(lab)
    Lab(lab).write(backend="fake", repetitions=1)
    return "run", "doubling"


COMMANDS = {
    "exclude": Command(_exclude),
    "erratum": Command(_erratum),
    "import": Command(_import),
    "merge": Command(_merge),
    "merge of a zip": Command(_merge_zip),
    "build": Command(_build),
    "init": Command(lambda lab, _: ("init", str(lab / "new")), on_a_lab=False),
    "run": Command(_run, forks=True),
}


def called(words: tuple[str, ...], *, forks: bool) -> tuple[int, str]:
    """Call the command line: exit status, and what it said."""
    if forks:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-m", "reportgen", *words], env=environment, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr
    out, said, before, argv = io.StringIO(), io.StringIO(), signal.getsignal(signal.SIGINT), sys.argv
    sys.argv, status = ["reportgen", *words], 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
            reportgen()
    except SystemExit as ended:
        status = int(ended.code or 0)
    finally:
        signal.signal(signal.SIGINT, before)
        sys.argv = argv
    return status, out.getvalue() + said.getvalue()


def snapshot(runs: Path) -> dict[str, str]:
    """Hash every file of what is sealed."""
    files = (path for path in sorted(runs.rglob("*")) if path.is_file() and path.parent.name)
    return {
        str(path.relative_to(runs)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
        if not any(part.startswith(".") or part.endswith(".partial") for part in path.relative_to(runs).parts)
    }


def wrong(words: tuple[str, ...], outcome: tuple[int, str], before: dict[str, str], lab: Path) -> str:
    """Say what is not as it must be after a command met a full disk; empty where all is."""
    status, said = outcome
    if status not in (0, 1, 2) or "Traceback" in said or "internal fault" in said:
        return f"status {status}: {said[-2000:]}"
    if status and "No space left on device" not in said:
        return f"does not say why: {said[-2000:]!r}"
    after = snapshot(lab / "runs")
    notes = {name for name in before if name.endswith(".notes.jsonl")}
    if lost := [name for name in before.keys() - notes if after.get(name) != before[name]]:
        return f"{' '.join(words)}: changed {lost}"
    _, faults = scan_attempts(lab / "runs")
    return "; ".join(fault.one_line() for fault in faults)


def tried(name: str, disk: SmallDisk, beside: Path, step_pages: int) -> int:
    """Run one command for each free size until it succeeds; how many sizes there were.

    Raises
    ------
    NotSoError
        One outcome was not as it must be.
    """
    pages, command = 0, COMMANDS[name]
    while True:
        lab, work = (folder / f"{name.replace(' ', '-')}-{pages}" for folder in (disk.folder, beside))
        (disk.folder / "tmp").mkdir(exist_ok=True)
        lab.mkdir()
        words = (*command.prepare(lab, work), *(("--project", str(lab)) if command.on_a_lab else ()))
        before = snapshot(lab / "runs")
        disk.fill(leave_bytes=pages * PAGE_BYTES)
        outcome = called(words, forks=command.forks)
        fault = wrong(words, outcome, before, lab)
        if fault:
            raise NotSoError(f"{pages} pages: {fault}")
        disk.make_room()
        if outcome[0] != 0:
            again = called(_resumed(words, lab), forks=command.forks)
            if again[0] != 0:
                raise NotSoError(f"{pages} pages: with room again: {again}")
        for folder in (lab, work):
            shutil.rmtree(folder, ignore_errors=True)
        if outcome[0] == 0:
            return pages // step_pages + 1
        pages += step_pages


def _resumed(words: tuple[str, ...], lab: Path) -> tuple[str, ...]:
    """Complete what was left open, where anything was."""
    left = sorted((lab / "runs").glob("doubling/*.partial"))
    return (*words, "--resume", left[0].name.removesuffix(".partial")) if left else words


def main() -> int:
    """Run what is asked, under a mount namespace of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=sorted(COMMANDS), default=list(COMMANDS))
    parser.add_argument("--pages", type=int, default=1)
    parser.add_argument("--mounted", type=Path, default=None, help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.mounted is None:
        if not mounting():
            print("nothing can be mounted here: not run")
            return 1
        with tempfile.TemporaryDirectory() as folder:
            again = [*mounting(), sys.executable, "-m", "benchmarks.full_disk", *sys.argv[1:], "--mounted", folder]
            return subprocess.run(again, check=False).returncode
    disk = SmallDisk.mount(wanted.mounted / "disk", SIZE_KIB)
    tempfile.tempdir = os.environ["TMPDIR"] = str(disk.folder / "tmp")
    failed = 0
    for name in wanted.only:
        try:
            print(f"{name}: {tried(name, disk, wanted.mounted, wanted.pages)} sizes", flush=True)
        except NotSoError as fault:
            failed += 1
            print(f"{name}: {fault}", flush=True)
            disk.make_room()
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
