"""Where attempts of one run are measured, and which of them may be under way at the same time. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reportgen.errors import InputError


@dataclass(frozen=True)
class Place:
    """One device of one run, or one tool's turn on it. ``name`` is what the user knows it by: a selector, or a worker's address.

    ``host`` tells machines apart, and boots of one machine; ``services`` are the live services that share the device.
    """

    name: str
    device: str
    kind: str = ""
    host: str = ""
    services: frozenset[str] = frozenset()
    tool: str = ""

    def disturbs(self, other: Place, *, side_by_side: bool) -> bool:
        """Whether attempts at both must not be under way together.

        A service's window belongs to one attempt, so a service that shares both devices keeps them apart whatever the plan allows.
        """
        if self.host != other.host:
            return False
        return not side_by_side or self.device == other.device or bool(self.services & other.services)


def next_place(waiting: Iterable[Place], busy: Sequence[Place], *, side_by_side: bool) -> Place | None:
    """First of those ``waiting`` that no attempt under way would disturb; ``None`` if there is none."""
    for place in waiting:
        if not any(place.disturbs(other, side_by_side=side_by_side) for other in busy):
            return place
    return None


def check_apart(places: Sequence[Place]) -> None:
    """Refuse two names of one device: it would be measured twice, and speak once.

    Raises
    ------
    InputError
        Two places are one device; the line names both.
    """
    known: dict[tuple[str, str], str] = {}
    for place in places:
        first = known.setdefault((place.host, place.device), place.name)
        if first != place.name or [one.name for one in places].count(place.name) > 1:
            why = "; a CPU is one device, whichever of its cores is named" if place.kind == "cpu" else ""
            raise InputError(
                f"{first!r} and {place.name!r} are one device, {place.device}{why}", remedy="name each device once"
            )
