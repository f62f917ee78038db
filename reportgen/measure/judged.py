"""Which arms are judged against which: the plan's comparisons, written out and checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from reportgen.errors import InputError
from reportgen.model.experiment import Arm, AxisValue, Comparison, Experiment, Gate, Role
from reportgen.model.plan import PlanFixture, Slice

AGAINST_INCUMBENT = (Role.CANDIDATE, Role.CONTROL, Role.CEILING, Role.PROBE)
WITH_CONTROL = (Role.CANDIDATE, Role.CEILING, Role.PROBE)


@dataclass(frozen=True)
class Arms:
    """The arms of a plan and where they are timed."""

    arms: Sequence[Arm]
    fixtures: Sequence[PlanFixture]
    slices: Sequence[Slice]
    main: Mapping[str, Sequence[str]]
    peers: Mapping[str, Sequence[str]]

    def named(self, name: str) -> Arm:
        """Find an arm by name."""
        return next(arm for arm in self.arms if arm.name == name)

    def shared(self, first: str, second: str, rule: Mapping[str, Sequence[AxisValue]] | None = None) -> list[str]:
        """Fixtures that the rule selects and on which one process times both arms."""
        return [
            fixture.name
            for fixture in self.fixtures
            if all(fixture.values[axis] in allowed for axis, allowed in (rule or {}).items())
            and any({first, second} <= set(group.get(fixture.name, ())) for group in (self.main, self.peers))
        ]

    def beside(self, name: str, rule: Mapping[str, Sequence[AxisValue]]) -> list[str]:
        """Fixtures that the rule selects and on which an arm is timed beside any other."""
        return self.shared(name, name, rule)

    def incumbents_of(self, arm: Arm) -> list[str]:
        """Incumbents that share a fixture with the arm."""
        names = [other.name for other in self.arms if other.role is Role.INCUMBENT]
        return [name for name in names if self.shared(arm.name, name)]


def judged_comparisons(experiment: Experiment, arms: Arms, where: str) -> list[Comparison]:
    """Write the comparisons out: those that follow from roles in the order of the arms, then the declared ones.

    Raises
    ------
    InputError
        An arm's incumbent is not clear, two compared arms share no fixture, a baseline has no null in a slice, or a gate
        asks for a comparison that cannot be made.
    """
    found = [comparison for arm in arms.arms for comparison in _of_arm(arm, arms, where)]
    found += experiment.comparisons
    unique = [comparison for i, comparison in enumerate(found) if comparison not in found[:i]]
    for comparison in unique:
        _check_shared(comparison, arms, where)
    _check_nulls(unique, arms, where)
    for gate in experiment.gates:
        _check_gate(gate, arms, where)
        if gate.axis is not None:
            _check_band(gate, arms, experiment.protocol.repetitions, where)
    return unique


def incumbent_of(arm: Arm, arms: Arms, where: str) -> str:
    """Name the incumbent that an arm is judged against: the named one, or the only one on its fixtures.

    Raises
    ------
    InputError
        The named arm is no incumbent, or there are none or several to choose from.
    """
    if arm.incumbent is not None:
        if arms.named(arm.incumbent).role is not Role.INCUMBENT:
            raise InputError(
                f"arm {arm.name!r}: incumbent names {arm.incumbent!r}, which has another role",
                where=where,
                remedy="name an arm with the role 'incumbent'",
            )
        return arm.incumbent
    incumbents = arms.incumbents_of(arm)
    if len(incumbents) != 1:
        what = f"several incumbents ({', '.join(incumbents)})" if incumbents else "no incumbent"
        raise InputError(
            f"arm {arm.name!r} shares its fixtures with {what}",
            where=where,
            remedy=f"name one: add `incumbent` to arm {arm.name!r}, or correct `only`",
        )
    return incumbents[0]


def control_of(arm: Arm, arms: Arms, where: str) -> str | None:
    """Name the control that an arm is judged against, if it names one.

    Raises
    ------
    InputError
        The named arm is neither control nor incumbent, or an arm of this role has no control.
    """
    if arm.control is None:
        return None
    if arm.role not in WITH_CONTROL:
        raise InputError(
            f"arm {arm.name!r}: an arm with the role {arm.role.value!r} has no control",
            where=where,
            remedy="remove the key `control`",
        )
    if arms.named(arm.control).role not in (Role.CONTROL, Role.INCUMBENT):
        raise InputError(
            f"arm {arm.name!r}: control names {arm.control!r}, which is neither control nor incumbent",
            where=where,
            remedy="name an arm with the role 'control' or 'incumbent'",
        )
    return arm.control


def _of_arm(arm: Arm, arms: Arms, where: str) -> Iterator[Comparison]:
    control = control_of(arm, arms, where)
    if arm.role in AGAINST_INCUMBENT:
        incumbent = incumbent_of(arm, arms, where)
        yield Comparison(candidate=arm.name, baseline=incumbent)
        if control is not None:
            yield Comparison(candidate=arm.name, baseline=control)
    elif arm.role is Role.NULL and arm.of is not None:
        yield Comparison(candidate=arm.name, baseline=arm.of)
    elif arm.role is Role.PEER:
        beside = {group[0] for group in arms.peers.values() if arm.name in group}
        yield from (Comparison(candidate=arm.name, baseline=name) for name in sorted(beside))
        if not beside:
            raise InputError(
                f"peer {arm.name!r} is timed beside no incumbent", where=where, remedy="correct the `only` of either"
            )


def _check_shared(comparison: Comparison, arms: Arms, where: str) -> None:
    candidate, baseline = comparison.candidate, comparison.baseline
    if candidate == baseline:
        raise InputError(f"comparison: {candidate!r} is compared with itself", where=where, remedy="name another arm")
    if not arms.shared(candidate, baseline, comparison.where):
        raise InputError(
            f"comparison: {candidate!r} and {baseline!r} are timed together on no fixture",
            where=where,
            remedy="correct `only` or `where` (peers are timed beside the incumbent alone)",
        )


def _check_nulls(comparisons: Sequence[Comparison], arms: Arms, where: str) -> None:
    """Every incumbent and control that is a baseline has a null in every slice in which it is one."""
    for comparison in comparisons:
        baseline = comparison.baseline
        if arms.named(baseline).role not in (Role.INCUMBENT, Role.CONTROL):
            continue
        nulls = [arm.name for arm in arms.arms if arm.of == baseline]
        judged = set(arms.shared(comparison.candidate, baseline, comparison.where))
        repeated = {fixture for null in nulls for fixture in arms.shared(null, baseline)}
        for part in arms.slices:
            if judged & set(part.fixtures) and not repeated & set(part.fixtures):
                raise InputError(
                    f"baseline {baseline!r} has no null arm in slice {part.name!r}",
                    where=where,
                    remedy=f"add an [[arm]] with role = 'null' and of = {baseline!r}",
                )


def _check_gate(gate: Gate, arms: Arms, where: str) -> None:
    for name in gate.arms:
        arm = arms.named(name)
        baseline: str | None = gate.vs
        if gate.vs == "incumbent":
            baseline = incumbent_of(arm, arms, where)
        elif gate.vs == "control":
            baseline = control_of(arm, arms, where)
        if baseline is None or baseline == name or not arms.shared(name, baseline, gate.where):
            raise InputError(
                f"gate {gate.name!r}: arm {name!r} is not timed beside its {gate.vs!r}",
                where=where,
                remedy="correct `arms`, `vs` or `where`",
            )


def _check_band(gate: Gate, arms: Arms, repetitions: int, where: str) -> None:
    """See that each slice has one fixture a point, and that the planned repetitions can decide all points together.

    Of M points each is held to 1 - 0.05 / M, and the widest interval of n values covers with 1 - 2^(1-n).
    """
    for piece, name in product(arms.slices, gate.arms):
        asked = set(arms.beside(name, gate.where)) & set(piece.fixtures)
        values = [fixture.values[str(gate.axis)] for fixture in arms.fixtures if fixture.name in asked]
        fault, remedy = "", ""
        if len(set(values)) < len(values):
            fault, remedy = (
                f"has several fixtures at one {gate.axis}",
                "leave one value of every other axis with `where`",
            )
        elif len(values) == 1:
            fault, remedy = f"has a single point of {gate.axis}", "a band needs two adjacent points"
        elif 40 * len(values) > 2**repetitions:
            fault, remedy = (
                f"asks for {len(values)} points",
                f"{repetitions} repetitions cannot decide so many together",
            )
        if fault:
            raise InputError(f"gate {gate.name!r} {fault} in slice {piece.name!r}", where=where, remedy=remedy)
