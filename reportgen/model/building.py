"""How an experiment's sources become code, and the outside program that backend ``command`` times."""

from __future__ import annotations

import math

import msgspec


class Compile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How sources become code; ``headers`` are further files that belong to the plan."""

    options: list[str] = []
    headers: list[str] = []


class Command(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The outside program of backend ``command``: ``run`` is what starts it in the experiment's folder, without a shell.

    ``files`` of that folder are what it is or reads: the plan covers them, and they are hashed around every repetition. ``environment`` is
    shared by all arms; one question may take ``deadline_s``. A ``resident`` program is started once a repetition and arm, and asked on its standard
    input (docs/commands.md).
    """

    run: list[str]
    files: list[str] = []
    environment: dict[str, str] = {}
    deadline_s: float = 60.0
    resident: bool = False

    def __post_init__(self) -> None:
        if not self.run or not self.run[0]:
            raise ValueError("command.run names no program")
        if not 0 < self.deadline_s < math.inf:
            raise ValueError("command.deadline_s must be a finite number of seconds above 0")
