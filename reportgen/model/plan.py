"""The plan: an experiment with everything derived from it written out, frozen by a digest."""

from __future__ import annotations

import msgspec

from reportgen.model.experiment import Arm, AxisValue, Comparison, Experiment, Role

SCHEMA_VERSION = 1
ORDER_METHOD = "mirrored-balanced-1"
PYTHON = ".py"


def in_python(arm: Arm) -> bool:
    """Whether an arm is a function in a file of Python, called by the timed process, and not compiled code."""
    return arm.file is not None and arm.file.endswith(PYTHON)


class PlanFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that the plan's digest covers; ``path`` is relative to the kernels folder."""

    path: str
    sha256: str


class PlanFixture(msgspec.Struct, frozen=True, kw_only=True):
    """A fixture written out: ``name`` is ``axis=value`` pairs joined by commas, in the order of the axes."""

    name: str
    values: dict[str, AxisValue]
    seed: int
    checks_only: bool = False


class Slice(msgspec.Struct, frozen=True, kw_only=True):
    """One value of each slicing axis; ``name`` is ``axis=value`` pairs, or ``all`` where the plan slices by none."""

    name: str
    values: dict[str, AxisValue]
    fixtures: list[str]


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """``plan.toml``: what will be, or was, measured.

    ``arms_by_fixture`` lists the main-group arms timed on each fixture, ``peers_by_fixture`` those of the peer group (the
    incumbent first); neither they nor ``slices`` hold fixtures that are only checked. ``comparisons`` are all that are
    judged, nulls against the arm they repeat included. In ``experiment`` nulls have the file, symbol, defines and
    fixtures of the arm they repeat. ``backend_options`` begin with ``backend=<name>``; ``archive.digest`` defines ``digest``.
    """

    schema_version: int
    name: str
    digest: str
    order_method: str
    backend_options: list[str]
    files: list[PlanFile]
    experiment: Experiment
    fixtures: list[PlanFixture]
    slices: list[Slice]
    arms_by_fixture: dict[str, list[str]]
    peers_by_fixture: dict[str, list[str]]
    comparisons: list[Comparison]

    @property
    def own_arms(self) -> list[Arm]:
        """Arms that are no peers: those that are timed in the main group."""
        return [arm for arm in self.experiment.arms if arm.role is not Role.PEER]

    @property
    def compiled_arms(self) -> list[Arm]:
        """Arms whose source is compiled before anything is measured."""
        return [arm for arm in self.own_arms if not in_python(arm)]

    @property
    def python_arms(self) -> list[Arm]:
        """Arms of the main group that are functions in Python."""
        return [arm for arm in self.own_arms if in_python(arm)]
