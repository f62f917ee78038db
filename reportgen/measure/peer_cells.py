"""What the processes of the peer group time: the incumbent beside implementations of others, less the cells that were refused. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from reportgen.model.plan import Plan

Refusal = Mapping[str, Any]


def peer_cells(plan: Plan, refused: Iterable[Refusal] = ()) -> dict[str, list[str]]:
    """Arms that a process of the peer group times, by fixture: the incumbent, then every peer that is not ``refused`` there.

    A fixture on which no peer is left is left out. A refusal has ``arm``, ``fixture`` and ``reason``.
    """
    gone = {(one["fixture"], one["arm"]) for one in refused}
    found = {
        fixture: [arms[0], *(arm for arm in arms[1:] if (fixture, arm) not in gone)]
        for fixture, arms in plan.peers_by_fixture.items()
    }
    return {fixture: arms for fixture, arms in found.items() if len(arms) > 1}
