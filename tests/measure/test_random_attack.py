"""Random signals at random moments against real runs; ``python -m benchmarks.faults.random_attack`` does hundreds of rounds."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from reportgen.model.record import Event
from tests.measure.siege import Siege, check_order, drawn

# Drawn of it: both guards and the worker are killed beside a program that detached without its environment; the attempt is resumed, and its controller killed
# while it cleans; resumed again, it is interrupted beside another such program.
SEED = 968778
WINDOW = ["opened", "service idle", "repetition", "service cleaning", "service reopened"]


def test_whoever_is_struck_whenever_nothing_is_lost_alive_or_closed(tmp_path: Path) -> None:
    """What must hold after each round is in ``siege``."""
    siege, random = Siege(tmp_path / "siege"), Random(SEED)  # noqa: S311 - to be drawn again
    try:
        assert 3 == len([siege.round(drawn(random)) for _ in range(3)])
    finally:
        siege.end()
    assert siege.archived


@pytest.mark.parametrize(
    "wrong",
    [
        ["opened", "repetition", *WINDOW[1:]],
        [*WINDOW, "repetition"],
        [*WINDOW, "service idle"],
        WINDOW[1:],
    ],
    ids=["before it is closed", "after it was opened", "closed without a beginning", "no beginning"],
)
def test_events_out_of_order_are_found(wrong: list[str]) -> None:
    """A window, one that the watchdog cleaned up once more, and a second one are in order."""
    for right in (WINDOW, [*WINDOW[:4], *WINDOW[3:]], [*WINDOW, "resumed", "service identifying", *WINDOW[1:]]):
        check_order([_event(name) for name in right])
    with pytest.raises(AssertionError):
        check_order([_event(name) for name in wrong])


def test_an_event_that_is_told_before_an_earlier_one_is_found() -> None:
    """By its time."""
    with pytest.raises(AssertionError):
        check_order([_event("opened", 2), _event("sealed", 1)])


def _event(name: str, second: int = 0) -> Event:
    return Event(at=f"2026-01-01T00:00:0{second}.000Z", event=name, facts={})
