"""What arms in Python became, on the controller's side: kept with the attempt, and the same in every repetition."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reportgen.archive.journal import Journal
from reportgen.archive.layout import COMPILED
from reportgen.measure.python_arms import FOLDER

CODE = "code"

Facts = Mapping[str, Any]


def archive_code(journal: Journal, work: Path, facts: Facts) -> None:
    """Archive every kernel that the calibrating process told of, under the arm's name."""
    for arm, kernels in facts.get(CODE, {}).items():
        for one in kernels:
            sha256 = one["sha256"]
            name = f"{COMPILED}/{arm}/{one['kernel']}-{sha256[:12]}.cubin"
            journal.artifact(name, (work / FOLDER / f"{sha256}.cubin").read_bytes())


def other_code(first: Facts, later: Facts) -> str:
    """Name, in a sentence, an arm that became other machine code than in the calibrating process; empty if none did.

    A process that has fewer fixtures, as that of peers, may have compiled less.
    """
    was, now = _hashes(first), _hashes(later)
    for arm in sorted(now):
        if not now[arm] <= was.get(arm, set()):
            return f"arm {arm!r} became other machine code than when it was calibrated"
    return ""


def _hashes(facts: Facts) -> dict[str, set[str]]:
    return {arm: {one["sha256"] for one in kernels} for arm, kernels in facts.get(CODE, {}).items()}
