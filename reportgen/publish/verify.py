"""Check the published record in this folder: python3 verify.py [FOLDER] (Python 3.11 or newer, nothing else).

First the files: hashes, missing and extra ones, schema versions, the plan's digest, row counts, the complete matrix. Then
the numbers: from batches.csv and checks.csv everything in results.json is computed again by the rules of
docs/statistics.md, in plain loops that share no code with the program that published it. Each difference is one line;
the exit status is 0 if there is none, else 1.

What this cannot see: Parquet is beyond the standard library, so a forger who rewrites a table, the results and every
SHA256SUMS together is caught by `reportgen verify` (which holds Parquet against CSV) or by the copy in the repository.
"""

import csv
import hashlib
import json
import os
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from reportgen.publish.verify_code import code_contradictions, kept_code
from reportgen.publish.verify_evidence import (
    check_contradictions,
    declaration_contradictions,
    header_contradictions,
    left_out_of,
    moments_of,
    protocol_contradictions,
    younger_gates,
)
from reportgen.publish.verify_intervals import Facts
from reportgen.publish.verify_null_study import STUDY_LISTS, recompute_study
from reportgen.publish.verify_numbers import recompute
from reportgen.publish.verify_series import matrix_contradictions, refusal_contradictions, row_contradictions
from reportgen.publish.verify_study_tables import study_contradictions

SCHEMA_VERSION = 1
TOLERANCE = 1e-12
SUMS = "SHA256SUMS"
PAGE, ZIP = "index.html", "record.zip"  # pages and downloads that a site has beside a record
COUNTERS = re.compile(r"attempts/[^/]+/counters\.csv")  # so are those of the pages of attempts, profiles among them
VERSIONED_LINES = ("events.jsonl", "repetitions.jsonl")
NOT_RECOMPUTED = {"schema_version", "frozen_at", "began_at"}
IDENTITY = {
    "comparisons": ("arm", "baseline", "slice", "where"),
    "with_left_out": ("arm", "baseline", "slice", "where"),
    "cells": ("device", "fixture"),
    "devices": ("device",),
    "noise": ("slice", "null"),
    "promotions": ("arm", "slice"),
    "gates": ("name", "slice", "arm"),
    "positions": ("slice", "order_pass", "position"),
    "times": ("device", "fixture", "arm"),
    "points": ("fixture", "device"),
    **STUDY_LISTS,
}


class RefusedError(Exception):
    """The record cannot be computed; the sentence says where and why."""


# ---- files -----------------------------------------------------------------------------------------------------------


def sha256_of(path: Path) -> str:
    """Give the lower-case hexadecimal SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_sums(folder: Path, prefix: str = "") -> tuple[dict[str, str], list[str]]:
    """Read SHA256SUMS: hash by path, and a line for each thing wrong with it."""
    listed, wrong = {}, []
    for number, line in enumerate((folder / SUMS).read_text("utf-8", "replace").splitlines(), start=1):
        match = re.fullmatch(r"([0-9a-f]{64})  (\S.*)", line)
        if match is None or match[2].startswith("/") or ".." in PurePosixPath(match[2]).parts:
            wrong.append(f"{prefix}{SUMS}:{number}: is no line of `sha256  path`")
        else:
            listed[match[2]] = match[1]
    return listed, wrong


def check_sums(folder: Path, prefix: str = "") -> Iterator[str]:
    """Compare a folder with its SHA256SUMS: each file changed, missing or extra."""
    listed, wrong = read_sums(folder, prefix)
    yield from wrong
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if not path.is_dir()}
    for name in (name for name, path in found.items() if path.exists() and not path.is_file()):
        raise RefusedError(f"{prefix}{name}: is a device or a pipe, not a file")
    ignored = {SUMS, ZIP} | {name for name in found if PurePosixPath(name).name == PAGE}
    ignored |= {name for name in found if not prefix and COUNTERS.fullmatch(name)}
    for name in sorted(set(listed) | (set(found) - ignored)):
        if name not in found:
            yield f"{prefix}{name}: is missing"
        elif name not in listed:
            yield f"{prefix}{name}: is not listed in {prefix}{SUMS}"
        elif found[name].is_symlink():
            yield f"{prefix}{name}: is a link, not a file"
        elif sha256_of(found[name]) != listed[name]:
            yield f"{prefix}{name}: does not have the SHA-256 listed in {prefix}{SUMS}"


def read_facts(path: Path, label: str) -> Facts:
    """Read a JSON or TOML file of a schema version that is known here."""
    text = path.read_text("utf-8")
    try:
        facts = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise RefusedError(f"{label}: is damaged: {fault}") from fault
    if not isinstance(facts, dict) or facts.get("schema_version") != SCHEMA_VERSION:
        raise RefusedError(
            f"{label}: has another schema_version than {SCHEMA_VERSION}, which is what this program reads"
        )
    return facts


def read_rows(path: Path) -> list[Facts]:
    """Read a CSV file; ``line`` is the line of each row."""
    with path.open(encoding="utf-8", newline="") as file:
        return [row | {"line": number} for number, row in enumerate(csv.DictReader(file), start=2)]


def check_lines(folder: Path, name: str) -> Iterator[str]:
    """Check the schema version of every line of a file."""
    for number, line in enumerate((folder / name).read_bytes().splitlines(), start=1):
        try:
            version = json.loads(line).get("schema_version")
        except (ValueError, AttributeError, RecursionError):
            version = None
        if version != SCHEMA_VERSION:
            yield f"{folder.name}/{name}:{number}: has another schema_version than {SCHEMA_VERSION}, or is damaged"


def check_plan(folder: Path, plan: Facts, manifest: Facts) -> Iterator[str]:
    """Compute the plan's digest again from the archived sources."""
    lines = []
    for file in sorted(plan["files"], key=lambda file: str(file["path"])):
        source = folder / "artifacts" / "sources" / file["path"]
        if ".." in PurePosixPath(file["path"]).parts or not source.is_file():
            yield f"{folder.name}/artifacts/sources/{file['path']}: is missing, so the plan's digest cannot be computed"
            continue
        lines.append(f"{file['path']}\0{sha256_of(source)}\n")
        if sha256_of(source) != file["sha256"]:
            yield f"{folder.name}/artifacts/sources/{file['path']}: does not have the SHA-256 that plan.toml lists"
    lines += [f"options\0{json.dumps(plan['backend_options'], separators=(',', ':'))}\n"]
    lines += [f"order\0{plan['order_method']}\n"]
    digest = hashlib.sha256("".join(lines).encode()).hexdigest()
    for label, claimed in (("plan.toml", plan["digest"]), ("manifest.json", manifest["plan"])):
        if claimed != digest:
            yield f"{folder.name}/{label}: plan digest {claimed}, recomputed {digest}"


def check_binaries(folder: Path, manifest: Facts) -> Iterator[str]:
    """Look for the code of every arm among the archived binaries, where there are any."""
    archived = {sha256_of(path) for path in (folder / "artifacts" / "binaries").rglob("*") if path.is_file()}
    for arm, sha256 in sorted(manifest["binaries"].items()):
        if archived and sha256 not in archived:
            yield f"{folder.name}/artifacts/binaries: no file has the SHA-256 of arm {arm}, {sha256}"


def declarations(folder: Path, paths: list[str]) -> list[Path]:
    """Name the archived TOML files that declare the experiment, out of the paths that its plan covers."""
    sources = [folder / "artifacts" / "sources" / path for path in paths if PurePosixPath(path).suffix == ".toml"]
    return [source for source in sources if ".." not in source.parts and source.is_file()]


def check_attempt(folder: Path, manifest: Facts, top_plan: Facts) -> Iterator[str]:
    """Check the sealed attempt in a folder by itself."""
    yield from check_sums(folder, f"{folder.name}/")
    plan = read_facts(folder / "plan.toml", f"{folder.name}/plan.toml")
    if plan != top_plan:
        yield f"{folder.name}/plan.toml: is not the plan at the top of the record"
    yield from check_plan(folder, plan, manifest)
    yield from check_binaries(folder, manifest)
    yield from (f"{folder.name}/{line}" for line in protocol_contradictions(plan, manifest))
    for source in declarations(folder, [file["path"] for file in plan["files"]]):
        name = f"{folder.name}/{source.relative_to(folder).as_posix()}"
        yield from (
            f"{name}: {line}" for line in declaration_contradictions(source.read_text("utf-8", "replace"), plan)
        )
    for name in VERSIONED_LINES:
        yield from check_lines(folder, name)
    if manifest["id"] != folder.name or manifest["status"] != "scored":
        yield f"{folder.name}/manifest.json: id {manifest['id']}, status {manifest['status']}; a scored {folder.name} is due"
    notes = folder.with_name(f"{folder.name}.notes.jsonl")
    for number, line in enumerate(notes.read_bytes().splitlines() if notes.exists() else (), start=1):
        if json.loads(line)["kind"] == "exclusion":
            yield f"{notes.name}:{number}: the attempt is excluded, so no result may rest on it"


# ---- rows ------------------------------------------------------------------------------------------------------------


def check_counts(manifest: Facts, batches: list[Facts], checks: list[Facts]) -> Iterator[str]:
    """Count the CSV rows of an attempt and hold them against its manifest."""
    timed = [row for row in batches if row["warmup"] == "false"]
    failed = [row for row in checks if row["passed"] != "true"]
    counts = {"batches": len(timed), "warmup_batches": len(batches) - len(timed)}
    counts |= {"checks": len(checks), "failed_checks": len(failed)}
    for name, count in counts.items():
        file = "checks.csv" if "checks" in name else "batches.csv"
        if manifest["counts"][name] != count:
            yield f"{file}: attempt {manifest['id']}: {count} {name}, its manifest counts {manifest['counts'][name]}"
    arms = sorted({row["arm"] for row in failed})
    if arms != sorted(manifest["failed_arms"]):
        yield f"checks.csv: attempt {manifest['id']}: failed arms {arms}, its manifest names {manifest['failed_arms']}"


def check_evidence(folder: Path, manifest: Facts, batches: list[Facts], checks: list[Facts]) -> Iterator[str]:
    """Hold an attempt's rows and refusals against what was noted beside them when they were measured."""
    noted = [json.loads(line) for line in (folder / "repetitions.jsonl").read_bytes().splitlines()]
    plan = read_facts(folder / "plan.toml", f"{folder.name}/plan.toml")
    yield from (f"{folder.name}/{line}" for line in code_contradictions(plan, noted, kept_code(folder)))
    yield from (f"{folder.name}/manifest.json: {line}" for line in refusal_contradictions(manifest, noted))
    for line in row_contradictions(scored_rows(batches), noted):
        yield f"batches.csv: attempt {folder.name}, {line}"
    plain = [row | {"passed": row["passed"] == "true", "mismatches": int(row["mismatches"])} for row in checks]
    for line in check_contradictions(plain):
        yield f"checks.csv: attempt {folder.name}, {line}"


def scored_rows(batches: list[Facts]) -> list[Facts]:
    """Give the rows that are no warm-up, their whole numbers as such."""
    whole = ("repetition", "pass", "position", "launches")
    return [row | {name: int(row[name]) for name in whole} for row in batches if row["warmup"] == "false"]


def place_of(row: Facts) -> tuple[str, str, str, int, int]:
    """Give what tells one scored batch of a device from all others."""
    return row["group"], row["fixture"], row["arm"], int(row["repetition"]), int(row["pass"])


def collect(
    rows: list[Facts], plan: Facts, manifests: dict[str, Facts], failed: dict[str, set[str]], *, everything: bool
) -> Facts:
    """Give times and slots by device, ready for ``recompute``; ``everything`` keeps what was left out or tagged."""
    record: Facts = {}
    for manifest in manifests.values():
        device = manifest["device"]
        record[device["id"]] = {"id": device["id"], "model": device["model"], "halves": defaultdict(dict)}
        record[device["id"]] |= {
            "failed": failed.get(device["id"], set()),
            "repetitions": {"main": set(), "peer": set()},
        }
    timed = {"main": plan["arms_by_fixture"], "peer": plan["peers_by_fixture"]}
    for row in rows:
        if row["mode"] not in ("process", "peer") or row["warmup"] != "false":
            continue
        manifest = manifests[row["attempt"]]
        group, fixture, arm, repetition, half = place_of(row)
        where = (
            f"batches.csv:{row['line']}: device {row['device']}, fixture {fixture}, arm {arm}, repetition {repetition}"
        )
        if manifest["device"]["id"] != row["device"] or arm not in timed[group].get(fixture, ()) or half not in (1, 2):
            raise RefusedError(f"{where}, pass {half}: the plan has no such batch")
        for name in ("launches", "elapsed_ns"):
            if int(row[name]) <= 0:
                raise RefusedError(f"{where}: {name} must be positive, not {row[name]}")
        if repetition in left_out_of(manifest, row["mode"]) and not everything:
            continue
        halves = record[row["device"]]["halves"][group, fixture, arm, repetition]
        record[row["device"]]["repetitions"][group].add(repetition)
        if half in halves:
            raise RefusedError(f"{where}: pass {half} stands twice")
        if everything or not row["tag"]:
            halves[half] = int(row["elapsed_ns"]) / int(row["launches"]), int(row["position"])
    return record


def results_of(
    batches: list[Facts], checks: list[Facts], plan: Facts, manifests: dict[str, Facts], stages: Any = None
) -> Facts:
    """Compute what results.json should hold; ``stages`` is what it carries of other records."""
    failed = defaultdict(set)
    for row in checks:
        if row["passed"] != "true":
            failed[row["device"]].add(row["arm"])
    record = collect(batches, plan, manifests, failed, everything=False)
    whole = collect(batches, plan, manifests, failed, everything=True)
    differ = any(whole[name]["halves"] != record[name]["halves"] for name in whole)
    found = recompute(plan, record, whole if differ else None, stages)
    return found | {"null_study": recompute_study(plan, batches, manifests, failed, found["times"])}


# ---- differences -----------------------------------------------------------------------------------------------------


def differences(published: Any, computed: Any, where: str, key: str = "") -> Iterator[str]:
    """Compare two values: numbers to 1e-12 (relative above 1), all else exactly."""
    if isinstance(computed, dict) and isinstance(published, dict):
        for name in sorted(set(computed) | set(published)):
            if name in computed:
                yield from differences(published.get(name), computed[name], f"{where}, {name}", name)
            elif published[name] and name not in NOT_RECOMPUTED:
                yield f"{where}, {name}: published {published[name]!r}, recomputed nothing"
    elif key in IDENTITY and isinstance(computed, list) and isinstance(published, list):
        yield from listed_differences(published, computed, where, IDENTITY[key])
    elif isinstance(computed, list) and isinstance(published, list) and len(computed) == len(published):
        for at, (one, other) in enumerate(zip(published, computed, strict=True), start=1):
            yield from differences(one, other, f"{where} {at}")
    elif not equal(published, computed):
        yield f"{where}: published {published!r}, recomputed {computed!r}"


def equal(published: Any, computed: Any) -> bool:
    """Tell whether two plain values are the same to the tolerance."""
    numbers = [
        value for value in (published, computed) if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    if len(numbers) == 2:
        return bool(abs(numbers[0] - numbers[1]) <= TOLERANCE * max(1.0, abs(numbers[1])))
    return bool(published == computed and type(published) is type(computed))


def listed_differences(
    published: list[Facts], computed: list[Facts], where: str, names: tuple[str, ...]
) -> Iterator[str]:
    """Compare two lists of objects, paired by what identifies them."""

    def by_identity(listed: list[Facts]) -> dict[str, Facts]:
        return {" ".join(str(one.get(name)) for name in names): one for one in listed}

    claimed, found = by_identity(published), by_identity(computed)
    if len(published) != len(claimed):
        yield f"{where}: an entry stands twice"
    for name in sorted(set(claimed) | set(found)):
        if name not in claimed or name not in found:
            yield f"{where} [{name}]: {'is not published' if name in found else 'does not follow from the rows'}"
        else:
            yield from differences(claimed[name], found[name], f"{where} [{name}]")


def findings_of(folder: Path) -> Iterator[str]:
    """Check a published record."""
    yield from check_sums(folder)
    plan = read_facts(folder / "plan.toml", "plan.toml")
    results = read_facts(folder / "results.json", "results.json")
    folders = sorted(path.parent for path in folder.glob("*/manifest.json"))
    manifests = {path.name: read_facts(path / "manifest.json", f"{path.name}/manifest.json") for path in folders}
    batches, checks = read_rows(folder / "batches.csv"), read_rows(folder / "checks.csv")
    for name in ("batches.csv", "checks.csv"):
        with (folder / name).open(encoding="utf-8", newline="") as file:
            yield from header_contradictions(name, file.readline())
    for row in (row for row in [*batches, *checks] if row["attempt"] not in manifests):
        raise RefusedError(f"line {row['line']} of a table names attempt {row['attempt']!r}, which is not here")
    for path in folders:
        manifest = manifests[path.name]
        own = [row for row in batches if row["attempt"] == path.name]
        yield from check_attempt(path, manifest, plan)
        own_checks = [row for row in checks if row["attempt"] == path.name]
        yield from check_counts(manifest, own, own_checks)
        yield from check_evidence(path, manifest, own, own_checks)
        if manifest["kind"] == "timing":
            for line in matrix_contradictions(plan, manifest, scored_rows(own)):
                yield f"batches.csv: attempt {path.name}, {line}"
    computed = results_of(batches, checks, plan, manifests, results.get("stages"))
    computed["gates"] = [gate | moments_of(manifests.values()) for gate in computed["gates"]]
    yield from differences(results, computed, "results.json")
    yield from study_contradictions(folder, computed["null_study"], batches, manifests)


def check_folder(folder: Path) -> list[str]:
    """Check a published record and give one line for each thing found wrong."""
    found: list[str] = []
    try:
        for line in findings_of(folder):
            found.append(line)  # noqa: PERF402 - what was found before a refusal stays
    except RefusedError as refusal:
        found.append(str(refusal))
    except OSError as fault:
        found.append(f"{fault.filename}: cannot be read: {fault.strerror}")
    except Exception as fault:  # noqa: BLE001 - whatever is wrong with a record, a reader gets a sentence
        found.append(f"the record cannot be computed: {type(fault).__name__}: {fault}")
    return found


def main() -> int:
    """Check the folder that is named, or the one that this file lies in."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent
    found = check_folder(folder)
    for line in found:
        print("".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line))
    for line in () if found else younger_gates(read_facts(folder / "results.json", "results.json")):
        print(line)
    print(f"{len(found)} findings" if found else "every file and every number agrees")
    return 1 if found else 0


if __name__ == "__main__":
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:  # The reader of the output left early, as `head` does.
        os._exit(1)
    sys.exit(status)
