"""Finding one comparison of a record by arm, baseline and slice; and the anchors under which figures are derived."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from reportgen.errors import InputError
from reportgen.model.experiment import Arm, Role
from reportgen.model.plan import Plan, Slice
from reportgen.model.result import CellResult, ComparisonResult, NoiseResult
from reportgen.publish.view import RecordView

CONTROL = "control"
INCUMBENT = "incumbent"


def arm_named(plan: Plan, name: str) -> Arm:
    """Return the arm of that name.

    Raises
    ------
    InputError
        The plan has none.
    """
    for arm in plan.experiment.arms:
        if arm.name == name:
            return arm
    known = ", ".join(arm.name for arm in plan.experiment.arms)
    raise InputError(f"{plan.name} has no arm {name!r}", remedy=f"its arms are {known}")


def baseline_named(plan: Plan, arm: Arm, vs: str) -> str:
    """Name the arm that ``vs`` means for ``arm``: a role (``control``, ``incumbent``) or an arm.

    Raises
    ------
    InputError
        The arm has no control, or several incumbents stand and it names none.
    """
    if vs == CONTROL and arm.role is not Role.CONTROL:
        if arm.control is None:
            raise InputError(f"arm {arm.name!r} has no control", remedy="compare it with the incumbent")
        return arm.control
    if vs == INCUMBENT:
        incumbents = [other.name for other in plan.experiment.arms if other.role is Role.INCUMBENT]
        if arm.incumbent is None and len(incumbents) > 1:
            raise InputError(f"arm {arm.name!r} names none of {len(incumbents)} incumbents", remedy="name it in vs")
        return arm.incumbent or incumbents[0]
    return arm_named(plan, vs).name


def matching_slices(plan: Plan, where: Mapping[str, Any]) -> list[Slice]:
    """Return the slices whose axes have the values of ``where`` (one value, or a list of them).

    Raises
    ------
    InputError
        An axis does not slice, or no slice fits.
    """
    for axis in where:
        if axis not in plan.experiment.slicing:
            known = ", ".join(plan.experiment.slicing) or "none"
            raise InputError(f"{plan.name} is not sliced by {axis!r}", remedy=f"slicing axes are: {known}")
    found = [piece for piece in plan.slices if all(_fits(piece.values[axis], where[axis]) for axis in where)]
    if not found:
        known = "; ".join(piece.name for piece in plan.slices)
        raise InputError(f"{plan.name} has no slice where {dict(where)}", remedy=f"slices are: {known}")
    return found


def _fits(value: Any, wanted: Any) -> bool:
    return value in wanted if isinstance(wanted, list | tuple) else value == wanted


def comparison_of(record: RecordView, arm: str, vs: str, where: Mapping[str, Any]) -> ComparisonResult:
    """Return the one comparison that arm, baseline and slice name.

    Raises
    ------
    InputError
        None or several fit.
    """
    baseline = baseline_named(record.plan, arm_named(record.plan, arm), vs)
    pieces = [piece.name for piece in matching_slices(record.plan, where)]
    found = [
        comparison
        for comparison in record.result.comparisons
        if comparison.arm == arm and comparison.baseline == baseline and comparison.slice in pieces
    ]
    if not found:
        raise InputError(f"{record.name} does not compare {arm!r} with {baseline!r} where {dict(where)}")
    if len(found) > 1:
        fitting = "; ".join(comparison.slice for comparison in found)
        raise InputError(f"{arm!r} against {baseline!r} speaks of several slices: {fitting}", remedy="say where={...}")
    return found[0]


def judged(record: RecordView, piece: str, roles: Sequence[str] = (Role.CANDIDATE,)) -> list[ComparisonResult]:
    """Return the comparisons of a slice whose arm has one of ``roles``, in the order of the plan."""
    return [found for found in record.result.comparisons if found.slice == piece and found.role in roles]


def noise_of(record: RecordView, piece: str) -> NoiseResult | None:
    """Return a line of the slice's noise that carries its floor, if any null is valid."""
    lines = [line for line in record.result.noise if line.slice == piece]
    known = [line for line in lines if line.floor is not None]
    return known[0] if known else None


def slug(text: str) -> str:
    """Make a name usable in an address: letters, digits, ``_`` and single hyphens."""
    return re.sub(r"[^A-Za-z0-9_]+", "-", text).strip("-") or "x"


def comparison_anchor(comparison: ComparisonResult) -> str:
    """Name the place on the record page where a comparison is derived."""
    return f"d-{slug(comparison.slice)}-{slug(comparison.arm)}-vs-{slug(comparison.baseline)}"


def cell_anchor(comparison: ComparisonResult, cell: CellResult) -> str:
    """Name the place on the record page where a fixture's ratio is derived."""
    return f"{comparison_anchor(comparison)}-{slug(cell.fixture)}-{slug(cell.device)}"


def noise_anchor(line: NoiseResult) -> str:
    """Name the place on the record page where a null arm's interval is shown."""
    return f"n-{slug(line.slice)}-{slug(line.null)}"
