"""The frozen description of one question: arms, fixtures, comparisons, gates, protocol.

Structs refuse unknown keys and check themselves; deriving anything from them is left to the floors above.
"""

from __future__ import annotations

import enum
import math
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec

from reportgen.model.building import Command, Compile
from reportgen.model.protocol import Protocol

SCHEMA_VERSION = 1
_FEWEST_COMPARED = 2
AxisValue = str | int | float | bool

_ARM_NAME = re.compile(r"[a-z][a-z0-9_]{0,79}")
_AXIS_TEXT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,79}")
_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}")
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Role(enum.StrEnum):
    """What an arm is for (docs/glossary.md)."""

    INCUMBENT = "incumbent"
    CONTROL = "control"
    CANDIDATE = "candidate"
    NULL = "null"
    CEILING = "ceiling"
    PROBE = "probe"
    PEER = "peer"
    FLOOR = "floor"


class GateKind(enum.StrEnum):
    """Rules that a plan may freeze (docs/statistics.md)."""

    EVERY_FIXTURE = "every_fixture"
    HEADLINE = "headline"
    NO_REGRESSION = "no_regression"
    CEILING = "ceiling"
    BAND = "band"


class _Noun(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A struct that accepts no key it does not know."""


class Source(_Noun, frozen=True, kw_only=True):
    """Where an arm's code comes from, if from elsewhere."""

    repository: str
    commit: str
    path: str
    sha256: str


class Arm(_Noun, frozen=True, kw_only=True):
    """One version under test.

    ``file`` and ``symbol`` name its source and entry point; a null takes them from the arm it repeats (``of``).
    ``only`` limits the arm to fixtures whose axes have one of the listed values. ``bitwise`` asks for outputs
    equal to the baseline's bit for bit (always so for nulls). ``planted`` is the share of additional work that a probe
    was given on purpose: 0.01 does 1 % more, and 1 does all of it twice, which tells what share of the time the work is.
    ``arguments`` and ``environment`` are what an outside program (backend ``command``) is given for this arm beyond the shared ones.
    """

    name: str
    role: Role
    idea: str
    file: str | None = None
    symbol: str | None = None
    defines: dict[str, str | int] = {}
    of: str | None = None
    control: str | None = None
    incumbent: str | None = None
    bitwise: bool = False
    planted: float | None = None
    only: dict[str, list[AxisValue]] = {}
    source: Source | None = None
    arguments: list[str] = []
    environment: dict[str, str] = {}

    def __post_init__(self) -> None:
        if not _ARM_NAME.fullmatch(self.name):
            raise ValueError(
                f"arm name {self.name!r} must be lower-case letters, digits and _, and start with a letter"
            )
        if (self.role is Role.NULL) != (self.of is not None):
            raise ValueError(f"arm {self.name!r}: `of` names the arm that a null repeats, and only a null has it")
        if self.planted is not None and (self.role is not Role.PROBE or not 0 < self.planted <= 1):
            raise ValueError(f"arm {self.name!r}: `planted` is a share of work in (0, 1], and only a probe has it")
        if self.file is not None and not _FILE_NAME.fullmatch(self.file):
            raise ValueError(
                f"arm {self.name!r}: file {self.file!r} must be a plain file name in the experiment's folder"
            )


class ExtraFixture(_Noun, frozen=True, kw_only=True):
    """A fixture beside the product of the axes, with a value for every axis."""

    values: dict[str, AxisValue]
    checks_only: bool = False


class Comparison(_Noun, frozen=True, kw_only=True):
    """A candidate against a baseline on the fixtures that ``where`` selects (all, if empty)."""

    candidate: str
    baseline: str
    where: dict[str, list[AxisValue]] = {}


class Stage(_Noun, frozen=True, kw_only=True):
    """What ``arm`` saves against ``vs`` in a record named by its plan's digest; a launch there counts ``repeats`` times."""

    experiment: str
    plan: str
    arm: str
    vs: str
    repeats: int = 1
    where: dict[str, list[AxisValue]] = {}


class Gate(_Noun, frozen=True, kw_only=True):
    """A rule frozen in the plan before the first batch.

    ``arms`` are the arms it is asked of; ``vs`` is a role (``incumbent``, ``control``) or an arm.
    ``threshold`` is a share of the baseline's time (``quantity = "ratio"``; 0.02 asks for 2 % less time, and for
    ``no_regression`` allows 2 % more) or nanoseconds saved (``quantity = "saved_ns"``: saved time of one launch
    times ``repeats``). ``stage`` belongs to ``ceiling``, ``axis`` to ``band``; ``after`` is the digest of the plan whose
    results had been seen when a band's points were chosen: it is exploratory.
    """

    name: str
    kind: GateKind
    arms: list[str]
    vs: str
    threshold: float
    quantity: str = "ratio"
    repeats: int = 1
    required: bool = True
    where: dict[str, list[AxisValue]] = {}
    stage: Stage | None = None
    axis: str | None = None
    after: str | None = None

    def __post_init__(self) -> None:
        if self.quantity not in ("ratio", "saved_ns"):
            raise ValueError(f"gate {self.name!r}: quantity must be 'ratio' or 'saved_ns'")
        if not self.arms:
            raise ValueError(f"gate {self.name!r}: arms names none")
        if not math.isfinite(self.threshold) or self.repeats < 1:
            raise ValueError(f"gate {self.name!r}: threshold must be finite and repeats at least 1")
        _check_ceiling(self)
        _check_band(self)


def _check_ceiling(gate: Gate) -> None:
    if (gate.kind is GateKind.CEILING) != (gate.stage is not None):
        raise ValueError(f"gate {gate.name!r}: kind 'ceiling' needs `stage`, where its ceiling stands; no other has it")
    if gate.stage is not None and (gate.quantity != "saved_ns" or gate.stage.repeats < 1):
        raise ValueError(f"gate {gate.name!r}: quantity must be 'saved_ns' and stage.repeats at least 1")
    for digest in (gate.stage.plan if gate.stage else None, gate.after):
        if digest is not None and not _DIGEST.fullmatch(digest):
            raise ValueError(f"gate {gate.name!r}: digest {digest!r} is not 64 hexadecimal digits")


def _check_band(gate: Gate) -> None:
    if (gate.kind is GateKind.BAND) != (gate.axis is not None):
        raise ValueError(f"gate {gate.name!r}: kind 'band' needs `axis`, along which it looks; no other has it")
    if gate.axis is not None and (gate.quantity != "ratio" or not 0 <= gate.threshold < 1):
        raise ValueError(f"gate {gate.name!r}: a band's threshold is a share of the baseline's time in [0, 1)")
    if gate.after is not None and (gate.axis is None or gate.required):
        raise ValueError(f"gate {gate.name!r}: `after` marks a band as exploratory, so required must be false")


class Harness(_Noun, frozen=True, kw_only=True):
    """Another program that times some of the arms in processes of the same attempt, as its own documentation has it.

    ``name`` is one of ``measure.harnesses``; each of the ``repetitions`` is a fresh process that asks it once for each of the
    ``arms`` on each fixture that ``where`` selects. ``settings`` are passed to it. It carries no verdict.
    """

    name: str
    arms: list[str]
    repetitions: int = 4
    where: dict[str, list[AxisValue]] = {}
    settings: dict[str, int | float | str] = {}

    def __post_init__(self) -> None:
        if len(self.arms) < _FEWEST_COMPARED or self.repetitions < 1:
            raise ValueError(f"harness {self.name!r}: name two arms or more, and at least 1 repetition")


class Experiment(
    _Noun,
    frozen=True,
    kw_only=True,
    rename={"arms": "arm", "fixtures": "fixture", "comparisons": "comparison", "gates": "gate", "harnesses": "harness"},
):
    """``experiment.toml`` as a value: what was asked, before anything was measured."""

    schema_version: int
    title: str
    question: str
    backend: str
    arms: list[Arm]
    axes: dict[str, list[AxisValue]]
    summary: str = ""
    slicing: list[str] = []
    exclude: list[dict[str, list[AxisValue]]] = []
    fixtures: list[ExtraFixture] = []
    comparisons: list[Comparison] = []
    gates: list[Gate] = []
    harnesses: list[Harness] = []
    smallest_effect: float = 0.005
    seed: int = 1
    command: Command | None = None
    compile: Compile = msgspec.field(default_factory=Compile)
    protocol: Protocol = msgspec.field(default_factory=Protocol)
    fake: dict[str, Any] = {}

    def __post_init__(self) -> None:
        if not 0 <= self.smallest_effect < 1:
            raise ValueError("smallest_effect is a share of the baseline's time in [0, 1)")
        if not self.axes:
            raise ValueError("axes: name at least one axis with at least one value")
        for axis, values in self.axes.items():
            _check_axis(axis, values)
        _check_unique("arm", [arm.name for arm in self.arms])
        _check_unique("gate", [gate.name for gate in self.gates])
        _check_unique("harness", [harness.name for harness in self.harnesses])
        _check_references(self)


def _check_axis(axis: str, values: list[AxisValue]) -> None:
    if not _ARM_NAME.fullmatch(axis):
        raise ValueError(f"axis {axis!r} must be lower-case letters, digits and _, and start with a letter")
    if not values:
        raise ValueError(f"axis {axis!r} has no value")
    _check_unique(f"value of axis {axis!r}:", [str(value) for value in values])
    for value in values:
        _check_axis_value(axis, value)


def _check_axis_value(axis: str, value: AxisValue) -> None:
    if isinstance(value, str) and not _AXIS_TEXT.fullmatch(value):
        raise ValueError(f"axis {axis!r}: value {value!r} may hold letters, digits and . _ + - only")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"axis {axis!r}: value {value!r} is not finite")


def _check_unique(what: str, names: list[str]) -> None:
    for name, times in Counter(names).items():
        if times > 1:
            raise ValueError(f"{what} {name!r} is declared twice")


def _check_references(experiment: Experiment) -> None:
    roles = {arm.name: arm.role for arm in experiment.arms}
    if Role.INCUMBENT not in roles.values():
        raise ValueError("no arm has the role 'incumbent'")
    for arm in experiment.arms:
        for field in ("of", "control", "incumbent"):
            _check_arm(f"arm {arm.name!r}: {field}", getattr(arm, field), roles)
        _check_filter(f"arm {arm.name!r}: only", arm.only, experiment)
    for comparison in experiment.comparisons:
        _check_arm("comparison: candidate", comparison.candidate, roles)
        _check_arm("comparison: baseline", comparison.baseline, roles)
        _check_filter("comparison: where", comparison.where, experiment)
    for gate in experiment.gates:
        _check_gate(gate, roles, experiment)
    _check_harnesses(experiment, roles)
    _check_axes_named("slicing", experiment.slicing, experiment)
    for exclusion in experiment.exclude:
        _check_filter("exclude", exclusion, experiment)
    for extra in experiment.fixtures:
        if set(extra.values) != set(experiment.axes):
            raise ValueError(f"fixture {extra.values} must give a value for every axis: {', '.join(experiment.axes)}")
        for axis, value in extra.values.items():
            _check_axis_value(axis, value)


def _check_harnesses(experiment: Experiment, roles: dict[str, Role]) -> None:
    for harness in experiment.harnesses:
        for named in harness.arms:
            _check_arm(f"harness {harness.name!r}: arms", named, roles)
        _check_filter(f"harness {harness.name!r}: where", harness.where, experiment)


def _check_gate(gate: Gate, roles: dict[str, Role], experiment: Experiment) -> None:
    for named in gate.arms:
        _check_arm(f"gate {gate.name!r}: arms", named, roles)
    if gate.vs not in ("incumbent", "control"):
        _check_arm(f"gate {gate.name!r}: vs", gate.vs, roles)
    _check_filter(f"gate {gate.name!r}: where", gate.where, experiment)
    _check_axes_named(f"gate {gate.name!r}: axis", [gate.axis] if gate.axis else [], experiment)


def _check_arm(what: str, named: str | None, roles: dict[str, Role]) -> None:
    if named is not None and named not in roles:
        raise ValueError(f"{what} names unknown arm {named!r}")


def _check_axes_named(what: str, axes: Iterable[str], experiment: Experiment) -> None:
    for axis in axes:
        if axis not in experiment.axes:
            raise ValueError(f"{what} names unknown axis {axis!r}")


def _check_filter(what: str, where: dict[str, list[AxisValue]], experiment: Experiment) -> None:
    _check_axes_named(what, where, experiment)
    for axis, values in where.items():
        known = {*experiment.axes[axis], *(extra.values.get(axis) for extra in experiment.fixtures)}
        for value in values:
            if value not in known:
                raise ValueError(f"{what}: axis {axis!r} has no value {value!r}")
