"""A folder of other harnesses' files is held to its ``expected.json``: ``python -m tests.importing.corpus DIR``, or ``make corpus DIR=...``.

Everything but the files themselves is in that document: which must be imported with which facts, and which refused with what in the
message. Values that rest on a choice name it; where the document accepts two outcomes, either passes.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from reportgen import foreign
from reportgen.archive.importers.gathering import gather
from reportgen.errors import EXIT_MISUSE, InputError

EXPECTED = "expected.json"
_RELATIVE = 1e-9
_LAST_DIGIT = 5e-3


def faults(folder: Path) -> Iterator[str]:
    """Yield a line for each thing that is not as ``expected.json`` in ``folder`` says."""
    for name, due in json.loads((folder / EXPECTED).read_text("utf-8"))["files"].items():
        for line in entry_faults(folder, name, due):
            yield f"{name}: {line}"


def entry_faults(folder: Path, name: str, due: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each thing that one entry of ``expected.json`` says otherwise."""
    outcome = due["outcome"]
    if outcome == "part-of":
        return
    try:
        found = gather([folder / name, *([folder / due["index"]] if "index" in due else [])])
    except InputError as fault:
        refusal = due.get("if_refuse", due)
        if outcome == "import":
            yield f"is refused: {fault}"
            return
        yield from _refused(fault, refusal)
        return
    if outcome in ("refuse", "refuse-unless-supported"):
        yield "is imported, and must be refused"
        return
    facts = dict(due) | due.get("if_import", {})
    yield from _imported(foreign.imported_source(found.found[0].source), facts)


def _refused(fault: InputError, due: Mapping[str, Any]) -> Iterator[str]:
    if fault.exit_status != due.get("exit_status", EXIT_MISUSE):
        yield f"ends with {fault.exit_status}"
    for text in due.get("message_must_name", []):
        if text not in fault.one_line():
            yield f"the message does not name {text!r}: {fault.one_line()}"


def _imported(found: Mapping[str, Any], due: Mapping[str, Any]) -> Iterator[str]:
    for key in ("format", "version", "names", "benchmarks", "status", "raw_samples_with_failed", "rate_samples"):
        if key in due and found[key] != due[key]:
            yield f"{key} is {found[key]!r}, not {due[key]!r}"
    counts = [due.get("raw_samples", found["raw_samples"]), *due.get("raw_samples_alternative", [])]
    if found["raw_samples"] not in counts:
        yield f"raw_samples is {found['raw_samples']}, not {counts}"
    if sorted(due.get("not_time", [])) != sorted(name for name in found["not_time"] if name in due.get("not_time", [])):
        yield f"not_time is {found['not_time']}"
    for key, value in due.get("context", {}).items():
        if not _holds(found["context"], key, value):
            yield f"context has no {key} {value!r}"
    if "medians_ns" in due and sorted(due["medians_ns"]) != sorted(row["median_ns"] for row in found["rows"]):
        yield "medians differ"
    yield from _checks(found, due)


def _checks(found: Mapping[str, Any], due: Mapping[str, Any]) -> Iterator[str]:
    tolerance = _LAST_DIGIT if due.get("tolerance") == "last printed digit" else _RELATIVE
    for check in due.get("checks", []):
        rows = [row for row in found["rows"] if _is(row, check)]
        if len(rows) != 1:
            yield f"{len(rows)} rows are {check.get('name') or check.get('select')!r} {check.get('params')}"
            continue
        for line in _row(rows[0], check, tolerance):
            yield f"{check.get('name') or check.get('select')!r} {check.get('params', '')}: {line}"


def _holds(context: Any, key: str, value: Any) -> bool:
    """Whether ``value`` stands anywhere in the context; a key's own name is the format's."""
    if context == value or (key == "python" and context == value):
        return True
    if isinstance(context, Mapping):
        return any(_holds(each, key, value) for each in context.values())
    return isinstance(context, list) and any(_holds(each, key, value) for each in context)


def _is(row: Mapping[str, Any], check: Mapping[str, Any]) -> bool:
    if "name" in check and row["name"] != check["name"]:
        return False
    if "arm" in check and row["arm"] != check["arm"]:
        return False
    if "select" in check:
        return all(int(row["params"].get(key, 0)) == value for key, value in check["select"].items())
    params = check.get("params", {})
    if isinstance(params, list):
        return list(row["params"].values()) == params
    return all(row["params"].get(key) == value for key, value in params.items())


def _row(row: Mapping[str, Any], check: Mapping[str, Any], tolerance: float) -> Iterator[str]:
    rows = dict(row["reported"]) | dict(row) | {"rate": row["reported"].get("rate", row["median_rate"])}
    for key in (
        "status",
        "samples",
        "rate_samples",
        "unit",
        "better",
        "measure",
        "reason",
        "repetitions",
        "bad_samples",
        "iterations",
    ):
        if key in check and row[key] != check[key] and not (key == "repetitions" and check[key] == row["samples"]):
            yield f"{key} is {row[key]!r}, not {check[key]!r}"
    for key in ("median_ns", "mean_ns", "cpu_mean_ns", "batch_mean_ns", "rate", "median_rate"):
        if key in check and not _close(rows.get(key), check[key], tolerance):
            yield f"{key} is {rows.get(key)!r}, not {check[key]!r}"
    for key, value in check.get("reported", {}).items():
        if not _close(row["reported"].get(key), value, tolerance):
            yield f"reported {key} is {row['reported'].get(key)!r}, not {value!r}"
    if "median_from" in check and row["median_from"] != check["median_from"]:
        yield f"median_from is {row['median_from']!r}, not {check['median_from']!r}"
    if "suggested_name" in check and row["name"] != check["suggested_name"]:
        yield f"is called {row['name']!r}, not {check['suggested_name']!r}"


def _close(found: float | None, due: float | None, tolerance: float) -> bool:
    if found is None or due is None:
        return found is due
    return math.isclose(found, due, rel_tol=tolerance)


def main() -> None:
    """Print every fault; exit 1 if there is one."""
    folder = Path(sys.argv[1])
    lines = list(faults(folder))
    for line in lines:
        print(line)  # noqa: T201 - a program
    files = len(json.loads((folder / EXPECTED).read_text("utf-8"))["files"])
    print(f"{files} entries, {len(lines)} faults")  # noqa: T201 - a program
    sys.exit(1 if lines else 0)


if __name__ == "__main__":
    main()
