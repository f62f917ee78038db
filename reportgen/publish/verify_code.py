"""What arms in Python became: their files and functions as the plan has them, and the kernels that every process told of among the archived ones."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

CodeFacts = Mapping[str, Any]
Kernels = dict[str, list[str]]


def kept_code(attempt: Path) -> dict[str, str]:
    """Give, by path below ``artifacts``, the text of every ``binaries/<arm>.json`` and the SHA-256 of each file under ``compiled``."""
    folder = attempt / "artifacts"
    texts, compiled = sorted(folder.glob("binaries/*.json")), sorted((folder / "compiled").rglob("*"))
    found = {path: path.read_text("utf-8", "replace") for path in texts}
    found |= {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in compiled if path.is_file()}
    return {path.relative_to(folder).as_posix(): told for path, told in found.items()}


def python_arms(plan: CodeFacts) -> list[CodeFacts]:
    """Give the arms that are functions of a file in Python; what someone else's is called by (a peer) has no file."""
    return [arm for arm in plan["experiment"]["arm"] if str(arm.get("file") or "").endswith(".py")]


def code_contradictions(plan: CodeFacts, noted: Iterable[CodeFacts], archived: Mapping[str, str]) -> Iterator[str]:
    """Hold what stands for the code of arms in Python against the plan, and what they compiled to against the archive.

    ``noted`` are the lines of ``repetitions.jsonl``, ``archived`` is what :func:`kept_code` gives. A kernel is looked for
    under its own arm. What a library launches that tells nobody its machine code is not among the kernels: nothing is said of it.
    """
    yield from _described(plan, archived)
    whole = [one for one in noted if "code" in one["facts"] and not one.get("left_out")]
    told = [(one, _hashes(one["facts"]["code"])) for one in whole]
    kept = {arm: {archived[path] for path in archived if path.startswith(f"compiled/{arm}/")} for arm in _arms(told)}
    for arm, sha256 in sorted({(name, one) for _, kernels in told for name in kernels for one in kernels[name]}):
        if sha256 not in kept[arm]:
            yield f"artifacts/compiled: no file has the SHA-256 of a kernel of arm {arm}, {sha256}"
    yield from _changed(told)
    for null in (arm for arm in plan["experiment"]["arm"] if arm.get("of")):
        for one, kernels in told:
            if null["name"] in kernels and kernels[null["name"]] != kernels.get(null["of"]):
                yield f"repetitions.jsonl: {_named(one)}: null {null['name']} became other kernels than {null['of']}"


def _described(plan: CodeFacts, archived: Mapping[str, str]) -> Iterator[str]:
    """Compare the text that stands for an arm's code with the plan: its function, and its file as the digest covers it."""
    covered = {file["sha256"] for file in plan["files"]}
    texts = {arm["name"]: f"binaries/{arm['name']}.json" for arm in python_arms(plan)}
    for arm in (arm for arm in python_arms(plan) if texts[arm["name"]] in archived):
        path = texts[arm["name"]]
        try:
            text = json.loads(archived[path])
        except ValueError:
            text = {}
        if not isinstance(text, dict) or (text.get("source"), text.get("symbol")) != (arm["file"], arm.get("symbol")):
            yield f"artifacts/{path}: does not name the file and function of arm {arm['name']} as plan.toml has them"
        elif text.get("source_sha256") not in covered:
            yield f"artifacts/{path}: the file of arm {arm['name']} does not have a SHA-256 that plan.toml lists"


def _changed(told: list[tuple[CodeFacts, Kernels]]) -> Iterator[str]:
    """Look for a process in which an arm became something that the calibrating one had not seen."""
    first = [kernels for one, kernels in told if not one["repetition"] and _mode(one) == "process"]
    for one, kernels in told if first else ():
        for arm in sorted(kernels):
            if not set(kernels[arm]) <= set(first[0].get(arm, [])):
                yield f"repetitions.jsonl: {_named(one)}: arm {arm} became other kernels than in the calibrating process"


def _hashes(code: CodeFacts) -> Kernels:
    return {arm: sorted(kernel["sha256"] for kernel in kernels) for arm, kernels in code.items()}


def _arms(told: list[tuple[CodeFacts, Kernels]]) -> set[str]:
    return {arm for _, kernels in told for arm in kernels}


def _mode(one: CodeFacts) -> str:
    return str(one.get("mode", "process"))


def _named(one: CodeFacts) -> str:
    return f"{'' if _mode(one) == 'process' else _mode(one) + ' '}repetition {one['repetition']}"
