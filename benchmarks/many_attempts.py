"""A thousand sealed attempts of 7,704 batches: what `build`, `attempts` and `show` take of time and memory; beside pandas.

The lab is that of a house that measures its kernels every night: studies with a hundred nights each, of which one in twenty was
excluded and one in twenty invalid. A study's record speaks through its first night; every other attempt has a page, its files
and its own verdicts beside it. 7,704 batches are 107 fixtures x 3 arms x 12 repetitions x 2; with warm-up, 13,803 rows and
17,976 checks lie in each attempt. See `benchmarks/scale/archive.py` for how they are made and checked.

Everything is measured twice, at a fifth of the attempts and at all, so that growth shows. The budget of memory, 1 GB with
1,000 attempts, is held by every command: the largest process, and all of its processes together. The peer reads the same tables
with pandas alone, one after another, and takes the median of every arm on every fixture: no check, no interval, no page.

    python benchmarks/many_attempts.py                     # 40 attempts, some minutes
    python benchmarks/many_attempts.py --attempts 1000     # the whole: an hour on two cores, 3 GB of disk
"""

from __future__ import annotations

import argparse
import gzip
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.scale.archive import Fate, Maker, night, verified
from benchmarks.scale.measured import HEADING, Measured, measured, mib_under, reportgen
from reportgen.archive.notes import add_erratum
from reportgen.model.record import Status

NIGHTS = 100
BATCHES = 7704
BUDGET_MIB = 1024
FATES = {
    7: Fate(Status.EXCLUDED, "the room was being cooled again"),
    13: Fate(Status.INVALID, "a source changed while it was measured"),
}
DECLARATION = """schema_version = 1
title = "Nightly sweep {name}"
question = "Does the second way of adding take less time?"
backend = "fake"
exclude = [{{cache = ["rotating"], rows = [256], columns = [64]}}]

[axes]
cache = ["same-set", "rotating"]
rows = [256, 512, 1024, 2048, 4096, 8192]
columns = [64, 128, 256, 384, 512, 768, 1024, 1536, 2048]

[protocol]
repetitions = 12

[fake]
base_ns = 20000.0
ratio = {{candidate = 0.99}}

[[arm]]
name = "incumbent"
role = "incumbent"
idea = "as it is"

[[arm]]
name = "candidate"
role = "candidate"
idea = "as it might be"

[[arm]]
name = "null_incumbent"
role = "null"
of = "incumbent"
idea = "as it is, again"
"""
PEER = """
import sys
from pathlib import Path
import pandas as pd
rows, found = 0, []
for path in sorted(Path(sys.argv[1]).glob("runs/*/*/batches.parquet")):
    frame = pd.read_parquet(path)
    rows += len(frame)
    scored = frame[~frame["warmup"]]
    found.append((scored["elapsed_ns"] / scored["launches"]).groupby([scored["fixture"], scored["arm"]]).median())
print(rows)
"""


def main() -> int:
    """Measure at a fifth of the attempts and at all; 1 if the budget is missed."""
    parser = argparse.ArgumentParser(description="What a large archive takes.")
    parser.add_argument("--attempts", type=int, default=40)
    wanted: int = parser.parse_args().attempts
    studies = [f"nightly_{number:02}" for number in range(-(-wanted // NIGHTS))]
    with tempfile.TemporaryDirectory() as folder:
        lab = Path(folder)
        (lab / "site").mkdir()
        maker = Maker(lab, studies, lambda name: DECLARATION.format(name=name))
        print(HEADING)
        fifth = look(lab, maker, range(wanted // 5))
        whole = look(lab, maker, range(wanted // 5, wanted))
        sizes(lab)
    for work, taken in whole.items():
        times = taken.processor_s / fifth[work].processor_s
        more_mib = 1000 * (taken.peak_mib - fifth[work].peak_mib) / (wanted - wanted // 5)
        print(
            f"{work}: five times the attempts, {times:.2f} times the processor time; 1,000 more would take {more_mib:.0f} MiB more"
        )
    most = max(taken.peak_mib for work, taken in whole.items() if not work.startswith("peer"))
    print(f"peak {most:.0f} MiB with {wanted:,} attempts; budget {BUDGET_MIB} MiB with 1,000: {kept(most, wanted)}")
    return 1 if most > BUDGET_MIB else 0


def kept(most_mib: float, attempts: int) -> str:
    """Say whether the budget was kept, where it was tried."""
    if most_mib > BUDGET_MIB:
        return "MISSED"
    return "kept" if attempts >= 1000 else "not tried with so few"


def look(lab: Path, maker: Maker, numbers: Sequence[int]) -> dict[str, Measured]:
    """Seal the attempts of these numbers, study after study in turn, and measure every command on the archive that then is."""
    made = []
    began = time.perf_counter()
    for done, number in enumerate(numbers, start=1):
        study, date = maker.studies[number % len(maker.studies)], number // len(maker.studies)
        made.append(maker.seal(study, night(date), FATES.get(date % 20)))
        if done % 50 == 0:
            left_s = (time.perf_counter() - began) / done * (len(numbers) - done)
            print(f"sealed {done} of {len(numbers)}, {left_s:.0f} s left", file=sys.stderr, flush=True)
    verified([made[0], made[-1]])
    for stale in ("public", ".cache"):
        shutil.rmtree(lab / stale, ignore_errors=True)
    first = maker.studies[0].name
    works = {
        "build, cold": ("build",),
        "build, unchanged": ("build",),
        "build, one attempt touched": ("build",),
        "attempts": ("attempts",),
        "show": ("show", first),
    }
    attempts = len(list(lab.glob("runs/*/*/manifest.json")))
    print(f"{attempts:,} attempts, {attempts * BATCHES:,} scored batches, {mib_under(lab / 'runs'):,.0f} MiB")
    found = {}
    for work, command in works.items():
        if work.endswith("touched"):
            add_erratum(made[-1], "noted by a benchmark")
        found[work] = reportgen(*command, lab=lab)
        print(found[work].line(work), flush=True)
    found["peer: pandas reads every batch"] = measured([sys.executable, "-c", PEER, str(lab)])
    print(found["peer: pandas reads every batch"].line("peer: pandas reads every batch"), flush=True)
    return found


def sizes(lab: Path) -> None:
    """Print what the largest pages and the indexes weigh, as they are and gzipped."""
    public = lab / "public"
    pages = sorted(public.rglob("*.html"), key=lambda path: path.stat().st_size, reverse=True)
    shown = [*pages[:2], public / "attempts/index.html", public / "pages/index.html", public / "data/index.html"]
    print(f"site: {len(pages):,} pages, {mib_under(public):,.0f} MiB")
    for path in dict.fromkeys([*shown, public / "search.json", public / "data/index.json"]):
        data = path.read_bytes()
        packed = len(gzip.compress(data, 9))
        print(f"  {path.relative_to(public)}: {len(data) / 1000:,.0f} KB, gzipped {packed / 1000:,.0f} KB")


if __name__ == "__main__":
    sys.exit(main())
