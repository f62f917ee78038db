"""Time `reportgen build` on this repository: cold, unchanged, one attempt touched; beside plain rendering of the same pages.

The peer does what any static site generator does at least: reads the same Markdown, renders it with markdown-it-py, puts it
into a Jinja template and writes as many pages, without records, charts, downloads or checks. Every line is a fresh
interpreter, in one run on one machine; the last column is the share of the budget that was used. Beside the seconds by the
clock stand those of the processor, helpers of a build included: where others use the cores too, only these mean anything.

    python benchmarks/build_speed.py [REPOSITORY]
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
COPIED = ("site", "docs", "kernels", "runs", "templates")
FIXED_S, CHART_S, UNCHANGED_S = 6.0, 0.1, 0.5

BUILD = """
import sys
from pathlib import Path
from reportgen.project import open_project
from reportgen.publish.build import build
report = build(open_project(Path(sys.argv[1])), Path(sys.argv[1]) / "public", strict=False)
print(report.pages, report.written, report.removed)
"""
PEER = """
import sys
from pathlib import Path
import jinja2
from markdown_it import MarkdownIt
root, pages = Path(sys.argv[1]), int(sys.argv[2])
shell = jinja2.Environment(autoescape=True).from_string("<!doctype html><title>{{ title }}</title><main>{{ body|safe }}</main>")
parser = MarkdownIt("commonmark").enable("table")
sources = sorted((root / "site").rglob("*.md"))
for place in range(pages):
    source = sources[place % len(sources)]
    html = shell.render(title=source.stem, body=parser.render(source.read_text("utf-8").split("+++", 2)[-1]))
    target = root / "peer" / str(place) / "index.html"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(html, "utf-8")
print(pages, pages, 0)
"""


@dataclass(frozen=True)
class Timed:
    """One run: seconds by the clock and of processors, and pages, files written and removed as the program said."""

    seconds: float
    processor_s: float
    pages: int
    written: int
    removed: int


def run(program: str, *arguments: str) -> Timed:
    """Run a program in a fresh interpreter and time it, start to end."""
    began, used = time.perf_counter(), processor_s()
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], check=True, capture_output=True, text=True, cwd=HERE
    )
    seconds = time.perf_counter() - began
    return Timed(seconds, processor_s() - used, *(int(part) for part in done.stdout.split()))


def processor_s() -> float:
    """Add up the processor time, of programs and of the system, that finished processes of this one took."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def copy_lab(source: Path, target: Path) -> None:
    """Copy what a site is built from, without any earlier cache or site."""
    for name in COPIED:
        if (source / name).is_dir():
            shutil.copytree(source / name, target / name)
    if (source / "reportgen.toml").is_file():
        shutil.copyfile(source / "reportgen.toml", target / "reportgen.toml")


def touch(lab: Path) -> str:
    """Add an erratum to the last sealed attempt; return its id, empty where there is none."""
    sealed = sorted(path.parent for path in (lab / "runs").glob("*/*/manifest.json"))
    if not sealed:
        return ""
    from reportgen.archive.notes import add_erratum  # noqa: PLC0415 - only where there is an attempt

    add_erratum(sealed[-1], "noted by a benchmark")
    return sealed[-1].name


def main() -> None:
    """Measure and print the table."""
    source = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else HERE
    with tempfile.TemporaryDirectory() as folder:
        lab = Path(folder)
        copy_lab(source, lab)
        cold = run(BUILD, str(lab))
        unchanged = run(BUILD, str(lab))
        touched = touch(lab)
        after = run(BUILD, str(lab)) if touched else None
        peer = run(PEER, str(lab), str(cold.pages))
        charts = len(list((lab / "public" / "figures").glob("*.svg")))
    loads = " ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"{cold.pages} pages, {charts} charts; touched attempt: {re.sub('^$', 'none', touched)}; load {loads}")
    print(f"{'work':<28}{'seconds':>9}{'of cpu':>9}{'written':>9}{'x peer':>9}{'budget s':>10}{'used':>7}")
    rows = [("cold", cold, FIXED_S + CHART_S * charts), ("unchanged", unchanged, UNCHANGED_S)]
    rows += [("one attempt touched", after, FIXED_S)] if after else []
    for name, timed, budget in rows:
        ratio, used = timed.seconds / peer.seconds, timed.seconds / budget
        spent = f"{timed.seconds:>9.2f}{timed.processor_s:>9.2f}"
        print(f"{name:<28}{spent}{timed.written:>9}{ratio:>9.1f}{budget:>10.1f}{used:>7.0%}")
    print(f"{'peer: the same text, plain':<28}{peer.seconds:>9.2f}{peer.processor_s:>9.2f}{peer.written:>9}{1:>9.1f}")


if __name__ == "__main__":
    main()
