"""A failed check in words. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def failure_sentence(row: Mapping[str, Any]) -> str:
    """Say which arm failed where, and by how much; ``row`` has the columns of ``model.columns.CHECKS``."""
    where = f"arm {row['arm']}, fixture {row['fixture']}, {row['when']} timing"
    if row["kind"] == "inputs":
        return f"{where}: {row['mismatches']} of {row['elements']} input buffers were written to"
    against = "the reference" if row["kind"] == "value" else f"arm {row['against']} bit for bit"
    return f"{where}: {row['mismatches']} of {row['elements']} elements of {row['output']} differ from {against}"
