"""A part of a plan, for attempts that time nothing: some of its fixtures, some of its arms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from reportgen.errors import InputError
from reportgen.model.plan import Plan, PlanFixture


def with_fixtures(plan: Plan, where: Mapping[str, list[str]]) -> Plan:
    """Leave the fixtures whose axes have one of the values that ``where`` lists.

    Raises
    ------
    InputError
        An axis does not exist, or no fixture is left.
    """
    axes = plan.experiment.axes
    for axis in where:
        if axis not in axes:
            raise InputError(f"there is no axis {axis!r}", remedy=f"--where takes one of: {', '.join(axes)}")
    fixtures = [fixture for fixture in plan.fixtures if _is_wanted(fixture, where)]
    if not fixtures:
        asked = " ".join(f"{axis}={value}" for axis, values in where.items() for value in values)
        raise InputError(f"no fixture has {asked}", remedy="`reportgen plan NAME` lists the values of each axis")
    return replace(plan, fixtures=fixtures)


def with_arms(plan: Plan, arms: Sequence[str]) -> Plan:
    """Leave the timed fixtures, and on them the arms that are named (all, where none is).

    Raises
    ------
    InputError
        There is no such arm, none is timed on any fixture, or one is in Python.
    """
    known = [arm.name for arm in plan.own_arms]
    for arm in arms:
        if arm not in known:
            raise InputError(f"there is no arm {arm!r}", remedy=f"--arms takes some of: {', '.join(known)}")
    timed = [fixture for fixture in plan.fixtures if not fixture.checks_only]
    left = {
        fixture.name: [arm for arm in plan.arms_by_fixture[fixture.name] if not arms or arm in arms]
        for fixture in timed
    }
    fixtures = [fixture for fixture in timed if left[fixture.name]]
    if not fixtures:
        raise InputError("none of these arms is timed on any of these fixtures", remedy="see `reportgen plan NAME`")
    _refuse_python(plan, left.values())
    return replace(plan, fixtures=fixtures, arms_by_fixture={one.name: left[one.name] for one in fixtures})


def _refuse_python(plan: Plan, cells: Iterable[Sequence[str]]) -> None:
    """Refuse callables: a profiler's rows are told apart by the kernels that a process says it launched."""
    uncounted = {arm.name for arm in plan.python_arms} & {name for names in cells for name in names}
    if uncounted:
        raise InputError(
            f"arm {min(uncounted)!r} is in Python, and nothing says which kernels it launches",
            remedy="name the compiled ones with --arms",
        )


def _is_wanted(fixture: PlanFixture, where: Mapping[str, list[str]]) -> bool:
    return all(str(fixture.values[axis]) in values for axis, values in where.items())
