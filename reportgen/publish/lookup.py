"""Finding one comparison of a record by arm, baseline and slice; and the anchors under which figures are derived."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from reportgen.errors import InputError
from reportgen.model.experiment import Arm, Role
from reportgen.model.plan import Plan, Slice
from reportgen.model.result import (
    ArmTime,
    CellResult,
    ComparisonResult,
    GateOutcome,
    GateResult,
    NoiseResult,
    Promotion,
    PromotionResult,
    Verdict,
)
from reportgen.publish.view import CheckLine, RecordView

CONTROL = "control"
INCUMBENT = "incumbent"
DEVICE = "device"
MODEL_MARK = " @ "
FIXTURES = "fixtures/"  # beneath a record's page
LONGEST_ANCHOR = 120
SMALLEST_EFFECT = "fact-smallest_effect"


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


def slices(record: RecordView) -> list[Slice]:
    """List the slices that the result speaks of: the plan's, once a device model where the record has several."""
    found = []
    for piece in record.plan.slices:
        spoken = [one.slice for one in record.result.comparisons] + [one.slice for one in record.result.noise]
        names = dict.fromkeys(name for name in spoken if name == piece.name or name.startswith(piece.name + MODEL_MARK))
        found += [msgspec.structs.replace(piece, name=name) for name in names]
    return found


def matching_slices(record: RecordView, where: Mapping[str, Any]) -> list[Slice]:
    """Return the slices whose axes have the values of ``where`` (one value, or a list of them).

    ``where["device"]`` is a device model, where the record has several.

    Raises
    ------
    InputError
        An axis does not slice, or no slice fits.
    """
    axes = [*record.plan.experiment.slicing, DEVICE]
    for axis in where:
        if axis not in axes:
            raise InputError(f"{record.name} is not sliced by {axis!r}", remedy=f"slicing axes are: {', '.join(axes)}")
    found = [
        piece
        for piece in slices(record)
        if all(_fits(_value(record, piece, axis), wanted) for axis, wanted in where.items())
    ]
    if not found:
        known = "; ".join(piece.name for piece in slices(record))
        raise InputError(f"{record.name} has no slice where {dict(where)}", remedy=f"slices are: {known}")
    return found


def _value(record: RecordView, piece: Slice, axis: str) -> Any:
    if axis in piece.values:
        return piece.values[axis]
    _, _, model = piece.name.partition(MODEL_MARK)
    return model or record.devices[0]


def devices_in(record: RecordView, piece: Slice) -> list[str]:
    """List the ids of the devices that a slice speaks for."""
    model = _value(record, piece, DEVICE)
    return [one.manifest.device.id for one in record.attempts if one.manifest.device.model == model]


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
    pieces = [piece.name for piece in matching_slices(record, where)]
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


def cells_of(record: RecordView, arm: str, vs: str, at: Mapping[str, Any]) -> tuple[ComparisonResult, list[CellResult]]:
    """Return the comparison of an arm with a baseline in whose slice the one fixture ``at`` lies, and its cells, the least ratio first.

    Raises
    ------
    InputError
        No fixture, or several, have the values ``at``, or the two are not compared there.
    """
    baseline = baseline_named(record.plan, arm_named(record.plan, arm), vs)
    names = [one.name for one in record.plan.fixtures if all(one.values.get(key) == at[key] for key in at)]
    found = [
        (one, [cell for cell in one.cells if cell.fixture in names])
        for one in record.result.comparisons
        if (one.arm, one.baseline) == (arm, baseline) and not one.where
    ]
    fitting = [(one, cells) for one, cells in found if cells]
    if len(fitting) != 1 or len({cell.fixture for cell in fitting[0][1]}) != 1:
        raise InputError(
            f"{record.name} does not compare {arm!r} with {baseline!r} on one fixture where {dict(at)}",
            remedy=f"name one by at={{...}} of {', '.join(record.plan.experiment.axes)}",
        )
    return fitting[0][0], sorted(fitting[0][1], key=lambda cell: cell.ratio)


def judged(record: RecordView, piece: str, roles: Sequence[str] = (Role.CANDIDATE,)) -> list[ComparisonResult]:
    """Return the comparisons of a slice whose arm has one of ``roles``, in the order of the plan."""
    return [found for found in record.result.comparisons if found.slice == piece and found.role in roles]


def held_back(record: RecordView, promotion: PromotionResult) -> str:
    """Say which required gates keep a candidate from being adopted that beats both its baselines; else empty."""
    return ", ".join(f"gate {gate.name}, {gate.outcome.value}" for gate in holding(record, promotion))


def holding(record: RecordView, promotion: PromotionResult) -> list[GateResult]:
    """List the required gates that keep a candidate from being adopted that beats both its baselines."""
    beaten = {
        one.baseline
        for one in record.result.comparisons
        if (one.arm, one.slice, one.verdict) == (promotion.arm, promotion.slice, Verdict.FASTER)
    }
    if promotion.outcome is Promotion.ADOPT or not {promotion.incumbent, promotion.control or ""} <= beaten:
        return []
    required = {gate.name for gate in record.plan.experiment.gates if gate.required}
    return [
        gate
        for gate in record.result.gates
        if (gate.arm, gate.slice) == (promotion.arm, promotion.slice)
        and gate.name in required
        and gate.outcome is not GateOutcome.PASSES
    ]


def noise_of(record: RecordView, piece: str) -> NoiseResult | None:
    """Return a line of the slice's noise that carries its floor, if any null is valid."""
    lines = [line for line in record.result.noise if line.slice == piece]
    known = [line for line in lines if line.floor is not None]
    return known[0] if known else None


def farthest_null(record: RecordView, piece: str) -> NoiseResult | None:
    """Return the null arm of a slice whose interval ends farthest from no change: the one that sets the noise floor."""
    valid = [
        line for line in record.result.noise if line.slice == piece and line.low is not None and line.high is not None
    ]
    return max(valid, key=lambda line: max(abs((line.low or 1) - 1), abs((line.high or 1) - 1)), default=None)


def floor_anchor(record: RecordView, line: NoiseResult) -> str:
    """Name the place on the record page where the noise floor of a slice comes from: the null arm that sets it."""
    return noise_anchor(farthest_null(record, line.slice) or line)


def slug(text: str) -> str:
    """Make a name usable in an address: letters, digits, ``_`` and single hyphens."""
    return re.sub(r"[^A-Za-z0-9_]+", "-", text).strip("-") or "x"


def chart_anchor(kind: str, *parts: str) -> str:
    """Name a chart on a page, and its files; of very many parts the last are told apart by a hash."""
    named = "-".join(["c", kind, *(slug(part) for part in parts if part)])
    if len(named) <= LONGEST_ANCHOR:
        return named
    return f"{named[:LONGEST_ANCHOR]}-{hashlib.sha256(named.encode()).hexdigest()[:8]}"


def comparison_anchor(comparison: ComparisonResult) -> str:
    """Name the place on the record page where a comparison is derived."""
    where = "-".join(f"{axis}-{value}" for axis, values in comparison.where.items() for value in values)
    named = f"d-{slug(comparison.slice)}-{slug(comparison.arm)}-vs-{slug(comparison.baseline)}"
    return f"{named}-{slug(where)}" if where else named


def holm_anchor(comparison: ComparisonResult) -> str:
    """Name the place on the record page where Holm's reading of a comparison stands."""
    return f"h{comparison_anchor(comparison)[1:]}"


def check_anchor(line: CheckLine, device: str = "") -> str:
    """Name the place on a record's or attempt's page where checks of one kind of an arm are added up; ``device`` where there are several."""
    return "-".join(["k", *(slug(part) for part in (line.arm, line.kind, line.against, line.when, device) if part)])


def cell_anchor(comparison: ComparisonResult, cell: CellResult) -> str:
    """Name the place on the page of a record's fixtures where a fixture's ratio is derived."""
    return f"{comparison_anchor(comparison)}-{slug(cell.fixture)}-{slug(cell.device)}"


def cell_place(comparison: ComparisonResult, cell: CellResult) -> str:
    """Lead from the record's page to where a fixture's ratio is derived: on the page of its fixtures."""
    return f"{FIXTURES}#{cell_anchor(comparison, cell)}"


def times_of(record: RecordView, arm: str, at: Mapping[str, Any], device: str | None = None) -> list[ArmTime]:
    """Return the median times of an arm on the one fixture with the values ``at``, a device each; ``device`` is an id or model.

    Raises
    ------
    InputError
        No time, or those of several fixtures, fit.
    """
    arm_named(record.plan, arm)
    fixtures = [one.name for one in record.plan.fixtures if all(one.values.get(key) == at[key] for key in at)]
    models = {one.manifest.device.id: one.manifest.device.model for one in record.attempts}
    found = [
        one
        for one in record.result.times
        if one.arm == arm and one.fixture in fixtures and device in (None, one.device, models[one.device])
    ]
    if len({one.fixture for one in found}) != 1:
        raise _unclear(record, arm, at, found)
    return found


def time_of(record: RecordView, arm: str, at: Mapping[str, Any], device: str | None) -> ArmTime:
    """Return the one median time of an arm on the fixture with the values ``at``, on a device by id or model.

    Raises
    ------
    InputError
        None or several fit.
    """
    found = times_of(record, arm, at, device)
    if len(found) != 1:
        raise _unclear(record, arm, at, found)
    return found[0]


def _unclear(record: RecordView, arm: str, at: Mapping[str, Any], found: Sequence[ArmTime]) -> InputError:
    axes = ", ".join(record.plan.experiment.axes)
    return InputError(
        f"{record.name} has {len(found)} times of {arm!r} where {dict(at)}",
        remedy=f"name one fixture by at={{...}} of {axes or 'no axes'}, and the device where there are several",
    )


def time_anchor(fixture: str, device: str) -> str:
    """Name the place on the record page where the median times on a fixture and device stand."""
    return f"t-{slug(fixture)}-{slug(device)}"


def noise_anchor(line: NoiseResult) -> str:
    """Name the place on the record page where a null arm's interval is shown."""
    return f"n-{slug(line.slice)}-{slug(line.null)}"
