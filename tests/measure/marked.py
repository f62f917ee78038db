"""What runs and carries the mark of some run, as anyone sees it who knows none of them."""

from __future__ import annotations

from reportgen.measure.marks import all_stats
from reportgen.measure.ownership import Owned, environment_mark


def marked_processes() -> dict[str, list[Owned]]:
    """Everything of this user that carries the mark of some attempt, by its value."""
    found: dict[str, list[Owned]] = {}
    for stat in all_stats():
        if not stat.ended and (mark := environment_mark(stat.pid)) is not None:
            found.setdefault(mark, []).append(Owned(stat.pid, stat.started_ticks, "mark"))
    return found
