"""Give every reader damaged input, most of it behind the first check, and print what became of it.

    python -m benchmarks.fuzz.run [--inputs 200000] [--seed 1] [--out FOLDER]

Nine tenths by atheris, one tenth by hypothesis; README.md beside this file says how. Exits with 1 where an outcome was
neither a clean result nor an error of the program's own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.fuzz.samples import make_samples

SHARES = {
    "journal.jsonl": 12, "header.json": 10, "manifest.json": 12, "plan.toml": 6, "repetitions.jsonl": 8, "events.jsonl": 7,
    "notes.jsonl": 7, "SHA256SUMS": 6, "batches.parquet": 3, "checks.parquet": 3, "counters.parquet": 3, "experiment.toml": 5, "reportgen.toml": 5,
    "batches.csv": 3, "checks.csv": 2, "results.json": 2, "manifest.json of a record": 2, "plan.toml of a record": 1, "record.zip": 4,
}  # fmt: skip
METHODS = {"atheris": 0.9, "hypothesis": 0.1}
CLASSES = ("clean", "RecordError", "SchemaVersionError", "InputError", "anything else")


def main() -> int:
    """Run every reader in a process of its own, one after the other."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--inputs", type=int, default=200_000)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--out", type=Path, default=None, help="where surprising inputs are kept")
    options = asked.parse_args()
    folder = options.out or Path(tempfile.mkdtemp(prefix="fuzz-"))
    folder.mkdir(parents=True, exist_ok=True)
    make_samples(folder / "samples")
    began, tallies = time.perf_counter(), []
    print(head(), flush=True)
    for name, share in SHARES.items():
        found = [
            fuzz(
                method, name, max(1, round(options.inputs * part * share / sum(SHARES.values()))), options.seed, folder
            )
            for method, part in METHODS.items()
        ]
        tallies += found
        print(row(name, found), flush=True)
    print(row("all", tallies))
    print(f"{time.perf_counter() - began:.0f} s; the slowest input took {max(one['slowest_s'] for one in tallies)} s")
    surprises = [f"{one['reader']} ({one['method']}): {line}" for one in tallies for line in one["surprises"]]
    print("\n".join(surprises) or "nothing but clean results and errors that say what, where and what to do")
    return 1 if surprises else 0


def fuzz(method: str, name: str, inputs: int, seed: int, folder: Path) -> dict[str, Any]:
    """Fuzz one reader in a process of its own; where that died, the tally says so."""
    command = [sys.executable, "-m", "benchmarks.fuzz.one_reader", method, name, str(inputs), str(seed), str(folder)]
    log, kept = folder / f"{method}-{name}.log", folder / f"{method}-{name}.json"
    kept.unlink(missing_ok=True)
    with log.open("wb") as file:
        ended = subprocess.run(  # `timeout` ends what does not end itself: a hang in C, out of reach of the deadline an input has
            ["/usr/bin/env", "timeout", "--kill-after=5", str(60 + inputs), *command],
            stdout=file,
            stderr=file,
            check=False,
            env=os.environ | {"PYTHONHASHSEED": "0"},
        )
    if kept.exists():
        return dict(json.loads(kept.read_text()))
    died = f"the process died with status {ended.returncode}; see {log}"
    counts = {"inputs": 0, "past_first_check": 0, "outcomes": {"anything else": 1}, "slowest_s": 0.0, "seconds": 0.0}
    return {"reader": name, "method": method, "surprises": [died], **counts}


def head() -> str:
    """Head of the table, in Markdown."""
    titles = ("reader", "inputs", "past the first check", *CLASSES)
    return f"| {' | '.join(titles)} |\n| --- |{' ---: |' * (len(titles) - 1)}"


def row(name: str, tallies: list[dict[str, Any]]) -> str:
    """One line of the table."""
    inputs = sum(one["inputs"] for one in tallies)
    past = sum(one["past_first_check"] for one in tallies)
    outcomes = sum((Counter(one["outcomes"]) for one in tallies), Counter[str]())
    counts = " | ".join(f"{outcomes[kind]:,}" for kind in CLASSES)
    return f"| {name} | {inputs:,} | {100 * past / max(1, inputs):.0f} % | {counts} |"


if __name__ == "__main__":
    sys.exit(main())
