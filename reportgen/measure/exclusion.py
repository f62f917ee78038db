"""Rules of the plan by which batches are tagged and their repetition left out, before any analysis. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from reportgen.model.protocol import Exclusion

THROTTLED, FOREIGN, SLOW_CLOCK = "throttled", "foreign_process", "clock_share"

Row = dict[str, Any]


def tagged(rows: Sequence[Row], rules: Exclusion, highest_clock_mhz: float | None) -> list[Row]:
    """Rows with their ``tag``: the first rule that the readings of their block break, or none."""
    return [row | {"tag": _tag(row, rules, highest_clock_mhz)} for row in rows]


def highest_clock_mhz(rows: Iterable[Mapping[str, Any]], before: float | None = None) -> float | None:
    """Highest clock read around any block of ``rows``, or ``before`` if that is higher."""
    read = [row.get(f"clock_mhz_{when}") for row in rows for when in ("before", "after")]
    clocks = [clock for clock in (*read, before) if clock is not None]
    return max(clocks, default=None)


def broken_rules(rows: Iterable[Row]) -> str:
    """Tags of a repetition's scored rows in words; empty where none is tagged."""
    tags = sorted({row["tag"] for row in rows if row["tag"] and not row["warmup"]})
    return f"excluded by the plan: {', '.join(tags)}" if tags else ""


def _tag(row: Row, rules: Exclusion, highest: float | None) -> str:
    if rules.throttled and row.get("throttle"):
        return THROTTLED
    if rules.foreign_process and row.get("foreign_processes"):
        return FOREIGN
    clocks = [clock for clock in (row.get("clock_mhz_before"), row.get("clock_mhz_after")) if clock is not None]
    if highest and clocks and min(clocks) < rules.least_clock_share * highest:
        return SLOW_CLOCK
    return ""
