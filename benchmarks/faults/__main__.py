"""Break real runs beside a real service, every cell of faults x phases, and write down what was left after each.

    python -m benchmarks.faults [--only FAULT ...] [--jobs 1]

Prints the table, writes ``docs/faults.json`` and from it ``site/faults.md``. Exits with 1 where a cell is not as
``tests/measure/fault_table.py`` says; that cell is left out, and no page is written. With ``--only`` those rows are run anew and
the others kept.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import reportgen
from benchmarks.faults.page import DATA, PAGE, page_of, printed
from tests.measure.fault_cell import look_apart
from tests.measure.fault_table import TABLE, cells

Cell = dict[str, Any]


def one_cell(fault: str, phase: str) -> Cell:
    """Run a cell in a process of its own; what it says if it is not as claimed."""
    with tempfile.TemporaryDirectory() as folder:
        seen = look_apart(fault, phase, Path(folder) / "cell")
    at = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return {"fault": fault, "phase": phase} | ({"failed": seen} if isinstance(seen, str) else {"at": at, **seen})


def told(cell: Cell) -> Cell:
    """Print how a cell went."""
    print(f"{cell['fault']}, {cell['phase']}: {cell.get('failed', 'as the table says')}", flush=True)
    return cell


def document(found: list[Cell], kept: list[Cell]) -> dict[str, Any]:
    """Put together what is written: cells in the order of the table, and where they were run."""
    order = cells()
    every = sorted([*found, *kept], key=lambda cell: order.index((cell["fault"], cell["phase"])))
    return {
        "reportgen": reportgen.__version__,
        "machine": f"{platform.system()} on {platform.machine()}, Python {platform.python_version()}",
        "cells": every,
    }


def main() -> int:
    """Run what is asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=sorted(TABLE), default=list(TABLE))
    parser.add_argument("--jobs", type=int, default=1)
    wanted = parser.parse_args()
    began_s = time.monotonic()
    due = [(fault, phase) for fault, phase in cells() if fault in wanted.only]
    with ThreadPoolExecutor(wanted.jobs) as pool:
        found = list(pool.map(lambda one: told(one_cell(*one)), due))
    failed = sum("failed" in cell for cell in found)
    print(f"{len(found)} cells in {time.monotonic() - began_s:.0f} s, {failed} not as the table says")
    before = json.loads(DATA.read_text("utf-8"))["cells"] if DATA.exists() else []
    kept = [cell for cell in before if (cell["fault"], cell["phase"]) in cells() and cell["fault"] not in wanted.only]
    whole = document([cell for cell in found if "failed" not in cell], kept)
    DATA.write_text(json.dumps(whole, indent=1, sort_keys=True) + "\n", "utf-8")
    if len(whole["cells"]) != len(cells()):
        print("the page is not written: cells are missing; run their rows anew with --only")
        return 1
    PAGE.write_text(page_of(whole), "utf-8")
    print(printed(whole))
    return 0


if __name__ == "__main__":
    sys.exit(main())
